/* Choices of loops for an array: first what one side may carry, then pairs of sides that share no loop. */
#include "engines/interstellar/array_choice.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICE_MAX = 4000000 };

struct side {
    uint32_t n, loops; /* loops: bit d */
    uint32_t product;
    uint8_t loop[SIDE_LOOP_MAX];
    uint32_t factor[SIDE_LOOP_MAX];
};

struct side_list {
    uint32_t n, capacity;
    struct side *side;
};

/* Factors that the array's step may give to a dimension somewhere. */
struct factor_set {
    uint32_t most;
    bool *has; /* (most + 1) owned */
};

struct listing {
    const struct blocking_model *model;
    const struct loop_paths *paths;
    const struct array_rule *rule;
    uint32_t v;
    struct array_choices *out;
    uint32_t n_slot, *slot; /* of the choices by their factors, chained: 1 + the first's number */
    uint32_t *next;
    struct factor_set factors[PROBLEM_DIM_MAX];
    bool failed, too_many;
};

/* Room for one more of `size` bytes, or NULL. */
static void *grow(void *list, uint32_t n, uint32_t *capacity, size_t size)
{
    if (n < *capacity)
        return list;
    uint32_t larger = *capacity ? *capacity * 2 : 64;
    void *moved = realloc(list, larger * size);
    if (moved)
        *capacity = larger;
    return moved;
}

static void add_side(struct listing *listing, struct side_list *list, const struct side *side)
{
    struct side *moved = grow(list->side, list->n, &list->capacity, sizeof *list->side);
    listing->failed = listing->failed || !moved;
    if (!moved)
        return;
    list->side = moved;
    list->side[list->n++] = *side;
}

/* Whether a limit was met, or nothing more can be listed. */
static bool is_over(const struct listing *listing)
{
    return listing->failed || listing->too_many || blocking_limits_met(listing->model->limits);
}

static void find_factors(struct listing *listing, uint32_t d)
{
    const uint32_t y = layer_bank(listing->model, listing->v);
    const struct loop_layer *from = &listing->paths[d].layer[y - 1], *to = &listing->paths[d].layer[y];
    struct factor_set *set = &listing->factors[d];
    for (uint32_t j = 0; to->leads && j < to->n; j++)
        set->most = to->state[j].outer > set->most ? to->state[j].outer : set->most;
    set->has = calloc((size_t)set->most + 1, sizeof *set->has);
    listing->failed = listing->failed || !set->has;
    for (uint32_t i = 0; to->leads && i < from->n && !is_over(listing); i++)
        for (uint32_t j = 0; j < to->n; j++)
            set->has[step_factor(&listing->paths[d], y, i, j)] = true;
}

static bool may_spread(const struct listing *listing, uint32_t d, uint32_t f)
{
    return f <= listing->factors[d].most && listing->factors[d].has[f];
}

/* Sides of `length` that begin with the loops of `side`. By the authors' rule loops are added to a side that
 * is used too little only. */
static void list_sides(struct listing *listing, struct side *side, uint32_t length, struct side_list *list)
{
    const struct array_rule *rule = listing->rule;
    const bool enough = side->product >= rule->threshold * length;
    if (rule->any ? enough : side->n > 0 && (enough || !rule->replication))
        add_side(listing, list, side);
    const uint32_t most = rule->replication ? rule->loops : 1;
    if (side->n == most || (side->n > 0 && enough && !rule->any) || is_over(listing))
        return;
    const struct unrolling *only = rule->only[listing->v];
    for (uint32_t d = 0; d < listing->model->n_dim; d++)
        for (uint32_t f = 2; f <= listing->factors[d].most && f <= length / side->product; f++) {
            if (side->loops >> d & 1 || (only && !memchr(only->loop, (int)d, only->n)) ||
                !listing->factors[d].has[f])
                continue;
            struct side longer = *side;
            longer.loop[longer.n] = (uint8_t)d;
            longer.factor[longer.n++] = f;
            longer.loops |= 1u << d;
            longer.product *= f;
            list_sides(listing, &longer, length, list);
        }
}

