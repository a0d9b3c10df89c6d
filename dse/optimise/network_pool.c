/* Reads networks and puts equal loop nests together by their keys. */
#include "dse/optimise/network_pool.h"

#include <stdlib.h>
#include <string.h>

#include "dse/inputs/inputs.h"

/* The distinct problems of all networks. */
static enum dse_status pool_problems(struct network_pool *pool, struct dse_error *err)
{
    uint32_t most = 0;
    for (uint32_t w = 0; w < pool->n_network; w++)
        most += pool->workload[w].n_problem;
    pool->problem = calloc(most, sizeof(*pool->problem));
    pool->key = calloc(most, sizeof *pool->key);
    pool->weight = calloc((size_t)most * pool->n_network, sizeof *pool->weight);
    if (!pool->problem || !pool->key || !pool->weight)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", most);
    for (uint32_t w = 0; w < pool->n_network; w++) {
        const struct workload *workload = &pool->workload[w];
        pool->place[w] = calloc(workload->n_problem, sizeof *pool->place[w]);
        if (!pool->place[w])
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", most);
        for (uint32_t p = 0; p < workload->n_problem; p++) {
            uint32_t k = 0;
            while (k < pool->n_problem && pool->key[k] != workload->problem_key[p])
                k++;
            pool->problem[k] = &workload->problem[p];
            pool->key[k] = workload->problem_key[p];
            pool->n_problem += k == pool->n_problem;
            pool->place[w][p] = k;
            pool->weight[(size_t)w * most + k] += (double)workload_count(workload, p);
        }
    }
    for (uint32_t w = 1; w < pool->n_network; w++)
        memmove(pool->weight + (size_t)w * pool->n_problem, pool->weight + (size_t)w * most,
                pool->n_problem * sizeof *pool->weight);
    return DSE_OK;
}

enum dse_status network_pool_read(struct network_pool *pool, char *const *name, const uint32_t *batch,
                                  uint32_t n, const struct cli_args *args, struct dse_error *err)
{
    memset(pool, 0, sizeof *pool);
    pool->network = calloc(n, sizeof *pool->network);
    pool->workload = calloc(n, sizeof *pool->workload);
    pool->place = calloc(n, sizeof(*pool->place));
    if (!pool->network || !pool->workload || !pool->place)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u networks", n);
    for (uint32_t w = 0; w < n; w++) {
        DSE_TRY(input_network(name[w], args, &pool->network[w], err));
        pool->n_network++;
        DSE_TRY(workload_init(&pool->workload[w], &pool->network[w], batch[w], NULL, 0, 0, err));
    }
    return pool_problems(pool, err);
}

void network_pool_free(struct network_pool *pool)
{
    for (uint32_t w = 0; w < pool->n_network; w++) {
        workload_free(&pool->workload[w]);
        network_free(&pool->network[w]);
        free(pool->place[w]);
    }
    free(pool->network);
    free(pool->workload);
    free(pool->place);
    free(pool->weight);
    free(pool->problem);
    free(pool->key);
}
