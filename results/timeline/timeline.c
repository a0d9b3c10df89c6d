/* The tables of columns, the check that rows make sense, and the CSV form; HDF5 is in timeline_hdf5.c and
 * timeline_read.c. */
#include "results/timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/files.h"
#include "results/record/csv_line.h"

#define WHOLE(row, member, unit, sentence)                                                                   \
    {                                                                                                        \
#member, TIMELINE_WHOLE, offsetof(struct row, member), unit, sentence                                \
    }
#define AS(name, row, member, unit, sentence)                                                                \
    {                                                                                                        \
        name, TIMELINE_WHOLE, offsetof(struct row, member), unit, sentence                                   \
    }
#define WORD(row, member, sentence)                                                                          \
    {                                                                                                        \
#member, TIMELINE_TEXT, offsetof(struct row, member), "", sentence                                   \
    }
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct timeline_column transfer_column[] = {
    WORD(timeline_transfer, kind, "Kind of tensor: ifmap and weights are loaded, ofmap is stored"),
    WORD(timeline_transfer, layer, "Layer that it belongs to"),
    WORD(timeline_transfer, source, "Layer or network input that an ifmap comes from"),
    WHOLE(timeline_transfer, tensor, "", "Number of the tensor in the schedule"),
    WHOLE(timeline_transfer, tile, "", "Tile of the layer"),
    WHOLE(timeline_transfer, layer_group, "", "Layer group"),
    WHOLE(timeline_transfer, group, "", "Fine-grained group"),
    AS("start_cycle", timeline_transfer, start, "cycle", "Start"),
    AS("finish_cycle", timeline_transfer, finish, "cycle", "Finish"),
    WHOLE(timeline_transfer, byte, "byte", "Bytes moved"),
    WHOLE(timeline_transfer, buffer_byte, "byte", "Bytes in the buffer"),
    WHOLE(timeline_transfer, living_start, "", "First position at which it is in the buffer"),
    WHOLE(timeline_transfer, living_end, "", "Position before which it leaves the buffer"),
};

static const struct timeline_column tile_column[] = {
    WORD(timeline_tile, layer, "Layer"),
    WHOLE(timeline_tile, tile, "", "Tile of the layer"),
    WHOLE(timeline_tile, layer_group, "", "Layer group"),
    WHOLE(timeline_tile, group, "", "Fine-grained group"),
    AS("start_cycle", timeline_tile, start, "cycle", "Start"),
    AS("finish_cycle", timeline_tile, finish, "cycle", "Finish"),
    AS("stall_cycle", timeline_tile, stall, "cycle", "Wait of the core array before it"),
};

static const struct timeline_column step_column[] = {
    AS("start_cycle", timeline_step, start, "cycle", "Start"),
    AS("finish_cycle", timeline_step, finish, "cycle", "Finish"),
    WHOLE(timeline_step, weight_byte, "byte", "Weights in the buffer"),
    WHOLE(timeline_step, ifmap_byte, "byte", "Loaded ifmaps in the buffer"),
    WHOLE(timeline_step, ofmap_byte, "byte", "Ofmaps in the buffer that are stored"),
    WHOLE(timeline_step, local_byte, "byte", "Feature maps that never leave the buffer"),
};

static const struct timeline_column group_column[] = {
    WHOLE(timeline_group, layer_group, "", "Layer group"),
    WHOLE(timeline_group, cut, "", "1: a DRAM cut stands before it"),
    AS("tiling_number", timeline_group, tiling, "", "Tiles of each of its layers"),
    WHOLE(timeline_group, first_tile, "", "Position of its first tile"),
    WHOLE(timeline_group, n_tile, "", "Tiles of all its layers"),
    AS("start_cycle", timeline_group, start, "cycle", "Finish of the tile before its first one"),
    AS("finish_cycle", timeline_group, finish, "cycle", "Finish of its last tile"),
    WORD(timeline_group, layers, "Its layers in computing order"),
};

static const struct timeline_column uop_column[] = {
    WORD(timeline_uop, uop, "Micro-operation"),
    WORD(timeline_uop, layer, "Layer"),
    WHOLE(timeline_uop, layer_number, "", "Number of the layer"),
    WHOLE(timeline_uop, core, "", "Accelerator, counted by rows of the mesh"),
    AS("start_cycle", timeline_uop, start, "cycle", "Start"),
    AS("finish_cycle", timeline_uop, finish, "cycle", "Finish"),
};

static const struct timeline_table fused_table[] = {
    {"dram", "transfer", "Place in the DRAM order", transfer_column, COUNT(transfer_column),
     sizeof(struct timeline_transfer), offsetof(struct timeline, transfer),
     offsetof(struct timeline, n_transfer)},
    {"compute", "position", "Position in the execution order", tile_column, COUNT(tile_column),
     sizeof(struct timeline_tile), offsetof(struct timeline, tile), offsetof(struct timeline, n_tile)},
    {"buffer", "position", "Position in the execution order", step_column, COUNT(step_column),
     sizeof(struct timeline_step), offsetof(struct timeline, step), offsetof(struct timeline, n_tile)},
    {"groups", "group", "Fine-grained group", group_column, COUNT(group_column),
     sizeof(struct timeline_group), offsetof(struct timeline, group), offsetof(struct timeline, n_group)},
};

