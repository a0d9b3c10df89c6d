/* The events of a problem on a machine and what they cost. Every function of this file is a lower bound that
 * is exact but for hops (0), two spatial loops that move one rank (their least number of different tiles,
 * where the tile is not known yet), and accidental matches.
 *
 * Accidental matches. After an irrelevant run ("Temporal reuse": t_0 = 0) a loop j brings nothing when its
 * move equals the sum of the moves inside it. The first relevant loop q never does, so that at least
 * (n_q - 1) / n_q, half of the visits, are paid. Moves are vectors over the ranks: all moves of the sum lie
 * in one rank, whose two dimensions have moves a and b (steps times extents). Products of bounds make the
 * condition a x = b y with whole numbers x, y > 0 (with y = 0 the first bound would divide 1); where the
 * one dimension can have but one more loop, y = 1, or the condition is b = a x: a divides b. After a slide
 * (t_0 = s_0) the first move counts twice: y = 0 is possible only if the first bound divides 2, and a single
 * loop of the other dimension has to move by 2 a at least. */
#include "engines/optimal/optimal_model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "engines/optimal/optimal_limits.h"

static bool is_prime(uint32_t x)
{
    for (uint32_t p = 2; (uint64_t)p * p <= x; p++)
        if (x % p == 0)
            return false;
    return x > 1;
}

/* ---------------------------------------- what is taken */

enum dse_status optimal_takes_machine(const struct architecture *arch, struct dse_error *err)
{
    if (arch->link_transfers)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: engine optimal has no bound for link transfers; take descent or cosa-best",
                        arch->name);
    return DSE_OK;
}

/* A tensor whose ranks are single dimensions, or sums of two that lie in no other rank. */
static enum dse_status takes_tensor(const struct problem *problem, uint32_t t, bool *window,
                                    struct dse_error *err)
{
    const struct tensor *tensor = &problem->tensor[t];
    uint32_t seen = 0;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        if (rank->n_term > 2)
            return dse_fail(err, DSE_BAD_INPUT,
                            "%s: engine optimal takes sums of two dimensions; tensor %s has a longer one",
                            problem->name, tensor->name);
        for (uint32_t k = 0; k < rank->n_term; k++) {
            if (seen >> rank->term[k].dim & 1u)
                return dse_fail(err, DSE_BAD_INPUT,
                                "%s: engine optimal does not take tensor %s, which has dimension %s twice",
                                problem->name, tensor->name, problem->dim_name[rank->term[k].dim]);
            seen |= 1u << rank->term[k].dim;
            if (tensor->read_write && (rank->n_term > 1 || rank->term[k].coefficient > 1))
                return dse_fail(err, DSE_BAD_INPUT,
                                "%s: engine optimal does not take an output such as %s, with strides or sums",
                                problem->name, tensor->name);
        }
        *window = *window || rank->n_term == 2;
    }
    return DSE_OK;
}

/* Chains of fewer and fewer tensors that loops of `left` leave alone, from `still` on, and their links. */
static uint32_t count_chains(uint32_t n_dim, const uint32_t *alone, uint32_t left, uint32_t still)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < n_dim; d++)
        left &= (left >> d & 1u) && (still & ~alone[d]) == 0 ? ~(1u << d) : UINT32_MAX;
    for (uint32_t d = 0; d < n_dim && n <= OPTIMAL_CHAIN_MAX; d++) {
        bool next = (left >> d & 1u) && (still & alone[d]);
        for (uint32_t k = 0; k < d && next; k++)
            next = !(left >> k & 1u) || (still & alone[k]) != (still & alone[d]);
        n += next ? count_chains(n_dim, alone, left, still & alone[d]) : 0;
    }
    return n + 1;
}

