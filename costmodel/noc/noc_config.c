/* The default machine (mesh, packets, queues, a DDR2 channel), where each port lies, and the check of a
 * configuration with its program before a simulation. */
#include <string.h>

#include "costmodel/noc/noc_mesh.h"

/* Micron DDR2-667 x8 1 Gbit at 4-4-4, 16 ranks on a 64-bit channel, in cycles of 3 ns (docs/noc.md). */
static const struct noc_dram default_dram = {
    .n_bank = 128,
    .row_byte = 8192,
    .burst_byte = 32,
    .burst_cycle = 2,
    .activate_cycle = 4,
    .precharge_cycle = 4,
    .read_cycle = 4,
    .write_cycle = 3,
    .row_active_cycle = 14,
    .write_recovery_cycle = 5,
    .write_to_read_cycle = 3,
    .read_to_write_cycle = 1,
    .read_to_precharge_cycle = 3,
    .refresh_interval_cycle = 2600,
    .refresh_cycle = 43,
    .queue_length = 32,
    .read_ahead = 1,
    .read_base_byte = 0x30000,
};

#define NOC_LIMIT_MAX (UINT64_C(1) << 62) /* numbers of a bandwidth */

enum {
    NOC_FLITS_MAX = 1024,         /* of a packet or a queue */
    NOC_BANK_MAX = 1 << 16,       /* banks */
    NOC_DRAM_CYCLES_MAX = 1 << 24 /* of any one DRAM time */
};

void noc_config_cores(struct noc_config *config, uint32_t columns, uint32_t rows, uint32_t flit_bit)
{
    *config = (struct noc_config){.columns = columns, .rows = rows, .pe_rows = rows, .flit_bit = flit_bit};
    config->data_flits = 4;
    config->queue_flits = config->data_flits + 3; /* a whole packet and two more */
    config->buffer_port = config->dram_port = NOC_NO_PORT;
    config->compute = NOC_COMPUTE_STATIC;
}

void noc_config_init(struct noc_config *config, uint32_t pe_columns, uint32_t pe_rows)
{
    uint32_t rows = pe_rows + 1, n_router = pe_columns * rows;
    noc_config_cores(config, pe_columns, rows, 64);
    config->pe_rows = pe_rows;
    config->buffer_port = n_router - 1;
    config->dram_port =
        n_router + pe_columns + rows; /* the first of the south side, which starts at the right */
    config->dram = default_dram;
    config->compat = true;
    config->compute = NOC_COMPUTE_IN_TURN;
}

struct noc_place noc_place_of(const struct noc_config *config, uint32_t port)
{
    uint32_t columns = config->columns, rows = config->rows, n_router = columns * rows;
    if (port < n_router)
        return (struct noc_place){port, NOC_LOCAL};
    port -= n_router;
    if (port < columns)
        return (struct noc_place){port, NOC_NORTH};
    port -= columns;
    if (port < rows)
        return (struct noc_place){port * columns + columns - 1, NOC_EAST};
    port -= rows;
    if (port < columns)
        return (struct noc_place){n_router - 1 - port, NOC_SOUTH};
    port -= columns;
    return (struct noc_place){(rows - 1 - port) * columns, NOC_WEST};
}

static enum dse_status check_mesh(const struct noc_config *c, struct dse_error *err)
{
    if (c->columns < 1 || c->rows < 1 || c->columns > NOC_ROUTER_MAX || c->rows > NOC_ROUTER_MAX ||
        c->columns * c->rows > NOC_ROUTER_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "a mesh of %u x %u routers; 1 to %d routers are possible",
                        c->columns, c->rows, NOC_ROUTER_MAX);
    uint32_t n_router = c->columns * c->rows, n_port = noc_port_count(c);
    if (c->pe_rows > c->rows)
        return dse_fail(err, DSE_BAD_INPUT, "%u rows of PEs in a mesh of %u rows", c->pe_rows, c->rows);
    if (c->buffer_port >= n_router && c->buffer_port != NOC_NO_PORT)
        return dse_fail(err, DSE_BAD_INPUT, "buffer port %u; a local port is 0 to %u", c->buffer_port,
                        n_router - 1);
    if ((c->dram_port < n_router || c->dram_port >= n_port) && c->dram_port != NOC_NO_PORT)
        return dse_fail(err, DSE_BAD_INPUT, "DRAM port %u; a port at the edge is %u to %u", c->dram_port,
                        n_router, n_port - 1);
    if (c->flit_bit < 1)
        return dse_fail(err, DSE_BAD_INPUT, "flits of 0 bit; 1 or more are needed");
    if (c->data_flits < 1 || c->data_flits >= NOC_FLITS_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "%u data flits in a packet; 1 to %d are possible", c->data_flits,
                        NOC_FLITS_MAX - 1);
    if (c->queue_flits < c->data_flits + 1 || c->queue_flits > NOC_FLITS_MAX)
        return dse_fail(err, DSE_BAD_INPUT,
                        "router queues of %u flits; a packet of %u must fit, %d is the most", c->queue_flits,
                        c->data_flits + 1, NOC_FLITS_MAX);
    return DSE_OK;
}

