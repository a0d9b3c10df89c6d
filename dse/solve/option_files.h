/* The files that options of engines name: each is read once, before any search, and shared by all. */
#ifndef DSE_SOLVE_OPTION_FILES_H
#define DSE_SOLVE_OPTION_FILES_H

#include <stddef.h>

#include "base/status.h"
#include "engines/driver/engine.h"

struct input_store; /* dse/inputs/input_store.h */
struct option_files;

/* None yet. `inputs` and `base_dir` (may be NULL), to which paths are relative, are borrowed. DSE_NO_MEMORY.
 * Release with option_files_free. */
DSE_MUST_CHECK enum dse_status option_files_new(struct input_store *inputs, const char *base_dir,
                                                struct option_files **out, struct dse_error *err);
void option_files_free(struct option_files *files);

/* The value of option number `option` of an engine for the file `name`: reads it the first time. After that,
 * threads may ask for it at once. DSE_BAD_INPUT, DSE_IO, DSE_LIMIT: it cannot be read, or the engine refuses
 * it. */
DSE_MUST_CHECK enum dse_status option_files_value(struct option_files *files, const struct engine *engine,
                                                  size_t option, const char *name, double *value,
                                                  struct dse_error *err);

/* All of them (n), as tasks take them; `files` may be NULL. */
const struct engine_file *option_files_all(const struct option_files *files, size_t *n);

#endif
