/* Writes the program of a schedule's steps. Without a DRAM these are the uops in the order of their starts
 * without a network, so that producers come before and each core's list keeps its order, and behind each the
 * send of what it makes. */
#include "costmodel/uop/uop_flits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/noc/noc.h"

enum { BYTE_BIT = 8 };

struct program {
    const struct uop_graph *graph;
    const struct kc_machine *machine;
    const struct uop_steps *steps;
    struct noc_program noc;
    uint32_t *first;  /* (n_step + 1) its transactions; the last is done when the step is, but for a READ */
    uint32_t *route;  /* (columns + rows) */
    uint32_t *passed; /* (links) transaction + 1 that has last been counted there */
    struct uop_link *link;
};

static enum dse_status too_large(const struct program *p, const struct uop_step *s, const char *what,
                                 uint64_t n, struct dse_error *err)
{
    char name[160] = "a tile of weights or inputs";
    int at = 0;
    if (s->item < p->graph->n_uop) {
        at = snprintf(name, sizeof name, "uop ");
        (void)uop_name_print(p->graph, s->item, name + at, sizeof name - (size_t)at);
    }
    return dse_fail(err, DSE_BAD_INPUT,
                    "%s %s %" PRIu64 " %s; the simulator of flits takes 1 to %" PRIu32
                    "; transport=links has no such limit",
                    name, what[0] == 'c' ? "takes" : "sends", n, what, UINT32_MAX);
}