/* Hops of a word of tensor t per visit. Near ones: over the first loop of every side, all together. Far ones:
 * a group of the loops nearer on the side away, for each of a loop's iterations. Without links between
 * neighbours all are near. */
static double hops_of(const struct listing *listing, const struct array_choice *choice, uint32_t t)
{
    const uint32_t reuse = listing->model->reuse.tensor[t].reuse;
    const uint32_t link = listing->model->level[listing->v].link;
    const bool links = link == ARRAY_SYSTOLIC;
    double near = 1, far = 0, distance = 1;
    for (uint32_t i = 0; i < choice->n; i++) {
        const double s = choice->factor[choice->loop[i]];
        const bool first = choice->begins >> i & 1;
        const bool passes = reuse >> choice->loop[i] & 1;
        if (first)
            distance = 1;
        if (passes && (first || !links))
            near *= s;
        else if (passes)
            far += distance * s;
        distance *= s;
    }
    return link == ARRAY_TREE && listing->model->reuse.tensor[t].output ? 2 * near - 1 : near + far;
}

/* Of choices with the same factors only those stay that no other beats in every tensor's hops. */
static bool is_beaten(struct listing *listing, const struct array_choice *choice, uint32_t slot)
{
    for (uint32_t i = listing->slot[slot]; i; i = listing->next[i - 1]) {
        struct array_choice *old = &listing->out->choice[i - 1];
        bool better = memcmp(old->factor, choice->factor, sizeof old->factor) == 0, worse = better;
        for (uint32_t t = 0; t < listing->model->n_tensor; t++) {
            better = better && old->hop[t] <= choice->hop[t];
            worse = worse && old->hop[t] >= choice->hop[t];
        }
        if (better)
            return true;
        if (worse) {
            *old = *choice;
            return true;
        }
    }
    return false;
}

static uint32_t slot_of(const struct listing *listing, const struct array_choice *choice)
{
    uint64_t hash = 1469598103934665603u;
    for (uint32_t d = 0; d < listing->model->n_dim; d++)
        hash = (hash ^ choice->factor[d]) * 1099511628211u;
    return (uint32_t)(hash >> 20) % listing->n_slot;
}

/* Whether the sides are those of the dataflow asked for; those that stand for it the other way round are
 * turned, if that changes nothing. */
static bool is_asked(const struct listing *listing, const struct side *const *sides, uint32_t n,
                     const struct side **turned)
{
    const struct unrolling *only = listing->rule->only[listing->v];
    const uint32_t *length = listing->model->level[listing->v].side;
    struct unrolling given = {.n = 0};
    bool swapped = false;
    for (uint32_t i = 0; i < n; i++) {
        turned[i] = sides[i];
        for (uint32_t k = 0; k < sides[i]->n; k++) {
            given.begins |= (uint16_t)((k == 0) << given.n);
            given.loop[given.n++] = sides[i]->loop[k];
        }
    }
    if (only && (!unrolling_is(only, &given, &swapped) || (swapped && length[0] != length[1])))
        return false;
    for (uint32_t i = 0; swapped && i < n; i++)
        turned[i] = sides[n - 1 - i];
    return true;
}

