/* Asks libraries, kernel and clock; version, revision and flags come from the Makefile. */
#include "results/record/provenance.h"

#include <csv.h>
#include <glpk.h>
#include <gnu/libc-version.h>
#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <yaml.h>

#include "base/text.h"
#include "build_info.h"

#ifndef DSE_VERSION
#define DSE_VERSION "0.1"
#endif
#ifndef DSE_GIT_REVISION
#define DSE_GIT_REVISION "unknown"
#endif
#ifndef DSE_BUILD_VARIANT
#define DSE_BUILD_VARIANT "unknown"
#endif
#ifndef DSE_BUILD_FLAGS
#define DSE_BUILD_FLAGS "unknown"
#endif

static void utc_now(char *buffer, size_t size)
{
    time_t now = time(NULL);
    struct tm parts;
    if (!gmtime_r(&now, &parts) || strftime(buffer, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text_copy(buffer, size, "unknown");
}

/* The versions of the libraries as they say it themselves at run time; libcsv and OpenMP have only their
 * headers for it. */
static void name_libraries(struct provenance *provenance)
{
    unsigned xxhash = XXH_versionNumber();
    snprintf(provenance->libraries, sizeof provenance->libraries,
             "libyaml %s, xxHash %u.%u.%u, HDF5 %s, GLPK %s, GSL %s, protobuf-c %s, libcsv %d.%d.%d, "
             "glibc %s, OpenMP %d",
             yaml_get_version_string(), xxhash / 10000, xxhash / 100 % 100, xxhash % 100,
             provenance->hdf5_version, glp_version(), gsl_version, protobuf_c_version(), CSV_MAJOR, CSV_MINOR,
             CSV_RELEASE, gnu_get_libc_version(), _OPENMP);
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
    text_copy(provenance->build_variant, sizeof provenance->build_variant, DSE_BUILD_VARIANT);
    text_copy(provenance->build_flags, sizeof provenance->build_flags, DSE_BUILD_FLAGS);
    name_libraries(provenance);
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
