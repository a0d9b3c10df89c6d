/* A list of files by role and name; it either reads them as they are asked for, or replays those that a
 * result file kept and knows no others. */
#include "dse/inputs/input_store.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/onnx/onnx.h"
#include "costmodel/readers/readers.h"

struct input_store {
    bool replay;
    const char *source; /* replay: the result file, for messages */
    size_t n, capacity, owned_capacity;
    struct result_input *input; /* (n) owned */
    char **owned;               /* (n) owned contents; NULL: borrowed, or that of an earlier input */
    struct arena arena;         /* names and paths */
};

static const char *const role_of[] = {"architecture", "network", INPUT_ROLE_SPECIFICATION, "problem",
                                      "option file"};

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
    const bool network = kind == RESOLVE_NETWORK || onnx_is_path(path); /* that another one names */
    DSE_TRY((network ? network_load : yaml_load)(path, &bytes, &input->n_byte, err));
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

static const struct result_input *find_input(const struct input_store *store, const char *role,
                                             const char *name)
{
    for (size_t i = 0; i < store->n; i++)
        if (strcmp(store->input[i].role, role) == 0 && strcmp(store->input[i].name, name) == 0)
            return &store->input[i];
    return NULL;
}

static enum dse_status not_held(const struct input_store *store, const char *role, const char *name,
                                struct dse_error *err)
{
    return dse_fail(err, DSE_BAD_INPUT, "%s does not hold the %s %.200s that its specification names",
                    store->source, role, name);
}

enum dse_status input_store_get(struct input_store *store, enum resolve_kind kind, const char *name,
                                const char *base_dir, struct result_input *got, struct dse_error *err)
{
    const struct result_input *known = find_input(store, role_of[kind], name);
    if (known) {
        *got = *known;
        return DSE_OK;
    }
    if (store->replay)
        return not_held(store, role_of[kind], name, err);
    return record(store, kind, name, base_dir, got, err);
}

bool input_store_has_network(const struct input_store *store, const char *name, const char *base_dir)
{
    char path[RESOLVE_PATH_MAX];
    struct dse_error unknown;
    if (store->replay)
        return find_input(store, role_of[RESOLVE_NETWORK], name) != NULL;
    return resolve_name(RESOLVE_NETWORK, name, base_dir, path, sizeof path, &unknown) == DSE_OK &&
           access(path, F_OK) == 0;
}

/* What is kept of a file of an option: YAML, as all inputs are. NULL when out of memory. */
static const char *keep_checksum(struct input_store *store, const char *bytes, size_t n_byte)
{
    char text[80];
    int n = snprintf(text, sizeof text, "xxh3_64: %016" PRIx64 "\nbyte: %zu\n", hash_of_bytes(bytes, n_byte),
                     n_byte);
    return arena_copy_text(&store->arena, text, (size_t)n);
}

/* Enter a file that was read from `path`, or compare it with what was there before. */
static enum dse_status enter_option_file(struct input_store *store, const struct result_input *known,
                                         const char *name, const char *path, const char *bytes, size_t n_byte,
                                         struct dse_error *err)
{
    const char *checksum = keep_checksum(store, bytes, n_byte);
    if (!checksum)
        return no_memory(err);
    if (known && strcmp(known->content, checksum) != 0)
        return dse_fail(err, DSE_BAD_INPUT, "%.200s has changed since %s", path,
                        store->replay ? "the results were computed" : "it was read");
    if (known)
        return DSE_OK;
    struct result_input input = {.role = role_of[RESOLVE_OPTION_FILE],
                                 .name = arena_copy_text(&store->arena, name, strlen(name)),
                                 .path = arena_copy_text(&store->arena, path, strlen(path)),
                                 .content = checksum,
                                 .n_byte = strlen(checksum)};
    if (!input.name || !input.path || !grow(store, store->n + 1))
        return no_memory(err);
    store->owned[store->n] = NULL;
    store->input[store->n++] = input;
    return DSE_OK;
}

enum dse_status input_store_option_file(struct input_store *store, const char *name, const char *base_dir,
                                        char path[RESOLVE_PATH_MAX], char **bytes, size_t *n_byte,
                                        struct dse_error *err)
{
    const struct result_input *known = find_input(store, role_of[RESOLVE_OPTION_FILE], name);
    if (!known && store->replay)
        return not_held(store, role_of[RESOLVE_OPTION_FILE], name, err);
    if (known)
        (void)text_copy(path, RESOLVE_PATH_MAX, known->path);
    else
        DSE_TRY(resolve_name(RESOLVE_OPTION_FILE, name, base_dir, path, RESOLVE_PATH_MAX, err));
    DSE_TRY(yaml_load(path, bytes, n_byte, err)); /* it takes any bytes */
    enum dse_status status = enter_option_file(store, known, name, path, *bytes, *n_byte, err);
    if (status != DSE_OK)
        free(*bytes);
    return status;
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
