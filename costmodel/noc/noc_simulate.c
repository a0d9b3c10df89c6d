/* The loop over cycles: inputs, outputs, sources, events; where nothing moved it jumps to the next event.
 * A deadlock names the first transaction that is not finished. */
#include "costmodel/noc/noc_mesh.h"

static uint64_t flits_expected(const struct noc_mesh *mesh)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < mesh->program->n_transaction; id++) {
        const struct noc_transaction *t = &mesh->program->transaction[id];
        sum += (uint64_t)t->size * t->n_destination * mesh->n_packet_flit;
    }
    return sum;
}

static uint32_t first_unfinished(const struct noc_mesh *mesh)
{
    /* What waits for a dependency, else what is ready or at work at some port. */
    for (uint32_t s = 0; s < mesh->n_source; s++)
        if (mesh->source[s].state != NOC_IDLE)
            return mesh->source[s].transaction;
    for (uint32_t id = 0; id < mesh->program->n_transaction; id++)
        if (mesh->n_wait[id] > 0)
            return id;
    return 0;
}

static enum dse_status run(struct noc_mesh *mesh, uint64_t max_cycle, struct dse_error *err)
{
    for (;;) {
        noc_step_events(mesh);
        if (mesh->n_unfinished == 0)
            return DSE_OK;
        if (max_cycle && mesh->now >= max_cycle)
            return dse_fail(err, DSE_LIMIT, "%u of %u transactions are not done after %llu cycles",
                            mesh->n_unfinished, mesh->program->n_transaction, (unsigned long long)max_cycle);
        DSE_TRY(noc_heed(mesh->result->n_stepped_cycle, mesh->cancel, err));
        mesh->changed = mesh->moved = false;
        noc_step_sources(mesh);
        DSE_TRY(arena_check(mesh->arena, "the routes of a multicast", err));
        noc_step_outputs(mesh);
        noc_step_inputs(mesh);
        mesh->result->n_active_cycle += mesh->moved;
        mesh->result->n_stepped_cycle++;
        if (mesh->moved || mesh->changed) {
            mesh->now++;
            noc_repeat_try(mesh, max_cycle ? max_cycle : UINT64_MAX);
            continue;
        }
        /* Nothing moved, so nothing will before the next count or DRAM access is over. */
        uint64_t next = noc_next_event(mesh);
        if (next == UINT64_MAX)
            return dse_fail(err, DSE_INTERNAL, "nothing moves after cycle %llu; transaction %u waits",
                            (unsigned long long)mesh->now, first_unfinished(mesh));
        mesh->now = max_cycle && next > max_cycle ? max_cycle : next;
    }
}

enum dse_status noc_simulate(const struct noc_config *config, const struct noc_program *program,
                             uint64_t max_cycle, const atomic_int *cancel, struct arena *arena,
                             const struct noc_trace *trace, struct noc_result *result, struct dse_error *err)
{
    *result = (struct noc_result){0};
    DSE_TRY(noc_check(config, program, cancel, err));
    struct noc_mesh mesh = {.config = config,
                            .program = program,
                            .trace = trace,
                            .cancel = cancel,
                            .result = result,
                            .arena = arena,
                            .n_router = config->columns * config->rows,
                            .n_port = noc_port_count(config),
                            .n_packet_flit = config->data_flits + 1};
    mesh.n_source = config->compute == NOC_COMPUTE_IN_TURN ? mesh.n_port : 2 * mesh.n_port;
    DSE_TRY(noc_routers_init(&mesh, err));
    DSE_TRY(noc_endpoints_init(&mesh, err));
    DSE_TRY(noc_depend_init(&mesh, err));
    DSE_TRY(noc_repeat_init(&mesh, err));
    result->flits_expected = flits_expected(&mesh);
    DSE_TRY(run(&mesh, max_cycle, err));
    result->dram_reads = mesh.dram.n_read;
    result->dram_writes = mesh.dram.n_write;
    result->dram_row_misses = mesh.dram.n_row_miss;
    if (result->flits_received != result->flits_expected)
        return dse_fail(err, DSE_INTERNAL, "%llu flits arrived at the ports, %llu are in the program",
                        (unsigned long long)result->flits_received,
                        (unsigned long long)result->flits_expected);
    return DSE_OK;
}
