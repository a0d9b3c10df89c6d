/* What a tile needs of a source, exactly: one range per dimension. */
#include "engines/soma/notation/tile_plan.h"

static struct soma_range range_of(int64_t low, int64_t high)
{
    return low <= high ? (struct soma_range){(uint32_t)low, (uint32_t)high + 1} : (struct soma_range){0, 0};
}

static int64_t ceil_divide(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Rows (or columns) of a source of `extent` that output rows `of` of a window operator read. Padding above
 * and below is none of it, and with dilation or a stride beyond the kernel the first real row need not be row
 * 0. */
static struct soma_range window_range(const struct layer *layer, int direction, struct soma_range of,
                                      uint32_t extent)
{
    int64_t filter = direction == 0 ? layer->r : layer->s;
    int64_t stride = layer->stride[direction], dilation = layer->dilation[direction];
    int64_t pad = layer->pad[direction], low = extent, high = -1, last = (int64_t)extent - 1;
    for (int64_t p = of.begin; p < (int64_t)of.end; p++) {
        int64_t first = p * stride - pad;
        int64_t skip = first < 0 ? ceil_divide(-first, dilation) : 0;
        if (skip < filter && first + skip * dilation < low)
            low = first + skip * dilation;
        if (first >= 0 || low == 0)
            break;
    }
    for (int64_t p = (int64_t)of.end - 1; p >= (int64_t)of.begin; p--) {
        int64_t final = p * stride - pad + (filter - 1) * dilation;
        int64_t skip = final > last ? ceil_divide(final - last, dilation) : 0;
        if (skip < filter && final - skip * dilation > high)
            high = final - skip * dilation;
        if (final <= last || high == last)
            break;
    }
    return range_of(low, high);
}

/* Whether a tap of a transposed convolution takes input row i to one of output rows `of`: i stride - pad + r
 * dilation for a tap r. */
static bool reaches(const struct layer *layer, int direction, int64_t i, struct soma_range of)
{
    const int64_t filter = direction == 0 ? layer->r : layer->s, dilation = layer->dilation[direction];
    const int64_t low = (int64_t)of.begin + layer->pad[direction] - i * layer->stride[direction];
    const int64_t r = low > 0 ? ceil_divide(low, dilation) : 0;
    return r < filter && r * dilation < low + of.end - of.begin;
}

/* The rows of the source that a transposed convolution reads for output rows `of`: with a stride beyond the
 * filter, or dilation, some output rows have no tap, and those on either side may pass over input rows. */
static struct soma_range spread_range(const struct layer *layer, int direction, struct soma_range of,
                                      uint32_t extent)
{
    const int64_t filter = direction == 0 ? layer->r : layer->s, stride = layer->stride[direction];
    const int64_t reach = (filter - 1) * layer->dilation[direction], pad = layer->pad[direction];
    const int64_t first = (int64_t)of.begin + pad - reach, last = ((int64_t)of.end - 1 + pad) / stride;
    int64_t low = first > 0 ? ceil_divide(first, stride) : 0,
            high = last < extent ? last : (int64_t)extent - 1;
    while (low <= high && !reaches(layer, direction, low, of))
        low++;
    while (high > low && !reaches(layer, direction, high, of))
        high--;
    return range_of(low, high);
}

static struct soma_range rows_range(const struct layer *layer, int direction, struct soma_range of,
                                    uint32_t extent)
{
    uint32_t factor = layer->stride[direction], offset = layer->pad[direction];
    switch (layer->type) {
    case LAYER_CONV:
    case LAYER_POOL:
        return window_range(layer, direction, of, extent);
    case LAYER_CONV_TRANSPOSE:
        return spread_range(layer, direction, of, extent);
    case LAYER_UPSAMPLE:
        return range_of(of.begin / factor, ((int64_t)of.end - 1) / factor);
    case LAYER_CROP:
        return (struct soma_range){of.begin + offset, of.end + offset};
    default:
        return of;
    }
}

/* Input channels that a layer with groups reads for output channels `of`: those of their groups. */
static struct soma_range group_channels(const struct layer *layer, struct soma_range of)
{
    uint32_t k = layer->k / layer->groups, c = layer->c / layer->groups;
    return (struct soma_range){of.begin / k * c, (of.end + k - 1) / k * c};
}

/* The layer's producers fill its channels one after the other (add, mul: again for each operand). */
static struct soma_range channel_range(const struct network *network, const struct soma_operand *operand,
                                       struct soma_range of)
{
    const struct layer *layer = &network->layer[operand->layer];
    struct soma_range found = {operand->k, 0};
    if (layer_has_macs(layer) || layer->groups > 1)
        of = group_channels(layer, of);
    if (of.begin == 0 && of.end == layer->c)
        return (struct soma_range){operand->first_k, operand->first_k + operand->n_k};
    for (uint32_t i = 0, at = 0, o = 0; i < layer->n_producer; i++) {
        int32_t source = layer->producer[i];
        uint32_t skip = layer_skip(layer, o);
        uint32_t k = source < 0 ? network->input[-1 - source].c : network->layer[source].k;
        if (source == operand->source) {
            uint32_t begin = of.begin + skip > at ? of.begin + skip - at : 0;
            uint32_t end = of.end + skip < at + k ? of.end + skip : at + k;
            if (end > at + begin) {
                found.begin = begin < found.begin ? begin : found.begin;
                found.end = end - at > found.end ? end - at : found.end;
            }
        }
        at += k;
        if (layer->n_operand > 1 && at >= skip + layer->c)
            at = 0, o++;
    }
    return found;
}

struct soma_range soma_need_range(const struct network *network, const struct soma_operand *operand,
                                  enum soma_dim dim, struct soma_range of)
{
    const struct layer *layer = &network->layer[operand->layer];
    if (dim == SOMA_K)
        return channel_range(network, operand, of);
    if (dim == SOMA_B || operand->second || operand->flattened)
        return of;
    return rows_range(layer, dim == SOMA_H ? 0 : 1, of, dim == SOMA_H ? operand->h : operand->w);
}

/* Whether a range of the source is needed as it is: elements of their own, or a window of one. */
static bool needs_same(const struct layer *layer, const struct soma_operand *operand, enum soma_dim dim)
{
    const int direction = dim == SOMA_H ? 0 : 1;
    if (dim == SOMA_K)
        return false;
    if (dim == SOMA_B || operand->second || operand->flattened)
        return true;
    switch (layer->type) {
    case LAYER_CONV:
    case LAYER_POOL:
        if (layer->stride[direction] != 1 || layer->pad[direction] != 0)
            return false;
        return direction == 0 ? layer->r == 1 && layer->p <= operand->h
                              : layer->s == 1 && layer->q <= operand->w; /* no padding behind */
    case LAYER_CONV_TRANSPOSE:
    case LAYER_UPSAMPLE:
    case LAYER_CROP:
        return false;
    default:
        return true;
    }
}

void soma_unite_needs(const struct network *network, const struct soma_operand *operand, enum soma_dim dim,
                      const struct soma_range *of, uint32_t step, uint32_t n, struct soma_range *all)
{
    const bool same = needs_same(&network->layer[operand->layer], operand, dim);
    for (uint32_t i = 0; i < n; i++, of += step) {
        const struct soma_range need = same ? *of : soma_need_range(network, operand, dim, *of);
        if (need.end <= need.begin)
            continue;
        all[i].begin = need.begin < all[i].begin ? need.begin : all[i].begin;
        all[i].end = need.end > all[i].end ? need.end : all[i].end;
    }
}

/* Default rules: the extents of what a tile needs of a source; false when it needs nothing of it. */
static bool tile_need(const struct soma_plan *plan, const struct soma_operand *operand,
                      const struct soma_place *place, struct soma_shape *need)
{
    const struct soma_layer_plan *layer = &plan->layer[operand->layer];
    uint32_t length[SOMA_N_DIM] = {plan->context->batch, operand->n_k, operand->h, operand->w};
    for (int d = 0; d < SOMA_N_DIM; d++) {
        uint8_t from = operand->from[d];
        if (from == SOMA_N_DIM)
            continue;
        struct soma_range of = layer->range[from][place->at[layer->axis[from]]];
        length[d] = soma_length(soma_need_range(plan->graph->network, operand, (enum soma_dim)d, of));
        if (length[d] == 0)
            return false;
    }
    *need = (struct soma_shape){length[SOMA_B], length[SOMA_K], length[SOMA_H], length[SOMA_W]};
    return true;
}

bool soma_tile_load(const struct soma_plan *plan, const struct soma_operand *operand,
                    const struct soma_place *place, struct soma_shape *need)
{
    if (!plan->context->compat)
        return tile_need(plan, operand, place, need);
    *need = soma_need(plan->graph->network, operand, &plan->layer[operand->layer].tile);
    need->k = need->k < operand->k ? need->k : operand->k;
    need->h = need->h < operand->h ? need->h : operand->h;
    need->w = need->w < operand->w ? need->w : operand->w;
    return true;
}

/* Tiles go along each axis with rising begins and ends, and an axis moves at most one dimension. So a tile's
 * new part along an axis is what lies behind the end of the tile before; where no dimension follows an axis,
 * only its first tile has anything new. */
struct soma_shape soma_tile_share(const struct soma_grid *grid, const struct soma_layer_plan *layer,
                                  const struct soma_place *place)
{
    uint32_t length[SOMA_N_DIM];
    bool followed[SOMA_N_AXIS] = {false};
    for (int d = 0; d < SOMA_N_DIM; d++) {
        uint32_t i = place->at[layer->axis[d]];
        struct soma_range range = layer->range[d][i];
        if (i > 0 && layer->range[d][i - 1].end > range.begin)
            range.begin = layer->range[d][i - 1].end;
        length[d] = soma_length(range);
        followed[layer->axis[d]] = true;
    }
    for (int axis = SOMA_SAMPLES; axis < SOMA_N_AXIS; axis++)
        if (!followed[axis] && grid->part[axis] > 1 && place->at[axis] > 0)
            length[SOMA_B] = 0;
    return (struct soma_shape){length[SOMA_B], length[SOMA_K], length[SOMA_H], length[SOMA_W]};
}
