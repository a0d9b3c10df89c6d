/* Which layers are the block, what stands before and behind it, and the network with the block once. */
#include "costmodel/model/network_fold.h"

#include <string.h>

/* While a network is folded. Numbers of blocks are those of whole->repeat. */
struct folder {
    const struct network *whole;
    uint32_t *block;   /* (n_layer) number of the block, UINT32_MAX: none */
    uint32_t *segment; /* (n_layer) */
    uint32_t *folded;  /* (n_layer) number in the folded network, of any repetition that of the first */
};

static bool is_same_skip(const struct layer *a, const struct layer *b)
{
    for (uint32_t o = 0; o < a->n_operand; o++)
        if (layer_skip(a, o) != layer_skip(b, o))
            return false;
    return a->skip[1] == b->skip[1] && a->second_row == b->second_row && a->n_second_row == b->n_second_row;
}

static bool is_alike(const struct layer *a, const struct layer *b)
{
    return a->type == b->type && a->c == b->c && a->k == b->k && a->p == b->p && a->q == b->q &&
           a->r == b->r && a->s == b->s && a->h == b->h && a->w == b->w && a->groups == b->groups &&
           a->share == b->share && memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
           memcmp(a->pad, b->pad, sizeof a->pad) == 0 &&
           memcmp(a->dilation, b->dilation, sizeof a->dilation) == 0 &&
           memcmp(a->permute, b->permute, sizeof a->permute) == 0 && a->n_operand == b->n_operand &&
           a->n_producer == b->n_producer && is_same_skip(a, b) &&
           (a->weight_producer == LAYER_NO_PRODUCER) == (b->weight_producer == LAYER_NO_PRODUCER);
}

/* Whether source `a` of a layer of the first repetition is in it where source `b` of its like in repetition r
 * is in that one, at the same place. */
static bool is_same_source(const struct network_repeat *repeat, uint32_t r, int32_t a, int32_t b)
{
    const int64_t first = repeat->first_layer, n = repeat->n_layer;
    const bool inside = a >= first && a < first + n;
    const bool like = b >= first + r * n && b < first + (r + 1) * n;
    return inside == like && (!inside || a + r * n == b);
}

static bool is_regular(const struct network *whole, const struct network_repeat *repeat)
{
    if (repeat->first_layer + (uint64_t)repeat->n_layer * repeat->times > whole->n_layer)
        return false;
    for (uint32_t r = 1; r < repeat->times; r++)
        for (uint32_t i = 0; i < repeat->n_layer; i++) {
            const struct layer *a = &whole->layer[repeat->first_layer + i],
                               *b = a + (size_t)r * repeat->n_layer;
            if (!is_alike(a, b) || !is_same_source(repeat, r, a->weight_producer, b->weight_producer))
                return false;
            for (uint32_t k = 0; k < a->n_producer; k++)
                if (!is_same_source(repeat, r, a->producer[k], b->producer[k]))
                    return false;
        }
    return true;
}

/* The segment that `producer` asks of its reader: its own, or the one behind its block. */
static uint32_t segment_behind(const struct folder *f, uint32_t reader, int32_t producer)
{
    if (producer < 0)
        return 0;
    const bool leaves = f->block[producer] != UINT32_MAX && f->block[producer] != f->block[reader];
    return f->segment[producer] + leaves;
}

/* False: a block needs what stands behind it. */
static bool find_segments(const struct folder *f)
{
    for (uint32_t i = 0; i < f->whole->n_layer; i++) {
        const uint32_t l = f->whole->order[i];
        const struct layer *layer = &f->whole->layer[l];
        uint32_t least = segment_behind(f, l, layer->weight_producer);
        for (uint32_t k = 0; k < layer->n_producer; k++) {
            const uint32_t behind = segment_behind(f, l, layer->producer[k]);
            least = behind > least ? behind : least;
        }
        f->segment[l] = f->block[l] == UINT32_MAX ? least : 2 * f->block[l] + 1;
        if (f->segment[l] < least)
            return false;
    }
    return true;
}

