/* The ends of the mesh: sources that send packets, sinks that count them in, the DRAM behind its port, and
 * a heap of the events (computations, DRAM accesses) that end later. */
#include "costmodel/noc/noc_mesh.h"

/* ---------------------------------------- ends of counts */

static bool event_before(struct noc_event a, struct noc_event b)
{
    return a.cycle < b.cycle || (a.cycle == b.cycle && a.source < b.source);
}

static void event_push(struct noc_mesh *mesh, struct noc_event event)
{
    uint32_t i = mesh->n_event++;
    for (; i > 0 && event_before(event, mesh->event[(i - 1) / 2]); i = (i - 1) / 2)
        mesh->event[i] = mesh->event[(i - 1) / 2];
    mesh->event[i] = event;
}

static struct noc_event event_pop(struct noc_mesh *mesh)
{
    struct noc_event first = mesh->event[0], moved = mesh->event[--mesh->n_event];
    uint32_t i = 0;
    for (uint32_t child = 1; child < mesh->n_event; child = 2 * i + 1) {
        if (child + 1 < mesh->n_event && event_before(mesh->event[child + 1], mesh->event[child]))
            child++;
        if (!event_before(mesh->event[child], moved))
            break;
        mesh->event[i] = mesh->event[child];
        i = child;
    }
    mesh->event[i] = moved;
    return first;
}

/* ---------------------------------------- transfers */

/* Everything is at the destination `port`: at the last one the transfer is over. `cycle`: the first in which
 * that is seen. */
static void transfer_arrived(struct noc_mesh *mesh, uint32_t slot, uint32_t port, uint64_t cycle)
{
    struct noc_transfer *transfer = &mesh->transfer[slot];
    mesh->n_change++;
    if (transfer->multicast)
        noc_depend_arrived(mesh, transfer->transaction, port);
    if (--transfer->n_left > 0)
        return;
    noc_depend_done(mesh, transfer->transaction, cycle, transfer->multicast ? transfer->outputs : NULL);
    mesh->free_transfer[mesh->n_free_transfer++] = slot;
}

/* A slot with the route; NOC_NONE when memory is out. */
static uint32_t transfer_open(struct noc_mesh *mesh, uint32_t id)
{
    const struct noc_transaction *t = &mesh->program->transaction[id];
    const uint32_t *destination = mesh->program->destination + t->first_destination;
    if (mesh->n_free_transfer == 0)
        return NOC_NONE;
    uint32_t slot = mesh->free_transfer[mesh->n_free_transfer - 1];
    struct noc_transfer *transfer = &mesh->transfer[slot];
    transfer->transaction = id;
    transfer->n_left = t->n_destination;
    transfer->n_written = 0;
    transfer->multicast = t->operation == NOC_MULTICAST;
    if (transfer->multicast) {
        if (!transfer->own)
            transfer->own = arena_alloc(mesh->arena, mesh->n_router, 1);
        if (!transfer->own)
            return NOC_NONE;
        noc_multicast_tree(mesh->config, mesh->source[t->actor].place.router, destination, t->n_destination,
                           transfer->own);
        transfer->outputs = transfer->own;
    } else {
        transfer->outputs = mesh->unicast + (size_t)destination[0] * mesh->n_router;
    }
    mesh->n_free_transfer--;
    return slot;
}

/* ---------------------------------------- DRAM */

static void dram_queue(struct noc_mesh *mesh, uint64_t done, uint32_t transfer)
{
    uint32_t length = mesh->config->dram.queue_length;
    uint32_t at = mesh->first_access + mesh->n_access++;
    mesh->access[at < length ? at : at - length] = (struct noc_access){done, transfer};
}

