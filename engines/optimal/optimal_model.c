/* The events of a problem on a machine and what they cost. Every function of this file is a lower bound that
 * is exact but for hops (0), two spatial loops that move one rank (their least number of different tiles),
 * and accidental matches.
 *
 * Accidental matches. After an irrelevant run ("Temporal reuse": t_0 = 0) a loop j brings nothing when its
 * move equals the sum of the moves inside it. The first relevant loop q never does, so that at least
 * (n_q - 1) / n_q, half of the visits, are paid. Moves are vectors over the ranks: all moves of the sum lie
 * in one rank, whose two dimensions have moves a and b (steps times extents). Products of bounds make the
 * condition a x = b y with whole numbers x, y > 0 (with y = 0 the first bound would divide 1); where the
 * one dimension can have but one more loop, y = 1, or the condition is b = a x: a divides b. After a slide
 * (t_0 = s_0) the first move counts twice: y = 0 is possible only if the first bound divides 2. */
#include "engines/optimal/optimal_model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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
    if (!arch->strict_fanout)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: engine optimal needs a machine whose spatial loops must fit each level's own "
                        "fan-out, as those of native files",
                        arch->name);
    if (arch->gpu.present)
        return dse_fail(err, DSE_BAD_INPUT, "%s: engine optimal does not know the limits of a GPU's blocks",
                        arch->name);
    if (arch->n_group)
        return dse_fail(err, DSE_BAD_INPUT, "%s: engine optimal does not know groups of banks", arch->name);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        if (level->n_part)
            return dse_fail(err, DSE_BAD_INPUT,
                            "level %s of %s: engine optimal does not know memories side by side", level->name,
                            arch->name);
        if (level->min_utilization > 0)
            return dse_fail(err, DSE_BAD_INPUT,
                            "level %s of %s: engine optimal does not know min_utilization", level->name,
                            arch->name);
    }
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

enum dse_status optimal_takes_problem(const struct problem *problem, const struct architecture *arch,
                                      struct dse_error *err)
{
    uint32_t n_window = 0, n_event = 0, indexed[PROBLEM_DIM_MAX] = {0};
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        uint32_t mask = 0;
        bool window = false;
        DSE_TRY(takes_tensor(problem, t, &window, err));
        n_window += window;
        for (uint32_t r = 0; r < tensor->n_rank; r++)
            for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
                mask |= 1u << tensor->rank[r].term[k].dim;
        for (uint32_t d = 0; d < problem->n_dim; d++)
            indexed[d] += mask >> d & 1u;
        for (uint32_t l = 0; l + 1 < arch->n_level; l++)
            n_event += architecture_keeps(arch, l, tensor);
    }
    if (n_window > 1)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: engine optimal takes one tensor with sums of dimensions; there are %u",
                        problem->name, n_window);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (problem->bound[d] > 1 && indexed[d] + 1 < problem->n_tensor)
            return dse_fail(err, DSE_BAD_INPUT,
                            "%s: engine optimal takes dimensions that index all tensors but one; %s leaves "
                            "out %u",
                            problem->name, problem->dim_name[d], problem->n_tensor - indexed[d]);
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
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        for (uint32_t k = 0; k < rank->n_term; k++)
            model->relevant[t] |= 1u << rank->term[k].dim;
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

enum dse_status optimal_model_new(const struct problem *problem, const struct architecture *arch,
                                  struct arena *arena, struct optimal_model *out, struct dse_error *err)
{
    struct mapping widest;
    *out = (struct optimal_model){
        .problem = problem, .arch = arch, .macs = (double)problem_macs(problem), .window = -1};
    DSE_TRY(lattice_new(problem, arena, &out->lattice, err));
    mapping_init(&widest, problem, arch);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        out->keep[l] = widest.level[l].keep;
        out->latency += arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle;
    }
    for (uint32_t d = 0; d < problem->n_dim; d++)
        out->partner[d] = (uint8_t)problem->n_dim;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        add_ranks(out, t);
        add_events(out, t);
        if (problem->tensor[t].read_write)
            out->output = t;
    }
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const uint64_t usable = architecture_usable_words(&arch->level[l]);
        uint8_t *fits = arena_alloc(arena, out->lattice.n, 1);
        out->fits[l] = fits;
        DSE_TRY(arena_check(arena, "the tiles that fit a level", err));
        for (uint32_t i = 0; i < out->lattice.n; i++) {
            uint32_t extent[PROBLEM_DIM_MAX];
            uint64_t words = 0;
            for (uint32_t d = 0; d < problem->n_dim; d++)
                extent[d] = out->lattice.extent[d][i];
            for (uint32_t t = 0; t < problem->n_tensor; t++)
                words += (uint32_t)out->keep[l] >> t & 1u ? problem_tile_words(problem, t, extent) : 0;
            fits[i] = words <= usable;
        }
    }
    return DSE_OK;
}

