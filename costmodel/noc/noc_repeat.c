/* Long streams. All that decides the next cycle is the mesh (latches, queues, registers, locks, turns,
 * grants), the ports' places in their packets, and how far away the ends of counts and DRAM accesses are.
 * When all of that is as it was some cycles ago and no transaction started, arrived or ended in between, the
 * cycles since will repeat until a transfer runs out of packets, a count ends or a DRAM access takes another
 * time (another row, a refresh). So packets are counted off and the DRAM is given the accesses of each
 * repetition, without stepping the mesh. */
#include <stddef.h>
#include <string.h>

#include "costmodel/noc/noc_mesh.h"

enum {
    NOTE_MAX = 256, /* DRAM accesses of one period */
    /* cycles in which a state is looked for again, at first; doubles when it does not come */
    WINDOW_MIN = 16,
    WINDOW_MAX = 1024
};

struct note {
    bool write;
    uint32_t of;
    uint64_t cycle, byte, done;
    uint64_t stride; /* bytes from one period to the next */
    struct noc_dram_undo undo;
};

/* The state at the start of `cycle`, and what has happened since. */
struct noc_repeat {
    bool valid;
    uint64_t cycle, n_change;
    uint64_t window, next; /* no state is kept before cycle `next` */
    uint32_t reference;    /* a port that was sending */
    struct noc_router *router;
    uint32_t *queue;
    struct noc_source *source;
    struct noc_access *access;
    uint64_t *read_done;
    uint32_t first_access, n_access, first_read;
    struct noc_result result;
    uint32_t n_note;
    struct note note[NOTE_MAX];
};

enum dse_status noc_repeat_init(struct noc_mesh *mesh, struct dse_error *err)
{
    struct noc_repeat *repeat = arena_alloc(mesh->arena, 1, sizeof *repeat);
    size_t n_queue = (size_t)mesh->n_router * NOC_SIDES * (mesh->queue_mask + 1);
    if (repeat) {
        repeat->window = WINDOW_MIN;
        repeat->router = arena_alloc(mesh->arena, mesh->n_router, sizeof *repeat->router);
        repeat->queue = arena_alloc(mesh->arena, n_queue, sizeof *repeat->queue);
        repeat->source = arena_alloc(mesh->arena, mesh->n_port, sizeof *repeat->source);
        repeat->access = arena_alloc(mesh->arena, mesh->config->dram.queue_length, sizeof *repeat->access);
        repeat->read_done =
            arena_alloc(mesh->arena, mesh->config->dram.read_ahead, sizeof *repeat->read_done);
    }
    mesh->repeat = repeat;
    return arena_check(mesh->arena, "a second state of the mesh", err);
}

void noc_repeat_note(struct noc_mesh *mesh, bool write, uint32_t of, uint64_t byte, uint64_t done)
{
    struct noc_repeat *repeat = mesh->repeat;
    if (!repeat->valid)
        return;
    if (repeat->n_note == NOTE_MAX) {
        repeat->valid = false;
        return;
    }
    struct note *note = &repeat->note[repeat->n_note++];
    note->write = write;
    note->of = of;
    note->cycle = mesh->now;
    note->byte = byte;
    note->done = done;
}

static void keep_state(struct noc_mesh *mesh)
{
    struct noc_repeat *repeat = mesh->repeat;
    size_t n_queue = (size_t)mesh->n_router * NOC_SIDES * (mesh->queue_mask + 1);
    repeat->valid = false;
    repeat->reference = NOC_NONE;
    for (uint32_t port = 0; port < mesh->n_port && repeat->reference == NOC_NONE; port++)
        if (mesh->source[port].state == NOC_SENDING)
            repeat->reference = port;
    repeat->next = mesh->now + repeat->window;
    if (repeat->reference == NOC_NONE)
        return;
    memcpy(repeat->router, mesh->router, mesh->n_router * sizeof *mesh->router);
    memcpy(repeat->queue, mesh->queue, n_queue * sizeof *mesh->queue);
    memcpy(repeat->source, mesh->source, mesh->n_port * sizeof *mesh->source);
    memcpy(repeat->access, mesh->access, mesh->config->dram.queue_length * sizeof *mesh->access);
    memcpy(repeat->read_done, mesh->read_done, mesh->config->dram.read_ahead * sizeof *mesh->read_done);
    repeat->first_access = mesh->first_access;
    repeat->n_access = mesh->n_access;
    repeat->first_read = mesh->first_read;
    repeat->result = *mesh->result;
    repeat->n_note = 0;
    repeat->cycle = mesh->now;
    repeat->valid = true;
}

