/* Which transactions may start: counts of open dependencies, lists of dependents, and per source a heap of
 * the ready ones, lowest number first. A static order is a dependency of each count on the one before. */
#include "costmodel/noc/noc_mesh.h"

static void make_ready(struct noc_mesh *mesh, uint32_t id)
{
    uint32_t s = noc_source_of(mesh, id);
    struct noc_source *source = &mesh->source[s];
    uint32_t *heap = mesh->ready + source->first_ready;
    uint32_t i = source->n_ready++;
    for (; i > 0 && heap[(i - 1) / 2] > id; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = id;
    if (source->state == NOC_IDLE)
        noc_mark(mesh->source_active, s);
}

uint32_t noc_depend_next(struct noc_mesh *mesh, uint32_t s)
{
    struct noc_source *source = &mesh->source[s];
    uint32_t *heap = mesh->ready + source->first_ready;
    uint32_t smallest = heap[0], n = --source->n_ready, moved = heap[n], i = 0;
    for (uint32_t child = 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (moved <= heap[child])
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
    return smallest;
}

/* One dependency less for each of a run of dependents. */
static void release(struct noc_mesh *mesh, uint32_t first, uint32_t end)
{
    for (uint32_t k = first; k < end; k++)
        if (--mesh->n_wait[mesh->dependent[k]] == 0)
            make_ready(mesh, mesh->dependent[k]);
}

static uint32_t actor_of_dependent(const struct noc_mesh *mesh, uint32_t k)
{
    return mesh->program->transaction[mesh->dependent[k]].actor;
}

void noc_depend_arrived(struct noc_mesh *mesh, uint32_t transaction, uint32_t port)
{
    uint32_t low = mesh->first_dependent[transaction], end = mesh->first_dependent[transaction + 1],
             high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (actor_of_dependent(mesh, middle) < port)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < end && actor_of_dependent(mesh, high) == port; high++)
        ;
    release(mesh, low, high);
}

void noc_depend_done(struct noc_mesh *mesh, uint32_t transaction, uint64_t cycle, const uint8_t *outputs)
{
    mesh->n_unfinished--;
    if (mesh->trace && mesh->trace->finish)
        mesh->trace->finish[transaction] = cycle;
    if (cycle > mesh->result->cycle)
        mesh->result->cycle = cycle;
    uint32_t first = mesh->first_dependent[transaction], end = mesh->first_dependent[transaction + 1];
    if (!outputs) {
        release(mesh, first, end);
        return;
    }
    for (uint32_t k = first; k < end; k++) {
        uint32_t actor = actor_of_dependent(mesh, k);
        bool told = actor < mesh->n_router && (outputs[actor] >> NOC_LOCAL & 1);
        if (!told)
            release(mesh, k, k + 1);
    }
}

/* Ids ordered by port, source, id, into `ready`; each source's part begins at its first_ready. */
static enum dse_status order_by_port(struct noc_mesh *mesh, struct dse_error *err)
{
    const struct noc_program *program = mesh->program;
    uint32_t at = 0;
    for (uint32_t id = 0; id < program->n_transaction; id++)
        mesh->source[noc_source_of(mesh, id)].n_ready++;
    for (uint32_t port = 0; port < mesh->n_port; port++)
        for (uint32_t s = port; s < mesh->n_source; s += mesh->n_port) {
            mesh->source[s].first_ready = at;
            at += mesh->source[s].n_ready;
            mesh->source[s].n_ready = 0;
        }
    for (uint32_t id = 0; id < program->n_transaction; id++) {
        struct noc_source *source = &mesh->source[noc_source_of(mesh, id)];
        DSE_TRY(noc_heed(id, mesh->cancel, err));
        mesh->ready[source->first_ready + source->n_ready++] = id;
    }
    return DSE_OK;
}

/* The count that transaction ready[i] has to wait for by the order alone, or NOC_NONE. */
static uint32_t count_before(const struct noc_mesh *mesh, uint32_t i)
{
    if (mesh->config->compute != NOC_COMPUTE_STATIC)
        return NOC_NONE;
    uint32_t s = noc_source_of(mesh, mesh->ready[i]);
    return s >= mesh->n_port && i > mesh->source[s].first_ready ? mesh->ready[i - 1] : NOC_NONE;
}

static enum dse_status list_dependents(struct noc_mesh *mesh, struct dse_error *err)
{
    const struct noc_program *program = mesh->program;
    uint32_t n = program->n_transaction;
    /* first_dependent[d + 1] counts, then points to where the next dependent of d goes, in the end behind its
     * last. */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = mesh->ready[i], before = count_before(mesh, i);
        const struct noc_transaction *t = &program->transaction[id];
        DSE_TRY(noc_heed(i, mesh->cancel, err));
        mesh->n_wait[id] = t->n_dependency + (before != NOC_NONE);
        for (uint32_t k = 0; k < t->n_dependency; k++)
            mesh->first_dependent[program->dependency[t->first_dependency + k] + 1]++;
        if (before != NOC_NONE)
            mesh->first_dependent[before + 1]++;
    }
    uint32_t sum = 0;
    for (uint32_t id = 1; id <= n; id++) {
        uint32_t count = mesh->first_dependent[id];
        mesh->first_dependent[id] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = mesh->ready[i], before = count_before(mesh, i);
        const struct noc_transaction *t = &program->transaction[id];
        DSE_TRY(noc_heed(i, mesh->cancel, err));
        for (uint32_t k = 0; k < t->n_dependency; k++)
            mesh->dependent[mesh->first_dependent[program->dependency[t->first_dependency + k] + 1]++] = id;
        if (before != NOC_NONE)
            mesh->dependent[mesh->first_dependent[before + 1]++] = id;
    }
    return DSE_OK;
}

