/* The parts of a page, in their order; each appends its section. */
#ifndef RESULTS_PAGE_PAGE_PARTS_H
#define RESULTS_PAGE_PAGE_PARTS_H

#include "results/page/page.h"

/* What was varied, what was not, and what was minimised. */
DSE_MUST_CHECK enum dse_status page_varied(struct page_data *data, const struct page_words *words,
                                           struct text_buffer *out, struct dse_error *err);

/* The best points of each network and batch, and what their energy and latency are made of. */
DSE_MUST_CHECK enum dse_status page_best_points(struct page_data *data, struct text_buffer *out,
                                                struct dse_error *err);
DSE_MUST_CHECK enum dse_status page_breakdown(struct page_data *data, struct text_buffer *out,
                                              struct dse_error *err);

/* The metric over two axes, in panels; and what the script draws others from. */
DSE_MUST_CHECK enum dse_status page_map(struct page_data *data, struct text_buffer *out,
                                        struct dse_error *err);
DSE_MUST_CHECK enum dse_status page_map_data(struct page_data *data, struct text_buffer *out,
                                             struct dse_error *err);

/* Energy over latency, and the points that no other beats. */
DSE_MUST_CHECK enum dse_status page_front(struct page_data *data, struct text_buffer *out,
                                          struct dse_error *err);

/* How far the points are from what no mapping can beat. */
DSE_MUST_CHECK enum dse_status page_gaps(struct page_data *data, struct text_buffer *out,
                                         struct dse_error *err);

/* Points that are not ok; where the files come from. */
void page_failures(const struct page_data *data, const struct page_words *words, struct text_buffer *out);
void page_origin(const struct page_data *data, const struct page_words *words, struct text_buffer *out);

/* ---------------------------------------- what the parts share */

/* "network ResNet-50, batch 4" of a group; "" when there is one only. */
void page_group_text(const struct page_data *data, size_t group, struct text_buffer *text);

/* <td>s of where a point is, one for each axis that is varied, and their titles (RESULT_AXIS_MAX); returns
 * how many. */
size_t page_place_titles(const struct page_data *data, const char **title);
void page_place_cells(const struct page_data *data, size_t cell, struct text_buffer *out);

/* Is all that is shown one point? Then there is nothing to compare, and nothing for the script to do. */
bool page_is_single(const struct page_data *data);

/* Is the axis shown as more than one value? */
bool page_is_varied(const struct page_data *data, size_t axis);

/* Several groups, networks above all, are compared by their own best points. */
enum { PAGE_SHADES = 50 };
struct page_scale {
    double low, high;
    bool log;
};

/* The ends of a scale, logarithmic when it spans more than a factor of 6, and the place of a value on it,
 * 0 .. 1. The script has the same. */
struct page_scale page_scale_of(double low, double high);
double page_scale_place(const struct page_scale *scale, double value);

/* Numbers for ticks of a scale: `tick` (most), the n of them within it; steps of 1, 2, 5. */
size_t page_ticks(const struct page_scale *scale, double *tick, size_t most);

/* "5 ms": html_value without zeros at the end; without a unit a factor, "1.5x" with the sign of times.
 * Returns `buffer`. */
char *page_tick_text(double value, const char *unit, char *buffer, size_t size);

#endif
