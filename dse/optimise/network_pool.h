/* Several networks, each with its batch, and the loop nests of all of them, equal ones once. */
#ifndef DSE_OPTIMISE_NETWORK_POOL_H
#define DSE_OPTIMISE_NETWORK_POOL_H

#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/network.h"
#include "dse/console/cli.h"
#include "dse/solve/workload.h"

struct network_pool {
    uint32_t n_network, n_problem;
    struct network *network;        /* (n_network) owned, as all that follows */
    struct workload *workload;      /* (n_network) */
    const struct problem **problem; /* (n_problem) distinct ones of all networks */
    uint64_t *key;                  /* (n_problem) */
    uint32_t **place;               /* [w](problems of workload w) its number among all */
    double *weight;                 /* (n_network, n_problem) executions */
};

/* The networks named (n), each of `batch` (n) samples; 0: what it says; with the parameters that `args` gives
 * (input_network), all to each. Errors of the readers. Release with
 * network_pool_free, also after a failure. */
DSE_MUST_CHECK enum dse_status network_pool_read(struct network_pool *pool, char *const *name,
                                                 const uint32_t *batch, uint32_t n,
                                                 const struct cli_args *args, struct dse_error *err);
void network_pool_free(struct network_pool *pool);

#endif
