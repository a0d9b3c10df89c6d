/* Routers, X first, then Y: multicast trees, round robin among inputs, one flit a cycle per link. Only
 * routers that somebody woke are looked at. */
#include "costmodel/noc/noc_mesh.h"

static const uint8_t opposite[NOC_SIDES] = {NOC_LOCAL, NOC_SOUTH, NOC_WEST, NOC_NORTH, NOC_EAST};

/* X first, then Y: the side by which `router` sends towards a port. */
static uint32_t side_towards(const struct noc_config *config, uint32_t router, struct noc_place to)
{
    uint32_t x = router % config->columns, y = router / config->columns;
    uint32_t to_x = to.router % config->columns, to_y = to.router / config->columns;
    if (x != to_x)
        return x < to_x ? NOC_EAST : NOC_WEST;
    if (y != to_y)
        return y < to_y ? NOC_SOUTH : NOC_NORTH;
    return to.side;
}

static uint32_t neighbour_of(const struct noc_config *config, uint32_t router, uint32_t side)
{
    uint32_t x = router % config->columns, y = router / config->columns;
    switch (side) {
    case NOC_NORTH:
        return y > 0 ? router - config->columns : NOC_NONE;
    case NOC_EAST:
        return x + 1 < config->columns ? router + 1 : NOC_NONE;
    case NOC_SOUTH:
        return y + 1 < config->rows ? router + config->columns : NOC_NONE;
    case NOC_WEST:
        return x > 0 ? router - 1 : NOC_NONE;
    default:
        return NOC_NONE;
    }
}

void noc_multicast_tree(const struct noc_config *config, uint32_t from, const uint32_t *destination,
                        uint32_t n_destination, uint8_t *outputs)
{
    uint32_t n_router = config->columns * config->rows;
    for (uint32_t r = 0; r < n_router; r++)
        outputs[r] = 0;
    for (uint32_t k = 0; k < n_destination; k++) {
        /* From the destination back to the source or to a branch that is there already: Y was last, so it is
         * undone first. */
        uint32_t r = destination[k], side = NOC_LOCAL;
        for (;;) {
            bool was_there = outputs[r] != 0;
            outputs[r] |= (uint8_t)(1U << side);
            if (was_there || r == from)
                break;
            if (r / config->columns != from / config->columns) {
                bool down = r / config->columns > from / config->columns;
                side = down ? NOC_SOUTH : NOC_NORTH;
                r = down ? r - config->columns : r + config->columns;
            } else {
                bool right = r > from;
                side = right ? NOC_EAST : NOC_WEST;
                r = right ? r - 1 : r + 1;
            }
        }
    }
}

enum dse_status noc_routers_init(struct noc_mesh *mesh, struct dse_error *err)
{
    const struct noc_config *config = mesh->config;
    size_t n_word = (mesh->n_router + 63) / 64, ring = 1;
    while (ring < config->queue_flits) {
        ring *= 2;
        mesh->queue_shift++;
    }
    mesh->queue_mask = (uint32_t)ring - 1;
    mesh->router = arena_alloc(mesh->arena, mesh->n_router, sizeof *mesh->router);
    mesh->queue = arena_alloc(mesh->arena, mesh->n_router * NOC_SIDES * ring, sizeof *mesh->queue);
    mesh->in_active = arena_alloc(mesh->arena, n_word, sizeof *mesh->in_active);
    mesh->out_active = arena_alloc(mesh->arena, n_word, sizeof *mesh->out_active);
    mesh->unicast = arena_alloc(mesh->arena, (size_t)mesh->n_port * mesh->n_router, sizeof *mesh->unicast);
    DSE_TRY(arena_check(mesh->arena, "a mesh of routers", err));
    for (uint32_t r = 0; r < mesh->n_router; r++) {
        struct noc_router *router = &mesh->router[r];
        router->queue_room = router->queue_packet_room = (1U << NOC_SIDES) - 1;
        for (uint32_t side = 0; side < NOC_SIDES; side++) {
            router->neighbour[side] = neighbour_of(config, r, side);
            router->last[side] = NOC_SIDES - 1; /* so that input 0 is the first to be served */
        }
    }
    for (uint32_t port = 0; port < mesh->n_port; port++) {
        struct noc_place place = noc_place_of(config, port);
        mesh->router[place.router].port[place.side] = port;
        for (uint32_t r = 0; r < mesh->n_router; r++)
            mesh->unicast[(size_t)port * mesh->n_router + r] =
                (uint8_t)(1U << side_towards(config, r, place));
    }
    return DSE_OK;
}

/* What the inner loops need of the queues, by value: stores through pointers cannot change it. */
struct queues {
    uint32_t *flit;
    uint32_t mask, shift;
    uint32_t length;     /* flits in a full one */
    uint32_t tight_from; /* flits in one that has no room for a packet */
};

