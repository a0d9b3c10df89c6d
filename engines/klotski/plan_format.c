/* Schedules of uops as `dse eval` sees them: read, evaluated, and the reports summary, uops, edges and links.
 */
#include <math.h>
#include <stdio.h>

#include "costmodel/uop/accounting_maestro_kc.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/klotski_task.h"

enum { SHOWN_MAX = 64, NAME_MAX_BYTE = 160, LABEL = 12 };

struct evaluated {
    const struct architecture *arch;
    const char *path; /* of the text */
    struct kc_machine machine;
    struct uop_network network;
    struct uop_plan plan;
    struct uop_outcome outcome;
    uint32_t *core; /* (n_uop) */
};

static double seconds(const struct evaluated *e, uint64_t cycle)
{
    return (double)cycle / e->machine.clock_hz;
}

static void list_all(const struct evaluated *e, struct cells *rows)
{
    const struct uop_outcome *o = &e->outcome;
    cells_list_count(rows, "cycles", o->times.cycle);
    cells_list_real(rows, "latency_s", seconds(e, o->times.cycle));
    cells_list_count(rows, "bound_cycles", o->bound_cycle);
    cells_list_real(rows, "bound_latency_ratio", (double)o->times.cycle / (double)o->bound_cycle);
    cells_list_count(rows, "uops", o->graph.n_uop);
    cells_list_count(rows, "edges", o->graph.first_producer[o->graph.n_uop]);
    cells_list_count(rows, "work_cycles", o->work_cycle);
    cells_list_count(rows, "critical_path_cycles", o->path_cycle);
    cells_list_real(rows, "core_busy", o->busy_share);
    cells_list_real(rows, "utilization", o->mac_share);
    cells_list_real(rows, "energy_j", o->energy_j);
    cells_list_real(rows, "energy_j:mac", o->mac_energy_j);
    cells_list_real(rows, "energy_j:buffer", o->buffer_energy_j);
    cells_list_real(rows, "energy_j:noc", o->noc_energy_j);
    cells_list_real(rows, "energy_j:dram", o->dram_energy_j);
    if (o->leakage_energy_j > 0)
        cells_list_real(rows, "energy_leakage_j", o->leakage_energy_j);
    cells_list_count(rows, "messages", o->n_message);
    cells_list_count(rows, "hops", o->n_hop);
    cells_list_real(rows, "byte_hops", o->byte_hop);
    cells_list_count(rows, "dram_read_bytes", o->dram_read_byte);
    cells_list_count(rows, "dram_written_bytes", o->dram_written_byte);
    cells_list_count(rows, "spilled_bytes", o->spilled_byte);
    cells_list_count(rows, "cores", e->plan.schedule.n_core);
    cells_list_count(rows, "batch", e->plan.batch);
    if (e->plan.sram == UOP_SRAM_SLICES)
        cells_list_count(rows, "slices", o->n_slice);
}

