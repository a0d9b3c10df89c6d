/* The order of the uops of a segment by a time-indexed program: binaries say in which slot each starts, and
 * the last end is to be early. Klotski's Eq. (18) has at most as many uops run in a slot as there are cores;
 * its relaxation, Eq. (19), at most as many start. Times are cut into equal slots, and latencies rounded to
 * them, one slot at least: so starts are an order, and true times come from list_schedule.h. */
#ifndef ENGINES_KLOTSKI_ORDER_SLOT_PROGRAM_H
#define ENGINES_KLOTSKI_ORDER_SLOT_PROGRAM_H

#include "engines/klotski/order/list_schedule.h"
#include "engines/search/milp.h"

struct slot_settings {
    uint32_t n_core;
    uint32_t n_slot;       /* in the time that is cut into slots */
    bool relaxed;          /* Eq. (19) */
    uint32_t max_binaries; /* a larger program is not tried */
    struct milp_limits limits;
};

enum slot_end {
    SLOT_PROVED,  /* nothing in slots is shorter than `horizon`: solved, or `horizon` is a bound */
    SLOT_LIMITED, /* a limit of the solver came first */
    SLOT_LARGE,   /* too many binaries: not tried */
};

struct slot_found {
    enum slot_end end;
    uint64_t horizon;  /* the last end that was found, in slots; of list scheduling, where not a better one */
    bool has_order;    /* the program has found something shorter than list scheduling in slots */
    uint64_t n_binary; /* of the program; 0: list scheduling has met the bound in slots */
    uint64_t n_node;
};

/* The program of uops `first` to `end` - 1, a segment for which a schedule of `cycle` cycles is known. The
 * horizon that makes windows (Eqs. 1 and 2) is one slot less than a list schedule in slots takes: only what
 * is shorter is asked for. `slot` (n_uop): the slot in which each of these starts, where has_order. Memory
 * from `scratch`. Errors of milp_solve. */
DSE_MUST_CHECK enum dse_status slot_program_solve(const struct uop_graph *graph, uint32_t first, uint32_t end,
                                                  uint64_t cycle, const struct slot_settings *settings,
                                                  struct arena *scratch, uint64_t *slot,
                                                  struct slot_found *out, struct dse_error *err);

#endif
