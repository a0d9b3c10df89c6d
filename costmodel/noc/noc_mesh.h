/* State of a simulation of the mesh (noc_simulate.c): routers (noc_router.c), the ports' sources and sinks
 * (noc_endpoint.c), the DRAM (noc_dram.c: the cycle in which each access is done, worked out when it is
 * queued), dependencies (noc_depend.c), steady streams (noc_repeat.c). Internal to costmodel/noc/. */
#ifndef COSTMODEL_NOC_NOC_MESH_H
#define COSTMODEL_NOC_NOC_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/noc/noc.h"

struct noc_bank {
    bool open;
    uint64_t row;
    uint64_t precharge_ok, activate_ok, column_ok; /* the earliest cycle of each command */
};

/* The bandwidth is taken until cycle `free`, less ahead / access of a cycle. */
struct noc_limit_state {
    uint64_t free, ahead;
};

struct noc_dram_state {
    const struct noc_dram *timing;
    struct noc_bank *bank; /* (n_bank) */
    uint64_t command_ok;   /* the cycle after the last column command: commands are in order */
    uint64_t bus_free;     /* the cycle after the last data */
    uint64_t done;         /* of the last access: data come in order */
    struct noc_limit_state limited[NOC_LIMITS];
    uint64_t read_ok;     /* the earliest read command after the last write */
    uint64_t refresh_due; /* UINT64_MAX: never */
    bool last_was_read;
    uint64_t n_read, n_write, n_row_miss;
};

/* Closed banks at cycle 0. The caller looks whether `arena` had the memory. */
void noc_dram_init(struct noc_dram_state *dram, const struct noc_dram *timing, struct arena *arena);

/* Queue one access in cycle `now` (not before earlier accesses'); its first command is in a later cycle.
 * Returns the cycle after its last data cycle. Later accesses are not done before. */
uint64_t noc_dram_access(struct noc_dram_state *dram, uint64_t now, bool write, uint64_t byte);

/* What an access changed. */
struct noc_dram_undo {
    struct noc_dram_state state;
    struct noc_bank *at;
    struct noc_bank bank;
};

/* Queue the access if it is done in `done` and no refresh can touch it; else nothing changes and the answer
 * is false. */
bool noc_dram_access_if(struct noc_dram_state *dram, uint64_t now, bool write, uint64_t byte, uint64_t done,
                        struct noc_dram_undo *undo);

/* Take back the last access. */
void noc_dram_undo(struct noc_dram_state *dram, const struct noc_dram_undo *undo);

enum { NOC_LOCAL, NOC_NORTH, NOC_EAST, NOC_SOUTH, NOC_WEST, NOC_SIDES };

/* Router and side of a port. */
struct noc_place {
    uint32_t router;
    uint32_t side;
};

struct noc_place noc_place_of(const struct noc_config *config, uint32_t port);

static inline uint32_t noc_port_count(const struct noc_config *config)
{
    return config->columns * config->rows + 2 * (config->columns + config->rows);
}

/* A flit: the slot of its transfer and where it stands in packet and transfer. */
enum { NOC_HEAD = 1, NOC_TAIL = 2, NOC_LAST = 4, NOC_SLOT_SHIFT = 3 };

/* Sides are bits in the uint8_t masks. */
struct noc_router {
    uint32_t latch[NOC_SIDES];
    uint32_t arriving[NOC_SIDES]; /* in the latch from the next cycle on */
    uint32_t out[NOC_SIDES];      /* output register */
    uint16_t queue_count[NOC_SIDES];
    uint8_t outputs[NOC_SIDES]; /* where the packet in the input latch goes */
    uint8_t last[NOC_SIDES];    /* unicast input that the output served last */
    uint8_t latch_full, arriving_full, out_full;
    uint8_t queue_filled;          /* not empty */
    uint8_t queue_room;            /* for one flit */
    uint8_t queue_packet_room;     /* for a packet */
    uint8_t head, multicast;       /* inputs whose latch has a head; has a flit of a multicast */
    uint8_t granted;               /* inputs whose flit moves on in the coming cycle */
    uint8_t locked;                /* outputs within a packet */
    uint32_t neighbour[NOC_SIDES]; /* the next router, or NOC_NONE: `port` is there */
    uint32_t port[NOC_SIDES];
    uint16_t queue_head[NOC_SIDES]; /* last: where the rings begin is no part of what noc_repeat.c compares */
};

