/* Prices a plan: graph, times, bound, energy of MACs, memories and links. */
#include "engines/klotski/uop_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/uop/uop_stream.h"

const char *const uop_sums_name[3] = {"all", "chain", "reduce"};

/* The first layer whose tiles, or slices of them, do not fit their accelerators; n_layer: all do. */
static uint32_t first_misfit(const struct uop_network *network, const struct kc_machine *machine,
                             const struct uop_plan *plan, struct uop_need *need)
{
    uint32_t l = 0;
    for (; l < network->n_layer; l++) {
        const struct kc_tile *whole = &network->layer[l].whole;
        const struct kc_tile tile = uop_cut_tile(whole, uop_cut_clip(whole, plan->cut[l]));
        struct uop_cut cut = {tile.p, tile.q, tile.c, tile.k * kc_groups(&tile)};
        const bool fits = plan->sram != UOP_SRAM_SLICES || uop_slice_cut(machine, &tile, &cut);
        *need = uop_cut_need(&tile, cut);
        if (!fits || !uop_need_fits(need, plan->sram, machine))
            break;
    }
    return l;
}

static void say_misfit(const struct uop_network *network, const struct kc_machine *machine,
                       const struct uop_plan *plan, uint32_t l, const struct uop_need *need, char *reason,
                       size_t size)
{
    char shown[4][32];
    (void)snprintf(reason, size,
                   "%s of layer %s does not fit: it has %s outputs, %s inputs and %s weights, an "
                   "accelerator holds %s words (sram: %s)",
                   plan->sram == UOP_SRAM_SLICES ? "the smallest slice of a uop" : "a uop",
                   network->network->layer[network->layer[l].of].name,
                   text_thousands(need->output_word, shown[0], sizeof shown[0]),
                   text_thousands(need->input_word, shown[1], sizeof shown[1]),
                   text_thousands(need->weight_word, shown[2], sizeof shown[2]),
                   text_thousands(machine->sram_word, shown[3], sizeof shown[3]), uop_sram_name[plan->sram]);
}

bool uop_plan_fits(const struct uop_network *network, const struct kc_machine *machine,
                   const struct uop_plan *plan, char *reason, size_t size)
{
    struct uop_need need;
    const uint32_t l = first_misfit(network, machine, plan, &need);
    if (l < network->n_layer)
        say_misfit(network, machine, plan, l, &need, reason, size);
    return l == network->n_layer;
}

/* As the machine and its memories have it; errors with the line of the text. */
static enum dse_status check_plan(const struct uop_network *network, const struct kc_machine *machine,
                                  const struct uop_plan *plan, const char *path, struct dse_error *err)
{
    char reason[320];
    struct uop_need need;
    if (plan->schedule.n_core != machine->columns * machine->rows)
        return dse_fail_at(err, DSE_BAD_INPUT, path, plan->cores_line,
                           "there are lists for %u cores, and the machine has %u x %u", plan->schedule.n_core,
                           machine->columns, machine->rows);
    const uint32_t l = first_misfit(network, machine, plan, &need);
    if (l == network->n_layer)
        return DSE_OK;
    say_misfit(network, machine, plan, l, &need, reason, sizeof reason);
    return dse_fail_at(err, DSE_BAD_INPUT, path, plan->cut_line ? plan->cut_line[l] : 0, "%s", reason);
}

/* So many equal tiles by the machine's pricer. What its memories hand out has no count. */
static enum dse_status add_priced(const struct kc_machine *machine, const struct uop_shape *shape,
                                  struct uop_outcome *out, struct dse_error *err)
{
    struct uop_cost cost;
    const double n = (double)shape->n;
    DSE_TRY(machine->pricer.cost(machine->pricer.self, &shape->tile, &cost, err));
    out->mac_energy_j += n * cost.mac_j;
    out->buffer_energy_j += n * cost.memory_j;
    out->noc_energy_j += n * cost.network_j;
    out->sram_byte = NAN;
    return DSE_OK;
}

