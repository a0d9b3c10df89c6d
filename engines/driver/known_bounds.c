/* Groups of a few places, found by the hash; one lock for every 64th group. */
#include "engines/driver/known_bounds.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { N_LOCK = 64, GROUP = 4, PER_MAPPING = 512 };

struct place {
    struct known_key key;
    double bound; /* 0: empty; below 0: its opposite is exact */
};

struct mapping_place {
    struct known_key key;
    struct known_mapping *found; /* owned, without levels beyond its own; NULL: empty */
};

struct known_bounds {
    uint32_t n_group;    /* a power of two */
    struct place *place; /* (n_group, GROUP) */
    uint32_t n_mapping;
    struct mapping_place *mapping; /* (n_mapping) in groups, too; all under the first lock */
    pthread_mutex_t lock[N_LOCK];
};

enum dse_status known_bounds_new(uint32_t most, struct known_bounds **known, struct dse_error *err)
{
    struct known_bounds *made = malloc(sizeof *made);
    struct place *place = calloc(most, sizeof *place);
    struct mapping_place *mapping = calloc(most / PER_MAPPING, sizeof *mapping);
    *known = NULL;
    if (!made || !place || !mapping) {
        free(made);
        free(place);
        free(mapping);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u lower bounds", most);
    }
    made->n_group = most / GROUP;
    made->place = place;
    made->n_mapping = most / PER_MAPPING;
    made->mapping = mapping;
    for (int i = 0; i < N_LOCK; i++)
        pthread_mutex_init(&made->lock[i], NULL);
    *known = made;
    return DSE_OK;
}

void known_bounds_free(struct known_bounds *known)
{
    if (!known)
        return;
    for (int i = 0; i < N_LOCK; i++)
        pthread_mutex_destroy(&known->lock[i]);
    for (uint32_t i = 0; i < known->n_mapping; i++)
        free(known->mapping[i].found);
    free(known->mapping);
    free(known->place);
    free(known);
}

/* The place of the key, locked: its own, else an empty one, else that of another. */
static struct place *lock_place(struct known_bounds *known, struct known_key key, pthread_mutex_t **lock)
{
    const uint64_t group = key.hash & (known->n_group - 1);
    struct place *place = &known->place[group * GROUP];
    struct place *found = &place[key.check % GROUP];
    *lock = &known->lock[group % N_LOCK];
    pthread_mutex_lock(*lock);
    for (int i = 0; i < GROUP && place[i].bound != 0; i++)
        if (place[i].key.hash == key.hash && place[i].key.check == key.check)
            return &place[i];
    for (int i = 0; i < GROUP; i++)
        if (place[i].bound == 0)
            return &place[i];
    return found;
}

static double bound_at(const struct place *place, struct known_key key)
{
    return place->key.hash == key.hash && place->key.check == key.check ? place->bound : 0;
}

struct known_bound known_bounds_get(struct known_bounds *known, struct known_key key)
{
    pthread_mutex_t *lock;
    const double bound = bound_at(lock_place(known, key, &lock), key);
    pthread_mutex_unlock(lock);
    return (struct known_bound){bound < 0 ? -bound : bound, bound < 0};
}

void known_bounds_raise(struct known_bounds *known, struct known_key key, struct known_bound bound)
{
    pthread_mutex_t *lock;
    struct place *place = lock_place(known, key, &lock);
    const double old = bound_at(place, key);
    if (old >= 0 && (bound.exact || bound.bound > old))
        *place = (struct place){key, bound.exact ? -bound.bound : bound.bound};
    pthread_mutex_unlock(lock);
}

/* ---------------------------------------- mappings */

static bool is_of(const struct mapping_place *place, struct known_key key)
{
    return place->found && place->key.hash == key.hash && place->key.check == key.check;
}

/* The key's place: its own, else an empty one, else that of another. */
static struct mapping_place *mapping_at(const struct known_bounds *known, struct known_key key)
{
    struct mapping_place *place = &known->mapping[key.hash % (known->n_mapping / GROUP) * GROUP];
    for (int i = 0; i < GROUP; i++)
        if (is_of(&place[i], key))
            return &place[i];
    for (int i = 0; i < GROUP; i++)
        if (!place[i].found)
            return &place[i];
    return &place[key.check % GROUP];
}

static size_t size_of(const struct known_mapping *found)
{
    return offsetof(struct known_mapping, mapping.level) +
           found->mapping.n_level * sizeof found->mapping.level[0];
}

bool known_mappings_get(struct known_bounds *known, struct known_key key, struct known_mapping *found)
{
    if (!known)
        return false;
    pthread_mutex_lock(&known->lock[0]);
    const struct mapping_place *place = mapping_at(known, key);
    const bool is = is_of(place, key);
    if (is)
        memcpy(found, place->found, size_of(place->found));
    pthread_mutex_unlock(&known->lock[0]);
    return is;
}

void known_mappings_keep(struct known_bounds *known, struct known_key key, const struct known_mapping *found)
{
    if (!known)
        return;
    pthread_mutex_lock(&known->lock[0]);
    struct mapping_place *place = mapping_at(known, key);
    void *room = realloc(place->found, size_of(found));
    if (room) {
        *place = (struct mapping_place){key, room};
        memcpy(room, found, size_of(found));
    }
    pthread_mutex_unlock(&known->lock[0]);
}
