/* A task as the engines of Klotski's family search it, and the way from a plan to the driver. */
#ifndef ENGINES_KLOTSKI_KLOTSKI_TASK_H
#define ENGINES_KLOTSKI_KLOTSKI_TASK_H

#include "engines/driver/driver.h"
#include "engines/klotski/block_fold.h"
#include "engines/klotski/node_pricer.h"
#include "engines/klotski/order/core_mapping.h"
#include "engines/klotski/order/order_search.h"
#include "engines/klotski/tile_list.h"

struct klotski_task {
    struct kc_machine machine;
    struct kc_machine rough; /* the same for graphs of a search: what uops cost is guessed, where it can be */
    struct node_pricer *pricer; /* NULL: MAESTRO's counts price uops */
    struct uop_network network; /* that is searched */
    uint32_t n_core, batch;
    const struct block_fold *fold; /* of the network that is offered; NULL: it is the one that is searched */
};

/* By which accounting the engines can be priced. */
extern const struct engine_accounting klotski_accountings[];

/* What they take (struct engine, takes_only); the hook that says so is klotski_takes_task (klotski_fit.h). */
#define KLOTSKI_TAKES_ONLY                                                                                   \
    "machines with a DRAM and a memory on the chip, each the accelerator of a mesh's node, but no GPU; "     \
    "networks of convolutions without dilation and products of matrices"

/* Options that several engines have, in runs of rows that are read together: the first has a number in the
 * engine's table, the others follow it as counted here. */
#define KLOTSKI_OPTION_VECTOR                                                                                \
    {                                                                                                        \
        .name = "vector",                                                                                    \
        .sentence = "what becomes of pools and sums of maps: nothing, as whoever makes or reads a map does " \
                    "them; uops of their own, which max_uops does not count; or that of those whose map "    \
                    "leaves a repeated block",                                                               \
        .unit = "", .kind = OPTION_CHOICE, .standard = UOP_FUSED, .highest = 2, .choice = uop_vector_name    \
    }
enum { KLOTSKI_MAX_UOPS, KLOTSKI_SUMS, KLOTSKI_SRAM, KLOTSKI_VECTOR, KLOTSKI_N_RULES };
enum { KLOTSKI_MAX_UOPS_STANDARD = 1500 };
#define KLOTSKI_OPTIONS_RULES                                                                                \
    {.name = "max_uops",                                                                                     \
     .sentence = "partitions into more uops a sample are passed over; 1500 is doubled until one fits the "   \
                 "accelerators' memories",                                                                   \
     .unit = "",                                                                                             \
     .kind = OPTION_INTEGER,                                                                                 \
     .standard = KLOTSKI_MAX_UOPS_STANDARD,                                                                  \
     .lowest = 1,                                                                                            \
     .highest = UOP_MAX},                                                                                    \
        {.name = "sums",                                                                                     \
         .sentence = "how partial sums of several tiles of input channels become one",                       \
         .unit = "",                                                                                         \
         .kind = OPTION_CHOICE,                                                                              \
         .standard = UOP_SUMS_ALL,                                                                           \
         .highest = 2,                                                                                       \
         .choice = uop_sums_name},                                                                           \
        {.name = "sram",                                                                                     \
         .sentence = "what of a uop must fit into an accelerator's memory: inputs, weights and outputs, "    \
                     "outputs alone, nothing, or a slice of it at a time",                                   \
         .unit = "",                                                                                         \
         .kind = OPTION_CHOICE,                                                                              \
         .standard = UOP_SRAM_ALL,                                                                           \
         .highest = 3,                                                                                       \
         .choice = uop_sram_name},                                                                           \
        KLOTSKI_OPTION_VECTOR

enum { KLOTSKI_TRANSPORT, KLOTSKI_FIRING, KLOTSKI_MEMORY, KLOTSKI_N_NETWORK };
#define KLOTSKI_OPTIONS_NETWORK                                                                              \
    {.name = "transport",                                                                                    \
     .sentence = "what times have messages: none, those of the links on "                                    \
                 "their way, or the simulated mesh's",                                                       \
     .unit = "",                                                                                             \
     .kind = OPTION_CHOICE,                                                                                  \
     .standard = UOP_IDEAL,                                                                                  \
     .highest = 2,                                                                                           \
     .choice = uop_transport_name},                                                                          \
        {.name = "firing",                                                                                   \
         .sentence = "what an accelerator runs next: the next uop of its list, "                             \
                     "the first that is ready, or the next in rounds that all begin "                        \
                     "together",                                                                             \
         .unit = "",                                                                                         \
         .kind = OPTION_CHOICE,                                                                              \
         .standard = UOP_STATIC,                                                                             \
         .highest = 2,                                                                                       \
         .choice = uop_firing_name},                                                                         \
    {                                                                                                        \
        .name = "memory",                                                                                    \
        .sentence = "whether weights and inputs are there from the start and maps always fit, or come from " \
                    "the DRAM and go there",                                                                 \
        .unit = "", .kind = OPTION_CHOICE, .standard = UOP_FREE, .highest = 1, .choice = uop_memory_name     \
    }