static bool same_queues(const struct noc_mesh *mesh, uint32_t r)
{
    const struct noc_router *now = &mesh->router[r], *then = &mesh->repeat->router[r];
    for (uint32_t side = 0; side < NOC_SIDES; side++) {
        size_t base = (size_t)(r * NOC_SIDES + side) << mesh->queue_shift;
        for (uint32_t k = 0; k < now->queue_count[side]; k++)
            if (mesh->queue[base + ((now->queue_head[side] + k) & mesh->queue_mask)] !=
                mesh->repeat->queue[base + ((then->queue_head[side] + k) & mesh->queue_mask)])
                return false;
    }
    return true;
}

/* Entries with equal times from now and from then. */
static bool same_dram(const struct noc_mesh *mesh)
{
    const struct noc_repeat *repeat = mesh->repeat;
    uint32_t length = mesh->config->dram.queue_length, ahead = mesh->config->dram.read_ahead;
    uint64_t period = mesh->now - repeat->cycle;
    if (mesh->config->dram_port == NOC_NO_PORT)
        return true;
    if (mesh->n_access != repeat->n_access)
        return false;
    for (uint32_t k = 0; k < mesh->n_access; k++) {
        struct noc_access now = mesh->access[(mesh->first_access + k) % length];
        struct noc_access then = repeat->access[(repeat->first_access + k) % length];
        if (now.done != then.done + period || now.transfer != then.transfer)
            return false;
    }
    for (uint32_t k = 0; k < mesh->source[mesh->config->dram_port].n_asked; k++)
        if (mesh->read_done[(mesh->first_read + k) % ahead] !=
            repeat->read_done[(repeat->first_read + k) % ahead] + period)
            return false;
    return true;
}

static bool same_state(const struct noc_mesh *mesh)
{
    const struct noc_repeat *repeat = mesh->repeat;
    for (uint32_t r = 0; r < mesh->n_router; r++)
        if (memcmp(&mesh->router[r], &repeat->router[r], offsetof(struct noc_router, queue_head)) != 0)
            return false;
    for (uint32_t port = 0; port < mesh->n_port; port++) {
        const struct noc_source *now = &mesh->source[port], *then = &repeat->source[port];
        if (now->flit != then->flit || now->n_asked != then->n_asked)
            return false;
    }
    for (uint32_t r = 0; r < mesh->n_router; r++)
        if (mesh->router[r].queue_filled && !same_queues(mesh, r))
            return false;
    return same_dram(mesh);
}

/* How often the period may come again before a transfer's last packets, the end of a count, or `end`. */
static uint64_t repetitions_allowed(const struct noc_mesh *mesh, uint64_t end)
{
    const struct noc_repeat *repeat = mesh->repeat;
    uint64_t period = mesh->now - repeat->cycle;
    if (mesh->n_event > 0 && mesh->event[0].cycle < end)
        end = mesh->event[0].cycle;
    uint64_t allowed = end > mesh->now ? (end - mesh->now) / period : 0;
    for (uint32_t port = 0; port < mesh->n_port; port++) {
        const struct noc_source *source = &mesh->source[port];
        uint32_t sent = repeat->source[port].packet_left - source->packet_left;
        if (source->state != NOC_SENDING || sent == 0)
            continue;
        /* The DRAM port looks ahead at the packets that are left. */
        uint64_t keep = port == mesh->config->dram_port ? (uint64_t)mesh->config->dram.read_ahead + 1 : 1;
        uint64_t times = source->packet_left > keep ? (source->packet_left - keep) / sent : 0;
        allowed = times < allowed ? times : allowed;
    }
    return allowed;
}

