/* A second simulator without queues of events: one big state, and every rule looked at in every cycle. */
#include "tests/support/noc_plain.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/noc_plain_dram.h"

enum { LOCAL, NORTH, EAST, SOUTH, WEST, SIDES };
enum { QUEUE_MAX = 64, NOBODY = -1 };

struct flit {
    bool valid;
    uint32_t transaction, packet, index; /* index 0: head */
    uint64_t routers;                    /* destinations of a multicast */
};

struct router {
    struct flit latch[SIDES], queue[SIDES][QUEUE_MAX], out[SIDES];
    uint32_t n_queue[SIDES];
    int owner[SIDES];
    int last[SIDES];
};

struct source {
    bool busy;
    uint32_t transaction, packet, index;
    uint64_t count_end;
    uint32_t n_read;
    size_t *read; /* accesses of the transaction's packets */
};

struct pending_write {
    uint32_t transaction;
    size_t access;
};

struct plain {
    const struct noc_config *config;
    const struct noc_program *program;
    uint64_t now;
    uint32_t n_router, n_port, n_flit;
    struct router *router;
    struct source *source; /* (n_port) */
    struct source *core;   /* (n_port): the counts, where they run beside the sends */
    uint32_t *received;    /* per destination entry: packets */
    bool *started, *done;
    bool *removed;       /* per dependency entry */
    uint32_t *n_arrived; /* writes: packets that came to the DRAM */
    struct pending_write *write;
    size_t n_write, first_write;
    struct plain_dram dram;
    uint64_t *start, *finish;
    struct noc_result *result;
    bool broken;
};

/* What moves in this cycle. */
struct moves {
    uint8_t grant[NOC_PLAIN_ROUTER_MAX][SIDES]; /* outputs of the input's flit */
    bool link[NOC_PLAIN_ROUTER_MAX][SIDES];
    bool to_register[NOC_PLAIN_ROUTER_MAX][SIDES];
    bool source[NOC_PLAIN_ROUTER_MAX * 5];
};

static uint32_t side_of_port(const struct noc_config *c, uint32_t port, uint32_t *router)
{
    uint32_t n = c->columns * c->rows;
    *router = port;
    if (port < n)
        return LOCAL;
    for (uint32_t k = 0; k < c->columns; k++) {
        if (port == n + k) {
            *router = k;
            return NORTH;
        }
        if (port == n + c->columns + c->rows + (c->columns - 1 - k)) {
            *router = (c->rows - 1) * c->columns + k;
            return SOUTH;
        }
    }
    for (uint32_t k = 0; k < c->rows; k++) {
        if (port == n + c->columns + k) {
            *router = k * c->columns + c->columns - 1;
            return EAST;
        }
        if (port == n + 2 * c->columns + c->rows + (c->rows - 1 - k)) {
            *router = k * c->columns;
            return WEST;
        }
    }
    return SIDES;
}

static uint32_t next_side(const struct noc_config *c, uint32_t at, uint32_t port)
{
    uint32_t router, side = side_of_port(c, port, &router);
    if (at % c->columns < router % c->columns)
        return EAST;
    if (at % c->columns > router % c->columns)
        return WEST;
    if (at / c->columns < router / c->columns)
        return SOUTH;
    if (at / c->columns > router / c->columns)
        return NORTH;
    return side;
}

static const struct noc_transaction *transaction_of(const struct plain *p, const struct flit *flit)
{
    return &p->program->transaction[flit->transaction];
}

/* Of a multicast's destinations, those that lie behind an output of the router. */
static uint64_t behind(const struct plain *p, uint32_t r, uint32_t side, uint64_t routers)
{
    uint64_t some = 0;
    for (uint32_t d = 0; d < p->n_router; d++)
        if (routers >> d & 1 && next_side(p->config, r, d) == side)
            some |= (uint64_t)1 << d;
    return some;
}

static uint32_t wanted(const struct plain *p, uint32_t r, const struct flit *flit)
{
    const struct noc_transaction *t = transaction_of(p, flit);
    uint32_t outputs = 0;
    if (t->operation == NOC_UNICAST)
        return 1U << next_side(p->config, r, p->program->destination[t->first_destination]);
    for (uint32_t side = 0; side < SIDES; side++)
        if (behind(p, r, side, flit->routers))
            outputs |= 1U << side;
    return outputs;
}

