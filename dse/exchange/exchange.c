/* Rounds: every cell is offered what its neighbours had after the round before, and each schedule once. All
 * offers of a round are priced on all threads, then each cell takes its best; so nothing depends on the order
 * in which they are priced. */
#include "dse/exchange/exchange.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "dse/exchange/exchange_row.h"
#include "dse/spec/keys.h"
#include "dse/spec/sweep_neighbours.h"

static const uint32_t nobody = UINT32_MAX;

/* A cell that has neighbours. */
struct partner {
    struct journal_row row; /* of its own search; its pointers are not valid */
    bool takes;             /* its search ended, with a schedule or without */
    bool done;              /* its exchanged row is there */
    double cost;            /* of what it has; INFINITY: nothing */
    uint32_t source;        /* the cell whose search found that; nobody */
    uint64_t text;          /* hash of the schedule that its own search found */
    uint32_t *tried;        /* (n_tried) cells whose schedules it was offered; owned */
    size_t n_tried, tried_capacity;
    struct engine_schedule *taken; /* priced; owned; NULL: it has its own */
};

/* The schedule that the search of cell `from` found, for cell `to`. */
struct offer {
    uint32_t from, to;
    struct solve_priced priced;
};

struct exchange {
    const struct sweep *sweep;
    const struct exchange_options *options;
    struct exchange_summary *summary;
    struct sweep_neighbours neighbours;
    struct partner *cell; /* (neighbours.n) owned */
    struct offer *offer;  /* (n_offer) of this round; owned */
    size_t n_offer, offer_capacity;
    struct solve_shared shared;
};

/* What one thread needs to read rows and to price. */
struct reader {
    const struct exchange *exchange;
    struct journal_scan *scan;
    struct csv_row point_line, layer_line;
    struct layer_record layer; /* of the line that was read last */
    struct machine machine;
    struct sweep_point point;
    struct arena arena;
};

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the exchange of schedules");
}

/* ---------------------------------------- rows */

static enum dse_status reader_open(struct reader *reader, const struct exchange *x, struct dse_error *err)
{
    memset(reader, 0, sizeof *reader);
    reader->exchange = x;
    csv_row_init(&reader->point_line);
    csv_row_init(&reader->layer_line);
    machine_init(&reader->machine, x->sweep);
    arena_init(&reader->arena);
    return journal_scan_open(x->options->tables, x->options->schema, &reader->scan, err);
}

static void reader_close(struct reader *reader)
{
    journal_scan_close(reader->scan);
    csv_row_free(&reader->point_line);
    csv_row_free(&reader->layer_line);
    arena_free(&reader->arena);
}

static enum dse_status take_layer(void *user, const struct csv_row *split, struct dse_error *err)
{
    struct reader *reader = user;
    if (csv_layer_read(reader->exchange->options->schema, split, &reader->layer))
        return DSE_OK;
    return dse_fail_at(err, DSE_BAD_INPUT, journal_scan_layer_path(reader->scan), 0,
                       "a line of a schedule has a field that is no number");
}

/* The layer of the row of a cell's own search, until another is read. */
static enum dse_status read_layer(struct reader *reader, uint32_t c, struct dse_error *err)
{
    const struct journal_row *row = &reader->exchange->cell[c].row;
    layer_record_init(&reader->layer);
    return journal_scan_layers_at(reader->scan, row->layer_offset, row->layer_length, row->layer_line,
                                  &reader->layer_line, take_layer, reader, err);
}

/* Whether a row is what this program would compute for the point: one of another version takes no part. */
static enum dse_status is_ours(struct reader *reader, const struct journal_row *row, size_t p, bool *ours,
                               struct dse_error *err)
{
    struct point_keys keys;
    sweep_point(reader->exchange->sweep, p, &reader->point);
    if (!keys_of_point(&reader->machine, &reader->point, &keys))
        return no_memory(err);
    *ours = keys.point == row->key;
    return DSE_OK;
}

