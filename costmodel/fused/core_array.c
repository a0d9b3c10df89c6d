/* The tables of lanes and SRAM energies of the published program, and the unit energies of one core array
 * made from them; then the checks of a tile, and the scheduler of its kind. */
#include "costmodel/fused/core_array.h"

#include <math.h>
#include <stddef.h>

#include "costmodel/model/divisor.h"

/* Lanes of a PE by its MAC units. */
struct lanes {
    uint32_t mac, c, k;
};

static const struct lanes lane_table[] = {
    {32, 4, 8}, {64, 8, 8}, {128, 8, 16}, {256, 16, 16}, {512, 16, 32}, {4096, 64, 64},
};

/* Energy of a small SRAM, pJ per bit, by word width and size. The rest of the unit energies is from the same
 * place: the published program's parameters (docs/core-array.md). */
struct sram {
    uint32_t bit, byte;
    double read_pj, write_pj;
};

static const struct sram sram_table[] = {
    {256, 32768, .065678125, .0641375}, {256, 16384, .06311875, .05563125},
    {256, 8192, .051290625, .04560625}, {256, 4096, .049, .064},
    {128, 32768, .106675, .10539375},   {128, 16384, .06848125, .06684375},
    {128, 8192, .06553125, .057975},    {128, 4096, .05336875, .0476625},
    {128, 2048, .06025625, .06025625},  {64, 32768, .194775, .1923},
    {64, 16384, .112, .110675},         {64, 8192, .0740875, .0722625},
    {64, 4096, .0703625, .0626625},     {64, 2048, .057525, .051775},
    {32, 32768, .194775, .1923},        {32, 16384, .112, .110675},
    {32, 8192, .11608, .13898},         {32, 4096, .07422, .09414},
    {32, 2048, .06326, .08034},         {32, 1024, .07952, .0981},
};

enum { WIDEST_BIT = 256, LARGEST_BYTE = 32768, VECTOR_SHARE = 16, GRID_MAX = 1024, EXTENT_BIT_MAX = 61 };

/* From pJ per bit to J per byte: 8 bits, and the program's factor 0.6 on its table. */
static const double byte_j = 8 * 0.6 * 1e-12;
static const double broadcast_pj = 0.1 / 8; /* per bit read from AL1 and output lane */
static const double mac_j = 0.018e-12, vector_j = 0.0873e-12, bus_j = 0.018e-12;
static const double buffer_read_pj = .217125, buffer_write_pj = .234025;      /* GBUF below 2 MiB, per bit */
static const double collect_read_pj = .07648125, collect_write_pj = .0989875; /* OL2, likewise */
static const double growth = 1.1; /* of an energy per 2 MiB of GBUF, or per part of a wide SRAM */

static const struct lanes *find_lanes(uint32_t mac)
{
    for (size_t i = 0; i < sizeof lane_table / sizeof *lane_table; i++) {
        if (lane_table[i].mac == mac)
            return &lane_table[i];
    }
    return NULL;
}

/* The energy of an L1 buffer in J per byte; false when the table has no such SRAM. A wider word is made of
 * 256-bit parts. */
static bool sram_energy(uint64_t bit, uint64_t byte, double extra_pj, double *read_j, double *write_j)
{
    double factor = 1;
    if (bit > WIDEST_BIT) {
        uint64_t part = byte / (bit / WIDEST_BIT);
        factor = pow(growth, (double)(byte / part));
        byte = part < LARGEST_BYTE ? part : LARGEST_BYTE;
        bit = WIDEST_BIT;
    }
    for (size_t i = 0; i < sizeof sram_table / sizeof *sram_table; i++) {
        const struct sram *sram = &sram_table[i];
        if (sram->bit != bit || sram->byte != byte)
            continue;
        *read_j = (sram->read_pj * factor + extra_pj) * byte_j;
        *write_j = sram->write_pj * factor * byte_j;
        return true;
    }
    return false;
}