static struct noc_transaction *begin(struct program *p, enum noc_operation operation, uint32_t actor,
                                     uint64_t size)
{
    struct noc_transaction *t = &p->noc.transaction[p->noc.n_transaction++];
    *t = (struct noc_transaction){.operation = operation,
                                  .actor = actor,
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

static void deliver(struct program *p, struct noc_transaction *t, uint32_t to)
{
    p->noc.destination[p->noc.n_destination++] = to;
    if (++t->n_destination > 1)
        t->operation = NOC_MULTICAST;
}

/* The transaction that a step waits for when it waits for step `on`: of a READ what comes along its row. */
static uint32_t waited_for(const struct program *p, const struct uop_step *s, uint32_t on)
{
    const struct uop_step *read = &p->steps->step[on];
    const uint32_t columns = p->machine->columns;
    uint32_t id = p->first[on + 1] - 1;
    if (read->kind != UOP_READ)
        return id;
    for (uint32_t k = read->n_to; k-- > 0;) {
        const uint32_t row = p->steps->to[read->first_to + k] / columns;
        if (row == s->core / columns)
            return id;
        id -= k > 0 && p->steps->to[read->first_to + k - 1] / columns != row;
    }
    return id;
}

static void after_waits(struct program *p, struct noc_transaction *t, uint32_t step)
{
    const struct uop_steps *steps = p->steps;
    for (uint32_t k = steps->first_wait[step]; k < steps->first_wait[step + 1]; k++)
        after(p, t, waited_for(p, &steps->step[step], steps->wait[k]));
}

/* The links on the way, each once for a transaction. */
static void pass(struct program *p, uint32_t from, uint32_t to, uint64_t byte, uint64_t packets)
{
    const uint32_t n = uop_route(p->machine, from, to, true, p->route);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = p->route[i];
        if (p->passed[k] == p->noc.n_transaction)
            continue;
        p->passed[k] = p->noc.n_transaction;
        p->link[k].n_message++;
        p->link[k].byte += byte;
        p->link[k].busy_cycle += packets * (p->machine->noc.data_flits + 1);
    }
}

/* The port at the west end of a row: ports at the edge begin with those of the north and go round. */
static uint32_t west_port(const struct program *p, uint32_t row)
{
    const uint32_t columns = p->machine->columns, rows = p->machine->rows;
    return columns * rows + 2 * columns + rows + (rows - 1 - row);
}

/* The DRAM's service of a request; NULL: it takes no time. */
static struct noc_transaction *serve(struct program *p, const struct uop_step *s)
{
    const uint64_t cycle = kc_dram_cycle(p->machine, p->steps->word[s->item], s->kind == UOP_WRITE);
    return cycle ? begin(p, NOC_COUNT, west_port(p, 0), cycle) : NULL;
}

static uint64_t packets_of(const struct program *p, const struct uop_step *s)
{
    const uint64_t packet_bit = (uint64_t)p->machine->noc.data_flits * p->machine->noc.flit_bit;
    return (p->steps->word[s->item] * p->machine->word_byte * BYTE_BIT + packet_bit - 1) / packet_bit;
}

static void put_send(struct program *p, uint32_t step)
{
    const struct uop_step *s = &p->steps->step[step];
    const uint64_t packets = packets_of(p, s), byte = p->steps->word[s->item] * p->machine->word_byte;
    struct noc_transaction *t = begin(p, NOC_UNICAST, s->core, packets);
    after_waits(p, t, step);
    for (uint32_t k = s->first_to; k < s->first_to + s->n_to; k++) {
        deliver(p, t, p->steps->to[k]);
        pass(p, s->core, p->steps->to[k], byte, packets);
    }
}

static void put_read(struct program *p, uint32_t step)
{
    const struct uop_step *s = &p->steps->step[step];
    const uint64_t packets = packets_of(p, s), byte = p->steps->word[s->item] * p->machine->word_byte;
    const uint32_t *to = p->steps->to + s->first_to, columns = p->machine->columns;
    struct noc_transaction *read = serve(p, s), *t = NULL;
    const uint32_t id = p->noc.n_transaction - 1;
    if (read)
        after_waits(p, read, step);
    for (uint32_t k = 0; k < s->n_to; k++) {
        const uint32_t row = to[k] / columns;
        if (k == 0 || to[k - 1] / columns != row) {
            t = begin(p, NOC_UNICAST, west_port(p, row), packets);
            if (read)
                after(p, t, id);
            else
                after_waits(p, t, step);
        }
        deliver(p, t, to[k]);
        pass(p, row * columns, to[k], byte, packets);
    }
}

static void put_write(struct program *p, uint32_t step)
{
    const struct uop_step *s = &p->steps->step[step];
    const uint64_t packets = packets_of(p, s);
    const uint32_t row = s->core / p->machine->columns;
    struct noc_transaction *t = begin(p, NOC_UNICAST, s->core, packets);
    after_waits(p, t, step);
    deliver(p, t, west_port(p, row));
    pass(p, s->core, row * p->machine->columns, p->steps->word[s->item] * p->machine->word_byte, packets);
    t = serve(p, s);
    if (t)
        after(p, t, p->noc.n_transaction - 2);
}

static enum dse_status put_step(struct program *p, uint32_t step, struct dse_error *err)
{
    const struct uop_step *s = &p->steps->step[step];
    const uint64_t dram = s->kind == UOP_READ || s->kind == UOP_WRITE
                              ? kc_dram_cycle(p->machine, p->steps->word[s->item], s->kind == UOP_WRITE)
                              : 0;
    const uint64_t cycle = s->kind == UOP_RUN ? p->graph->uop[s->item].cycle : dram ? dram : 1;
    p->first[step] = p->noc.n_transaction;
    if (cycle < 1 || cycle > UINT32_MAX)
        return too_large(p, s, "cycles", cycle, err);
    if (s->kind != UOP_RUN && (packets_of(p, s) < 1 || packets_of(p, s) > UINT32_MAX))
        return too_large(p, s, "packets", packets_of(p, s), err);
    switch ((enum uop_step_kind)s->kind) {
    case UOP_RUN:
        after_waits(p, begin(p, NOC_COUNT, s->core, cycle), step);
        break;
    case UOP_SEND:
        put_send(p, step);
        break;
    case UOP_READ:
        put_read(p, step);
        break;
    case UOP_WRITE:
        put_write(p, step);
        break;
    }
    p->first[step + 1] = p->noc.n_transaction;
    return DSE_OK;
}

static enum dse_status program_of(struct program *p, struct arena *scratch, struct dse_error *err)
{
    const struct uop_steps *steps = p->steps;
    const size_t n_core = (size_t)p->machine->columns * p->machine->rows;
    size_t n_transaction = 0, n_destination = 0, n_dependency = 0;
    for (uint32_t i = 0; i < steps->n_step; i++) {
        const struct uop_step *s = &steps->step[i];
        const size_t n_wait = steps->first_wait[i + 1] - steps->first_wait[i];
        const size_t rows = s->n_to < p->machine->rows ? s->n_to : p->machine->rows;
        n_transaction += 2 + (s->kind == UOP_READ ? rows : 0);
        n_destination += s->n_to + (size_t)1;
        n_dependency += 1 + rows + n_wait * (s->kind == UOP_READ ? 1 + rows : 1);
    }
    p->first = arena_alloc(scratch, steps->n_step + (size_t)1, sizeof *p->first);
    p->route = arena_alloc_unset(scratch, (size_t)p->machine->columns + p->machine->rows, sizeof *p->route);
    p->passed = arena_alloc(scratch, n_core * UOP_SIDES, sizeof *p->passed);
    p->noc.transaction = arena_alloc_unset(scratch, n_transaction, sizeof *p->noc.transaction);
    p->noc.destination = arena_alloc_unset(scratch, n_destination, sizeof *p->noc.destination);
    p->noc.dependency = arena_alloc_unset(scratch, n_dependency, sizeof *p->noc.dependency);
    DSE_TRY(arena_check(scratch, "the program of a schedule", err));
    memset(p->link, 0, n_core * UOP_SIDES * sizeof *p->link);
    for (uint32_t i = 0; i < steps->n_step; i++)
        DSE_TRY(put_step(p, i, err));
    return DSE_OK;
}

static enum dse_status simulate(const struct uop_graph *graph, const struct kc_machine *machine,
                                const struct uop_steps *steps, enum noc_compute compute,
                                const atomic_int *cancel, struct arena *scratch,
                                const struct uop_step_times *out, struct uop_link *link,
                                struct dse_error *err)
{
    struct program p = {.graph = graph, .machine = machine, .steps = steps, .link = link};
    struct noc_config config = machine->noc;
    struct noc_result result;
    config.compute = compute;
    DSE_TRY(program_of(&p, scratch, err));
    const struct noc_trace trace = {
        .start = arena_alloc_unset(scratch, p.noc.n_transaction, sizeof *trace.start),
        .finish = arena_alloc_unset(scratch, p.noc.n_transaction, sizeof *trace.finish)};
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    DSE_TRY(noc_simulate(&config, &p.noc, 0, cancel, scratch, &trace, &result, err));
    for (uint32_t i = 0; i < steps->n_step; i++) {
        out->start[i] = trace.start[p.first[i]];
        out->finish[i] = 0;
        for (uint32_t k = p.first[i]; k < p.first[i + 1]; k++)
            out->finish[i] = trace.finish[k] > out->finish[i] ? trace.finish[k] : out->finish[i];
    }
    return DSE_OK;
}

enum dse_status uop_steps_flits(const struct uop_graph *graph, const struct kc_machine *machine,
                                const struct uop_steps *steps, const atomic_int *cancel,
                                struct arena *scratch, const struct uop_step_times *out,
                                struct uop_link *link, struct dse_error *err)
{
    return simulate(graph, machine, steps, NOC_COMPUTE_DYNAMIC, cancel, scratch, out, link, err);
}

/* ---- without a DRAM ---- */

/* Uop u and its message, behind the steps that there are. `run` and `send` (n_uop): steps. */
static void put_uop(const struct uop_graph *graph, const struct uop_messages *m, uint32_t u, uint32_t *run,
                    uint32_t *send, struct uop_steps *steps)
{
    const uint32_t core = m->core[u], end = graph->first_consumer[u + 1];
    uint32_t wait = steps->first_wait[steps->n_step];
    run[u] = steps->n_step++;
    steps->step[run[u]] = (struct uop_step){.kind = UOP_RUN, .item = u, .core = core};
    for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++) {
        const uint32_t from = graph->producer[k];
        steps->wait[wait++] = m->core[from] == core ? run[from] : send[from];
    }
    steps->first_wait[steps->n_step] = wait;
    struct uop_step message = {.kind = UOP_SEND, .item = u, .core = core};
    message.first_to = steps->step[run[u]].first_to = graph->first_consumer[u];
    for (uint32_t k = graph->first_consumer[u]; k < end; k = uop_messages_next(m, k, end))
        if (m->core[m->consumer[k]] != core)
            steps->to[message.first_to + message.n_to++] = m->core[m->consumer[k]];
    if (message.n_to == 0)
        return;
    send[u] = steps->n_step++;
    steps->step[send[u]] = message;
    steps->wait[wait++] = run[u];
    steps->first_wait[steps->n_step] = wait;
}