/* Ask for the data of the next packet that has not been asked for. */
static void dram_read(struct noc_mesh *mesh, struct noc_source *source)
{
    const struct noc_dram *dram = &mesh->config->dram;
    if (source->n_asked == source->packet_left || source->n_asked == dram->read_ahead ||
        mesh->n_access == dram->queue_length)
        return;
    uint64_t packet =
        mesh->program->transaction[source->transaction].size - source->packet_left + source->n_asked;
    uint64_t byte = dram->read_base_byte + packet * dram->burst_byte;
    uint64_t done = noc_dram_access(&mesh->dram, mesh->now, false, byte);
    noc_repeat_note(mesh, false, NOC_NONE, byte, done);
    mesh->read_done[(mesh->first_read + source->n_asked++) % dram->read_ahead] = done;
    dram_queue(mesh, done, NOC_NONE);
    mesh->changed = true;
}

/* The tail flit of a packet leaves when its data have come, the others when they have been asked for. */
static bool dram_has_flit(const struct noc_mesh *mesh, const struct noc_source *source)
{
    if (source->n_asked == 0)
        return false;
    return source->flit + 1 < mesh->n_packet_flit || mesh->read_done[mesh->first_read] <= mesh->now;
}

static bool dram_write(struct noc_mesh *mesh, uint32_t flit)
{
    uint32_t slot = flit >> NOC_SLOT_SHIFT;
    const struct noc_dram *dram = &mesh->config->dram;
    if (mesh->n_access == dram->queue_length)
        return false;
    uint64_t byte = (uint64_t)mesh->transfer[slot].n_written++ * dram->burst_byte;
    uint64_t done = noc_dram_access(&mesh->dram, mesh->now, true, byte);
    noc_repeat_note(mesh, true, slot, byte, done);
    dram_queue(mesh, done, flit & NOC_LAST ? slot : NOC_NONE);
    return true;
}

/* ---------------------------------------- sinks, sources */

bool noc_sink_put(struct noc_mesh *mesh, uint32_t port, uint32_t flit)
{
    bool is_dram = port == mesh->config->dram_port;
    if (is_dram) {
        if (flit & NOC_TAIL && !dram_write(mesh, flit))
            return false;
        mesh->result->dram_link_flits_out++;
    } else if (flit & NOC_LAST) {
        transfer_arrived(mesh, flit >> NOC_SLOT_SHIFT, port, mesh->now + 1);
    }
    mesh->result->flits_received++;
    return true;
}

static void start(struct noc_mesh *mesh, uint32_t s, struct noc_source *source)
{
    uint32_t id = noc_depend_next(mesh, s);
    const struct noc_transaction *t = &mesh->program->transaction[id];
    mesh->changed = true;
    mesh->n_change++;
    source->transaction = id;
    if (mesh->trace && mesh->trace->start)
        mesh->trace->start[id] = mesh->now;
    if (t->operation == NOC_COUNT) {
        source->state = NOC_COUNTING;
        event_push(mesh, (struct noc_event){mesh->now + t->size, s});
        noc_unmark(mesh->source_active, s);
        return;
    }
    source->state = NOC_SENDING;
    source->packet_left = t->size;
    source->flit = 0;
    source->transfer = transfer_open(mesh, id);
}

static void send(struct noc_mesh *mesh, uint32_t port, struct noc_source *source)
{
    bool is_dram = port == mesh->config->dram_port;
    if (is_dram) {
        dram_read(mesh, source);
        if (!dram_has_flit(mesh, source))
            return;
    }
    if (!noc_input_ready(&mesh->router[source->place.router], source->place.side)) {
        /* The router wakes it; the DRAM's port may have more to ask for in the meantime. */
        if (!is_dram)
            noc_unmark(mesh->source_active, port);
        return;
    }
    uint32_t flit = source->transfer << NOC_SLOT_SHIFT;
    mesh->moved = true;
    mesh->result->flits_sent++;
    mesh->result->dram_link_flits_in += is_dram;
    if (source->flit == 0)
        flit |= NOC_HEAD;
    if (++source->flit == mesh->n_packet_flit) {
        flit |= NOC_TAIL;
        source->flit = 0;
        source->packet_left--;
        if (is_dram) {
            source->n_asked--;
            mesh->first_read = (mesh->first_read + 1) % mesh->config->dram.read_ahead;
        }
        if (source->packet_left == 0) {
            flit |= NOC_LAST;
            source->state = NOC_IDLE;
            if (source->n_ready == 0)
                noc_unmark(mesh->source_active, port);
        }
    }
    noc_input_put(mesh, source->place.router, source->place.side, flit);
}

