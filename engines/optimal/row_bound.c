/* Best first over spreads. A heap has prefixes (the factors of the outer levels), and spreads, by the lowest
 * bound of each; the one on top is replaced by what is known better: a prefix by its continuations, a spread
 * by itself with its quick bound, then with the sweep over tiles, then with the sweeps of words that limited
 * bandwidths let through. Whatever is on top when the work is used up, no mapping is below it. Nothing that
 * reaches the row's own cost is kept: when the heap is empty, the row is optimal. */
#include "engines/optimal/row_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engines/mapspace/mapspace_project.h"
#include "engines/optimal/optimal_prefix.h"
#include "engines/optimal/optimal_sweep.h"

/* Work in tenths of an evaluation, about 0.14 us; measured on the project's machines and ResNet-50. */
static const double least_work = 2000; /* to list the vectors */
static const double work_vector = 0.1; /* to look at one vector of factors */
static const double work_child = 0.7;
static const double work_quick = 6;  /* a quick bound, for each price */
static const double work_tile = 1.6; /* to make one tile of the lattice, once */
/* Of a sweep: a tile, and a tile with a set of open events at one level; twice that with a window. */
static const double work_node = 0.45, work_state = 0.065;

/* Of what levels keep, so many choices are looked at, or none. */
static const double most_choices = 64;

/* Of the work, what is kept for the bounds that are not of the objective. */
static const double others = 0.2;

/* Of rounding, in costs that the relaxed prices are compared with. */
static const double slack = 1e-11;

enum stage { STAGE_PREFIX, STAGE_SPREAD, STAGE_QUICK, STAGE_TILES, STAGE_WORDS };

struct node {
    double bound;
    double decided;        /* joules, of a prefix: of the events whose words are decided */
    double energy, cycles; /* of a spread: best bounds so far, without leakage and fixed latencies */
    uint16_t place[ARCH_LEVEL_MAX];
    int16_t next; /* the level that a prefix goes on with */
    uint8_t stage;
};

struct row {
    const struct bound_question *question;
    struct arena *arena;
    struct optimal_model model;
    struct optimal_price price[OPTIMAL_PRICE_MAX];
    uint32_t n_price;
    struct optimal_spreads spreads;
    struct optimal_prefixes prefixes;
    struct optimal_sweep *sweep; /* NULL: no tiles yet */
    double left;                 /* of the work */
    double least_cycles;         /* of all mappings, without fixed latencies */
    double n_mask;               /* sets of open events of a sweep, all levels together */
    /* the goal at hand */
    struct objective goal;
    double limit; /* the row's cost */
    bool swept;
    struct node *heap; /* (n) */
    size_t n, room;
};

/* ---------------------------------------- the heap */

static bool is_before(const struct node *a, const struct node *b)
{
    if (a->bound != b->bound)
        return a->bound < b->bound;
    if (a->stage != b->stage) /* the furthest first: it may be the last */
        return a->stage > b->stage;
    return memcmp(a->place, b->place, sizeof a->place) < 0;
}

static enum dse_status push(struct row *row, const struct node *node, struct dse_error *err)
{
    if (!(node->bound < row->limit))
        return DSE_OK;
    if (row->n == row->room) {
        void *grown = array_grow(row->heap, row->n + 1, &row->room, sizeof *row->heap);
        if (!grown)
            return dse_fail(err, DSE_NO_MEMORY, "no memory for %zu spatial factors", row->n);
        row->heap = grown;
    }
    size_t i = row->n++;
    for (; i > 0 && is_before(node, &row->heap[(i - 1) / 2]); i = (i - 1) / 2)
        row->heap[i] = row->heap[(i - 1) / 2];
    row->heap[i] = *node;
    return DSE_OK;
}

static struct node pop(struct row *row)
{
    const struct node top = row->heap[0], last = row->heap[--row->n];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= row->n)
            break;
        child += child + 1 < row->n && is_before(&row->heap[child + 1], &row->heap[child]);
        if (!is_before(&row->heap[child], &last))
            break;
        row->heap[i] = row->heap[child];
        i = child;
    }
    if (row->n)
        row->heap[i] = last;
    return top;
}

/* ---------------------------------------- work */

/* Can so much be done yet? */
static bool may_spend(struct row *row, double work)
{
    const atomic_int *cancel = row->question->cancel;
    if (work > row->left || (cancel && atomic_load_explicit(cancel, memory_order_relaxed)))
        return false;
    row->left -= work;
    return true;
}

static double swept_work(const struct row *row, double n_tile, double n_mask)
{
    return n_tile * (work_node + n_mask * work_state) * (row->model.window >= 0 ? 2 : 1);
}

