/* Groups of a few places, found by the hash; one lock for every 64th group. */
#include "engines/driver/known_bounds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N_LOCK = 64, GROUP = 4, PER_COPY = 512, LIST_BYTE = 32 };

struct place {
    struct hash_128 key;
    double bound; /* 0: empty; below 0: its opposite is exact */
};

/* A mapping or a list. */
struct copy {
    struct hash_128 key;
    void *data; /* (byte) owned; NULL: empty */
    size_t byte;
};

struct known_bounds {
    uint32_t n_group;                 /* a power of two */
    struct place *place;              /* (n_group, GROUP) */
    uint32_t n_copy;                  /* of each kind */
    struct copy *mapping, *list;      /* (n_copy) in groups, too; all under the first lock */
    size_t list_byte, most_list_byte; /* of all lists */
    pthread_mutex_t lock[N_LOCK];
};

enum dse_status known_bounds_new(uint32_t most, struct known_bounds **known, struct dse_error *err)
{
    struct known_bounds *made = malloc(sizeof *made);
    struct place *place = calloc(most, sizeof *place);
    struct copy *mapping = calloc(most / PER_COPY, sizeof *mapping);
    struct copy *list = calloc(most / PER_COPY, sizeof *list);
    *known = NULL;
    if (!made || !place || !mapping || !list) {
        free(made);
        free(place);
        free(mapping);
        free(list);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u lower bounds", most);
    }
    *made = (struct known_bounds){.n_group = most / GROUP,
                                  .place = place,
                                  .n_copy = most / PER_COPY,
                                  .mapping = mapping,
                                  .list = list,
                                  .most_list_byte = (size_t)most * LIST_BYTE};
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
    for (uint32_t i = 0; i < known->n_copy; i++) {
        free(known->mapping[i].data);
        free(known->list[i].data);
    }
    free(known->mapping);
    free(known->list);
    free(known->place);
    free(known);
}

static bool is_same(struct hash_128 a, struct hash_128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* The place of the key, locked: its own, else an empty one, else that of another. */
static struct place *lock_place(struct known_bounds *known, struct hash_128 key, pthread_mutex_t **lock)
{
    const uint64_t group = key.low & (known->n_group - 1);
    struct place *place = &known->place[group * GROUP];
    struct place *found = &place[key.high % GROUP];
    *lock = &known->lock[group % N_LOCK];
    pthread_mutex_lock(*lock);
    for (int i = 0; i < GROUP && place[i].bound != 0; i++)
        if (is_same(place[i].key, key))
            return &place[i];
    for (int i = 0; i < GROUP; i++)
        if (place[i].bound == 0)
            return &place[i];
    return found;
}

static double bound_at(const struct place *place, struct hash_128 key)
{
    return is_same(place->key, key) ? place->bound : 0;
}

struct known_bound known_bounds_get(struct known_bounds *known, struct hash_128 key)
{
    pthread_mutex_t *lock;
    const double bound = bound_at(lock_place(known, key, &lock), key);
    pthread_mutex_unlock(lock);
    return (struct known_bound){bound < 0 ? -bound : bound, bound < 0};
}

void known_bounds_raise(struct known_bounds *known, struct hash_128 key, struct known_bound bound)
{
    pthread_mutex_t *lock;
    struct place *place = lock_place(known, key, &lock);
    const double old = bound_at(place, key);
    if (old >= 0 && (bound.exact || bound.bound > old))
        *place = (struct place){key, bound.exact ? -bound.bound : bound.bound};
    pthread_mutex_unlock(lock);
}

/* ---------------------------------------- copies */

static bool is_of(const struct copy *copy, struct hash_128 key)
{
    return copy->data && is_same(copy->key, key);
}

/* The key's place: its own, else an empty one, else that of another. */
static struct copy *copy_at(const struct known_bounds *known, struct copy *all, struct hash_128 key)
{
    struct copy *copy = &all[key.low % (known->n_copy / GROUP) * GROUP];
    for (int i = 0; i < GROUP; i++)
        if (is_of(&copy[i], key))
            return &copy[i];
    for (int i = 0; i < GROUP; i++)
        if (!copy[i].data)
            return &copy[i];
    return &copy[key.high % GROUP];
}

/* False without memory. */
static bool keep(struct copy *copy, struct hash_128 key, const void *data, size_t byte)
{
    void *room = realloc(copy->data, byte);
    if (!room)
        return false;
    memcpy(room, data, byte);
    *copy = (struct copy){key, room, byte};
    return true;
}

bool known_mappings_get(struct known_bounds *known, struct hash_128 key, struct known_mapping *found)
{
    if (!known)
        return false;
    pthread_mutex_lock(&known->lock[0]);
    const struct copy *copy = copy_at(known, known->mapping, key);
    const bool is = is_of(copy, key);
    if (is)
        memcpy(found, copy->data, copy->byte);
    pthread_mutex_unlock(&known->lock[0]);
    return is;
}

void known_mappings_keep(struct known_bounds *known, struct hash_128 key, const struct known_mapping *found)
{
    if (!known)
        return;
    pthread_mutex_lock(&known->lock[0]);
    (void)keep(copy_at(known, known->mapping, key), key, found,
               offsetof(struct known_mapping, mapping.level) +
                   found->mapping.n_level * sizeof found->mapping.level[0]);
    pthread_mutex_unlock(&known->lock[0]);
}

void *known_lists_get(struct known_bounds *known, struct hash_128 key, size_t *byte)
{
    void *list = NULL;
    *byte = 0;
    pthread_mutex_lock(&known->lock[0]);
    const struct copy *copy = copy_at(known, known->list, key);
    if (is_of(copy, key))
        list = malloc(copy->byte);
    if (list) {
        memcpy(list, copy->data, copy->byte);
        *byte = copy->byte;
    }
    pthread_mutex_unlock(&known->lock[0]);
    return list;
}

void known_lists_keep(struct known_bounds *known, struct hash_128 key, const void *list, size_t byte)
{
    pthread_mutex_lock(&known->lock[0]);
    struct copy *copy = copy_at(known, known->list, key);
    const size_t others = known->list_byte - (copy->data ? copy->byte : 0);
    if (others + byte <= known->most_list_byte && keep(copy, key, list, byte))
        known->list_byte = others + byte;
    pthread_mutex_unlock(&known->lock[0]);
}