static enum dse_status steps_of(const struct uop_graph *graph, const struct uop_schedule *schedule,
                                const uint64_t *start, struct arena *scratch, uint32_t **run,
                                struct uop_steps *steps, struct dse_error *err)
{
    const uint32_t n_uop = graph->n_uop;
    const size_t n_edge = graph->first_consumer[n_uop];
    uint32_t *order;
    uint32_t *send = arena_alloc_unset(scratch, n_uop, sizeof *send);
    uint64_t *word = arena_alloc_unset(scratch, n_uop, sizeof *word);
    struct uop_messages messages;
    *run = arena_alloc_unset(scratch, n_uop, sizeof **run);
    steps->n_step = 0;
    steps->step = arena_alloc_unset(scratch, 2 * (size_t)n_uop, sizeof *steps->step);
    steps->to = arena_alloc_unset(scratch, n_edge + 1, sizeof *steps->to);
    steps->first_wait = arena_alloc(scratch, 2 * (size_t)n_uop + 1, sizeof *steps->first_wait);
    steps->wait = arena_alloc_unset(scratch, n_edge + n_uop, sizeof *steps->wait);
    DSE_TRY(arena_check(scratch, "the program of a schedule", err));
    DSE_TRY(uop_messages_of(graph, schedule, scratch, &messages, err));
    DSE_TRY(uop_by_start(start, n_uop, scratch, &order, err));
    for (uint32_t u = 0; u < n_uop; u++)
        word[u] = graph->uop[u].output_word;
    steps->word = word;
    for (uint32_t i = 0; i < n_uop; i++)
        put_uop(graph, &messages, order[i], *run, send, steps);
    return DSE_OK;
}