/* By MAESTRO's counts. */
static void add_counted(const struct kc_machine *machine, uint64_t n_mac, const struct kc_counts *count,
                        uint64_t times, struct uop_outcome *out)
{
    const struct kc_energy energy = kc_energy_of(machine, n_mac, count);
    const double n = (double)times;
    out->mac_energy_j += n * energy.mac_j;
    out->buffer_energy_j += n * (energy.l1_j + energy.l2_j);
    out->sram_byte +=
        n * machine->word_byte *
        ((double)count->input_l2_read + (double)count->input_l2_write + (double)count->filter_l2_read +
         (double)count->filter_l2_write + (double)count->output_l2_read + (double)count->output_l2_write);
}

/* A tile, or its slices one after the other. */
static enum dse_status add_tile(const struct kc_machine *machine, const struct kc_tile *tile,
                                struct uop_outcome *out, struct dse_error *err)
{
    struct uop_shape shape[UOP_SHAPE_MAX];
    const uint32_t n = uop_runs_as(machine, tile, shape);
    uint64_t n_slice = 0;
    out->n_mac += kc_macs(tile);
    for (uint32_t i = 0; i < n; i++) {
        struct kc_counts count;
        n_slice += shape[i].n;
        if (machine->pricer.cost) {
            DSE_TRY(add_priced(machine, &shape[i], out, err));
            continue;
        }
        kc_count(machine, &shape[i].tile, &count);
        add_counted(machine, kc_macs(&shape[i].tile), &count, shape[i].n, out);
    }
    out->n_slice += n_slice > 1 ? n_slice : 0;
    return DSE_OK;
}

/* Of MACs and of both memories of the uops. One that adds up or pools reads all of that and writes the
 * result. */
static enum dse_status add_computing(const struct kc_machine *machine, struct uop_outcome *out,
                                     struct dse_error *err)
{
    const struct uop_graph *graph = &out->graph;
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        const struct uop_cut_layer *layer = &graph->layer[graph->uop[u].layer];
        const struct uop_box box = uop_box_of(graph, u);
        const struct uop_layer *of = &graph->network->layer[graph->uop[u].layer];
        const bool adds = u % (graph->n_uop / graph->n_sample) - layer->first >= layer->n_tile;
        const uint64_t word = graph->uop[u].output_word;
        const struct kc_counts count = {.output_l2_read = word * (adds ? layer->n_ic : of->n_read),
                                        .output_l2_write = word};
        const struct kc_tile tile = uop_tile_of(&of->whole, &box);
        if (adds || of->n_operation)
            add_counted(machine, 0, &count, 1, out);
        else
            DSE_TRY(add_tile(machine, &tile, out, err));
        out->work_cycle += graph->uop[u].cycle;
    }
    return DSE_OK;
}

/* What messages have on their way: by flits one from a uop to all cores that wait for it, over the links of a
 * tree (along rows first), else one to each of these. */
struct traffic {
    const struct kc_machine *machine;
    bool is_tree;
    uint32_t *core;   /* (n_uop) */
    uint32_t *seen;   /* (cores) the uop + 1 that has sent there last */
    uint32_t *passed; /* (links) the uop + 1 whose tree has it */
    uint32_t *route;  /* (columns + rows) */
};

/* Links that the message of uop `u` to core `to` takes besides those that it has already. */
static uint32_t new_links(struct traffic *t, uint32_t u, uint32_t to)
{
    const uint32_t n = uop_route(t->machine, t->core[u], to, true, t->route);
    uint32_t n_new = 0;
    for (uint32_t i = 0; i < n; i++) {
        n_new += !t->is_tree || t->passed[t->route[i]] != u + 1;
        t->passed[t->route[i]] = u + 1;
    }
    return n_new;
}

/* What messages and the DRAM take from shared memories and put into them. */
static void add_transfers(const struct kc_machine *machine, double sent_word, double received_word,
                          struct uop_outcome *out)
{
    out->buffer_energy_j += sent_word * machine->send_energy_j + received_word * machine->receive_energy_j;
}

