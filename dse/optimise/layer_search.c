/* Searches of layers on machines, by all threads: each one's proved optimum, or its mapping. */
#include "dse/optimise/optimise_parts.h"

#include <math.h>
#include <stdlib.h>

#include "dse/optimise/dataflow_schedule.h"

/* Problem p on a machine, for the least of an objective. */
static enum dse_status search(const struct optimise *o, const struct architecture *arch, uint32_t p,
                              bool any_dataflow, const struct objective *objective, struct arena *arena,
                              struct solve_result *result, struct dse_error *err)
{
    struct solve_settings settings = *o->settings;
    struct yaml_doc doc = {0};
    struct text_buffer text;
    enum dse_status status = DSE_OK;
    settings.objective = *objective;
    text_init(&text);
    if (o->dataflow && !any_dataflow && dataflow_schedule(o->dataflow, o->problem[p], arch, &text)) {
        status = text_check(&text, "a schedule", err);
        if (status == DSE_OK)
            status = yaml_parse(&doc, "the dataflow", text.data, text.length, err);
        settings.doc = &doc;
        settings.constraints = doc.root;
    }
    if (status == DSE_OK)
        status = solve_task(&settings, o->problem[p], arch, o->cancel, arena, result);
    if (status == DSE_OK && result->outcome != RESULT_OK && result->outcome != RESULT_INFEASIBLE)
        status = dse_fail(err, DSE_BAD_INPUT, "%.60s on %.60s: %s", o->problem[p]->name, arch->name,
                          result->reason);
    yaml_doc_free(&doc);
    text_free(&text);
    return status;
}

/* Whether the innermost level serves every operand whatever the mapping. */
static bool innermost_is_fixed(const struct architecture *arch)
{
    return arch->mac.capacity == 0;
}

static void note_cut(const struct solve_result *result, struct cut_row *row, uint32_t p)
{
    const struct engine_result *found = &result->found;
    row->known[p] = true;
    row->least_j[p] = found->feasible ? found->bound : INFINITY;
    row->fixed_j[p] = found->feasible ? found->evaluation.energy_mac_j : 0;
    row->innermost_j[p] =
        found->feasible && innermost_is_fixed(&row->arch) ? found->evaluation.level_energy_j[0] : 0;
}

/* The least cycles of any mapping of problem p on a relaxed machine, which holds all that others do. */
static enum dse_status least_time(struct optimise *o, struct cut_row *row, uint32_t p, struct arena *arena,
                                  struct solve_result *result, struct dse_error *err)
{
    struct objective latency;
    const struct engine_result *found = &result->found;
    DSE_TRY(objective_parse("latency", &latency, err));
    arena_reset(arena);
    DSE_TRY(search(o, &row->arch, p, o->cuts->any_dataflow[row->group][p], &latency, arena, result, err));
    row->timed[p] = true;
    row->least_cycle[p] = !found->feasible ? INFINITY
                          : found->stop == STOP_OPTIMAL
                              ? (double)found->evaluation.latency_cycle
                              : ceil(found->bound * row->arch.clock_hz * OPTIMISE_SLACK);
    return DSE_OK;
}

/* Problem p on the machine of a row, and into it; `price` NULL: it is a relaxed one. */
static enum dse_status solve_energy(struct optimise *o, struct cut_row *row, uint32_t p,
                                    struct layer_price *price, struct arena *arena,
                                    struct solve_result *result, struct dse_error *err)
{
    const struct objective *energy = &o->settings->objective;
    bool *any = &o->cuts->any_dataflow[row->group][p];
    DSE_TRY(search(o, &row->arch, p, *any, energy, arena, result, err));
    if (!price && !result->found.feasible && o->dataflow && !*any) {
        *any = true; /* not even on the relaxed machine: it takes any dataflow on all */
        arena_reset(arena);
        DSE_TRY(search(o, &row->arch, p, true, energy, arena, result, err));
    }
    const struct engine_result *found = &result->found;
    note_cut(result, row, p);
    if (price)
        *price = (struct layer_price){true, found->feasible ? found->evaluation.energy_j : INFINITY,
                                      found->evaluation.latency_cycle};
    if (found->feasible && found->stop != STOP_OPTIMAL) {
#pragma omp atomic write
        o->unproved = true;
    }
    return DSE_OK;
}

static enum dse_status solve_one(struct optimise *o, struct cut_row *row, uint32_t p,
                                 struct layer_price *price, bool time, struct dse_error *err)
{
    struct arena arena;
    struct solve_result *result = malloc(sizeof *result);
    if (!result)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a search");
    arena_init(&arena);
    enum dse_status status = time ? least_time(o, row, p, &arena, result, err)
                                  : solve_energy(o, row, p, price, &arena, result, err);
    arena_free(&arena);
    free(result);
    return status;
}

enum dse_status optimise_search(struct optimise *o, const uint32_t *problem, uint32_t n, struct cut_row *row,
                                struct layer_price *price, bool time, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    const int most = (int)n;
#pragma omp parallel for schedule(dynamic, 1) num_threads(o->n_thread)
    for (int i = 0; i < most; i++) {
        const uint32_t p = problem[i];
        struct dse_error own = {0};
        enum dse_status last = solve_one(o, row, p, price ? &price[p] : NULL, time, &own);
        if (last != DSE_OK) {
#pragma omp critical
            {
                if (status == DSE_OK)
                    *err = own;
                status = last;
            }
        }
    }
    o->n_search += n;
    o->n_relaxed += price ? 0 : n;
    return status;
}

enum dse_status optimise_map(const struct optimise *o, uint32_t hierarchy, uint32_t p, struct arena *arena,
                             struct solve_result *result, struct dse_error *err)
{
    const struct hierarchy *one = &o->all->list[hierarchy];
    return search(o, &one->arch, p, o->cuts->any_dataflow[one->group][p], &o->settings->objective, arena,
                  result, err);
}
