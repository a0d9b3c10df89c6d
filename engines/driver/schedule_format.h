/* A text form of schedules and what a family of engines can say of one: read, evaluated on a machine,
 * reported. `dse eval`, `dse map` and `dse plot` know schedules by this contract alone. */
#ifndef ENGINES_DRIVER_SCHEDULE_FORMAT_H
#define ENGINES_DRIVER_SCHEDULE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/report.h"
#include "base/status.h"
#include "base/timeline_data.h"
#include "costmodel/accounting/accounting.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/network.h"
#include "engines/driver/engine.h"

enum { SCHEDULE_OPTION_MAX = 16 };

/* What is to be read and evaluated; borrowed, and to outlive what comes of it. */
struct schedule_request {
    const struct architecture *arch;
    const struct network *network;
    uint32_t batch;                      /* 0: each layer's own, by the network's file */
    const struct accounting *accounting; /* NULL: what the text says */
    const double *option;                /* (n_option of the format) NaN: not given */
    const char *path;                    /* of the text, for messages */
    const char *text;
    size_t length;
};

struct schedule_report {
    const char *name;     /* dse eval --report NAME */
    const char *sentence; /* what it has */
    const char *option;   /* one that no other report takes; NULL: none */
    /* Fill the report (initialized) of what `evaluate` made. */
    enum dse_status (*fill)(const void *schedule, struct report *report, struct dse_error *err);
};

/* --NAME of the commands that take schedules: an option of the format by this name, or short for an
 * accounting. */
struct schedule_flag {
    const char *name;
    const char *value;                   /* placeholder of its argument, "BYTES"; NULL: a switch */
    const char *sentence;                /* for help */
    const struct accounting *accounting; /* what it is short for; NULL: it is an option */
};

struct schedule_format {
    const char *name;                   /* for messages: "fused schedule" */
    const char *key;                    /* at the top of its YAML, by which it is known */
    const struct engine_option *option; /* (n_option) of its evaluation: dse eval --option NAME=VALUE */
    size_t n_option;
    const struct schedule_flag *flag; /* (n_flag) */
    size_t n_flag;
    const struct schedule_report *report; /* (n_report) the first is a list, and the default */
    size_t n_report;
    /* Read the text and evaluate it; memory from `arena`. DSE_BAD_INPUT: the text is bad (with file and
     * line), it breaks a rule or does not fit, or the machine is none for it; the message says what and
     * where. */
    enum dse_status (*evaluate)(const struct schedule_request *request, struct arena *arena, void **schedule,
                                struct dse_error *err);
    /* Append what is allowed but hardly meant, as a sentence a line, with file and line. NULL: nothing is. */
    void (*warn)(const void *schedule, struct text_buffer *out);
    /* Its execution graph; texts are copied to `arena`. NULL: it has none. */
    enum dse_status (*timeline)(const void *schedule, const char *title, struct arena *arena,
                                struct timeline *timeline, struct dse_error *err);
};

/* Registry (engines/registry.c): the format whose key the text has at its top, or where the YAML is broken,
 * at the begin of a line; NULL: it is no schedule. */
const struct schedule_format *schedule_format_of(const char *text, size_t length);

/* Every format. */
const struct schedule_format *const *schedule_format_all(size_t *n);

#endif
