/* The built-in intra-tile scheduler: every spatial partition, block and sharing option, smallest energy x
 * time. The letters are those of docs/core-array.md. */
#include <float.h>
#include <stddef.h>

#include "costmodel/fused/core_array.h"

enum dim { DIM_C, DIM_K, DIM_B, DIM_H, DIM_W, N_DIM };

/* On the rows and on the columns of the PE grid. */
static const uint8_t partition_table[][2] = {
    {DIM_C, DIM_K}, {DIM_C, DIM_B}, {DIM_B, DIM_K}, {DIM_C, DIM_W}, {DIM_H, DIM_K}, {DIM_H, DIM_W},
};

enum { BUS_BYTE_PER_CYCLE = 64 };

/* One of the two window axes of a layer; `kernel` is the reach of a dilated one. Inputs that `n` pieces of
 * the outputs need: fresh per output, and `overlap` more for each piece but the first. (The outer border is
 * counted as padding.) A kernel smaller than its stride leaves gaps, which need not be read. */
struct axis {
    uint64_t out, kernel;
    uint64_t fresh, overlap; /* compat: overlap is a difference mod 2^32 */
    uint64_t step;           /* in a PE, from one output's window to the next */
};

/* One group of the tile, and what no choice changes. */
struct work {
    const struct core_array *core;
    bool compat;
    struct axis row, column;
    uint64_t b, k, c, window; /* window: R S */
    uint64_t group;           /* groups computed in all (nG) */
    uint64_t together;        /* of them at once (nDup); 0 in compat when one does not fit the lanes */
    uint64_t turn;            /* one after the other (TG) */
    uint64_t total, filter, output;
    uint64_t input_use, output_use; /* L1 accesses per lane group: total / K, total / C */
};

/* A spatial partition: PEs along each dimension, and how much of each one PE has, in lanes. */
struct partition {
    uint64_t pe[N_DIM], weight_copies, input_copies; /* copies: wdup, adup */
    uint64_t c, k, h, w, b;                          /* TC, TK, TH, TW, TB */
    uint64_t c_part, k_part;                         /* OC, OK */
    uint64_t cycle, free_read;                       /* free_read: bytes from the GBUF in that time */
    uint64_t input_room, output_room;                /* a, ol: entries of AL1 and OL1 per lane */
    uint64_t k_block, k_step, k_bus;                 /* K1, KT, kb */
};

/* A block of outputs that a PE holds at once, in how many steps, and a way to share data between PEs. */
struct block {
    uint64_t h, w, h_step, w_step, w_bus; /* h1, w1, H3, WT, wb */
    bool share_weights, share_inputs, hold_weights;
};

/* Bytes to and from each memory for one group. */
struct access {
    uint64_t input_read, input_write, weight_read, weight_write, output_read, output_write;
    uint64_t buffer_read, held_read, bus; /* held_read: the weights on the way to a "weight L2" */
};

struct choice {
    double cost;
    uint64_t cycle;
    struct access access;
};

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t wrap(const struct work *work, uint64_t value)
{
    return work->compat ? (uint32_t)value : value;
}

static struct axis make_axis(uint32_t out, uint64_t kernel, uint32_t stride, bool compat)
{
    struct axis axis = {out, kernel, 1, (uint32_t)(kernel - stride), stride};
    if (!compat) {
        axis.fresh = axis.step = min_of(kernel, stride);
        axis.overlap = kernel > stride ? kernel - stride : 0;
    }
    return axis;
}

/* rows(x), cols(x) for `pieces` = x p. */
static uint64_t axis_inputs(const struct work *work, const struct axis *axis, uint64_t pieces)
{
    if (!work->compat)
        pieces = min_of(pieces, axis->out);
    return wrap(work, axis->fresh * axis->out + axis->overlap * (pieces - 1));
}