static enum dse_status check_dram(const struct noc_config *c, struct dse_error *err)
{
    const struct noc_dram *d = &c->dram;
    const uint32_t time[] = {
        d->burst_cycle,         d->activate_cycle,   d->precharge_cycle,         d->read_cycle,
        d->write_cycle,         d->row_active_cycle, d->write_recovery_cycle,    d->write_to_read_cycle,
        d->read_to_write_cycle, d->refresh_cycle,    d->read_to_precharge_cycle, d->refresh_interval_cycle};
    uint64_t longest = 0;
    for (size_t i = 0; i < sizeof time / sizeof *time; i++) {
        longest += i + 1 < sizeof time / sizeof *time ? time[i] : 0;
        if (time[i] > NOC_DRAM_CYCLES_MAX)
            return dse_fail(err, DSE_BAD_INPUT, "a DRAM time of %u cycles; at most %d", time[i],
                            NOC_DRAM_CYCLES_MAX);
    }
    if (d->n_bank < 1 || d->n_bank > NOC_BANK_MAX || d->queue_length < 1 || d->queue_length > NOC_BANK_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "DRAM with %u banks and a queue of %u; both are 1 to %d",
                        d->n_bank, d->queue_length, NOC_BANK_MAX);
    if (d->read_ahead < 1 || d->read_ahead > NOC_BANK_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "DRAM reads %u packets ahead; 1 to %d are possible",
                        d->read_ahead, NOC_BANK_MAX);
    if (d->burst_cycle < 1 || d->read_cycle < 1 || d->write_cycle < 1 || d->activate_cycle < 1 ||
        d->precharge_cycle < 1 || (d->refresh_interval_cycle > 0 && d->refresh_cycle < 1))
        return dse_fail(err, DSE_BAD_INPUT,
                        "DRAM bursts, reads, writes, activation, precharge and refresh take a cycle or more");
    if ((uint64_t)d->burst_byte * 8 != (uint64_t)c->data_flits * c->flit_bit)
        return dse_fail(err, DSE_BAD_INPUT,
                        "a DRAM burst of %u bytes; a packet's data are %u flits of %u bit", d->burst_byte,
                        c->data_flits, c->flit_bit);
    if (d->burst_byte == 0 || d->row_byte == 0 || d->row_byte % d->burst_byte != 0)
        return dse_fail(err, DSE_BAD_INPUT,
                        "DRAM rows of %u bytes; a multiple of the burst of %u bytes is needed", d->row_byte,
                        d->burst_byte);
    if (d->read_base_byte > (uint64_t)1 << 48)
        return dse_fail(err, DSE_BAD_INPUT, "DRAM reads start at byte %llu; at most 2^48",
                        (unsigned long long)d->read_base_byte);
    for (uint32_t k = 0; k < NOC_LIMITS; k++)
        if (d->limit[k].access != 0 && (d->limit[k].access > NOC_LIMIT_MAX || d->limit[k].cycle < 1 ||
                                        d->limit[k].cycle / d->limit[k].access >= NOC_DRAM_CYCLES_MAX))
            return dse_fail(err, DSE_BAD_INPUT, "%llu accesses of the DRAM in %llu cycles; too slow",
                            (unsigned long long)d->limit[k].access, (unsigned long long)d->limit[k].cycle);
    /* So that a refresh and an access that it delays are over before the next one. */
    if (d->refresh_interval_cycle != 0 && d->refresh_interval_cycle <= longest)
        return dse_fail(err, DSE_BAD_INPUT, "DRAM refresh every %u cycles; the other times together are %llu",
                        d->refresh_interval_cycle, (unsigned long long)longest);
    return DSE_OK;
}