static void add_messages(struct traffic *t, struct uop_outcome *out)
{
    const struct uop_graph *graph = &out->graph;
    double word_hop = 0, sent_word = 0, received_word = 0;
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        uint64_t hops = 0, n_message = 0, n_core = 0;
        for (uint32_t k = graph->first_consumer[u]; k < graph->first_consumer[u + 1]; k++) {
            const uint32_t to = t->core[graph->consumer[k]];
            if (to == t->core[u] || t->seen[to] == u + 1)
                continue;
            t->seen[to] = u + 1;
            hops += new_links(t, u, to);
            n_message += !t->is_tree || n_message == 0;
            n_core++;
        }
        sent_word += (double)n_message * (double)graph->uop[u].output_word;
        received_word += (double)n_core * (double)graph->uop[u].output_word;
        out->n_message += n_message;
        out->n_hop += hops;
        word_hop += (double)hops * (double)graph->uop[u].output_word;
    }
    out->byte_hop = word_hop * t->machine->word_byte;
    out->noc_energy_j += word_hop * t->machine->hop_energy_j;
    add_transfers(t->machine, sent_word, received_word, out);
}

static enum dse_status add_traffic(const struct kc_machine *machine, const struct uop_plan *plan,
                                   struct arena *arena, struct uop_outcome *out, struct dse_error *err)
{
    const struct uop_schedule *schedule = &plan->schedule;
    struct traffic t = {
        .machine = machine,
        .is_tree = plan->transport == UOP_FLITS,
        .core = arena_alloc_unset(arena, out->graph.n_uop, sizeof *t.core),
        .seen = arena_alloc(arena, schedule->n_core, sizeof *t.seen),
        .passed = arena_alloc(arena, (size_t)schedule->n_core * UOP_SIDES, sizeof *t.passed),
        .route = arena_alloc_unset(arena, (size_t)machine->columns + machine->rows, sizeof *t.route)};
    DSE_TRY(arena_check(arena, "the messages of a schedule", err));
    for (uint32_t c = 0; c < schedule->n_core; c++)
        for (uint32_t i = schedule->first[c]; i < schedule->first[c + 1]; i++)
            t.core[schedule->order[i]] = c;
    add_messages(&t, out);
    return DSE_OK;
}

static enum dse_status find_bounds(const struct kc_machine *machine, const struct uop_plan *plan,
                                   const atomic_int *cancel, struct arena *arena, struct uop_outcome *out,
                                   struct dse_error *err)
{
    const struct uop_network *network = out->graph.network;
    struct uop_needs needs;
    if (plan->memory == UOP_FREE) {
        out->bound_cycle = uop_bound(&out->graph, machine->columns * machine->rows, arena);
        out->partition_bound_cycle = uop_partition_bound(network, machine, plan->batch);
    } else {
        DSE_TRY(uop_needs_of(&out->graph, machine, plan->sram, arena, &needs, err));
        DSE_TRY(uop_streams_of(&out->graph, machine, cancel, arena, &needs, err));
        out->bound_cycle = uop_memory_bound(&out->graph, &needs, machine, arena);
        out->partition_bound_cycle = uop_memory_partition_bound(network, machine, plan->batch);
    }
    return arena_check(arena, "the bound of a schedule", err);
}

static void add_dram(const struct kc_machine *machine, const struct uop_dram_use *use,
                     struct uop_outcome *out)
{
    out->n_message = use->n_message;
    for (uint32_t k = 0; k < machine->columns * machine->rows * UOP_SIDES; k++) {
        if (uop_link_to(machine, k) == k / UOP_SIDES)
            continue; /* the mesh ends there */
        out->n_hop += out->link[k].n_message;
        out->byte_hop += (double)out->link[k].byte;
    }
    out->noc_energy_j += out->byte_hop / machine->word_byte * machine->hop_energy_j;
    add_transfers(machine, (double)use->sent_word, (double)use->received_word, out);
    out->dram_read_byte = use->read_word * machine->word_byte;
    out->dram_written_byte = use->written_word * machine->word_byte;
    out->spilled_byte = use->spilled_word * machine->word_byte;
    out->dram_energy_j = (double)use->read_word * machine->dram_read_energy_j +
                         (double)use->written_word * machine->dram_write_energy_j;
}

