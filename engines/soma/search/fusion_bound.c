/* The least core time and energy, from how often tiles must be there; the least DRAM bytes; and what
 * weights that the buffer has no room for cost behind the last tile. */
#include "engines/soma/search/fusion_bound.h"

#include <math.h>

#include "costmodel/fused/fused_rule.h"
#include "engines/soma/notation/tile_plan.h"

enum { CHANNEL_MAX = 8 };

/* How often a layer's tiles are there at least. Let share(h) be the most rows, as a share of all of them, of
 * an output of the group that a tile of h rows of this layer is enough for. The outputs of a group are cut
 * into pieces that make up all their rows, so the shares of the group's tiles add up to 1 or more, and the
 * sum of any cost over them is at least the least cost(h) / share(h). Columns likewise, and the two multiply,
 * since tiles are a grid; samples are cut into equal parts.
 *
 * share(h) is at least that of the layer itself: it may end its group, and what is read outside is whole. An
 * output y further on can only be in the group with all layers on all ways to it, since a group is a stretch
 * of a computing order: a tile of m rows of y asks of each of these as much as its most demanding reader
 * among them (needed). Who shares a group is open, so the largest share holds of any y.
 *
 * Which y count: call an operand sparse when for some m the tile of m rows that reads it needs less of it, as
 * a share, than m is of the reader (1x1 with a stride of 2, a transpose). On a way from y back to a layer
 * take the first sparse operand; from its reader r to y shares do not fall, so the piece of r is enough for
 * no less than that of y is, and asks no more of the layers before it. So only the readers of sparse operands
 * count. */
struct curve {
    uint32_t n;
    double *share; /* (n) of a tile of 1, 2, ... rows or columns */
};