static enum dse_status check_size(const struct core_array_size *size, struct dse_error *err)
{
    if (!find_lanes(size->mac_per_pe))
        return dse_fail(err, DSE_BAD_INPUT,
                        "a PE has 32, 64, 128, 256, 512 or 4096 MAC units in this core-array model, not %u",
                        size->mac_per_pe);
    if (size->pe_rows < 1 || size->pe_rows > GRID_MAX || size->pe_columns < 1 || size->pe_columns > GRID_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "a core array has 1 to %d rows and columns of PEs, not %u x %u",
                        GRID_MAX, size->pe_rows, size->pe_columns);
    /* The energy grows as 1.1^(bytes / 2 MiB), which must stay a double. */
    if (size->buffer_byte < 1 || size->buffer_byte > 1ull << 33)
        return dse_fail(err, DSE_BAD_INPUT, "the global buffer has 1 byte to 8 GiB, not %llu bytes",
                        (unsigned long long)size->buffer_byte);
    if (size->buffer_read.byte < 1 || size->buffer_read.cycle < 1)
        return dse_fail(
            err, DSE_BAD_INPUT, "the global buffer delivers %llu bytes in %llu cycles; both are 1 or more",
            (unsigned long long)size->buffer_read.byte, (unsigned long long)size->buffer_read.cycle);
    return DSE_OK;
}

enum dse_status core_array_init(const struct core_array_size *size, struct core_array *core,
                                struct dse_error *err)
{
    DSE_TRY(check_size(size, err));
    const struct lanes *lanes = find_lanes(size->mac_per_pe);
    double larger = pow(growth, (double)(size->buffer_byte >> 21));
    uint64_t mac = (uint64_t)size->mac_per_pe * size->pe_rows * size->pe_columns;
    *core = (struct core_array){
        .size = *size,
        .lane_c = lanes->c,
        .lane_k = lanes->k,
        .input_byte = 1024ull * lanes->c,
        .weight_byte = 1024ull * (4 * lanes->k * lanes->c / 64),
        .output_byte = 1024ull * (2 * lanes->k / 8),
        .buffer_read_j = buffer_read_pj * byte_j * larger,
        .buffer_write_j = buffer_write_pj * byte_j * larger,
        .collect_read_j = collect_read_pj * byte_j * larger,
        .collect_write_j = collect_write_pj * byte_j * larger,
        .bus_j = bus_j,
        .mac_j = mac_j,
        .vector_j = vector_j,
        .vector_per_cycle = (uint32_t)(mac > VECTOR_SHARE ? mac / VECTOR_SHARE : 1),
    };
    if (!sram_energy(8ull * lanes->c, core->input_byte, broadcast_pj * lanes->k, &core->input_read_j,
                     &core->input_write_j) ||
        !sram_energy(8ull * lanes->c, core->weight_byte, 0, &core->weight_read_j, &core->weight_write_j) ||
        !sram_energy(16ull * lanes->k, core->output_byte, 0, &core->output_read_j, &core->output_write_j))
        return dse_fail(err, DSE_INTERNAL, "no SRAM energies for a PE of %u MAC units", size->mac_per_pe);
    return DSE_OK;
}

static enum dse_status check_tile(const struct core_tile *tile, struct dse_error *err)
{
    if (!tile->b || !tile->k || !tile->c || !tile->h || !tile->w || !tile->r || !tile->s || !tile->stride_h ||
        !tile->stride_w || !tile->groups)
        return dse_fail(err, DSE_BAD_INPUT, "a tile's extents, window, strides and groups are at least 1");
    if (tile->operation == CORE_VECTOR && !tile->operands)
        return dse_fail(err, DSE_BAD_INPUT, "an element-wise tile has at least 1 operand");
    return DSE_OK;
}

/* All counts of a tile stay below 2^61. */
static enum dse_status check_matrix(const struct core_array *core, const struct core_tile *tile,
                                    struct dse_error *err)
{
    double most = (double)tile->b * tile->k * tile->c * tile->h * tile->w * core->size.pe_rows *
                  core->size.pe_columns * 4 *
                  ((double)core_window_reach(tile->r, tile->dilation_h) + tile->stride_h) *
                  ((double)core_window_reach(tile->s, tile->dilation_w) + tile->stride_w);
    if ((!tile->group_k && tile->k % tile->groups) || tile->c % tile->groups)
        return dse_fail(err, DSE_BAD_INPUT, "%u groups do not divide %u input and %u output channels",
                        tile->groups, tile->c, tile->k);
    if (tile->group_k > tile->k)
        return dse_fail(err, DSE_BAD_INPUT, "a group of %u output channels in a tile of %u", tile->group_k,
                        tile->k);
    if (most > (double)(1ull << EXTENT_BIT_MAX))
        return dse_fail(err, DSE_LIMIT,
                        "a tile of %u x %u x %u outputs and %u x %u channels is too large to count", tile->b,
                        tile->h, tile->w, tile->c, tile->k);
    return DSE_OK;
}