static enum dse_status report_summary(const void *schedule, struct report *report, struct dse_error *err)
{
    const struct evaluated *e = schedule;
    const struct uop_outcome *o = &e->outcome;
    struct text_buffer *out = &report->head;
    char a[SHOWN_MAX], b[SHOWN_MAX];
    (void)err;
    cells_init(&report->rows, report_list_column, REPORT_LIST_COLUMNS);
    list_all(e, &report->rows);
    text_append(out, "%s, batch %u, on %s, %u accelerators\n", e->network.network->name, e->plan.batch,
                e->arch->name, e->plan.schedule.n_core);
    text_append(out, "  %-*s  %s (%s cycles)\n", LABEL, "latency",
                text_si(seconds(e, o->times.cycle), "s", a, sizeof a),
                text_thousands(o->times.cycle, b, sizeof b));
    text_append(out, "  %-*s  %s cycles; the latency is %.3f times that\n", LABEL, "lower bound",
                text_thousands(o->bound_cycle, a, sizeof a), (double)o->times.cycle / (double)o->bound_cycle);
    text_append(out, "  %-*s  %u, %s cycles together, %s on the longest path\n", LABEL, "uops",
                o->graph.n_uop, text_thousands(o->work_cycle, a, sizeof a),
                text_thousands(o->path_cycle, b, sizeof b));
    if (e->plan.sram == UOP_SRAM_SLICES)
        text_append(out, "  %-*s  %s, as which uops that are larger than a memory run\n", LABEL, "slices",
                    text_thousands(o->n_slice, a, sizeof a));
    text_append(out, "  %-*s  run uops %.1f %% of the time; PEs do MACs %.1f %%\n", LABEL, "accelerators",
                100 * o->busy_share, 100 * o->mac_share);
    text_append(out, "  %-*s  %s, %s hops, %s x hops\n", LABEL, "messages",
                text_thousands(o->n_message, a, sizeof a), text_thousands(o->n_hop, b, sizeof b),
                text_bytes(o->byte_hop, (char[SHOWN_MAX]){0}, SHOWN_MAX));
    for (uint32_t i = 0; i < uop_part_count(&o->graph) && e->network.network->n_part; i++) {
        const struct uop_part part = uop_part_of(&o->graph, &o->times, i);
        text_append(out, "  %-*s  %s, cycles %s to %s\n", LABEL, i ? "" : "networks", part.name,
                    text_thousands(part.start_cycle, a, sizeof a),
                    text_thousands(part.finish_cycle, b, sizeof b));
    }
    if (e->plan.memory == UOP_DRAM)
        text_append(out, "  %-*s  %s read, %s written, %s of them spilled; busy %.1f %% of the time\n", LABEL,
                    "DRAM", text_bytes((double)o->dram_read_byte, a, sizeof a),
                    text_bytes((double)o->dram_written_byte, b, sizeof b),
                    text_bytes((double)o->spilled_byte, (char[SHOWN_MAX]){0}, SHOWN_MAX),
                    100 * (double)o->times.dram.busy_cycle / (double)o->times.cycle);
    text_append(out, "  %-*s  %s\n", LABEL, "energy", text_si(o->energy_j, "J", a, sizeof a));
    return DSE_OK;
}

static const struct cell_column uop_column[] = {
    CELL_COLUMN("uop", "uop", LOOK_TEXT),         CELL_COLUMN("core", "core", LOOK_COUNT),
    CELL_COLUMN("start", "start", LOOK_COUNT),    CELL_COLUMN("finish", "finish", LOOK_COUNT),
    CELL_COLUMN("latency", "cycles", LOOK_COUNT),
};

static enum dse_status report_uops(const void *schedule, struct report *report, struct dse_error *err)
{
    const struct evaluated *e = schedule;
    char name[NAME_MAX_BYTE];
    (void)err;
    cells_init(&report->rows, uop_column, sizeof uop_column / sizeof uop_column[0]);
    for (uint32_t u = 0; u < e->outcome.graph.n_uop; u++) {
        (void)uop_name_print(&e->outcome.graph, u, name, sizeof name);
        cells_text(&report->rows, name);
        cells_count(&report->rows, e->core[u]);
        cells_count(&report->rows, e->outcome.times.start[u]);
        cells_count(&report->rows, e->outcome.times.finish[u]);
        cells_count(&report->rows, e->outcome.graph.uop[u].cycle);
    }
    return DSE_OK;
}

static const struct cell_column edge_column[] = {
    CELL_COLUMN("from", "from", LOOK_TEXT),
    CELL_COLUMN("to", "to", LOOK_TEXT),
    CELL_COLUMN("bytes", "bytes", LOOK_COUNT),
};