struct curves {
    struct curve axis[2]; /* rows, columns */
    /* a tile may have part of the channels: a transpose asks for them, maybe through other layers */
    bool cut_channels;
    bool complete; /* default rules: the tiles together have the whole layer, whoever is in the group */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Rows (direction 0) or columns of a source that a tile of `out` needs at least, s (out - 1) + R without
 * padding. By compat rules every tile is like the first one, without the padding before it. Else a tile that
 * ends before the source does loses at most the padding before, one that begins behind its first row at most
 * what lies behind its end, and one that does neither has all of it. With dilation, or padding as large as
 * the filter, a tile may skip more; then little is claimed. */
static uint32_t window_need(const struct soma_search *search, const struct layer *layer, int direction,
                            uint32_t out, uint32_t out_all, uint32_t all)
{
    int64_t filter = direction == 0 ? layer->r : layer->s, stride = layer->stride[direction];
    int64_t extent = (filter - 1) * layer->dilation[direction] + 1, before = layer->pad[direction];
    int64_t behind = ((int64_t)out_all - 1) * stride + extent - before - all, lost = before;
    if (!search->context.compat) {
        lost = behind > before ? behind : before;
        if (layer->dilation[direction] > 1 || lost >= extent)
            return 1;
    }
    int64_t need = ((int64_t)out - 1) * stride + extent - lost;
    return need < 1 ? 1 : need > all ? all : (uint32_t)need;
}

/* The same of a transposed convolution: input row i reaches output rows i stride - pad and the R - 1 behind
 * it. So m output rows want those of m + R - 1 numbers in a row that are multiples of the stride; at an end
 * of the input less, and least for the first or the last m. With dilation, or by compat rules, little is
 * claimed. */
static uint32_t spread_need(const struct soma_search *search, const struct layer *layer, int direction,
                            uint32_t out, uint32_t out_all, uint32_t all)
{
    const int64_t more = (direction == 0 ? layer->r : layer->s) - 1, stride = layer->stride[direction];
    const int64_t pad = layer->pad[direction], behind = (int64_t)out_all - out + pad - more;
    if (search->context.compat || layer->dilation[direction] > 1)
        return 1;
    const int64_t inner = (out + more) / stride, first = (out - 1 + pad) / stride + 1,
                  last = all - (behind > 0 ? (behind + stride - 1) / stride : 0);
    int64_t need = first < last ? first : last;
    need = inner < need ? inner : need;
    return need < 1 ? 1 : need > all ? all : (uint32_t)need;
}

/* What a tile of `out` rows or columns of the operand's layer needs of its source; a transpose may need
 * anything. */
static uint32_t tile_need(const struct soma_search *search, const struct soma_operand *operand, int direction,
                          uint32_t out)
{
    const struct layer *layer = &search->context.network->layer[operand->layer];
    uint32_t all = direction == 0 ? operand->h : operand->w;
    if (operand->second || operand->flattened)
        return all;
    if (layer->type == LAYER_TRANSPOSE)
        return 1;
    if (layer->type == LAYER_CONV_TRANSPOSE)
        return spread_need(search, layer, direction, out, direction == 0 ? layer->p : layer->q, all);
    if (layer->type == LAYER_UPSAMPLE)
        return (out - 1) / layer->stride[direction] + 1;
    if (layer->type == LAYER_CONV || layer->type == LAYER_POOL)
        return window_need(search, layer, direction, out, direction == 0 ? layer->p : layer->q, all);
    return (uint32_t)least(out, all);
}

static uint32_t extent_of(const struct soma_search *search, uint32_t l, int direction)
{
    const struct layer *layer = &search->context.network->layer[l];
    return direction == 0 ? layer->p : layer->q;
}

/* Of an output of `all` rows that is cut into tiles of `out` rows, or of at most so many. By compat rules all
 * tiles are equal. */
static double piece(const struct soma_search *search, uint32_t out, uint32_t all)
{
    uint32_t n = all / out + (all % out != 0);
    return search->context.compat ? 1.0 / n : (double)out / all;
}

static bool is_sparse(const struct soma_search *search, const struct soma_operand *operand, int direction)
{
    uint32_t n = extent_of(search, operand->layer, direction), all = direction == 0 ? operand->h : operand->w;
    for (uint32_t out = 1; out <= n; out++)
        if (piece(search, tile_need(search, operand, direction, out), all) < piece(search, out, n))
            return true;
    return false;
}

/* Working memory: what a tile of one layer needs of the layers before it. */
struct needs {
    const uint32_t *place; /* (n_layer) in the network's order */
    uint32_t *need;        /* (n_layer) rows or columns; 0: none */
};

/* Take up what tiles of `out` rows or columns of layer `y` are enough for. */
static void follow(const struct soma_search *search, uint32_t y, int direction, uint32_t out,
                   const struct needs *needs, struct curves *curves)
{
    const struct network *network = search->context.network;
    const struct soma_graph *graph = search->context.graph;
    double share = piece(search, out, extent_of(search, y, direction));
    needs->need[y] = out;
    for (uint32_t i = needs->place[y]; i-- > 0;) {
        uint32_t l = network->order[i], need = 0;
        for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
            const struct soma_operand *operand = &graph->operand[graph->use[u]];
            if (needs->place[operand->layer] > needs->place[y] || needs->need[operand->layer] == 0)
                continue;
            uint32_t asked = tile_need(search, operand, direction, needs->need[operand->layer]);
            need = asked > need ? asked : need;
        }
        needs->need[l] = need;
        if (need > 0 && curves[l].axis[direction].share[need - 1] < share)
            curves[l].axis[direction].share[need - 1] = share;
    }
}

static enum dse_status curve_new(const struct soma_search *search, uint32_t n, struct arena *arena,
                                 struct curve *curve, struct dse_error *err)
{
    curve->n = n;
    curve->share = arena_alloc(arena, n, sizeof *curve->share);
    DSE_TRY(arena_check(arena, "a lower bound", err));
    for (uint32_t i = 0; i < n; i++)
        curve->share[i] = piece(search, i + 1, n);
    return DSE_OK;
}

static void follow_all(const struct soma_search *search, uint32_t y, int direction, const struct needs *needs,
                       struct curves *curves)
{
    const struct soma_graph *graph = search->context.graph;
    bool sparse = false;
    for (uint32_t o = graph->first_operand[y]; o < graph->first_operand[y + 1]; o++)
        sparse |= is_sparse(search, &graph->operand[o], direction);
    for (uint32_t out = 1; sparse && out <= extent_of(search, y, direction); out++)
        follow(search, y, direction, out, needs, curves);
}

/* Whether a tile's channels of the source follow what of the reader may be cut. */
static bool reads_cut_channels(const struct soma_operand *operand, const struct curves *reader)
{
    uint8_t from = operand->from[SOMA_K];
    return from == SOMA_H || from == SOMA_W || (from == SOMA_K && reader->cut_channels);
}

