/* A mapping of a convolution as a Halide algorithm and schedule, in the words of Interstellar's paper (Table
 * 2): split and reorder block loops, in and compute_at place copies in memories, unroll and systolic make an
 * array, accelerate is the scope. The rule is in docs/interstellar-halide.md. */
#ifndef COSTMODEL_INTERSTELLAR_HALIDE_H
#define COSTMODEL_INTERSTELLAR_HALIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/interstellar/loops.h"
#include "costmodel/model/mapping_text.h"

enum {
    HALIDE_PLACE_MAX = ARCH_LEVEL_MAX + 1,
    HALIDE_NAME_MAX = 8,
    HALIDE_LOOP_MAX = LOOP_COUNT * HALIDE_PLACE_MAX
};

/* The mapping's loops by places: place 0 is the array inside the innermost level, place v + 1 is level v with
 * the array of its instances. A loop's part at a place is one variable: its iterations one after another
 * times those side by side. */
struct halide_plan {
    const struct problem *problem;
    const struct architecture *arch;
    const struct mapping *mapping;
    struct interstellar_loops loops;
    uint32_t n_place;
    uint32_t bound[LOOP_COUNT]; /* of the problem; 1 where it lacks the loop */
    uint32_t temporal[LOOP_COUNT][HALIDE_PLACE_MAX], spatial[LOOP_COUNT][HALIDE_PLACE_MAX];
    uint64_t extent[LOOP_COUNT][HALIDE_PLACE_MAX];            /* the product of both up to this place */
    char name[LOOP_COUNT][HALIDE_PLACE_MAX][HALIDE_NAME_MAX]; /* of the variable, after all splits */
    uint32_t n_loop;
    struct halide_loop {
        uint8_t loop, place;
    } nest[HALIDE_LOOP_MAX]; /* (n_loop) those with more than one iteration, innermost first */
};

/* A convolution, whose dimensions with more than one iteration are among the seven loops? DSE_BAD_INPUT with
 * what it is not. */
DSE_MUST_CHECK enum dse_status halide_accepts(const struct problem *problem, const struct architecture *arch,
                                              struct dse_error *err);

/* The plan of a mapping of a problem that halide_accepts takes; all are borrowed. */
void halide_plan_of(const struct mapping *mapping, const struct problem *problem,
                    const struct architecture *arch, struct halide_plan *plan);

/* "k0": a part of a loop, by the level of its place; "km" in the array inside level 0. */
void halide_part_name(uint32_t loop, uint32_t place, char name[HALIDE_NAME_MAX]);

/* The variable that a loop is before any split: "k", "r.x". */
const char *halide_whole_name(uint32_t loop);

/* Whether the variable of a loop at a place has more than one iteration. */
bool halide_present(const struct halide_plan *plan, uint32_t loop, uint32_t place);

/* Whether the factors of a loop multiply to more than its bound, and the place is that of its outermost
 * variable, whose iterations then need a guard. */
bool halide_guarded(const struct halide_plan *plan, uint32_t loop, uint32_t place);

/* The position in the nest of the variable under which the copy at level v of the inputs or weights is
 * filled, or -1: once, outside all loops. */
int halide_anchor(const struct halide_plan *plan, enum tensor_role role, uint32_t v);

/* Append algorithm and schedule. A text for the registry: mapping_text.h. */
extern const struct mapping_text mapping_text_halide;

#endif
