/* Constraints for the tensors that stream, and counts of the mapping that was found. */
#include "engines/soma/machine/mapper_stream.h"

#include <math.h>

#include "engines/soma/machine/mapper_core.h"

/* More than one: such a tile leaves its neighbours no room. */
static const double no_room = 2;

static bool streams(const struct mapper_core *core, const struct tensor *tensor)
{
    return core->streams >> (unsigned)tensor->role & 1u;
}

/* The outermost level inside the DRAM that may keep the tensor; -1: none. */
static int own_level(const struct mapper_core *core, const struct tensor *tensor)
{
    int l = (int)core->arch.n_level - 2;
    while (l >= 0 && ((uint32_t)l == core->home || !architecture_keeps(&core->arch, (uint32_t)l, tensor)))
        l--;
    return l;
}

static void read_once(const struct mapper_core *core, const struct problem *problem,
                      const struct tensor *tensor, bool whole, struct mapspace_constraints *constraints)
{
    uint32_t source = core->arch.n_level - 1, dims = tensor_dims(tensor);
    int own = own_level(core, tensor);
    struct loop_constraints *home = &constraints->level[core->home].temporal;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        for (uint32_t l = (uint32_t)(own + 1); l <= source; l++)
            if (l > core->home || ((whole || l != core->home) && dims >> d & 1u))
                constraints->level[l].temporal.fixed[d] = 1;
        if (!(dims >> d & 1u))
            home->order[home->n_order++] = (uint8_t)d;
    }
}

bool mapper_stream_may_stay(const struct mapper_core *core, const struct problem *problem)
{
    if (core->streams != 1u << TENSOR_WEIGHT)
        return false;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (problem->tensor[t].role == TENSOR_WEIGHT)
            return problem_tensor_words(problem, t) <= core->stay_word;
    return false;
}

void mapper_stream_constraints(const struct mapper_core *core, const struct problem *problem,
                               enum stream_way way, struct mapspace_constraints *constraints)
{
    const struct tensor *only = NULL;
    uint32_t n = 0;
    mapspace_constraints_init(constraints, problem, &core->arch);
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        bool past = streams(core, &problem->tensor[t]);
        constraints->level[past ? core->arch.n_level - 1 : core->home].keep |= 1u << t;
        only = past ? &problem->tensor[t] : only;
        n += past;
    }
    if (way != STREAM_ANY && n == 1 && own_level(core, only) < (int)core->home)
        read_once(core, problem, only, way == STREAM_WHOLE, constraints);
}

/* Whether all of a tensor that an instance of level `own` ever holds is there at once. */
static bool is_whole(const struct problem *problem, const struct mapping *mapping, uint32_t t, uint32_t own)
{
    uint32_t dims = tensor_dims(&problem->tensor[t]);
    for (uint32_t l = own + 1; l < mapping->n_level; l++)
        for (uint32_t d = 0; d < problem->n_dim; d++)
            if ((dims >> d & 1u) && mapping->level[l].temporal[d] > 1)
                return false;
    return true;
}

/* The level inside the DRAM that takes the tensor in; -1: none. */
static int outermost_keeper(const struct mapper_core *core, const struct evaluation_detail *detail,
                            uint32_t t)
{
    int own = (int)core->arch.n_level - 2;
    while (own >= 0 && !detail->level[own].tensor[t].keep)
        own--;
    return own;
}

/* Words of an instance, for what a tile takes in and for the next. */
static double all_words(const struct mapper_core *core, uint32_t l)
{
    uint64_t usable = architecture_usable_words(&core->arch.level[l]);
    return usable == ARCH_UNLIMITED ? INFINITY : (double)usable * (core->halved >> l & 1u ? 2 : 1);
}

/* How full level l is, with all that it holds. */
static double share_of(const struct mapper_core *core, const struct evaluation_detail *detail,
                       uint32_t n_tensor, uint32_t l)
{
    const struct storage_level *level = &core->arch.level[l];
    uint64_t words = 0;
    for (uint32_t t = 0; t < n_tensor; t++)
        words += detail->level[l].tensor[t].keep ? detail->level[l].tensor[t].capacity_word : 0;
    if (level->bank_group || level->n_part)
        return no_room; /* how much is left depends on others */
    return (double)words / all_words(core, l);
}

/* In how many pieces weights come that do not fit as a whole, where each comes once and two fit; 0. They are
 * alike, and the loops between two of them are. */
static uint32_t count_pieces(const struct mapper_core *core, const struct problem *problem,
                             const struct mapping *mapping, const struct evaluation_detail *detail,
                             uint32_t t)
{
    uint32_t dims = tensor_dims(&problem->tensor[t]);
    uint64_t pieces = 1;
    int own = outermost_keeper(core, detail, t);
    if (own < 0 || is_whole(problem, mapping, t, (uint32_t)own))
        return 0;
    double piece = (double)detail->level[own].tensor[t].capacity_word / all_words(core, (uint32_t)own);
    if (!(share_of(core, detail, problem->n_tensor, (uint32_t)own) + piece <= 1))
        return 0;
    for (uint32_t l = (uint32_t)own + 1; l < mapping->n_level; l++)
        for (uint32_t d = 0; d < problem->n_dim; d++)
            pieces *= dims >> d & 1u ? mapping->level[l].temporal[d] : 1;
    return pieces < UINT32_MAX ? (uint32_t)pieces : UINT32_MAX;
}

static double tensor_share(const struct mapper_core *core, const struct problem *problem,
                           const struct mapping *mapping, const struct evaluation_detail *detail, uint32_t t)
{
    int own = outermost_keeper(core, detail, t);
    if (own < 0 || !is_whole(problem, mapping, t, (uint32_t)own))
        return no_room;
    return share_of(core, detail, problem->n_tensor, (uint32_t)own);
}

void mapper_stream_measure(const struct mapper_core *core, const struct problem *problem,
                           const struct mapping *mapping, const struct evaluation_detail *detail,
                           struct core_cost *cost)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        const struct tensor_counts *source = &detail->level[core->arch.n_level - 1].tensor[t];
        if (!streams(core, tensor))
            continue;
        double moved = (double)source->reads + (tensor->read_write ? (double)source->updates : 0);
        double times = fmax(moved / (double)problem_tensor_words(problem, t), 1);
        cost->stream_times[tensor->role] = fmax(cost->stream_times[tensor->role], times);
        cost->stream_share = fmax(cost->stream_share, tensor_share(core, problem, mapping, detail, t));
        if (tensor->role == TENSOR_WEIGHT && times <= 1)
            cost->stream_pieces = count_pieces(core, problem, mapping, detail, t);
    }
}
