/* From the number of a point to its settings, workload and machine, and to its words, and the sweep in words;
 * checks and look-ups happen once, in sweep_init. */
#include "dse/spec/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dse/console/table.h"
#include "dse/solve/solve_note.h"
#include "dse/spec/sweep_neighbours.h"

enum dse_status sweep_no_memory(const struct sweep *sweep, struct dse_error *err)
{
    return dse_fail_at(err, DSE_NO_MEMORY, sweep->spec->path, 0, "out of memory");
}

static enum dse_status prepare(struct sweep *sweep, struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    struct dse_faults *faults = spec->faults;
    DSE_TRY(sweep_load(sweep, err));
    DSE_TRY(sweep_variables(sweep, err));
    bool complete = !spec->has_bad_axis;
    for (size_t v = 0; v < spec->n_variable; v++)
        complete &= !sweep->variable[v].is_bad;
    if (complete) /* else what is missing may be what a filter or figure names */
        DSE_NOTE(faults, sweep_cells(sweep, err));
    if (complete)
        DSE_TRY(sweep_axes(sweep, err));
    if (complete && sweep->has_columns)
        DSE_NOTE(faults, sweep_plot(sweep, err));
    if (sweep_n_fault(sweep) > 0)
        return sweep_check_machines(sweep, err);
    DSE_TRY(sweep_check(sweep, err));
    return sweep_n_fault(sweep) > 0 ? DSE_OK : sweep_schema(sweep, err);
}

size_t sweep_n_fault(const struct sweep *sweep)
{
    return sweep->spec->faults ? sweep->spec->faults->n : 0;
}

enum dse_status sweep_init(struct sweep *sweep, const struct sweep_spec *spec, struct dse_error *err)
{
    memset(sweep, 0, sizeof *sweep);
    sweep->spec = spec;
    arena_init(&sweep->arena);
    return dse_while_reading(spec->path, prepare(sweep, err), err);
}

void sweep_free(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_arch; i++) {
        architecture_template_free(sweep->template[i]);
        yaml_doc_free(&sweep->arch[i]);
    }
    for (size_t i = 0; sweep->workload && i < sweep->n_network * sweep->n_batch; i++)
        workload_free(&sweep->workload[i]);
    for (size_t i = 0; i < sweep->n_network; i++)
        network_free(&sweep->network[i]);
    option_files_free(sweep->files);
    free(sweep->cell);
    arena_free(&sweep->arena);
    memset(sweep, 0, sizeof *sweep);
}

/* Value i of a variable. */
static void apply(const struct spec_variable *variable, size_t i, struct sweep_point *out)
{
    const struct axis_value value = {variable, i, variable->value[i].text};
    if (variable->kind->target == SPEC_QUANTITY)
        out->override[out->n_override++] = (struct arch_override){variable->name, value.text};
    else if (variable->kind->set && variable->kind->set(&value, &out->settings, NULL) != DSE_OK)
        return; /* sweep_load tried each value */
}

