/* The points of a journal that are not ok, without its schema and without its lock. */
#include <string.h>

#include "base/text.h"
#include "results/journal/journal.h"
#include "results/journal/journal_keys.h"
#include "results/journal/journal_read.h"
#include "results/journal/journal_scan.h"

/* "network=ResNet-50 batch=4" from the columns before `status`. */
static void make_place(const struct csv_row *header, const struct csv_row *split, size_t at_status,
                       struct text_buffer *place)
{
    text_clear(place);
    for (size_t i = 0; i < at_status; i++)
        text_append(place, "%s%s=%s", i ? " " : "", header->field[i], split->field[i]);
}

enum dse_status journal_each_not_ok(const char *out, journal_visit *visit, void *user, struct dse_error *err)
{
    struct journal_scan *scan;
    struct journal_row row;
    struct text_buffer place;
    bool more = true, on = true;
    enum dse_status status = DSE_OK;
    struct journal_keys keys = {0}; /* which lines are the last ones of their points */
    DSE_TRY(journal_scan_open(out, NULL, &scan, err));
    const struct csv_row *header = journal_scan_header(scan);
    size_t at_status = csv_column_find(header, "status"), at_reason = csv_column_find(header, "reason");
    if (csv_column_find(header, "exchanged_from") < header->n)
        status = journal_keys_read(&keys, journal_scan_csv_path(scan), err);
    text_init(&place);
    while (status == DSE_OK && on && (status = journal_scan_next(scan, &row, &more, err)) == DSE_OK && more) {
        if (row.outcome == RESULT_OK || journal_keys_last(&keys, row.key) > row.line)
            continue;
        make_place(header, row.split, at_status, &place);
        if (place.failed) {
            status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the list of points");
            break;
        }
        on = visit(user, row.key, place.data ? place.data : "", row.split->field[at_status],
                   at_reason < row.split->n ? row.split->field[at_reason] : "");
    }
    text_free(&place);
    journal_keys_free(&keys);
    journal_scan_close(scan);
    return status;
}
