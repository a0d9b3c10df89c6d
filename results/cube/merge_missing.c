/* Describes the first cells without a row; of a sweep with conditions only cells that are points count. */
#include "results/cube/merge_missing.h"

#include <stdbool.h>
#include <stdio.h>

#include "results/journal/journal_scan.h"

/* "axis=value axis=value" of a cell; what does not fit is left out. */
static void describe_cell(const struct result_schema *schema, uint64_t cell, char *text, size_t size)
{
    uint64_t below = schema_n_cell(schema);
    size_t used = 0;
    text[0] = '\0';
    for (size_t a = 0; a < schema->n_axis && used < size; a++) {
        const struct result_axis *axis = &schema->axis[a];
        below /= axis->n_value;
        size_t i = (size_t)(cell / below % axis->n_value);
        for (size_t k = 0; k < axis->n_coordinate && used < size; k++) {
            char value[40];
            int n = snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", axis->coordinate[k].name,
                             coordinate_text(&axis->coordinate[k], i, value, sizeof value));
            used += n > 0 ? (size_t)n : 0;
        }
    }
}

void merge_missing_note(struct merge_summary *summary, const struct result_schema *schema, uint64_t cell)
{
    if (summary->n_example < MERGE_MISSING_MAX)
        describe_cell(schema, cell, summary->example[summary->n_example++], MERGE_MISSING_TEXT_MAX);
}

enum dse_status merge_missing_find(const char *out, const struct result_schema *schema, const uint32_t *cell,
                                   size_t n, struct merge_summary *summary, struct dse_error *err)
{
    struct journal_scan *scan;
    struct journal_row row;
    enum dse_status status = DSE_OK;
    size_t next = 0;
    summary->n_example = 0;
    DSE_TRY(journal_scan_open(out, schema, &scan, err));
    while (summary->n_example < MERGE_MISSING_MAX && next < n) {
        bool more;
        status = journal_scan_next(scan, &row, &more, err);
        if (status != DSE_OK)
            break;
        /* The merged journal is in cell order; JOURNAL_NO_CELL and the end are beyond all cells. */
        uint64_t here = more ? row.cell : JOURNAL_NO_CELL;
        for (; next < n && cell[next] < here; next++)
            merge_missing_note(summary, schema, cell[next]);
        next += next < n && cell[next] == here;
    }
    journal_scan_close(scan);
    return status;
}