static enum dse_status vector_cost(const struct core_array *core, const struct core_tile *tile,
                                   struct core_cost *cost, struct dse_error *err)
{
    double most = (double)tile->k * tile->h * tile->w * tile->b * tile->operands * tile->r * tile->s;
    if (most > (double)(1ull << EXTENT_BIT_MAX))
        return dse_fail(err, DSE_LIMIT, "a vector tile of %.3g operations is too large to count", most);
    uint64_t operations =
        (uint64_t)tile->k * tile->h * tile->w * tile->b * tile->operands * tile->r * tile->s;
    *cost = (struct core_cost){.cycle = operations / core->vector_per_cycle +
                                        (operations % core->vector_per_cycle != 0),
                               .mac_energy_j = (double)operations * core->vector_j};
    cost->energy_j = cost->mac_energy_j;
    return DSE_OK;
}

enum dse_status core_array_cost(const struct core_array *core, const struct core_tile *tile, bool compat,
                                struct core_cost *cost, struct dse_error *err)
{
    DSE_TRY(check_tile(tile, err));
    if (tile->operation == CORE_VECTOR)
        return vector_cost(core, tile, cost, err);
    DSE_TRY(check_matrix(core, tile, err));
    return core_array_matrix_cost(core, tile, compat, cost, err);
}

static enum dse_status search_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                   struct dse_error *err)
{
    const struct core_array_search *search = self;
    return core_array_cost(&search->core, tile, search->compat, cost, err);
}

struct core_scheduler core_array_scheduler(const struct core_array_search *search)
{
    return (struct core_scheduler){search, search_cost};
}

/* One direction of a transposed convolution as a convolution over input positions: `step` output rows belong
 * to a row of them, `made` of which have taps, at most so many each; from tap to tap it is `dilation` input
 * rows. Where the stride divides the filter, without dilation, all have equally many (layer_is_subpixel). */
struct spread {
    uint32_t step, made, taps, dilation;
};

/* Output row i stride + r dilation has the taps r of one remainder modulo stride / gcd(stride, dilation), if
 * any. */
static struct spread spread_of(const struct layer *layer, int direction)
{
    const uint32_t stride = layer->stride[direction], dilation = layer->dilation[direction];
    const uint32_t common = (uint32_t)greatest_common_divisor(stride, dilation), made = stride / common;
    return (struct spread){stride, made, ((direction ? layer->s : layer->r) - 1) / made + 1,
                           dilation / common};
}

static void spread_tile(const struct layer *layer, struct core_tile *tile)
{
    const struct spread v = spread_of(layer, 0), u = spread_of(layer, 1);
    tile->k *= v.made * u.made;
    tile->group_k *= v.made * u.made;
    tile->h = (tile->h + v.step - 1) / v.step;
    tile->w = (tile->w + u.step - 1) / u.step;
    tile->r = v.taps;
    tile->s = u.taps;
    tile->dilation_h = v.dilation;
    tile->dilation_w = u.dilation;
}

struct core_tile core_tile_of(const struct layer *layer, uint32_t b, uint32_t k, uint32_t h, uint32_t w)
{
    uint32_t groups = layer->groups, group_k = layer->k / groups;
    if (k < layer->k && k % group_k == 0)
        groups = k / group_k;
    const bool window = layer->type == LAYER_CONV || layer->type == LAYER_POOL;
    struct core_tile tile = {
        .operation = layer_has_macs(layer) ? CORE_MATRIX : CORE_VECTOR,
        .b = b,
        .k = k,
        .c = layer->c / layer->groups * groups,
        .h = h,
        .w = w,
        .r = layer->r,
        .s = layer->s,
        .stride_h = window ? layer->stride[0] : 1,
        .stride_w = window ? layer->stride[1] : 1,
        .groups = groups,
        .group_k = layer->groups > 1 ? group_k : 0, /* compat: k may be more than layer->k */
        .weights_from_layer = layer->weight_producer != LAYER_NO_PRODUCER,
        .operands = layer->n_operand,
        .dilation_h = layer->dilation[0],
        .dilation_w = layer->dilation[1],
    };
    if (layer->type == LAYER_CONV_TRANSPOSE)
        spread_tile(layer, &tile);
    /* Groups with one second operand are rows of one product; a tile of some of them has those it has. */
    if (layer->share > 1 && k == groups * group_k) {
        const uint32_t together = (uint32_t)greatest_common_divisor(groups, layer->share);
        tile.groups /= together;
        tile.k /= together;
        tile.c /= together;
        tile.w *= together;
    }
    return tile;
}
