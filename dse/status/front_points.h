/* The Pareto front as a report: the points that no other beats in the metrics asked for. Of the rows of
 * tables that are followed, of which only the front so far is kept, or of the cells of a cube. */
#ifndef DSE_STATUS_FRONT_POINTS_H
#define DSE_STATUS_FRONT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"
#include "base/status.h"
#include "dse/status/followed_row.h"

enum { FRONT_METRIC_MAX = 8 };

struct front_point {
    double value[FRONT_METRIC_MAX]; /* (n_metric) */
    size_t group;                   /* of several fronts: which */
    uint64_t order;                 /* of its cell among all */
    char *text; /* of each column of axes the value as it is written, then as people read it; owned */
};

struct front_points {
    size_t n_metric;
    const struct metric *metric[FRONT_METRIC_MAX];
    int direction[FRONT_METRIC_MAX];
    size_t n_needed;                 /* points without one of the first so many metrics have no place */
    size_t column[FRONT_METRIC_MAX]; /* of the header */
    size_t n_axis;
    char *axes;                 /* the names of the columns of axes, like a point's text; owned */
    struct cell_column *report; /* (2 n_axis + n_metric) of the report; owned */
    uint64_t n_ok, n_without;   /* points that are ok; of these without a place */
    size_t n, capacity;
    struct front_point *point; /* (n) owned */
};

/* `list`: "energy_j,latency_s"; NULL: these, and area_mm2 among points that have it. DSE_BAD_USAGE: no such
 * metric, one that has no best, or one twice. */
DSE_MUST_CHECK enum dse_status front_points_init(struct front_points *front, const char *list,
                                                 struct dse_error *err);
void front_points_free(struct front_points *front);

/* Forget all points. */
void front_points_clear(struct front_points *front);

/* Find the columns in a table's header. DSE_BAD_USAGE: it lacks one, or an earlier table had others. */
DSE_MUST_CHECK enum dse_status front_points_bind(struct front_points *front,
                                                 const struct followed_row *source, struct dse_error *err);

/* Add a row that is ok; `index` (n_axis of the schema) is its cell. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status front_points_add(struct front_points *front, const struct followed_row *source,
                                                const struct csv_row *row, const uint32_t *index,
                                                uint64_t order, struct dse_error *err);

/* Begin with no points of a cube with these metrics (n_metric <= FRONT_METRIC_MAX); borrows the metrics.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status front_points_begin(struct front_points *front,
                                                  const struct result_schema *schema,
                                                  const struct metric *const *metric, const int *direction,
                                                  size_t n_metric, struct dse_error *err);

/* Put a cell that is on the front of its group, with its values (n_metric). DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status front_points_put(struct front_points *front,
                                                const struct result_schema *schema, uint64_t cell,
                                                size_t group, const double *value, struct dse_error *err);

/* The front as a report, group by group, a point a row, the best in the first metric first; it borrows from
 * `front`. */
void front_points_report(struct front_points *front, struct report *report);

#endif
