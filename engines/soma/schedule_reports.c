/* Schedules of the SoMa family as `dse eval` sees them: how their text is read, and the reports summary,
 * tiles and tensors. */
#include "engines/soma/schedule_reports.h"

#include <math.h>
#include <stdio.h>

#include "costmodel/fused/accounting_soma.h"
#include "costmodel/model/network_cut.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/task.h"

enum { SHOWN_MAX = 64, LABEL = 12 };

/* ---- tiles and tensors ---- */

static const struct cell_column tile_column[] = {
    CELL_COLUMN("position", "position", LOOK_COUNT),
    CELL_COLUMN("layer", "layer", LOOK_TEXT),
    CELL_COLUMN("tile", "tile", LOOK_COUNT),
    CELL_COLUMN("layer_group", "layer group", LOOK_COUNT),
    CELL_COLUMN("group", "group", LOOK_COUNT),
    CELL_COLUMN("b", "b", LOOK_COUNT),
    CELL_COLUMN("k", "k", LOOK_COUNT),
    CELL_COLUMN("h", "h", LOOK_COUNT),
    CELL_COLUMN("w", "w", LOOK_COUNT),
    CELL_COLUMN("cycle", "cycles", LOOK_COUNT),
    CELL_ENERGY("energy_j", "energy"),
    CELL_COLUMN("start_cycle", "start", LOOK_COUNT),
    CELL_COLUMN("finish_cycle", "finish", LOOK_COUNT),
    CELL_COLUMN("stall_cycle", "stall", LOOK_COUNT),
    CELL_COLUMN("living_byte", "living bytes", LOOK_COUNT),
    CELL_COLUMN("part", "part", LOOK_TEXT), /* it last: of layers in parts alone */
};

/* Columns, of which the last is there where some layer is in parts. */
static void init_rows(struct cells *rows, const struct cell_column *column, size_t n,
                      const struct soma_schedule *s)
{
    cells_init(rows, column, s->network->n_cut > 0 ? n : n - 1);
}

static void part_cell(struct cells *rows, const struct soma_schedule *s, uint32_t layer)
{
    char text[SHOWN_MAX];
    if (s->network->n_cut > 0)
        cells_text(rows, network_cut_part(s->network, layer, text, sizeof text));
}

/* Tiles in execution order; living_byte: in the buffer while the tile is next or runs. */
static enum dse_status soma_report_tiles(const void *schedule, struct report *report, struct dse_error *err)
{
    const struct soma_schedule *s = schedule;
    struct cells *rows = &report->rows;
    DSE_TRY(soma_schedule_listed(s, err));
    init_rows(rows, tile_column, sizeof tile_column / sizeof tile_column[0], s);
    for (uint32_t i = 0; i < s->fused.n_tile; i++) {
        const struct fused_tile *tile = &s->fused.tile[i];
        cells_count(rows, i);
        cells_text(rows, s->network->layer[tile->layer].name);
        const uint64_t shape[] = {tile->index, tile->layer_group, tile->flc, tile->b,
                                  tile->k,     tile->h,           tile->w,   tile->cycle};
        for (size_t k = 0; k < sizeof shape / sizeof shape[0]; k++)
            cells_count(rows, shape[k]);
        cells_real(rows, tile->energy_j);
        cells_count(rows, s->detail.trace.tile_start[i]);
        cells_count(rows, s->detail.trace.tile_finish[i]);
        cells_count(rows, s->detail.trace.tile_stall[i]);
        cells_count(rows, s->detail.trace.living_byte[i + 1]);
        part_cell(rows, s, tile->layer);
    }
    return DSE_OK;
}

static const struct cell_column tensor_column[] = {
    CELL_COLUMN("tensor", "tensor", LOOK_COUNT),
    CELL_COLUMN("kind", "kind", LOOK_TEXT),
    CELL_COLUMN("layer", "layer", LOOK_TEXT),
    CELL_COLUMN("tile", "tile", LOOK_COUNT),
    CELL_COLUMN("source", "source", LOOK_TEXT),
    CELL_COLUMN("buffer_byte", "bytes", LOOK_COUNT),
    CELL_COLUMN("dram_order", "DRAM order", LOOK_COUNT),
    CELL_COLUMN("living_start", "lives from", LOOK_COUNT),
    CELL_COLUMN("living_end", "to", LOOK_COUNT),
    CELL_COLUMN("producer", "producer", LOOK_COUNT),
    CELL_COLUMN("first_use", "first use", LOOK_COUNT),
    CELL_COLUMN("last_use", "last use", LOOK_COUNT),
    CELL_COLUMN("start_cycle", "start", LOOK_COUNT),
    CELL_COLUMN("finish_cycle", "finish", LOOK_COUNT),
    CELL_COLUMN("dram_byte", "moved", LOOK_COUNT),
    CELL_COLUMN("part", "part", LOOK_TEXT), /* it last */
};