#define NOC_NONE UINT32_MAX

/* A transaction whose packets are on their way; freed when all destinations have everything. */
struct noc_transfer {
    const uint8_t *outputs; /* (n_router) which sides of a router its flits leave by */
    uint8_t *own;           /* (n_router) storage for that of a multicast, made when first needed */
    uint32_t transaction;
    uint32_t n_left;    /* destinations that lack something */
    uint32_t n_written; /* packets that reached the DRAM */
    bool multicast;
};

enum noc_source_state { NOC_IDLE, NOC_SENDING, NOC_COUNTING };

/* A queue of transactions of one port (its only one, or that of its counts): what it sends or counts, and
 * which could start. */
struct noc_source {
    enum noc_source_state state;
    uint32_t transaction;
    uint32_t transfer;             /* slot */
    uint32_t packet_left;          /* unsent, the current one included */
    uint32_t flit;                 /* next one of the packet */
    uint32_t n_asked;              /* DRAM: reads asked for and not yet sent as packets */
    uint32_t first_ready, n_ready; /* heap of ids within noc_mesh.ready */
    struct noc_place place;        /* of the port */
};

/* The end of a count. */
struct noc_event {
    uint64_t cycle;
    uint32_t source;
};

/* An access in the DRAM's queue. */
struct noc_access {
    uint64_t done;
    uint32_t transfer; /* of the last write of a transaction, else NOC_NONE */
};

struct noc_repeat;

struct noc_mesh {
    const struct noc_config *config;
    const struct noc_program *program;
    const struct noc_trace *trace;
    const atomic_int *cancel; /* may be NULL */
    struct noc_result *result;
    struct arena *arena;
    uint64_t now;
    bool changed;      /* in this cycle */
    bool moved;        /* a flit did */
    uint64_t n_change; /* starts, arrivals and ends of transactions so far */
    uint32_t n_unfinished;
    uint32_t n_router, n_port, n_packet_flit;
    uint32_t n_source; /* n_port, or twice as many: n_port + p has the counts of port p */

    struct noc_router *router;
    uint32_t *queue; /* (router, side, queue_mask + 1): rings */
    uint32_t queue_mask;
    uint32_t queue_shift;
    uint64_t *in_active;  /* bits: routers with a flit in a latch or arriving */
    uint64_t *out_active; /* bits: routers with a flit in a queue or output register */
    uint8_t *unicast;     /* (port, router): the side towards the port */

    struct noc_source *source;
    uint64_t *source_active; /* bits: sources that send or could start */
    struct noc_transfer *transfer;
    uint32_t *free_transfer;
    uint32_t n_transfer, n_free_transfer;

    uint32_t *n_wait;          /* (transaction) dependencies not yet done */
    uint32_t *first_dependent; /* (transaction + 1) into `dependent` */
    uint32_t *dependent;       /* ordered by their port, then id */
    uint32_t *ready;
    struct noc_event *event; /* heap by cycle, then source */
    uint32_t n_event;

    struct noc_dram_state dram;
    struct noc_access *access; /* ring of queue_length */
    uint32_t first_access, n_access;
    uint64_t *read_done; /* ring of read_ahead: when the data of the packets asked for are there */
    uint32_t first_read;
    struct noc_repeat *repeat;
};