enum dse_status uop_run_flits(const struct uop_graph *graph, const struct kc_machine *machine,
                              const struct uop_schedule *schedule, const atomic_int *cancel,
                              struct arena *scratch, struct uop_times *out, struct uop_link *link,
                              struct dse_error *err)
{
    struct uop_steps steps;
    uint32_t *run;
    DSE_TRY(uop_run_ideal(graph, schedule, scratch, out, err));
    DSE_TRY(steps_of(graph, schedule, out->start, scratch, &run, &steps, err));
    const struct uop_step_times times = {
        .start = arena_alloc_unset(scratch, steps.n_step, sizeof *times.start),
        .finish = arena_alloc_unset(scratch, steps.n_step, sizeof *times.finish)};
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    DSE_TRY(simulate(graph, machine, &steps,
                     schedule->firing == UOP_STATIC ? NOC_COMPUTE_STATIC : NOC_COMPUTE_DYNAMIC, cancel,
                     scratch, &times, link, err));
    out->cycle = 0;
    for (uint32_t u = 0; u < graph->n_uop; u++) { /* every message has a uop that waits for it */
        out->start[u] = times.start[run[u]];
        out->finish[u] = times.finish[run[u]];
        out->cycle = out->finish[u] > out->cycle ? out->finish[u] : out->cycle;
    }
    return DSE_OK;
}