/* The most that a sweep over the tiles that the node's factors leave may take. */
static double sweep_work(const struct row *row, const struct node *node)
{
    struct problem rest = *row->model.problem;
    for (uint32_t l = 0; l < row->model.arch->n_level; l++)
        for (uint32_t d = 0; d < rest.n_dim; d++)
            rest.bound[d] /= row->spreads.level[l].factor[node->place[l]][d];
    return swept_work(row, lattice_size(&rest), row->n_mask);
}

/* ---------------------------------------- bounds of a node */

/* `spread`: that of the node. */
static double cost_of(const struct row *row, const struct optimal_spread *spread, const struct node *node)
{
    const double cycles = fmax(node->cycles, row->least_cycles);
    return objective_cost_of(&row->goal,
                             (node->energy + optimal_leakage_j(&row->model, spread, cycles)) * (1 - 1e-12),
                             (cycles + (double)row->model.latency) / row->model.arch->clock_hz);
}

/* Cycles of so many words' time; the evaluator rounds up after two divisions. */
static double whole_cycles(double cycles)
{
    return ceil(cycles * (1 - 1e-12));
}

/* The levels that the node has chosen; nothing is spread at the others. */
static void spread_of(const struct row *row, const struct node *node, struct optimal_spread *spread)
{
    optimal_spreads_get(&row->spreads, node->place, spread);
    for (int l = 0; l <= node->next; l++)
        for (uint32_t d = 0; d < row->model.problem->n_dim; d++)
            spread->factor[l][d] = 1;
    optimal_spread_complete(&row->model, spread);
}

/* The continuation of a prefix by the factors of its level that are set in `spread`. */
static enum dse_status push_child(struct row *row, struct node child, struct optimal_spread *spread,
                                  const double *left, struct dse_error *err)
{
    const int level = child.next;
    optimal_spread_choose(&row->model, spread, (uint32_t)level);
    child.next = (int16_t)row->prefixes.next[level];
    child.stage = child.next < 0 ? STAGE_SPREAD : STAGE_PREFIX;
    child.cycles = optimal_prefix_cycles(&row->prefixes, spread, child.next);
    if (row->goal.energy_exponent > 0) {
        child.decided += optimal_prefix_events(&row->prefixes, spread, left, child.next, child.next, level);
        child.energy = child.decided +
                       optimal_prefix_events(&row->prefixes, spread, left, child.next, 0, child.next) +
                       optimal_prefix_fixed(&row->prefixes, spread, left, child.next);
    }
    child.bound = fmax(child.bound, cost_of(row, spread, &child));
    return push(row, &child, err);
}

static enum dse_status expand(struct row *row, const struct node *node, struct dse_error *err)
{
    const struct problem *problem = row->model.problem;
    const uint32_t l = (uint32_t)node->next;
    const struct optimal_vectors *vectors = &row->spreads.level[l];
    struct optimal_spread spread;
    uint32_t whole[PROBLEM_DIM_MAX];
    spread_of(row, node, &spread);
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        whole[d] = problem->bound[d];
        for (uint32_t i = l + 1; i < row->model.arch->n_level; i++)
            whole[d] /= spread.factor[i][d];
    }
    for (uint32_t i = 0; i < vectors->n; i++) {
        const uint32_t *factor = vectors->factor[i];
        double left[PROBLEM_DIM_MAX];
        bool divides = true;
        for (uint32_t d = 0; d < problem->n_dim && divides; d++) {
            divides = whole[d] % factor[d] == 0;
            left[d] = whole[d] / factor[d];
        }
        if (!divides)
            continue;
        struct node child = *node;
        child.place[l] = (uint16_t)i;
        memcpy(spread.factor[l], factor, sizeof spread.factor[l]);
        row->left -= work_child;
        DSE_TRY(push_child(row, child, &spread, left, err));
    }
    return DSE_OK;
}

static void quick_bound(struct row *row, struct node *node)
{
    struct optimal_spread spread;
    spread_of(row, node, &spread);
    for (uint32_t i = 0; i < row->n_price; i++) {
        const double price = optimal_quick_price(&row->model, &spread, row->price[i]);
        if (i == 0)
            node->energy = fmax(node->energy, price);
        else
            node->cycles = fmax(node->cycles, whole_cycles(price));
    }
}

/* Joules without leakage at which the row's cost is reached. */
static double energy_limit(const struct row *row, const struct node *node)
{
    const double cycles = fmax(node->cycles, row->least_cycles);
    const double delay = (cycles + (double)row->model.latency) / row->model.arch->clock_hz;
    struct optimal_spread spread;
    spread_of(row, node, &spread);
    return pow(row->limit / pow(delay, row->goal.delay_exponent), 1 / row->goal.energy_exponent) -
           optimal_leakage_j(&row->model, &spread, cycles);
}