static void find_strides(struct noc_repeat *repeat, uint32_t burst_byte)
{
    for (uint32_t i = 0; i < repeat->n_note; i++) {
        repeat->note[i].stride = 0;
        for (uint32_t k = 0; k < repeat->n_note; k++)
            if (repeat->note[k].write == repeat->note[i].write && repeat->note[k].of == repeat->note[i].of)
                repeat->note[i].stride += burst_byte;
    }
}

/* Give the DRAM the accesses of up to `allowed` periods; how many periods it does as before. */
static uint64_t repeat_accesses(struct noc_mesh *mesh, uint64_t period, uint64_t allowed)
{
    struct noc_repeat *repeat = mesh->repeat;
    find_strides(repeat, mesh->config->dram.burst_byte);
    for (uint64_t times = 1; times <= allowed; times++)
        for (uint32_t i = 0; i < repeat->n_note; i++) {
            struct note *note = &repeat->note[i];
            uint64_t shift = times * period;
            if (noc_dram_access_if(&mesh->dram, note->cycle + shift, note->write,
                                   note->byte + times * note->stride, note->done + shift, &note->undo))
                continue;
            while (i-- > 0)
                noc_dram_undo(&mesh->dram, &repeat->note[i].undo);
            return times - 1;
        }
    return allowed;
}

static void add_periods(uint64_t *total, uint64_t then, uint64_t times)
{
    *total += times * (*total - then);
}

static void skip_periods(struct noc_mesh *mesh, uint64_t period, uint64_t times)
{
    const struct noc_repeat *repeat = mesh->repeat;
    struct noc_result *result = mesh->result;
    const struct noc_result *then = &repeat->result;
    for (uint32_t port = 0; port < mesh->n_port; port++) {
        struct noc_source *source = &mesh->source[port];
        if (source->state == NOC_SENDING)
            source->packet_left -= (uint32_t)times * (repeat->source[port].packet_left - source->packet_left);
    }
    for (uint32_t i = 0; i < repeat->n_note; i++)
        if (repeat->note[i].write)
            mesh->transfer[repeat->note[i].of].n_written += (uint32_t)times;
    for (uint32_t k = 0; k < mesh->n_access; k++)
        mesh->access[(mesh->first_access + k) % mesh->config->dram.queue_length].done += times * period;
    for (uint32_t k = 0; k < mesh->config->dram.read_ahead; k++)
        mesh->read_done[k] += times * period;
    add_periods(&result->flits_sent, then->flits_sent, times);
    add_periods(&result->flits_received, then->flits_received, times);
    add_periods(&result->flit_hops, then->flit_hops, times);
    add_periods(&result->dram_link_flits_in, then->dram_link_flits_in, times);
    add_periods(&result->dram_link_flits_out, then->dram_link_flits_out, times);
    add_periods(&result->n_active_cycle, then->n_active_cycle, times);
    mesh->now += times * period;
}

void noc_repeat_try(struct noc_mesh *mesh, uint64_t end)
{
    struct noc_repeat *repeat = mesh->repeat;
    if (repeat->n_change != mesh->n_change) {
        repeat->n_change = mesh->n_change;
        repeat->valid = false;
        repeat->window = WINDOW_MIN;
        repeat->next = mesh->now + WINDOW_MIN / 2;
    }
    if (mesh->now >= repeat->next) {
        keep_state(mesh);
        repeat->window = repeat->window < WINDOW_MAX ? 2 * repeat->window : WINDOW_MAX;
        return;
    }
    if (!repeat->valid || mesh->source[repeat->reference].flit != repeat->source[repeat->reference].flit ||
        !same_state(mesh))
        return;
    uint64_t period = mesh->now - repeat->cycle;
    uint64_t times = repetitions_allowed(mesh, end);
    if (times > 0 && repeat->n_note > 0)
        times = repeat_accesses(mesh, period, times);
    repeat->valid = false;
    if (times > 0) {
        skip_periods(mesh, period, times);
        repeat->window = WINDOW_MIN;
        repeat->next = mesh->now;
    }
}
