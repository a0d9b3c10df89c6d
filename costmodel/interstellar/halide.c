/* What a mapping becomes in Halide: which variables its loops are split into, their order, and the variable
 * under which each copy of inputs and weights is filled. */
#include "costmodel/interstellar/halide.h"

#include <stdio.h>
#include <string.h>

/* What the loops are called: a part of a loop by stem and level, an undivided loop by its variable. */
static const struct {
    const char *stem, *whole;
} loop_word[LOOP_COUNT] = {
    [LOOP_FX] = {"fx", "r.x"}, [LOOP_FY] = {"fy", "r.y"}, [LOOP_OX] = {"x", "x"}, [LOOP_OY] = {"y", "y"},
    [LOOP_OC] = {"k", "k"},    [LOOP_IC] = {"c", "r.z"},  [LOOP_ON] = {"b", "b"},
};

void halide_part_name(uint32_t loop, uint32_t place, char name[HALIDE_NAME_MAX])
{
    if (place == 0)
        (void)snprintf(name, HALIDE_NAME_MAX, "%sm", loop_word[loop].stem);
    else
        (void)snprintf(name, HALIDE_NAME_MAX, "%s%u", loop_word[loop].stem, (unsigned)(place - 1) % 100);
}

const char *halide_whole_name(uint32_t loop)
{
    return loop_word[loop].whole;
}

/* ---------------------------------------- what is a convolution */

/* The rank of a tensor that holds dimension d, or NULL. */
static const struct tensor_rank *rank_of(const struct tensor *tensor, int d)
{
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
            if ((int)tensor->rank[r].term[i].dim == d)
                return &tensor->rank[r];
    return NULL;
}

/* The dimensions of a rank with more than one iteration. */
static uint32_t live_dims(const struct problem *problem, const struct tensor_rank *rank)
{
    uint32_t dims = 0;
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (problem->bound[rank->term[i].dim] > 1)
            dims |= 1u << rank->term[i].dim;
    return dims;
}

/* Output and filter rows (columns) are summed up in one rank of the inputs, and stand alone in the others; so
 * do all other dimensions. */
static bool has_windows(const struct problem *problem, const struct interstellar_loops *loops)
{
    static const enum interstellar_loop window[2][2] = {{LOOP_OX, LOOP_FX}, {LOOP_OY, LOOP_FY}};
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        uint32_t pair[2] = {0, 0};
        for (int w = 0; w < 2 && tensor->role == TENSOR_INPUT; w++) {
            int o = loops->dim[window[w][0]], f = loops->dim[window[w][1]];
            pair[w] = (o < 0 ? 0 : 1u << o) | (f < 0 ? 0 : 1u << f);
            if (o >= 0 && f >= 0 && problem->bound[o] > 1 && problem->bound[f] > 1 &&
                rank_of(tensor, o) != rank_of(tensor, f))
                return false;
        }
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            uint32_t dims = live_dims(problem, &tensor->rank[r]);
            if ((dims & (dims - 1)) && dims != (dims & pair[0]) && dims != (dims & pair[1]))
                return false;
        }
    }
    return true;
}

static bool weights_have_batch(const struct problem *problem, const struct interstellar_loops *loops)
{
    int n = loops->dim[LOOP_ON];
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (n >= 0 && problem->bound[n] > 1 && problem->tensor[t].role == TENSOR_WEIGHT &&
            rank_of(&problem->tensor[t], n))
            return true;
    return false;
}

enum dse_status halide_accepts(const struct problem *problem, const struct architecture *arch,
                               struct dse_error *err)
{
    static const char need[] =
        "a Halide schedule is printed for convolutions over FX FY OX OY OC IC ON (S R Q P K C N)";
    struct interstellar_loops loops;
    (void)arch;
    interstellar_loops_of(problem, &loops);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (loops.other >> d & 1 && problem->bound[d] > 1)
            return dse_fail(err, DSE_BAD_INPUT, "%s; problem %s has a further dimension, %s = %u", need,
                            problem->name, problem->dim_name[d], problem->bound[d]);
    if (problem->n_tensor != 3 || !has_windows(problem, &loops) || weights_have_batch(problem, &loops))
        return dse_fail(err, DSE_BAD_INPUT, "%s; the tensors of problem %s are not those of a convolution",
                        need, problem->name);
    return DSE_OK;
}

