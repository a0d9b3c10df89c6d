/* What `dse status` and `dse watch` say about outputs that are followed. */
#ifndef DSE_STATUS_STATUS_REPORT_H
#define DSE_STATUS_STATUS_REPORT_H

#include "base/text.h"
#include "dse/status/sweep_follow.h"

/* Append the state of one output in full, or of several as a table with a total; then why points are not ok,
 * and the best so far. Sorts groups and slices. */
void status_report_text(struct follow_set *set, struct text_buffer *out);

/* The same as one JSON object in one line, with a line end (docs/observing.md). */
void status_report_json(struct follow_set *set, struct text_buffer *out);

/* "12.3 points/s", "4.5 points/min", "1.2 points/h"; "-" for NaN. Returns `buffer`. */
char *status_rate(double per_s, char *buffer, size_t size);

/* Sums over all outputs: rates are added, the ETA is the latest of those that run. */
struct status_total {
    uint64_t n_point, n_expected, n_status[RESULT_STATUS_COUNT];
    bool exact;    /* all n_expected are known exactly */
    bool complete; /* all outputs are */
    double rate, eta_s;
};
void status_total(const struct follow_set *set, struct status_total *total);

#endif