/* Whether every row of a transposed convolution's input reaches a row of its output. */
static bool spreads_all(const struct soma_search *search, const struct soma_operand *operand, int direction)
{
    const struct layer *layer = &search->context.network->layer[operand->layer];
    const int64_t filter = direction == 0 ? layer->r : layer->s, pad = layer->pad[direction];
    const int64_t all = direction == 0 ? operand->h : operand->w, last = (all - 1) * layer->stride[direction];
    return layer->dilation[direction] == 1 && pad < filter &&
           last - pad < (int64_t)extent_of(search, operand->layer, direction);
}

/* Whether all tiles of a reader together read every element of the source's channels that it reads. */
static bool reads_all(const struct soma_search *search, const struct soma_operand *operand)
{
    const struct layer *layer = &search->context.network->layer[operand->layer];
    if (layer->type == LAYER_CROP)
        return layer->p == operand->h && layer->q == operand->w;
    if (layer->type == LAYER_CONV_TRANSPOSE)
        return !search->context.compat && spreads_all(search, operand, 0) && spreads_all(search, operand, 1);
    if (operand->second && layer->n_second_row > 0)
        return false;
    if (operand->second || operand->flattened || (layer->type != LAYER_CONV && layer->type != LAYER_POOL))
        return true;
    for (int d = 0; d < 2; d++) {
        int64_t filter = d == 0 ? layer->r : layer->s, all = d == 0 ? operand->h : operand->w;
        int64_t end = ((int64_t)extent_of(search, operand->layer, d) - 1) * layer->stride[d] + filter;
        if (layer->dilation[d] > 1 || layer->stride[d] > filter || layer->pad[d] >= filter ||
            end - layer->pad[d] < all)
            return false;
    }
    return true;
}

/* Readers before sources. */
static void find_completeness(const struct soma_search *search, struct curves *curves)
{
    const struct network *network = search->context.network;
    const struct soma_graph *graph = search->context.graph;
    for (uint32_t i = network->n_layer; i-- > 0;) {
        uint32_t l = network->order[i];
        curves[l].complete = !search->context.compat;
        curves[l].cut_channels = false;
        for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
            const struct soma_operand *operand = &graph->operand[graph->use[u]];
            const struct curves *reader = &curves[operand->layer];
            curves[l].complete &=
                reader->complete && operand->n_k == operand->k && reads_all(search, operand);
            curves[l].cut_channels |= reads_cut_channels(operand, reader);
        }
    }
}

static enum dse_status find_curves(const struct soma_search *search, struct arena *arena,
                                   struct curves *curves, struct dse_error *err)
{
    const struct network *network = search->context.network;
    uint32_t n = network->n_layer, *place = arena_alloc(arena, n, sizeof *place);
    struct needs needs = {place, arena_alloc(arena, n, sizeof *needs.need)};
    DSE_TRY(arena_check(arena, "a lower bound", err));
    for (uint32_t i = 0; i < n; i++)
        place[network->order[i]] = i;
    for (int direction = 0; direction < 2; direction++) {
        for (uint32_t l = 0; l < n; l++)
            DSE_TRY(
                curve_new(search, extent_of(search, l, direction), arena, &curves[l].axis[direction], err));
        for (uint32_t y = 0; y < n && !soma_search_is_over(search); y++)
            follow_all(search, y, direction, &needs, curves);
        for (uint32_t l = 0; l < n; l++) /* a larger tile is enough for no less */
            for (uint32_t i = 1; i < curves[l].axis[direction].n; i++) {
                double *share = curves[l].axis[direction].share;
                share[i] = fmax(share[i], share[i - 1]);
            }
    }
    find_completeness(search, curves);
    return DSE_OK;
}

/* ---- the core array ---- */

/* The least of a layer, all its tiles together. */
struct work {
    double energy_j, cycle;
};

static enum dse_status try_tile(const struct soma_search *search, const struct layer *layer,
                                const struct soma_shape *shape, double share, struct work *work,
                                struct dse_error *err)
{
    struct core_tile tile = soma_core_tile(layer, shape);
    struct core_cost cost;
    enum dse_status status = search->context.core.cost(search->context.core.self, &tile, &cost, err);
    if (status == DSE_BAD_INPUT)
        return DSE_OK; /* no schedule has such a tile */
    if (status != DSE_OK)
        return status;
    work->energy_j = fmin(work->energy_j, cost.energy_j / share);
    work->cycle = fmin(work->cycle, (double)cost.cycle / share);
    return DSE_OK;
}

/* All shapes of tiles with so many channels; samples are a divisor of the batch. When the time is over
 * nothing is known. */
