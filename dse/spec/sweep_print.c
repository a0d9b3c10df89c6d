/* What a sweep spans, for people. */
#include <stdio.h>

#include "base/text.h"
#include "dse/console/table.h"
#include "dse/spec/sweep.h"

static void print_axes(const struct sweep *sweep, struct text_buffer *out)
{
    static const char *const header[] = {"axis", "values", ""};
    struct table table;
    if (sweep->spec->n_dimension == 0)
        return;
    table_init(&table, header, 3, 1 | 4);
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        for (size_t k = 0; k < sweep->spec->dimension[d].n_variable; k++) {
            const struct spec_variable *v = &sweep->spec->variable[sweep->spec->dimension[d].variable[k]];
            char list[TABLE_CELL_MAX];
            size_t used = 0;
            list[0] = '\0';
            for (size_t i = 0; i < v->n_value && used + 8 < sizeof list; i++) {
                int n = snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", v->value[i].text);
                used += n > 0 ? (size_t)n : 0;
            }
            table_cell(&table, "%s%s", k ? "  with " : "", v->name);
            table_cell(&table, "%zu", v->n_value);
            table_cell(&table, "%s", list);
        }
    table_print(&table, out);
    table_free(&table);
    text_append(out, "\n");
}

/* "WHAT   50,000 evaluations, 60 s", or nothing when there are no limits. */
static void print_limits(struct text_buffer *out, const char *what, uint64_t evaluations, double seconds,
                         const char *remark)
{
    char a[48];
    if (evaluations == 0 && seconds <= 0)
        return;
    text_append(out, "%-17s", what);
    if (evaluations)
        text_append(out, "%s evaluation%s%s", text_thousands(evaluations, a, sizeof a),
                    evaluations == 1 ? "" : "s", seconds > 0 ? ", " : "");
    if (seconds > 0)
        text_append(out, "%.3g s", seconds);
    text_append(out, "%s\n", remark);
}

void sweep_print(const struct sweep *sweep, struct text_buffer *out)
{
    char a[48], b[48];
    struct sweep_point first;
    const struct workload *w = &sweep->workload[0];
    text_append(out, "%s: %s\n\n", sweep->spec->name, sweep->spec->title);
    print_axes(sweep, out);
    text_append(out, "points           %s", text_thousands(sweep->n_point, a, sizeof a));
    if (sweep->n_point < sweep->n_cell)
        text_append(out, " of %s cells", text_thousands(sweep->n_cell, b, sizeof b));
    const char *which = sweep->n_network > 1 ? " (first network)" : "";
    text_append(out, "\n");
    if (sweep->n_scheduler < sweep->n_engine)
        text_append(out, "layers           %u mapped, %u different, %u without multiply-accumulates%s\n",
                    w->n_layer, w->n_problem, w->n_skipped, which);
    if (sweep->n_scheduler)
        text_append(out, "layers           %u scheduled together%s\n", w->network->n_layer, which);
    if (sweep->spec->measure.what) {
        text_append(out, "measured         ");
        measure_print(&sweep->spec->measure, out);
        text_append(out, "\n");
    }
    sweep_point(sweep, 0, &first);
    print_limits(out, "point limits", sweep->point_max_evaluations, sweep->point_max_seconds, "");
    print_limits(out, "search limits", first.settings.max_evaluations, first.settings.max_seconds,
                 sweep->n_network > 1 ? " (first point)" : "");
}
