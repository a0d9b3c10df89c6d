/* What tiles read: ranges of a box go down from layer to layer on the way. */
#include "costmodel/uop/uop_network.h"

/* Down: floor of a / b, for b > 0. */
static int64_t floor_div(int64_t a, uint32_t b)
{
    return b <= 1 ? a : a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* What a range of positions sees of the map below: clipped to it, and empty where all is padding. */
static struct uop_range slide_range(const struct uop_slide *slide, struct uop_range out)
{
    const int64_t size = slide->size;
    int64_t first = floor_div((int64_t)out.first * slide->step + slide->first, slide->by);
    int64_t end = floor_div(((int64_t)out.end - 1) * slide->step + slide->last, slide->by) + 1;
    if (out.first >= out.end)
        return (struct uop_range){0, 0};
    if (slide->clamps) {
        first = first < size ? first : size - 1;
        end = end > 1 ? end : 1;
    }
    first = first > 0 ? first : 0;
    end = end < size ? end : size;
    return first < end ? (struct uop_range){(uint32_t)first, (uint32_t)end} : (struct uop_range){0, 0};
}

/* Of `range`, what lies in the `n` channels from `first` on, counted from there. */
static struct uop_range channels_in(struct uop_range range, uint32_t first, uint32_t n)
{
    const uint32_t begin = range.first > first ? range.first - first : 0;
    const uint32_t end = range.end > first ? range.end - first : 0;
    return (struct uop_range){begin, end < n ? end : n};
}

/* From channels and columns of a layer's output, whose groups lie behind one another, to those of its uops,
 * where `share` groups lie side by side: exact for parts of one group, or of some that share an operand. */
static void share_columns(const struct uop_pass *pass, struct uop_region *region)
{
    const uint32_t size = pass->channel_size, share = pass->times, columns = pass->h.size;
    const uint32_t first = region->channel.first / size, last = (region->channel.end - 1) / size;
    const bool is_one = first / share == last / share;
    const uint32_t from = is_one ? first % share : 0, to = is_one ? last % share : share - 1;
    if (first == last)
        region->channel = (struct uop_range){first / share * size + region->channel.first % size,
                                             first / share * size + (region->channel.end - 1) % size + 1};
    else
        region->channel = (struct uop_range){first / share * size, (last / share + 1) * size};
    region->column = (struct uop_range){from * columns + (from == to ? region->column.first : 0),
                                        to * columns + (from == to ? region->column.end : columns)};
}

static struct uop_region step_down(const struct uop_pass *pass, const struct uop_region *above)
{
    struct uop_region below = *above;
    if (pass->kind == UOP_PASS_PERMUTE) {
        const struct uop_range from[] = {above->channel, above->row, above->column};
        below = (struct uop_region){from[pass->from[0]], from[pass->from[1]], from[pass->from[2]]};
    } else {
        below.row = slide_range(&pass->v, above->row);
        below.column = slide_range(&pass->h, above->column);
    }
    if (pass->kind == UOP_PASS_TIMES)
        below.channel =
            (struct uop_range){above->channel.first * pass->times, above->channel.end * pass->times};
    if (pass->kind == UOP_PASS_SHARED)
        share_columns(pass, &below);
    if (pass->kind == UOP_PASS_ALL)
        below.channel = (struct uop_range){0, UINT32_MAX};
    below.channel = channels_in(below.channel, pass->channel, pass->channels);
    return below;
}

static bool is_empty(const struct uop_region *region)
{
    return region->channel.first >= region->channel.end || region->row.first >= region->row.end ||
           region->column.first >= region->column.end;
}

/* What a tile reads through the layer's own window. Channels of a pool or sum are those that it makes. */
static struct uop_region read_by(const struct uop_layer *layer, const struct uop_box *box)
{
    const struct kc_tile *whole = &layer->whole;
    struct uop_region region = {box->ic, slide_range(&layer->v, box->row),
                                slide_range(&layer->h, box->column)};
    if (layer->n_operation)
        region.channel = box->oc;
    if (layer->n_operation || (whole->g == 1 && layer->share == 1))
        return region;
    uint32_t first = box->oc.first / whole->k, last = (box->oc.end - 1) / whole->k;
    if (layer->share > 1) {
        const uint32_t columns = layer->h.size, from = box->column.first / columns,
                       to = (box->column.end - 1) / columns;
        region.column = from == to ? (struct uop_range){box->column.first - from * columns,
                                                        box->column.end - from * columns}
                                   : (struct uop_range){0, columns};
        first = first * layer->share + from;
        last = last * layer->share + to;
    }
    region.channel = (struct uop_range){first * whole->c + box->ic.first, last * whole->c + box->ic.end};
    return region;
}

bool uop_source_region(const struct uop_network *network, const struct uop_layer *layer,
                       const struct uop_box *box, const struct uop_source *source, struct uop_region *region)
{
    if (source->second)
        *region = layer->second;
    else
        *region = read_by(layer, box);
    region->channel = channels_in(region->channel, source->channel, source->channels);
    for (int32_t i = source->pass; i >= 0 && !is_empty(region); i = network->pass[i].next)
        *region = step_down(&network->pass[i], region);
    return !is_empty(region);
}