static struct work make_work(const struct core_array *core, const struct core_tile *tile, bool compat)
{
    uint64_t group_k = tile->group_k ? tile->group_k : tile->k / tile->groups;
    struct work work = {
        .core = core,
        .compat = compat,
        .row = make_axis(tile->h, core_window_reach(tile->r, tile->dilation_h), tile->stride_h, compat),
        .column = make_axis(tile->w, core_window_reach(tile->s, tile->dilation_w), tile->stride_w, compat),
        .b = tile->weights_from_layer ? 1 : tile->b,
        .k = group_k,
        .c = tile->c / tile->groups,
        .window = (uint64_t)tile->r * tile->s,
        .group = ceil_div(tile->k, group_k) * (tile->weights_from_layer ? tile->b : 1),
        .together = 1,
    };
    work.turn = work.group;
    if (work.group > 1) {
        work.together = min_of(core->lane_c / work.c, core->lane_k / work.k);
        if (work.together > 1) {
            work.together = min_of(work.together, work.group);
            work.turn = ceil_div(work.group, work.together);
        } else if (!compat) {
            work.together = 1;
        }
    }
    work.output = work.k * tile->h * tile->w * work.b;
    work.filter = work.window * work.c * work.k;
    work.input_use = work.b * tile->h * tile->w * work.c * work.window;
    work.output_use = work.output * work.window;
    work.total = work.output_use * work.c;
    return work;
}

/* False when not even the smallest block fits. */
static bool make_partition(const struct work *work, const uint8_t on_grid[2], struct partition *part)
{
    const struct core_array *core = work->core;
    *part = (struct partition){.pe = {1, 1, 1, 1, 1}};
    part->pe[on_grid[0]] = core->size.pe_rows;
    part->pe[on_grid[1]] = core->size.pe_columns;
    part->weight_copies = part->pe[DIM_H] * part->pe[DIM_W] * part->pe[DIM_B];
    part->input_copies = part->pe[DIM_K];
    part->c = ceil_div(work->c, core->lane_c * part->pe[DIM_C]);
    part->k = ceil_div(work->k, core->lane_k * part->pe[DIM_K]);
    part->h = ceil_div(work->row.out, part->pe[DIM_H]);
    part->w = ceil_div(work->column.out, part->pe[DIM_W]);
    part->b = ceil_div(work->b, part->pe[DIM_B]);
    part->c_part = ceil_div(work->c, part->pe[DIM_C]);
    part->k_part = ceil_div(work->k, part->pe[DIM_K]);
    part->cycle = part->c * part->k * part->h * part->w * part->b * work->window;
    struct byte_rate rate = core->size.buffer_read;
    part->free_read = byte_rate_scaled(part->cycle, rate.byte, rate.cycle, false);
    part->input_room = core->input_byte / core->lane_c / part->c;
    part->output_room = core->output_byte / core->lane_k;
    uint64_t k_room = core->weight_byte / core->lane_c / (work->window * part->c);
    if (!part->output_room || !k_room || part->input_room / work->row.kernel < work->column.kernel)
        return false;
    part->k_block = min_of(part->k, k_room);
    part->k_step = ceil_div(part->k, part->k_block);
    part->k_bus = min_of(part->k_step, part->weight_copies);
    return true;
}

/* A bus of 64 bytes per cycle must pass on a block's data while the block is computed. */
static bool bus_keeps_up(const struct work *work, const struct partition *part, const struct block *block)
{
    uint64_t span = work->window * part->c * part->k_block * block->h * block->w * BUS_BYTE_PER_CYCLE;
    if (block->share_weights) {
        uint64_t block_k = min_of(part->k_part, part->k_block * work->core->lane_k);
        if (span < work->window * part->c_part * block_k * work->together)
            return false;
    }
    if (block->share_inputs) {
        uint64_t rows = wrap(work, block->h * work->row.fresh + work->row.overlap);
        uint64_t inputs = rows * block->w * work->column.fresh * part->c_part;
        if (span * (block->share_weights ? part->k_bus : 1) < inputs * work->together)
            return false;
    }
    return true;
}

/* What passes over a bus is not read from another PE's L1 again where the last round of a ring is not
 * full. */
static uint64_t input_share(const struct work *work, const struct partition *part, const struct block *block,
                            uint64_t rows_held, uint64_t k3)
{
    uint64_t copies = part->input_copies, rest = block->w_step % copies;
    uint64_t u = rest ? copies - rest : 0; /* ((copies - 1) WT) mod copies */
    uint64_t full = block->w * (block->w_step - rest) * work->column.fresh;
    uint64_t pe = part->pe[DIM_W], overlap = work->column.overlap;
    uint64_t columns = wrap(work, work->column.fresh * work->column.out - (full - overlap) * pe);
    return u ? (rows_held * columns * k3 + rows_held * overlap * pe * k3) * u : 0;
}

