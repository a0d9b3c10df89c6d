/* How an output is cut into tiles, and what a tile needs of a source. */
#include <math.h>

#include "costmodel/model/divisor.h"
#include "engines/soma/notation/tile_plan.h"

static uint32_t ceil_divide(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* How far the tiles of h x w are from square when the n pieces are n/columns by columns. */
static double squareness(uint32_t n, uint32_t columns, double aspect)
{
    return fabs(n / columns - aspect * columns);
}

/* The number of columns: of the two divisors of n next to sqrt(n w/h) the one with squarer tiles, the larger
 * in a tie. */
static uint32_t choose_columns(uint32_t n, uint32_t h, uint32_t w)
{
    double aspect = (double)h / w;
    uint32_t target = (uint32_t)floor(sqrt(n / aspect));
    if (target >= n)
        return n;
    uint32_t below = target, above = target + 1;
    while (below > 0 && n % below != 0)
        below--;
    while (n % above != 0)
        above++;
    if (below == 0)
        return above;
    return squareness(n, below, aspect) < squareness(n, above, aspect) ? below : above;
}

/* All divisors. */
static uint32_t choose_fitting_columns(uint32_t n, const struct soma_outputs *outputs)
{
    double aspect = (double)outputs->h / outputs->w;
    uint32_t best = 0;
    for (uint32_t a = 1; a <= n / a; a++) {
        if (n % a != 0)
            continue;
        const uint32_t columns[2] = {a, n / a};
        for (int i = 0; i < 2; i++) {
            uint32_t c = columns[i];
            if (c > outputs->least_w || n / c > outputs->least_h)
                continue;
            double more = best == 0 ? -1 : squareness(n, c, aspect) - squareness(n, best, aspect);
            if (more < 0 || (!(more > 0) && c > best))
                best = c;
        }
    }
    return best;
}

bool soma_choose_grid(uint32_t batch, const struct soma_outputs *outputs, uint32_t n_tile, bool may_split_h,
                      bool may_split_w, struct soma_grid *grid)
{
    uint32_t samples = (uint32_t)greatest_common_divisor(batch, n_tile);
    uint32_t n = n_tile / samples, columns = 1;
    if (n > 1 && may_split_h && may_split_w) {
        columns = choose_columns(n, outputs->h, outputs->w);
        if (columns > outputs->least_w || n / columns > outputs->least_h)
            columns = choose_fitting_columns(n, outputs);
    } else if (n > 1 && !may_split_h) {
        columns = n;
    }
    if (columns == 0 || columns > outputs->least_w || n / columns > outputs->least_h)
        return false;
    *grid = (struct soma_grid){{1, samples, n / columns, columns}};
    return true;
}

bool soma_split(uint32_t batch, uint32_t h, uint32_t w, uint32_t n_tile, bool may_split_h, bool may_split_w,
                struct soma_shape *tile)
{
    uint32_t samples = (uint32_t)greatest_common_divisor(batch, n_tile);
    uint32_t n = n_tile / samples, columns;
    if (may_split_h && may_split_w)
        columns = choose_columns(n, h, w);
    else if (may_split_h)
        columns = 1;
    else if (may_split_w || n == 1)
        columns = n;
    else
        return false;
    uint32_t rows = n / columns;
    if (h < rows || w < columns)
        return false;
    tile->b = batch / samples;
    tile->h = ceil_divide(h, rows);
    tile->w = ceil_divide(w, columns);
    return true;
}

/* Rows (or columns) of the source that the first `out` rows of a layer need: of a window the padding
 * before the first row is taken off, what lies behind the last row by the source's end. */
static uint32_t rows_need(const struct layer *layer, int direction, uint32_t out, uint32_t source)
{
    int64_t filter = direction == 0 ? layer->r : layer->s, stride = layer->stride[direction];
    int64_t pad = layer->pad[direction], need = out;
    if (layer->type == LAYER_CONV || layer->type == LAYER_POOL)
        need = ((int64_t)out - 1) * stride + (filter - 1) * layer->dilation[direction] + 1 - pad;
    else if (layer->type == LAYER_CONV_TRANSPOSE)
        need = ((int64_t)out - 1 + pad) / stride + 1;
    else if (layer->type == LAYER_UPSAMPLE)
        need = ((int64_t)out - 1) / stride + 1;
    return need < 1 ? 1 : need > source ? source : (uint32_t)need;
}

/* An output (K, P, Q) of a transpose takes its extents from letters of the input. */
static struct soma_shape transpose_need(const struct layer *layer, const struct soma_shape *tile)
{
    const uint32_t out[3] = {tile->k, tile->h, tile->w};
    struct soma_shape need = *tile;
    for (int i = 0; i < 3; i++) {
        if (layer->permute[i] == 'C')
            need.k = out[i];
        else if (layer->permute[i] == 'H')
            need.h = out[i];
        else
            need.w = out[i];
    }
    return need;
}

struct soma_shape soma_need(const struct network *network, const struct soma_operand *operand,
                            const struct soma_shape *tile)
{
    const struct layer *layer = &network->layer[operand->layer];
    if (operand->second || operand->flattened)
        return (struct soma_shape){tile->b, operand->k, operand->h, operand->w};
    if (layer->type == LAYER_TRANSPOSE)
        return transpose_need(layer, tile);
    struct soma_shape need = {tile->b, layer->c, tile->h, tile->w};
    need.h = rows_need(layer, 0, tile->h, operand->h);
    need.w = rows_need(layer, 1, tile->w, operand->w);
    return need;
}
