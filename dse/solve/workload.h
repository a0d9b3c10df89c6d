/* What a design point asks of an engine: the layers of a network for a batch size, equal ones joined, for a
 * mapper; the whole network for a scheduler. */
#ifndef DSE_SOLVE_WORKLOAD_H
#define DSE_SOLVE_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/network.h"
#include "costmodel/model/problem.h"

/* The mapped layers in file order; those without multiply-accumulates are left out (n_skipped). Of a block
 * that repeats (struct network_repeat) the layers of its first repetition stand for all, unless the network
 * is unrolled or layers are chosen by name. */
struct workload {
    const struct network *network; /* borrowed */
    uint32_t batch;                /* 0: each layer has its own, by the network's file */
    uint32_t n_layer;
    uint32_t *layer;      /* (n_layer) indices into network->layer */
    uint32_t *count;      /* (n_layer) executions: what the file says, or repetitions */
    uint32_t *problem_of; /* (n_layer) which problem the layer is */
    uint32_t n_problem;
    struct problem *problem; /* (n_problem) distinct loop nests, in order of their first layer */
    uint64_t *problem_key;   /* (n_problem) problem_hash of each */
    uint32_t n_skipped;
    uint64_t hash;         /* of the loop nests with their counts and the layers' names */
    uint64_t network_hash; /* of the whole network as a graph, names included, and the batch; never 0 */
    struct arena arena;    /* all of these */
};

/* Build it for `batch` samples, 0: those that the network's file says, else 1. `name` (n_name) chooses
 * layers, 0 for all; every name must be a layer with multiply-accumulates unless `lenient`, when names that
 * the network does not have are passed over. DSE_BAD_INPUT: unknown layer, nothing left; DSE_BAD_USAGE from
 * layer_problem (a batch that a layer cannot have); DSE_NO_MEMORY. Release with workload_free (also after a
 * failure). */
DSE_MUST_CHECK enum dse_status workload_init(struct workload *workload, const struct network *network,
                                             uint32_t batch, const char *const *name, size_t n_name,
                                             int lenient, struct dse_error *err);

/* Take every problem times[p] times (n_problem, each at least 1), each a problem of its own that all of its
 * layers have: for several answers to one question. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status workload_repeat(struct workload *workload, const uint32_t *times,
                                               struct dse_error *err);

/* The whole network only, for schedulers: no layers and no problems. */
void workload_init_whole(struct workload *workload, const struct network *network, uint32_t batch);
void workload_free(struct workload *workload);

/* How many executions of problem `p` the network has (the sum of its layers' counts). */
uint64_t workload_count(const struct workload *workload, uint32_t p);

#endif
