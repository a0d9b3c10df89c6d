/* What can be said about a journal without its schema and without its lock: counts, and the points that are
 * not ok. */
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "results/journal/journal.h"
#include "results/journal/journal_read.h"
#include "results/journal/journal_scan.h"
#include "results/journal/lock.h"

static void count_row(const struct journal_row *row, size_t at_evaluations, struct journal_summary *summary)
{
    uint64_t evaluations;
    summary->n_point++;
    summary->n_status[row->outcome]++;
    summary->seconds += row->seconds;
    if (at_evaluations < row->split->n && text_parse_u64(row->split->field[at_evaluations], &evaluations))
        summary->evaluations += evaluations;
}

enum dse_status journal_summarise(const char *out, struct journal_summary *summary, struct dse_error *err)
{
    struct journal_scan *scan;
    struct journal_scan_place place;
    struct journal_row row;
    struct stat info;
    bool more = true;
    *summary = (struct journal_summary){0};
    DSE_TRY(journal_scan_open(out, NULL, &scan, err));
    summary->running = lock_read(out, &summary->owner) && summary->owner.held;
    if (stat(journal_scan_csv_path(scan), &info) == 0)
        summary->modified_s = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
    size_t at_evaluations = csv_column_find(journal_scan_header(scan), "evaluations");
    enum dse_status status = DSE_OK;
    while ((status = journal_scan_next(scan, &row, &more, err)) == DSE_OK && more)
        count_row(&row, at_evaluations, summary);
    journal_scan_where(scan, &place);
    summary->torn = place.torn;
    summary->n_bad_line = place.n_bad;
    summary->first_bad_line = (int)place.first_bad_line;
    journal_scan_close(scan);
    return status;
}

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
    DSE_TRY(journal_scan_open(out, NULL, &scan, err));
    const struct csv_row *header = journal_scan_header(scan);
    size_t at_status = csv_column_find(header, "status"), at_reason = csv_column_find(header, "reason");
    text_init(&place);
    while (on && (status = journal_scan_next(scan, &row, &more, err)) == DSE_OK && more) {
        if (row.outcome == RESULT_OK)
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
    journal_scan_close(scan);
    return status;
}
