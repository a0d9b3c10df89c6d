/* Every problem has streams of its own, the same for all networks. */
#include "engines/mindmappings/training/mm_trial.h"

#include <math.h>

#include "engines/mindmappings/mm_price.h"
#include "engines/mindmappings/mm_walk.h"

static const uint64_t trial_key = UINT64_C(3) << 62;

/* The lowest EDP over the minimum in one problem's space. */
static enum dse_status search(const struct mm_model *model, uint32_t net, const struct mm_space *space,
                              const struct random_stream *stream, struct arena *arena, double *lowest,
                              struct dse_error *err)
{
    const struct objective edp = {.energy_exponent = 1, .delay_exponent = 1};
    const struct mm_walk_options options = mm_walk_standard();
    struct mm_walk *walk;
    struct mm_pricer *pricer;
    struct mm_cost least, cost;
    DSE_TRY(mm_walk_new(space, model, &model->net[net], &edp, &options, *stream, arena, &walk, err));
    DSE_TRY(mm_pricer_new(space, &pricer, err));
    mm_minimum(space, MM_MINIMUM_CODE, &least);
    *lowest = INFINITY;
    for (int step = 0; step < MM_TRIAL_STEPS; step++) {
        struct mm_mapping mapping;
        double predicted;
        (void)mm_walk_next(walk, &mapping, &predicted);
        if (mm_price(pricer, &mapping, &cost))
            *lowest = fmin(*lowest, cost.edp / least.edp);
    }
    mm_pricer_delete(pricer);
    return DSE_OK;
}

static enum dse_status try_problem(const struct mm_model *model, uint32_t net, const struct mm_draws *draws,
                                   uint32_t number, double *lowest, struct dse_error *err)
{
    struct random_stream stream = random_stream_make(draws->seed, trial_key | number, RANDOM_NOISE);
    const struct mm_space *space;
    struct arena arena;
    uint32_t size[MM_DIM_MAX];
    arena_init(&arena);
    mm_problem_draw(draws->problems, true, &stream, size);
    enum dse_status status = mm_space_new(draws->machine, size, draws->mode, &arena, &space, err);
    if (status == DSE_OK)
        status = search(model, net, space, &stream, &arena, lowest, err);
    arena_free(&arena);
    return status;
}

enum dse_status mm_trial(const struct mm_model *model, uint32_t net, const struct mm_draws *draws,
                         uint32_t n_problem, int n_thread, const atomic_int *cancel, double *mean,
                         struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    double lowest[MM_TRIAL_PROBLEM_MAX], sum = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_thread)
    for (uint32_t i = 0; i < n_problem; i++) {
        struct dse_error why = {0};
        enum dse_status own = cancel && atomic_load_explicit(cancel, memory_order_relaxed)
                                  ? dse_fail(&why, DSE_INTERRUPTED, "interrupted while a network was tried")
                                  : try_problem(model, net, draws, i, &lowest[i], &why);
#pragma omp critical
        if (own != DSE_OK) {
            status = own;
            if (err)
                *err = why;
        }
    }
    for (uint32_t i = 0; status == DSE_OK && i < n_problem; i++)
        sum += log(lowest[i]);
    *mean = exp(sum / n_problem);
    return status;
}