/* The row of a cell's own search, or its exchanged one. */
static enum dse_status take_row(struct exchange *x, struct reader *reader, const struct journal_row *row,
                                struct dse_error *err)
{
    struct point_record point;
    bool ours = false;
    size_t p = row->cell == JOURNAL_NO_CELL ? SIZE_MAX : sweep_point_at(x->sweep, row->cell);
    size_t at = p == SIZE_MAX ? SIZE_MAX : sweep_neighbours_find(&x->neighbours, p);
    if (at == SIZE_MAX)
        return DSE_OK;
    struct partner *cell = &x->cell[at];
    DSE_TRY(is_ours(reader, row, p, &ours, err));
    cell->done = cell->done || row->exchanged;
    if (row->exchanged || !ours)
        return DSE_OK;
    if (!csv_point_read(x->options->schema, row->split, &point))
        return dse_fail(err, DSE_BAD_INPUT, "line %llu of %s has a field that is no number",
                        (unsigned long long)row->line, x->options->tables);
    cell->row = *row;
    cell->takes = row->outcome != RESULT_FAILED && row->layer_length > 0;
    if (row->outcome != RESULT_OK)
        return DSE_OK;
    cell->cost = objective_cost_of(&reader->point.settings.objective, point.energy_j, point.latency_s);
    cell->source = (uint32_t)at;
    return DSE_OK;
}

static enum dse_status read_rows(struct exchange *x, struct reader *reader, struct dse_error *err)
{
    struct journal_row row;
    bool more = true;
    for (size_t i = 0; i < x->neighbours.n; i++) {
        x->cell[i].cost = INFINITY;
        x->cell[i].source = nobody;
    }
    for (;;) {
        DSE_TRY(journal_scan_next(reader->scan, &row, &more, err));
        if (!more)
            break;
        DSE_TRY(take_row(x, reader, &row, err));
    }
    for (uint32_t i = 0; i < x->neighbours.n; i++) {
        if (x->cell[i].source == nobody)
            continue;
        DSE_TRY(read_layer(reader, i, err));
        const char *text = reader->layer.mapping ? reader->layer.mapping : "";
        x->cell[i].text = hash_of_bytes(text, strlen(text));
        if (!text[0])
            x->cell[i].source = nobody; /* nothing to offer; the row stays as it is */
    }
    return DSE_OK;
}

/* ---------------------------------------- offers */

/* Whether the cell was offered that schedule before, which it is now. */
static enum dse_status was_tried(struct partner *cell, uint32_t source, bool *tried, struct dse_error *err)
{
    for (size_t i = 0; i < cell->n_tried; i++)
        if (cell->tried[i] == source) {
            *tried = true;
            return DSE_OK;
        }
    uint32_t *grown = array_grow(cell->tried, cell->n_tried + 1, &cell->tried_capacity, sizeof *grown);
    if (!grown)
        return no_memory(err);
    cell->tried = grown;
    cell->tried[cell->n_tried++] = source;
    *tried = false;
    return DSE_OK;
}

/* What neighbour `other` has, unless the cell has the same, or had the choice. */
static enum dse_status offer(struct exchange *x, uint32_t to, uint32_t other, struct dse_error *err)
{
    struct partner *cell = &x->cell[to];
    const uint32_t from = x->cell[other].source;
    bool tried;
    if (from == nobody || from == to || from == cell->source ||
        (cell->source != nobody && x->cell[from].text == x->cell[cell->source].text))
        return DSE_OK;
    DSE_TRY(was_tried(cell, from, &tried, err));
    if (tried)
        return DSE_OK;
    struct offer *grown = array_grow(x->offer, x->n_offer + 1, &x->offer_capacity, sizeof *grown);
    if (!grown)
        return no_memory(err);
    x->offer = grown;
    x->offer[x->n_offer++] = (struct offer){.from = from, .to = to};
    return DSE_OK;
}