static void add_choice(struct listing *listing, const struct side *const *given, uint32_t n)
{
    const struct side *sides[PROBLEM_DIM_MAX];
    const uint32_t *length = listing->model->level[listing->v].side;
    struct array_choice choice = {.n = 0};
    struct array_choices *out = listing->out;
    double use = 1;
    for (uint32_t d = 0; d < PROBLEM_DIM_MAX; d++)
        choice.factor[d] = 1;
    if (!is_asked(listing, given, n, sides))
        return;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0, first = 1; k < sides[i]->n; k++) {
            if (sides[i]->factor[k] == 1)
                continue; /* stands in nobody's way */
            choice.begins |= (uint16_t)(first << choice.n);
            first = 0;
            choice.loop[choice.n++] = sides[i]->loop[k];
            choice.factor[sides[i]->loop[k]] = sides[i]->factor[k];
            use *= sides[i]->factor[k];
        }
    const double count = (double)length[0] * length[1];
    if (use < listing->rule->least_use || use < listing->rule->share * count || use > count)
        return;
    for (uint32_t t = 0; t < listing->model->n_tensor; t++)
        choice.hop[t] = hops_of(listing, &choice, t);
    uint32_t slot = listing->rule->any ? slot_of(listing, &choice) : 0;
    if (listing->rule->any && is_beaten(listing, &choice, slot))
        return;
    listing->too_many = listing->too_many || out->n == CHOICE_MAX;
    const uint32_t capacity = out->capacity;
    struct array_choice *moved = grow(out->choice, out->n, &out->capacity, sizeof *out->choice);
    uint32_t *next = listing->next;
    if (moved && out->capacity != capacity)
        next = realloc(next, out->capacity * sizeof *next);
    listing->failed = listing->failed || !moved || !next;
    if (moved)
        out->choice = moved;
    if (next)
        listing->next = next;
    if (listing->failed || listing->too_many)
        return;
    listing->next[out->n] = listing->slot[slot];
    out->choice[out->n] = choice;
    listing->slot[slot] = ++out->n;
}

/* Pairs of sides that share no loop; of sides of one length each pair once. */
static void add_pairs(struct listing *listing, const struct side_list *x, const struct side_list *y,
                      bool ordered)
{
    for (uint32_t i = 0; i < x->n && !is_over(listing); i++)
        for (uint32_t j = ordered ? 0 : i; j < y->n; j++) {
            const struct side *const pair[] = {&x->side[i], &y->side[j]};
            if (!(x->side[i].loops & y->side[j].loops) && !listing->failed && !listing->too_many)
                add_choice(listing, pair, 2);
        }
}

static void list_free(struct listing *listing)
{
    const uint32_t *side = listing->model->level[listing->v].side;
    struct side_list list[2] = {{0, 0, NULL}, {0, 0, NULL}};
    struct side empty = {.product = 1};
    const bool ordered = side[0] != side[1];
    list_sides(listing, &empty, side[0], &list[0]);
    if (side[1] > 1 && ordered)
        list_sides(listing, &empty, side[1], &list[1]);
    for (uint32_t i = 0; side[1] <= 1 && i < list[0].n; i++) {
        const struct side *const one = &list[0].side[i];
        add_choice(listing, &one, 1);
    }
    if (side[1] > 1)
        add_pairs(listing, &list[0], ordered ? &list[1] : &list[0], ordered);
    free(list[0].side);
    free(list[1].side);
}

/* What a hinted loop of p iterations may have on its side: itself, if it fills it, else one more loop nearer
 * or further, or itself once more. */
static void list_shared(struct listing *listing, const struct interstellar_hint *hint, uint32_t d,
                        uint32_t length, struct side_list *list)
{
    const uint32_t p = hint->loop[d].partition;
    const double least = listing->rule->threshold * length;
    const struct side alone = {.n = 1, .loops = 1u << d, .product = p, .loop = {(uint8_t)d}, .factor = {p}};
    if (p == length)
        add_side(listing, list, &alone);
    for (uint32_t i = 0; p < length && i < hint->n_partition_loop; i++) {
        const uint8_t other = hint->partition_loop[i];
        for (uint32_t f = 2; f <= length / p; f++) {
            if (f * p < least || !may_spread(listing, other, other == d ? f * p : f))
                continue;
            struct side side = alone;
            side.product = f * p;
            if (other == d) {
                side.factor[0] = f * p;
                add_side(listing, list, &side);
                continue;
            }
            side.n = 2;
            side.loops |= 1u << other;
            side.loop[1] = other;
            side.factor[1] = f;
            add_side(listing, list, &side);
            const struct side turned = {.n = 2,
                                        .loops = side.loops,
                                        .product = side.product,
                                        .loop = {other, (uint8_t)d},
                                        .factor = {f, p}};
            add_side(listing, list, &turned);
        }
    }
}

