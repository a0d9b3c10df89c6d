/* What a result file holds: axes, fields, layers and levels. The tables here drive the CSV header, the HDF5
 * datasets with their attributes, the figures and the documentation. A schema borrows everything it points
 * to. */
#ifndef RESULTS_RECORD_SCHEMA_H
#define RESULTS_RECORD_SCHEMA_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/metric.h"
#include "base/status.h"

/* Limits that keep an HDF5 dataspace (32 dimensions) and a line in bounds. */
enum { RESULT_AXIS_MAX = 16, RESULT_LEVEL_MAX = 64, RESULT_EXTRA_MAX = 64, RESULT_COLUMN_MAX = 128 };

/* How a point or a layer ended. */
#define RESULT_STATUS_LIST(X)                                                                                \
    X(RESULT_OK, "ok")                                                                                       \
    X(RESULT_INFEASIBLE, "infeasible")                                                                       \
    X(RESULT_TIMEOUT, "timeout")                                                                             \
    X(RESULT_FAILED, "failed")

enum result_status {
#define RESULT_STATUS_ENUM(code, text) code,
    RESULT_STATUS_LIST(RESULT_STATUS_ENUM)
#undef RESULT_STATUS_ENUM
        RESULT_STATUS_COUNT
};

/* The word in the status column; "unknown" beyond the list. */
const char *result_status_text(enum result_status status);

/* The status of a word; returns 0 when it is none of them, else 1. */
int result_status_find(const char *word, enum result_status *status);

/* The two tables of a result: a row for each point, and one for each layer of a point. */
enum result_table { RESULT_POINTS, RESULT_LAYERS, RESULT_TABLE_COUNT };

/* One column of a table: its row in the table of metrics, and where the value lies in struct point_record or
 * layer_record (double, uint64_t, const char *). */
struct result_column {
    const struct metric *metric;
    size_t offset;
};

/* One named array along an axis. Either `number` or `text` is set. */
struct result_coordinate {
    /* column and dataset name, unit in it: "global_buffer_byte"; letters, digits, _ . + - */
    const char *name;
    const char *unit;        /* "byte", "byte/s", "1", "" for text */
    const char *long_name;   /* "Global buffer capacity" */
    const double *number;    /* (n_value) or NULL; finite */
    const char *const *text; /* (n_value) or NULL; one line each, not empty */
    const char *const
        *label; /* (n_value) what people read on a figure: "64 KiB"; NULL: made from the value and unit */
};

/* An axis is a dimension. coordinate[0] names it and is its dimension scale; linked (zip) axes have further
 * coordinates on the same dimension. No two positions of an axis may agree in all coordinates. */
struct result_axis {
    size_t n_value;
    size_t n_coordinate;
    const struct result_coordinate *coordinate; /* (n_coordinate), at least one */
};

/* A file that the specification took in, kept with the results so that they can be computed again from them
 * alone. */
struct result_input {
    const char *role;    /* "architecture" or "network"; "specification": the specification itself */
    const char *name;    /* as the specification names it */
    const char *path;    /* where it was found */
    const char *content; /* (n_byte) as it was read */
    size_t n_byte;
};

/* Everything that fixes the shape of the result files of one sweep. */
struct result_schema {
    const char *name;            /* the specification's name */
    const char *title;           /* for figures */
    const char *specification;   /* its full text */
    uint64_t specification_hash; /* of that text, of the inputs and of what --set gave; shards must agree */
    size_t n_axis;
    const struct result_axis *axis; /* (n_axis) in declared order */
    size_t n_layer;
    const char *const *layer; /* (n_layer) names over all networks of the sweep, unique, in a fixed order */
    size_t n_level;
    const char *const
        *level;           /* (n_level) storage level names over all architectures, unique, innermost first */
    const char *measures; /* the names of the groups of metrics below, blanks between; NULL: none */
    size_t n_extra[RESULT_TABLE_COUNT];
    const struct metric *const *extra[RESULT_TABLE_COUNT]; /* (n_extra) metrics that not every result has */
    bool fronts;    /* some points have fronts: the columns n_front, front, ... */
    bool schedules; /* some points have schedules, which cells may exchange: the column exchanged_from */
    bool leaks;     /* some machines leak: the column energy_leakage_j */
    bool areas;     /* some have areas: those of each level */
    bool exchanged; /* and have: the files hold what came of it */
    size_t n_input; /* files that the specification took in; 0: not known */
    const struct result_input *input; /* (n_input) */
    size_t n_set;                     /* what --set replaced on the command line */
    const char *const *set;           /* (n_set) "KEY=VALUE" */
    uint32_t shard, n_shard; /* which part of the points these files are about; 0 of 0 and 1 of 1: all */
    uint64_t n_point_shard;  /* how many points that part has; 0: not known */
    uint64_t n_point;        /* points the specification expands to (cells that are not filtered out) */
};

/* Values of one level. */
struct level_values {
    double energy_j;     /* accesses and address generation; NaN: no such level here */
    double noc_energy_j; /* the network below the level */
    double byte;         /* read, filled and updated, all instances */
    double area_mm2;     /* of all instances */
};

/* No such level here. */
#define LEVEL_VALUES_NONE                                                                                    \
    {                                                                                                        \
        NAN, NAN, NAN, NAN                                                                                   \
    }

