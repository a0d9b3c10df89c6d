/* Every report is rows of cells (text, whole number, number); the three formats print the same cells. */
#include "dse/report/report_fused.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "dse/console/json_text.h"
#include "dse/console/table.h"
#include "dse/report/mapping_report.h"

enum { CELL_MAX = 64, CELL_TEXT_MAX = 128, COLUMN_MAX = 40, LABEL = 12 };

static const double pj = 1e12;

/* One value of a report. */
enum cell_kind { CELL_NONE, CELL_TEXT, CELL_WHOLE, CELL_NUMBER };
struct cell {
    enum cell_kind kind;
    const char *text;
    int64_t whole;
    double number;
};

static struct cell text_of(const char *text)
{
    return (struct cell){CELL_TEXT, text, 0, 0};
}

static struct cell whole_of(int64_t value)
{
    return (struct cell){CELL_WHOLE, NULL, value, 0};
}

static struct cell count_of(uint64_t value)
{
    return whole_of(value <= INT64_MAX ? (int64_t)value : INT64_MAX);
}

static struct cell number_of(double value)
{
    return (struct cell){CELL_NUMBER, NULL, 0, value};
}

/* ---- rows ---- */

static const char *const tile_column[] = {"position",  "layer", "tile",   "layer_group", "group",
                                          "b",         "k",     "h",      "w",           "cycles",
                                          "energy_pJ", "start", "finish", "stall",       "living_bytes"};

static void tile_row(const struct schedule *s, uint32_t i, struct cell *cell)
{
    const struct fused_tile *tile = &s->fused.tile[i];
    const struct cell row[] = {count_of(i),
                               text_of(s->network->layer[tile->layer].name),
                               count_of(tile->index),
                               count_of(tile->layer_group),
                               count_of(tile->flc),
                               count_of(tile->b),
                               count_of(tile->k),
                               count_of(tile->h),
                               count_of(tile->w),
                               count_of(tile->cycle),
                               number_of(tile->energy_j * pj),
                               count_of(s->trace.tile_start[i]),
                               count_of(s->trace.tile_finish[i]),
                               count_of(s->trace.tile_stall[i]),
                               count_of(s->trace.living_byte[i + 1])};
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++)
        cell[k] = row[k];
}

static const char *const tensor_column[] = {"tensor",     "kind",        "layer",      "tile",
                                            "source",     "bytes",       "dram_order", "living_start",
                                            "living_end", "producer",    "first_use",  "last_use",
                                            "dram_start", "dram_finish", "dram_bytes"};

static void tensor_row(const struct schedule *s, uint32_t i, struct cell *cell)
{
    const struct fused_tensor *t = &s->fused.tensor[i];
    const struct cell none = {0};
    bool moved = s->place[i] != UINT32_MAX;
    const char *source = t->kind != FUSED_IFMAP ? NULL
                         : t->source < 0        ? s->network->input[-1 - t->source].name
                                                : s->network->layer[t->source].name;
    const struct cell row[] = {count_of(i),
                               text_of(schedule_kind_text(t->kind)),
                               text_of(s->network->layer[t->layer].name),
                               count_of(t->index),
                               source ? text_of(source) : none,
                               count_of(t->byte),
                               moved ? count_of(s->place[i]) : none,
                               whole_of(t->start),
                               whole_of(t->end),
                               t->producer_tile >= 0 ? whole_of(t->producer_tile) : none,
                               t->first_use >= 0 ? whole_of(t->first_use) : none,
                               t->last_use >= 0 ? whole_of(t->last_use) : none,
                               moved ? count_of(s->trace.tensor_start[i]) : none,
                               moved ? count_of(s->trace.tensor_finish[i]) : none,
                               count_of(t->dram_byte)};
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++)
        cell[k] = row[k];
}

/* Rows of one kind of report. */
struct rows {
    const char *const *column;
    size_t n_column;
    uint32_t n_row;
    unsigned left; /* columns of text */
    void (*row)(const struct schedule *s, uint32_t i, struct cell *cell);
};

static struct rows rows_of(const struct schedule *s, enum fused_report kind)
{
    if (kind == FUSED_REPORT_TILES)
        return (struct rows){tile_column, sizeof tile_column / sizeof tile_column[0], s->fused.n_tile,
                             1u << 1, tile_row};
    return (struct rows){tensor_column, sizeof tensor_column / sizeof tensor_column[0], s->fused.n_tensor,
                         1u << 1 | 1u << 2 | 1u << 4, tensor_row};
}

