/* Random cases that engine optimal takes; header only, as each test program is one file. */
#ifndef TESTS_ENGINES_OPTIMAL_OPTIMAL_CASE_H
#define TESTS_ENGINES_OPTIMAL_OPTIMAL_CASE_H

#include <stdint.h>

#include "engines/optimal/optimal_model.h"
#include "tests/support/random_case.h"

/* Case i: up to `macs` iterations, every third up to four times as many; some with least utilisations, shared
 * banks or a GPU's limits. */
static inline void optimal_case(uint64_t i, uint64_t macs, struct problem *problem, struct architecture *arch)
{
    struct random_stream stream = random_stream_make(1, i, RANDOM_INIT);
    const struct random_case_options options = {
        .limits = true, .roles = random_below(&stream, 2), .network_cost = random_below(&stream, 4) == 0};
    struct dse_error err;
    do {
        random_case_problem(&stream, i % 3 == 0 ? 4 * macs : macs, problem);
        random_case_architecture(&stream, &options, arch);
        const uint32_t more = random_below(&stream, 16);
        if (more == 0)
            random_case_banks(&stream, problem, arch);
        else if (more == 1)
            random_case_gpu(&stream, arch);
        else if (more == 2)
            arch->level[random_below(&stream, arch->n_level)].min_utilization =
                0.1 * (1 + random_below(&stream, 9));
    } while (optimal_takes_machine(arch, &err) != DSE_OK ||
             optimal_takes_problem(problem, arch, &err) != DSE_OK);
}

static inline void optimal_case_loops(struct random_stream *stream, const struct problem *problem, bool fixes,
                                      struct loop_constraints *loops)
{
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        if (fixes && random_below(stream, 6) == 0)
            do
                loops->fixed[d] = 1 + random_below(stream, problem->bound[d]);
            while (problem->bound[d] % loops->fixed[d] != 0);
        else if (random_below(stream, 5) == 0)
            loops->highest[d] = 1 + random_below(stream, problem->bound[d]);
    }
    if (random_below(stream, 3) == 0)
        for (uint32_t d = random_below(stream, problem->n_dim), n = 1 + random_below(stream, 3); n > 0;
             n--, d = (d + 2) % problem->n_dim)
            if (loops->n_order == 0 || loops->order[0] != d)
                loops->order[loops->n_order++] = (uint8_t)d;
}

/* Of every kind; they may leave nothing. Fixed spatial factors are all 1: where others lie on an array is
 * said in more than one way. */
static inline void optimal_case_constraints(uint64_t i, const struct problem *problem,
                                            const struct architecture *arch,
                                            struct mapspace_constraints *constraints)
{
    struct random_stream stream = random_stream_make(2, i, RANDOM_INIT);
    const uint32_t all_dims = (1u << problem->n_dim) - 1, all = (1u << problem->n_tensor) - 1;
    mapspace_constraints_init(constraints, problem, arch);
    if (random_below(&stream, 8) == 0) { /* dataflows alone, which leave all else free */
        for (uint32_t l = 0; l < arch->n_level; l++) {
            const uint8_t d = (uint8_t)random_below(&stream, problem->n_dim);
            const struct unrolling dataflow = {
                .n = 2, .loop = {d, (uint8_t)((d + 1) % problem->n_dim)}, .begins = 3};
            struct dse_error err;
            if (mapspace_constraints_unroll(&constraints->level[l], &dataflow, &err) != DSE_OK)
                return;
        }
        return;
    }
    for (uint32_t l = 0; l < arch->n_level; l++) {
        struct level_constraints *level = &constraints->level[l];
        if (random_below(&stream, 2))
            optimal_case_loops(&stream, problem, true, &level->temporal);
        if (random_below(&stream, 3) == 0) {
            optimal_case_loops(&stream, problem, false, &level->spatial);
            level->spatial.fixed[random_below(&stream, problem->n_dim)] = 1;
            level->dims_x = random_u32(&stream) & all_dims;
            level->dims_y = random_u32(&stream) & all_dims;
        }
        if (random_below(&stream, 4) == 0) {
            level->no_temporal_reuse = (uint8_t)(random_u32(&stream) & all);
            level->no_multicast = (uint8_t)(random_u32(&stream) & all);
        }
        if (l + 1 < arch->n_level && random_below(&stream, 4) == 0)
            level->bypass = 1u << random_below(&stream, problem->n_tensor);
        else if (random_below(&stream, 4) == 0)
            level->keep = 1u << random_below(&stream, problem->n_tensor);
    }
}

/* The same with Q as P and S as R, where it has these. */
static inline void optimal_case_square(struct problem *problem)
{
    static const char *const pair[2][2] = {{"P", "Q"}, {"R", "S"}};
    for (uint32_t i = 0; i < 2; i++) {
        const int a = problem_find_dim(problem, pair[i][0]), b = problem_find_dim(problem, pair[i][1]);
        if (a < 0 || b < 0)
            continue;
        problem->bound[a] = problem->bound[b] =
            problem->bound[a] < problem->bound[b] ? problem->bound[a] : problem->bound[b];
    }
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor_rank *first = NULL; /* a window's ranks with the same steps */
        for (uint32_t r = 0; r < problem->tensor[t].n_rank; r++) {
            struct tensor_rank *rank = &problem->tensor[t].rank[r];
            for (uint32_t k = 0; k < rank->n_term && rank->n_term == 2; k++)
                rank->term[k].coefficient = first ? first->term[k].coefficient : rank->term[k].coefficient;
            first = rank->n_term == 2 && !first ? rank : first;
        }
    }
}

#endif
