/* From the name of an architecture, network or experiment to its file. */
#ifndef DSE_INPUTS_RESOLVE_H
#define DSE_INPUTS_RESOLVE_H

#include <stddef.h>

#include "base/status.h"

/* What is looked for: in a folder of experiments/, or in experiments/ itself. A problem file of a network is
 * named by its path and not looked for, and so is a file that an engine's option names. */
enum resolve_kind {
    RESOLVE_ARCHITECTURE,
    RESOLVE_NETWORK,
    RESOLVE_EXPERIMENT,
    RESOLVE_PROBLEM,
    RESOLVE_OPTION_FILE
};

enum { RESOLVE_PATH_MAX = 4096 };

/* The path of `name` in `path` (size bytes). A name with a slash or an ending .yaml, .yml, .json, .csv or
 * .onnx is a path: relative to `base_dir` if there is such a file, else to the current directory. Any
 * other name is NAME.yaml, .json or .csv in experiments/architectures (or networks) of `base_dir`, of its
 * parents, of the current directory, or of the data that comes with the program, and last a file of just
 * that name. `base_dir` may be NULL. A file of an option is always a path. An experiment is NAME.yaml or,
 * for "FOLDER/NAME" that is no path to a file, FOLDER/NAME.yaml in experiments/ of the current directory
 * or of that data; `base_dir` does not matter. A network may be a folder; `path` ends in '/' then.
 * DSE_BAD_INPUT: not found, with the nearest name there is. */
DSE_MUST_CHECK enum dse_status resolve_name(enum resolve_kind kind, const char *name, const char *base_dir,
                                            char *path, size_t size, struct dse_error *err);

/* The folder of `path` ("." when it has none) in `dir`. */
char *resolve_folder_of(const char *path, char *dir, size_t size);

/* Called for every file that resolve_name would find by name, sorted by name, each name once. */
typedef void resolve_visit(void *user, const char *name, const char *path);

/* Walk what is found by name from the current directory and in the installed data; experiments are those of
 * the top folder, and as "FOLDER/NAME" those of every folder that holds neither architectures nor networks.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status resolve_each(enum resolve_kind kind, resolve_visit *visit, void *user,
                                            struct dse_error *err);

#endif