static bool may_go(const struct plain *p, const struct router *router, const struct flit *flit,
                   uint32_t input, uint32_t outputs)
{
    bool multicast = transaction_of(p, flit)->operation == NOC_MULTICAST, head = flit->index == 0;
    for (uint32_t side = 0; side < SIDES; side++) {
        if (!(outputs >> side & 1))
            continue;
        uint32_t free = p->config->queue_flits - router->n_queue[side];
        if (head && router->owner[side] != NOBODY)
            return false;
        if (!head && router->owner[side] != (int)input)
            return false;
        if (free < (multicast && head ? p->n_flit : 1))
            return false;
    }
    return true;
}

static void decide_router(const struct plain *p, uint32_t r, uint8_t grant[SIDES])
{
    const struct router *router = &p->router[r];
    uint32_t want[SIDES] = {0}, taken = 0;
    bool able[SIDES] = {false};
    memset(grant, 0, SIDES);
    for (uint32_t i = 0; i < SIDES; i++)
        if (router->latch[i].valid) {
            want[i] = wanted(p, r, &router->latch[i]);
            able[i] = may_go(p, router, &router->latch[i], i, want[i]);
        }
    for (uint32_t i = 0; i < SIDES; i++)
        if (able[i] && transaction_of(p, &router->latch[i])->operation == NOC_MULTICAST &&
            !(want[i] & taken)) {
            grant[i] = (uint8_t)want[i];
            taken |= want[i];
        }
    for (uint32_t side = 0; side < SIDES; side++)
        for (uint32_t turn = 1; turn <= SIDES && !(taken >> side & 1); turn++) {
            uint32_t i = ((uint32_t)router->last[side] + turn) % SIDES;
            if (able[i] && want[i] == 1U << side &&
                transaction_of(p, &router->latch[i])->operation == NOC_UNICAST) {
                grant[i] = (uint8_t)(1U << side);
                taken |= 1U << side;
            }
        }
}

/* ---------------------------------------- transactions */

static void forget(struct plain *p, uint32_t id, bool only_of_port, uint32_t port)
{
    for (uint32_t x = id + 1; x < p->program->n_transaction; x++) {
        const struct noc_transaction *t = &p->program->transaction[x];
        if (only_of_port && t->actor != port)
            continue;
        for (uint32_t k = 0; k < t->n_dependency; k++)
            if (p->program->dependency[t->first_dependency + k] == id)
                p->removed[t->first_dependency + k] = true;
    }
}

static void finish(struct plain *p, uint32_t id, uint64_t cycle)
{
    p->done[id] = true;
    p->finish[id] = cycle;
    forget(p, id, false, 0);
}

static void packet_received(struct plain *p, uint32_t id, uint32_t port, uint64_t cycle)
{
    const struct noc_transaction *t = &p->program->transaction[id];
    bool all = true;
    for (uint32_t k = 0; k < t->n_destination; k++) {
        uint32_t entry = t->first_destination + k;
        if (p->program->destination[entry] == port && ++p->received[entry] == t->size)
            forget(p, id, true, port);
        all &= p->received[entry] == t->size;
    }
    if (all)
        finish(p, id, cycle);
}

static bool is_startable(const struct plain *p, uint32_t id)
{
    const struct noc_transaction *t = &p->program->transaction[id];
    for (uint32_t k = 0; k < t->n_dependency; k++)
        if (!p->removed[t->first_dependency + k])
            return false;
    return !p->started[id];
}

/* The one that the port, or its core, works on next, in the order of ids: is it this one? */
static bool is_next(const struct plain *p, uint32_t id)
{
    if (p->config->compute == NOC_COMPUTE_STATIC && p->program->transaction[id].operation == NOC_COUNT)
        for (uint32_t x = 0; x < id; x++)
            if (p->program->transaction[x].operation == NOC_COUNT && !p->started[x] &&
                p->program->transaction[x].actor == p->program->transaction[id].actor)
                return false;
    return is_startable(p, id);
}

