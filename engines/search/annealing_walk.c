/* Rounds with a falling temperature; the space makes the move and takes it back. The most a point may cost
 * is drawn before the move, so that hooks may stop early. */
#include "engines/search/annealing_walk.h"

#include <math.h>

struct walk {
    struct walk_space space;
    struct walk_options options;
    struct random_stream stream;
    double cost, best_cost;
    uint64_t round;        /* done, of both kinds */
    uint64_t n_warm;       /* rounds with a temperature */
    uint64_t return_round; /* go back before this one; UINT64_MAX: never */
    bool greedy, over;
};

/* The round at which a share of all is done. */
static uint64_t round_of_share(double share, uint64_t n_round)
{
    return share < 1 ? (uint64_t)ceil(fmax(share, 0) * (double)n_round) : UINT64_MAX;
}

enum dse_status walk_new(const struct walk_space *space, const struct walk_options *options, double cost,
                         struct random_stream stream, struct arena *arena, struct walk **made,
                         struct dse_error *err)
{
    struct walk *walk = arena_alloc(arena, 1, sizeof *walk);
    DSE_TRY(arena_check(arena, "simulated annealing", err));
    walk->space = *space;
    walk->options = *options;
    walk->stream = stream;
    walk->cost = walk->best_cost = cost;
    walk->n_warm = options->n_round;
    walk->return_round = round_of_share(options->return_share, options->n_round);
    space->keep(space->self);
    *made = walk;
    return DSE_OK;
}

static void go_back(struct walk *walk)
{
    if (walk->cost <= walk->best_cost)
        return;
    walk->space.restore(walk->space.self);
    walk->cost = walk->best_cost;
}

/* The most that the next point may cost. Drawn before the point: exp(-change / T) >= u where change <= -T ln
 * u. */
static double draw_limit(struct walk *walk)
{
    double x = (double)walk->round / (double)walk->options.n_round;
    double temperature = walk->options.first_temperature * (1 - x) / (1 + walk->options.alpha * x);
    double above = walk->cost - walk->options.reference, u = random_unit(&walk->stream);
    if (!(temperature > 0) || !(above > 0))
        return walk->cost;
    return walk->cost - temperature * above * log(u);
}

/* False when the space is over. */
static bool make_round(struct walk *walk)
{
    double limit = walk->greedy ? walk->cost : draw_limit(walk), cost = limit;
    walk->round++;
    enum search_outcome outcome = walk->space.propose(walk->space.self, &walk->stream, &cost);
    if (outcome != SEARCH_PRICED)
        return outcome != SEARCH_OVER;
    if (walk->greedy ? !(cost < walk->cost) : !(cost <= limit)) {
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

void walk_end_early(struct walk *walk)
{
    if (!walk->greedy)
        walk->n_warm = walk->round;
}

bool walk_step(struct walk *walk, uint64_t n)
{
    for (uint64_t i = 0; !walk->over; i++) {
        if (!walk->greedy && walk->round >= walk->n_warm) {
            walk->greedy = true;
            go_back(walk);
        } else if (!walk->greedy && walk->round == walk->return_round) {
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

uint64_t walk_rounds(const struct walk *walk)
{
    return walk->round;
}
