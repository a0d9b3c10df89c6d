/* The measure `cosa`: the terms of CoSA's objective (equation 12, default weights), of any mapping. */
#include "engines/cosa/cosa.h"
#include "engines/cosa/cosa_engines.h"

enum { TERM_UTIL, TERM_COMP, TERM_TRAF, TERM_OBJECTIVE, N_TERM };

static const struct metric metric[N_TERM] = {
    [TERM_UTIL] = {.name = "cosa_util", .unit = "1", .sentence = "Util of CoSA's objective"},
    [TERM_COMP] = {.name = "cosa_comp", .unit = "1", .sentence = "Comp of CoSA's objective"},
    [TERM_TRAF] = {.name = "cosa_traf", .unit = "1", .sentence = "Traf of CoSA's objective"},
    [TERM_OBJECTIVE] = {.name = "cosa_objective", .unit = "1", .sentence = "CoSA's objective"},
};

static enum dse_status compute(const struct problem *problem, const struct architecture *arch,
                               const struct mapping *mapping, uint64_t limit, const atomic_int *cancel,
                               struct arena *arena, union metric_value *value, struct dse_error *err)
{
    struct cosa_settings settings;
    struct cosa_terms terms;
    (void)limit;
    (void)cancel;
    (void)arena;
    (void)err;
    cosa_settings_init(&settings);
    cosa_terms_of(problem, arch, &settings, mapping, &terms);
    value[TERM_UTIL].f64 = terms.util;
    value[TERM_COMP].f64 = terms.comp;
    value[TERM_TRAF].f64 = terms.traf;
    value[TERM_OBJECTIVE].f64 = terms.objective;
    return DSE_OK;
}

const struct measure measure_cosa = {.group = {"cosa", metric, N_TERM}, .compute = compute};
