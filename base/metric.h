/* Metrics: every quantity that is known of a mapping, a schedule, a layer or a design point is one row of a
 * table, with its unit, its type, how layers make up a network, and whether more of it is better. METRIC_LIST
 * has those that all systems share; what only one system knows is a group of its own, declared where it is
 * computed. Summing, checking, CSV, HDF5, JSON and figures are loops over such rows. */
#ifndef BASE_METRIC_H
#define BASE_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_type { METRIC_F64, METRIC_U64, METRIC_TEXT };

/* What a network's value is of its layers' values, each times the number of its occurrences; METRIC_NONE: not
 * a function of these alone, or none at all. */
enum metric_fold { METRIC_NONE, METRIC_SUM, METRIC_MAX };

enum metric_better { METRIC_NEITHER, METRIC_LESS, METRIC_MORE };

/* Missing values: NaN for METRIC_F64, this for METRIC_U64, NULL or "" for METRIC_TEXT. A value whose bytes
 * are all 0xff is missing as either kind of number. */
#define METRIC_U64_MISSING UINT64_MAX

struct metric {
    const char *name;     /* with its unit: "latency_s"; a column, a dataset, a key */
    const char *unit;     /* "s", "J", "byte", "1" for ratios and counts; "" for text */
    const char *sentence; /* for people, without a full stop */
    enum metric_type type;
    enum metric_fold fold;
    enum metric_better better;
    bool is_time;  /* wall time of the run: differs between runs, left out when results are compared */
    size_t offset; /* where the value lies in the struct that the table is about */
};

/* A number of a group. */
union metric_value {
    double f64;
    uint64_t u64;
};

/* Metrics that not every result has: of one engine, or measured when asked for. Value number i is that of
 * metric[i]; all are numbers. */
struct metric_group {
    const char *name; /* one word: the attribute `measures` of result files lists them */
    const struct metric *metric;
    size_t n; /* at most METRIC_GROUP_MAX */
};

enum { METRIC_GROUP_MAX = 24 };

/* X(S, member, type, unit, fold, better, sentence): the members of a struct S and the rows of its table. */
#define METRIC_LIST(X, S)                                                                                    \
    X(S, latency_s, F64, "s", SUM, LESS, "Latency")                                                          \
    X(S, latency_cycle, U64, "cycle", SUM, LESS, "Latency in clock cycles")                                  \
    X(S, energy_j, F64, "J", SUM, LESS, "Energy")                                                            \
    X(S, energy_mac_j, F64, "J", SUM, LESS, "Energy of the MACs")                                            \
    X(S, energy_buffer_j, F64, "J", SUM, LESS, "Energy of the on-chip storage levels")                       \
    X(S, energy_noc_j, F64, "J", SUM, LESS, "Energy of the on-chip networks")                                \
    X(S, energy_dram_j, F64, "J", SUM, LESS, "Energy of the DRAM")                                           \
    X(S, energy_leakage_j, F64, "J", SUM, LESS, "Energy of leakage")                                         \
    X(S, edp_js, F64, "J s", NONE, LESS, "Energy-delay product")                                             \
    X(S, utilization, F64, "1", NONE, MORE, "MAC utilization")                                               \
    X(S, dram_byte, F64, "byte", SUM, LESS, "DRAM traffic, reads and writes")                                \
    X(S, onchip_byte, F64, "byte", SUM, LESS, "On-chip storage traffic, all levels")                         \
    X(S, bound_latency_ratio, F64, "1", NONE, LESS, "Latency over its lower bound")                          \
    X(S, bound_energy_ratio, F64, "1", NONE, LESS, "Energy over its lower bound")                            \
    X(S, bound_edp_ratio, F64, "1", NONE, LESS, "Energy-delay product over its lower bound")                 \
    X(S, area_mm2, F64, "mm2", NONE, LESS, "Area of the machine")                                            \
    X(S, n_mac, U64, "1", SUM, NEITHER, "Multiply-accumulate operations")

#define METRIC_C_TYPE_F64 double
#define METRIC_C_TYPE_U64 uint64_t

/* For X: a member of a struct, a row of its table. */
#define METRIC_MEMBER(S, member, kind, unit_text, fold_kind, better_kind, text) METRIC_C_TYPE_##kind member;
#define METRIC_ROW(S, member, kind, unit_text, fold_kind, better_kind, text)                                 \
    {.name = #member,                                                                                        \
     .unit = unit_text,                                                                                      \
     .sentence = text,                                                                                       \
     .type = METRIC_##kind,                                                                                  \
     .fold = METRIC_##fold_kind,                                                                             \
     .better = METRIC_##better_kind,                                                                         \
     .offset = offsetof(struct S, member)},

/* The shared metrics of one result. */
struct metrics {
    METRIC_LIST(METRIC_MEMBER, metrics)
};

/* The same as members of a record, which then is a struct metrics by its member `metrics`. */
#define METRICS_OF_RECORD                                                                                    \
    union {                                                                                                  \
        struct metrics metrics;                                                                              \
        struct {                                                                                             \
            METRIC_LIST(METRIC_MEMBER, metrics)                                                              \
        };                                                                                                   \
    }

/* The table of struct metrics; `*n` rows. */
const struct metric *metric_all(size_t *n);

/* All missing. */
void metrics_init(struct metrics *metrics);

/* A value to missing, or, where layers make up a network, to that of no layers. */
void metric_clear(const struct metric *metric, void *place);
void metric_fold_begin(const struct metric *metric, void *place);

/* Add one layer's value, which occurs `count` times. Missing for one is missing for all. Nothing for
 * METRIC_NONE. */
void metric_fold(const struct metric *metric, void *place, const void *one, uint64_t count);

/* The same for all shared metrics. */
void metrics_fold_begin(struct metrics *total);
void metrics_fold(struct metrics *total, const struct metrics *one, uint64_t count);

/* The value as a number; NaN when it is missing or a text. */
double metric_number(const struct metric *metric, const void *place);

/* Whether less is better (-1), more is better (1), or neither (0). */
int metric_direction(const struct metric *metric);

/* Whether a number is missing, or finite and not below zero. */
bool metric_is_sound(const struct metric *metric, const void *place);

#endif