/* ---------------------------------------- the plan */

bool halide_present(const struct halide_plan *plan, uint32_t loop, uint32_t place)
{
    return plan->temporal[loop][place] > 1 || plan->spatial[loop][place] > 1;
}

bool halide_guarded(const struct halide_plan *plan, uint32_t loop, uint32_t place)
{
    if (plan->extent[loop][plan->n_place - 1] == plan->bound[loop] || !halide_present(plan, loop, place))
        return false;
    return plan->extent[loop][place] == plan->extent[loop][plan->n_place - 1];
}

static void factors_of(struct halide_plan *plan, uint32_t loop, int d)
{
    uint64_t extent = 1;
    for (uint32_t i = 0; i < plan->n_place; i++) {
        plan->temporal[loop][i] = i > 0 && d >= 0 ? plan->mapping->level[i - 1].temporal[d] : 1;
        plan->spatial[loop][i] = i + 1 < plan->n_place && d >= 0 ? plan->mapping->level[i].spatial[d] : 1;
        extent *= (uint64_t)plan->temporal[loop][i] * plan->spatial[loop][i];
        plan->extent[loop][i] = extent;
    }
}

static void name_parts(struct halide_plan *plan, uint32_t loop)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->n_place; i++)
        n += halide_present(plan, loop, i);
    for (uint32_t i = 0; i < plan->n_place; i++) {
        char *name = plan->name[loop][i];
        if (n == 1)
            (void)snprintf(name, HALIDE_NAME_MAX, "%s", loop_word[loop].whole);
        else
            halide_part_name(loop, i, name);
    }
}

/* Place 0 has no loops but those of its array. */
static void add_place(struct halide_plan *plan, uint32_t place)
{
    const struct mapping_level *level = &plan->mapping->level[place ? place - 1 : 0];
    const uint8_t *order = place ? level->temporal_order : level->spatial_order;
    for (uint32_t i = 0; i < plan->problem->n_dim; i++)
        for (uint8_t loop = 0; loop < LOOP_COUNT; loop++)
            if (plan->loops.dim[loop] == order[i] && halide_present(plan, loop, place))
                plan->nest[plan->n_loop++] = (struct halide_loop){loop, (uint8_t)place};
}

void halide_plan_of(const struct mapping *mapping, const struct problem *problem,
                    const struct architecture *arch, struct halide_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->problem = problem;
    plan->arch = arch;
    plan->mapping = mapping;
    plan->n_place = arch->n_level + 1;
    interstellar_loops_of(problem, &plan->loops);
    for (uint32_t loop = 0; loop < LOOP_COUNT; loop++) {
        int d = plan->loops.dim[loop];
        plan->bound[loop] = d >= 0 ? problem->bound[d] : 1;
        factors_of(plan, loop, d);
        name_parts(plan, loop);
    }
    for (uint32_t place = 0; place < plan->n_place; place++)
        add_place(plan, place);
}

/* FX and FY only widen a tile of inputs: the model counts them as reuse, and so a copy is not filled anew for
 * them where they run inside. */
static bool is_relevant(enum tensor_role role, uint32_t loop)
{
    const uint32_t input = 1u << LOOP_OX | 1u << LOOP_OY | 1u << LOOP_IC | 1u << LOOP_ON;
    const uint32_t weight = 1u << LOOP_FX | 1u << LOOP_FY | 1u << LOOP_OC | 1u << LOOP_IC;
    return (role == TENSOR_WEIGHT ? weight : input) >> loop & 1;
}

/* Of the loops at the next level those inside its first relevant one cost no refill, those outside it do. A
 * relevant loop that is unrolled only ends the free ones, as in the model, but has no iterations to fill a
 * copy in: that is done by the next loop outside it. */
int halide_anchor(const struct halide_plan *plan, enum tensor_role role, uint32_t v)
{
    const uint32_t next = v + 2;
    bool met = false;
    for (uint32_t i = 0; i < plan->n_loop; i++) {
        const struct halide_loop *at = &plan->nest[i];
        if (at->place < next)
            continue;
        met = met || at->place > next || is_relevant(role, at->loop);
        if (met && (at->place > next || plan->temporal[at->loop][at->place] > 1))
            return (int)i;
    }
    return -1;
}
