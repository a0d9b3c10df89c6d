/* A result file as it is now: of a sweep that runs or was killed the table is ahead of OUT.h5. */
#ifndef DSE_COMMAND_CURRENT_CUBE_H
#define DSE_COMMAND_CURRENT_CUBE_H

#include "base/arena.h"
#include "base/status.h"

struct current_cube {
    const char *path; /* what to read: OUT.h5, or one that was built from OUT.csv; the arena's */
    char *folder;     /* of the latter; NULL: none was built */
};

struct current_cubes {
    size_t n;
    struct current_cube *cube; /* (n) */
    const char **path;         /* (n) of each what to read */
};

/* For each of `given` (n), an OUT.h5 or OUT.csv, find OUT.h5; where points are missing in it and OUT.csv lies
 * beside it, build another from the tables into a folder of its own in $TMPDIR. Release with
 * current_cubes_close, also after a failure. DSE_IO, DSE_BAD_INPUT, DSE_BAD_USAGE, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status current_cubes_open(const char *const *given, size_t n, struct arena *arena,
                                                  struct current_cubes *cubes, struct dse_error *err);
void current_cubes_close(struct current_cubes *cubes);

#endif