enum dse_status optimal_takes_problem(const struct problem *problem, const struct architecture *arch,
                                      struct dse_error *err)
{
    uint32_t n_window = 0, n_event = 0, indexed[PROBLEM_DIM_MAX] = {0}, alone[PROBLEM_DIM_MAX] = {0};
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        const uint32_t mask = tensor_dims(tensor);
        bool window = false;
        DSE_TRY(takes_tensor(problem, t, &window, err));
        n_window += window;
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            indexed[d] += mask >> d & 1u;
            alone[d] |= (mask >> d & 1u ? 0 : 1u) << t;
        }
        for (uint32_t l = 0; l + 1 < arch->n_level; l++)
            n_event += architecture_keeps(arch, l, tensor);
    }
    if (n_window > 1)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: engine optimal takes one tensor with sums of dimensions; there are %u",
                        problem->name, n_window);
    for (uint32_t d = 0; n_window && d < problem->n_dim; d++)
        if (problem->bound[d] > 1 && indexed[d] + 1 < problem->n_tensor)
            return dse_fail(
                err, DSE_BAD_INPUT,
                "%s: engine optimal takes sums of dimensions only where each dimension indexes all "
                "tensors but one; %s leaves out %u",
                problem->name, problem->dim_name[d], problem->n_tensor - indexed[d]);
    if (!n_window && count_chains(problem->n_dim, alone, (1u << problem->n_dim) - 1,
                                  (1u << problem->n_tensor) - 1) > OPTIMAL_CHAIN_MAX)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "%s: engine optimal takes loop orders that leave tensors where they are in up to %d ways; "
            "the %u dimensions and %u tensors have more",
            problem->name, OPTIMAL_CHAIN_MAX, problem->n_dim, problem->n_tensor);
    if (n_event > OPTIMAL_EVENT_MAX)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: engine optimal takes machines whose levels inside the outermost one keep up to "
                        "%d tensors together; those of %s keep %u",
                        problem->name, OPTIMAL_EVENT_MAX, arch->name, n_event);
    if (lattice_size(problem) > OPTIMAL_NODE_MAX)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: %.3g tiles are too many for engine optimal, which takes up to %d; take another "
                        "engine",
                        problem->name, lattice_size(problem), OPTIMAL_NODE_MAX);
    return DSE_OK;
}

/* ---------------------------------------- the model */

static void add_events(struct optimal_model *model, uint32_t t)
{
    int from = -1;
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        if (!((uint32_t)model->keep[l] >> t & 1u))
            continue;
        if (from < 0) {
            model->innermost[t] = l;
        } else {
            if (model->constraints && model->constraints->level[from].no_temporal_reuse >> t & 1u)
                model->whole |= 1u << model->n_event;
            else
                model->opens[from] |= 1u << model->n_event;
            model->of_tensor[t] |= 1u << model->n_event;
            model->event[model->n_event++] = (struct optimal_event){t, (uint32_t)from, l};
        }
        from = (int)l;
    }
}

static void add_ranks(struct optimal_model *model, uint32_t t)
{
    const struct tensor *tensor = &model->problem->tensor[t];
    model->relevant[t] = tensor_dims(tensor);
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        if (rank->n_term < 2 || model->problem->bound[rank->term[0].dim] == 1 ||
            model->problem->bound[rank->term[1].dim] == 1)
            continue;
        model->window = (int)t;
        for (uint32_t k = 0; k < 2; k++) {
            model->partner[rank->term[k].dim] = (uint8_t)rank->term[1 - k].dim;
            model->step[rank->term[k].dim] = rank->term[k].coefficient;
        }
    }
}

enum dse_status optimal_model_keep(struct optimal_model *model, const uint8_t *keep, struct dse_error *err)
{
    model->n_event = model->whole = 0;
    memset(model->opens, 0, sizeof model->opens);
    memset(model->of_tensor, 0, sizeof model->of_tensor);
    memcpy(model->keep, keep, model->arch->n_level);
    memset(model->stays, 0, sizeof model->stays);
    for (uint32_t t = 0; t < model->problem->n_tensor; t++) {
        add_events(model, t);
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            model->stays[d] |= model->relevant[t] >> d & 1u ? 0 : model->of_tensor[t];
    }
    for (uint32_t l = 0; model->lattice.n && l < model->arch->n_level; l++)
        DSE_TRY(optimal_fits(model, l, keep[l], &model->fits[l], err));
    for (uint32_t l = 0; memcmp(keep, model->widest, model->arch->n_level) == 0 && l < model->arch->n_level;
         l++)
        if (model->shared_fits[l])
            model->fits[l] = model->shared_fits[l];
    return DSE_OK;
}