static void start_next(struct plain *p, uint32_t port, struct source *source)
{
    for (uint32_t id = 0; id < p->program->n_transaction; id++) {
        const struct noc_transaction *t = &p->program->transaction[id];
        bool in_core = p->config->compute != NOC_COMPUTE_IN_TURN && t->operation == NOC_COUNT;
        if (t->actor == port && in_core == (source == &p->core[port]) && is_next(p, id)) {
            p->started[id] = true;
            p->start[id] = p->now;
            *source = (struct source){.busy = true, .transaction = id, .count_end = p->now + t->size};
            if (port == p->config->dram_port && t->operation != NOC_COUNT) {
                source->read = calloc(t->size, sizeof *source->read);
                p->broken |= source->read == NULL;
            }
            return;
        }
    }
}

static void end_count(struct plain *p, struct source *source)
{
    if (source->busy && p->program->transaction[source->transaction].operation == NOC_COUNT &&
        source->count_end == p->now) {
        source->busy = false;
        finish(p, source->transaction, p->now);
    }
}

static void events(struct plain *p)
{
    for (uint32_t port = 0; port < p->n_port; port++) {
        end_count(p, &p->source[port]);
        end_count(p, &p->core[port]);
    }
    while (p->first_write < p->n_write &&
           plain_dram_is_done(&p->dram, p->write[p->first_write].access, (int64_t)p->now)) {
        packet_received(p, p->write[p->first_write].transaction, p->config->dram_port, p->now);
        p->first_write++;
    }
}

/* ---------------------------------------- one cycle */

/* Does the port offer a flit? At the DRAM the next read may be asked for first. */
static bool offers(struct plain *p, uint32_t port)
{
    struct source *source = &p->source[port];
    const struct noc_transaction *t = &p->program->transaction[source->transaction];
    const struct noc_dram *d = &p->config->dram;
    if (!source->busy || t->operation == NOC_COUNT)
        return false;
    if (port != p->config->dram_port)
        return true;
    if (source->n_read < t->size && source->n_read < source->packet + d->read_ahead &&
        plain_dram_waiting(&p->dram, (int64_t)p->now) < d->queue_length) {
        uint64_t byte = d->read_base_byte + (uint64_t)source->n_read * d->burst_byte;
        source->read[source->n_read++] = plain_dram_queue(&p->dram, (int64_t)p->now, false, byte);
    }
    if (source->n_read <= source->packet)
        return false;
    return source->index < p->n_flit - 1 ||
           plain_dram_is_done(&p->dram, source->read[source->packet], (int64_t)p->now);
}

static bool input_takes(const struct plain *p, const struct moves *moves, uint32_t r, uint32_t side)
{
    return !p->router[r].latch[side].valid || moves->grant[r][side] != 0;
}

static bool link_goes(const struct plain *p, const struct moves *moves, uint32_t r, uint32_t side)
{
    const struct noc_config *c = p->config;
    const struct flit *flit = &p->router[r].out[side];
    uint32_t at, x = r % c->columns, y = r / c->columns;
    if (!flit->valid)
        return false;
    if (side == NORTH && y > 0)
        return input_takes(p, moves, r - c->columns, SOUTH);
    if (side == SOUTH && y + 1 < c->rows)
        return input_takes(p, moves, r + c->columns, NORTH);
    if (side == EAST && x + 1 < c->columns)
        return input_takes(p, moves, r + 1, WEST);
    if (side == WEST && x > 0)
        return input_takes(p, moves, r - 1, EAST);
    return side_of_port(c, c->dram_port, &at) != side || at != r || flit->index < p->n_flit - 1 ||
           plain_dram_waiting(&p->dram, (int64_t)p->now) < c->dram.queue_length;
}

static void push_granted(struct plain *p, const struct moves *moves, uint32_t r)
{
    struct router *router = &p->router[r];
    for (uint32_t i = 0; i < SIDES; i++) {
        if (!moves->grant[r][i])
            continue;
        struct flit *flit = &router->latch[i];
        for (uint32_t side = 0; side < SIDES; side++) {
            if (!(moves->grant[r][i] >> side & 1))
                continue;
            struct flit copy = *flit;
            if (transaction_of(p, flit)->operation == NOC_MULTICAST)
                copy.routers = behind(p, r, side, flit->routers);
            else
                router->last[side] = (int)i;
            router->queue[side][router->n_queue[side]++] = copy;
            router->owner[side] = flit->index == p->n_flit - 1 ? NOBODY : (int)i;
        }
        flit->valid = false;
    }
}

