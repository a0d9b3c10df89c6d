/* Makes the micro-benchmarks, maps each with every pair of weights on all threads, and chooses by the
 * geometric mean of their costs. */
#include "engines/cosa/calibrate.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/network.h"
#include "engines/cosa/cosa.h"
#include "engines/cosa/cosa_engines.h"

/* Weights tried beside the traffic's 1. The authors' program has 0.1 and 10 (the default). */
static const double util_grid[] = {0.1, 0, 0.01, 0.3, 1};
static const double comp_grid[] = {10, 1, 3, 30, 100};

enum {
    N_UTIL = sizeof util_grid / sizeof util_grid[0],
    N_COMP = sizeof comp_grid / sizeof comp_grid[0],
    MAX_NODES = 1000 /* of one solve, so that a machine takes seconds */
};

/* A tenth of a bit of the compute term, at the default weights: what decides between weights is larger. */
static const double CALIBRATE_GAP = 1e-3;

/* A dozen layers cannot tell weights apart whose costs differ by less; one lucky layer can make as much. */
static const double RESOLUTION = 0.02;

/* What the default mapping of one layer shows of the machine. */
struct measured {
    bool mapped;
    double comp, traf;                /* terms of the objective */
    double compute_cycle, dram_cycle; /* cycles of the MACs, and of the outermost level alone */
};

/* ---------------------------------------- the micro-benchmarks */

/* A square convolution of one sample; `size` is R = S, P = Q, C, K, stride. */
static enum dse_status set_conv(struct problem *problem, const uint32_t *size, struct dse_error *err)
{
    char name[PROBLEM_NAME_MAX];
    (void)snprintf(name, sizeof name, "%u_%u_%u_%u_%u", size[0], size[1], size[2], size[3], size[4]);
    const struct layer layer = {
        .name = name,
        .type = LAYER_CONV,
        .c = size[2],
        .k = size[3],
        .p = size[1],
        .q = size[1],
        .r = size[0],
        .s = size[0],
        .stride = {size[4], size[4]},
        .dilation = {1, 1},
        .groups = 1,
        .count = 1,
        .weight_producer = LAYER_NO_PRODUCER,
    };
    return layer_problem(&layer, 1, problem, err);
}

enum dse_status calibrate_layers(struct micro_benchmark *layer, uint32_t *n, struct dse_error *err)
{
    static const struct {
        const char *stress;
        uint32_t size[5]; /* R = S, P = Q, C, K, stride */
    } table[] = {
        {"compute: every word is used hundreds of times", {3, 14, 256, 256, 1}},
        {"compute with large maps", {3, 56, 64, 64, 1}},
        {"traffic of weights, each used once", {1, 1, 2048, 1024, 1}},
        {"traffic of weights, some reuse", {3, 7, 256, 512, 1}},
        {"traffic of inputs", {1, 28, 512, 32, 1}},
        {"traffic of outputs", {1, 28, 32, 512, 1}},
        {"network on chip: inputs and outputs cross it, few windows", {1, 28, 128, 128, 1}},
        {"capacity: strided inputs and many weights", {1, 14, 256, 512, 2}},
        {"compute with few input channels and a large window", {7, 56, 4, 64, 2}},
        {"compute with little reuse of weights", {3, 7, 128, 1024, 1}},
        {"network on chip with windows", {3, 28, 64, 128, 1}},
        {"traffic of inputs and outputs alike", {1, 56, 128, 64, 1}},
    };
    enum { N = sizeof table / sizeof table[0] };
    for (uint32_t i = 0; i < N; i++) {
        layer[i].stress = table[i].stress;
        DSE_TRY(set_conv(&layer[i].problem, table[i].size, err));
    }
    *n = N;
    return DSE_OK;
}

/* ---------------------------------------- one mapping */

