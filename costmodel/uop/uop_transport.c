/* Picks the network; one that takes no time is links without a width. */
#include "costmodel/uop/uop_transport.h"

#include "costmodel/uop/uop_flits.h"
#include "costmodel/uop/uop_links.h"

const char *const uop_transport_name[3] = {"ideal", "links", "flits"};
const char *const uop_firing_name[3] = {"static", "dynamic", "rounds"};

enum dse_status uop_run(const struct uop_graph *graph, const struct kc_machine *machine,
                        const struct uop_schedule *schedule, enum uop_transport transport,
                        const atomic_int *cancel, struct arena *scratch, struct uop_times *out,
                        struct uop_link *link, struct dse_error *err)
{
    struct kc_machine at = *machine;
    if (transport == UOP_FLITS && schedule->firing == UOP_ROUNDS)
        return dse_fail(err, DSE_BAD_INPUT,
                        "the simulator of flits has no rounds; firing=rounds takes transport=ideal or links");
    if (transport == UOP_FLITS)
        return uop_run_flits(graph, machine, schedule, cancel, scratch, out, link, err);
    if (transport == UOP_IDEAL)
        at.noc.flit_bit = 0;
    if (schedule->firing == UOP_DYNAMIC)
        DSE_TRY(uop_run_ideal(graph, schedule, scratch, out, err));
    return uop_run_links(graph, &at, schedule, scratch, out, link, err);
}

enum dse_status uop_run_guess(const struct uop_graph *graph, const struct kc_machine *machine,
                              const struct uop_schedule *schedule, enum uop_transport transport,
                              struct arena *scratch, struct uop_times *out, struct uop_link *link,
                              struct dse_error *err)
{
    return transport == UOP_FLITS
               ? uop_run_trees(graph, machine, schedule, scratch, out, err)
               : uop_run(graph, machine, schedule, transport, NULL, scratch, out, link, err);
}
