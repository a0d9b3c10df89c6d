/* When a schedule's uops run, by any of the networks between the cores. docs/klotski.md, "Messages that
 * take time". */
#ifndef COSTMODEL_UOP_UOP_TRANSPORT_H
#define COSTMODEL_UOP_UOP_TRANSPORT_H

#include <stdatomic.h>

#include "costmodel/uop/uop_memory.h"
#include "costmodel/uop/uop_mesh.h"

enum uop_transport {
    UOP_IDEAL, /* messages take no time */
    UOP_LINKS, /* uop_links.h */
    UOP_FLITS, /* uop_flits.h */
};

enum uop_memory {
    UOP_FREE, /* weights and inputs are there, everything fits */
    UOP_DRAM, /* uop_memory.h */
};

extern const char *const uop_transport_name[3]; /* "ideal", "links", "flits" */
extern const char *const uop_memory_name[2];    /* "free", "dram" */
extern const char *const uop_firing_name[3];    /* by enum uop_firing: "static", "dynamic", "rounds" */

/* How a schedule is run. */
struct uop_setting {
    enum uop_transport transport;
    enum uop_memory memory;
    enum uop_sram sram;       /* with UOP_DRAM: what takes room */
    const atomic_int *cancel; /* may be NULL */
};

/* Do these go together? DSE_BAD_INPUT: rounds of flits; a DRAM without a static order, or with
 * slices and messages that take time. */
DSE_MUST_CHECK enum dse_status uop_setting_check(const struct uop_setting *setting, enum uop_firing firing,
                                                 struct dse_error *err);

/* Times, and what went over each link (cores * UOP_SIDES); nothing is busy where messages take no time.
 * An order that goes in a circle is refused with dynamic firing, too. Errors, `cancel` and `scratch`: as
 * uop_run_flits, uop_memory_plan and uop_setting_check. */
DSE_MUST_CHECK enum dse_status uop_run(const struct uop_graph *graph, const struct kc_machine *machine,
                                       const struct uop_schedule *schedule, const struct uop_setting *setting,
                                       struct arena *scratch, struct uop_times *out, struct uop_link *link,
                                       struct dse_error *err);

/* About that many cycles, for a search that tries many: with UOP_FLITS what uop_run_trees guesses at a
 * hundredth of the price, or with a DRAM what UOP_LINKS takes; else what uop_run says. `link` is used but
 * with the first. */
DSE_MUST_CHECK enum dse_status uop_run_guess(const struct uop_graph *graph, const struct kc_machine *machine,
                                             const struct uop_schedule *schedule,
                                             const struct uop_setting *setting, struct arena *scratch,
                                             struct uop_times *out, struct uop_link *link,
                                             struct dse_error *err);

#endif
