/* One problem at a time: its space, its pricer, its draws. */
#include "engines/mindmappings/training/mm_data.h"

#include <math.h>

#include "engines/mindmappings/mm_price.h"

/* Keys of streams: problem i of the training data, or of the tests. */
static const uint64_t unseen_key = UINT64_C(1) << 63;

enum dse_status mm_data_new(const struct mm_algorithm *algorithm, uint32_t n, uint32_t n_each,
                            struct arena *arena, struct mm_data *data, struct dse_error *err)
{
    *data = (struct mm_data){.algorithm = algorithm, .n = n, .n_each = n_each};
    data->vector = arena_alloc_unset(arena, (size_t)n * algorithm->n_value, sizeof *data->vector);
    data->ratio = arena_alloc_unset(arena, (size_t)n * algorithm->n_cost, sizeof *data->ratio);
    return arena_check(arena, "training data", err);
}

/* Sample `at` becomes a mapping of the space and its price; false when it has none. */
static bool draw_sample(const struct mm_space *space, struct mm_pricer *pricer, const struct mm_cost *least,
                        struct random_stream *stream, const struct mm_data *data, size_t at)
{
    const struct mm_algorithm *algorithm = data->algorithm;
    struct mm_mapping mapping;
    struct mm_cost cost;
    double vector[MM_VALUE_MAX];
    mm_space_draw(space, stream, &mapping);
    if (!mm_price(pricer, &mapping, &cost))
        return false;
    mm_space_vector(space, &mapping, vector);
    for (uint32_t v = 0; v < algorithm->n_value; v++)
        data->vector[at * algorithm->n_value + v] = (uint16_t)vector[v];
    for (uint32_t c = 0; c < algorithm->n_cost; c++)
        data->ratio[at * algorithm->n_cost + c] = (float)(cost.value[c] / least->value[c]);
    return true;
}

static enum dse_status draw_problem(const struct mm_draws *draws, const struct mm_data *data, uint32_t p,
                                    struct arena *arena, struct dse_error *err)
{
    struct random_stream stream =
        random_stream_make(draws->seed, draws->unseen ? unseen_key | p : p, RANDOM_NOISE);
    const struct mm_space *space;
    struct mm_pricer *pricer;
    struct mm_cost least;
    uint32_t size[MM_DIM_MAX];
    size_t first = (size_t)p * data->n_each;
    mm_problem_draw(draws->problems, draws->unseen, &stream, size);
    for (uint32_t d = 0; d < data->algorithm->n_dim; d++)
        if (size[d] > UINT16_MAX)
            return dse_fail(err, DSE_LIMIT, "a size of %u; training data hold sizes up to %d", size[d],
                            UINT16_MAX);
    arena_reset(arena);
    DSE_TRY(mm_space_new(draws->machine, size, draws->mode, arena, &space, err));
    DSE_TRY(mm_pricer_new(space, &pricer, err));
    mm_minimum(space, MM_MINIMUM_CODE, &least);
    bool priced = true;
    for (size_t at = first; priced && at < data->n && at < first + data->n_each; at++)
        priced = draw_sample(space, pricer, &least, &stream, data, at);
    mm_pricer_delete(pricer);
    return priced ? DSE_OK : dse_fail(err, DSE_INTERNAL, "a mapping that was drawn has no price");
}

enum dse_status mm_data_draw(const struct mm_draws *draws, struct mm_data *data, uint32_t first,
                             uint32_t n_problem, int n_thread, const atomic_int *cancel,
                             struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    atomic_bool over = false;
#pragma omp parallel num_threads(n_thread)
    {
        struct arena arena;
        struct dse_error why = {0};
        arena_init(&arena);
#pragma omp for schedule(dynamic, 1)
        for (uint32_t i = 0; i < n_problem; i++) {
            enum dse_status own = DSE_OK;
            if (atomic_load_explicit(&over, memory_order_relaxed))
                continue;
            if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
                own = dse_fail(&why, DSE_INTERRUPTED, "interrupted while mappings were drawn");
            else
                own = draw_problem(draws, data, first + i, &arena, &why);
            if (own == DSE_OK)
                continue;
            atomic_store(&over, true);
#pragma omp critical
            {
                status = own;
                if (err)
                    *err = why;
            }
        }
        arena_free(&arena);
    }
    return status;
}

/* ---- checks of data from a file ---- */

static bool factors_fit(const struct mm_algorithm *algorithm, const uint16_t *vector)
{
    for (uint32_t d = 0; d < algorithm->n_dim; d++) {
        uint64_t product = 1;
        for (uint32_t b = 1; b <= MM_BLOCK_COUNT; b++)
            product *= vector[b * algorithm->n_dim + d];
        if (product == 0 || product != vector[d])
            return false;
    }
    return true;
}

enum dse_status mm_data_check(const struct mm_data *data, struct dse_error *err)
{
    const struct mm_algorithm *algorithm = data->algorithm;
    for (size_t i = 0; i < data->n; i++) {
        const float *ratio = data->ratio + i * algorithm->n_cost;
        if (!factors_fit(algorithm, data->vector + i * algorithm->n_value))
            return dse_fail(err, DSE_BAD_INPUT, "sample %zu: the factors do not multiply to the sizes", i);
        for (uint32_t c = 0; c < algorithm->n_cost; c++)
            if (!isfinite(ratio[c]) || ratio[c] < 0 || (c + 3 >= algorithm->n_cost && ratio[c] == 0))
                return dse_fail(err, DSE_BAD_INPUT,
                                "sample %zu: cost %u is %g; costs are finite, and not below 0", i, c,
                                (double)ratio[c]);
    }
    return DSE_OK;
}
