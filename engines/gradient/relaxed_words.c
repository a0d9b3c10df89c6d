/* From extents to the words that memories serve and take, and their energies, and back. */
#include <math.h>

#include "engines/gradient/relaxed_private.h"

/* A loop irrelevant to a tensor weighs 1 - exp(-FADE x log of the relevant trips inside it). */
#define FADE 2.0

/* ---------------------------------------- visits */

/* The logarithm of how often the tile of a link changes. */
static double count_visits(const struct relaxed *model, struct relaxed_link *link, relaxed_factors factor)
{
    uint32_t moved = link->whole ? UINT32_MAX : model->moved[link->tensor];
    double visits = 0, inside = 0, fade = 1;
    bool known = true;
    for (uint32_t j = link->first; j < model->n_loop; j++) {
        const struct relaxed_loop *loop = &model->loop[j];
        double trips = factor[loop->place][loop->dim];
        if (moved >> loop->dim & 1u) {
            visits += trips;
            inside += trips;
            known = false;
            continue;
        }
        fade = known ? fade : exp(-FADE * inside);
        known = true;
        link->fade[j] = fade;
        visits += (1 - fade) * trips;
    }
    return visits;
}

static void count_visits_back(const struct relaxed *model, const struct relaxed_link *link,
                              relaxed_factors factor, double slope, relaxed_factors out)
{
    uint32_t moved = link->whole ? UINT32_MAX : model->moved[link->tensor];
    double outside = 0; /* what a relevant trip adds to the weights of the loops outside it */
    for (uint32_t j = model->n_loop; j-- > link->first;) {
        const struct relaxed_loop *loop = &model->loop[j];
        double *to = &out[loop->place][loop->dim];
        if (moved >> loop->dim & 1u) {
            *to += slope * (1 + outside);
        } else {
            *to += slope * (1 - link->fade[j]);
            outside += FADE * link->fade[j] * factor[loop->place][loop->dim];
        }
    }
}

/* ---------------------------------------- words */

static double above(double words, double first)
{
    return words > first ? words - first : 0;
}

/* What it costs to send a word from a level to all children that need it, on average: the furthest of the
 * columns with the same words, and in each of them half the rows (docs/cost-model.md, "Energy of
 * networks"). */
static double network_j(const struct relaxed *model, const struct relaxed_state *now, uint32_t l, uint32_t t)
{
    const struct storage_level *level = &model->arch->level[l];
    double shared = now->level[l].across[0] - now->level[l].spread[t][0] + now->level[l].across[1];
    return (level->hop_energy_j + level->router_energy_j) * (exp(now->level[l].across[0]) + exp(shared) - 2) /
               2 +
           level->router_energy_j + level->ingress_energy_j;
}

static void network_j_back(const struct relaxed *model, const struct relaxed_state *now, uint32_t l,
                           uint32_t t, double slope, struct relaxed_state *d)
{
    const struct storage_level *level = &model->arch->level[l];
    double half = slope * (level->hop_energy_j + level->router_energy_j) / 2;
    double shared =
        half * exp(now->level[l].across[0] - now->level[l].spread[t][0] + now->level[l].across[1]);
    d->level[l].across[0] += half * exp(now->level[l].across[0]) + shared;
    d->level[l].across[1] += shared;
    d->level[l].spread[t][0] -= shared;
}

static void count_link(const struct relaxed *model, struct relaxed_link *link, struct relaxed_state *now)
{
    uint32_t t = link->tensor, p = link->parent;
    bool output = t == model->output;
    double words = link->visits;
    if (link->child >= 0) {
        uint32_t c = (uint32_t)link->child;
        words += now->level[c].tile[t];
        link->filled = exp(words + now->level[c].used);
        link->filled_first = output ? exp(model->log_words + now->level[c].used - now->level[c].outer[t]) : 0;
        double filled = above(link->filled, link->filled_first);
        now->level[c].write += filled;
        now->level[c].energy_j += filled * model->energy[c][t].fill_j;
    }
    for (uint32_t l = (uint32_t)(link->child + 1); l <= p; l++) {
        words += now->level[l].spread[t][0] + now->level[l].spread[t][1];
        if (model->network_costs[l])
            now->network_j += exp(words + now->level[l].used) * network_j(model, now, l, t);
    }
    link->words = words;
    link->served = exp(words + now->level[p].used);
    link->served_first = output ? exp(model->log_words + now->level[p].used - now->level[p].outer[t]) : 0;
    double read = above(link->served, link->served_first);
    now->level[p].read += read;
    now->level[p].energy_j += read * model->energy[p][t].read_j;
    if (output) {
        now->level[p].write += link->served;
        now->level[p].energy_j += link->served * model->energy[p][t].update_j;
    }
}

void relaxed_words(struct relaxed *model, relaxed_factors factor, struct relaxed_state *now)
{
    for (uint32_t i = 0; i < model->n_link; i++) {
        model->link[i].visits = count_visits(model, &model->link[i], factor);
        count_link(model, &model->link[i], now);
    }
}

/* What the child's fills add to the adjoint of its refilled words. */
static double fills_back(const struct relaxed *model, const struct relaxed_link *link,
                         struct relaxed_state *d)
{
    uint32_t t = link->tensor, c = (uint32_t)link->child;
    double by_fill = d->level[c].write + d->level[c].energy_j * model->energy[c][t].fill_j;
    if (link->filled <= link->filled_first)
        return 0;
    d->level[c].used += (link->filled - link->filled_first) * by_fill;
    d->level[c].outer[t] += link->filled_first * by_fill;
    return link->filled * by_fill;
}

/* The adjoint of the words that leave the parent. */
static double serves_back(const struct relaxed *model, const struct relaxed_link *link,
                          struct relaxed_state *d)
{
    uint32_t t = link->tensor, p = link->parent;
    double by_read = d->level[p].read + d->level[p].energy_j * model->energy[p][t].read_j, by_word = 0;
    if (link->served > link->served_first) {
        by_word = by_read;
        d->level[p].used -= link->served_first * by_read;
        d->level[p].outer[t] += link->served_first * by_read;
    }
    if (t == model->output)
        by_word += d->level[p].write + d->level[p].energy_j * model->energy[p][t].update_j;
    d->level[p].used += link->served * by_word;
    return link->served * by_word;
}

/* Returns the adjoint of the visits. */
static double count_link_back(const struct relaxed *model, const struct relaxed_link *link,
                              const struct relaxed_state *now, struct relaxed_state *d)
{
    uint32_t t = link->tensor;
    double slope = serves_back(model, link, d);
    double words = link->words;
    for (uint32_t l = link->parent + 1u; l-- > (uint32_t)(link->child + 1);) {
        if (model->network_costs[l]) {
            double sent = exp(words + now->level[l].used) * d->network_j;
            double by_word = sent * network_j(model, now, l, t);
            network_j_back(model, now, l, t, sent, d);
            d->level[l].used += by_word;
            slope += by_word;
        }
        for (int axis = 0; axis < 2; axis++) {
            d->level[l].spread[t][axis] += slope;
            words -= now->level[l].spread[t][axis];
        }
    }
    if (link->child >= 0) {
        slope += fills_back(model, link, d);
        d->level[link->child].tile[t] += slope;
    }
    return slope;
}

void relaxed_words_back(const struct relaxed *model, relaxed_factors factor, const struct relaxed_state *now,
                        struct relaxed_state *d, relaxed_factors slope)
{
    for (uint32_t i = 0; i < model->n_link; i++)
        count_visits_back(model, &model->link[i], factor, count_link_back(model, &model->link[i], now, d),
                          slope);
}