static void to_port(struct plain *p, const struct flit *flit, uint32_t r, uint32_t side)
{
    for (uint32_t port = 0; port < p->n_port; port++) {
        uint32_t at, its_side = side_of_port(p->config, port, &at);
        if (at != r || its_side != side)
            continue;
        bool is_dram = port == p->config->dram_port;
        p->result->flits_received++;
        p->result->dram_link_flits_out += is_dram;
        if (flit->index < p->n_flit - 1)
            continue;
        if (!is_dram) {
            packet_received(p, flit->transaction, port, p->now + 1);
            continue;
        }
        uint64_t byte = (uint64_t)p->n_arrived[flit->transaction]++ * p->config->dram.burst_byte;
        size_t access = plain_dram_queue(&p->dram, (int64_t)p->now, true, byte);
        p->write[p->n_write++] = (struct pending_write){flit->transaction, access};
    }
}

static void over_link(struct plain *p, uint32_t r, uint32_t side)
{
    const struct noc_config *c = p->config;
    struct flit flit = p->router[r].out[side];
    uint32_t x = r % c->columns, y = r / c->columns;
    p->router[r].out[side].valid = false;
    struct flit *to = NULL;
    if (side == NORTH && y > 0)
        to = &p->router[r - c->columns].latch[SOUTH];
    if (side == SOUTH && y + 1 < c->rows)
        to = &p->router[r + c->columns].latch[NORTH];
    if (side == EAST && x + 1 < c->columns)
        to = &p->router[r + 1].latch[WEST];
    if (side == WEST && x > 0)
        to = &p->router[r - 1].latch[EAST];
    if (to) {
        *to = flit;
        p->result->flit_hops++;
    } else {
        to_port(p, &flit, r, side);
    }
}

static void from_port(struct plain *p, uint32_t port)
{
    struct source *source = &p->source[port];
    const struct noc_transaction *t = &p->program->transaction[source->transaction];
    uint32_t r, side = side_of_port(p->config, port, &r);
    struct flit flit = {true, source->transaction, source->packet, source->index, 0};
    for (uint32_t k = 0; t->operation == NOC_MULTICAST && k < t->n_destination; k++)
        flit.routers |= (uint64_t)1 << p->program->destination[t->first_destination + k];
    p->router[r].latch[side] = flit;
    p->result->flits_sent++;
    p->result->dram_link_flits_in += port == p->config->dram_port;
    if (++source->index == p->n_flit) {
        source->index = 0;
        if (++source->packet == t->size) {
            source->busy = false;
            free(source->read);
            source->read = NULL;
        }
    }
}

/* All decisions of the cycle; true when something moves. */
static bool decide(struct plain *p, struct moves *moves)
{
    bool any = false;
    for (uint32_t r = 0; r < p->n_router; r++)
        decide_router(p, r, moves->grant[r]);
    for (uint32_t port = 0; port < p->n_port; port++) {
        uint32_t r, side = side_of_port(p->config, port, &r);
        moves->source[port] = offers(p, port) && input_takes(p, moves, r, side);
        any |= moves->source[port];
    }
    for (uint32_t r = 0; r < p->n_router; r++)
        for (uint32_t side = 0; side < SIDES; side++) {
            const struct router *router = &p->router[r];
            moves->link[r][side] = link_goes(p, moves, r, side);
            moves->to_register[r][side] =
                router->n_queue[side] > 0 && (!router->out[side].valid || moves->link[r][side]);
            any |= moves->link[r][side] || moves->to_register[r][side] || moves->grant[r][side];
        }
    return any;
}

static struct flit pop(struct router *router, uint32_t side)
{
    struct flit flit = router->queue[side][0];
    memmove(router->queue[side], router->queue[side] + 1, (QUEUE_MAX - 1) * sizeof flit);
    router->n_queue[side]--;
    return flit;
}

