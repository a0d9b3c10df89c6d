#include "results/provenance.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "build_info.h"

#ifndef DSE_VERSION
#define DSE_VERSION "0.1"
#endif
#ifndef DSE_GIT_REVISION
#define DSE_GIT_REVISION "unknown"
#endif

static void utc_now(char *buffer, size_t size)
{
    time_t now = time(NULL);
    struct tm parts;
    if (!gmtime_r(&now, &parts) || strftime(buffer, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text_copy(buffer, size, "unknown");
}

void provenance_make(struct provenance *provenance)
{
    unsigned major = 0, minor = 0, release = 0;
    memset(provenance, 0, sizeof *provenance);
    text_copy(provenance->dse_version, sizeof provenance->dse_version, DSE_VERSION);
    text_copy(provenance->git_revision, sizeof provenance->git_revision, DSE_GIT_REVISION);
#ifdef __clang__
    text_copy(provenance->compiler, sizeof provenance->compiler, __VERSION__);
#else
    text_copy(provenance->compiler, sizeof provenance->compiler, "gcc " __VERSION__);
#endif
    if (H5get_libversion(&major, &minor, &release) >= 0)
        snprintf(provenance->hdf5_version, sizeof provenance->hdf5_version, "%u.%u.%u", major, minor,
                 release);
    if (gethostname(provenance->host, sizeof provenance->host - 1) != 0)
        text_copy(provenance->host, sizeof provenance->host, "unknown");
    utc_now(provenance->start_time, sizeof provenance->start_time);
    provenance_finish(provenance);
}

void provenance_finish(struct provenance *provenance)
{
    utc_now(provenance->end_time, sizeof provenance->end_time);
}

char *provenance_print(const struct provenance *provenance, char *buffer, size_t size)
{
    snprintf(buffer, size, "dse %s (%.12s), %s, HDF5 %s", provenance->dse_version, provenance->git_revision,
             provenance->compiler, provenance->hdf5_version);
    return buffer;
}
