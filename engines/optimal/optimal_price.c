/* What words cost, in joules or in cycles of a bandwidth: pieces that are linear in an instance's words. */
#include "engines/optimal/optimal_price.h"

#include <assert.h>
#include <math.h>

#include "costmodel/loopnest/lower_bound_need.h"
#include "engines/optimal/optimal_limits.h"
#include "engines/optimal/optimal_places.h"

double optimal_bandwidth(const struct architecture *arch, struct optimal_price price)
{
    const struct storage_level *level = &arch->level[price.level];
    return price.words == WORDS_READ      ? level->read_bandwidth_word_per_cycle
           : price.words == WORDS_WRITTEN ? level->write_bandwidth_word_per_cycle
                                          : level->shared_bandwidth_word_per_cycle;
}

uint32_t optimal_prices(const struct architecture *arch, struct optimal_price *out)
{
    uint32_t n = 0;
    out[n++] = (struct optimal_price){.joule = 1};
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        if (isfinite(level->read_bandwidth_word_per_cycle))
            out[n++] = (struct optimal_price){.cycle = 1, .words = WORDS_READ, .level = l};
        if (isfinite(level->write_bandwidth_word_per_cycle))
            out[n++] = (struct optimal_price){.cycle = 1, .words = WORDS_WRITTEN, .level = l};
        if (isfinite(level->shared_bandwidth_word_per_cycle))
            out[n++] = (struct optimal_price){.cycle = 1, .words = WORDS_SHARED, .level = l};
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

/* Counts of one level, per instance (docs/cost-model.md, "Counts"). `energy_j` is that of an access; the
 * address is `addressed`. */
static void add_counts(const struct optimal_model *model, const struct optimal_spread *spread,
                       struct optimal_price price, uint32_t l, struct counted words, enum optimal_words kind,
                       double energy_j, bool addressed, bool linear, struct optimal_toll *toll)
{
    const struct storage_level *level = &model->arch->level[l];
    const double clusters = fmin(spread->used[l], (double)(level->instances / level->cluster_size));
    const double joule = clusters * price.joule, block = level->block_word > 1 ? level->block_word : 0;
    if (addressed)
        add_piece(toll, words.gain, words.knee, joule * level->address_energy_j, 0);
    if (linear && block > 0)
        add_piece(toll, words.gain, words.knee, joule * energy_j / block, 0);
    else
        add_piece(toll, words.gain, words.knee, joule * energy_j, block);
    if (price.cycle > 0 && price.level == l && (price.words == WORDS_SHARED || price.words == kind))
        add_piece(toll, words.gain, words.knee, price.cycle / optimal_bandwidth(model->arch, price), 0);
}

/* The network below level l: `gain` words for each group, `groups` of them, `hops` for a word to each. A
 * router's words are at least those that enter, as often as there are whole hops for each and once more, less
 * what rounding down takes off: one in each record, and there are no more of these than children. */
static void add_network(const struct optimal_model *model, const struct optimal_spread *spread,
                        struct optimal_price price, uint32_t l, uint32_t t, double gain, double groups,
                        double hops, struct optimal_toll *toll)
{
    const struct storage_level *level = &model->arch->level[l];
    const bool doubled = t == model->output && !level->reduces; /* partial sums go down, too */
    const bool sums = (int)t == model->window && optimal_is_diagonal(model, spread, 1u << l);
    const double joule = price.joule * spread->used[l], each = sums ? 0 : hops / groups;
    const double ingress_j = level->ingress_energy_j * joule;
    const double router_j = level->router_energy_j * joule * (1 + floor(doubled ? each / 2 : each));
    double children = 1;
    for (uint32_t d = 0; (int)t == model->window && d < model->problem->n_dim; d++)
        children *= spread->factor[l][d];
    add_piece(toll, gain, 0, level->hop_energy_j * hops * joule, 0);
    gain *= doubled && !(model->keep[l] >> t & 1u) ? 2 * groups : groups;
    add_piece(toll, gain, 0, ingress_j, 0);
    add_piece(toll, gain, children, router_j, 0);
    if (doubled && (model->keep[l] >> t & 1u)) /* but for an instance's own */
        add_piece(toll, gain, spread->partition[l], ingress_j + router_j, 0);
}

bool optimal_is_diagonal(const struct optimal_model *model, const struct optimal_spread *spread,
                         uint32_t levels)
{
    for (uint32_t l = 0; model->window >= 0 && l < model->arch->n_level; l++)
        for (uint32_t d = 0; (levels >> l & 1u) && !optimal_is_alone(model, l, (uint32_t)model->window) &&
                             d < model->problem->n_dim;
             d++)
            if (model->partner[d] < d && spread->factor[l][d] > 1 && spread->factor[l][model->partner[d]] > 1)
                return true;
    return false;
}

/* Different tiles of tensor t below level l, where its spatial loops begin at `node`. */
static double groups_at(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                        uint32_t t, uint32_t node)
{
    const struct tensor *tensor = &model->problem->tensor[t];
    double groups = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        uint32_t step[2] = {1, 1}, n[2] = {1, 1};
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++) {
            const uint32_t d = tensor->rank[r].term[k].dim;
            n[k] = spread->factor[l][d];
            step[k] = tensor->rank[r].term[k].coefficient * spread->tiles->extent[d][node] *
                      (l ? spread->span[l - 1][d] : 1);
        }
        groups *= (double)bound_two_term_values(step[0], n[0], step[1], n[1]);
    }
    return groups;
}