static inline struct queues queues_of(const struct noc_mesh *mesh)
{
    uint32_t length = mesh->config->queue_flits;
    return (struct queues){mesh->queue, mesh->queue_mask, mesh->queue_shift, length,
                           length - mesh->n_packet_flit + 1};
}

static inline uint32_t *queue_at(struct queues queues, uint32_t r, uint32_t side)
{
    return queues.flit + ((size_t)(r * NOC_SIDES + side) << queues.shift);
}

static inline void push_granted(struct queues queues, uint32_t r, struct noc_router *router, uint32_t input)
{
    uint32_t flit = router->latch[input];
    uint32_t outputs = router->outputs[input];
    if (flit & NOC_HEAD)
        router->locked |= (uint8_t)outputs;
    if (flit & NOC_TAIL)
        router->locked &= (uint8_t)~outputs;
    router->queue_filled |= (uint8_t)outputs;
    for (; outputs; outputs &= outputs - 1) {
        uint32_t side = (uint32_t)__builtin_ctz(outputs), bit = outputs & -outputs;
        uint32_t count = router->queue_count[side];
        queue_at(queues, r, side)[(router->queue_head[side] + count) & queues.mask] = flit;
        router->queue_count[side] = (uint16_t)++count;
        if (count >= queues.tight_from)
            router->queue_packet_room &= (uint8_t)~bit;
        if (count == queues.length)
            router->queue_room &= (uint8_t)~bit;
    }
}

static inline uint32_t pop(struct queues queues, uint32_t r, struct noc_router *router, uint32_t side)
{
    uint32_t flit = queue_at(queues, r, side)[router->queue_head[side]], bit = 1U << side;
    uint32_t count = router->queue_count[side] - 1U;
    router->queue_head[side] = (uint16_t)((router->queue_head[side] + 1U) & queues.mask);
    router->queue_count[side] = (uint16_t)count;
    if (count == 0)
        router->queue_filled &= (uint8_t)~bit;
    if (count < queues.tight_from)
        router->queue_packet_room |= (uint8_t)bit;
    router->queue_room |= (uint8_t)bit;
    return flit;
}

/* Arrivals into the latches; a head tells where its packet goes. */
static inline void install_arrivals(const struct noc_transfer *transfer, uint32_t r,
                                    struct noc_router *router)
{
    uint32_t head = router->head;
    for (uint32_t inputs = router->arriving_full; inputs; inputs &= inputs - 1) {
        uint32_t input = (uint32_t)__builtin_ctz(inputs), bit = inputs & -inputs;
        uint32_t flit = router->arriving[input];
        router->latch[input] = flit;
        head &= ~bit;
        if (flit & NOC_HEAD) {
            const struct noc_transfer *its = &transfer[flit >> NOC_SLOT_SHIFT];
            head |= bit;
            router->outputs[input] = its->outputs[r];
            router->multicast =
                (uint8_t)(its->multicast ? router->multicast | bit : router->multicast & ~bit);
        }
    }
    router->head = (uint8_t)head;
    router->latch_full |= router->arriving_full;
    router->arriving_full = 0;
}

/* How far the input is from its turn at an output; 0: it is next. */
static inline uint32_t turns_away(const struct noc_router *router, uint32_t side, uint32_t input)
{
    return (input + NOC_SIDES - 1 + NOC_SIDES - router->last[side]) % NOC_SIDES;
}

/* Unicast heads, among those `inputs`, that get one of the outputs that are `free`. */
static uint32_t grant_unicast_heads(struct noc_router *router, uint32_t inputs, uint32_t free)
{
    uint32_t won = 0, granted = 0;
    uint8_t winner[NOC_SIDES];
    for (; inputs; inputs &= inputs - 1) {
        uint32_t input = (uint32_t)__builtin_ctz(inputs), output = router->outputs[input] & free;
        if (!output)
            continue;
        uint32_t side = (uint32_t)__builtin_ctz(output);
        if (!(won & output) || turns_away(router, side, input) < turns_away(router, side, winner[side]))
            winner[side] = (uint8_t)input;
        won |= output;
    }
    for (; won; won &= won - 1) {
        uint32_t side = (uint32_t)__builtin_ctz(won);
        router->last[side] = winner[side];
        granted |= 1U << winner[side];
    }
    return granted;
}

/* Who moves in the next cycle, from the state at its start. Outputs of a flit behind a head are locked by its
 * packet, so nobody else can have them. */