/* A sweep, whose work has been taken off as the most that it may be. */
static enum dse_status sweep_price(struct row *row, const struct node *node, struct optimal_price price,
                                   double limit, double *value, struct dse_error *err)
{
    struct optimal_spread spread;
    double n_mask = 0;
    spread_of(row, node, &spread);
    row->swept = true;
    DSE_TRY(optimal_sweep_run(row->sweep, &spread, price, limit, value, err));
    for (uint32_t l = 0; l <= row->model.arch->n_level; l++)
        n_mask += row->sweep->at[l].n;
    row->left += fmax(0, sweep_work(row, node) - swept_work(row, row->sweep->tiles.n, n_mask));
    return DSE_OK;
}

static enum dse_status sweep_tiles(struct row *row, struct node *node, struct dse_error *err)
{
    double energy;
    DSE_TRY(sweep_price(row, node, row->price[0], energy_limit(row, node), &energy, err));
    node->energy = fmax(node->energy, energy);
    return DSE_OK;
}

static enum dse_status sweep_words(struct row *row, struct node *node, struct dse_error *err)
{
    for (uint32_t i = 1; i < row->n_price; i++) {
        double cycles;
        DSE_TRY(sweep_price(row, node, row->price[i], INFINITY, &cycles, err));
        node->cycles = fmax(node->cycles, whole_cycles(cycles));
    }
    return DSE_OK;
}

/* The tiles, once. */
static enum dse_status need_tiles(struct row *row, struct dse_error *err)
{
    uint8_t keep[ARCH_LEVEL_MAX], widest[ARCH_LEVEL_MAX];
    if (row->sweep)
        return DSE_OK;
    memcpy(keep, row->model.keep, sizeof keep);
    (void)mapspace_keep_choice(row->question->space, 0, widest); /* of all choices this has most events */
    DSE_TRY(optimal_model_keep(&row->model, widest, err));
    DSE_TRY(optimal_model_add_tiles(&row->model, err));
    DSE_TRY(optimal_sweep_new(&row->model, row->arena, &row->sweep, err));
    row->sweep->sharp = true;
    return optimal_model_keep(&row->model, keep, err);
}

/* What it takes to know the node on top better; INFINITY: nothing can. */
static double work_of(const struct row *row, const struct node *node)
{
    const double tiles = row->sweep ? 0 : lattice_size(row->model.problem) * work_tile;
    const bool has_energy = row->goal.energy_exponent > 0;
    const bool has_words =
        (row->goal.delay_exponent > 0 || (has_energy && row->model.leaks)) && row->n_price > 1;
    switch (node->stage) {
    case STAGE_PREFIX:
        return row->spreads.level[node->next].n * work_vector;
    case STAGE_SPREAD:
        return row->n_price * work_quick;
    case STAGE_QUICK:
        return has_energy ? tiles + sweep_work(row, node) : has_words ? 0 : INFINITY;
    case STAGE_TILES:
        return has_words ? tiles + (row->n_price - 1) * sweep_work(row, node) : INFINITY;
    default:
        return INFINITY;
    }
}

/* Replace the node by what is known better. */
static enum dse_status refine(struct row *row, struct node node, struct dse_error *err)
{
    struct optimal_spread spread;
    if (node.stage == STAGE_PREFIX)
        return expand(row, &node, err);
    if (node.stage == STAGE_SPREAD) {
        quick_bound(row, &node);
    } else if (node.stage == STAGE_TILES || row->goal.energy_exponent > 0) {
        DSE_TRY(need_tiles(row, err));
        DSE_TRY(node.stage == STAGE_QUICK ? sweep_tiles(row, &node, err) : sweep_words(row, &node, err));
    }
    node.stage++;
    spread_of(row, &node, &spread);
    node.bound = fmax(node.bound, cost_of(row, &spread, &node));
    return push(row, &node, err);
}

