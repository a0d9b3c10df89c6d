/* The machine, network and rules of a task as the engines of the SoMa family search them. */
#ifndef ENGINES_SOMA_TASK_H
#define ENGINES_SOMA_TASK_H

#include "costmodel/fused/core_array.h"
#include "costmodel/fused/core_cache.h"
#include "engines/driver/engine.h"
#include "engines/soma/machine/core_choice.h"
#include "engines/soma/notation/graph.h"
#include "engines/soma/scheduled.h"
#include "engines/soma/search/search.h"

/* A prepared task. Its parts point to each other: it stays where soma_task_prepare filled it. */
struct soma_task {
    struct soma_search search; /* what the searches take */
    const struct engine_task *task;
    struct soma_scheduled scheduled;
    struct soma_graph graph;         /* of the network that is scheduled (scheduled.h) */
    struct soma_graph folded;        /* with `fold`: what is searched, with each block once */
    const struct network_fold *fold; /* NULL: what is scheduled is searched */
    struct soma_core_machine core;
    struct core_cache *own; /* when the task brings no cache */
};

/* The option that every engine of the family has as its first: which of soma_accountings prices it. */
#define SOMA_OPTION_COMPAT                                                                                   \
    {                                                                                                        \
        .name = "compat", .sentence = "the rules of the published SoMa program, as in docs/soma.md",         \
        .unit = "", .kind = OPTION_BOOL, .standard = 0, .lowest = 0, .highest = 1                            \
    }

/* By which accountings the engines of the family can be priced: that option is the choice. */
extern const struct engine_accounting soma_accountings[];

/* What they take (struct engine, takes_only), and the hooks that say so. */
#define SOMA_TAKES_ONLY                                                                                      \
    "machines with a DRAM and a buffer that all processing elements share, and with core=array the core "    \
    "array alone; networks without einsums that are no convolution or matrix product and without "           \
    "embeddings whose indices a layer makes"
DSE_MUST_CHECK enum dse_status soma_takes_machine(const struct engine_question *question,
                                                  struct dse_error *err);
DSE_MUST_CHECK enum dse_status soma_takes_network(const struct engine_question *question,
                                                  struct dse_error *err);
double soma_known_as(const struct engine_question *question, size_t option);

/* Options of the engines that anneal, and of those with several starts; STANDARD is the engine's default. */
#define SOMA_OPTION_FIRST_TEMPERATURE(STANDARD)                                                              \
    {                                                                                                        \
        .name = "first_temperature", .sentence = "temperature of the first round, of relative cost",         \
        .unit = "", .kind = OPTION_REAL, .standard = (STANDARD), .lowest = 0, .highest = 1e9                 \
    }
#define SOMA_OPTION_ALPHA                                                                                    \
    {                                                                                                        \
        .name = "alpha", .sentence = "how fast it cools", .unit = "", .kind = OPTION_REAL, .standard = 8,    \
        .lowest = 0, .highest = 1e9                                                                          \
    }
#define SOMA_OPTION_STARTS(STANDARD)                                                                         \
    {                                                                                                        \
        .name = "starts",                                                                                    \
        .sentence = "independent searches, of which the best counts; they may run on threads", .unit = "",   \
        .kind = OPTION_INTEGER, .standard = (STANDARD), .lowest = 1, .highest = 1024                         \
    }

struct engine_context; /* engines/driver/driver.h */

/* What is scheduled (`scheduled`; NULL: soma_scheduled_network, then soma_parts_by_rule but for compat), its
 * graph, machine, the chosen core scheduler behind the task's cache (or one of its own), objective and clock.
 * The accounting says what tiles and schedules cost, and by whose rules. Errors of soma_core_open. Memory
 * from `arena`; release with soma_task_free, also after a failure. DSE_BAD_INPUT: the architecture is no such
 * machine; errors of soma_scheduled_network; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_task_prepare(const struct engine_task *task,
                                                 const struct soma_scheduled *scheduled,
                                                 const struct accounting *accounting,
                                                 struct soma_core_choice choice, struct arena *arena,
                                                 struct soma_task *made, struct dse_error *err);

/* The same with the task, the accounting and the options of an engine: number `core` of its table and the
 * next are SOMA_OPTION_CORE and SOMA_OPTION_CORE_EVALUATIONS. Memory from the context's arena. */
DSE_MUST_CHECK enum dse_status soma_task_of(struct engine_context *context, size_t core,
                                            struct soma_task *made, struct dse_error *err);

/* The search's settings with the network that is scheduled. */
struct soma_search soma_task_whole(const struct soma_task *made);

void soma_task_free(struct soma_task *made);

#endif
