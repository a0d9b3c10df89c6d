/* Writes the program: uops in the order of their starts without a network, so that producers come before and
 * each core's list keeps its order; behind each the send of what it makes. */
#include "costmodel/uop/uop_flits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/noc/noc.h"

enum { BYTE_BIT = 8 };

struct program {
    const struct uop_graph *graph;
    const struct kc_machine *machine;
    const struct uop_schedule *schedule;
    struct uop_messages messages;
    struct noc_program noc;
    uint32_t *count, *send; /* (n_uop) transactions; send UINT32_MAX: nobody else waits */
    uint32_t *route;        /* (columns + rows) */
    uint32_t *passed;       /* (links) uop + 1 whose message has last been counted there */
    struct uop_link *link;
};

struct started {
    uint64_t start;
    uint32_t uop;
};

static int by_start(const void *a, const void *b)
{
    const struct started *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->uop > y->uop) - (x->uop < y->uop);
}

static enum dse_status too_large(const struct uop_graph *graph, uint32_t u, const char *what, uint64_t n,
                                 struct dse_error *err)
{
    char name[160];
    (void)uop_name_print(graph, u, name, sizeof name);
    return dse_fail(err, DSE_BAD_INPUT,
                    "uop %s %s %" PRIu64 " %s; the simulator of flits takes 1 to %" PRIu32
                    "; transport=links "
                    "has no such limit",
                    name, what[0] == 'c' ? "takes" : "sends", n, what, UINT32_MAX);
}

static struct noc_transaction *begin(struct program *p, enum noc_operation operation, uint32_t core,
                                     uint64_t size)
{
    struct noc_transaction *t = &p->noc.transaction[p->noc.n_transaction++];
    *t = (struct noc_transaction){.operation = operation,
                                  .actor = core,
                                  .size = (uint32_t)size,
                                  .first_destination = (uint32_t)p->noc.n_destination,
                                  .first_dependency = (uint32_t)p->noc.n_dependency};
    return t;
}

static void after(struct program *p, struct noc_transaction *t, uint32_t id)
{
    p->noc.dependency[p->noc.n_dependency++] = id;
    t->n_dependency++;
}

static enum dse_status put_count(struct program *p, uint32_t u, struct dse_error *err)
{
    const struct uop_graph *graph = p->graph;
    const uint64_t cycle = graph->uop[u].cycle;
    const uint32_t core = p->messages.core[u];
    if (cycle < 1 || cycle > UINT32_MAX)
        return too_large(graph, u, "cycles", cycle, err);
    p->count[u] = p->noc.n_transaction;
    struct noc_transaction *t = begin(p, NOC_COUNT, core, cycle);
    for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++) {
        const uint32_t from = graph->producer[k];
        after(p, t, p->messages.core[from] == core ? p->count[from] : p->send[from]);
    }
    return DSE_OK;
}

/* The links on the way, each once. */
static void pass_links(struct program *p, uint32_t u, uint32_t to, uint64_t byte, uint64_t packets)
{
    const uint32_t n = uop_route(p->machine, p->messages.core[u], to, true, p->route);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = p->route[i];
        if (p->passed[k] == u + 1)
            continue;
        p->passed[k] = u + 1;
        p->link[k].byte += byte;
        p->link[k].busy_cycle += packets * (p->machine->noc.data_flits + 1);
    }
}