static enum dse_status report_edges(const void *schedule, struct report *report, struct dse_error *err)
{
    const struct evaluated *e = schedule;
    const struct uop_graph *graph = &e->outcome.graph;
    char name[NAME_MAX_BYTE];
    (void)err;
    cells_init(&report->rows, edge_column, sizeof edge_column / sizeof edge_column[0]);
    for (uint32_t u = 0; u < graph->n_uop; u++)
        for (uint32_t k = graph->first_consumer[u]; k < graph->first_consumer[u + 1]; k++) {
            (void)uop_name_print(graph, u, name, sizeof name);
            cells_text(&report->rows, name);
            (void)uop_name_print(graph, graph->consumer[k], name, sizeof name);
            cells_text(&report->rows, name);
            cells_count(&report->rows, graph->uop[u].output_word * e->machine.word_byte);
        }
    return DSE_OK;
}

static const struct cell_column network_column[] = {
    CELL_COLUMN("network", "network", LOOK_TEXT),   CELL_COLUMN("start", "start", LOOK_COUNT),
    CELL_COLUMN("finish", "finish", LOOK_COUNT),    CELL_COLUMN("uops", "uops", LOOK_COUNT),
    CELL_COLUMN("work_cycles", "work", LOOK_COUNT),
};

static enum dse_status report_networks(const void *schedule, struct report *report, struct dse_error *err)
{
    const struct evaluated *e = schedule;
    const struct uop_outcome *o = &e->outcome;
    (void)err;
    cells_init(&report->rows, network_column, sizeof network_column / sizeof network_column[0]);
    for (uint32_t i = 0; i < uop_part_count(&o->graph); i++) {
        const struct uop_part part = uop_part_of(&o->graph, &o->times, i);
        cells_text(&report->rows, part.name);
        cells_count(&report->rows, part.start_cycle);
        cells_count(&report->rows, part.finish_cycle);
        cells_count(&report->rows, part.n_uop);
        cells_count(&report->rows, part.work_cycle);
    }
    return DSE_OK;
}

static const struct cell_column link_column[] = {
    CELL_COLUMN("from", "from", LOOK_COUNT),
    CELL_COLUMN("to", "to", LOOK_COUNT),
    CELL_COLUMN("bytes", "bytes", LOOK_COUNT),
    CELL_COLUMN("busy_cycles", "busy cycles", LOOK_COUNT),
};

static enum dse_status report_links(const void *schedule, struct report *report, struct dse_error *err)
{
    const struct evaluated *e = schedule;
    (void)err;
    cells_init(&report->rows, link_column, sizeof link_column / sizeof link_column[0]);
    for (uint32_t k = 0; k < e->plan.schedule.n_core * UOP_SIDES; k++) {
        const uint32_t from = k / UOP_SIDES, to = uop_link_to(&e->machine, k);
        if (from == to)
            continue; /* the mesh ends there */
        cells_count(&report->rows, from);
        cells_count(&report->rows, to);
        cells_count(&report->rows, e->outcome.link[k].byte);
        cells_count(&report->rows, e->outcome.link[k].busy_cycle);
    }
    return DSE_OK;
}

/* Not given: what the text says. */
static const struct engine_option option[KLOTSKI_N_NETWORK] = {KLOTSKI_OPTIONS_NETWORK};