static enum dse_status check_destinations(const struct noc_config *config, const struct noc_program *program,
                                          uint32_t id, uint32_t seen[NOC_ROUTER_MAX], struct dse_error *err)
{
    const struct noc_transaction *t = &program->transaction[id];
    bool multicast = t->operation == NOC_MULTICAST;
    uint32_t limit = multicast ? config->columns * config->rows : noc_port_count(config);
    if (t->operation == NOC_COUNT ? t->n_destination != 0 : t->n_destination < 1)
        return dse_fail(err, DSE_BAD_INPUT,
                        "transaction %u has %u destinations; a count has none, a send at least one", id,
                        t->n_destination);
    if (t->operation == NOC_UNICAST && t->n_destination != 1)
        return dse_fail(err, DSE_BAD_INPUT, "transaction %u is a unicast with %u destinations; it has one",
                        id, t->n_destination);
    if ((size_t)t->first_destination + t->n_destination > program->n_destination)
        return dse_fail(err, DSE_BAD_INPUT, "transaction %u: its destinations end at %zu of %zu", id,
                        (size_t)t->first_destination + t->n_destination, program->n_destination);
    for (uint32_t k = 0; k < t->n_destination; k++) {
        uint32_t port = program->destination[t->first_destination + k];
        if (port >= limit)
            return dse_fail(err, DSE_BAD_INPUT, "transaction %u goes to port %u; %s ports are 0 to %u", id,
                            port, multicast ? "a multicast's" : "the", limit - 1);
        if (multicast && seen[port] == id + 1)
            return dse_fail(err, DSE_BAD_INPUT, "transaction %u goes to port %u twice", id, port);
        if (multicast)
            seen[port] = id + 1;
    }
    return DSE_OK;
}

static enum dse_status check_transaction(const struct noc_config *config, const struct noc_program *program,
                                         uint32_t id, struct dse_error *err)
{
    const struct noc_transaction *t = &program->transaction[id];
    if (t->operation != NOC_UNICAST && t->operation != NOC_MULTICAST && t->operation != NOC_COUNT)
        return dse_fail(err, DSE_BAD_INPUT, "transaction %u: unknown operation %d", id, (int)t->operation);
    if (t->actor >= noc_port_count(config))
        return dse_fail(err, DSE_BAD_INPUT, "transaction %u is of port %u; the ports are 0 to %u", id,
                        t->actor, noc_port_count(config) - 1);
    if (t->size < 1)
        return dse_fail(err, DSE_BAD_INPUT, "transaction %u has size 0; packets or cycles are 1 or more", id);
    if ((size_t)t->first_dependency + t->n_dependency > program->n_dependency)
        return dse_fail(err, DSE_BAD_INPUT, "transaction %u: its dependencies end at %zu of %zu", id,
                        (size_t)t->first_dependency + t->n_dependency, program->n_dependency);
    for (uint32_t k = 0; k < t->n_dependency; k++) {
        uint32_t dependency = program->dependency[t->first_dependency + k];
        if (dependency >= id)
            return dse_fail(err, DSE_BAD_INPUT, "transaction %u depends on %u; only earlier ones are allowed",
                            id, dependency);
    }
    return DSE_OK;
}

enum dse_status noc_check(const struct noc_config *config, const struct noc_program *program,
                          const atomic_int *cancel, struct dse_error *err)
{
    uint32_t seen[NOC_ROUTER_MAX]; /* 1 + the last multicast to this port */
    DSE_TRY(check_mesh(config, err));
    if (config->dram_port != NOC_NO_PORT)
        DSE_TRY(check_dram(config, err));
    if (program->n_transaction == UINT32_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "%u transactions are too many", program->n_transaction);
    memset(seen, 0, sizeof seen);
    for (uint32_t id = 0; id < program->n_transaction; id++) {
        DSE_TRY(noc_heed(id, cancel, err));
        DSE_TRY(check_transaction(config, program, id, err));
        DSE_TRY(check_destinations(config, program, id, seen, err));
    }
    return DSE_OK;
}
