/* COSA_FORM_MINMAX: besides the paper's terms, the largest of the compute time and of each tensor's traffic
 * with each level that has a bandwidth, in bits. A tensor is fetched again into a buffer for every temporal
 * loop outside it that does not index it, except for the innermost run of such loops (docs/cosa.md). */
#include <math.h>
#include <string.h>

#include "engines/cosa/formulation.h"

/* Where a tensor's fetches out of level l begin: the first level outside the next keeper further in. */
static uint32_t first_outside(const struct cosa_shape *shape, uint32_t l, uint32_t t)
{
    while (l-- > 0)
        if (shape->keep[l] >> t & 1u)
            return l + 1;
    return 0;
}

static uint32_t unrelated(const struct cosa_shape *shape, uint32_t t)
{
    return ((1u << shape->problem->n_dim) - 1) & ~shape->related[t];
}

/* Everything about the fetches of one tensor into one buffer, or into the MACs. */
struct fetches {
    uint32_t tensor;
    uint32_t first; /* the first level outside the buffer */
    bool charged;   /* into its outermost inner buffer: the refetches have a cost of their own, u_v */
    uint32_t saved[ARCH_LEVEL_MAX][COSA_GROUP_MAX]; /* variables */
    uint32_t n_saved[ARCH_LEVEL_MAX];
};

/* A level gives (reads) or takes (writes) the words of these fetches. */
struct transfer {
    uint32_t fetches, level;
    bool reads;
};

enum { FETCHES_MAX = PROBLEM_TENSOR_MAX * (ARCH_LEVEL_MAX + 1), TRANSFER_MAX = 2 * FETCHES_MAX };

struct minmax {
    uint32_t n_fetches, n_transfer;
    struct fetches fetches[FETCHES_MAX];    /* the charged ones first, (n_tensor) */
    struct transfer transfer[TRANSFER_MAX]; /* of levels with a bandwidth */
    /* binaries: a loop of the level moves the tensor's tile as the charged fetches see it, a window's loop
     * does; COSA_NONE where nobody asks or none can */
    uint32_t moves[PROBLEM_TENSOR_MAX][ARCH_LEVEL_MAX], windows[PROBLEM_TENSOR_MAX][ARCH_LEVEL_MAX];
};

/* The fetches of tensor t from level `first` on; new ones if there are none. */
static uint32_t find_fetches(struct minmax *all, uint32_t t, uint32_t first)
{
    uint32_t i = 0;
    while (i < all->n_fetches && (all->fetches[i].tensor != t || all->fetches[i].first != first))
        i++;
    if (i == all->n_fetches)
        all->fetches[all->n_fetches++] = (struct fetches){.tensor = t, .first = first};
    return i;
}

static bool is_limit(double word_per_cycle)
{
    return !isinf(word_per_cycle) && word_per_cycle > 0;
}

static void add_transfer(const struct cosa_shape *shape, struct minmax *all, uint32_t l, uint32_t t,
                         uint32_t first, bool reads)
{
    const struct storage_level *level = &shape->arch->level[l];
    double own = reads ? level->read_bandwidth_word_per_cycle : level->write_bandwidth_word_per_cycle;
    if (is_limit(own) || is_limit(level->shared_bandwidth_word_per_cycle))
        all->transfer[all->n_transfer++] = (struct transfer){find_fetches(all, t, first), l, reads};
}

/* A level gives each tensor to the next buffer further in, or takes it from there, and takes it from outside,
 * or gives it. */
static void list_fetches(const struct cosa_shape *shape, struct minmax *all)
{
    uint32_t n_tensor = shape->problem->n_tensor, top = shape->outermost;
    for (uint32_t t = 0; t < n_tensor; t++) {
        uint32_t i = find_fetches(all, t, first_outside(shape, top, t));
        all->fetches[i].charged = true;
    }
    for (uint32_t l = 0; l < shape->n_level; l++)
        for (uint32_t t = 0; t < n_tensor; t++) {
            bool output = shape->problem->tensor[t].read_write;
            if (l == top || (shape->keep[l] >> t & 1u))
                add_transfer(shape, all, l, t, first_outside(shape, l, t), !output);
            if (l != top && (shape->keep[l] >> t & 1u))
                add_transfer(shape, all, l, t, l + 1, output);
        }
}