static const struct timeline_table uop_table[] = {
    {"uops", "row", "By accelerator, then by start", uop_column, COUNT(uop_column),
     sizeof(struct timeline_uop), offsetof(struct timeline, uop), offsetof(struct timeline, n_uop)},
};

#define COMMON_ATTRIBUTES                                                                                    \
    WORD(timeline, title, ""), WORD(timeline, network, ""), WORD(timeline, architecture, ""),                \
        WORD(timeline, rules, ""), WHOLE(timeline, batch, "", ""),                                           \
        AS("latency_cycle", timeline, cycle, "cycle", ""),                                                   \
        {"clock_hz", TIMELINE_REAL, offsetof(struct timeline, clock_hz), "Hz", ""},                          \
    {                                                                                                        \
        "energy_j", TIMELINE_REAL, offsetof(struct timeline, energy_j), "J", ""                              \
    }

static const struct timeline_column fused_attribute[] = {
    COMMON_ATTRIBUTES,
    WHOLE(timeline, compute_cycle, "cycle", ""),
    WHOLE(timeline, dram_cycle, "cycle", ""),
    WHOLE(timeline, stall_cycle, "cycle", ""),
    AS("buffer_capacity_byte", timeline, buffer_byte, "byte", ""),
    WHOLE(timeline, buffer_max_byte, "byte", ""),
    {"dram_byte_per_cycle", TIMELINE_REAL, offsetof(struct timeline, dram_byte_per_cycle), "byte", ""},
    {"buffer_average_byte", TIMELINE_REAL, offsetof(struct timeline, buffer_average_byte), "byte", ""},
};

static const struct timeline_column uop_attribute[] = {
    COMMON_ATTRIBUTES,
    AS("cores", timeline, n_core, "", ""),
    AS("mesh_columns", timeline, columns, "", ""),
    WHOLE(timeline, work_cycle, "cycle", ""),
};

const struct timeline_form timeline_form[TIMELINE_N_KIND] = {
    [TIMELINE_FUSED] = {"dse timeline 1", fused_table, COUNT(fused_table), fused_attribute,
                        COUNT(fused_attribute)},
    [TIMELINE_UOPS] = {"dse uop timeline 1", uop_table, COUNT(uop_table), uop_attribute,
                       COUNT(uop_attribute)},
};

/* ---- check ---- */

static const int64_t most = INT64_C(1) << 60; /* a sum of some such numbers does not overflow */

static bool counts_hold(const int64_t *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (value[i] < 0 || value[i] >= most)
            return false;
    return true;
}

static bool times_hold(const struct timeline *t, int64_t start, int64_t finish)
{
    return start >= 0 && start <= finish && finish <= t->cycle;
}

static bool groups_hold(const struct timeline *t, int64_t layer_group, int64_t group)
{
    return layer_group >= 0 && group >= 0 && (uint64_t)group < t->n_group &&
           layer_group == t->group[group].layer_group;
}

static enum dse_status bad_row(const char *table, size_t i, struct dse_error *err)
{
    return dse_fail(err, DSE_BAD_INPUT, "row %zu of %s is not of a schedule", i, table);
}

/* Of uops: by core, none of which runs two at once. */
static enum dse_status check_uops(const struct timeline *t, struct dse_error *err)
{
    const int64_t head[] = {t->batch, t->cycle, t->n_core, t->columns, t->work_cycle};
    if (!counts_hold(head, COUNT(head)) || !(t->clock_hz > 0) || !(t->clock_hz < 1e18) || t->n_uop == 0 ||
        t->n_core == 0 || t->columns == 0)
        return dse_fail(err, DSE_BAD_INPUT, "the attributes are not those of a schedule");
    for (size_t i = 0; i < t->n_uop; i++) {
        const struct timeline_uop *u = &t->uop[i], *before = i > 0 ? u - 1 : NULL;
        if (!counts_hold(&u->layer_number, 1) || u->core < 0 || u->core >= t->n_core ||
            !times_hold(t, u->start, u->finish) || (before && before->core > u->core) ||
            (before && before->core == u->core && before->finish > u->start))
            return bad_row("uops", i, err);
    }
    return DSE_OK;
}

