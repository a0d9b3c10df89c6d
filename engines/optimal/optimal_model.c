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
        if (rank->n_term < 2)
            continue;
        model->window = (int)t;
        for (uint32_t k = 0; k < 2; k++) {
            model->partner[rank->term[k].dim] = (uint8_t)rank->term[1 - k].dim;
            model->step[rank->term[k].dim] = rank->term[k].coefficient;
        }
    }
}

static void node_extents(const struct optimal_model *model, uint32_t node, uint32_t *extent)
{
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        extent[d] = model->lattice.extent[d][node];
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
            node_extents(out, i, extent);
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

/* Counts of one level and tensor, per instance (docs/cost-model.md, "Counts"). */
static double counts_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t l, bool output, double reads, double fills,
                           double updates, bool linear)
{
    const struct storage_level *level = &model->arch->level[l];
    if (price.what != PRICE_ENERGY) {
        if (price.level != l)
            return 0;
        return price.what == PRICE_READ ? reads / level->read_bandwidth_word_per_cycle
               : price.what == PRICE_WRITE
                   ? (fills + updates) / level->write_bandwidth_word_per_cycle
                   : (reads + fills + updates) / level->shared_bandwidth_word_per_cycle;
    }
    const double clusters = fmin(spread->used[l], (double)(level->instances / level->cluster_size));
    const double address = (output ? updates : reads) + fills;
    reads /= level->block_word;
    fills /= level->block_word;
    updates /= level->block_word;
    if (!linear) {
        reads = ceil(reads);
        fills = ceil(fills);
        updates = ceil(updates);
    }
    return clusters * (reads * level->read_energy_j + fills * level->write_energy_j +
                       updates * level->update_energy_j + address * level->address_energy_j);
}

/* The network below level l, without hops: a router's words are at least those that enter, less what rounding
 * down takes off: one in each record, and there are no more of these than children. */
static double network_price(const struct optimal_model *model, const struct optimal_spread *spread,
                            struct optimal_price price, uint32_t l, uint32_t t, double content)
{
    const struct storage_level *level = &model->arch->level[l];
    double entering = content, children = 1;
    if (price.what != PRICE_ENERGY || level->router_energy_j + level->ingress_energy_j <= 0)
        return 0;
    if (t == model->output && !level->reduces)
        entering = 2 * content - (model->keep[l] >> t & 1u ? fmin(spread->partition[l], content) : 0);
    for (uint32_t d = 0; (int)t == model->window && d < model->problem->n_dim; d++)
        children *= spread->factor[l][d];
    return (fmax(0, entering - children) * level->router_energy_j + entering * level->ingress_energy_j) *
           spread->used[l];
}

/* `words` for each child of level `begin` go through the levels up to `to`, which serves them. */
static double deliver(const struct optimal_model *model, const struct optimal_spread *spread,
                      struct optimal_price price, uint32_t t, uint32_t begin, uint32_t to, double words,
                      bool linear)
{
    const bool output = t == model->output;
    double sum = 0;
    for (uint32_t l = begin; l <= to; l++) {
        words *= spread->groups[l][t];
        sum += network_price(model, spread, price, l, t, words);
    }
    const double reads = output ? fmax(0, words - spread->partition[to]) : words;
    return sum + counts_price(model, spread, price, to, output, reads, 0, output ? words : 0, linear);
}

double optimal_event_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e, double words, bool linear)
{
    const struct optimal_event *event = &model->event[e];
    const bool output = event->tensor == model->output;
    const uint32_t *factor = spread->factor[event->from + 1];
    double fills = output ? fmax(0, words - spread->partition[event->from]) : words;
    /* Groups of different sizes: the mean over the children may come out below a whole number. */
    for (uint32_t d = 0; (int)event->tensor == model->window && d < model->problem->n_dim; d++)
        if (model->partner[d] < d && factor[d] > 1 && factor[model->partner[d]] > 1)
            fills = fmax(0, words - 1);
    return counts_price(model, spread, price, event->from, output, 0, fills, 0, linear) +
           deliver(model, spread, price, event->tensor, event->from + 1, event->to, words, linear);
}

double optimal_fixed_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price)
{
    double sum = price.what == PRICE_ENERGY ? model->macs * model->arch->mac.energy_j : 0;
    for (uint32_t t = 0; t < model->problem->n_tensor; t++)
        sum += deliver(model, spread, price, t, 0, model->innermost[t], spread->cycles, false);
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

/* Extents of the tile of event e that is M at level l. */
static void tile_of(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                    uint32_t l, uint32_t node, uint32_t *extent)
{
    node_extents(model, node, extent);
    for (uint32_t i = model->event[e].from + 1; i <= l; i++)
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            extent[d] /= spread->factor[i][d];
}

static double visits(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                     uint32_t node)
{
    return model->macs / (model->lattice.volume[node] * spread->used[l]);
}

/* Can a x = b y hold for the moves of p and its partner from `node` on, the first one counted `twice`? */
static bool may_match(const struct optimal_model *model, uint32_t node, uint32_t p, bool twice)
{
    const uint32_t q = model->partner[p];
    if (q >= model->problem->n_dim)
        return false;
    const uint32_t here = model->lattice.extent[p][node], there = model->lattice.extent[q][node];
    const uint32_t left_p = model->problem->bound[p] / here, left_q = model->problem->bound[q] / there;
    const uint64_t a = (uint64_t)model->step[p] * here, b = (uint64_t)model->step[q] * there;
    if (left_p == 1 || left_q == 1)
        return false;
    if (is_prime(left_q) && b % a != 0)
        return false;
    return !is_prime(left_p) || (twice ? 2 : 1) * a % b == 0;
}

bool optimal_may_slide_on(const struct optimal_model *model, uint32_t node, uint32_t p)
{
    return may_match(model, node, p, true);
}

double optimal_close_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e, uint32_t l, uint32_t node, bool direct)
{
    const uint32_t t = model->event[e].tensor;
    uint32_t extent[PROBLEM_DIM_MAX];
    bool match = false;
    tile_of(model, spread, e, l, node, extent);
    for (uint32_t d = 0; (int)t == model->window && !direct && d < model->problem->n_dim; d++)
        match = match || may_match(model, node, d, false);
    const double words =
        (double)problem_tile_words(model->problem, t, extent) * visits(model, spread, l, node);
    return optimal_event_price(model, spread, price, e, match ? words / 2 : words, false);
}

double optimal_slide_words(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                           uint32_t l, uint32_t node, uint32_t p, bool after)
{
    const struct tensor *tensor = &model->problem->tensor[model->event[e].tensor];
    uint32_t extent[PROBLEM_DIM_MAX];
    double whole = 1, kept = 1;
    tile_of(model, spread, e, l, node, extent);
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        double width = 1, move = 0;
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++) {
            const struct projection_term *term = &tensor->rank[r].term[k];
            width += (double)term->coefficient * (extent[term->dim] - 1);
            if (term->dim == p)
                move = (double)term->coefficient * model->lattice.extent[p][node];
        }
        whole *= width;
        kept *= fmax(0, width - move);
    }
    return (after ? kept : whole - kept) * visits(model, spread, l, node);
}

int optimal_stationary(const struct optimal_model *model, uint32_t d)
{
    for (uint32_t t = 0; t < model->problem->n_tensor; t++)
        if (!(model->relevant[t] >> d & 1u))
            return (int)t;
    return -1;
}
