/* Random small problems, machines and mappings for property tests; every draw comes from one stream. */
#ifndef TESTS_SUPPORT_RANDOM_CASE_H
#define TESTS_SUPPORT_RANDOM_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* A problem by hand: dimension letters with bounds, then tensors by random_case_tensor. */
void random_case_dims(struct problem *problem, const char *name, const char *letters, const uint32_t *bound);

/* Add a tensor from text such as "N C P*2+R Q*2+S" (ranks apart by blanks, coefficient after *). */
void random_case_tensor(struct problem *problem, const char *name, enum tensor_role role, const char *ranks);

/* A convolution with `bound` of R S P Q C K N; the ranks of the inputs are a text, "N C P+R Q+S" without
 * stride and dilation. */
void random_case_conv(struct problem *problem, const char *name, const uint32_t *bound, const char *inputs);

/* Convolution with stride and dilation, depthwise convolution, 1-D convolution, GEMM or MTTKRP with at most
 * `macs_max` iterations. */
void random_case_problem(struct random_stream *stream, uint64_t macs_max, struct problem *problem);

struct random_case_options {
    bool links;        /* draw machines with link transfers */
    bool limits;       /* draw capacities and bandwidths (else unlimited) */
    bool roles;        /* draw levels that hold only some roles */
    bool network_cost; /* draw hop, router and ingress energies */
};

/* 2 to 4 levels (the outermost a DRAM) with a mesh of at most 16 MACs; passes architecture_check. */
void random_case_architecture(struct random_stream *stream, const struct random_case_options *options,
                              struct architecture *arch);

/* Let some of its parts leak, about as much in a cycle as an access takes, and half of the machines gate the
 * power of what is not in use. Passes architecture_check. */
void random_case_leakage(struct random_stream *stream, struct architecture *arch);

/* Make a GPU of the machine where it has a fan-out above a storage: its innermost one are the threads, with
 * limits that mappings pass and break. Passes architecture_check. */
void random_case_gpu(struct random_stream *stream, struct architecture *arch);

/* Let storages of one number of instances share banks, where the machine has two or more below the outermost
 * one, and let one keep a tensor of the problem by name alone. Passes architecture_check. */
void random_case_banks(struct random_stream *stream, const struct problem *problem,
                       struct architecture *arch);

/* A mapping whose factors cover the problem and whose spatial loops fit the meshes; tensors are kept at
 * random, always at the outermost level that may hold them. Capacities are not looked at. `switches`: draw
 * no_multicast and so on. */
void random_case_mapping(struct random_stream *stream, const struct problem *problem,
                         const struct architecture *arch, bool switches, struct mapping *mapping);

#endif
