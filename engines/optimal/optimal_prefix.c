/* Prefixes of spreads. An event's words are decided once all levels outside its inner one are. The others
 * are counted as if nothing more were spread: a further relevant factor divides the words of an instance
 * by no more than it multiplies the instances or groups (for a window of n and m values spread n' and m'
 * times, (n' + m' - 1) (n / n' + m / m' - 1) >= n + m - 1), an irrelevant one only adds. What instances
 * that share a port are charged less (docs/cost-model.md, "Energy of levels and MACs") is taken off. Parts
 * of blocks count as such; left out are routers, the networks to the MACs, and the fills of a window where
 * two loops share it, or yet may, which rounding may lower.
 *
 * The MACs' accesses are divided by the irrelevant factors inside. In a convolution no dimension is
 * irrelevant to two tensors, so that what is divided by all together is at most the children that are left
 * (else their power, by the tensors that one leaves alone). But for windows: where both dimensions of a rank
 * are spread its tiles overlap, by no more than the shorter of the two. */
#include "engines/optimal/optimal_prefix.h"

#include <math.h>

/* The most that tiles of the window overlap. */
static double overlap(const struct optimal_model *model)
{
    double most = 1;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        if (model->partner[d] < d)
            most *= fmin(model->problem->bound[d], model->problem->bound[model->partner[d]]);
    return most;
}

/* Tensors that one dimension leaves alone, at most. */
static uint32_t most_alone(const struct optimal_model *model)
{
    uint32_t most = 1;
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        uint32_t n = 0;
        for (uint32_t t = 0; t < model->problem->n_tensor; t++)
            n += !(model->relevant[t] >> d & 1u);
        most = model->problem->bound[d] > 1 && n > most ? n : most;
    }
    return most;
}

void optimal_prefixes_init(const struct optimal_model *model, const struct optimal_spreads *spreads,
                           struct optimal_prefixes *out)
{
    *out = (struct optimal_prefixes){.model = model, .overlap = overlap(model), .alone = most_alone(model)};
    out->next[0] = -1;
    out->children[0] = 1;
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        const struct storage_level *level = &model->arch->level[l];
        const struct optimal_vectors *vectors = &spreads->level[l];
        out->most[l] = fmax(1, (double)vectors->most);
        out->children[l + 1] = out->children[l] * out->most[l];
        out->next[l + 1] = vectors->most > 1 ? (int)l : out->next[l];
        out->ports[l] = (double)(level->instances / level->cluster_size);
        out->share[l] = fmin(1, out->ports[l] / (double)level->instances);
    }
}

/* Of an instance's accesses at level l, what is charged at least. */
static double charged(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread, int next,
                      uint32_t l)
{
    return (int)l < next ? prefixes->share[l] : fmin(1, prefixes->ports[l] / spread->used[l]);
}

/* Joules of one word that is read from level l, or of the output updated there. */
static double served(const struct storage_level *level, bool output)
{
    const double access = output ? level->update_energy_j : level->read_energy_j;
    return access / level->block_word + level->address_energy_j;
}

/* Do fills of a window at level l + 1's children count as they are? */
static bool fills_count(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread,
                        int next, uint32_t l)
{
    const struct optimal_model *model = prefixes->model;
    if ((int)l <= next)
        return prefixes->most[l] <= 1;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        if (model->partner[d] < d && spread->factor[l][d] > 1 && spread->factor[l][model->partner[d]] > 1)
            return false;
    return true;
}

/* `words` enter each instance of the level where the event begins. */
static double event_price(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread,
                          int next, const struct optimal_event *event, double words)
{
    const struct optimal_model *model = prefixes->model;
    const struct storage_level *level = model->arch->level, *from = &level[event->from];
    const bool output = event->tensor == model->output;
    double sum = 0;
    if (!output &&
        ((int)event->tensor != model->window || fills_count(prefixes, spread, next, event->from + 1)))
        sum += charged(prefixes, spread, next, event->from) * words * spread->used[event->from] *
               (from->write_energy_j / from->block_word + from->address_energy_j);
    for (uint32_t l = event->from + 1; l <= event->to; l++) {
        words *= spread->groups[l][event->tensor];
        sum += words * spread->used[l] * level[l].ingress_energy_j;
    }
    return sum + charged(prefixes, spread, next, event->to) * words * spread->used[event->to] *
                     served(&level[event->to], output);
}