/* Different values of a rank for factors n and m of its dimensions, at least: sums of two sets. */
static double least_values(const struct tensor_rank *rank, const double *count)
{
    return rank->n_term == 1 ? count[rank->term[0].dim]
                             : count[rank->term[0].dim] + count[rank->term[1].dim] - 1;
}

static double least_words(const struct tensor *tensor, const double *count)
{
    double words = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        words *= least_values(&tensor->rank[r], count);
    return words;
}

void optimal_spread_complete(const struct optimal_model *model, struct optimal_spread *spread)
{
    const struct problem *problem = model->problem;
    double used = 1, partition = (double)problem_tensor_words(problem, model->output);
    for (uint32_t l = model->arch->n_level; l-- > 0;) {
        double count[PROBLEM_DIM_MAX];
        spread->used[l] = used;
        spread->partition[l] = partition;
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            count[d] = spread->factor[l][d];
            used *= count[d];
            partition /= model->relevant[model->output] >> d & 1u ? count[d] : 1;
        }
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            spread->groups[l][t] = least_words(&problem->tensor[t], count);
    }
    spread->cycles = model->macs / used;
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        for (uint32_t d = 0; d < problem->n_dim; d++)
            spread->span[l][d] = spread->factor[l][d] * (l ? spread->span[l - 1][d] : 1);
}

/* ---------------------------------------- prices */

uint32_t optimal_prices(const struct architecture *arch, struct optimal_price *out)
{
    uint32_t n = 0;
    out[n++] = (struct optimal_price){PRICE_ENERGY, 0};
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        if (isfinite(level->read_bandwidth_word_per_cycle))
            out[n++] = (struct optimal_price){PRICE_READ, l};
        if (isfinite(level->write_bandwidth_word_per_cycle))
            out[n++] = (struct optimal_price){PRICE_WRITE, l};
        if (isfinite(level->shared_bandwidth_word_per_cycle))
            out[n++] = (struct optimal_price){PRICE_SHARED, l};
    }
    return n;
}

static void add_piece(struct optimal_toll *toll, double gain, double knee, double slope, double block)
{
    if (knee == 0 && block == 0 && toll->n > 0 && toll->piece[0].knee == 0 && toll->piece[0].block == 0) {
        toll->piece[0].slope += slope * gain / toll->piece[0].gain;
        return;
    }
    if (slope <= 0)
        return;
    assert(toll->n < OPTIMAL_PIECE_MAX);
    toll->piece[toll->n].gain = gain;
    toll->piece[toll->n].knee = knee;
    toll->piece[toll->n].slope = slope;
    toll->piece[toll->n++].block = block;
}

/* Words of one kind of a level, in each instance: max(0, gain x words - knee). */
struct counted {
    double gain, knee;
};

/* Counts of one level, per instance (docs/cost-model.md, "Counts"). `kind` is PRICE_READ or PRICE_WRITE,
 * `energy_j` that of an access; the address is `addressed`. */
