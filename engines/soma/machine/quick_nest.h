/* The mappings of one loop nest that are worth pricing, whatever an access of the buffer and of the DRAM
 * costs: they are searched for on a machine where that is always the same. docs/core-array.md, "Quick". */
#ifndef ENGINES_SOMA_MACHINE_QUICK_NEST_H
#define ENGINES_SOMA_MACHINE_QUICK_NEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/fused/core_machine.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "engines/soma/machine/mapper_stream.h"

struct mapper_core; /* engines/soma/machine/mapper_core.h */

enum { QUICK_LIST_MAX = 7 };

/* Mappings of one machine, with a number that says what they are worth, and how they stream. */
struct quick_list {
    double value;
    uint32_t n;
    enum stream_way way;
    struct mapping mapping[QUICK_LIST_MAX]; /* (n) */
};

/* A list in as few bytes as it needs, at most sizeof *list; returns how many. And back. */
size_t quick_list_pack(const struct quick_list *list, void *bytes);
void quick_list_unpack(const void *bytes, struct quick_list *list);

/* Where mappings are searched for: inside->core, but that an access of the buffer, and of the DRAM that
 * streams come from, costs what it does on any such machine. So points of a sweep whose machines differ in
 * that alone search once. */
void quick_machine(const struct core_split *inside, struct architecture *arch);

/* A loop nest on core->quick_arch. */
struct quick_nest {
    struct problem problem;
    struct evaluator *evaluator; /* owned */
    double bound;                /* of its cost */
};

/* Errors of evaluator_new; release with quick_nest_close. */
DSE_MUST_CHECK enum dse_status quick_nest_open(const struct mapper_core *core, const struct problem *problem,
                                               struct quick_nest *nest, struct dse_error *err);
void quick_nest_close(struct quick_nest *nest);

/* How long a nest is searched. */
struct quick_effort {
    uint32_t n_fresh;  /* fresh starts, besides those given */
    uint32_t patience; /* descents in a row without anything better that end it */
    double share;      /* of core->max_evaluations */
};

/* What searches one after the other have in common; one thread at a time. */
struct quick_bench {
    struct arena scratch;             /* of one search */
    struct eval_workspace *workspace; /* of the last one; it remembers what nests have in common */
    struct quick_search *search;
    uint64_t n_evaluation; /* of all */
};

/* Memory from `arena`, which outlives it. DSE_NO_MEMORY. Release with quick_bench_close. */
DSE_MUST_CHECK enum dse_status quick_bench_open(struct arena *arena, struct quick_bench *bench,
                                                struct dse_error *err);
void quick_bench_close(struct quick_bench *bench);

/* The workspace for a nest. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status quick_bench_suit(struct quick_bench *bench, const struct evaluator *evaluator,
                                                struct dse_error *err);

/* Search one nest, beginning near `starts` and streaming as they do. `found`: of each of a few prices of an
 * access the best mapping, that of quick_arch first; value is its cost there, INFINITY when there is none.
 * `optima` (may be NULL): the best on quick_arch alone, and other local optima there. A
 * function of core->quick_arch, the nest, starts and effort, but that it ends early when core's time is over.
 * Errors of evaluator_new; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status quick_nest_search(const struct mapper_core *core,
                                                 const struct quick_nest *nest,
                                                 const struct quick_list *starts, struct quick_effort effort,
                                                 struct quick_bench *bench, struct quick_list *found,
                                                 struct quick_list *optima, struct dse_error *err);

#endif