enum dse_status optimal_model_init(const struct problem *problem, const struct architecture *arch,
                                   const struct mapspace_constraints *constraints, struct arena *arena,
                                   struct optimal_model *out, struct dse_error *err)
{
    uint8_t keep[ARCH_LEVEL_MAX];
    *out = (struct optimal_model){.problem = problem,
                                  .arch = arch,
                                  .constraints = constraints,
                                  .arena = arena,
                                  .macs = (double)problem_macs(problem),
                                  .window = -1};
    for (uint32_t d = 0; d < problem->n_dim; d++)
        out->partner[d] = (uint8_t)problem->n_dim;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        add_ranks(out, t);
        if (problem->tensor[t].read_write)
            out->output = t;
    }
    for (uint32_t l = 0; l < arch->n_level; l++) {
        keep[l] = 0;
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            keep[l] = (uint8_t)(keep[l] | (uint32_t)architecture_keeps(arch, l, &problem->tensor[t]) << t);
        if (constraints)
            keep[l] = (uint8_t)(keep[l] & ~constraints->level[l].bypass);
        out->latency += arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle;
    }
    out->leaks = architecture_all_leakage_w(arch) > 0;
    optimal_limit_factors(out);
    return optimal_model_keep(out, keep, err);
}

enum dse_status optimal_model_add_tiles(struct optimal_model *model, struct dse_error *err)
{
    memcpy(model->widest, model->keep, sizeof model->widest);
    DSE_TRY(lattice_new(model->problem, model->arena, &model->lattice, err));
    for (uint32_t t = 0; t < model->problem->n_tensor; t++) {
        model->tile_words[t] =
            arena_alloc_unset(model->arena, model->lattice.n, sizeof *model->tile_words[t]);
        DSE_TRY(arena_check(model->arena, "the words of tiles", err));
        optimal_tile_words(model, t, model->tile_words[t]);
    }
    DSE_TRY(optimal_model_keep(model, model->widest, err));
    return optimal_share_banks(model, err);
}

enum dse_status optimal_model_new(const struct problem *problem, const struct architecture *arch,
                                  const struct mapspace_constraints *constraints, struct arena *arena,
                                  struct optimal_model *out, struct dse_error *err)
{
    DSE_TRY(optimal_model_init(problem, arch, constraints, arena, out, err));
    return optimal_model_add_tiles(out, err);
}

/* Different values of a rank for factors n and m of its dimensions, at least: sums of two sets. */
static double least_values(const struct tensor_rank *rank, const double *count)
{
    return rank->n_term == 1 ? count[rank->term[0].dim]
                             : count[rank->term[0].dim] + count[rank->term[1].dim] - 1;
}

double optimal_least_words(const struct tensor *tensor, const double *count)
{
    double words = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        words *= least_values(&tensor->rank[r], count);
    return words;
}

/* Boxes of values of a dimension: what one of them and the next are apart in a rank, how wide a box is there,
 * how many there are, and whether none is missing between them. */
struct boxes {
    double move, width, n;
    bool follow;
};

static struct boxes boxes_of(const struct problem *problem, const struct projection_term *term,
                             const double *count, const uint32_t *box)
{
    const double n = count[term->dim] / box[term->dim], move = (double)term->coefficient * box[term->dim];
    return (struct boxes){move, move - term->coefficient + 1, n,
                          n <= 1 || count[term->dim] >= problem->bound[term->dim]};
}

/* Values of a sum of two dimensions that their boxes cover, at least; 0: nothing is known. Where boxes that
 * follow in one dimension leave no gap they make a run, and the other one, with or without gaps, moves it. */