static void whole_or_none(struct cells *rows, int64_t value)
{
    if (value < 0)
        cells_none(rows);
    else
        cells_whole(rows, value);
}

/* Tensors by number; place in the DRAM order and times are missing for those that stay in the buffer. */
static enum dse_status soma_report_tensors(const void *schedule, struct report *report, struct dse_error *err)
{
    const struct soma_schedule *s = schedule;
    struct cells *rows = &report->rows;
    DSE_TRY(soma_schedule_listed(s, err));
    init_rows(rows, tensor_column, sizeof tensor_column / sizeof tensor_column[0], s);
    for (uint32_t i = 0; i < s->fused.n_tensor; i++) {
        const struct fused_tensor *t = &s->fused.tensor[i];
        bool moved = s->place[i] != UINT32_MAX;
        cells_count(rows, i);
        cells_text(rows, soma_schedule_kind_text(t->kind));
        cells_text(rows, s->network->layer[t->layer].name);
        cells_count(rows, t->index);
        cells_text(rows, t->kind != FUSED_IFMAP ? NULL
                         : t->source < 0        ? s->network->input[-1 - t->source].name
                                                : s->network->layer[t->source].name);
        cells_count(rows, t->byte);
        whole_or_none(rows, moved ? (int64_t)s->place[i] : -1);
        cells_whole(rows, t->start);
        cells_whole(rows, t->end);
        whole_or_none(rows, t->producer_tile);
        whole_or_none(rows, t->first_use);
        whole_or_none(rows, t->last_use);
        cells_count(rows, moved ? s->detail.trace.tensor_start[i] : UINT64_MAX);
        cells_count(rows, moved ? s->detail.trace.tensor_finish[i] : UINT64_MAX);
        cells_count(rows, t->dram_byte);
        part_cell(rows, s, t->layer);
    }
    return DSE_OK;
}

/* ---- summary ---- */

/* NaN: no bound is known. */
static double over_bound(const struct soma_schedule *s)
{
    uint64_t bound = s->detail.bound_cycle;
    return bound ? (double)s->detail.result.cycle / (double)bound : NAN;
}

static double leakage_j(const struct soma_schedule *s)
{
    return architecture_all_leakage_j(s->arch, (double)s->detail.result.cycle);
}

static void list_all(const struct soma_schedule *s, struct cells *rows)
{
    const struct fused_result *r = &s->detail.result;
    cells_list_count(rows, "latency_cycle", r->cycle);
    cells_list_real(rows, "latency_s", (double)r->cycle / s->arch->clock_hz);
    cells_list_count(rows, "bound_latency_cycle", s->detail.bound_cycle ? s->detail.bound_cycle : UINT64_MAX);
    cells_list_real(rows, "bound_latency_ratio", over_bound(s));
    cells_list_count(rows, "compute_cycle", r->compute_cycle);
    cells_list_count(rows, "dram_cycle", r->dram_cycle);
    cells_list_count(rows, "stall_cycle", r->stall_cycle);
    cells_list_real(rows, "energy_j", r->energy_j + leakage_j(s));
    cells_list_real(rows, "energy_j:gbuf", s->detail.tiles.buffer_energy_j);
    cells_list_real(rows, "energy_j:l1", s->detail.tiles.local_energy_j);
    cells_list_real(rows, "energy_j:bus", s->detail.tiles.bus_energy_j);
    cells_list_real(rows, "energy_j:mac", s->detail.tiles.mac_energy_j);
    cells_list_real(rows, "energy_j:dram", r->dram_energy_j);
    if (leakage_j(s) > 0)
        cells_list_real(rows, "energy_leakage_j", leakage_j(s));
    cells_list_count(rows, "dram_byte", r->dram_byte);
    cells_list_count(rows, "stream_byte", r->stream_byte);
    cells_list_count(rows, "buffer_capacity_byte", s->machine.buffer_byte);
    cells_list_count(rows, "buffer_max_byte", r->buffer_max_byte);
    cells_list_real(rows, "buffer_average_byte", r->buffer_average_byte);
    cells_list_real(rows, "buffer_average_compute_byte", r->buffer_average_compute_byte);
    cells_list_real(rows, "buffer_average_compat_byte", r->buffer_average_compat_byte);
    cells_list_count(rows, "n_layer_group", s->n_layer_group);
    cells_list_count(rows, "n_fine_group", s->lfa.n_flc);
    cells_list_count(rows, "n_tile", s->fused.n_tile);
    cells_list_count(rows, "n_tensor", s->fused.n_tensor);
    cells_list_count(rows, "n_dram_tensor", s->fused.n_dram);
    cells_list_count(rows, "batch", s->batch);
}