static enum dse_status make_offers(struct exchange *x, struct dse_error *err)
{
    const struct sweep_neighbours *n = &x->neighbours;
    x->n_offer = 0;
    for (uint32_t i = 0; i < n->n; i++)
        for (size_t k = n->first[i]; x->cell[i].takes && k < n->first[i + 1]; k++)
            DSE_TRY(offer(x, i, n->other[k], err));
    x->summary->n_offered += x->n_offer;
    return DSE_OK;
}

static enum dse_status price(struct reader *reader, struct offer *one, struct dse_error *err)
{
    const struct exchange *x = reader->exchange;
    struct sweep_point *point = &reader->point;
    if (x->options->cancel && atomic_load(x->options->cancel))
        return dse_fail(err, DSE_INTERRUPTED, "interrupted");
    arena_reset(&reader->arena);
    DSE_TRY(read_layer(reader, one->from, err));
    sweep_point(x->sweep, x->neighbours.point[one->to], point);
    if (machine_of(&reader->machine, point) != DSE_OK) {
        one->priced.fits = false;
        return reader->machine.status == DSE_NO_MEMORY ? no_memory(err) : DSE_OK;
    }
    return solve_price(&point->settings, point->workload, &reader->machine.arch, &x->shared,
                       x->options->cancel, reader->layer.mapping, &reader->arena, &one->priced, err);
}

/* One thread's part. After a failure of any thread nothing more is priced. */
static enum dse_status price_some(struct exchange *x, size_t *next, atomic_int *failed, struct dse_error *err)
{
    struct reader *reader = malloc(sizeof *reader);
    if (!reader)
        return no_memory(err);
    enum dse_status status = reader_open(reader, x, err);
    while (status == DSE_OK && !atomic_load(failed)) {
        size_t i;
#pragma omp atomic capture
        i = (*next)++;
        if (i >= x->n_offer)
            break;
        status = price(reader, &x->offer[i], err);
    }
    reader_close(reader);
    free(reader);
    return status;
}

static enum dse_status price_all(struct exchange *x, struct dse_error *err)
{
    size_t next = 0;
    atomic_int failed = 0;
    enum dse_status status = DSE_OK;
    struct dse_error first = {0};
    int n_thread = (size_t)x->options->n_thread < x->n_offer ? x->options->n_thread : (int)x->n_offer;
#pragma omp parallel num_threads(n_thread)
    {
        struct dse_error why = {0};
        enum dse_status one = price_some(x, &next, &failed, &why);
        if (one != DSE_OK) {
#pragma omp critical
            {
                status = one;
                first = why;
            }
            atomic_store(&failed, 1);
        }
    }
    if (status != DSE_OK && err)
        *err = first;
    return status;
}

/* Each cell takes the cheapest of its offers that is cheaper than what it has; of equal ones that of the
 * first cell. */
static enum dse_status take_best(struct exchange *x, bool *changed, struct dse_error *err)
{
    *changed = false;
    for (size_t i = 0; i < x->n_offer;) {
        const struct offer *best = NULL;
        const uint32_t to = x->offer[i].to;
        struct partner *cell = &x->cell[to];
        for (; i < x->n_offer && x->offer[i].to == to; i++) {
            const struct offer *one = &x->offer[i];
            if (!one->priced.fits || !(one->priced.cost < cell->cost))
                continue;
            if (!best || one->priced.cost < best->priced.cost ||
                (!(one->priced.cost > best->priced.cost) && one->from < best->from))
                best = one;
        }
        if (!best)
            continue;
        if (!cell->taken)
            cell->taken = malloc(sizeof *cell->taken);
        if (!cell->taken)
            return no_memory(err);
        *cell->taken = best->priced.schedule;
        cell->cost = best->priced.cost;
        cell->source = best->from;
        *changed = true;
    }
    return DSE_OK;
}

/* ---------------------------------------- lines */