static uint64_t weight_share(const struct work *work, const struct partition *part, uint64_t rounds)
{
    uint64_t copies = part->weight_copies, rest = part->k_step % copies;
    uint64_t v = rest ? copies - rest : 0; /* ((copies - 1) KT) mod copies */
    uint64_t full = part->k_block * work->core->lane_k * part->pe[DIM_K] * (part->k_step - rest);
    return v ? work->window * work->c * wrap(work, work->k - full) * rounds * v : 0;
}

static uint64_t floor_difference(const struct work *work, uint64_t a, uint64_t b)
{
    return a >= b || work->compat ? a - b : 0;
}

static struct access count_outputs(const struct work *work, const struct partition *part)
{
    uint64_t writes = work->output_use * part->c * part->pe[DIM_C];
    return (struct access){.output_write = writes, .output_read = writes + part->pe[DIM_C] * work->output};
}

static void count_inputs(const struct work *work, const struct partition *part, const struct block *block,
                         uint64_t k3, uint64_t w3, struct access *access)
{
    uint64_t h_step = block->h_step, copies = part->input_copies, cb = work->c * work->b;
    uint64_t p_h = part->pe[DIM_H], p_w = part->pe[DIM_W];
    uint64_t rows_held =
        wrap(work, axis_inputs(work, &work->row, (block->w_step == 1 ? 1 : h_step) * p_h) * cb);
    uint64_t once = axis_inputs(work, &work->row, (w3 == 1 ? 1 : h_step) * p_h);
    once = wrap(work, once * axis_inputs(work, &work->column, p_w)) * cb;
    bool stay = block->share_weights && block->share_inputs && !block->hold_weights;
    access->buffer_read = once * (stay ? 1 : k3);
    access->input_write =
        rows_held * axis_inputs(work, &work->column, (block->share_inputs ? w3 : 1) * p_w) * k3 * copies;
    access->input_read = work->input_use * part->k * part->pe[DIM_K];
    if (!block->share_inputs)
        return;
    access->input_write += rows_held * work->column.overlap * p_w * k3 * w3 * (copies - 1);
    uint64_t passed = floor_difference(work, access->input_write, access->buffer_read);
    access->bus += passed;
    access->input_read =
        floor_difference(work, access->input_read + passed, input_share(work, part, block, rows_held, k3));
}

static void count_weights(const struct work *work, const struct partition *part, const struct block *block,
                          uint64_t w3, struct access *access)
{
    uint64_t rounds = block->w_step * block->h_step * part->b, fewer = w3 * block->h_step * part->b;
    uint64_t writes = block->share_weights ? rounds : block->hold_weights ? fewer : 1;
    uint64_t out = work->filter * (block->share_inputs || block->hold_weights ? fewer : 1);
    access->buffer_read += block->hold_weights ? work->filter : out;
    access->held_read = block->hold_weights ? out : 0;
    access->weight_write = work->filter * writes * part->weight_copies;
    access->weight_read = work->filter * rounds * part->weight_copies;
    if (!block->share_weights)
        return;
    uint64_t passed = floor_difference(work, access->weight_write, out);
    access->bus += passed;
    access->weight_read =
        floor_difference(work, access->weight_read + passed, weight_share(work, part, writes));
}

static struct core_cost price(const struct work *work, const struct access *access)
{
    const struct core_array *core = work->core;
    double group = (double)work->group, output = (double)work->output;
    struct core_cost cost = {
        .buffer_energy_j =
            group * ((double)access->buffer_read * core->buffer_read_j + output * core->buffer_write_j),
        .local_energy_j = group * ((double)access->input_read * core->input_read_j +
                                   (double)access->input_write * core->input_write_j +
                                   (double)access->weight_read * core->weight_read_j +
                                   (double)access->weight_write * core->weight_write_j +
                                   (double)access->output_read * core->output_read_j +
                                   (double)access->output_write * core->output_write_j +
                                   output * (core->collect_read_j + core->collect_write_j)),
        .bus_energy_j = group * (double)access->bus * core->bus_j,
        .mac_energy_j = group * (double)work->total * core->mac_j,
    };
    cost.energy_j = cost.buffer_energy_j + cost.local_energy_j + cost.bus_energy_j + cost.mac_energy_j;
    return cost;
}

/* The cycles when so many bytes come from the GBUF meanwhile. */
static uint64_t stalled(const struct work *work, uint64_t cycle, uint64_t free_read, uint64_t read)
{
    uint64_t byte = read * work->together;
    if (byte <= free_read)
        return cycle;
    uint64_t wait = byte_rate_cycle(byte, work->core->size.buffer_read);
    return cycle > wait ? cycle : wait;
}