/* Words for each child of level `begin` go through the levels up to `to`, which serves them. */
static void add_delivery(const struct optimal_model *model, const struct optimal_spread *spread,
                         struct optimal_price price, uint32_t t, uint32_t begin, uint32_t to, uint32_t known,
                         uint32_t node, bool linear, struct optimal_toll *toll)
{
    const struct storage_level *level = &model->arch->level[to];
    const bool output = t == model->output;
    double gain = 1;
    for (uint32_t l = begin; l <= to; l++) {
        const bool sure = known >> l & 1u;
        const double groups = (int)t == model->window && sure && !optimal_is_alone(model, l, t)
                                  ? groups_at(model, spread, l, t, node)
                                  : spread->groups[l][t];
        if (price.joule > 0)
            add_network(model, spread, price, l, t, gain, groups,
                        optimal_hops(model, spread, l, t, sure, node), toll);
        gain *= groups;
    }
    add_counts(model, spread, price, to, (struct counted){gain, output ? spread->partition[to] : 0},
               WORDS_READ, level->read_energy_j, !output, linear, toll);
    if (output)
        add_counts(model, spread, price, to, (struct counted){gain, 0}, WORDS_WRITTEN, level->update_energy_j,
                   true, linear, toll);
}

void optimal_toll_new(const struct optimal_model *model, const struct optimal_spread *spread,
                      struct optimal_price price, uint32_t e, uint32_t known, uint32_t node, bool linear,
                      struct optimal_toll *out)
{
    const struct optimal_event *event = &model->event[e];
    double knee = event->tensor == model->output ? spread->partition[event->from] : 0;
    /* Groups of different sizes: the mean over the children may come out below a whole number. */
    if ((int)event->tensor == model->window && optimal_is_diagonal(model, spread, 2u << event->from))
        knee = 1;
    out->n = 0;
    add_counts(model, spread, price, event->from, (struct counted){1, knee}, WORDS_WRITTEN,
               model->arch->level[event->from].write_energy_j, true, linear, out);
    add_delivery(model, spread, price, event->tensor, event->from + 1, event->to, known, node, linear, out);
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

/* The levels up to l. */
static uint32_t levels_to(uint32_t l)
{
    return (2u << l) - 1;
}

double optimal_event_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e, uint32_t l, uint32_t node, double words)
{
    struct optimal_toll toll;
    optimal_toll_new(model, spread, price, e, levels_to(l), node, false, &toll);
    return toll_price(&toll, words);
}

/* Words of tensor t for the MACs. */
static double delivery_price(const struct optimal_model *model, const struct optimal_spread *spread,
                             struct optimal_price price, uint32_t t, uint32_t known, uint32_t node)
{
    struct optimal_toll toll = {.n = 0};
    add_delivery(model, spread, price, t, 0, model->innermost[t], known, node, false, &toll);
    return toll_price(&toll, spread->cycles);
}

double optimal_fixed_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price)
{
    double sum = model->macs * model->arch->mac.energy_j * price.joule;
    for (uint32_t t = 0; t < model->problem->n_tensor; t++)
        sum += delivery_price(model, spread, price, t, 0, 0);
    return sum;
}

double optimal_spatial_price(const struct optimal_model *model, const struct optimal_spread *spread,
                             struct optimal_price price, uint32_t l, uint32_t node)
{
    const uint32_t t = (uint32_t)model->window;
    if (model->window < 0 || l > model->innermost[t] || !optimal_is_diagonal(model, spread, 1u << l) ||
        optimal_is_diagonal(model, spread, levels_to(model->innermost[t]) & ~levels_to(l)))
        return 0;
    return delivery_price(model, spread, price, t, 1u << l, node) -
           delivery_price(model, spread, price, t, 0, 0);
}

double optimal_least_event(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e)
{
    const struct optimal_event *event = &model->event[e];
    double count[PROBLEM_DIM_MAX];
    struct optimal_toll toll;
    optimal_toll_new(model, spread, price, e, 0, 0, false, &toll);
    if (toll.n == 0)
        return 0;
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        count[d] = model->problem->bound[d];
        for (uint32_t l = event->from + 1; l < model->arch->n_level; l++)
            count[d] /= spread->factor[l][d];
    }
    return toll_price(&toll,
                      optimal_covered_words(model->problem, event->tensor, count, spread->span[event->from]));
}

double optimal_quick_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price)
{
    double sum = optimal_fixed_price(model, spread, price);
    for (uint32_t e = 0; e < model->n_event; e++)
        sum += optimal_least_event(model, spread, price, e);
    return sum;
}

double optimal_close_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e, uint32_t l, uint32_t node, bool direct)
{
    const uint32_t t = model->event[e].tensor;
    const bool match = (int)t == model->window && !direct && optimal_may_match(model, spread, l, node);
    const double words = optimal_close_word(model, spread, e, node);
    return optimal_event_price(model, spread, price, e, l, node, match ? words / 2 : words);
}