/* The lines of a cell that has taken another's schedule. */
static enum dse_status write_cell(struct exchange *x, uint32_t c, struct reader *source,
                                  struct reader *reader, struct journal_lines *lines, struct dse_error *err)
{
    const struct partner *cell = &x->cell[c];
    const struct journal_row *row = &cell->row;
    const struct result_schema *schema = x->options->schema;
    struct sweep_point *point = &reader->point;
    struct point_record record;
    struct text_buffer from;
    DSE_TRY(read_layer(source, cell->source, err));
    DSE_TRY(read_layer(reader, c, err));
    DSE_TRY(
        journal_scan_point_at(reader->scan, row->offset, row->length, row->line, &reader->point_line, err));
    if (!csv_point_read(schema, &reader->point_line, &record))
        return dse_fail(err, DSE_INTERNAL, "line %llu cannot be read any more",
                        (unsigned long long)row->line);
    sweep_point(x->sweep, x->neighbours.point[c], point);
    record.index = point->index;
    record.key = row->key;
    text_init(&from);
    sweep_exchange_place(x->sweep, x->neighbours.point[cell->source], &from);
    const struct exchange_answer answer = {cell->taken, source->layer.mapping, from.data};
    exchange_row(schema, &point->settings, point->workload, &answer, &record, &reader->layer);
    journal_lines_clear(lines);
    enum dse_status status =
        from.failed ? no_memory(err) : journal_format(schema, &record, &reader->layer, 1, lines, err);
    text_free(&from);
    return status == DSE_OK ? x->options->take(x->options->user, row->cell, lines, err) : status;
}

static enum dse_status write_cells(struct exchange *x, struct reader *source, struct reader *reader,
                                   struct dse_error *err)
{
    struct journal_lines lines;
    enum dse_status status = DSE_OK;
    journal_lines_init(&lines);
    for (uint32_t i = 0; i < x->neighbours.n && status == DSE_OK; i++) {
        const struct partner *cell = &x->cell[i];
        x->summary->n_exchanged += cell->taken != NULL;
        if (cell->taken && !cell->done)
            status = write_cell(x, i, source, reader, &lines, err);
    }
    journal_lines_free(&lines);
    return status;
}

/* ---------------------------------------- all */

static enum dse_status run_rounds(struct exchange *x, struct reader reader[2], struct dse_error *err)
{
    bool changed = true;
    DSE_TRY(reader_open(&reader[0], x, err));
    DSE_TRY(reader_open(&reader[1], x, err));
    DSE_TRY(read_rows(x, &reader[0], err));
    while (changed) {
        DSE_TRY(make_offers(x, err));
        if (x->n_offer == 0)
            break;
        DSE_TRY(price_all(x, err));
        DSE_TRY(take_best(x, &changed, err));
    }
    return write_cells(x, &reader[0], &reader[1], err);
}

bool exchange_is_wanted(const struct sweep *sweep)
{
    return sweep->exchange && sweep->n_scheduler > 0;
}

enum dse_status exchange_run(const struct sweep *sweep, const struct exchange_options *options,
                             struct exchange_summary *summary, struct dse_error *err)
{
    struct exchange x = {.sweep = sweep, .options = options, .summary = summary};
    x.shared = (struct solve_shared){.core_cache = options->core_cache, .n_thread = 1};
    *summary = (struct exchange_summary){0};
    enum dse_status status = sweep_neighbours_init(&x.neighbours, sweep, err);
    struct reader *reader = calloc(2, sizeof *reader);
    x.cell = calloc(x.neighbours.n + 1, sizeof *x.cell);
    if (status == DSE_OK && (!reader || !x.cell))
        status = no_memory(err);
    if (status == DSE_OK && x.neighbours.n > 0) {
        status = run_rounds(&x, reader, err);
        reader_close(&reader[0]);
        reader_close(&reader[1]);
    }
    for (size_t i = 0; x.cell && i < x.neighbours.n; i++) {
        free(x.cell[i].tried);
        free(x.cell[i].taken);
    }
    free(x.cell);
    free(x.offer);
    free(reader);
    sweep_neighbours_free(&x.neighbours);
    return status;
}
