/* Lists are dealt out by counting, so a change costs no sorting. */
#include "engines/klotski/placing.h"

#include <stdlib.h>

#include "engines/klotski/order/list_schedule.h"

struct placing_key {
    uint64_t key;
    uint32_t uop;
};

static int compare(const void *a, const void *b)
{
    const struct placing_key *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->uop > y->uop) - (x->uop < y->uop);
}

/* By rising keys, of equal ones by number: the smaller of two never waits for the larger. */
static void sort(struct placing *p, const uint64_t *key, bool falling)
{
    for (uint32_t u = 0; u < p->graph->n_uop; u++)
        p->key[u] = (struct placing_key){falling ? ~key[u] : key[u], u};
    qsort(p->key, p->graph->n_uop, sizeof *p->key, compare);
    for (uint32_t i = 0; i < p->graph->n_uop; i++)
        p->order[i] = p->key[i].uop;
}

enum dse_status placing_new(const struct klotski_task *task, const struct uop_graph *graph,
                            struct arena *arena, struct placing *out, struct dse_error *err)
{
    const uint32_t n_uop = graph->n_uop;
    *out = (struct placing){.task = task, .graph = graph};
    out->order = arena_alloc_unset(arena, n_uop, sizeof *out->order);
    out->core = arena_alloc_unset(arena, n_uop, sizeof *out->core);
    out->first = arena_alloc_unset(arena, task->n_core + (size_t)1, sizeof *out->first);
    out->list = arena_alloc_unset(arena, n_uop, sizeof *out->list);
    out->times.start = arena_alloc_unset(arena, n_uop, sizeof *out->times.start);
    out->times.finish = arena_alloc_unset(arena, n_uop, sizeof *out->times.finish);
    out->link = arena_alloc_unset(arena, (size_t)task->n_core * UOP_SIDES, sizeof *out->link);
    out->key = arena_alloc_unset(arena, n_uop, sizeof *out->key);
    return arena_check(arena, "a placing of uops", err);
}

enum dse_status placing_list(struct placing *placing, uint64_t limit, struct arena *scratch, uint64_t *cycle,
                             struct dse_error *err)
{
    const struct uop_graph *graph = placing->graph;
    uint64_t *priority = placing->times.finish, *start = placing->times.start;
    struct list_scheduler *list = list_scheduler_new(graph, placing->task->n_core, scratch);
    DSE_TRY(arena_check(scratch, "a list schedule", err));
    list_b_level(graph, 0, graph->n_uop, priority);
    *cycle = list_schedule(list, 0, graph->n_uop, priority, limit, start, placing->core);
    return DSE_OK;
}

void placing_by_starts(struct placing *placing)
{
    sort(placing, placing->times.start, false);
}

/* Uops `first` to `end` - 1, which are of one layer and sample. A uop belongs to the block that the middle of
 * its work lies in. */
static void deal(const struct uop_graph *graph, const struct core_mesh *mesh, uint32_t first, uint32_t end,
                 uint32_t *core)
{
    const uint32_t n_core = mesh->columns * mesh->rows;
    double work = 0, before = 0;
    for (uint32_t u = first; u < end; u++)
        work += (double)graph->uop[u].cycle;
    for (uint32_t u = first; u < end; u++) {
        const double cycle = (double)graph->uop[u].cycle;
        const uint32_t block = work > 0 ? (uint32_t)((before + cycle / 2) / work * n_core) : 0;
        core[u] = core_zigzag(mesh, block < n_core ? block : n_core - 1);
        before += cycle;
    }
}

void placing_blocks(struct placing *placing)
{
    const struct uop_graph *graph = placing->graph;
    const struct kc_machine *machine = &placing->task->machine;
    const struct core_mesh mesh = {machine->columns, machine->rows};
    for (uint32_t first = 0, end; first < graph->n_uop; first = end) {
        for (end = first; end < graph->n_uop && graph->uop[end].layer == graph->uop[first].layer &&
                          graph->uop[end].sample == graph->uop[first].sample;)
            end++;
        deal(graph, &mesh, first, end, placing->core);
    }
    list_b_level(graph, 0, graph->n_uop, placing->times.start);
    sort(placing, placing->times.start, true);
}

void placing_lists(struct placing *placing, struct uop_schedule *schedule)
{
    const uint32_t n_core = placing->task->n_core, n_uop = placing->graph->n_uop;
    uint32_t *first = placing->first;
    for (uint32_t c = 0; c <= n_core; c++)
        first[c] = 0;
    for (uint32_t u = 0; u < n_uop; u++)
        first[placing->core[u]]++;
    for (uint32_t c = 1; c <= n_core; c++) /* ends */
        first[c] += first[c - 1];
    for (uint32_t i = n_uop; i-- > 0;) {
        const uint32_t u = placing->order[i];
        placing->list[--first[placing->core[u]]] = u;
    }
    schedule->n_core = n_core;
    schedule->first = first;
    schedule->order = placing->list;
}

enum dse_status placing_guess(struct placing *placing, struct uop_plan *plan, struct arena *scratch,
                              uint64_t *cycle, struct dse_error *err)
{
    placing_lists(placing, &plan->schedule);
    const struct uop_setting setting = {plan->transport, plan->memory, plan->sram, NULL};
    DSE_TRY(uop_run_guess(placing->graph, &placing->task->rough, &plan->schedule, &setting, scratch,
                          &placing->times, placing->link, err));
    *cycle = placing->times.cycle;
    return DSE_OK;
}