static double covered_values(struct boxes a, struct boxes b)
{
    const double width = a.width + b.width - 1;
    const double run_a = width + a.move * (a.n - 1), run_b = width + b.move * (b.n - 1);
    if (b.follow && (b.n <= 1 || b.move <= width))
        return run_b + (a.n - 1) * fmin(a.move, run_b);
    if (a.follow && (a.n <= 1 || a.move <= width))
        return run_a + (b.n - 1) * fmin(b.move, run_a);
    return 0;
}

double optimal_covered_words(const struct problem *problem, uint32_t t, const double *count,
                             const uint32_t *box)
{
    const struct tensor *tensor = &problem->tensor[t];
    double words = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        const struct boxes one = boxes_of(problem, &rank->term[0], count, box),
                           other = rank->n_term == 1 ? (struct boxes){1, 1, 1, true}
                                                     : boxes_of(problem, &rank->term[1], count, box);
        words *= fmax(least_values(rank, count), covered_values(one, other));
    }
    return words;
}

void optimal_spread_choose(const struct optimal_model *model, struct optimal_spread *spread, uint32_t l)
{
    const struct problem *problem = model->problem;
    double count[PROBLEM_DIM_MAX], used = spread->used[l], partition = spread->partition[l];
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        count[d] = spread->factor[l][d];
        used *= count[d];
        partition /= model->relevant[model->output] >> d & 1u ? count[d] : 1;
    }
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        spread->groups[l][t] = optimal_is_alone(model, l, t)
                                   ? used / spread->used[l]
                                   : optimal_least_words(&problem->tensor[t], count);
    }
    for (uint32_t i = 0; i < l; i++) {
        spread->used[i] = used;
        spread->partition[i] = partition;
    }
    spread->cycles = model->macs / used;
}

void optimal_spread_complete(const struct optimal_model *model, struct optimal_spread *spread)
{
    const uint32_t last = model->arch->n_level - 1;
    spread->used[last] = 1;
    spread->partition[last] = (double)problem_tensor_words(model->problem, model->output);
    for (uint32_t l = model->arch->n_level; l-- > 0;)
        optimal_spread_choose(model, spread, l);
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        spread->place[l] = NULL;
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            spread->span[l][d] = spread->factor[l][d] * (l ? spread->span[l - 1][d] : 1);
}

double optimal_leakage_j(const struct optimal_model *model, const struct optimal_spread *spread,
                         double cycles)
{
    const struct architecture *arch = model->arch;
    const double all = cycles + (double)model->latency;
    if (!model->leaks)
        return 0;
    const double used_w = architecture_leakage_w(arch, spread->used, model->macs / spread->cycles);
    return fmax(used_w * all / arch->clock_hz, architecture_least_leakage_j(arch, model->macs, all));
}

/* Extents of the tile of event e that closes at `node`: without the spatial factors further out. */
static void tile_of(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                    uint32_t node, uint32_t *extent)
{
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        extent[d] = spread->tiles->extent[d][node] * spread->span[model->event[e].from][d];
}

static double visits(const struct optimal_spread *spread, uint32_t node)
{
    return spread->tiles->volume[spread->tiles->n - 1] / spread->tiles->volume[node];
}

double optimal_close_word(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                          uint32_t node)
{
    uint32_t extent[PROBLEM_DIM_MAX];
    tile_of(model, spread, e, node, extent);
    return (double)problem_tile_words(model->problem, model->event[e].tensor, extent) * visits(spread, node);
}