/* The least cost of what the levels keep at hand, at most `*least`. */
static enum dse_status least_of_choice(struct row *row, double *least, struct dse_error *err)
{
    struct node root = {.next = (int16_t)row->prefixes.next[row->model.arch->n_level]};
    const int n_level = (int)row->model.arch->n_level;
    struct optimal_spread spread;
    double left[PROBLEM_DIM_MAX];
    row->limit = *least;
    row->n = 0;
    root.stage = root.next < 0 ? STAGE_SPREAD : STAGE_PREFIX;
    spread_of(row, &root, &spread);
    for (uint32_t d = 0; d < row->model.problem->n_dim; d++)
        left[d] = row->model.problem->bound[d];
    root.decided = optimal_prefix_events(&row->prefixes, &spread, left, root.next, root.next, n_level);
    DSE_TRY(push(row, &root, err));
    while (row->n && may_spend(row, work_of(row, &row->heap[0])))
        DSE_TRY(refine(row, pop(row), err));
    *least = row->n ? row->heap[0].bound : row->limit;
    return DSE_OK;
}

/* The least cost of `goal`, at most that of the row, which is `cost`. */
static enum dse_status least_cost(struct row *row, struct objective goal, double cost, double *least,
                                  struct dse_error *err)
{
    const struct mapspace *space = row->question->space;
    const uint32_t n_choice = (uint32_t)mapspace_keep_choices(space);
    row->goal = goal;
    row->swept = false;
    *least = cost * (1 - slack);
    for (uint32_t choice = 0; choice < n_choice; choice++) {
        uint8_t keep[ARCH_LEVEL_MAX];
        if (!mapspace_keep_choice(space, choice, keep))
            continue;
        DSE_TRY(optimal_model_keep(&row->model, keep, err));
        row->n_mask = optimal_all_masks(&row->model);
        DSE_TRY(least_of_choice(row, least, err));
    }
    return DSE_OK;
}

/* ---------------------------------------- the row */

static void raise(double *bound, double least, double cost, bool swept, bool counts, enum bound_kind *kind)
{
    const bool proved = least >= cost * (1 - 2 * slack);
    if (least <= *bound && !proved)
        return;
    *bound = fmax(*bound, fmin(least, cost * (1 - slack)));
    if (counts)
        *kind = proved ? BOUND_PROOF : swept ? BOUND_TILES : BOUND_SPREADS;
}

static enum dse_status bound_row(struct row *row, struct lower_bound *bound, enum bound_kind *kind,
                                 struct dse_error *err)
{
    const struct bound_question *question = row->question;
    const struct objective *objective = &question->objective;
    struct {
        struct objective goal;
        double cost;
        double *bound;
    } all[] = {
        {{1, 1}, question->energy_j * question->latency_s, &bound->edp_js},
        {{1, 0}, question->energy_j, &bound->energy_j},
        {{0, 1}, question->latency_s, &bound->latency_s},
    };
    const double work = row->left;
    const uint32_t first = objective->delay_exponent <= 0 ? 1 : objective->energy_exponent <= 0 ? 2 : 0;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t k = (first + i) % 3;
        double least;
        row->left += i == 0 ? -others * work : i == 1 ? others * work : 0;
        if (all[k].cost <= *all[k].bound * (1 + 1e-12))
            continue;
        DSE_TRY(least_cost(row, all[k].goal, all[k].cost, &least, err));
        raise(all[k].bound, least, all[k].cost, row->swept, i == 0, kind);
    }
    bound->edp_js = fmax(bound->edp_js, bound->energy_j * bound->latency_s);
    return DSE_OK;
}

enum dse_status row_bound(const struct bound_question *question, struct arena *arena,
                          struct lower_bound *bound, enum bound_kind *kind, struct dse_error *err)
{
    struct dse_error why;
    if ((double)question->work < least_work || optimal_takes_machine(question->arch, &why) != DSE_OK ||
        optimal_takes_problem(question->problem, question->arch, &why) != DSE_OK ||
        mapspace_keep_choices(question->space) > most_choices)
        return DSE_OK;
    struct row *row = arena_alloc(arena, 1, sizeof *row);
    DSE_TRY(arena_check(arena, "the bounds of a row", err));
    row->question = question;
    row->arena = arena;
    row->left = (double)question->work;
    DSE_TRY(optimal_model_init(question->problem, question->arch, question->constraints, arena, &row->model,
                               err));
    row->n_price = optimal_prices(question->arch, row->price);
    row->least_cycles =
        bound->latency_s * question->arch->clock_hz * (1 - 1e-12) - (double)row->model.latency;
    enum dse_status status = optimal_spreads_init(&row->spreads, &row->model, &why);
    if (status == DSE_OK) {
        optimal_prefixes_init(&row->model, &row->spreads, &row->prefixes);
        status = bound_row(row, bound, kind, err);
    } else if (status == DSE_LIMIT) {
        status = DSE_OK; /* more spatial factors than can be listed: no better bound */
    } else {
        status = dse_fail(err, status, "%s", why.text);
    }
    optimal_spreads_free(&row->spreads);
    free(row->heap);
    return status;
}