void noc_step_sources(struct noc_mesh *mesh)
{
    uint32_t n_word = (mesh->n_source + 63) / 64;
    for (uint32_t w = 0; w < n_word; w++)
        for (uint64_t bits = mesh->source_active[w]; bits; bits &= bits - 1) {
            uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(bits);
            struct noc_source *source = &mesh->source[s];
            if (source->state == NOC_IDLE)
                start(mesh, s, source);
            /* Only sources that are ports send. */
            if (source->state == NOC_SENDING && source->transfer != NOC_NONE)
                send(mesh, s, source);
        }
}

void noc_step_events(struct noc_mesh *mesh)
{
    while (mesh->n_event > 0 && mesh->event[0].cycle <= mesh->now) {
        struct noc_event event = event_pop(mesh);
        struct noc_source *source = &mesh->source[event.source];
        source->state = NOC_IDLE;
        mesh->n_change++;
        if (source->n_ready > 0)
            noc_mark(mesh->source_active, event.source);
        noc_depend_done(mesh, source->transaction, event.cycle, NULL);
    }
    while (mesh->n_access > 0 && mesh->access[mesh->first_access].done <= mesh->now) {
        struct noc_access access = mesh->access[mesh->first_access];
        mesh->first_access =
            mesh->first_access + 1 == mesh->config->dram.queue_length ? 0 : mesh->first_access + 1;
        mesh->n_access--;
        if (access.transfer != NOC_NONE)
            transfer_arrived(mesh, access.transfer, mesh->config->dram_port, access.done);
    }
}

uint64_t noc_next_event(const struct noc_mesh *mesh)
{
    uint64_t next = UINT64_MAX;
    if (mesh->n_event > 0)
        next = mesh->event[0].cycle;
    if (mesh->n_access > 0 && mesh->access[mesh->first_access].done < next)
        next = mesh->access[mesh->first_access].done;
    return next;
}

enum dse_status noc_endpoints_init(struct noc_mesh *mesh, struct dse_error *err)
{
    const struct noc_config *config = mesh->config;
    /* A transfer that its source has sent has a tail flit left in some router, or a write in the DRAM's
     * queue. */
    size_t n_flit = (size_t)mesh->n_router * NOC_SIDES * (config->queue_flits + 2);
    mesh->n_transfer = (uint32_t)(n_flit + mesh->n_port + config->dram.queue_length);
    mesh->source = arena_alloc(mesh->arena, mesh->n_source, sizeof *mesh->source);
    mesh->source_active = arena_alloc(mesh->arena, (mesh->n_source + 63) / 64, sizeof *mesh->source_active);
    mesh->event = arena_alloc(mesh->arena, mesh->n_source, sizeof *mesh->event);
    mesh->access = arena_alloc(mesh->arena, config->dram.queue_length, sizeof *mesh->access);
    mesh->read_done = arena_alloc(mesh->arena, config->dram.read_ahead, sizeof *mesh->read_done);
    mesh->transfer = arena_alloc(mesh->arena, mesh->n_transfer, sizeof *mesh->transfer);
    mesh->free_transfer = arena_alloc(mesh->arena, mesh->n_transfer, sizeof *mesh->free_transfer);
    noc_dram_init(&mesh->dram, &config->dram, mesh->arena);
    DSE_TRY(arena_check(mesh->arena, "the ports of a mesh", err));
    for (uint32_t slot = 0; slot < mesh->n_transfer; slot++)
        mesh->free_transfer[mesh->n_free_transfer++] = mesh->n_transfer - 1 - slot;
    for (uint32_t port = 0; port < mesh->n_port; port++)
        mesh->source[port].place = noc_place_of(config, port);
    return DSE_OK;
}