static void add_counts(const struct optimal_model *model, const struct optimal_spread *spread,
                       struct optimal_price price, uint32_t l, struct counted words, enum optimal_what kind,
                       double energy_j, bool addressed, bool linear, struct optimal_toll *toll)
{
    const struct storage_level *level = &model->arch->level[l];
    if (price.what == PRICE_ENERGY) {
        const double clusters = fmin(spread->used[l], (double)(level->instances / level->cluster_size));
        const double block = level->block_word;
        if (addressed)
            add_piece(toll, words.gain, words.knee, clusters * level->address_energy_j, 0);
        if (linear)
            add_piece(toll, words.gain, words.knee, clusters * energy_j / block, 0);
        else
            add_piece(toll, words.gain, words.knee, clusters * energy_j, block);
    } else if (price.level == l && (price.what == PRICE_SHARED || price.what == kind)) {
        add_piece(toll, words.gain, words.knee,
                  1 / (price.what == PRICE_READ    ? level->read_bandwidth_word_per_cycle
                       : price.what == PRICE_WRITE ? level->write_bandwidth_word_per_cycle
                                                   : level->shared_bandwidth_word_per_cycle),
                  0);
    }
}

/* The network below level l, without hops: a router's words are at least those that enter, less what rounding
 * down takes off: one in each record, and there are no more of these than children. */
static void add_network(const struct optimal_model *model, const struct optimal_spread *spread,
                        struct optimal_price price, uint32_t l, uint32_t t, double gain,
                        struct optimal_toll *toll)
{
    const struct storage_level *level = &model->arch->level[l];
    const double ingress_j = level->ingress_energy_j * spread->used[l];
    const double router_j = level->router_energy_j * spread->used[l];
    double children = 1;
    if (price.what != PRICE_ENERGY)
        return;
    for (uint32_t d = 0; (int)t == model->window && d < model->problem->n_dim; d++)
        children *= spread->factor[l][d];
    if (t == model->output && !level->reduces && !(model->keep[l] >> t & 1u))
        gain *= 2; /* partial sums go down, too */
    add_piece(toll, gain, 0, ingress_j, 0);
    add_piece(toll, gain, children, router_j, 0);
    if (t == model->output && !level->reduces && (model->keep[l] >> t & 1u)) /* but for an instance's own */
        add_piece(toll, gain, spread->partition[l], ingress_j + router_j, 0);
}

/* `words` for each child of level `begin` go through the levels up to `to`, which serves them. */
static void add_delivery(const struct optimal_model *model, const struct optimal_spread *spread,
                         struct optimal_price price, uint32_t t, uint32_t begin, uint32_t to, bool linear,
                         struct optimal_toll *toll)
{
    const struct storage_level *level = &model->arch->level[to];
    const bool output = t == model->output;
    double gain = 1;
    for (uint32_t l = begin; l <= to; l++) {
        gain *= spread->groups[l][t];
        add_network(model, spread, price, l, t, gain, toll);
    }
    add_counts(model, spread, price, to, (struct counted){gain, output ? spread->partition[to] : 0},
               PRICE_READ, level->read_energy_j, !output, linear, toll);
    if (output)
        add_counts(model, spread, price, to, (struct counted){gain, 0}, PRICE_WRITE, level->update_energy_j,
                   true, linear, toll);
}

void optimal_toll_new(const struct optimal_model *model, const struct optimal_spread *spread,
                      struct optimal_price price, uint32_t e, bool linear, struct optimal_toll *out)
{
    const struct optimal_event *event = &model->event[e];
    const uint32_t *factor = spread->factor[event->from + 1];
    double knee = event->tensor == model->output ? spread->partition[event->from] : 0;
    /* Groups of different sizes: the mean over the children may come out below a whole number. */
    for (uint32_t d = 0; (int)event->tensor == model->window && d < model->problem->n_dim; d++)
        if (model->partner[d] < d && factor[d] > 1 && factor[model->partner[d]] > 1)
            knee = 1;
    out->n = 0;
    add_counts(model, spread, price, event->from, (struct counted){1, knee}, PRICE_WRITE,
               model->arch->level[event->from].write_energy_j, true, linear, out);
    add_delivery(model, spread, price, event->tensor, event->from + 1, event->to, linear, out);
}

/* ceil() of 0 .. 2^52, for vectors. */
static inline double whole_blocks(double x)
{
    const double round = (x + 0x1p52) - 0x1p52;
    return round < x ? round + 1 : round;
}