/* A level between a tensor's buffer and the permutation level gets the order that saves that tensor's loops:
 * of several tensors, of the one whose buffer is next. */
static void fix_between_orders(struct cosa_model *model, const struct minmax *all)
{
    const struct cosa_shape *shape = model->shape;
    for (uint32_t l = 0; l < shape->outermost; l++) {
        const struct fetches *owner = NULL;
        for (uint32_t i = 0; i < all->n_fetches; i++)
            if (all->fetches[i].first <= l && (!owner || all->fetches[i].first > owner->first))
                owner = &all->fetches[i];
        struct cosa_order *order = &model->order[l];
        if (!owner || l == shape->permutation)
            continue;
        (void)cosa_choices(shape, l, (int)owner->tensor, order->choice);
        order->n_choice = 1;
        order->variable[0] = COSA_NONE;
    }
}

/* The operands of a MAC stay only under loops inside all spatial ones. */
static bool may_save(const struct cosa_model *model, const struct fetches *fetches, uint32_t l)
{
    for (uint32_t i = 0; i <= l && fetches->first == 0 && !fetches->charged; i++) {
        uint64_t x, y;
        architecture_fanout(model->shape->arch, i, &x, &y);
        if (x > 1 || y > 1)
            return false;
    }
    return true;
}

/* Does the only order of the level save every loop that does not index the tensor, with nothing further in?
 * Then they cost nothing. */
static bool all_saved(const struct cosa_model *model, const struct fetches *fetches, uint32_t l)
{
    const struct cosa_order *order = &model->order[l];
    bool windows = !fetches->charged && model->shape->halo[fetches->tensor];
    return l == fetches->first && order->n_choice == 1 && order->variable[0] == COSA_NONE && !windows &&
           may_save(model, fetches, l) &&
           !(unrelated(model->shape, fetches->tensor) & ~order->choice[0].saved[fetches->tensor]);
}

/* A binary that is 1 when level l has a temporal loop over `dims`; COSA_NONE when it can have none. */
static uint32_t add_loop_switch(struct cosa_model *model, uint32_t l, uint32_t dims)
{
    cosa_put_temporal(model, l, dims, 1);
    if (model->n_term == 0)
        return COSA_NONE;
    uint32_t on = milp_add_variable(model->milp, MILP_INTEGER, 0, 1, 0, "moves");
    cosa_put(model, on, -cosa_dims_bits(model, dims));
    (void)cosa_add_row(model, -INFINITY, 0, "moves");
    return on;
}

static void add_moves(struct cosa_model *model, struct minmax *all, const struct fetches *fetches)
{
    const struct cosa_shape *shape = model->shape;
    uint32_t t = fetches->tensor;
    for (uint32_t l = fetches->first; l < shape->n_level; l++) {
        if (all->moves[t][l] == COSA_NONE && l < shape->outermost)
            all->moves[t][l] = add_loop_switch(model, l, shape->related[t]);
        if (all->windows[t][l] == COSA_NONE && !fetches->charged && shape->halo[t])
            all->windows[t][l] = add_loop_switch(model, l, shape->halo[t]);
    }
}

/* `saved` is 0 where `moves` is 1. */
static void add_condition(struct cosa_model *model, uint32_t saved, uint32_t moves, double most)
{
    if (moves == COSA_NONE)
        return;
    cosa_put(model, saved, 1);
    cosa_put(model, moves, most);
    (void)cosa_add_row(model, -INFINITY, most, "nothing moves inside");
}

/* The loops of level l are saved only while no level further in moves the tensor's tile. A window's loop
 * does, too, but the charged fetches do not see it. */