/* The result of one design point; also the struct that the field table's offsets refer to. Set it up with
 * point_record_init, then fill in what is known. Texts are borrowed and one line each (line breaks become
 * spaces). */
struct point_record {
    const uint32_t *index; /* (n_axis) the cell */
    uint64_t key;          /* content hash of all that determines the result */
    enum result_status outcome;
    const char *reason;                         /* why it is not ok */
    METRICS_OF_RECORD;                          /* latency_s, energy_j, ... */
    union metric_value extra[RESULT_EXTRA_MAX]; /* (schema->n_extra[RESULT_POINTS]) */
    uint64_t n_front;                           /* points of the network's front */
    const char *front; /* "latency_s:energy_j latency_s:energy_j ...", the fastest first; NULL: none */
    const char *exchanged_from; /* "axis=value axis=value": whose search found the schedule; NULL: its own */
    uint64_t n_layer_mapped;    /* layers of the network that got a mapping (repeats counted) */
    uint64_t n_layer;           /* rows in OUT.layers.csv; set by journal_append */
    const char *accounting;     /* which cost accounting priced it: "timeloop", "soma", "soma-compat" */
    const char *bound_kind;     /* what the lower bound of the objective is, NULL: none is known */
    const char *stop;           /* optimal | converged | max_evaluations | max_seconds */
    uint64_t evaluations;
    uint64_t draws;                   /* candidates looked at, valid or not; at least `evaluations` */
    double seconds;                   /* wall time of the search */
    const struct level_values *level; /* (schema->n_level) or NULL */
};

/* The result of one layer of a point: the metrics of ONE execution; `count` of them make up the network. */
struct layer_record {
    const char *layer; /* one of schema->layer, at most once per point */
    uint64_t count;
    enum result_status outcome;
    const char *reason;
    METRICS_OF_RECORD;
    union metric_value extra[RESULT_EXTRA_MAX]; /* (schema->n_extra[RESULT_LAYERS]) */
    uint64_t front_point;                       /* which point of its own front the row is, from 0 */
    const char *front;                          /* its own front, as of a point; NULL: none */
    const char *front_choice;   /* for each point of the network's front a point of its own, "0 0 1 ..." */
    const char *front_mappings; /* of each point of its own front, " | " between them */
    const char *bound_kind;
    const char *stop;
    uint64_t evaluations;
    uint64_t draws;
    const char *padded;        /* "P 53->54" when the engine searched a larger problem */
    const char *same_as;       /* set by journal_format: the layer that has the mapping, which is NULL then */
    const char *mapping;       /* one line that `dse eval` reads back */
    const char *trace;         /* improvements as "evaluation:cost evaluation:cost ...", or NULL */
    const char *trace_seconds; /* processor time at each of these, "0.001 0.2 ...", or NULL */
    double seconds;
    const struct level_values *level; /* (schema->n_level) or NULL */
};

/* All fields missing, outcome failed. */
void point_record_init(struct point_record *record);
void layer_record_init(struct layer_record *record);

/* The columns that files of this schema have, in order, without status, point key and checksum, and without
 * the level columns, which stand before the column `stop`. NULL: those that all files have. Returns how
 * many. */
size_t schema_columns(const struct result_schema *schema, enum result_table table,
                      struct result_column column[RESULT_COLUMN_MAX]);

/* The per-level fields that files of this schema have: offsets into struct level_values. In CSV
 * "<level>.energy_j", in HDF5 group `levels`. */
const struct metric *schema_level_metrics(const struct result_schema *schema, size_t *n);

/* Check names, limits, uniqueness and finite coordinates. DSE_BAD_INPUT or DSE_LIMIT with a sentence that
 * names the axis. */
DSE_MUST_CHECK enum dse_status schema_check(const struct result_schema *schema, struct dse_error *err);

/* Does `name`, as in a specification, mean this column? "DRAM.bandwidth" is "DRAM.bandwidth_byte_per_s". */
bool result_column_is(const char *column, const char *name);

/* Cells of the cube: the product of the axis lengths; 1 without axes. Saturates at UINT64_MAX. */
uint64_t schema_n_cell(const struct result_schema *schema);

/* The text of coordinate `c` at position `i` as the CSV has it (shortest round-trip number, or the text
 * itself). `buffer` is used for numbers only. */
const char *coordinate_text(const struct result_coordinate *c, size_t i, char *buffer, size_t size);

/* What people read at position `i`: the label if there is one, else value and unit ("64 KiB", "16 GB/s",
 * "ResNet-50"). Returns `buffer`. */
char *coordinate_label(const struct result_coordinate *c, size_t i, char *buffer, size_t size);

/* Whether a column of that name, of either table, is a time that the run took: it differs between runs and is
 * left out when results are compared. */
bool result_column_is_time(const char *name);

/* "OUT.h5" with another ending: result_path(buffer, size, "a/OUT.h5", ".layers.csv") -> "a/OUT.layers.csv".
 * Endings .h5, .hdf5, .nc, .layers.csv and .csv are replaced, else the ending is appended. Returns 0 when it
 * does not fit, else 1. */
int result_path(char *buffer, size_t size, const char *out, const char *ending);

#endif