static void cycle(struct plain *p)
{
    struct moves moves = {0};
    struct flit front[NOC_PLAIN_ROUTER_MAX][SIDES];
    events(p);
    for (uint32_t port = 0; port < p->n_port; port++) {
        if (!p->source[port].busy)
            start_next(p, port, &p->source[port]);
        if (!p->core[port].busy)
            start_next(p, port, &p->core[port]);
    }
    p->result->n_active_cycle += decide(p, &moves);
    /* From the front of each path to its back: queues give a flit before they get one, so do latches. */
    for (uint32_t r = 0; r < p->n_router; r++)
        for (uint32_t side = 0; side < SIDES; side++)
            if (moves.to_register[r][side])
                front[r][side] = pop(&p->router[r], side);
    for (uint32_t r = 0; r < p->n_router; r++)
        push_granted(p, &moves, r);
    for (uint32_t r = 0; r < p->n_router; r++)
        for (uint32_t side = 0; side < SIDES; side++) {
            if (moves.link[r][side])
                over_link(p, r, side);
            if (moves.to_register[r][side])
                p->router[r].out[side] = front[r][side];
        }
    for (uint32_t port = 0; port < p->n_port; port++)
        if (moves.source[port])
            from_port(p, port);
    plain_dram_tick(&p->dram, (int64_t)p->now);
}

static bool is_over(const struct plain *p)
{
    uint64_t last = 0;
    for (uint32_t id = 0; id < p->program->n_transaction; id++) {
        if (!p->done[id])
            return false;
        last = p->finish[id] > last ? p->finish[id] : last;
    }
    p->result->cycle = last;
    return true;
}

static bool plain_init(struct plain *p)
{
    const struct noc_program *program = p->program;
    size_t n_write = 1;
    for (uint32_t id = 0; id < program->n_transaction; id++)
        n_write += program->transaction[id].operation == NOC_UNICAST ? program->transaction[id].size : 0;
    p->router = calloc(p->n_router, sizeof *p->router);
    p->source = calloc(p->n_port, sizeof *p->source);
    p->core = calloc(p->n_port, sizeof *p->core);
    p->received = calloc(program->n_destination + 1, sizeof *p->received);
    p->removed = calloc(program->n_dependency + 1, sizeof *p->removed);
    p->started = calloc(program->n_transaction + 1, sizeof *p->started);
    p->done = calloc(program->n_transaction + 1, sizeof *p->done);
    p->n_arrived = calloc(program->n_transaction + 1, sizeof *p->n_arrived);
    p->write = calloc(n_write, sizeof *p->write);
    bool dram = plain_dram_init(&p->dram, &p->config->dram);
    if (!p->router || !p->source || !p->core || !p->received || !p->removed || !p->started || !p->done ||
        !p->n_arrived || !p->write || !dram)
        return false;
    for (uint32_t r = 0; r < p->n_router; r++)
        for (uint32_t side = 0; side < SIDES; side++) {
            p->router[r].owner[side] = NOBODY;
            p->router[r].last[side] = WEST;
        }
    return true;
}

static void plain_free(struct plain *p)
{
    for (uint32_t port = 0; p->source && port < p->n_port; port++)
        free(p->source[port].read);
    free(p->router);
    free(p->source);
    free(p->core);
    free(p->received);
    free(p->removed);
    free(p->started);
    free(p->done);
    free(p->n_arrived);
    free(p->write);
    plain_dram_free(&p->dram);
}

bool noc_plain_simulate(const struct noc_config *config, const struct noc_program *program,
                        uint64_t max_cycle, uint64_t *start, uint64_t *finish_of, struct noc_result *result)
{
    uint32_t n_router = config->columns * config->rows;
    struct plain p = {.config = config, .program = program, .n_router = n_router, .start = start};
    p.n_port = n_router + 2 * (config->columns + config->rows);
    p.n_flit = config->data_flits + 1;
    p.finish = finish_of;
    p.result = result;
    *result = (struct noc_result){0};
    bool over = false;
    if (n_router <= NOC_PLAIN_ROUTER_MAX && config->queue_flits < QUEUE_MAX && plain_init(&p))
        for (p.now = 0; !over && !p.broken && p.now < max_cycle; p.now++) {
            cycle(&p);
            over = is_over(&p);
        }
    result->dram_row_misses = p.dram.n_miss;
    for (size_t i = 0; i < p.dram.n_access; i++) {
        result->dram_reads += !p.dram.access[i].write;
        result->dram_writes += p.dram.access[i].write;
    }
    for (uint32_t id = 0; id < program->n_transaction; id++)
        result->flits_expected +=
            (uint64_t)program->transaction[id].size * program->transaction[id].n_destination * p.n_flit;
    plain_free(&p);
    return over;
}
