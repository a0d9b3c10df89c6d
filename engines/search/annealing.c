/* Rounds with a falling temperature; the space makes the move and takes it back. The most a point may cost
 * is drawn before the move where the rule allows, so that hooks may stop early. */
#include "engines/search/annealing.h"

#include <math.h>

struct annealing {
    struct annealing_space space;
    struct annealing_options options;
    struct random_stream stream;
    double cost, best_cost;
    uint64_t round;         /* done, of both kinds */
    uint64_t n_warm;        /* rounds with a temperature, up to the end of this descent */
    uint32_t restart;       /* further descents to come */
    double warmth, cooling; /* not RELATIVE: the temperature, and what it is multiplied by in each round */
    uint64_t return_round;  /* go back before this one; UINT64_MAX: never */
    bool greedy, over;
};

/* The round at which a share of all is done. */
static uint64_t round_of_share(double share, uint64_t n_round)
{
    return share < 1 ? (uint64_t)ceil(fmax(share, 0) * (double)n_round) : UINT64_MAX;
}

enum dse_status annealing_new(const struct annealing_space *space, const struct annealing_options *options,
                              double cost, struct random_stream stream, struct arena *arena,
                              struct annealing **made, struct dse_error *err)
{
    struct annealing *walk = arena_alloc(arena, 1, sizeof *walk);
    DSE_TRY(arena_check(arena, "simulated annealing", err));
    walk->space = *space;
    walk->options = *options;
    walk->stream = stream;
    walk->cost = walk->best_cost = cost;
    walk->n_warm = options->n_round;
    walk->restart = options->n_restart;
    walk->warmth = options->first_temperature;
    if (options->rule != ANNEALING_RELATIVE)
        walk->cooling = pow(options->last_temperature / options->first_temperature,
                            1 / (options->n_round > 1 ? (double)(options->n_round - 1) : 1));
    walk->return_round = round_of_share(options->return_share, options->n_round);
    space->keep(space->self);
    *made = walk;
    return DSE_OK;
}

static void go_back(struct annealing *walk)
{
    walk->space.restore(walk->space.self);
    walk->cost = walk->best_cost;
}

static void restart(struct annealing *walk)
{
    go_back(walk);
    walk->restart--;
    walk->n_warm += walk->options.n_round;
    walk->warmth = walk->options.first_temperature;
}

/* The most that the next point may cost, where that is drawn before the point: exp(-change / T) >= u where
 * change <= -T ln u. */
static double draw_limit(struct annealing *walk)
{
    if (walk->options.rule != ANNEALING_RELATIVE)
        return INFINITY;
    double x = (double)walk->round / (double)walk->options.n_round;
    double temperature = walk->options.first_temperature * (1 - x) / (1 + walk->options.alpha * x);
    double above = walk->cost - walk->options.reference, u = random_unit(&walk->stream);
    if (!(temperature > 0) || !(above > 0))
        return walk->cost;
    return walk->cost - temperature * above * log(u);
}

/* Whether a priced point is taken; but for ANNEALING_RELATIVE that is drawn only now, and only for a point
 * that costs more. */
static bool take(struct annealing *walk, double cost, double limit)
{
    if (walk->greedy)
        return cost < walk->cost;
    if (walk->options.rule == ANNEALING_RELATIVE)
        return cost <= limit;
    if (cost <= walk->cost)
        return true;
    double change = walk->options.rule == ANNEALING_RATIO ? log(cost / walk->cost) : cost - walk->cost;
    return random_unit(&walk->stream) < exp(-change / walk->warmth);
}

/* False when the space is over. */
static bool make_round(struct annealing *walk)
{
    double limit = walk->greedy ? walk->cost : draw_limit(walk), cost = limit;
    walk->round++;
    walk->warmth *= walk->cooling;
    enum search_outcome outcome = walk->space.propose(walk->space.self, &walk->stream, &cost);
    if (outcome != SEARCH_PRICED)
        return outcome != SEARCH_OVER;
    if (!take(walk, cost, limit)) {
        walk->space.undo(walk->space.self);
        return true;
    }
    walk->cost = cost;
    if (cost < walk->best_cost) {
        walk->best_cost = cost;
        walk->space.keep(walk->space.self);
    }
    return true;
}

void annealing_end_early(struct annealing *walk)
{
    walk->restart = 0;
    if (!walk->greedy)
        walk->n_warm = walk->round;
}

bool annealing_step(struct annealing *walk, uint64_t n)
{
    for (uint64_t i = 0; !walk->over; i++) {
        if (!walk->greedy && walk->round >= walk->n_warm && walk->restart > 0) {
            restart(walk);
        } else if (!walk->greedy && (walk->round >= walk->n_warm || walk->round == walk->return_round)) {
            walk->greedy = walk->round >= walk->n_warm;
            if (walk->cost > walk->best_cost)
                go_back(walk);
        }
        if (walk->greedy && walk->round - walk->n_warm >= walk->options.greedy_round)
            walk->over = true;
        else if (i == n)
            break;
        else
            walk->over = !make_round(walk);
    }
    return !walk->over;
}

uint64_t annealing_rounds(const struct annealing *walk)
{
    return walk->round;
}