static inline void noc_mark(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void noc_unmark(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~((uint64_t)1 << (i % 64));
}

/* The source that works on a transaction. */
static inline uint32_t noc_source_of(const struct noc_mesh *mesh, uint32_t transaction)
{
    const struct noc_transaction *t = &mesh->program->transaction[transaction];
    bool apart = mesh->config->compute != NOC_COMPUTE_IN_TURN && t->operation == NOC_COUNT;
    return apart ? mesh->n_port + t->actor : t->actor;
}

/* Routers of the mesh with their neighbours, and the routes. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status noc_routers_init(struct noc_mesh *mesh, struct dse_error *err);

/* The sides by which a multicast from `from` leaves each router on its way: (n_router) masks into
 * `outputs`. */
void noc_multicast_tree(const struct noc_config *config, uint32_t from, const uint32_t *destination,
                        uint32_t n_destination, uint8_t *outputs);

/* Second part of a cycle, at the outputs: queue to register, register to the next latch or sink. */
void noc_step_outputs(struct noc_mesh *mesh);

/* Third part, at the inputs: granted flits into the queues, arrivals into the latches, the grants of the next
 * cycle. */
void noc_step_inputs(struct noc_mesh *mesh);

/* Can the input take a flit in this cycle? */
static inline bool noc_input_ready(const struct noc_router *router, uint32_t side)
{
    return !((router->latch_full & ~router->granted) >> side & 1);
}

static inline void noc_input_put(struct noc_mesh *mesh, uint32_t router, uint32_t side, uint32_t flit)
{
    struct noc_router *r = &mesh->router[router];
    r->arriving[side] = flit;
    r->arriving_full |= (uint8_t)(1U << side);
    noc_mark(mesh->in_active, router);
}

/* Dependency counters, lists of dependents and each port's transactions that can start. DSE_NO_MEMORY,
 * DSE_LIMIT, DSE_INTERRUPTED. */
DSE_MUST_CHECK enum dse_status noc_depend_init(struct noc_mesh *mesh, struct dse_error *err);

/* The smallest id among what the source can start; its n_ready > 0. */
uint32_t noc_depend_next(struct noc_mesh *mesh, uint32_t source);

/* The destination `port` of a multicast has everything: the port's own dependents need not wait for it any
 * more. */
void noc_depend_arrived(struct noc_mesh *mesh, uint32_t transaction, uint32_t port);

/* The transaction is done at the end of cycle `cycle` - 1. `outputs`: NULL, or the tree of a multicast, whose
 * destinations have been told by noc_depend_arrived. */
void noc_depend_done(struct noc_mesh *mesh, uint32_t transaction, uint64_t cycle, const uint8_t *outputs);

/* Sources, sinks and the DRAM behind its port. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status noc_endpoints_init(struct noc_mesh *mesh, struct dse_error *err);

/* Start of a cycle: counts and DRAM accesses that are over. */
void noc_step_events(struct noc_mesh *mesh);

/* First part of a cycle: idle ports start, sending ports offer a flit. */
void noc_step_sources(struct noc_mesh *mesh);

/* A flit reaches a port; false: not taken in this cycle. */
bool noc_sink_put(struct noc_mesh *mesh, uint32_t port, uint32_t flit);

/* Steady streams (noc_repeat.c). Memory for it. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status noc_repeat_init(struct noc_mesh *mesh, struct dse_error *err);

/* Between two cycles: when the state is that of some cycles ago, repeat what happened since as often as it
 * would, at once. `end`: time does not go beyond. */
void noc_repeat_try(struct noc_mesh *mesh, uint64_t end);

/* An access was queued in this cycle, of port or transfer `of`, done in `done`. */
void noc_repeat_note(struct noc_mesh *mesh, bool write, uint32_t of, uint64_t byte, uint64_t done);

/* The next cycle in which a count or DRAM access is over; UINT64_MAX: none. */
uint64_t noc_next_event(const struct noc_mesh *mesh);

#endif