/* Of each source's ids, those that wait for nothing stay; in ascending order they are a heap. */
static void keep_ready(struct noc_mesh *mesh)
{
    for (uint32_t s = 0; s < mesh->n_source; s++) {
        struct noc_source *source = &mesh->source[s];
        uint32_t *id = mesh->ready + source->first_ready, n = source->n_ready;
        source->n_ready = 0;
        for (uint32_t k = 0; k < n; k++)
            if (mesh->n_wait[id[k]] == 0)
                id[source->n_ready++] = id[k];
        if (source->n_ready > 0)
            noc_mark(mesh->source_active, s);
    }
}

enum dse_status noc_depend_init(struct noc_mesh *mesh, struct dse_error *err)
{
    const struct noc_program *program = mesh->program;
    uint64_t n_dependent = 0;
    for (uint32_t id = 0; id < program->n_transaction; id++)
        n_dependent +=
            program->transaction[id].n_dependency +
            (mesh->config->compute == NOC_COMPUTE_STATIC && program->transaction[id].operation == NOC_COUNT);
    if (n_dependent > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "%llu dependencies; at most 2^32 - 1 can be simulated",
                        (unsigned long long)n_dependent);
    mesh->n_unfinished = program->n_transaction;
    mesh->n_wait = arena_alloc_unset(mesh->arena, program->n_transaction, sizeof *mesh->n_wait);
    mesh->ready = arena_alloc_unset(mesh->arena, program->n_transaction, sizeof *mesh->ready);
    mesh->first_dependent =
        arena_alloc(mesh->arena, (size_t)program->n_transaction + 1, sizeof *mesh->first_dependent);
    mesh->dependent = arena_alloc_unset(mesh->arena, n_dependent, sizeof *mesh->dependent);
    DSE_TRY(arena_check(mesh->arena, "the dependencies of transactions", err));
    DSE_TRY(order_by_port(mesh, err));
    DSE_TRY(list_dependents(mesh, err));
    keep_ready(mesh);
    return DSE_OK;
}