static void try_option(const struct work *work, const struct partition *part, const struct block *block,
                       struct choice *best)
{
    if (!bus_keeps_up(work, part, block))
        return;
    uint64_t k3 = block->share_weights ? ceil_div(part->k_step, part->k_bus) : part->k_step;
    uint64_t w3 = block->share_inputs ? ceil_div(block->w_step, block->w_bus) : block->w_step;
    struct access access = count_outputs(work, part);
    count_inputs(work, part, block, k3, w3, &access);
    count_weights(work, part, block, w3, &access);
    uint64_t cycle = stalled(work, part->cycle, part->free_read, access.buffer_read);
    cycle = stalled(work, cycle, part->free_read, access.held_read);
    double cost = price(work, &access).energy_j * (double)cycle;
    if (cost < best->cost)
        *best = (struct choice){cost, cycle, access};
}

/* Which sharing is tried for a block. The "weight L2" has no capacity in these machines, so only compat has
 * it. */
static void try_options(const struct work *work, const struct partition *part, struct block *block,
                        struct choice *best)
{
    bool again = part->b > 1 || block->h_step > 1; /* the same weights come once more */
    bool weights = part->k_bus > 1, ring = weights && part->k_step > part->k_bus;
    block->share_weights = block->share_inputs = block->hold_weights = false;
    try_option(work, part, block, best);
    block->share_weights = true;
    if (again && block->w_step > 1 && weights)
        try_option(work, part, block, best);
    if (block->w_bus <= 1)
        return;
    block->share_inputs = true;
    if (ring)
        try_option(work, part, block, best);
    if (!work->compat || !again || block->w_step <= block->w_bus)
        return;
    block->hold_weights = true;
    block->share_weights = false;
    if (part->k_step > 1)
        try_option(work, part, block, best);
    block->share_weights = true;
    if (ring)
        try_option(work, part, block, best);
}

static void try_partition(const struct work *work, const struct partition *part, struct choice *best)
{
    const struct axis *row = &work->row, *column = &work->column;
    uint64_t room = part->input_room, last = 0;
    uint64_t w = min_of((room / row->kernel - column->kernel) / column->step + 1, part->output_room);
    for (w = min_of(w, part->w); w >= 1; w--) {
        struct block block = {.w = w};
        uint64_t rows = room / ((w - 1) * column->step + column->kernel);
        block.h = min_of((rows - row->kernel) / row->step + 1, part->output_room / w);
        block.h = min_of(block.h, part->h);
        if (block.h == last)
            continue;
        last = block.h;
        block.h_step = ceil_div(part->h, block.h);
        block.w_step = ceil_div(part->w, w);
        block.w_bus = min_of(block.w_step, part->input_copies);
        try_options(work, part, &block, best);
    }
}

/* No block of the partition can beat `best`: the outputs alone, without a stall, cost more; with the reads of
 * AL1 where no PEs share inputs, so that every block has the same. The margin is for rounding. */
static bool hopeless(const struct work *work, const struct partition *part, const struct choice *best)
{
    static const double margin = 1 - 1e-9;
    struct access access = count_outputs(work, part);
    if (part->input_copies == 1)
        access.input_read = work->input_use * part->k;
    return price(work, &access).energy_j * (double)part->cycle * margin > best->cost;
}

enum dse_status core_array_matrix_cost(const struct core_array *core, const struct core_tile *tile,
                                       bool compat, struct core_cost *cost, struct dse_error *err)
{
    const struct work tile_work = make_work(core, tile, compat), *work = &tile_work;
    struct choice best = {.cost = DBL_MAX};
    for (size_t i = 0; i < sizeof partition_table / sizeof *partition_table; i++) {
        struct partition part;
        if (make_partition(work, partition_table[i], &part) && !hopeless(work, &part, &best))
            try_partition(work, &part, &best);
    }
    if (best.cost >= DBL_MAX)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "no spatial partition fits a tile of %llu input channels and a window of %llu x %llu into "
            "the L1 buffers of a PE; use a larger PE",
            (unsigned long long)work->c, (unsigned long long)work->row.kernel,
            (unsigned long long)work->column.kernel);
    *cost = price(work, &best.access);
    cost->cycle = best.cycle * work->turn;
    return DSE_OK;
}
