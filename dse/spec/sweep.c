/* From the number of a point to its settings, workload and machine, and to its words; checks and look-ups
 * happen once, in sweep_init. */
#include "dse/spec/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum dse_status sweep_no_memory(const struct sweep *sweep, struct dse_error *err)
{
    return dse_fail_at(err, DSE_NO_MEMORY, sweep->spec->path, 0, "out of memory");
}

enum dse_status sweep_init(struct sweep *sweep, const struct sweep_spec *spec, struct dse_error *err)
{
    memset(sweep, 0, sizeof *sweep);
    sweep->spec = spec;
    arena_init(&sweep->arena);
    DSE_TRY(sweep_load(sweep, err));
    DSE_TRY(sweep_isolation(sweep, err));
    DSE_TRY(sweep_variables(sweep, err));
    DSE_TRY(sweep_cells(sweep, err));
    DSE_TRY(sweep_plot(sweep, err));
    DSE_TRY(sweep_check(sweep, err));
    return sweep_schema(sweep, err);
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
    free(sweep->cell);
    arena_free(&sweep->arena);
    memset(sweep, 0, sizeof *sweep);
}

/* Value i of variable v. */
static void apply(const struct sweep *sweep, size_t v, size_t i, struct sweep_point *out)
{
    const struct spec_variable *variable = &sweep->spec->variable[v];
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
    for (size_t d = 0; d < spec->n_dimension; d++)
        for (size_t k = 0; k < spec->dimension[d].n_variable; k++)
            choice[spec->variable[spec->dimension[d].variable[k]].kind->target] = out->index[d];
    out->settings = sweep->engine[choice[SPEC_ENGINE]];
    for (size_t i = 0; i < spec->n_override; i++)
        out->override[out->n_override++] =
            (struct arch_override){spec->override[i].path, spec->override[i].value.text};
    for (size_t d = 0; d < spec->n_dimension; d++)
        for (size_t k = 0; k < spec->dimension[d].n_variable; k++)
            apply(sweep, spec->dimension[d].variable[k], out->index[d], out);
    enum dse_status settled = solve_settings_settle(&out->settings, NULL);
    (void)settled; /* sweep_check tried each point */
    out->arch = &sweep->arch[choice[SPEC_ARCHITECTURE]];
    out->template = sweep->template[choice[SPEC_ARCHITECTURE]];
    out->workload = &sweep->workload[choice[SPEC_NETWORK] * sweep->n_batch + choice[SPEC_BATCH]];
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
    return solve_task_shared(&point->settings, &point->workload->problem[t], arch, shared, cancel, arena,
                             result);
}

enum dse_status sweep_point_build(const struct sweep_point *point, struct architecture *arch,
                                  struct dse_error *err)
{
    return architecture_template_build(point->template, point->override, point->n_override, arch, err);
}

char *sweep_point_print(const struct sweep *sweep, size_t p, char *buffer, size_t size)
{
    struct sweep_point point;
    size_t used = 0;
    sweep_point(sweep, p, &point);
    buffer[0] = '\0';
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        for (size_t k = 0; k < sweep->spec->dimension[d].n_variable && used < size; k++) {
            const struct spec_variable *v = &sweep->spec->variable[sweep->spec->dimension[d].variable[k]];
            int n = snprintf(buffer + used, size - used, "%s%s=%s", used ? " " : "", v->name,
                             v->value[point.index[d]].text);
            used += n > 0 ? (size_t)n : 0;
        }
    return buffer;
}
