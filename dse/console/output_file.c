/* Writes to NAME.tmp and renames it when everything went well; else it is removed. */
#include "dse/console/output_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum dse_status output_file_open(const char *path, FILE *otherwise, struct output_file *file,
                                 struct dse_error *err)
{
    *file = (struct output_file){.path = path, .stream = otherwise};
    if (!path)
        return DSE_OK;
    int length = snprintf(file->temporary, sizeof file->temporary, "%s.tmp", path);
    if (!path[0] || length < 0 || (size_t)length >= sizeof file->temporary)
        return dse_fail(err, DSE_BAD_USAGE, "--output: the path is empty or too long");
    file->stream = fopen(file->temporary, "we");
    if (!file->stream)
        return dse_fail_at(err, DSE_IO, file->temporary, 0, "cannot be written: %s", strerror(errno));
    return DSE_OK;
}

enum dse_status output_file_close(struct output_file *file, enum dse_status status, struct dse_error *err)
{
    bool bad = file->stream && (fflush(file->stream) != 0 || ferror(file->stream));
    if (!file->path)
        return status == DSE_OK && bad ? dse_fail(err, DSE_IO, "the output cannot be written") : status;
    bad = fclose(file->stream) != 0 || bad;
    if (status == DSE_OK && (bad || rename(file->temporary, file->path) != 0))
        status = dse_fail_at(err, DSE_IO, file->path, 0, "cannot be written: %s", strerror(errno));
    if (status != DSE_OK)
        unlink(file->temporary);
    return status;
}
