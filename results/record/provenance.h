/* Where results come from: program version, git revision, libraries, host, times. */
#ifndef RESULTS_RECORD_PROVENANCE_H
#define RESULTS_RECORD_PROVENANCE_H

#include <stddef.h>

enum { PROVENANCE_TEXT_MAX = 128 };

/* Goes into the root attributes of OUT.h5. All texts are terminated. */
struct provenance {
    char dse_version[PROVENANCE_TEXT_MAX];  /* -DDSE_VERSION="..." else "0" */
    char git_revision[PROVENANCE_TEXT_MAX]; /* -DDSE_GIT_REVISION="..." else "unknown" */
    char compiler[PROVENANCE_TEXT_MAX];
    char build_variant[PROVENANCE_TEXT_MAX]; /* "release", "debug", "asan", "tsan" */
    char build_flags[512];                   /* of the compiler */
    char libraries[512];                    /* "libyaml 0.2.5, xxHash 0.8.1, ...": of those in use, by name */
    char hdf5_version[PROVENANCE_TEXT_MAX]; /* of the library in use */
    char host[PROVENANCE_TEXT_MAX];
    char start_time[PROVENANCE_TEXT_MAX]; /* UTC, ISO 8601: 2024-05-01T12:00:00Z */
    char end_time[PROVENANCE_TEXT_MAX];
    char command[1024]; /* the command line, or "" */
    unsigned n_thread;  /* 0: not known */
};

/* Fill in what the program knows, with start and end set to now. `command` and `n_thread` are left empty. */
void provenance_make(struct provenance *provenance);

/* Set end_time to now. */
void provenance_finish(struct provenance *provenance);

/* "dse 0.1 (abc1234), gcc 12.2, HDF5 1.10.8" for --version. Returns `buffer`. */
char *provenance_print(const struct provenance *provenance, char *buffer, size_t size);

#endif
