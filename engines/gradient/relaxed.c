/* Compiles the model, lists loops and links of a choice, and evaluates: forward through extents, tiles,
 * visits and words to energy and time, then backward, the adjoint of every step written by hand. */
#include "engines/gradient/relaxed.h"

#include <math.h>
#include <string.h>

#include "engines/gradient/relaxed_private.h"

/* ---------------------------------------- compile */

static struct relaxed_energy energy_of(const struct storage_level *level, const struct tensor *tensor)
{
    double block = level->block_word, address_j = level->address_energy_j;
    struct relaxed_energy e = {level->read_energy_j / block, level->write_energy_j / block,
                               level->update_energy_j / block};
    if (level->n_part)
        e.read_j = e.fill_j = e.update_j = level->part[level->part_of[tensor->role]].access_energy_j / block;
    e.fill_j += address_j;
    *(tensor->read_write ? &e.update_j : &e.read_j) += address_j;
    return e;
}

static void compile_tensors(struct relaxed *model)
{
    const struct problem *problem = model->problem;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        if (tensor->read_write)
            model->output = t;
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            const struct tensor_rank *rank = &tensor->rank[r];
            for (uint32_t i = 0; i < rank->n_term; i++) {
                uint32_t bit = 1u << rank->term[i].dim;
                model->moved[t] |= bit;
                model->summed[t] |= rank->n_term > 1 || rank->term[i].coefficient > 1 ? bit : 0;
            }
        }
        for (uint32_t l = 0; l < model->arch->n_level; l++)
            model->energy[l][t] = energy_of(&model->arch->level[l], tensor);
    }
    model->log_words = log((double)problem_tensor_words(problem, model->output));
}

static void compile_places(struct relaxed *model)
{
    for (uint32_t s = 0; s < model->n_place; s++) {
        const struct mapspace_place *place = &model->place[s];
        model->log_capacity[s] = log(place->capacity);
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            if (place->fixed[d] > 1 || ((place->open >> d & 1u) && model->problem->bound[d] > 1))
                model->active[s] |= 1u << d;
    }
}

enum dse_status relaxed_new(const struct problem *problem, const struct architecture *arch,
                            const struct mapspace *space, const struct objective *objective,
                            struct arena *arena, struct relaxed **out, struct dse_error *err)
{
    struct relaxed *model = arena_alloc(arena, 1, sizeof *model);
    size_t n_fade = (size_t)problem->n_tensor * arch->n_level * arch->n_level * problem->n_dim;
    double *fade = arena_alloc(arena, n_fade, sizeof *fade);
    struct relaxed_state *state = arena_alloc(arena, 2, sizeof *state);
    DSE_TRY(arena_check(arena, "the relaxed cost model", err));
    model->now = state;
    model->adjoint = state + 1;
    model->problem = problem;
    model->arch = arch;
    model->objective = *objective;
    model->log_tensors = log(problem->n_tensor);
    model->fade = fade;
    model->n_place = mapspace_places(space, model->place);
    compile_tensors(model);
    compile_places(model);
    model->mac_j = (double)problem_macs(problem) * arch->mac.energy_j;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        uint64_t usable = architecture_usable_words(level);
        model->log_usable[l] = usable == ARCH_UNLIMITED ? INFINITY : log((double)usable);
        model->log_cluster[l] = log((double)(level->instances / level->cluster_size));
        model->network_costs[l] =
            level->hop_energy_j > 0 || level->router_energy_j > 0 || level->ingress_energy_j > 0;
        model->ports[l] = isfinite(level->read_bandwidth_word_per_cycle) ||
                          isfinite(level->write_bandwidth_word_per_cycle) ||
                          isfinite(level->shared_bandwidth_word_per_cycle);
        model->fixed_cycle += (double)(level->fill_latency_cycle + level->drain_latency_cycle);
    }
    *out = model;
    return DSE_OK;
}

const struct mapspace_place *relaxed_places(const struct relaxed *model, uint32_t *n)
{
    *n = model->n_place;
    return model->place;
}

/* ---------------------------------------- loops and links of a choice */

