/* A task as the engines of Klotski's family search it, and the way from a plan to the driver. */
#ifndef ENGINES_KLOTSKI_KLOTSKI_TASK_H
#define ENGINES_KLOTSKI_KLOTSKI_TASK_H

#include "engines/driver/driver.h"
#include "engines/klotski/core_mapping.h"
#include "engines/klotski/order_search.h"
#include "engines/klotski/uop_plan.h"

struct klotski_task {
    struct kc_machine machine;
    struct uop_network network;
    uint32_t n_core, batch;
};

/* By which accounting the engines can be priced. */
extern const struct engine_accounting klotski_accountings[];

/* Options that several engines have. */
#define KLOTSKI_OPTION_SUMS                                                                                  \
    {                                                                                                        \
        .name = "sums", .sentence = "how partial sums of several tiles of input channels become one",        \
        .unit = "", .kind = OPTION_CHOICE, .standard = UOP_SUMS_ALL, .lowest = 0, .highest = 2,              \
        .choice = uop_sums_name                                                                              \
    }
#define KLOTSKI_OPTION_SRAM(STANDARD)                                                                        \
    {                                                                                                        \
        .name = "sram", .sentence = "what of a uop must fit into an accelerator's memory", .unit = "",       \
        .kind = OPTION_CHOICE, .standard = (STANDARD), .lowest = 0, .highest = 2, .choice = uop_sram_name    \
    }

#define KLOTSKI_OPTION_TRANSPORT                                                                             \
    {                                                                                                        \
        .name = "transport",                                                                                 \
        .sentence =                                                                                          \
            "what times have messages: none, those of the links on their way, or the simulated mesh's",      \
        .unit = "", .kind = OPTION_CHOICE, .standard = UOP_IDEAL, .lowest = 0, .highest = 2,                 \
        .choice = uop_transport_name                                                                         \
    }
#define KLOTSKI_OPTION_FIRING                                                                                \
    {                                                                                                        \
        .name = "firing",                                                                                    \
        .sentence = "what an accelerator runs next: the next uop of its list, the first that is ready, or "  \
                    "the next in rounds that all begin together",                                            \
        .unit = "", .kind = OPTION_CHOICE, .standard = UOP_STATIC, .lowest = 0, .highest = 2,                \
        .choice = uop_firing_name                                                                            \
    }

#define KLOTSKI_OPTION_MAX_UOPS                                                                              \
    {                                                                                                        \
        .name = "max_uops", .sentence = "partitions into more uops a sample are passed over", .unit = "",    \
        .kind = OPTION_INTEGER, .standard = 1500, .lowest = 1, .highest = UOP_MAX                            \
    }
#define KLOTSKI_OPTION_TRIES(SENTENCE)                                                                       \
    {                                                                                                        \
        .name = "tries", .sentence = (SENTENCE), .unit = "", .kind = OPTION_INTEGER, .standard = 2000,       \
        .highest = 1e7                                                                                       \
    }
/* Three options in a row, which klotski_order_and_offer reads from the first on. */
extern const char *const klotski_mapping_name[3], *const klotski_hops_name[2];
#define KLOTSKI_OPTION_MAPPING                                                                               \
    {                                                                                                        \
        .name = "mapping",                                                                                   \
        .sentence = "which accelerator runs a uop: the first that is free, the one nearest to what "         \
                    "it reads, or what local search makes of that",                                          \
        .unit = "", .kind = OPTION_CHOICE, .standard = CORE_LOCAL, .lowest = 0, .highest = 2,                \
        .choice = klotski_mapping_name                                                                       \
    }
#define KLOTSKI_OPTION_HOPS                                                                                  \
    {                                                                                                        \
        .name = "hops",                                                                                      \
        .sentence = "how hops of messages count in the mapping: times their bytes, or each as one",          \
        .unit = "", .kind = OPTION_CHOICE, .standard = 0, .lowest = 0, .highest = 1,                         \
        .choice = klotski_hops_name                                                                          \
    }
#define KLOTSKI_OPTION_MOVES                                                                                 \
    {                                                                                                        \
        .name = "moves",                                                                                     \
        .sentence = "exchanges between accelerators that are tried with mapping=local, for each "            \
                    "uop, by annealing; and at most as many by descent after that",                          \
        .unit = "", .kind = OPTION_INTEGER, .standard = 200, .lowest = 0, .highest = 1e6                     \
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

/* Most uops of a partition: those that an option allows a sample, as far as a graph can have them. */
uint32_t klotski_most_uops(const struct klotski_task *task, double a_sample);

/* What the options KLOTSKI_OPTION_TRANSPORT, number `index`, and KLOTSKI_OPTION_FIRING behind it say. */
void klotski_plan_transport(const struct engine_context *context, size_t index, struct uop_plan *plan);

/* Machine and network of the task; memory from `arena`. Errors of kc_machine_of and uop_network_of. */
DSE_MUST_CHECK enum dse_status klotski_task_of(const struct engine_task *task, struct arena *arena,
                                               struct klotski_task *made, struct dse_error *err);

/* Tell the driver what no schedule of any partition is below (uop_partition_bound), where the objective is
 * the latency: of the energy no bound is known. */
void klotski_tell_bound(struct engine_context *context, const struct klotski_task *task);

/* Offer a plan, evaluated and written; explain it where it does not fit. Memory from `scratch`. */
DSE_MUST_CHECK enum dse_status klotski_offer(struct engine_context *context, const struct klotski_task *task,
                                             const struct uop_plan *plan, struct arena *scratch,
                                             struct dse_error *err);

/* How the uops of a partition are ordered and dealt out to cores. */
struct klotski_ordering {
    enum order_rule rule;
    uint32_t n_try;
    size_t mapping;   /* the engine's option KLOTSKI_OPTION_MAPPING; hops and moves come after it */
    size_t transport; /* and KLOTSKI_OPTION_TRANSPORT, before KLOTSKI_OPTION_FIRING */
    double start_s;   /* clock_wall_s since when max_seconds count */
    struct random_stream *random;
};

/* Order the uops of `graph`, deal them out to cores, and offer that as `plan`, whose sums, memory rule, batch
 * and cut are set. Memory from `scratch`. Errors of order_search, core_mapping and klotski_offer. */
DSE_MUST_CHECK enum dse_status klotski_order_and_offer(struct engine_context *context,
                                                       const struct klotski_task *task,
                                                       const struct klotski_ordering *ordering,
                                                       const struct uop_graph *graph, struct uop_plan *plan,
                                                       struct arena *scratch, struct dse_error *err);

/* The lists of the cores, of what starts when on which (n_uop). Memory from `arena`. */
DSE_MUST_CHECK enum dse_status klotski_lists(const uint64_t *start, const uint32_t *core, uint32_t n_uop,
                                             uint32_t n_core, struct arena *arena,
                                             struct uop_schedule *schedule, struct dse_error *err);

/* The hook `verify` of the family: the text read back and evaluated. */
DSE_MUST_CHECK enum dse_status klotski_verify(const struct engine_task *task,
                                              const struct accounting *accounting,
                                              const struct engine_schedule *found, struct arena *arena,
                                              struct engine_schedule *again, struct dse_error *err);

#endif
