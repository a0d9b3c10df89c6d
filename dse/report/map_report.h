/* What `dse map` says about the mappings it found, in each of its formats. */
#ifndef DSE_REPORT_MAP_REPORT_H
#define DSE_REPORT_MAP_REPORT_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/network.h"
#include "dse/console/report_print.h"
#include "dse/report/mapping_texts.h"
#include "dse/solve/network_front.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"
#include "engines/driver/vector_format.h"
#include "results/record/schema.h"

/* What a report is about; all borrowed. */
struct map_report {
    const struct architecture *arch;
    const struct network *network;
    const struct workload *workload;
    const struct solve_settings *settings;
    const struct solve_result *result; /* (workload->n_problem) */
    const struct point_record *point;  /* the sums */
    const struct layer_record *layer;  /* (workload->n_layer) */
    bool no_total;                     /* the rows are alternatives */
    const struct network_front *front; /* rows behind those of layers; NULL: none */
};

/* Append the report: a row per layer and a total; for people with reasons and padding below, as JSON with
 * reasons and mappings. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status map_report_print(const struct map_report *r, enum report_format format,
                                                struct text_buffer *out, struct dse_error *err);

/* The following append to `out`; out of memory shows in out->failed. */

/* The mapping of the only distinct layer as `dse eval` reads it; nothing when there is none. */
void map_report_yaml(const struct map_report *r, struct text_buffer *out);

/* Every distinct mapping with its heading, in each of the texts. */
void map_report_mappings(const struct map_report *r, const struct mapping_texts *texts,
                         struct text_buffer *out);

/* A line for every distinct layer that got a mapping: its vector, or a comment why none stands for it.
 * Returns how many have none. */
uint32_t map_report_vectors(const struct map_report *r, const struct vector_format *vectors,
                            struct text_buffer *out);

/* A row for every distinct layer that got a mapping, as the text has it. */
void map_report_text_csv(const struct map_report *r, const struct mapping_text *text,
                         struct text_buffer *out);

#endif