enum dse_status timeline_check(const struct timeline *t, struct dse_error *err)
{
    if (t->kind == TIMELINE_UOPS)
        return check_uops(t, err);
    const int64_t head[] = {t->batch,       t->cycle,       t->compute_cycle,  t->dram_cycle,
                            t->stall_cycle, t->buffer_byte, t->buffer_max_byte};
    if (!counts_hold(head, COUNT(head)) || !(t->dram_byte_per_cycle > 0) || !(t->clock_hz > 0) ||
        !(t->clock_hz < 1e18) || t->n_tile == 0 || t->n_group == 0)
        return dse_fail(err, DSE_BAD_INPUT, "the attributes are not those of a schedule");
    for (size_t i = 0; i < t->n_group; i++) {
        const struct timeline_group *g = &t->group[i];
        const int64_t count[] = {g->layer_group, g->cut, g->tiling, g->first_tile, g->n_tile};
        if (!counts_hold(count, COUNT(count)) || !times_hold(t, g->start, g->finish))
            return bad_row("groups", i, err);
    }
    for (size_t i = 0; i < t->n_transfer; i++) {
        const struct timeline_transfer *r = &t->transfer[i];
        const int64_t count[] = {r->tensor, r->tile, r->byte, r->buffer_byte};
        bool known =
            strcmp(r->kind, "ifmap") == 0 || strcmp(r->kind, "weights") == 0 || strcmp(r->kind, "ofmap") == 0;
        if (!known || !counts_hold(count, COUNT(count)) || !times_hold(t, r->start, r->finish) ||
            !groups_hold(t, r->layer_group, r->group))
            return bad_row("dram", i, err);
    }
    for (size_t i = 0; i < t->n_tile; i++) {
        const struct timeline_tile *tile = &t->tile[i];
        const struct timeline_step *step = &t->step[i];
        const int64_t count[] = {tile->tile,       tile->stall,      step->weight_byte,
                                 step->ifmap_byte, step->ofmap_byte, step->local_byte};
        if (!counts_hold(count, COUNT(count)) || !times_hold(t, tile->start, tile->finish) ||
            !times_hold(t, step->start, step->finish) || tile->stall > tile->start ||
            !groups_hold(t, tile->layer_group, tile->group) || (i > 0 && tile->start < tile[-1].finish) ||
            (i > 0 && step->start != step[-1].finish))
            return bad_row("compute and buffer", i, err);
    }
    return DSE_OK;
}

/* ---- CSV ---- */

enum { CSV_COLUMN_MAX = 40 };

/* The columns of all tables, each name once; returns how many. */
static size_t csv_columns(const struct timeline_form *form, const char *name[CSV_COLUMN_MAX])
{
    size_t n = 0;
    for (size_t t = 0; t < form->n_table; t++)
        for (size_t c = 0; c < form->table[t].n_column; c++) {
            size_t k = 0;
            while (k < n && strcmp(name[k], form->table[t].column[c].name) != 0)
                k++;
            if (k == n && n < CSV_COLUMN_MAX)
                name[n++] = form->table[t].column[c].name;
        }
    return n;
}

static void csv_row(const struct timeline_table *table, size_t index, const char *row, const size_t *column,
                    size_t n, struct text_buffer *out)
{
    text_append(out, "%s,%zu,", table->name, index);
    for (size_t k = 0; k < n; k++) {
        const struct timeline_column *c = column[k] == SIZE_MAX ? NULL : &table->column[column[k]];
        if (c && c->type == TIMELINE_WHOLE)
            text_append(out, "%" PRId64 ",", *(const int64_t *)(const void *)(row + c->offset));
        else
            csv_add_text(out, c ? *(const char *const *)(const void *)(row + c->offset) : NULL);
    }
    if (!out->failed)
        out->data[out->length - 1] = '\n'; /* in place of the last comma */
}

void timeline_csv(const struct timeline *timeline, struct text_buffer *out)
{
    const struct timeline_form *form = &timeline_form[timeline->kind];
    const char *name[CSV_COLUMN_MAX];
    size_t n = csv_columns(form, name);
    text_append(out, "row,index");
    for (size_t k = 0; k < n; k++)
        text_append(out, ",%s", name[k]);
    text_append(out, "\n");
    for (size_t t = 0; t < form->n_table; t++) {
        const struct timeline_table *table = &form->table[t];
        const char *base = (const char *)timeline, *row;
        size_t n_row, column[CSV_COLUMN_MAX];
        memcpy(&row, base + table->rows_offset, sizeof row);
        memcpy(&n_row, base + table->count_offset, sizeof n_row);
        for (size_t k = 0; k < n; k++) {
            column[k] = SIZE_MAX;
            for (size_t c = 0; c < table->n_column; c++)
                if (strcmp(table->column[c].name, name[k]) == 0)
                    column[k] = c;
        }
        for (size_t i = 0; i < n_row; i++)
            csv_row(table, i, row + i * table->row_size, column, n, out);
    }
}

static enum dse_status write_csv(const struct timeline *timeline, const char *path, struct dse_error *err)
{
    struct text_buffer out;
    text_init(&out);
    timeline_csv(timeline, &out);
    enum dse_status status = new_file_write(path, &out, err);
    text_free(&out);
    return status;
}

enum dse_status timeline_write(const struct timeline *timeline, const char *path, struct dse_error *err)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const char *ending = dot && (!slash || dot > slash) ? dot : "";
    if (strcasecmp(ending, ".csv") == 0)
        return write_csv(timeline, path, err);
    if (strcasecmp(ending, ".h5") == 0 || strcasecmp(ending, ".hdf5") == 0)
        return timeline_hdf5_write(timeline, path, err);
    return dse_fail(err, DSE_BAD_USAGE, "%s: a timeline ends in .h5 or .csv", path);
}