/* ---- summary ---- */

struct entry {
    const char *name;
    struct cell cell;
};

/* What is known of a schedule that was just found. */
static size_t search_entries(const struct schedule_search *search, struct entry *entry)
{
    const struct cell none = {0};
    const struct entry all[] = {
        {"utilization", number_of(search->utilization)},
        {"engine", text_of(search->engine)},
        {"objective", text_of(search->objective)},
        {"seed", count_of(search->seed)},
        {"stop", text_of(search->stop)},
        {"evaluations", count_of(search->evaluations)},
        {"cost", number_of(search->cost)},
        {"cost_bound", search->bound > 0 ? number_of(search->bound) : none},
        {"cost_over_bound", search->bound > 0 ? number_of(search->cost / search->bound) : none},
        {"stage1_cycles", search->stage1_cycle > 0 ? count_of(search->stage1_cycle) : none},
    };
    size_t n = sizeof all / sizeof all[0];
    for (size_t i = 0; i < n; i++)
        entry[i] = all[i];
    return n;
}

static size_t summary_entries(const struct schedule *s, struct entry *entry)
{
    const struct fused_result *r = &s->result;
    uint64_t bound = schedule_bound_cycle(s);
    const struct entry all[] = {
        {"cycles", count_of(r->cycle)},
        {"latency_s", number_of((double)r->cycle / s->arch->clock_hz)},
        {"bound_cycles", count_of(bound)},
        {"cycles_over_bound", number_of(bound ? (double)r->cycle / (double)bound : 1)},
        {"compute_cycles", count_of(r->compute_cycle)},
        {"dram_cycles", count_of(r->dram_cycle)},
        {"stall_cycles", count_of(r->stall_cycle)},
        {"energy_total_pJ", number_of(r->energy_j * pj)},
        {"energy_pJ:gbuf", number_of(s->core.buffer_energy_j * pj)},
        {"energy_pJ:l1", number_of(s->core.local_energy_j * pj)},
        {"energy_pJ:bus", number_of(s->core.bus_energy_j * pj)},
        {"energy_pJ:mac", number_of(s->core.mac_energy_j * pj)},
        {"energy_pJ:dram", number_of(r->dram_energy_j * pj)},
        {"dram_bytes", count_of(r->dram_byte)},
        {"buffer_bytes", count_of(s->machine.buffer_byte)},
        {"buffer_max_bytes", count_of(r->buffer_max_byte)},
        {"buffer_average_bytes", number_of(r->buffer_average_byte)},
        {"buffer_average_compat_bytes", number_of(r->buffer_average_compat_byte)},
        {"layer_groups", count_of(s->n_layer_group)},
        {"groups", count_of(s->lfa.n_flc)},
        {"tiles", count_of(s->fused.n_tile)},
        {"tensors", count_of(s->fused.n_tensor)},
        {"dram_tensors", count_of(s->fused.n_dram)},
        {"batch", count_of(s->batch)},
    };
    size_t n = sizeof all / sizeof all[0];
    for (size_t i = 0; i < n; i++)
        entry[i] = all[i];
    return n + (s->search ? search_entries(s->search, entry + n) : 0);
}

/* Of what an objective's cost is; "energy^2*delay^1" says it itself, in joule and seconds. */
static const char *cost_unit(const char *objective)
{
    static const char *const unit[][2] = {
        {"latency", " s"}, {"energy", " J"}, {"edp", " J s"}, {"ed2p", " J s^2"}};
    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++)
        if (strcmp(objective, unit[i][0]) == 0)
            return unit[i][1];
    return " (J, s)";
}

static void search_head(const struct schedule_search *search, struct text_buffer *out)
{
    char a[CELL_MAX];
    text_append(out, "  %-*s  %.1f %% of the MAC units\n", LABEL, "utilization", 100 * search->utilization);
    if (search->stage1_cycle > 0)
        text_append(out, "  %-*s  %s cycles with double buffering\n", LABEL, "first stage",
                    text_thousands(search->stage1_cycle, a, sizeof a));
    text_append(out, "  %-*s  %s, seed %" PRIu64 ", %s after %s evaluation%s\n", LABEL, "engine",
                search->engine, search->seed, search->stop, text_thousands(search->evaluations, a, sizeof a),
                text_plural(search->evaluations));
    text_append(out, "  %-*s  %s = %.6g%s", LABEL, "objective", search->objective, search->cost,
                cost_unit(search->objective));
    if (search->bound > 0)
        text_append(out, ", %.4f times the engine's lower bound", search->cost / search->bound);
    text_append(out, "\n");
}

