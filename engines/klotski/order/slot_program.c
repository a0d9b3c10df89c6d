/* The rows of Eq. (18), which are those of Eqs. (5) to (8), with slots counted from 0 and a uop running in
 * those from its start to before its end. As printed, slots count from 0 in Eq. (1) and from 1 here, Eq. (18)
 * names the wrong uop in its third row, and in Eq. (8) the sum over a uop's slots is outside that over
 * uops. */
#include "engines/klotski/order/slot_program.h"

#include <math.h>
#include <string.h>

#include "costmodel/uop/uop_schedule.h"

struct program {
    struct uop_graph graph; /* with latencies in slots */
    const struct slot_settings *settings;
    uint32_t first, end;
    uint64_t lowest, horizon; /* slots: ends that are asked for */
    uint64_t *asap, *alap;    /* (end - first) */
    uint32_t *variable;       /* (end - first) of the earliest start; those of later ones follow */
    uint32_t n_binary;
    struct milp *model;
    struct milp_term *term; /* (variables) of a row */
};

static uint64_t latency(const struct program *p, uint32_t u)
{
    return p->graph.uop[u].cycle;
}

/* The graph with latencies in slots, and the windows below the end of a list schedule of it. */
static enum dse_status to_slots(struct program *p, uint64_t cycle, struct arena *scratch, uint64_t *listed,
                                struct dse_error *err)
{
    const uint32_t n = p->end - p->first, n_uop = p->graph.n_uop;
    const uint64_t size = (cycle - 1) / p->settings->n_slot + 1;
    struct uop *uop = arena_alloc_unset(scratch, n_uop, sizeof *uop);
    uint64_t *priority = arena_alloc_unset(scratch, n_uop, sizeof *priority);
    uint64_t *start = arena_alloc_unset(scratch, n_uop, sizeof *start);
    uint32_t *core = arena_alloc_unset(scratch, n_uop, sizeof *core);
    struct list_scheduler *list = list_scheduler_new(&p->graph, p->settings->n_core, scratch);
    p->asap = arena_alloc_unset(scratch, n, sizeof *p->asap);
    p->alap = arena_alloc_unset(scratch, n, sizeof *p->alap);
    p->variable = arena_alloc_unset(scratch, n, sizeof *p->variable);
    DSE_TRY(arena_check(scratch, "a program in slots", err));
    for (uint32_t u = p->first; u < p->end; u++) {
        uop[u] = p->graph.uop[u];
        uop[u].cycle = (uop[u].cycle + size / 2) / size;
        uop[u].cycle += uop[u].cycle == 0;
    }
    p->graph.uop = uop;
    list_b_level(&p->graph, p->first, p->end, priority);
    *listed = list_schedule(list, p->first, p->end, priority, UINT64_MAX, start, core);
    p->lowest = uop_asap(&p->graph, p->first, p->end, p->asap);
    if (!p->settings->relaxed)
        p->lowest = uop_segment_bound(&p->graph, p->first, p->end, p->settings->n_core, scratch);
    p->horizon = *listed - 1;
    return arena_check(scratch, "a program in slots", err);
}

/* Binaries within the windows, each uop starting once (Eq. 5). */
static enum dse_status add_starts(struct program *p, struct arena *scratch, struct dse_error *err)
{
    for (uint32_t i = 0; i < p->end - p->first; i++) {
        p->variable[i] = p->n_binary;
        p->n_binary += (uint32_t)(p->alap[i] - p->asap[i] + 1);
    }
    p->model = milp_new(scratch);
    p->term = arena_alloc_unset(scratch, p->n_binary + (size_t)1, sizeof *p->term);
    DSE_TRY(arena_check(scratch, "a program in slots", err));
    for (uint32_t i = 0; i < p->end - p->first; i++) {
        uint32_t n = 0;
        for (uint64_t j = p->asap[i]; j <= p->alap[i]; j++)
            p->term[n++] = (struct milp_term){milp_add_variable(p->model, MILP_INTEGER, 0, 1, 0, "start"), 1};
        (void)milp_add_row(p->model, 1, 1, p->term, n, "starts once");
    }
    return DSE_OK;
}

/* `sign` times the start of uop number `i` of the segment, to the terms from number `n` on; returns how many
 * there are then. */
static uint32_t put_start(const struct program *p, uint32_t i, double sign, uint32_t n)
{
    for (uint64_t j = p->asap[i]; j <= p->alap[i]; j++)
        if (j)
            p->term[n++] = (struct milp_term){p->variable[i] + (uint32_t)(j - p->asap[i]), sign * (double)j};
    return n;
}