static enum dse_status evaluate_on(const struct schedule_request *request, struct arena *arena,
                                   struct evaluated *e, struct dse_error *err)
{
    enum uop_vector vector;
    uint32_t n_sample;
    if (request->accounting && request->accounting != &accounting_maestro_kc)
        return dse_fail(err, DSE_BAD_INPUT, "accounting %s prices no schedules of uops, only %s does",
                        request->accounting->name, accounting_maestro_kc.name);
    DSE_TRY(uop_vector_read(request->path, request->text, request->length, &vector, err));
    DSE_TRY(uop_network_for(request->network, request->batch, vector, arena, &e->network, &n_sample, err));
    DSE_TRY(uop_plan_read(request->path, request->text, request->length, &e->network, n_sample, arena,
                          &e->plan, err));
    if (!isnan(request->option[KLOTSKI_TRANSPORT]))
        e->plan.transport = (enum uop_transport)request->option[KLOTSKI_TRANSPORT];
    if (!isnan(request->option[KLOTSKI_FIRING]))
        e->plan.schedule.firing = (enum uop_firing)request->option[KLOTSKI_FIRING];
    if (!isnan(request->option[KLOTSKI_MEMORY]))
        e->plan.memory = (enum uop_memory)request->option[KLOTSKI_MEMORY];
    DSE_TRY(
        uop_plan_evaluate(&e->network, &e->machine, &e->plan, request->path, NULL, arena, &e->outcome, err));
    e->core = arena_alloc(arena, e->outcome.graph.n_uop, sizeof *e->core);
    DSE_TRY(arena_check(arena, "a schedule", err));
    for (uint32_t c = 0; c < e->plan.schedule.n_core; c++)
        for (uint32_t i = e->plan.schedule.first[c]; i < e->plan.schedule.first[c + 1]; i++)
            e->core[e->plan.schedule.order[i]] = c;
    return DSE_OK;
}

static enum dse_status evaluate(const struct schedule_request *request, struct arena *arena, void **schedule,
                                struct dse_error *err)
{
    struct evaluated *e = arena_alloc(arena, 1, sizeof *e);
    struct node_pricer *pricer;
    DSE_TRY(arena_check(arena, "a schedule", err));
    *schedule = e;
    e->arch = request->arch;
    e->path = request->path;
    enum dse_status status = node_pricer_new(request->arch, NULL, NULL, arena, &e->machine, &pricer, err);
    if (status == DSE_OK)
        status = evaluate_on(request, arena, e, err);
    node_pricer_delete(pricer);
    e->machine.pricer = (struct uop_pricer){NULL};
    return status;
}

/* Tiles that leave lanes of input channels idle, though the layer has more of these. */
static void warn(const void *schedule, struct text_buffer *out)
{
    const struct evaluated *e = schedule;
    uint32_t n = 0, first = 0;
    if (e->machine.n_mac)
        return; /* a mapper lays channels where it likes */
    for (uint32_t l = e->network.n_layer; l-- > 0;) {
        const uint32_t ic = e->outcome.graph.layer[l].cut.ic;
        if (ic < e->network.layer[l].whole.c && ic % e->machine.c_lane) {
            n++;
            first = l;
        }
    }
    if (n)
        text_append(out,
                    "%s:%d: layer %s has tiles of %u input channels, no multiple of the %u lanes, so some of "
                    "these are idle; %u layer%s so cut\n",
                    e->path, e->plan.cut_line[first],
                    e->network.network->layer[e->network.layer[first].of].name,
                    e->outcome.graph.layer[first].cut.ic, e->machine.c_lane, n, n == 1 ? " is" : "s are");
}

static enum dse_status timeline_of(const void *schedule, const char *title, struct arena *arena,
                                   struct timeline *timeline, struct dse_error *err)
{
    const struct evaluated *e = schedule;
    return uop_plan_timeline(e->arch, &e->machine, &e->plan, &e->outcome, e->core, title, arena, timeline,
                             err);
}

static const struct schedule_report reports[] = {
    {"summary", "cycles, bound, uops, use of the accelerators, messages, energy", NULL, report_summary},
    {"uops", "when and where each uop runs", NULL, report_uops},
    {"edges", "which uop waits for which, and the bytes between them", NULL, report_edges},
    {"networks", "when each of several networks is done", NULL, report_networks},
    {"links", "bytes over each link between accelerators, and cycles in which it is busy", NULL,
     report_links},
};

const struct schedule_format schedule_format_klotski = {
    .name = "schedule of uops",
    .key = "uops",
    .option = option,
    .n_option = KLOTSKI_N_NETWORK,
    .report = reports,
    .n_report = sizeof reports / sizeof reports[0],
    .evaluate = evaluate,
    .warn = warn,
    .timeline = timeline_of,
};
