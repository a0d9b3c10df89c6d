/* A quick try of a cheap engine beside one that prices a single mapping, for the note of its row. */
#include "dse/solve/solve_note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nearer to the bound than this nothing is tried: there is little to win. */
static const double near_bound = 2;

/* Less is not worth a sentence. */
static const double worth = 1.1;

enum dse_status solve_settings_other(const struct solve_settings *settings, const char *name,
                                     uint64_t max_evaluations, struct solve_settings *other,
                                     struct dse_error *err)
{
    const struct engine *from = settings->engine;
    DSE_TRY(solve_settings_init(other, name, err));
    const struct engine *to = other->engine;
    *other = *settings;
    other->engine = to;
    other->option_set = 0;
    other->max_evaluations = max_evaluations;
    memset(&other->measure, 0, sizeof other->measure);
    engine_option_defaults(to, other->option);
    for (size_t i = 0; i < from->n_option; i++)
        for (size_t j = 0; j < to->n_option; j++)
            if (strcmp(from->option[i].name, to->option[j].name) == 0) {
                other->option[j] = settings->option[i];
                other->option_set |= (settings->option_set >> i & 1) << j;
            }
    return solve_settings_settle(other, err);
}

static void tell(const struct engine *engine, double beaten, struct solve_result *result)
{
    if (!(beaten >= worth))
        return;
    result->beaten = beaten;
    snprintf(result->reason, sizeof result->reason,
             "%s finds a mapping that costs %.3g times less: try engine %s", engine->probe, beaten,
             engine->better);
}

enum dse_status solve_note(const struct solve_settings *settings, const struct problem *problem,
                           const struct architecture *arch, const struct solve_shared *shared,
                           const atomic_int *cancel, struct arena *arena, struct solve_result *result)
{
    struct dse_error ignored;
    struct solve_settings probe;
    const struct engine *engine = settings->engine;
    bool near = result->bounded && result->found.cost < near_bound * result->found.bound;
    bool chosen = settings->measure.n_choice > 0; /* not for its cost */
    if (!engine->probe || result->outcome != RESULT_OK || near || chosen ||
        solve_settings_other(settings, engine->probe, engine->probe_evaluations, &probe, &ignored) != DSE_OK)
        return DSE_OK;
    struct solve_result *again = malloc(sizeof *again);
    if (!again)
        return DSE_OK;
    enum dse_status status = solve_task_shared(&probe, problem, arch, shared, cancel, arena, again);
    if (status == DSE_OK && again->outcome == RESULT_OK && again->found.cost > 0)
        tell(engine, result->found.cost / again->found.cost, result);
    free(again);
    return status;
}