static enum dse_status try_shapes(const struct soma_search *search, const struct layer *layer, uint32_t k,
                                  const struct curves *curves, struct work *work, struct dse_error *err)
{
    struct soma_shape shape = {.k = k};
    for (shape.b = 1; shape.b <= search->context.batch; shape.b++) {
        if (search->context.batch % shape.b != 0)
            continue;
        for (shape.h = 1; shape.h <= layer->p; shape.h++) {
            if (soma_search_is_over(search)) {
                *work = (struct work){INFINITY, INFINITY};
                return DSE_OK;
            }
            for (shape.w = 1; shape.w <= layer->q; shape.w++)
                DSE_TRY(try_tile(search, layer, &shape,
                                 curves->axis[0].share[shape.h - 1] * curves->axis[1].share[shape.w - 1] *
                                     shape.b / search->context.batch,
                                 work, err));
        }
    }
    return DSE_OK;
}

static uint64_t n_shapes(const struct soma_search *search, uint32_t l)
{
    const struct layer *layer = &search->context.network->layer[l];
    uint64_t n = 0;
    for (uint32_t b = 1; b <= search->context.batch; b++)
        n += search->context.batch % b == 0;
    return n * layer->p * layer->q;
}

/* A tile has the channels of its layer, or by compat rules as many as a reader of several sources side by
 * side asks of each. False: a transpose may ask for part of them. */
static bool find_channels(const struct soma_search *search, const struct curves *curves, uint32_t l,
                          uint32_t *k, uint32_t *n)
{
    const struct soma_graph *graph = search->context.graph;
    const struct layer *layer = search->context.network->layer;
    k[0] = layer[l].k;
    *n = 1;
    if (curves[l].cut_channels)
        return false;
    for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
        const struct soma_operand *operand = &graph->operand[graph->use[u]];
        if (layer[operand->layer].type == LAYER_TRANSPOSE)
            return false;
        if (operand->second || operand->flattened || layer[operand->layer].c == layer[l].k)
            continue;
        uint32_t i = 0;
        while (i < *n && k[i] != layer[operand->layer].c)
            i++;
        if (i == *n && *n == CHANNEL_MAX)
            return false;
        k[i] = layer[operand->layer].c;
        *n += i == *n;
    }
    return true;
}

/* cycle[l]: of all tiles of a layer; 0 where nothing is known. */
static enum dse_status add_core(const struct soma_search *search, const struct curves *curves,
                                uint64_t tile_max, double *cycle, struct soma_bound *bound,
                                struct dse_error *err)
{
    const struct network *network = search->context.network;
    double sum = 0;
    for (uint32_t l = 0; l < network->n_layer; l++) {
        uint32_t k[CHANNEL_MAX], n;
        struct work work = {INFINITY, INFINITY};
        if (!find_channels(search, curves, l, k, &n) || soma_search_is_over(search) ||
            bound->n_evaluation + n * n_shapes(search, l) > tile_max)
            continue;
        bound->n_evaluation += n * n_shapes(search, l);
        for (uint32_t i = 0; i < n; i++)
            DSE_TRY(try_shapes(search, &network->layer[l], k[i], &curves[l], &work, err));
        if (isinf(work.cycle) || soma_search_is_over(search)) /* a tile may have got no time */
            continue;
        bound->core_energy_j += work.energy_j;
        cycle[l] = work.cycle;
        sum += work.cycle;
    }
    bound->core_energy_j *= 1 - 1e-9; /* of rounding */
    bound->compute_cycle = (uint64_t)floor(sum * (1 - 1e-9));
    return DSE_OK;
}

/* ---- the DRAM ---- */

/* Rows or columns of a source that a reader's tiles load at least, together. */
static double load_rows(const struct soma_search *search, const struct soma_operand *operand, int direction,
                        const struct curve *reader)
{
    double rows = INFINITY;
    for (uint32_t out = 1; out <= reader->n; out++)
        rows = fmin(rows, tile_need(search, operand, direction, out) / reader->share[out - 1]);
    return fmin(rows, direction == 0 ? operand->h : operand->w);
}

/* Bytes of a source that a reader has to load: its own copy of what its tiles read. */
static uint64_t load_byte(const struct soma_search *search, const struct soma_operand *operand,
                          const struct curves *reader)
{
    const struct soma_graph *graph = search->context.graph;
    const uint64_t batch = search->context.batch;
    if (reader->complete && reads_all(search, operand))
        return soma_byte(graph, batch * operand->n_k * operand->h * operand->w);
    uint32_t k = !search->context.compat && reads_cut_channels(operand, reader) ? 1 : operand->n_k;
    double area = load_rows(search, operand, 0, &reader->axis[0]) *
                  load_rows(search, operand, 1, &reader->axis[1]) * (1 - 1e-9);
    return soma_byte(graph, (uint64_t)ceil(area) * k * batch);
}