static void add_conditions(struct cosa_model *model, const struct minmax *all, const struct fetches *fetches,
                           uint32_t l, uint32_t saved, double most)
{
    uint32_t t = fetches->tensor;
    for (uint32_t i = fetches->first; i < l; i++)
        add_condition(model, saved, all->moves[t][i], most);
    for (uint32_t i = fetches->first; i <= l && !fetches->charged; i++)
        add_condition(model, saved, all->windows[t][i], most);
}

/* What level l saves the charged fetches into the buffers just inside it: tensors share variables. */
static void add_shared_savings(struct cosa_model *model, struct minmax *all, uint32_t l)
{
    uint32_t n_tensor = model->shape->problem->n_tensor, next = 0;
    struct cosa_group group[COSA_GROUP_MAX];
    for (uint32_t t = 0; t < n_tensor; t++)
        if (all->fetches[t].first == l && !all_saved(model, &all->fetches[t], l))
            next |= 1u << t;
    uint32_t n = cosa_find_groups(model, l, next, group);
    for (uint32_t g = 0; g < n; g++) {
        double cost = -model->settings->weight_traf * __builtin_popcount(group[g].tensors);
        uint32_t saved = cosa_add_saving(model, l, &group[g], cost);
        for (uint32_t t = 0; t < n_tensor; t++)
            if (group[g].tensors >> t & 1u)
                all->fetches[t].saved[l][all->fetches[t].n_saved[l]++] = saved;
    }
}

static void add_savings(struct cosa_model *model, const struct minmax *all, struct fetches *fetches,
                        uint32_t l)
{
    struct cosa_group group[COSA_GROUP_MAX];
    uint32_t n = cosa_find_groups(model, l, 1u << fetches->tensor, group);
    for (uint32_t g = 0; g < n; g++) {
        double cost = fetches->charged ? -model->settings->weight_traf : 0;
        if (!fetches->charged)
            group[g].dims &= ~model->shape->halo[fetches->tensor];
        if (cosa_dims_bits(model, group[g].dims) == 0)
            continue;
        uint32_t saved = cosa_add_saving(model, l, &group[g], cost);
        fetches->saved[l][fetches->n_saved[l]++] = saved;
        add_conditions(model, all, fetches, l, saved, cosa_dims_bits(model, group[g].dims));
    }
}

static void add_all_savings(struct cosa_model *model, struct minmax *all)
{
    for (uint32_t l = 0; l < model->shape->n_level; l++) {
        for (uint32_t i = 0; i < all->n_fetches; i++) {
            struct fetches *fetches = &all->fetches[i];
            bool here = fetches->first == l && !fetches->charged && !all_saved(model, fetches, l);
            if ((fetches->first < l || here) && may_save(model, fetches, l))
                add_savings(model, all, fetches, l);
        }
        add_shared_savings(model, all, l);
    }
}

/* `scale` times the bits of refetches of one tensor. */
static void put_fetches(struct cosa_model *model, const struct fetches *fetches, double scale)
{
    uint32_t dims = unrelated(model->shape, fetches->tensor);
    for (uint32_t l = fetches->first; l < model->shape->n_level; l++) {
        if (all_saved(model, fetches, l))
            continue;
        cosa_put_temporal(model, l, dims, scale);
        for (uint32_t i = 0; i < fetches->n_saved[l]; i++)
            cosa_put(model, fetches->saved[l][i], -scale);
    }
}

/* The bits of the instances of level l among which tensor t is dealt out; others have the same words. */
static void put_instances(struct cosa_model *model, uint32_t l, uint32_t t, double scale)
{
    for (uint32_t k = 0; k < model->n_kind; k++)
        for (uint32_t i = l + 1; i < model->shape->n_level; i++)
            if (model->shape->related[t] >> model->kind[k].dim & 1u) {
                cosa_put(model, model->count[k][i][COSA_X], scale * model->kind[k].bits);
                cosa_put(model, model->count[k][i][COSA_Y], scale * model->kind[k].bits);
            }
}

/* maximum >= log2(sum over the n transfers of 2^x) - log2(words per cycle), x being the bits of a transfer,
 * from below: the logarithm is at least mean(x) + log2(n), and exactly that where all are equal. */