static void summary_head(const struct schedule *s, struct text_buffer *out)
{
    const struct fused_result *r = &s->result;
    uint64_t bound = schedule_bound_cycle(s);
    char a[CELL_MAX], b[CELL_MAX], c[CELL_MAX];
    text_append(out, "%s, batch %u, on %s%s", s->network->name, s->batch, s->arch->name,
                s->compat ? " (compat)" : "");
    if (s->core_choice.core != SOMA_CORE_ARRAY)
        text_append(out, ", tiles by %s", soma_core_names[s->core_choice.core]);
    text_append(out, "\n");
    text_append(out, "  %-*s  %s (%s cycles)\n", LABEL, "latency",
                text_si((double)r->cycle / s->arch->clock_hz, "s", a, sizeof a),
                text_thousands(r->cycle, b, sizeof b));
    text_append(out, "  %-*s  %s cycles of %s; the latency is %.3f times that\n", LABEL, "lower bound",
                text_thousands(bound, a, sizeof a), r->compute_cycle >= r->dram_cycle ? "computing" : "DRAM",
                bound ? (double)r->cycle / (double)bound : 1);
    text_append(out, "  %-*s  %s cycles computing, %s waiting for the DRAM\n", LABEL, "core array",
                text_thousands(r->compute_cycle, a, sizeof a), text_thousands(r->stall_cycle, b, sizeof b));
    text_append(out, "  %-*s  %s cycles for %s\n", LABEL, "DRAM", text_thousands(r->dram_cycle, a, sizeof a),
                text_bytes((double)r->dram_byte, b, sizeof b));
    text_append(out, "  %-*s  %s at most, %s on average, of %s\n", LABEL, "buffer",
                text_bytes((double)r->buffer_max_byte, a, sizeof a),
                text_bytes(r->buffer_average_byte, b, sizeof b),
                text_bytes((double)s->machine.buffer_byte, c, sizeof c));
    text_append(
        out, "  %-*s  %u layer group%s, %u fine-grained group%s, %u tile%s, %u tensors (%u by DRAM)\n", LABEL,
        "schedule", s->n_layer_group, text_plural(s->n_layer_group), s->lfa.n_flc, text_plural(s->lfa.n_flc),
        s->fused.n_tile, text_plural(s->fused.n_tile), s->fused.n_tensor, s->fused.n_dram);
    text_append(out, "  %-*s  %s\n", LABEL, "energy", text_si(r->energy_j, "J", a, sizeof a));
    if (s->search)
        search_head(s->search, out);
    text_append(out, "\n");
}

static void summary_table(const struct schedule *s, struct text_buffer *out)
{
    static const char *const header[] = {"part", "energy", "of total"};
    const struct {
        const char *name;
        double energy_j;
    } part[] = {
        {s->arch->level[s->arch->n_level - 1].name, s->result.dram_energy_j},
        {s->arch->level[s->arch->n_level - 2].name, s->core.buffer_energy_j},
        {"L1 buffers", s->core.local_energy_j},
        {"bus", s->core.bus_energy_j},
        {s->arch->mac.name, s->core.mac_energy_j},
    };
    struct table table;
    char a[CELL_MAX];
    summary_head(s, out);
    table_init(&table, header, sizeof header / sizeof header[0], 1);
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        table_cell(&table, "%s", part[i].name);
        table_cell(&table, "%s", text_si(part[i].energy_j, "J", a, sizeof a));
        table_cell(&table, "%.1f %%",
                   s->result.energy_j > 0 ? 100 * part[i].energy_j / s->result.energy_j : 0);
    }
    table_print(&table, out);
    table_free(&table);
}

/* ---- formats ---- */

static void append_cell(const struct cell *cell, struct text_buffer *out)
{
    char buffer[CELL_MAX];
    if (cell->kind == CELL_TEXT)
        text_append(out, "%s", cell->text);
    else if (cell->kind == CELL_WHOLE)
        text_append(out, "%" PRId64, cell->whole);
    else if (cell->kind == CELL_NUMBER)
        text_append(out, "%s", report_number(cell->number, buffer, sizeof buffer));
}