/* "fc6 in 34, fc7 in 6"; the first few. */
static void parts_of(const struct network *network, struct text_buffer *out)
{
    enum { SHOWN = 4 };
    for (uint32_t i = 0; i < network->n_cut && i < SHOWN; i++) {
        const struct network_cut *cut = &network->cut[i];
        text_append(out, "%s%s in %u", i ? ", " : "", cut->layer, cut->k);
        if (cut->c > 1)
            text_append(out, " x %u", cut->c);
    }
    if (network->n_cut > SHOWN)
        text_append(out, " and %u more layers", network->n_cut - SHOWN);
}

static void head_of(const struct soma_schedule *s, struct text_buffer *out)
{
    const struct fused_result *r = &s->detail.result;
    char a[SHOWN_MAX], b[SHOWN_MAX], c[SHOWN_MAX];
    text_append(out, "%s, batch %u, on %s%s", s->network->name, s->batch, s->arch->name,
                s->accounting->schedule->as_published ? " (compat)" : "");
    if (s->core_choice.core != SOMA_CORE_ARRAY)
        text_append(out, ", tiles by %s", soma_core_names[s->core_choice.core]);
    text_append(out, "\n  %-*s  %s (%s cycles)\n", LABEL, "latency",
                text_si((double)r->cycle / s->arch->clock_hz, "s", a, sizeof a),
                text_thousands(r->cycle, b, sizeof b));
    if (s->detail.bound_cycle > 0)
        text_append(out, "  %-*s  %s cycles of %s; the latency is %.3f times that\n", LABEL, "lower bound",
                    text_thousands(s->detail.bound_cycle, a, sizeof a),
                    r->compute_cycle >= r->dram_cycle ? "computing" : "DRAM", over_bound(s));
    text_append(out, "  %-*s  %s cycles computing, %s waiting for the DRAM\n", LABEL, "core array",
                text_thousands(r->compute_cycle, a, sizeof a), text_thousands(r->stall_cycle, b, sizeof b));
    text_append(out, "  %-*s  %s cycles for %s", LABEL, "DRAM", text_thousands(r->dram_cycle, a, sizeof a),
                text_bytes((double)r->dram_byte, b, sizeof b));
    if (r->stream_byte > 0)
        text_append(out, ", %s of them past the buffer", text_bytes((double)r->stream_byte, c, sizeof c));
    text_append(out, "\n  %-*s  %s at most, %s on average, of %s%s\n", LABEL, "buffer",
                text_bytes((double)r->buffer_max_byte, a, sizeof a),
                text_bytes(r->buffer_average_byte, b, sizeof b),
                text_bytes((double)s->machine.buffer_byte, c, sizeof c),
                s->arch->fused.keeps_all ? " for all tensors" : "");
    text_append(
        out, "  %-*s  %u layer group%s, %u fine-grained group%s, %u tile%s, %u tensors (%u by DRAM)\n", LABEL,
        "schedule", s->n_layer_group, text_plural(s->n_layer_group), s->lfa.n_flc, text_plural(s->lfa.n_flc),
        s->fused.n_tile, text_plural(s->fused.n_tile), s->fused.n_tensor, s->fused.n_dram);
    if (s->network->n_cut > 0) {
        text_append(out, "  %-*s  ", LABEL, "parts");
        parts_of(s->network, out);
        text_append(out, "\n");
    }
    text_append(out, "  %-*s  %s\n", LABEL, "energy", text_si(r->energy_j + leakage_j(s), "J", a, sizeof a));
}