size_t sweep_point_at(const struct sweep *sweep, uint64_t cell)
{
    size_t low = 0, high = sweep->n_point;
    if (cell >= sweep->n_cell)
        return SIZE_MAX;
    if (!sweep->cell)
        return (size_t)cell;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sweep->cell[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sweep->n_point && sweep->cell[low] == cell ? low : SIZE_MAX;
}

void sweep_index(const struct sweep *sweep, size_t p, uint32_t *index)
{
    uint32_t cell = sweep->cell ? sweep->cell[p] : (uint32_t)p;
    for (size_t d = sweep->spec->n_dimension; d-- > 0;) {
        uint32_t n = (uint32_t)sweep->spec->dimension[d].n_value;
        index[d] = cell % n;
        cell /= n;
    }
}

void sweep_point(const struct sweep *sweep, size_t p, struct sweep_point *out)
{
    const struct sweep_spec *spec = sweep->spec;
    size_t choice[SPEC_TARGET_COUNT] = {0}; /* of what was looked up */
    out->n_override = 0;
    sweep_index(sweep, p, out->index);
    for (size_t v = 0; v < spec->n_variable; v++)
        choice[spec->variable[v].kind->target] = out->index[spec->variable[v].dimension];
    out->settings = sweep->engine[choice[SPEC_ENGINE]];
    for (size_t i = 0; i < spec->n_override; i++)
        out->override[out->n_override++] =
            (struct arch_override){spec->override[i].path, spec->override[i].value.text};
    for (size_t v = 0; v < spec->n_variable; v++)
        apply(&spec->variable[v], out->index[spec->variable[v].dimension], out);
    enum dse_status settled = solve_settings_settle(&out->settings, NULL);
    (void)settled; /* sweep_check tried each point */
    out->arch = &sweep->arch[choice[SPEC_ARCHITECTURE]];
    out->template = sweep->template[choice[SPEC_ARCHITECTURE]];
    out->workload = &sweep->workload[sweep_workload_at(sweep, out->index)];
    solve_settings_share(&out->settings, sweep->point_max_evaluations, sweep->point_max_seconds,
                         sweep_point_n_task(out));
}

uint32_t sweep_point_n_task(const struct sweep_point *point)
{
    return solve_is_scheduler(&point->settings) ? 1 : point->workload->n_problem;
}

uint64_t sweep_point_task_hash(const struct sweep_point *point, uint32_t t)
{
    return solve_is_scheduler(&point->settings) ? point->workload->network_hash
                                                : point->workload->problem_key[t];
}

enum dse_status sweep_point_solve(const struct sweep_point *point, uint32_t t,
                                  const struct architecture *arch, const struct solve_shared *shared,
                                  const atomic_int *cancel, struct arena *arena, struct solve_result *result)
{
    if (solve_is_scheduler(&point->settings))
        return solve_network(&point->settings, point->workload, arch, shared, cancel, arena, result);
    const struct problem *problem = &point->workload->problem[t];
    DSE_TRY(solve_task_shared(&point->settings, problem, arch, shared, cancel, arena, result));
    return solve_note(&point->settings, problem, arch, shared, cancel, arena, result);
}

enum dse_status sweep_point_build(const struct sweep_point *point, struct architecture *arch,
                                  struct dse_error *err)
{
    return architecture_template_build(point->template, point->override, point->n_override, arch, err);
}

char *sweep_point_print(const struct sweep *sweep, size_t p, char *buffer, size_t size)
{
    uint32_t index[SPEC_VARIABLE_MAX];
    size_t used = 0;
    sweep_index(sweep, p, index);
    buffer[0] = '\0';
    for (size_t i = 0; i < sweep->spec->n_variable && used < size; i++) {
        const struct spec_variable *v = &sweep->spec->variable[i];
        int n = snprintf(buffer + used, size - used, "%s%s=%s", used ? " " : "", v->name,
                         v->value[index[v->dimension]].text);
        used += n > 0 ? (size_t)n : 0;
    }
    return buffer;
}

/* All of them, or the first ones and the last. */
static void print_values(const struct spec_variable *v, char *list, size_t size)
{
    const char *last = v->value[v->n_value - 1].text;
    const size_t end = strlen(", ..., ") + strlen(last) + 1;
    size_t used = 0;
    for (size_t i = 0; i < v->n_value && used < size; i++) {
        const char *text = v->value[i].text;
        bool cut = i + 1 < v->n_value && used + strlen(text) + 2 + end > size;
        int n = snprintf(list + used, size - used, "%s%s", i ? ", " : "", cut ? "..., " : text);
        used += n > 0 ? (size_t)n : 0;
        if (cut && used < size)
            snprintf(list + used, size - used, "%s", last);
        if (cut)
            return;
    }
}

static void print_axes(const struct sweep *sweep, struct text_buffer *out)
{
    static const char *const header[] = {"axis", "values", ""};
    struct table table;
    if (sweep->spec->n_dimension == 0)
        return;
    table_init(&table, header, 3, 1 | 4);
    for (size_t k = 0; k < sweep->spec->n_variable; k++) {
        const struct spec_variable *v = &sweep->spec->variable[k];
        char list[TABLE_CELL_MAX];
        print_values(v, list, sizeof list);
        table_cell(&table, "%s%s", k > sweep->spec->dimension[v->dimension].first ? "  with " : "", v->name);
        table_cell(&table, "%zu", v->n_value);
        table_cell(&table, "%s", list);
    }
    table_print(&table, out);
    table_free(&table);
    text_append(out, "\n");
}

/* Along which axes cells exchange schedules. */
static void print_exchange(const struct sweep *sweep, struct text_buffer *out)
{
    size_t n = 0;
    for (size_t v = 0; v < sweep->spec->n_variable && sweep->exchange && sweep->n_scheduler > 0; v++)
        if (sweep_exchanges(sweep, v))
            text_append(out, "%s%s", n++ ? ", " : "exchange         of schedules along ",
                        sweep->spec->variable[v].name);
    text_append_string(out, n ? "\n" : "");
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
    print_exchange(sweep, out);
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