static inline void decide_grants(struct noc_router *router)
{
    uint32_t heads = router->latch_full & router->head, bodies = router->latch_full & ~heads, granted = 0;
    for (; bodies; bodies &= bodies - 1)
        if ((router->outputs[__builtin_ctz(bodies)] & ~(uint32_t)router->queue_room) == 0)
            granted |= bodies & -bodies;
    if (heads) {
        uint32_t free = ~(uint32_t)router->locked & router->queue_room;
        for (uint32_t inputs = heads & router->multicast; inputs; inputs &= inputs - 1) {
            uint32_t outputs = router->outputs[__builtin_ctz(inputs)];
            if ((outputs & ~(free & router->queue_packet_room)) == 0) {
                granted |= inputs & -inputs;
                free &= ~outputs;
            }
        }
        granted |= grant_unicast_heads(router, heads & ~(uint32_t)router->multicast, free);
    }
    router->granted = (uint8_t)granted;
}

/* The latches of granted inputs take flits in the next cycle: who stands before them must be looked at
 * again. */
static inline void wake_senders(struct noc_mesh *mesh, const struct noc_router *router)
{
    for (uint32_t inputs = router->granted; inputs; inputs &= inputs - 1) {
        uint32_t input = (uint32_t)__builtin_ctz(inputs), before = router->neighbour[input];
        if (before != NOC_NONE) {
            if (mesh->router[before].out_full >> opposite[input] & 1)
                noc_mark(mesh->out_active, before);
        } else if (mesh->source[router->port[input]].state == NOC_SENDING) {
            noc_mark(mesh->source_active, router->port[input]);
        }
    }
}

void noc_step_inputs(struct noc_mesh *mesh)
{
    struct queues queues = queues_of(mesh);
    uint32_t n_word = (mesh->n_router + 63) / 64;
    for (uint32_t w = 0; w < n_word; w++) {
        uint64_t keep = 0;
        for (uint64_t bits = mesh->in_active[w]; bits; bits &= bits - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(bits), r = w * 64 + bit;
            struct noc_router *router = &mesh->router[r];
            if (router->granted) {
                for (uint32_t inputs = router->granted; inputs; inputs &= inputs - 1)
                    push_granted(queues, r, router, (uint32_t)__builtin_ctz(inputs));
                router->latch_full &= (uint8_t)~router->granted;
                if (router->queue_filled & ~router->out_full)
                    noc_mark(mesh->out_active, r);
                mesh->moved = true;
            }
            install_arrivals(mesh->transfer, r, router);
            decide_grants(router);
            if (router->granted) {
                keep |= (uint64_t)1 << bit;
                wake_senders(mesh, router);
            }
        }
        mesh->in_active[w] = keep;
    }
}

/* NOC_NONE neighbour: the port, which may have to be asked again in the next cycle. */
static inline bool send_out(struct noc_mesh *mesh, struct noc_router *router, uint32_t side, bool *ask_again)
{
    uint32_t next = router->neighbour[side];
    if (next == NOC_NONE) {
        bool taken = noc_sink_put(mesh, router->port[side], router->out[side]);
        *ask_again |= !taken;
        return taken;
    }
    if (!noc_input_ready(&mesh->router[next], opposite[side]))
        return false;
    noc_input_put(mesh, next, opposite[side], router->out[side]);
    mesh->result->flit_hops++;
    return true;
}

/* True when the router must be looked at in the next cycle even if nobody wakes it. */
static inline bool step_router_outputs(struct noc_mesh *mesh, struct queues queues, uint32_t r,
                                       struct noc_router *router)
{
    bool again = false;
    for (uint32_t sides = router->out_full; sides; sides &= sides - 1) {
        uint32_t side = (uint32_t)__builtin_ctz(sides);
        if (send_out(mesh, router, side, &again)) {
            router->out_full &= (uint8_t) ~(1U << side);
            mesh->moved = true;
        }
    }
    uint32_t popped = router->queue_filled & ~(uint32_t)router->out_full;
    if (!popped)
        return again;
    for (uint32_t sides = popped; sides; sides &= sides - 1) {
        uint32_t side = (uint32_t)__builtin_ctz(sides);
        router->out[side] = pop(queues, r, router, side);
    }
    router->out_full |= (uint8_t)popped;
    mesh->moved = true;
    /* The room in the queues may be what a flit in a latch waits for. */
    if (router->latch_full)
        noc_mark(mesh->in_active, r);
    return true;
}

void noc_step_outputs(struct noc_mesh *mesh)
{
    struct queues queues = queues_of(mesh);
    uint32_t n_word = (mesh->n_router + 63) / 64;
    for (uint32_t w = 0; w < n_word; w++) {
        uint64_t keep = 0;
        for (uint64_t bits = mesh->out_active[w]; bits; bits &= bits - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(bits), r = w * 64 + bit;
            if (step_router_outputs(mesh, queues, r, &mesh->router[r]))
                keep |= (uint64_t)1 << bit;
        }
        mesh->out_active[w] = keep;
    }
}
