/* The execution graph of a schedule of uops: rows by accelerator and start, of times that are known. */
#include <string.h>

#include "base/timeline_data.h"
#include "engines/klotski/klotski_task.h"

enum { NAME_MAX_BYTE = 160 };

static const char *copy(struct arena *arena, const char *text)
{
    return arena_copy_text(arena, text, strlen(text));
}

/* "conv1/0#1" is of the layer conv1. */
static const char *layer_of(struct arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/');
    return arena_copy_text(arena, name, slash ? (size_t)(slash - name) : strlen(name));
}

/* The uops of a layer are one behind the other, so its name is kept for the next. */
static void put_rows(const struct uop_schedule *by_start, const struct uop_outcome *outcome,
                     struct arena *arena, struct timeline_uop *row)
{
    const struct uop_graph *graph = &outcome->graph;
    uint32_t n = 0;
    for (uint32_t c = 0; c < by_start->n_core; c++)
        for (uint32_t i = by_start->first[c]; i < by_start->first[c + 1]; i++) {
            const uint32_t u = by_start->order[i];
            const int64_t layer = graph->uop[u].layer;
            char name[NAME_MAX_BYTE];
            (void)uop_name_print(graph, u, name, sizeof name);
            const bool known = n > 0 && row[n - 1].layer_number == layer;
            row[n] = (struct timeline_uop){.uop = copy(arena, name),
                                           .layer = known ? row[n - 1].layer : layer_of(arena, name),
                                           .layer_number = layer,
                                           .core = c,
                                           .start = (int64_t)outcome->times.start[u],
                                           .finish = (int64_t)outcome->times.finish[u]};
            n++;
        }
}

enum dse_status uop_plan_timeline(const struct architecture *arch, const struct kc_machine *machine,
                                  const struct uop_plan *plan, const struct uop_outcome *outcome,
                                  const uint32_t *core, const char *title, struct arena *arena,
                                  struct timeline *timeline, struct dse_error *err)
{
    const struct uop_graph *graph = &outcome->graph;
    struct uop_schedule by_start;
    struct text_buffer rules;
    if (outcome->work_cycle >= UINT64_C(1) << 60 || outcome->times.cycle >= UINT64_C(1) << 60)
        return dse_fail(err, DSE_LIMIT, "a timeline has less than 2^60 cycles");
    DSE_TRY(klotski_lists(outcome->times.start, core, graph->n_uop, plan->schedule.n_core, arena, &by_start,
                          err));
    struct timeline_uop *row = arena_alloc(arena, graph->n_uop, sizeof *row);
    DSE_TRY(arena_check(arena, "a timeline", err));
    put_rows(&by_start, outcome, arena, row);
    text_init(&rules);
    text_append(&rules, "%s, %s%s", uop_transport_name[plan->transport],
                uop_firing_name[plan->schedule.firing], plan->memory == UOP_DRAM ? ", dram" : "");
    *timeline = (struct timeline){
        .kind = TIMELINE_UOPS,
        .title = copy(arena, title),
        .network = copy(arena, graph->network->network->name),
        .architecture = copy(arena, arch->name),
        .rules = rules.failed ? NULL : copy(arena, rules.data),
        .n_core = plan->schedule.n_core,
        .columns = machine->columns,
        .batch = plan->batch,
        .cycle = (int64_t)outcome->times.cycle,
        .work_cycle = (int64_t)outcome->work_cycle,
        .clock_hz = machine->clock_hz,
        .energy_j = outcome->energy_j,
        .n_uop = graph->n_uop,
        .uop = row,
    };
    text_free(&rules);
    if (!timeline->rules)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a timeline");
    return arena_check(arena, "a timeline", err);
}