static void list_loops(struct relaxed *model)
{
    model->n_loop = 0;
    for (uint32_t s = model->n_place; s-- > 0;) {
        const struct mapspace_place *place = &model->place[s];
        for (uint32_t i = 0; i < model->problem->n_dim && !place->spatial; i++) {
            uint8_t d = model->choice[place->level].temporal_order[i];
            if (model->active[s] >> d & 1u)
                model->loop[model->n_loop++] = (struct relaxed_loop){(uint8_t)s, d};
        }
        model->level_end[place->level] = model->n_loop;
    }
}

void relaxed_choose(struct relaxed *model, const struct mapping *choice)
{
    memcpy(model->choice, choice->level, model->arch->n_level * sizeof model->choice[0]);
    list_loops(model);
    model->n_link = 0;
    double *fade = model->fade;
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        model->tiles[l] = isfinite(model->log_usable[l]) ? model->choice[l].keep : 0;
    for (uint32_t t = 0; t < model->problem->n_tensor; t++) {
        int child = -1;
        for (uint32_t l = 0; l < model->arch->n_level; l++) {
            if (!((uint32_t)model->choice[l].keep >> t & 1u))
                continue;
            if (child >= 0)
                model->tiles[child] |= 1u << t;
            model->link[model->n_link++] = (struct relaxed_link){
                .tensor = (uint8_t)t,
                .parent = (uint8_t)l,
                .child = (int8_t)child,
                .whole = child < 0 || ((uint32_t)model->choice[child].no_temporal_reuse >> t & 1u),
                .first = child < 0 ? 0 : model->level_end[child],
                .fade = fade};
            fade += model->n_loop;
            child = (int)l;
        }
    }
}

void relaxed_factors_of(const struct relaxed *model, const struct mapping *mapping, relaxed_factors factor)
{
    for (uint32_t s = 0; s < model->n_place; s++) {
        const struct mapspace_place *place = &model->place[s];
        const struct mapping_level *level = &mapping->level[place->level];
        for (uint32_t i = 0; i < model->problem->n_dim; i++) {
            uint32_t d = place->spatial ? level->spatial_order[i] : i;
            bool here = !place->spatial || place->on_y == (i >= level->split);
            factor[s][d] = !here ? 0 : log(place->spatial ? level->spatial[d] : level->temporal[d]);
        }
    }
}

/* ---------------------------------------- time */

/* x to the power of 2^n. */
static double power(double x, uint32_t n)
{
    while (n--)
        x *= x;
    return x;
}

/* A stream of words through a port. */
struct port {
    uint32_t level;
    double word, cycle; /* of all instances; how long an instance takes */
    bool reads, writes;
};

enum { PORT_MAX = 3 * ARCH_LEVEL_MAX };

static uint32_t list_ports(const struct relaxed *model, const struct relaxed_state *now, struct port *port)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        const struct storage_level *level = &model->arch->level[l];
        double read = now->level[l].read, write = now->level[l].write;
        const struct port all[3] = {
            {l, read, read / level->read_bandwidth_word_per_cycle, true, false},
            {l, write, write / level->write_bandwidth_word_per_cycle, false, true},
            {l, read + write, (read + write) / level->shared_bandwidth_word_per_cycle, true, true},
        };
        for (int i = 0; i < 3 && model->ports[l]; i++)
            if (all[i].cycle > 0) {
                port[n] = all[i];
                port[n++].cycle *= exp(-now->level[l].used);
            }
    }
    return n;
}

/* Cycles: a norm of the MACs' and of all ports' instead of the largest. With `d`, adds `slope` times the
 * derivatives of its logarithm. */
static double count_cycles(const struct relaxed *model, uint32_t sharpness, const struct relaxed_state *now,
                           double slope, struct relaxed_state *d)
{
    struct port port[PORT_MAX];
    uint32_t n = list_ports(model, now, port);
    double compute = exp(now->compute), most = compute, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, port[i].cycle);
    for (uint32_t i = 0; i < n; i++)
        sum += power(port[i].cycle / most, sharpness);
    sum += power(compute / most, sharpness);
    double norm = most * exp(log(sum) / (double)(1u << sharpness)), cycle = norm + model->fixed_cycle;
    if (!d)
        return cycle;
    slope *= norm / cycle / sum;
    d->compute += slope * power(compute / most, sharpness);
    for (uint32_t i = 0; i < n; i++) {
        struct relaxed_level *level = &d->level[port[i].level];
        double share = slope * power(port[i].cycle / most, sharpness);
        level->used -= share;
        level->read += port[i].reads ? share / port[i].word : 0;
        level->write += port[i].writes ? share / port[i].word : 0;
    }
    return cycle;
}