enum dse_status uop_plan_evaluate(const struct uop_network *network, const struct kc_machine *machine,
                                  const struct uop_plan *plan, const char *path, const atomic_int *cancel,
                                  struct arena *arena, struct uop_outcome *out, struct dse_error *err)
{
    char reason[320];
    struct dse_error why = {0};
    const uint32_t n_core = machine->columns * machine->rows;
    struct kc_machine at = *machine;
    at.slices = plan->sram == UOP_SRAM_SLICES;
    *out = (struct uop_outcome){.n_mac = 0};
    DSE_TRY(check_plan(network, &at, plan, path, err));
    DSE_TRY(uop_graph_of(network, &at, plan->cut, plan->sums, plan->batch, arena, &out->graph, err));
    out->times.start = arena_alloc_unset(arena, out->graph.n_uop, sizeof *out->times.start);
    out->times.finish = arena_alloc_unset(arena, out->graph.n_uop, sizeof *out->times.finish);
    out->link = arena_alloc_unset(arena, (size_t)n_core * UOP_SIDES, sizeof *out->link);
    DSE_TRY(arena_check(arena, "the times of a schedule", err));
    out->path_cycle = uop_asap(&out->graph, 0, out->graph.n_uop, out->times.start);
    DSE_TRY(find_bounds(&at, plan, cancel, arena, out, err));
    const struct uop_setting setting = {plan->transport, plan->memory, plan->sram, cancel};
    enum dse_status status =
        uop_run(&out->graph, &at, &plan->schedule, &setting, arena, &out->times, out->link, &why);
    if (status != DSE_OK)
        return dse_fail_at(err, status, path, plan->cores_line, "%s", why.text);
    if (!uop_times_check(&out->graph, &plan->schedule, &out->times, arena, reason, sizeof reason))
        return dse_fail(err, DSE_INTERNAL, "the times of a schedule do not check: %s", reason);
    DSE_TRY(add_computing(&at, out, err));
    if (plan->memory == UOP_DRAM)
        add_dram(&at, &out->times.dram, out);
    else
        DSE_TRY(add_traffic(&at, plan, arena, out, err));
    out->leakage_energy_j = at.leakage_w * (double)out->times.cycle / at.clock_hz;
    out->energy_j = out->mac_energy_j + out->buffer_energy_j + out->noc_energy_j + out->dram_energy_j +
                    out->leakage_energy_j;
    const double time = (double)out->times.cycle * n_core;
    out->busy_share = (double)out->work_cycle / time;
    out->mac_share = (double)out->n_mac / (time * (double)kc_mac_count(&at));
    return DSE_OK;
}

uint32_t uop_part_count(const struct uop_graph *graph)
{
    const struct network *network = graph->network->network;
    return network->n_part ? network->n_part : 1;
}

struct uop_part uop_part_of(const struct uop_graph *graph, const struct uop_times *times, uint32_t i)
{
    const struct network *network = graph->network->network;
    const struct network_part whole = {network->name, 0, network->n_layer};
    const struct network_part *of = network->n_part ? &network->part[i] : &whole;
    struct uop_part part = {.name = of->name, .start_cycle = UINT64_MAX};
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        const uint32_t l = graph->network->layer[graph->uop[u].layer].of;
        if (l < of->first_layer || l - of->first_layer >= of->n_layer)
            continue;
        part.start_cycle = times->start[u] < part.start_cycle ? times->start[u] : part.start_cycle;
        part.finish_cycle = times->finish[u] > part.finish_cycle ? times->finish[u] : part.finish_cycle;
        part.work_cycle += graph->uop[u].cycle;
        part.n_uop++;
    }
    part.start_cycle = part.n_uop ? part.start_cycle : 0;
    return part;
}