static uint64_t layer_byte(const struct soma_search *search, uint32_t l)
{
    const struct layer *layer = &search->context.network->layer[l];
    return soma_byte(search->context.graph, (uint64_t)layer->k * layer->p * layer->q * search->context.batch);
}

/* Whether layer `first` comes right before `next`, which reads it, in every computing order: all others are
 * behind `next` or lead to `first`. `mark` (n_layer) is working memory. */
static bool is_right_before(const struct soma_search *search, uint32_t first, uint32_t next, uint8_t *mark)
{
    enum { LEADS = 1, BEHIND = 2 };
    const struct network *network = search->context.network;
    const struct soma_graph *graph = search->context.graph;
    for (uint32_t l = 0; l < network->n_layer; l++)
        mark[l] = l == first ? LEADS : l == next ? BEHIND : 0;
    for (uint32_t i = network->n_layer; i-- > 0;) {
        uint32_t l = network->order[i];
        for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++)
            mark[l] |= mark[graph->operand[graph->use[u]].layer] & LEADS;
    }
    for (uint32_t i = 0; i < network->n_layer; i++) {
        uint32_t l = network->order[i];
        for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++)
            if (graph->operand[o].source >= 0)
                mark[l] |= mark[graph->operand[o].source] & BEHIND;
        if (mark[l] == 0)
            return false;
    }
    return true;
}

/* Compat: what goes into the layer group of a classifier crosses the DRAM; with the pools right before it, or
 * without. At least the smallest map on the way, stored and loaded; not one behind a pool that is always
 * right before. */
static uint64_t classifier_byte(const struct soma_search *search, uint32_t l, const struct curves *curves,
                                uint8_t *mark)
{
    const struct soma_graph *graph = search->context.graph;
    uint64_t byte = UINT64_MAX;
    bool joined = true; /* all from here to the classifier is always in its group */
    if (graph->first_operand[l + 1] - graph->first_operand[l] != 1)
        return 0;
    for (;;) {
        if (graph->first_operand[l] == graph->first_operand[l + 1])
            return byte == UINT64_MAX ? 0 : byte;
        const struct soma_operand *operand = &graph->operand[graph->first_operand[l]];
        if (operand->source < 0)
            return 0; /* then the way begins outside, and its load counts already */
        uint32_t source = (uint32_t)operand->source;
        uint64_t whole = layer_byte(search, source),
                 crossing = least(whole, load_byte(search, operand, &curves[l]));
        if (graph->first_use[source + 1] - graph->first_use[source] == 1)
            crossing += whole; /* with another reader in its group less may be made, and stored */
        bool pool = search->context.network->layer[source].type == LAYER_POOL;
        joined = joined && pool && is_right_before(search, source, l, mark);
        if (!joined)
            byte = least(byte, crossing);
        l = source;
        if (!pool)
            return byte;
    }
}

static enum fused_way way_in(const struct soma_graph *graph, enum tensor_role role)
{
    return soma_streams(graph, role) ? FUSED_STREAMED_IN : FUSED_LOADED;
}

/* `byte` (FUSED_N_WAY), zero: what crosses the chip's border at least. */
static void add_dram(const struct soma_search *search, const struct curves *curves, uint8_t *mark,
                     uint64_t *byte, struct soma_bound *bound)
{
    const struct soma_graph *graph = search->context.graph;
    enum fused_way out = soma_streams(graph, TENSOR_OUTPUT) ? FUSED_STREAMED_OUT : FUSED_STORED;
    uint64_t first = UINT64_MAX; /* before the first tile its weights are there */
    for (uint32_t l = 0; l < search->context.network->n_layer; l++) {
        bool outside = true;
        for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++) {
            if (graph->operand[o].source < 0)
                byte[way_in(graph, soma_operand_role(&graph->operand[o]))] +=
                    load_byte(search, &graph->operand[o], &curves[l]);
            else
                outside = false;
        }
        uint64_t weight = soma_byte(graph, graph->weight_word[l]);
        byte[way_in(graph, TENSOR_WEIGHT)] += weight;
        if (outside)
            first = least(first, weight);
        if (graph->first_use[l] == graph->first_use[l + 1])
            byte[out] += layer_byte(search, l);
        if (search->context.compat && graph->classifier[l])
            byte[FUSED_LOADED] += classifier_byte(search, l, curves, mark);
    }
    struct byte_rate rate = search->machine.dram_rate;
    uint64_t store = search->machine.differs ? byte[FUSED_STORED] + byte[FUSED_STREAMED_OUT] : 0;
    bound->dram_byte = fused_all_byte(byte);
    bound->dram_cycle =
        byte_rate_cycle(bound->dram_byte - store, rate) + fused_byte_cycle(store, true, &search->machine);
    if (first != UINT64_MAX && !soma_streams(graph, TENSOR_WEIGHT)) /* else they may come in pieces */
        bound->cycle = bound->compute_cycle + byte_rate_full_cycle(first, rate);
}

