/* A uop that is larger than an accelerator's memory runs there in slices: tiles of it that fit, one after the
 * other, and costs what these cost. docs/klotski.md, "Slices". */
#ifndef COSTMODEL_UOP_UOP_SLICES_H
#define COSTMODEL_UOP_UOP_SLICES_H

#include <stdbool.h>

#include "costmodel/uop/uop_needs.h"

/* Does a tile of that need fit? */
bool uop_need_fits(const struct uop_need *need, enum uop_sram sram, const struct kc_machine *machine);

/* So many equal tiles. */
struct uop_shape {
    struct kc_tile tile;
    uint64_t n;
};

/* What a cut that is clipped makes of `whole`, which has groups (g 1 at least): `shape` (UOP_SHAPE_MAX); how
 * many of these are set. */
uint32_t uop_cut_shapes(const struct kc_tile *whole, struct uop_cut cut, struct uop_shape *shape);

/* The slices of a tile, by outputs, inputs with their halo and weights: while one does not fit, the size
 * whose half needs the fewest words is halved (rows, columns, input channels, output channels; of groups of
 * channels the groups first; channels to whole lanes). False: not even one pixel with one fold of channels
 * fits, which is `cut` then. */
bool uop_slice_cut(const struct kc_machine *machine, const struct kc_tile *tile, struct uop_cut *cut);

/* What a uop of that tile runs as, by machine->slices: itself, or its slices. `shape` (UOP_SHAPE_MAX) and how
 * many of these are set. */
uint32_t uop_runs_as(const struct kc_machine *machine, const struct kc_tile *tile, struct uop_shape *shape);

#endif