void optimal_close_words(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                         double *words)
{
    const struct lattice *tiles = spread->tiles;
    const struct tensor *tensor = &model->problem->tensor[model->event[e].tensor];
    const uint32_t *span = spread->span[model->event[e].from];
    const double all = tiles->volume[tiles->n - 1];
    for (uint32_t i = 0; i < tiles->n; i++)
        words[i] = all / tiles->volume[i];
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        const uint32_t a = rank->term[0].dim, b = rank->term[rank->n_term - 1].dim;
        const uint32_t *tile_a = tiles->extent[a], *tile_b = tiles->extent[b];
        const uint32_t step_a = rank->term[0].coefficient * span[a];
        const uint32_t step_b = rank->n_term > 1 ? rank->term[1].coefficient * span[b] : 0;
        const uint32_t less =
            rank->term[0].coefficient + (rank->n_term > 1 ? rank->term[1].coefficient : 0) - 1;
#pragma omp simd
        for (uint32_t i = 0; i < tiles->n; i++)
            words[i] *= (double)(int32_t)(step_a * tile_a[i] + step_b * tile_b[i] - less);
    }
}

/* Can a x = b y hold for the moves of p and its partner from `node` on, the first one counted `twice`? */
static bool may_match(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                      uint32_t node, uint32_t p, bool twice)
{
    const uint32_t q = model->partner[p], last = spread->tiles->n - 1;
    if (q >= model->problem->n_dim)
        return false;
    const uint32_t *tile_p = spread->tiles->extent[p], *tile_q = spread->tiles->extent[q];
    if (tile_p[node] == tile_p[last] || tile_q[node] == tile_q[last]) /* no more loops of it */
        return false;
    const uint32_t here = tile_p[node] * spread->span[l][p], there = tile_q[node] * spread->span[l][q];
    const uint32_t left_p = model->problem->bound[p] / here, left_q = model->problem->bound[q] / there;
    const uint64_t a = (uint64_t)model->step[p] * here, b = (uint64_t)model->step[q] * there;
    if (is_prime(left_q) && (b % a != 0 || (twice && b < 2 * a)))
        return false;
    return !is_prime(left_p) || (twice ? 2 : 1) * a % b == 0;
}

bool optimal_may_slide_on(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                          uint32_t node, uint32_t p)
{
    return may_match(model, spread, l, node, p, true);
}

bool optimal_may_slide_twice(const struct optimal_model *model, const struct optimal_spread *spread,
                             uint32_t l, uint32_t node, uint32_t p)
{
    const uint32_t last = spread->tiles->n - 1, q = model->partner[p];
    const uint32_t *tile_p = spread->tiles->extent[p], *tile_q = spread->tiles->extent[q];
    const uint32_t left = tile_p[last] / tile_p[node];
    /* moves of the other dimension in between may make up for a spread */
    const bool other = tile_q[node] < tile_q[last];
    return left % 2 == 0 && left > 2 && l + 1 < model->arch->n_level &&
           (other || spread->factor[l + 1][p] == 1);
}

bool optimal_may_match(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                       uint32_t node)
{
    bool match = false;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        match = match || may_match(model, spread, l, node, d, false);
    return match;
}

double optimal_slide_words(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                           uint32_t l, uint32_t node, uint32_t p, bool after)
{
    const struct tensor *tensor = &model->problem->tensor[model->event[e].tensor];
    uint32_t extent[PROBLEM_DIM_MAX];
    double whole = 1, kept = 1;
    tile_of(model, spread, e, node, extent);
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        double width = 1, move = 0;
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++) {
            const struct projection_term *term = &tensor->rank[r].term[k];
            width += (double)term->coefficient * (extent[term->dim] - 1);
            if (term->dim == p)
                move = (double)term->coefficient * spread->tiles->extent[p][node] * spread->span[l][p];
        }
        whole *= width;
        kept *= fmax(0, width - move);
    }
    return (after ? kept : whole - kept) * visits(spread, node);
}

uint32_t optimal_left_alone(const struct optimal_model *model, uint32_t d)
{
    uint32_t tensors = 0;
    for (uint32_t t = 0; t < model->problem->n_tensor; t++)
        tensors |= (model->relevant[t] >> d & 1u ? 0 : 1u) << t;
    return tensors;
}

uint32_t optimal_dims_around(const struct optimal_model *model, uint32_t open)
{
    uint32_t dims = 0;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        dims |= (uint32_t)((open & ~model->stays[d]) == 0) << d;
    return dims;
}
