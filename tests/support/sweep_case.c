/* Writes the text to a file, reads it as a specification and makes its sweep. */
#include "tests/support/sweep_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum dse_status write_text(const char *text, char *path, size_t size, struct dse_error *err)
{
    const char *folder = getenv("TMPDIR");
    size_t length = strlen(text);
    snprintf(path, size, "%s/dse_sweep_XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0)
        return dse_fail(err, DSE_IO, "no temporary file %s", path);
    ssize_t written = write(file, text, length);
    if (close(file) == 0 && written == (ssize_t)length)
        return DSE_OK;
    unlink(path);
    return dse_fail(err, DSE_IO, "cannot write %s", path);
}

struct sweep_case *sweep_case_open(const char *text, const char *const *set, size_t n_set,
                                   struct dse_error *err)
{
    char path[1024];
    struct sweep_case *opened = calloc(1, sizeof *opened);
    enum dse_status status = opened ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory");
    if (status == DSE_OK)
        status = write_text(text, path, sizeof path, err);
    if (status == DSE_OK) {
        status = spec_read(&opened->spec, path, set, n_set, err);
        if (status == DSE_OK)
            status = sweep_init(&opened->sweep, &opened->spec, err);
        unlink(path);
    }
    if (status == DSE_OK)
        return opened;
    if (opened)
        sweep_case_close(opened);
    return NULL;
}

void sweep_case_close(struct sweep_case *opened)
{
    sweep_free(&opened->sweep);
    spec_free(&opened->spec);
    free(opened);
}