/* Room for weights. When the last tile of a layer runs, all tiles of the layers that it comes from are over,
 * and every layer behind it has a tile to come, so their weights are in the buffer as far as their transfer
 * has begun. What the buffer cannot hold of them is transferred after that tile. */
static uint64_t room_cycle(const struct soma_search *search, const double *cycle, uint32_t l, uint8_t *mark)
{
    enum { BEFORE = 1, BEHIND = 2 };
    const struct network *network = search->context.network;
    const struct soma_graph *graph = search->context.graph;
    double compute = 0;
    uint64_t byte = 0;
    for (uint32_t i = 0; i < network->n_layer; i++)
        mark[i] = i == l ? BEFORE | BEHIND : 0;
    for (uint32_t i = network->n_layer; i-- > 0;) {
        uint32_t at = network->order[i];
        for (uint32_t u = graph->first_use[at]; u < graph->first_use[at + 1]; u++)
            mark[at] |= mark[graph->operand[graph->use[u]].layer] & BEFORE;
        if (mark[at] & BEFORE)
            compute += cycle[at];
    }
    for (uint32_t i = 0; i < network->n_layer; i++) {
        uint32_t at = network->order[i];
        for (uint32_t o = graph->first_operand[at]; o < graph->first_operand[at + 1]; o++)
            if (graph->operand[o].source >= 0)
                mark[at] |= mark[graph->operand[o].source] & BEHIND;
        if (at != l && mark[at] & BEHIND)
            byte += soma_byte(graph, graph->weight_word[at]);
    }
    byte = byte > search->machine.buffer_byte ? byte - search->machine.buffer_byte : 0;
    return (uint64_t)floor(compute * (1 - 1e-9)) + byte_rate_full_cycle(byte, search->machine.dram_rate);
}

static void add_room(const struct soma_search *search, const double *cycle, uint8_t *mark,
                     struct soma_bound *bound)
{
    if (soma_streams(search->context.graph, TENSOR_WEIGHT))
        return; /* they are not in the buffer */
    for (uint32_t l = 0; l < search->context.network->n_layer && !soma_search_is_over(search); l++) {
        uint64_t least_cycle = room_cycle(search, cycle, l, mark);
        bound->cycle = least_cycle > bound->cycle ? least_cycle : bound->cycle;
    }
}

enum dse_status soma_bound(const struct soma_search *search, uint64_t tile_max, struct arena *arena,
                           struct soma_bound *bound, struct dse_error *err)
{
    struct curves *curves = arena_alloc(arena, search->context.network->n_layer, sizeof *curves);
    double *cycle = arena_alloc(arena, search->context.network->n_layer, sizeof *cycle);
    uint8_t *mark = arena_alloc(arena, search->context.network->n_layer, sizeof *mark);
    *bound = (struct soma_bound){0};
    DSE_TRY(arena_check(arena, "a lower bound", err));
    DSE_TRY(find_curves(search, arena, curves, err));
    if (soma_search_is_over(search)) /* what was not followed might make tiles cheaper: nothing is known */
        return DSE_OK;
    DSE_TRY(add_core(search, curves, tile_max, cycle, bound, err));
    uint64_t byte[FUSED_N_WAY] = {0};
    add_dram(search, curves, mark, byte, bound);
    add_room(search, cycle, mark, bound);
    if (bound->cycle < bound->compute_cycle)
        bound->cycle = bound->compute_cycle;
    if (bound->cycle < bound->dram_cycle)
        bound->cycle = bound->dram_cycle;
    bound->energy_j = bound->core_energy_j + fused_dram_energy_j(byte, &search->machine) * (1 - 1e-9);
    bound->cost = soma_cost(search, bound->energy_j, bound->cycle);
    return DSE_OK;
}