/* Marks blocks and numbers the layers that stay. Returns how many; 0: it cannot be folded. */
static uint32_t number_layers(const struct folder *f)
{
    uint32_t n = 0;
    memset(f->block, 0xff, f->whole->n_layer * sizeof *f->block);
    for (uint32_t b = 0; b < f->whole->n_repeat; b++) {
        const struct network_repeat *repeat = &f->whole->repeat[b];
        if (!is_regular(f->whole, repeat))
            return 0;
        for (uint32_t i = 0; i < repeat->n_layer * repeat->times; i++)
            f->block[repeat->first_layer + i] = b;
    }
    for (uint32_t l = 0; l < f->whole->n_layer; l++) {
        const struct network_repeat *repeat =
            f->block[l] == UINT32_MAX ? NULL : &f->whole->repeat[f->block[l]];
        const uint32_t at = repeat ? l - repeat->first_layer : 0;
        const bool again = repeat && at >= repeat->n_layer;
        f->folded[l] = again ? f->folded[repeat->first_layer + at % repeat->n_layer] : n++;
    }
    return find_segments(f) ? n : 0;
}

static int32_t folded_source(const struct folder *f, int32_t producer)
{
    return producer < 0 ? producer : (int32_t)f->folded[producer];
}

static enum dse_status copy_layers(const struct folder *f, struct arena *arena, struct network_fold *fold,
                                   uint32_t *number, uint32_t *segment, struct layer *layer,
                                   struct dse_error *err)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < f->whole->n_layer; l++) {
        if (f->folded[l] != n)
            continue;
        const struct layer *from = &f->whole->layer[l];
        int32_t *producer = arena_alloc(arena, from->n_producer, sizeof *producer);
        DSE_TRY(arena_check(arena, "a network", err));
        for (uint32_t k = 0; k < from->n_producer; k++)
            producer[k] = folded_source(f, from->producer[k]);
        layer[n] = *from;
        layer[n].producer = producer;
        layer[n].weight_producer = folded_source(f, from->weight_producer);
        number[n] = l;
        segment[n++] = f->segment[l];
    }
    fold->layer = number;
    fold->segment = segment;
    fold->network.layer = layer;
    return DSE_OK;
}

static enum dse_status fold_network(const struct folder *f, uint32_t n, struct arena *arena,
                                    struct network_fold *fold, struct dse_error *err)
{
    const uint32_t n_segment = 2 * f->whole->n_repeat + 1;
    uint32_t *number = arena_alloc(arena, n, sizeof *number),
             *segment = arena_alloc(arena, n, sizeof *segment);
    uint32_t *order = arena_alloc(arena, n, sizeof *order);
    struct layer *layer = arena_alloc(arena, n, sizeof *layer);
    struct network_segment *of = arena_alloc(arena, n_segment, sizeof *of);
    DSE_TRY(arena_check(arena, "a network", err));
    *fold = (struct network_fold){.whole = f->whole, .network = *f->whole, .n_segment = n_segment, .of = of};
    for (uint32_t s = 0; s < n_segment; s++) {
        const struct network_repeat *repeat = s % 2 ? &f->whole->repeat[s / 2] : NULL;
        of[s] = (struct network_segment){repeat ? repeat->times : 1, repeat ? repeat->n_layer : 0};
    }
    fold->network.n_layer = n;
    fold->network.order = order;
    fold->network.n_part = fold->network.n_repeat = 0;
    DSE_TRY(copy_layers(f, arena, fold, number, segment, layer, err));
    for (uint32_t s = 0, at = 0; s < n_segment; s++)
        for (uint32_t i = 0; i < f->whole->n_layer; i++) {
            const uint32_t l = f->whole->order[i];
            if (f->segment[l] == s && number[f->folded[l]] == l)
                order[at++] = f->folded[l];
        }
    arena_init(&fold->network.arena);
    return DSE_OK;
}

enum dse_status network_fold_new(const struct network *whole, struct arena *arena,
                                 const struct network_fold **fold, struct dse_error *err)
{
    *fold = NULL;
    if (whole->n_repeat == 0 || whole->unroll)
        return DSE_OK;
    struct folder f = {.whole = whole};
    struct network_fold *made = arena_alloc(arena, 1, sizeof *made);
    f.block = arena_alloc(arena, whole->n_layer, sizeof *f.block);
    f.segment = arena_alloc(arena, whole->n_layer, sizeof *f.segment);
    f.folded = arena_alloc(arena, whole->n_layer, sizeof *f.folded);
    DSE_TRY(arena_check(arena, "a network", err));
    const uint32_t n = number_layers(&f);
    if (n == 0)
        return DSE_OK;
    DSE_TRY(fold_network(&f, n, arena, made, err));
    *fold = made;
    return DSE_OK;
}
