/* The files that a specification takes in: each is read once, and what was read goes into the result files,
 * from which the same specification can be served again without a look at the disk. */
#ifndef DSE_INPUTS_INPUT_STORE_H
#define DSE_INPUTS_INPUT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "dse/inputs/resolve.h"
#include "results/record/schema.h"

/* The role of the specification itself: its path is needed for messages that name it. Not part of the hash of
 * inputs. */
#define INPUT_ROLE_SPECIFICATION "specification"

struct input_store;

/* A store that looks names up on disk and keeps what it reads. DSE_NO_MEMORY. Release with
 * input_store_free. */
DSE_MUST_CHECK enum dse_status input_store_new(struct input_store **store, struct dse_error *err);

/* A store that serves `input` (n_input, borrowed with all it points to) and never touches the disk; `source`
 * names the result file in messages. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status input_store_replay(const struct result_input *input, size_t n_input,
                                                  const char *source, struct input_store **store,
                                                  struct dse_error *err);
void input_store_free(struct input_store *store);

/* The file of that kind and name (resolve_name says where it is looked for; RESOLVE_EXPERIMENT and
 * RESOLVE_PROBLEM: `name` is the path). For a folder of problem files: the list of them. What `got` points to
 * lives as long as the store. DSE_BAD_INPUT: no such name; DSE_IO, DSE_LIMIT: it cannot be read, or is larger
 * than 64 MiB, with its path. */
DSE_MUST_CHECK enum dse_status input_store_get(struct input_store *store, enum resolve_kind kind,
                                               const char *name, const char *base_dir,
                                               struct result_input *got, struct dse_error *err);

/* Is there a network of that name: on disk, or replayed, in the store? */
bool input_store_has_network(const struct input_store *store, const char *name, const char *base_dir);

/* The bytes of a file that an engine's option names, for the caller to free, and its path. What the store
 * keeps of it is their checksum: it may be large. Replayed, it is read from where it lay. DSE_BAD_INPUT when
 * it is not what it was; else as input_store_get. */
DSE_MUST_CHECK enum dse_status input_store_option_file(struct input_store *store, const char *name,
                                                       const char *base_dir, char path[RESOLVE_PATH_MAX],
                                                       char **bytes, size_t *n_byte, struct dse_error *err);

/* All files so far, in the order of the first use; (n) valid until the next input_store_get. */
const struct result_input *input_store_all(const struct input_store *store, size_t *n);

/* Feed text, --set list and role, name and content of the inputs except the specification itself: what
 * specification_hash is of. */
void input_hash(struct hash_state *state, const char *text, const char *const *set, size_t n_set,
                const struct result_input *input, size_t n_input);

#endif