double optimal_prefix_events(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread,
                             const double *left, int next, int bottom, int top)
{
    const struct optimal_model *model = prefixes->model;
    double sum = 0, words = 0;
    uint32_t of = model->problem->n_tensor;
    for (uint32_t e = 0; e < model->n_event; e++) {
        const struct optimal_event *event = &model->event[e];
        if ((int)event->from < bottom || (int)event->from >= top)
            continue;
        if (event->tensor != of)
            words = optimal_least_words(&model->problem->tensor[event->tensor], left);
        of = event->tensor;
        sum += event_price(prefixes, spread, next, event, words);
    }
    return sum;
}

/* The least sum of cost[t] / by[t] over 1 <= by[t] <= most[t] with a product of `all` at most. */
static double shared_out(uint32_t n, const double *cost, const double *most, double all)
{
    uint32_t open = 0;
    double sum = 0;
    for (uint32_t t = 0; t < n; t++)
        open |= (uint32_t)(cost[t] > 0) << t;
    while (open) {
        double product = 1, n_open = 0;
        uint32_t capped = 0;
        for (uint32_t t = 0; t < n; t++) {
            product *= open >> t & 1u ? cost[t] : 1;
            n_open += open >> t & 1u;
        }
        const double each = n_open == 1   ? product / all
                            : n_open == 2 ? sqrt(product / all)
                            : n_open == 3 ? cbrt(product / all)
                                          : pow(product / all, 1 / n_open);
        for (uint32_t t = 0; t < n; t++)
            capped |= (uint32_t)((open >> t & 1u) && cost[t] > each * most[t]) << t;
        if (!capped)
            return sum + n_open * each;
        for (uint32_t t = 0; t < n; t++)
            if (capped >> t & 1u) {
                sum += cost[t] / most[t];
                all /= most[t];
            }
        open &= ~capped;
    }
    return sum;
}

double optimal_prefix_fixed(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread,
                            const double *left, int next)
{
    const struct optimal_model *model = prefixes->model;
    const uint32_t n = model->problem->n_tensor;
    double cost[PROBLEM_TENSOR_MAX], most[PROBLEM_TENSOR_MAX], sum = model->macs * model->arch->mac.energy_j;
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t l = model->innermost[t];
        const struct storage_level *level = &model->arch->level[l];
        const bool output = t == model->output;
        const double part = charged(prefixes, spread, next, l);
        const double inside = prefixes->children[(int)l < next ? (int)l + 1 : next + 1];
        double words = spread->cycles * spread->used[l], irrelevant = 1; /* with nothing more spread */
        for (uint32_t i = 0; i <= l; i++)
            words *= spread->groups[i][t];
        for (uint32_t d = 0; d < model->problem->n_dim && next >= 0; d++)
            irrelevant *= model->relevant[t] >> d & 1u ? 1 : left[d];
        most[t] = fmin(inside, irrelevant) * ((int)t == model->window ? prefixes->overlap : 1);
        cost[t] = part * words * served(level, output);
        if (output) { /* partial sums, but for the first of each instance's own */
            const double rate = part * level->read_energy_j / level->block_word;
            const double outside = fmin(prefixes->children[next + 1] / inside, irrelevant);
            cost[t] += rate * words;
            sum -= rate * spread->partition[l] * spread->used[l] * outside;
        }
    }
    if (next >= 0)
        return sum + shared_out(n, cost, most,
                                pow(prefixes->children[next + 1], prefixes->alone) * prefixes->overlap);
    for (uint32_t t = 0; t < n; t++)
        sum += cost[t];
    return sum;
}

double optimal_prefix_cycles(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread,
                             int next)
{
    return spread->cycles / prefixes->children[next + 1];
}