/* Eq. (7), where the windows leave it open; and the last end, Eq. (6). */
static void add_precedence(struct program *p)
{
    const uint32_t last =
        milp_add_variable(p->model, MILP_INTEGER, (double)p->lowest, (double)p->horizon, 1, "last end");
    for (uint32_t u = p->first; u < p->end; u++) {
        const uint32_t i = u - p->first, k = p->graph.first_consumer[u];
        for (uint32_t e = k; e < p->graph.first_consumer[u + 1] && p->graph.consumer[e] < p->end; e++) {
            const uint32_t c = p->graph.consumer[e] - p->first;
            if (p->alap[i] + latency(p, u) > p->asap[c])
                (void)milp_add_row(p->model, (double)latency(p, u), INFINITY, p->term,
                                   put_start(p, i, -1, put_start(p, c, 1, 0)), "after");
        }
        const bool is_last = k == p->graph.first_consumer[u + 1] || p->graph.consumer[k] >= p->end;
        if (is_last && p->alap[i] + latency(p, u) > p->lowest) {
            const uint32_t n = put_start(p, i, -1, 0);
            p->term[n] = (struct milp_term){last, 1};
            (void)milp_add_row(p->model, (double)latency(p, u), INFINITY, p->term, n + 1, "last end");
        }
    }
}

/* At most as many uops as cores run in slot `j` (Eq. 8), or start in it (Eq. 19). */
static void add_slot(struct program *p, uint64_t j)
{
    uint32_t n = 0, n_uop = 0;
    for (uint32_t u = p->first; u < p->end; u++) {
        const uint32_t i = u - p->first;
        const uint64_t back = p->settings->relaxed ? 0 : latency(p, u) - 1;
        const uint64_t low = j > p->asap[i] + back ? j - back : p->asap[i];
        const uint64_t high = j < p->alap[i] ? j : p->alap[i];
        n_uop += low <= high;
        for (uint64_t s = low; s <= high; s++)
            p->term[n++] = (struct milp_term){p->variable[i] + (uint32_t)(s - p->asap[i]), 1};
    }
    if (n_uop > p->settings->n_core)
        (void)milp_add_row(p->model, -INFINITY, p->settings->n_core, p->term, n, "slot");
}

static enum dse_status solve(struct program *p, struct arena *scratch, uint64_t *slot, struct slot_found *out,
                             struct dse_error *err)
{
    struct milp_result result;
    DSE_TRY(add_starts(p, scratch, err));
    add_precedence(p);
    for (uint64_t j = 0; j < p->horizon; j++)
        add_slot(p, j);
    DSE_TRY(milp_solve(p->model, &p->settings->limits, scratch, &result, err));
    out->n_node = result.n_node;
    out->has_order = result.status == MILP_OPTIMAL || result.status == MILP_FEASIBLE;
    out->end = result.status == MILP_OPTIMAL || result.status == MILP_INFEASIBLE ? SLOT_PROVED : SLOT_LIMITED;
    if (!out->has_order)
        return DSE_OK;
    out->horizon = 0;
    for (uint32_t u = p->first; u < p->end; u++) {
        const uint32_t i = u - p->first;
        for (uint64_t j = p->asap[i]; j <= p->alap[i]; j++)
            if (result.value[p->variable[i] + (uint32_t)(j - p->asap[i])] > 0.5)
                slot[u] = j;
        if (slot[u] + latency(p, u) > out->horizon)
            out->horizon = slot[u] + latency(p, u);
    }
    return DSE_OK;
}

enum dse_status slot_program_solve(const struct uop_graph *graph, uint32_t first, uint32_t end,
                                   uint64_t cycle, const struct slot_settings *settings,
                                   struct arena *scratch, uint64_t *slot, struct slot_found *out,
                                   struct dse_error *err)
{
    struct program p = {.graph = *graph, .settings = settings, .first = first, .end = end};
    uint64_t listed, n_binary = 0;
    DSE_TRY(to_slots(&p, cycle, scratch, &listed, err));
    *out = (struct slot_found){.end = SLOT_PROVED, .horizon = listed};
    if (listed <= p.lowest)
        return DSE_OK;
    uop_alap(&p.graph, first, end, p.horizon, p.alap);
    for (uint32_t i = 0; i < end - first; i++)
        n_binary += p.alap[i] - p.asap[i] + 1;
    out->n_binary = n_binary;
    if (n_binary > settings->max_binaries) {
        out->end = SLOT_LARGE;
        return DSE_OK;
    }
    return solve(&p, scratch, slot, out, err);
}