extern const char *const klotski_mapping_name[4], *const klotski_hops_name[2];
enum { KLOTSKI_TRIES, KLOTSKI_MAPPING, KLOTSKI_HOPS, KLOTSKI_MOVES, KLOTSKI_MAX_NODES, KLOTSKI_N_ORDER };
#define KLOTSKI_OPTIONS_ORDER(TRIES, PROGRAMS)                                                               \
    {.name = "tries",                                                                                        \
     .sentence = (TRIES),                                                                                    \
     .unit = "",                                                                                             \
     .kind = OPTION_INTEGER,                                                                                 \
     .standard = 2000,                                                                                       \
     .highest = 1e7},                                                                                        \
        {.name = "mapping",                                                                                  \
         .sentence = "which accelerator runs a uop: the first that is free, the "                            \
                     "one nearest to what it reads, or what local search or "                                \
                     "mixed-integer programs make of that",                                                  \
         .unit = "",                                                                                         \
         .kind = OPTION_CHOICE,                                                                              \
         .standard = CORE_LOCAL,                                                                             \
         .highest = 3,                                                                                       \
         .choice = klotski_mapping_name},                                                                    \
        {.name = "hops",                                                                                     \
         .sentence = "how hops of messages count in the mapping: times their bytes, "                        \
                     "or each as one",                                                                       \
         .unit = "",                                                                                         \
         .kind = OPTION_CHOICE,                                                                              \
         .highest = 1,                                                                                       \
         .choice = klotski_hops_name},                                                                       \
        {.name = "moves",                                                                                    \
         .sentence = "exchanges between accelerators that are tried with "                                   \
                     "mapping=local, for each uop, by annealing; and at most as "                            \
                     "many by descent after that",                                                           \
         .unit = "",                                                                                         \
         .kind = OPTION_INTEGER,                                                                             \
         .standard = 200,                                                                                    \
         .highest = 1e6},                                                                                    \
    {                                                                                                        \
        .name = "max_nodes", .sentence = "branch-and-bound nodes of each program of " PROGRAMS, .unit = "",  \
        .kind = OPTION_INTEGER, .standard = 100, .lowest = 1, .highest = 1e9                                 \
    }

#define KLOTSKI_OPTION_PARTITION_FROM                                                                        \
    {                                                                                                        \
        .name = "partition_from", .sentence = "a schedule of uops whose partition is taken as it is",        \
        .unit = "", .kind = OPTION_FILE, .standard = 0, .highest = 0x1p53                                    \
    }

/* The hook `read_file` of engines with that option: the text is kept, as the network is needed to read it.
 * DSE_BAD_INPUT: it is no schedule of uops. */
DSE_MUST_CHECK enum dse_status klotski_read_file(size_t option, const char *path, const void *bytes,
                                                 size_t n_byte, struct arena *arena, const void **content,
                                                 struct dse_error *err);

/* The cuts (n_layer) of the file that option number `index` names; NULL: none is named. Errors of
 * uop_partition_read. */
DSE_MUST_CHECK enum dse_status klotski_partition_from(struct engine_context *context, size_t index,
                                                      const struct klotski_task *task,
                                                      const struct uop_cut **cut, struct dse_error *err);

/* What the run KLOTSKI_OPTIONS_RULES from number `first` on says; at most as many uops as a graph can have.
 */
struct tile_rules klotski_rules(const struct engine_context *context, size_t first,
                                const struct klotski_task *task);

/* A plan by these rules for that partition (borrowed), with the transport and firing that the run
 * KLOTSKI_OPTIONS_NETWORK from number `network` on says; its lists are not made yet. */
struct uop_plan klotski_plan(const struct engine_context *context, size_t network,
                             const struct tile_rules *rules, const struct uop_cut *cut);

