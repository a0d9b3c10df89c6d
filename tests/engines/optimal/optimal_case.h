/* Random cases that engine optimal takes; header only, as each test program is one file. */
#ifndef TESTS_ENGINES_OPTIMAL_OPTIMAL_CASE_H
#define TESTS_ENGINES_OPTIMAL_OPTIMAL_CASE_H

#include <stdint.h>

#include "engines/optimal/optimal_model.h"
#include "tests/support/random_case.h"

/* Case i: up to `macs` iterations, every third up to four times as many. */
static inline void optimal_case(uint64_t i, uint64_t macs, struct problem *problem, struct architecture *arch)
{
    struct random_stream stream = random_stream_make(1, i, RANDOM_INIT);
    const struct random_case_options options = {
        .limits = true, .roles = random_below(&stream, 2), .network_cost = random_below(&stream, 4) == 0};
    struct dse_error err;
    do {
        random_case_problem(&stream, i % 3 == 0 ? 4 * macs : macs, problem);
        random_case_architecture(&stream, &options, arch);
        arch->strict_fanout = true;
        for (uint32_t l = 0; l < arch->n_level; l++)
            arch->level[l].min_utilization = 0;
    } while (optimal_takes_machine(arch, &err) != DSE_OK ||
             optimal_takes_problem(problem, arch, &err) != DSE_OK);
}

#endif
