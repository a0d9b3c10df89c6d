/* A result file as it is now: of a sweep that runs or was killed the table is ahead of OUT.h5. */
#ifndef DSE_COMMAND_CURRENT_CUBE_H
#define DSE_COMMAND_CURRENT_CUBE_H

#include "base/arena.h"
#include "base/status.h"

struct current_cube {
    const char *path; /* what to read: OUT.h5, or one that was built from OUT.csv; the arena's */
    char *folder;     /* of the latter; NULL: none was built */
};

/* Find OUT.h5 for an OUT.h5 or OUT.csv; where points are missing in it and OUT.csv lies beside it, build
 * another from the tables into a folder of its own in $TMPDIR. Release with current_cube_close, also after a
 * failure. DSE_IO, DSE_BAD_INPUT, DSE_BAD_USAGE, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status current_cube_open(const char *given, struct arena *arena,
                                                 struct current_cube *cube, struct dse_error *err);
void current_cube_close(struct current_cube *cube);

#endif