/* A list, with what people read. */
static enum dse_status soma_report_summary(const void *schedule, struct report *report, struct dse_error *err)
{
    static const struct cell_column column[] = {
        {.title = "part", .look = LOOK_TEXT},
        {.title = "energy", .look = LOOK_UNIT, .unit = "J"},
        {.title = "of total", .look = LOOK_PERCENT},
    };
    const struct soma_schedule *s = schedule;
    const struct {
        const char *name;
        double energy_j;
    } part[] = {
        {s->arch->level[s->arch->n_level - 1].name, s->detail.result.dram_energy_j},
        {s->arch->level[s->buffer].name, s->detail.tiles.buffer_energy_j},
        {"L1 buffers", s->detail.tiles.local_energy_j},
        {"bus", s->detail.tiles.bus_energy_j},
        {s->arch->mac.name, s->detail.tiles.mac_energy_j},
        {"(leakage)", leakage_j(s)},
    };
    const double all_j = s->detail.result.energy_j + leakage_j(s);
    const size_t n_part = sizeof part / sizeof part[0] - !(leakage_j(s) > 0);
    (void)err;
    list_all(s, &report->rows);
    head_of(s, &report->head);
    cells_init(&report->parts, column, sizeof column / sizeof column[0]);
    for (size_t i = 0; i < n_part; i++) {
        cells_text(&report->parts, part[i].name);
        cells_real(&report->parts, part[i].energy_j);
        cells_real(&report->parts, all_j > 0 ? part[i].energy_j / all_j : 0);
    }
    return DSE_OK;
}

/* ---- the format ---- */

enum { OPTION_CORE, OPTION_ALIGN };

static const struct engine_option options[] = {
    [OPTION_CORE] = SOMA_OPTION_CORE,
    [OPTION_ALIGN] = {.name = "align",
                      .sentence = "offsets of the instructions' data in the buffer are multiples of this",
                      .unit = "byte",
                      .kind = OPTION_INTEGER,
                      .standard = 1,
                      .lowest = 1,
                      .highest = UINT32_MAX},
};

static const struct schedule_flag flags[] = {
    {"align", "BYTES", "for the report instructions: offsets in the buffer are multiples of this (default 1)",
     NULL},
    {"compat", NULL, "a SCHEDULE by the rules of the published SoMa program: --accounting soma-compat",
     &accounting_soma_compat},
    {"core", "NAME",
     "what schedules the tiles of a SCHEDULE: array, or a mapper such as descent or cosa (default: what the "
     "SCHEDULE says, else array)",
     NULL},
};

static const struct schedule_report reports[] = {
    {"summary", "latency, energy, traffic and occupancy", NULL, soma_report_summary},
    {"tiles", "the tiles in execution order with their times", NULL, soma_report_tiles},
    {"tensors", "the tensors with their living durations and transfers", NULL, soma_report_tensors},
    {"instructions", "what core array and DRAM do, with addresses", "align", soma_report_instructions},
};

static enum dse_status evaluate(const struct schedule_request *request, struct arena *arena, void **schedule,
                                struct dse_error *err)
{
    const double *option = request->option;
    struct soma_schedule *s = arena_alloc(arena, 1, sizeof *s);
    *schedule = s;
    if (!s)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a schedule");
    *s = (struct soma_schedule){
        .arch = request->arch,
        .network = request->network,
        .batch = request->batch,
        .accounting = request->accounting,
        .core_name = isnan(option[OPTION_CORE]) ? NULL : soma_core_names[(size_t)option[OPTION_CORE]],
        .alignment = isnan(option[OPTION_ALIGN]) ? 1 : (uint64_t)option[OPTION_ALIGN],
    };
    return soma_schedule_evaluate(s, request->path, request->text, request->length, arena, err);
}

const struct schedule_format schedule_format_soma = {
    .name = "fused schedule",
    .key = "soma",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .flag = flags,
    .n_flag = sizeof flags / sizeof flags[0],
    .report = reports,
    .n_report = sizeof reports / sizeof reports[0],
    .evaluate = evaluate,
    .timeline = soma_schedule_timeline,
};