static enum dse_status list_hinted(struct listing *listing, const struct interstellar_hint *hint,
                                   struct dse_error *err)
{
    const uint32_t *length = listing->model->level[listing->v].side;
    struct side side[PROBLEM_DIM_MAX];
    const struct side *all[PROBLEM_DIM_MAX];
    struct side_list list[2] = {{0, 0, NULL}, {0, 0, NULL}};
    uint32_t n = 0, dim[PROBLEM_DIM_MAX];
    double product = 1;
    const double count = (double)length[0] * length[1];
    for (uint32_t d = 0; d < listing->model->n_dim; d++)
        if (hint->loop[d].present && hint->loop[d].level + 1u == listing->v) {
            const uint32_t p = hint->loop[d].partition;
            side[n] = (struct side){
                .n = p > 1, .loops = 1u << d, .product = p, .loop = {(uint8_t)d}, .factor = {p}};
            all[n] = &side[n];
            dim[n++] = d;
            product *= p;
        }
    if (n == 0 || count < 2 * product) {
        if (product <= count)
            add_choice(listing, all, n);
        return DSE_OK;
    }
    if (!hint->has_partition_loops)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "the schedule unrolls %g iterations over an array of %g: say in partition_loops which "
            "loops may share its sides",
            product, count);
    if (n > 2)
        return DSE_OK;
    for (uint32_t i = 0; i < n; i++)
        list_shared(listing, hint, dim[i], length[i && length[1] > 1], &list[i]);
    for (uint32_t i = 0; n == 1 && i < list[0].n; i++) {
        const struct side *const one = &list[0].side[i];
        add_choice(listing, &one, 1);
    }
    if (n == 2)
        add_pairs(listing, &list[0], &list[1], true);
    free(list[0].side);
    free(list[1].side);
    return DSE_OK;
}

/* Choices with few hops first, so that those they beat are soon known to be. */
static int compare_hops(const void *a, const void *b)
{
    const struct array_choice *one = a, *two = b;
    double first = 0, second = 0;
    for (int t = 0; t < PROBLEM_TENSOR_MAX; t++) {
        first += one->hop[t];
        second += two->hop[t];
    }
    return first < second ? -1 : first > second ? 1 : memcmp(one->factor, two->factor, sizeof one->factor);
}

enum dse_status array_choices_list(const struct blocking_model *model, const struct loop_paths *paths,
                                   uint32_t v, const struct interstellar_hint *hint,
                                   const struct array_rule *rule, struct array_choices *out,
                                   struct dse_error *err)
{
    struct listing listing = {.model = model, .paths = paths, .rule = rule, .v = v, .out = out, .n_slot = 1};
    enum dse_status status = DSE_OK;
    listing.n_slot = rule->any ? 65536 : 1;
    listing.slot = calloc(listing.n_slot, sizeof *listing.slot);
    for (uint32_t d = 0; d < model->n_dim; d++)
        find_factors(&listing, d);
    if (listing.slot && !listing.failed && hint && hint->present)
        status = list_hinted(&listing, hint, err);
    else if (listing.slot && !listing.failed)
        list_free(&listing);
    if (status == DSE_OK && (!listing.slot || listing.failed))
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the choices of loops for an array");
    if (status == DSE_OK && listing.too_many)
        status = dse_fail(err, DSE_LIMIT,
                          "there are more than %d ways to unroll loops over an array of %u x %u; allow fewer "
                          "loops on a side",
                          CHOICE_MAX, model->level[v].side[0], model->level[v].side[1]);
    if (status == DSE_OK && rule->any && out->n > 0 && !is_over(&listing))
        qsort(out->choice, out->n, sizeof *out->choice, compare_hops);
    for (uint32_t d = 0; d < model->n_dim; d++)
        free(listing.factors[d].has);
    free(listing.slot);
    free(listing.next);
    return status;
}

void array_choices_free(struct array_choices *choices)
{
    free(choices->choice);
    *choices = (struct array_choices){0, 0, NULL};
}