void optimal_toll_prices(const struct optimal_toll *toll, const double *words, uint32_t n, double *price)
{
    for (uint32_t i = 0; i < n; i++)
        price[i] = 0;
    for (uint32_t k = 0; k < toll->n; k++) {
        const double gain = toll->piece[k].gain, knee = toll->piece[k].knee, slope = toll->piece[k].slope;
        const double block = toll->piece[k].block;
        if (block == 0) {
#pragma omp simd
            for (uint32_t i = 0; i < n; i++) {
                const double over = gain * words[i] - knee;
                price[i] += over > 0 ? slope * over : 0;
            }
        } else {
#pragma omp simd
            for (uint32_t i = 0; i < n; i++) {
                const double over = gain * words[i] - knee;
                price[i] += over > 0 ? slope * whole_blocks(over / block) : 0;
            }
        }
    }
}

static double toll_price(const struct optimal_toll *toll, double words)
{
    double price;
    optimal_toll_prices(toll, &words, 1, &price);
    return price;
}

double optimal_event_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e, double words, bool linear)
{
    struct optimal_toll toll;
    optimal_toll_new(model, spread, price, e, linear, &toll);
    return toll_price(&toll, words);
}

double optimal_fixed_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price)
{
    double sum = price.what == PRICE_ENERGY ? model->macs * model->arch->mac.energy_j : 0;
    for (uint32_t t = 0; t < model->problem->n_tensor; t++) {
        struct optimal_toll toll = {.n = 0};
        add_delivery(model, spread, price, t, 0, model->innermost[t], false, &toll);
        sum += toll_price(&toll, spread->cycles);
    }
    return sum;
}

double optimal_least_event(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e)
{
    const struct optimal_event *event = &model->event[e];
    double count[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        count[d] = model->problem->bound[d];
        for (uint32_t l = event->from + 1; l < model->arch->n_level; l++)
            count[d] /= spread->factor[l][d];
    }
    return optimal_event_price(model, spread, price, e,
                               least_words(&model->problem->tensor[event->tensor], count), false);
}

double optimal_quick_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price)
{
    double sum = optimal_fixed_price(model, spread, price);
    for (uint32_t e = 0; e < model->n_event; e++)
        sum += optimal_least_event(model, spread, price, e);
    return sum;
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
    const uint32_t q = model->partner[p];
    if (q >= model->problem->n_dim)
        return false;
    const uint32_t here = spread->tiles->extent[p][node] * spread->span[l][p];
    const uint32_t there = spread->tiles->extent[q][node] * spread->span[l][q];
    const uint32_t left_p = model->problem->bound[p] / here, left_q = model->problem->bound[q] / there;
    const uint64_t a = (uint64_t)model->step[p] * here, b = (uint64_t)model->step[q] * there;
    if (left_p == 1 || left_q == 1)
        return false;
    if (is_prime(left_q) && b % a != 0)
        return false;
    return !is_prime(left_p) || (twice ? 2 : 1) * a % b == 0;
}

bool optimal_may_slide_on(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                          uint32_t node, uint32_t p)
{
    return may_match(model, spread, l, node, p, true);
}

bool optimal_may_match(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                       uint32_t node)
{
    bool match = false;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        match = match || may_match(model, spread, l, node, d, false);
    return match;
}

double optimal_close_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e, uint32_t l, uint32_t node, bool direct)
{
    const uint32_t t = model->event[e].tensor;
    uint32_t extent[PROBLEM_DIM_MAX];
    tile_of(model, spread, e, node, extent);
    const bool match = (int)t == model->window && !direct && optimal_may_match(model, spread, l, node);
    const double words = (double)problem_tile_words(model->problem, t, extent) * visits(spread, node);
    return optimal_event_price(model, spread, price, e, match ? words / 2 : words, false);
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

int optimal_stationary(const struct optimal_model *model, uint32_t d)
{
    for (uint32_t t = 0; t < model->problem->n_tensor; t++)
        if (!(model->relevant[t] >> d & 1u))
            return (int)t;
    return -1;
}