static void add_time(struct cosa_model *model, const struct minmax *all, uint32_t maximum,
                     const struct transfer *const *part, uint32_t n, double word_per_cycle)
{
    double bits = log2((double)n) - log2(word_per_cycle);
    for (uint32_t i = 0; i < n; i++) {
        const struct fetches *fetches = &all->fetches[part[i]->fetches];
        bits += log2((double)problem_tensor_words(model->shape->problem, fetches->tensor)) / n;
        put_fetches(model, fetches, -1.0 / n);
        put_instances(model, part[i]->level, fetches->tensor, 1.0 / n);
    }
    cosa_put(model, maximum, 1);
    (void)cosa_add_row(model, bits, INFINITY, "traffic");
}

/* The time of one port of level l: of each transfer alone; inside the outermost level also of each two and of
 * all together. */
static void add_port(struct cosa_model *model, const struct minmax *all, uint32_t maximum, uint32_t l,
                     double word_per_cycle, const bool *takes)
{
    const struct transfer *part[2 * PROBLEM_TENSOR_MAX], *pair[2];
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->n_transfer; i++)
        if (all->transfer[i].level == l && takes[all->transfer[i].reads])
            part[n++] = &all->transfer[i];
    if (!is_limit(word_per_cycle))
        return;
    for (uint32_t i = 0; i < n; i++) {
        add_time(model, all, maximum, &part[i], 1, word_per_cycle);
        for (uint32_t j = i + 1; j < n && l < model->shape->outermost; j++) {
            pair[0] = part[i];
            pair[1] = part[j];
            add_time(model, all, maximum, pair, 2, word_per_cycle);
        }
    }
    if (n > 2 && l < model->shape->outermost)
        add_time(model, all, maximum, part, n, word_per_cycle);
}

/* The maximum is at least each of compute and of the levels' times. */
static void add_maximum(struct cosa_model *model, const struct minmax *all)
{
    const struct cosa_shape *shape = model->shape;
    static const bool reads[] = {false, true}, writes[] = {true, false}, both[] = {true, true};
    uint32_t maximum =
        milp_add_variable(model->milp, MILP_CONTINUOUS, 0, INFINITY, model->settings->weight_comp, "maximum");
    for (uint32_t l = 0; l < shape->n_level; l++)
        cosa_put_temporal(model, l, (1u << shape->problem->n_dim) - 1, -1);
    cosa_put(model, maximum, 1);
    (void)cosa_add_row(model, 0, INFINITY, "compute");
    for (uint32_t l = 0; l < shape->n_level; l++) {
        const struct storage_level *level = &shape->arch->level[l];
        double n = l == shape->outermost ? (double)level->instances : 1;
        add_port(model, all, maximum, l, level->read_bandwidth_word_per_cycle * n, reads);
        add_port(model, all, maximum, l, level->write_bandwidth_word_per_cycle * n, writes);
        add_port(model, all, maximum, l, level->shared_bandwidth_word_per_cycle * n, both);
    }
}

enum dse_status cosa_add_minmax(struct cosa_model *model, struct arena *arena, struct dse_error *err)
{
    const struct cosa_shape *shape = model->shape;
    struct minmax *all = arena_alloc(arena, 1, sizeof *all);
    DSE_TRY(arena_check(arena, "a CoSA model", err));
    memset(all->moves, 0xff, sizeof all->moves); /* COSA_NONE */
    memset(all->windows, 0xff, sizeof all->windows);
    list_fetches(shape, all);
    fix_between_orders(model, all);
    if (shape->outermost != shape->permutation)
        cosa_add_order(model, shape->outermost, -1);
    for (uint32_t i = 0; i < all->n_fetches; i++)
        add_moves(model, all, &all->fetches[i]);
    add_all_savings(model, all);
    add_maximum(model, all);
    /* u_v in the objective: what is charged there, the savings having a cost of their own. */
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
        for (uint32_t l = all->fetches[t].first; l < shape->n_level; l++)
            if (!all_saved(model, &all->fetches[t], l))
                cosa_add_temporal_cost(model, l, unrelated(shape, t), model->settings->weight_traf);
    return DSE_OK;
}
