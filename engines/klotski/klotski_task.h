/* A task as the engines of Klotski's family search it, and the way from a plan to the driver. */
#ifndef ENGINES_KLOTSKI_KLOTSKI_TASK_H
#define ENGINES_KLOTSKI_KLOTSKI_TASK_H

#include "engines/driver/driver.h"
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

/* Machine and network of the task; memory from `arena`. Errors of kc_machine_of and uop_network_of. */
DSE_MUST_CHECK enum dse_status klotski_task_of(const struct engine_task *task, struct arena *arena,
                                               struct klotski_task *made, struct dse_error *err);

/* Offer a plan: evaluated, written, and a bound told. Memory from `scratch`. */
DSE_MUST_CHECK enum dse_status klotski_offer(struct engine_context *context, const struct klotski_task *task,
                                             const struct uop_plan *plan, struct arena *scratch,
                                             struct dse_error *err);

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
