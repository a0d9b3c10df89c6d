/* What a page shows: the points of one or several result files of one sweep, all their metrics, and the axes
 * in their roles. */
#ifndef RESULTS_PAGE_PAGE_DATA_H
#define RESULTS_PAGE_PAGE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/plot/plot_data.h"
#include "results/record/provenance.h"
#include "results/record/schema.h"

enum { PAGE_CELL_MAX = 100000 };

/* A column of numbers. */
struct page_metric {
    const struct metric *metric;
    double *value;    /* (n_cell) NaN: missing, or the point is neither ok nor timeout */
    double low, high; /* of the points shown; low > high: none has a value */
};

/* One of the files. */
struct page_source {
    const char *path;
    struct provenance provenance;
    struct result_schema schema; /* its own, with inputs, `set` and shard */
};

struct page_data {
    struct plot_data plot; /* schema, axes; its value and metric are those of metric[at] */
    size_t n_metric, at;
    struct page_metric metric[RESULT_COLUMN_MAX]; /* (n_metric) */
    const char *const *reason, *const *stop;      /* (n_cell) "": nothing to say */
    size_t n_x, n_y, n_panel;
    bool *shown;                 /* (n_cell) a point that the page shows */
    size_t n_mark, *mark;        /* (n_mark) these cells, panel by panel, row by row */
    uint32_t *group;             /* (n_cell) of shown points: see plot_group, numbered from 0 */
    size_t n_group, *group_cell; /* (n_group) the first cell of each */
    uint64_t n_done, n_expected; /* points of the files; of their sweeps, 0: not known */
    size_t n_source;
    struct page_source *source; /* (n_source) */
};

/* Read the files of one sweep, `path` the first of them; of `options` all counts that is about data. Close
 * also after a failure. DSE_IO, DSE_BAD_INPUT, DSE_BAD_USAGE as plot_data_open; DSE_LIMIT: more than
 * PAGE_CELL_MAX cells; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status page_data_open(struct page_data *data, const char *path,
                                              const struct plot_options *options, struct dse_error *err);
void page_data_close(struct page_data *data);

/* The metric of that name, or NULL when there is none or no point shown has it. */
const struct page_metric *page_metric_find(const struct page_data *data, const char *name);

/* The best cell of each group by a metric into `best` (n_group), of equal ones the first; n_cell: none. */
void page_bests(const struct page_data *data, const struct page_metric *metric, size_t *best);

/* Whether every search of the point was proved to be the best. */
bool page_is_proved(const struct page_data *data, size_t cell);

#endif
