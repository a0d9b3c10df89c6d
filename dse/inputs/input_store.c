/* A list of files by role and name; it either reads them as they are asked for, or replays those that a
 * result file kept and knows no others. */
#include "dse/inputs/input_store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/yaml.h"
#include "costmodel/readers/readers.h"

struct input_store {
    bool replay;
    const char *source; /* replay: the result file, for messages */
    size_t n, capacity, owned_capacity;
    struct result_input *input; /* (n) owned */
    char **owned;               /* (n) owned contents; NULL: borrowed, or that of an earlier input */
    struct arena arena;         /* names and paths */
};

static const char *const role_of[] = {"architecture", "network", INPUT_ROLE_SPECIFICATION, "problem"};

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the inputs of a specification");
}

enum dse_status input_store_new(struct input_store **store, struct dse_error *err)
{
    *store = calloc(1, sizeof **store);
    if (!*store)
        return no_memory(err);
    arena_init(&(*store)->arena);
    return DSE_OK;
}

static int grow(struct input_store *store, size_t wanted)
{
    struct result_input *input = array_grow(store->input, wanted, &store->capacity, sizeof *input);
    if (input)
        store->input = input;
    char **owned = array_grow(store->owned, wanted, &store->owned_capacity, sizeof *owned);
    if (owned)
        store->owned = owned;
    return input && owned;
}

enum dse_status input_store_replay(const struct result_input *input, size_t n_input, const char *source,
                                   struct input_store **store, struct dse_error *err)
{
    DSE_TRY(input_store_new(store, err));
    (*store)->replay = true;
    (*store)->source = source;
    if (!grow(*store, n_input + 1)) {
        input_store_free(*store);
        *store = NULL;
        return no_memory(err);
    }
    for (size_t i = 0; i < n_input; i++) {
        (*store)->input[i] = input[i];
        (*store)->owned[i] = NULL;
    }
    (*store)->n = n_input;
    return DSE_OK;
}

void input_store_free(struct input_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->n; i++)
        free(store->owned[i]);
    free(store->owned);
    free(store->input);
    arena_free(&store->arena);
    free(store);
}

/* Two names may lead to one file: it is read once. */
static enum dse_status load(struct input_store *store, enum resolve_kind kind, const char *path,
                            struct result_input *input, struct dse_error *err)
{
    for (size_t i = 0; i < store->n; i++)
        if (strcmp(store->input[i].path, path) == 0) {
            input->content = store->input[i].content;
            input->n_byte = store->input[i].n_byte;
            store->owned[store->n] = NULL;
            return DSE_OK;
        }
    char *bytes;
    DSE_TRY((kind == RESOLVE_NETWORK ? network_load : yaml_load)(path, &bytes, &input->n_byte, err));
    input->content = store->owned[store->n] = bytes;
    return DSE_OK;
}

static enum dse_status record(struct input_store *store, enum resolve_kind kind, const char *name,
                              const char *base_dir, struct result_input *got, struct dse_error *err)
{
    char path[RESOLVE_PATH_MAX];
    const char *where = name;
    if (kind == RESOLVE_ARCHITECTURE || kind == RESOLVE_NETWORK) {
        DSE_TRY(resolve_name(kind, name, base_dir, path, sizeof path, err));
        where = path;
    }
    got->role = role_of[kind];
    got->name = arena_copy_text(&store->arena, name, strlen(name));
    got->path = arena_copy_text(&store->arena, where, strlen(where));
    if (!got->name || !got->path || !grow(store, store->n + 1))
        return no_memory(err);
    DSE_TRY(load(store, kind, got->path, got, err));
    store->input[store->n++] = *got;
    return DSE_OK;
}

enum dse_status input_store_get(struct input_store *store, enum resolve_kind kind, const char *name,
                                const char *base_dir, struct result_input *got, struct dse_error *err)
{
    for (size_t i = 0; i < store->n; i++)
        if (strcmp(store->input[i].role, role_of[kind]) == 0 && strcmp(store->input[i].name, name) == 0) {
            *got = store->input[i];
            return DSE_OK;
        }
    if (store->replay)
        return dse_fail(err, DSE_BAD_INPUT, "%s does not hold the %s %.200s that its specification names",
                        store->source, role_of[kind], name);
    return record(store, kind, name, base_dir, got, err);
}

const struct result_input *input_store_all(const struct input_store *store, size_t *n)
{
    *n = store->n;
    return store->input;
}

void input_hash(struct hash_state *state, const char *text, const char *const *set, size_t n_set,
                const struct result_input *input, size_t n_input)
{
    hash_text(state, text);
    hash_u64(state, n_set);
    for (size_t i = 0; i < n_set; i++)
        hash_text(state, set[i]);
    for (size_t i = 0; i < n_input; i++) {
        if (strcmp(input[i].role, INPUT_ROLE_SPECIFICATION) == 0)
            continue;
        hash_text(state, input[i].role);
        hash_text(state, input[i].name);
        hash_u64(state, input[i].n_byte);
        hash_bytes(state, input[i].content, input[i].n_byte);
    }
}