static enum dse_status put_send(struct program *p, uint32_t u, struct dse_error *err)
{
    const struct uop_messages *m = &p->messages;
    const uint32_t end = p->graph->first_consumer[u + 1], core = m->core[u];
    const uint64_t packet_bit = (uint64_t)p->machine->noc.data_flits * p->machine->noc.flit_bit;
    const uint64_t byte = uop_message_byte(p->graph, p->machine, u);
    const uint64_t packets = (byte * BYTE_BIT + packet_bit - 1) / packet_bit;
    struct noc_transaction *t = NULL;
    p->send[u] = UINT32_MAX;
    for (uint32_t k = p->graph->first_consumer[u]; k < end; k = uop_messages_next(m, k, end)) {
        const uint32_t to = m->core[m->consumer[k]];
        if (to == core)
            continue;
        if (packets < 1 || packets > UINT32_MAX)
            return too_large(p->graph, u, "packets", packets, err);
        if (!t) {
            p->send[u] = p->noc.n_transaction;
            t = begin(p, NOC_UNICAST, core, packets);
            after(p, t, p->count[u]);
        } else
            t->operation = NOC_MULTICAST;
        p->noc.destination[p->noc.n_destination++] = to;
        t->n_destination++;
        pass_links(p, u, to, byte, packets);
    }
    return DSE_OK;
}

static enum dse_status program_of(struct program *p, struct arena *scratch, const struct uop_times *ideal,
                                  struct dse_error *err)
{
    const struct uop_graph *graph = p->graph;
    const uint32_t n_uop = graph->n_uop, n_core = p->schedule->n_core;
    const size_t n_edge = graph->first_consumer[n_uop];
    struct started *by = arena_alloc_unset(scratch, n_uop, sizeof *by);
    p->count = arena_alloc_unset(scratch, n_uop, sizeof *p->count);
    p->send = arena_alloc_unset(scratch, n_uop, sizeof *p->send);
    p->route = arena_alloc_unset(scratch, (size_t)p->machine->columns + p->machine->rows, sizeof *p->route);
    p->passed = arena_alloc(scratch, (size_t)n_core * UOP_SIDES, sizeof *p->passed);
    p->noc.transaction = arena_alloc_unset(scratch, 2 * (size_t)n_uop, sizeof *p->noc.transaction);
    p->noc.destination = arena_alloc_unset(scratch, n_edge + 1, sizeof *p->noc.destination);
    p->noc.dependency = arena_alloc_unset(scratch, n_edge + n_uop, sizeof *p->noc.dependency);
    DSE_TRY(arena_check(scratch, "the program of a schedule", err));
    DSE_TRY(uop_messages_of(graph, p->schedule, scratch, &p->messages, err));
    for (uint32_t u = 0; u < n_uop; u++)
        by[u] = (struct started){ideal->start[u], u};
    qsort(by, n_uop, sizeof *by, by_start);
    memset(p->link, 0, (size_t)n_core * UOP_SIDES * sizeof *p->link);
    for (uint32_t i = 0; i < n_uop; i++) {
        DSE_TRY(put_count(p, by[i].uop, err));
        DSE_TRY(put_send(p, by[i].uop, err));
    }
    return DSE_OK;
}

enum dse_status uop_run_flits(const struct uop_graph *graph, const struct kc_machine *machine,
                              const struct uop_schedule *schedule, const atomic_int *cancel,
                              struct arena *scratch, struct uop_times *out, struct uop_link *link,
                              struct dse_error *err)
{
    struct program p = {.graph = graph, .machine = machine, .schedule = schedule, .link = link};
    struct noc_config config = machine->noc;
    struct noc_result result;
    config.compute = schedule->firing == UOP_STATIC ? NOC_COMPUTE_STATIC : NOC_COMPUTE_DYNAMIC;
    DSE_TRY(uop_run_ideal(graph, schedule, scratch, out, err));
    DSE_TRY(program_of(&p, scratch, out, err));
    const struct noc_trace trace = {
        .start = arena_alloc_unset(scratch, p.noc.n_transaction, sizeof *trace.start),
        .finish = arena_alloc_unset(scratch, p.noc.n_transaction, sizeof *trace.finish)};
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    DSE_TRY(noc_simulate(&config, &p.noc, 0, cancel, scratch, &trace, &result, err));
    out->cycle = result.cycle; /* every message has a uop that waits for it */
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        out->start[u] = trace.start[p.count[u]];
        out->finish[u] = trace.finish[p.count[u]];
    }
    return DSE_OK;
}