/* Map layer i with the weights of a point and price the mapping; `measured` may be NULL. */
static enum dse_status map_one(const struct architecture *arch, const struct objective *objective,
                               struct calibration *c, uint32_t p, uint32_t i, struct measured *measured,
                               struct arena *arena, struct dse_error *err)
{
    struct calibrate_point *point = &c->point[p];
    const struct problem *problem = &c->layer[i].problem;
    struct cosa_settings settings;
    struct cosa_solution *solution = arena_alloc(arena, 1, sizeof *solution);
    struct evaluation_detail *detail = arena_alloc(arena, 1, sizeof *detail);
    struct evaluator *evaluator;
    point->cost[i] = c->edp[p][i] = INFINITY;
    DSE_TRY(arena_check(arena, "the calibration", err));
    cosa_settings_init(&settings);
    settings.weight_util = point->weight_util;
    settings.weight_comp = point->weight_comp;
    settings.weight_traf = point->weight_traf;
    settings.limits.max_nodes = MAX_NODES;
    settings.limits.relative_gap = CALIBRATE_GAP;
    DSE_TRY(cosa_map(problem, arch, NULL, &settings, arena, solution, err));
    if (!solution->feasible)
        return DSE_OK;
    const struct accounting *accounting = engine_accounting(&engine_cosa, NULL, arch);
    DSE_TRY(evaluator_new(accounting, problem, arch, &evaluator, err));
    enum dse_status status = evaluator_detail(evaluator, &solution->mapping, arena, detail, err);
    evaluator_delete(evaluator);
    if (status != DSE_OK || detail->total.fit.what != FITS)
        return status;
    point->cost[i] = objective_cost(objective, &detail->total);
    c->edp[p][i] = detail->total.edp_js;
    if (measured)
        *measured = (struct measured){true, solution->terms.comp, solution->terms.traf,
                                      (double)detail->total.compute_cycle,
                                      (double)detail->level[arch->n_level - 1].cycle};
    return DSE_OK;
}

/* Map every layer with the points first .. n_point - 1. */
static enum dse_status map_points(const struct architecture *arch, const struct objective *objective,
                                  int n_thread, const atomic_int *cancel, uint32_t first,
                                  struct calibration *c, struct measured *measured, struct dse_error *err)
{
    enum dse_status worst = DSE_OK;
    int worst_job = INT_MAX; /* of several errors the first is reported, whatever the threads */
    int n_job = (int)((c->n_point - first) * c->n_layer);
#pragma omp parallel num_threads(n_thread)
    {
        struct arena arena;
        arena_init(&arena);
#pragma omp for schedule(dynamic)
        for (int job = 0; job < n_job; job++) {
            struct dse_error own;
            uint32_t p = first + (uint32_t)job / c->n_layer, i = (uint32_t)job % c->n_layer;
            enum dse_status status =
                cancel && atomic_load(cancel)
                    ? dse_fail(&own, DSE_INTERRUPTED, "interrupted")
                    : map_one(arch, objective, c, p, i, measured ? &measured[i] : NULL, &arena, &own);
            arena_reset(&arena);
            if (status != DSE_OK) {
#pragma omp critical
                if (job < worst_job) {
                    worst_job = job;
                    worst = status;
                    *err = own;
                }
            }
        }
        arena_free(&arena);
    }
    return worst;
}

/* ---------------------------------------- the weights */

static void add_point(struct calibration *c, double util, double comp, const char *origin)
{
    for (uint32_t p = 0; p < c->n_point; p++)
        if (c->point[p].weight_util == util && c->point[p].weight_comp == comp)
            return;
    struct calibrate_point *point = &c->point[c->n_point++];
    *point = (struct calibrate_point){.weight_util = util, .weight_comp = comp, .weight_traf = 1};
    (void)text_copy(point->origin, sizeof point->origin, origin);
}

/* Three digits are enough for a weight, and stay readable when pasted. */
static double rounded(double x)
{
    char text[32];
    double value = x;
    (void)snprintf(text, sizeof text, "%.3g", x);
    return text_parse_double(text, &value) ? value : x;
}

/* Weights that make the compute term count as much as the traffic term: in bits, and in cycles of MACs and
 * DRAM (the paper: "set to map the traffic sizes to the cycles for memory accesses"). */