/* Of `n` evaluations, tries or moves, as many as take about as long as with 1,500 uops a sample: all, unless
 * max_uops has grown beyond these; `least` at least, or n. */
uint32_t klotski_fewer(const struct tile_rules *rules, double n, uint32_t least);

/* What the option KLOTSKI_OPTION_VECTOR of number `index` says. */
enum uop_vector klotski_vector(const struct engine_context *context, size_t index);

/* Machine and network of the task; memory from `arena`; release with klotski_task_free, also after a failure.
 * Errors of node_pricer_new and uop_network_for. */
DSE_MUST_CHECK enum dse_status klotski_task_of(const struct engine_task *task, enum uop_vector vector,
                                               struct arena *arena, struct klotski_task *made,
                                               struct dse_error *err);

void klotski_task_free(struct klotski_task *made);

/* Tell the driver what no schedule of any partition is below (uop_partition_bound or, with a DRAM,
 * uop_memory_partition_bound), where the objective is the latency: of the energy no bound is known. */
void klotski_tell_bound(struct engine_context *context, const struct klotski_task *task,
                        enum uop_memory memory);

/* Offer a plan of the network that is searched, evaluated and written; where blocks are folded as one of the
 * whole network (block_fold_lists; `graph` is that of the plan). Explain it where it does not fit. Memory
 * from `scratch`. */
DSE_MUST_CHECK enum dse_status klotski_offer(struct engine_context *context, const struct klotski_task *task,
                                             const struct uop_graph *graph, const struct uop_plan *plan,
                                             struct arena *scratch, struct dse_error *err);

/* How the uops of a partition are ordered and dealt out to cores. */
struct klotski_ordering {
    enum order_rule rule;
    size_t options;                 /* number of the first row of the engine's run KLOTSKI_OPTIONS_ORDER */
    uint32_t n_slot, max_binaries;  /* as in struct order_settings */
    const struct tile_rules *rules; /* whose klotski_fewer hold for tries and moves */
    double start_s;                 /* clock_wall_s since when max_seconds count */
    struct random_stream *random;
    bool *limited; /* set to whether a limit has ended a program before it was solved; may be NULL */
};

/* Order the uops of `graph` for `n_core` cores: the starts and cores of `found` are allocated. Memory from
 * `scratch`. Errors of order_search. */
DSE_MUST_CHECK enum dse_status klotski_order(struct engine_context *context,
                                             const struct klotski_ordering *ordering, uint32_t n_core,
                                             const struct uop_graph *graph, struct arena *scratch,
                                             struct order_found *found, struct dse_error *err);

/* Deal uops that start as `found` says out to the cores of the machine, no fewer than those they were ordered
 * for, and offer that as `plan`, whose lists alone are not set. Memory from `scratch`. Errors of core_mapping
 * and klotski_offer. */
DSE_MUST_CHECK enum dse_status klotski_deal_and_offer(struct engine_context *context,
                                                      const struct klotski_task *task,
                                                      const struct klotski_ordering *ordering,
                                                      const struct uop_graph *graph,
                                                      const struct order_found *found, struct uop_plan *plan,
                                                      struct arena *scratch, struct dse_error *err);

/* Both: order the uops of `graph`, deal them out to cores, and offer that as `plan`, whose lists alone are
 * not set. Memory from `scratch`. Errors of order_search, core_mapping and klotski_offer. */
DSE_MUST_CHECK enum dse_status klotski_order_and_offer(struct engine_context *context,
                                                       const struct klotski_task *task,
                                                       const struct klotski_ordering *ordering,
                                                       const struct uop_graph *graph, struct uop_plan *plan,
                                                       struct arena *scratch, struct dse_error *err);

/* Set the lists of the cores, of what starts when on which (n_uop); how they fire stays. Memory from
 * `arena`. */
DSE_MUST_CHECK enum dse_status klotski_lists(const uint64_t *start, const uint32_t *core, uint32_t n_uop,
                                             uint32_t n_core, struct arena *arena,
                                             struct uop_schedule *schedule, struct dse_error *err);

/* The hook `verify` of the family: the text read back and evaluated. */
DSE_MUST_CHECK enum dse_status klotski_verify(const struct engine_task *task,
                                              const struct accounting *accounting,
                                              const struct engine_schedule *found, struct arena *arena,
                                              struct engine_schedule *again, struct dse_error *err);

#endif