void report_fused_csv(const struct schedule *schedule, enum fused_report kind, struct text_buffer *out)
{
    struct cell cell[COLUMN_MAX];
    struct entry entry[COLUMN_MAX];
    if (kind == FUSED_REPORT_SUMMARY) {
        size_t n = summary_entries(schedule, entry);
        text_append(out, "key,value\n");
        for (size_t i = 0; i < n; i++) {
            text_append(out, "%s,", entry[i].name);
            append_cell(&entry[i].cell, out);
            text_append(out, "\n");
        }
        return;
    }
    struct rows rows = rows_of(schedule, kind);
    for (size_t c = 0; c < rows.n_column; c++)
        text_append(out, "%s%s", c ? "," : "", rows.column[c]);
    text_append(out, "\n");
    for (uint32_t i = 0; i < rows.n_row; i++) {
        rows.row(schedule, i, cell);
        for (size_t c = 0; c < rows.n_column; c++) {
            text_append(out, "%s", c ? "," : "");
            append_cell(&cell[c], out);
        }
        text_append(out, "\n");
    }
}

static void table_value(struct table *table, const struct cell *cell)
{
    char buffer[CELL_TEXT_MAX];
    if (cell->kind == CELL_TEXT)
        table_cell(table, "%s", cell->text);
    else if (cell->kind == CELL_NUMBER)
        table_cell(table, "%.1f", cell->number);
    else if (cell->kind == CELL_NONE)
        table_cell(table, "-");
    else if (cell->whole < 0)
        table_cell(table, "%" PRId64, cell->whole);
    else
        table_cell(table, "%s", text_thousands((uint64_t)cell->whole, buffer, sizeof buffer));
}

void report_fused_table(const struct schedule *schedule, enum fused_report kind, struct text_buffer *out)
{
    struct cell cell[COLUMN_MAX];
    struct table table;
    if (kind == FUSED_REPORT_SUMMARY) {
        summary_table(schedule, out);
        return;
    }
    struct rows rows = rows_of(schedule, kind);
    table_init(&table, rows.column, rows.n_column, rows.left);
    for (uint32_t i = 0; i < rows.n_row; i++) {
        rows.row(schedule, i, cell);
        for (size_t c = 0; c < rows.n_column; c++)
            table_value(&table, &cell[c]);
    }
    table_print(&table, out);
    table_free(&table);
}

static void put(json_t *object, const char *key, const struct cell *cell, int *good)
{
    json_t *value = cell->kind == CELL_TEXT     ? json_string(cell->text)
                    : cell->kind == CELL_WHOLE  ? json_integer((json_int_t)cell->whole)
                    : cell->kind == CELL_NUMBER ? json_real(cell->number)
                                                : json_null();
    if (json_object_set_new(object, key, value) != 0)
        *good = 0;
}

enum dse_status report_fused_json(const struct schedule *schedule, enum fused_report kind,
                                  struct text_buffer *out, struct dse_error *err)
{
    static const char *const word[] = {"summary", "tiles", "tensors"};
    const struct cell title = text_of(word[kind]);
    struct cell cell[COLUMN_MAX];
    struct entry entry[COLUMN_MAX];
    int good = 1;
    json_t *root = json_object(), *inner = kind == FUSED_REPORT_SUMMARY ? json_object() : json_array();
    put(root, "report", &title, &good);
    if (kind == FUSED_REPORT_SUMMARY) {
        size_t n = summary_entries(schedule, entry);
        for (size_t i = 0; i < n; i++)
            put(inner, entry[i].name, &entry[i].cell, &good);
    } else {
        struct rows rows = rows_of(schedule, kind);
        for (uint32_t i = 0; i < rows.n_row; i++) {
            json_t *row = json_object();
            rows.row(schedule, i, cell);
            for (size_t c = 0; c < rows.n_column; c++)
                put(row, rows.column[c], &cell[c], &good);
            if (json_array_append_new(inner, row) != 0)
                good = 0;
        }
    }
    if (json_object_set_new(root, kind == FUSED_REPORT_SUMMARY ? "summary" : "rows", inner) != 0)
        good = 0;
    return json_text_append(root, good, out, err);
}