static void add_measured_points(struct calibration *c, const struct measured *measured)
{
    double comp = 0, traf = 0, compute_cycle = 0, dram_cycle = 0;
    for (uint32_t i = 0; i < c->n_layer; i++)
        if (measured[i].mapped) {
            comp += measured[i].comp;
            traf += measured[i].traf;
            compute_cycle += measured[i].compute_cycle;
            dram_cycle += measured[i].dram_cycle;
        }
    if (comp > 0 && traf > 0)
        for (uint32_t u = 0; u < N_UTIL; u++)
            add_point(c, util_grid[u], rounded(traf / comp), "measured: equal terms");
    if (compute_cycle > 0 && dram_cycle > 0)
        for (uint32_t u = 0; u < N_UTIL; u++)
            add_point(c, util_grid[u], rounded(compute_cycle / dram_cycle),
                      "measured: cycles of MACs / DRAM");
}

/* Among the weights whose ratio is that of the best within RESOLUTION, and not above that of the default, the
 * lowest EDP wins, then the first. */
static void choose(struct calibration *c)
{
    double least = INFINITY;
    for (uint32_t p = 0; p < c->n_point; p++)
        least = fmin(least, c->point[p].ratio);
    double limit = fmin(least * (1 + RESOLUTION), fmax(c->point[0].ratio, least)) * (1 + 1e-9);
    double best = INFINITY;
    for (uint32_t p = 0; p < c->n_point; p++)
        if (c->point[p].ratio <= limit && c->point[p].edp_ratio < best * (1 - 1e-9)) {
            best = c->point[p].edp_ratio;
            c->best = p;
        }
}

/* Geometric means relative to the default; where that has no mapping, to the best one there is. */
static void judge(struct calibration *c)
{
    double base[CALIBRATE_LAYER_MAX], base_edp[CALIBRATE_LAYER_MAX];
    uint32_t n_usable = 0;
    for (uint32_t i = 0; i < c->n_layer; i++) {
        base[i] = c->point[0].cost[i];
        base_edp[i] = c->edp[0][i];
        for (uint32_t p = 1; p < c->n_point && c->point[0].cost[i] == INFINITY; p++) {
            base[i] = fmin(base[i], c->point[p].cost[i]);
            base_edp[i] = fmin(base_edp[i], c->edp[p][i]);
        }
        if (base[i] < INFINITY) {
            c->usable |= 1u << i;
            n_usable++;
        }
    }
    for (uint32_t p = 0; p < c->n_point; p++) {
        struct calibrate_point *point = &c->point[p];
        double sum = 0, sum_edp = 0;
        for (uint32_t i = 0; i < c->n_layer; i++) {
            if (!(c->usable >> i & 1u))
                continue;
            point->n_mapped += point->cost[i] < INFINITY;
            sum += log(point->cost[i] / base[i]);
            sum_edp += log(c->edp[p][i] / base_edp[i]);
        }
        point->ratio = n_usable ? exp(sum / n_usable) : INFINITY;
        point->edp_ratio = n_usable ? exp(sum_edp / n_usable) : INFINITY;
    }
    choose(c);
}

enum dse_status calibrate(const struct architecture *arch, const struct objective *objective, int n_thread,
                          const atomic_int *cancel, struct calibration *out, struct dse_error *err)
{
    struct measured measured[CALIBRATE_LAYER_MAX] = {{0}};
    memset(out, 0, sizeof *out);
    DSE_TRY(calibrate_layers(out->layer, &out->n_layer, err));
    add_point(out, util_grid[0], comp_grid[0], "default");
    DSE_TRY(map_points(arch, objective, n_thread, cancel, 0, out, measured, err));
    for (uint32_t k = 0; k < N_COMP; k++)
        for (uint32_t u = 0; u < N_UTIL; u++)
            add_point(out, util_grid[u], comp_grid[k], "grid");
    add_measured_points(out, measured);
    DSE_TRY(map_points(arch, objective, n_thread, cancel, 1, out, NULL, err));
    judge(out);
    if (out->usable == 0)
        return dse_fail(err, DSE_BAD_INPUT, "%s: no weights give any of the %u micro-benchmarks a mapping",
                        arch->name, out->n_layer);
    return DSE_OK;
}
