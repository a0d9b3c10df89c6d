/* Halves keep slices alike: of sizes that are powers of 2 in lanes there is one shape. */
#include "costmodel/uop/uop_slices.h"

bool uop_need_fits(const struct uop_need *need, enum uop_sram sram, const struct kc_machine *machine)
{
    if (sram == UOP_SRAM_OFF || sram == UOP_SRAM_SLICES || machine->sram_word == ARCH_UNLIMITED)
        return true;
    if (need->output_word > machine->sram_word || sram == UOP_SRAM_OUTPUT)
        return need->output_word <= machine->sram_word;
    return need->input_word <= machine->sram_word && need->weight_word <= machine->sram_word &&
           need->output_word + need->input_word + need->weight_word <= machine->sram_word;
}

/* One or two sizes that a dimension is cut into, and how many of each. */
struct parts {
    uint32_t size[2], n[2];
};

static struct parts parts_of(uint32_t whole, uint32_t size)
{
    return (struct parts){{size, whole % size}, {whole / size, whole % size != 0}};
}

uint32_t uop_cut_shapes(const struct kc_tile *whole, struct uop_cut cut, struct uop_shape *shape)
{
    const bool by_group = cut.oc > whole->k; /* whole groups of channels, or parts of one */
    const struct parts p = parts_of(whole->p, cut.h), q = parts_of(whole->q, cut.w),
                       c = parts_of(whole->c, cut.ic),
                       k = by_group ? parts_of(whole->g, cut.oc / whole->k) : parts_of(whole->k, cut.oc);
    uint32_t n_shape = 0;
    for (uint32_t i = 0; i < UOP_SHAPE_MAX; i++) {
        const uint32_t a = i & 1, b = i >> 1 & 1, d = i >> 2 & 1, e = i >> 3;
        const uint64_t n = (uint64_t)p.n[a] * q.n[b] * c.n[d] * k.n[e] * (by_group ? 1 : whole->g);
        struct kc_tile tile = *whole;
        if (n == 0)
            continue;
        tile.p = p.size[a];
        tile.q = q.size[b];
        tile.c = c.size[d];
        tile.k = by_group ? whole->k : k.size[e];
        tile.g = by_group ? k.size[e] : 1;
        shape[n_shape++] = (struct uop_shape){tile, n};
    }
    return n_shape;
}

/* The larger half of a size, in whole units; the size itself where it is one unit. */
static uint32_t half(uint32_t size, uint32_t unit)
{
    const uint32_t n_unit = (size - 1) / unit + 1;
    return n_unit > 1 ? (n_unit + 1) / 2 * unit : size;
}

/* Number `i` of the ways to halve a cut; false: there is nothing to halve. */
static bool halve(const struct kc_machine *machine, const struct kc_tile *tile, uint32_t i,
                  struct uop_cut *cut)
{
    const struct uop_cut before = *cut;
    const bool has_groups = cut->oc > tile->k;
    if (i == 0)
        cut->h = half(cut->h, 1);
    else if (i == 1)
        cut->w = half(cut->w, 1);
    else if (i == 2)
        cut->ic = has_groups ? cut->ic : half(cut->ic, machine->c_lane); /* groups have all of theirs */
    else
        cut->oc = half(cut->oc, has_groups ? tile->k : machine->k_lane);
    return cut->h != before.h || cut->w != before.w || cut->ic != before.ic || cut->oc != before.oc;
}

static uint64_t words(const struct uop_need *need)
{
    uint64_t sum = need->output_word;
    if (__builtin_add_overflow(sum, need->input_word, &sum) ||
        __builtin_add_overflow(sum, need->weight_word, &sum))
        return UINT64_MAX;
    return sum;
}

bool uop_slice_cut(const struct kc_machine *machine, const struct kc_tile *tile, struct uop_cut *cut)
{
    *cut = uop_cut_clip(tile, (struct uop_cut){tile->p, tile->q, tile->c, tile->k * kc_groups(tile)});
    for (;;) {
        const struct uop_need need = uop_cut_need(tile, *cut);
        struct uop_cut best = *cut;
        uint64_t least = UINT64_MAX;
        bool is_halved = false;
        if (uop_need_fits(&need, UOP_SRAM_ALL, machine))
            return true;
        for (uint32_t i = 0; i < 4; i++) {
            struct uop_cut cut_so = *cut;
            if (!halve(machine, tile, i, &cut_so))
                continue;
            const struct uop_need so = uop_cut_need(tile, cut_so);
            if (!is_halved || words(&so) < least) {
                best = cut_so;
                least = words(&so);
                is_halved = true;
            }
        }
        if (!is_halved)
            return false;
        *cut = best;
    }
}

uint32_t uop_runs_as(const struct kc_machine *machine, const struct kc_tile *tile, struct uop_shape *shape)
{
    struct uop_cut cut;
    shape[0] = (struct uop_shape){*tile, 1};
    if (!machine->slices)
        return 1;
    (void)uop_slice_cut(machine, tile, &cut); /* what does not fit at all is refused before */
    return uop_cut_shapes(tile, cut, shape);
}