/* ---------------------------------------- energy, penalties, the value */

/* Energy; instances of a cluster share an access, so the energy is that of the clusters in use. */
static double add_energies(const struct relaxed *model, const struct relaxed_state *now)
{
    double all = model->mac_j + now->network_j;
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        double excess = now->level[l].used - model->log_cluster[l];
        all += excess > 0 ? now->level[l].energy_j * exp(-excess) : now->level[l].energy_j;
    }
    return all;
}

static void add_energies_back(const struct relaxed *model, const struct relaxed_state *now, double slope,
                              struct relaxed_state *d)
{
    d->network_j = slope;
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        double excess = now->level[l].used - model->log_cluster[l];
        d->level[l].energy_j = excess > 0 ? slope * exp(-excess) : slope;
        d->level[l].used -= excess > 0 ? d->level[l].energy_j * now->level[l].energy_j : 0;
    }
}

/* The squared logarithm of what the spread at a place is too large by. */
static double add_spread(const struct relaxed *model, uint32_t s, const double *factor, double weight,
                         double *slope)
{
    double excess = -model->log_capacity[s];
    for (uint32_t i = 0; i < model->problem->n_dim; i++)
        excess += factor[i];
    if (excess <= 0)
        return 0;
    for (uint32_t i = 0; i < model->problem->n_dim && slope; i++)
        slope[i] += 2 * weight * excess;
    return weight * excess * excess;
}

/* The same of the tiles at a level; `d` may be NULL. */
static double add_tiles(const struct relaxed *model, uint32_t l, const struct relaxed_level *now,
                        double weight, struct relaxed_level *d)
{
    double most = -INFINITY, words = 0;
    for (uint32_t rest = model->choice[l].keep; rest; rest &= rest - 1)
        most = fmax(most, now->tile[__builtin_ctz(rest)]);
    if (most + model->log_tensors <= model->log_usable[l])
        return 0;
    for (uint32_t rest = model->choice[l].keep; rest; rest &= rest - 1)
        words += exp(now->tile[__builtin_ctz(rest)] - most);
    double excess = most + log(words) - model->log_usable[l];
    if (excess <= 0)
        return 0;
    for (uint32_t rest = model->choice[l].keep; rest && d; rest &= rest - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(rest);
        d->tile[t] += 2 * weight * excess * exp(now->tile[t] - most) / words;
    }
    return weight * excess * excess;
}

static double add_excesses(const struct relaxed *model, relaxed_factors factor, double weight,
                           const struct relaxed_state *now, struct relaxed_state *d, relaxed_factors slope)
{
    double penalty = 0;
    for (uint32_t s = 0; s < model->n_place; s++)
        if (model->place[s].spatial)
            penalty += add_spread(model, s, factor[s], weight, d ? slope[s] : NULL);
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        if (model->choice[l].keep && isfinite(model->log_usable[l]))
            penalty += add_tiles(model, l, &now->level[l], weight, d ? &d->level[l] : NULL);
    return penalty;
}

static void clear(const struct relaxed *model, struct relaxed_state *state)
{
    memset(state->level, 0, model->arch->n_level * sizeof state->level[0]);
    state->compute = state->network_j = 0;
}

double relaxed_value(struct relaxed *model, relaxed_factors factor, const struct relaxed_terms *terms,
                     relaxed_factors slope)
{
    struct relaxed_state *now = model->now, *d = slope ? model->adjoint : NULL;
    double n = model->objective.energy_exponent, m = model->objective.delay_exponent;
    clear(model, now);
    relaxed_nest(model, factor, now);
    relaxed_words(model, factor, now);
    double energy_j = add_energies(model, now);
    if (d) {
        clear(model, d);
        memset(slope, 0, model->n_place * sizeof slope[0]);
        if (n > 0 && energy_j > 0)
            add_energies_back(model, now, n / energy_j, d);
    }
    double value = n > 0 && energy_j > 0 ? n * log(energy_j) : 0;
    value += m * log(count_cycles(model, terms->sharpness, now, m, d));
    value += add_excesses(model, factor, terms->penalty, now, d, slope);
    if (d) {
        relaxed_words_back(model, factor, now, d, slope);
        relaxed_nest_back(model, now, d, slope);
    }
    return value;
}
