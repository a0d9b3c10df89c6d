/* A run is n_trial moves at one temperature; what it counts decides the next temperature. */
#include "engines/search/annealing_tune.h"

#include <math.h>

/* Enough for temperatures 1e30 apart; a space whose moves never change the cost ends by it. */
enum { RUN_MAX = 400 };

enum phase {
    GUESS, /* one move whose change of the cost is the temperature to begin with */
    FALL,  /* until no more than the wanted share of moves is taken */
    RISE,  /* until at least that: the first temperature */
    REST,  /* until none makes the point better: the last one */
    FOUND,
    GIVEN_UP
};

struct annealing_tune {
    struct annealing_space space;
    struct annealing_tune_options options;
    struct random_stream stream;
    enum phase phase;
    double cost, temperature, first;
    uint64_t n_done, n_priced, n_accepted, n_better; /* in this run */
    uint32_t n_run;
};

enum dse_status annealing_tune_new(const struct annealing_space *space,
                                   const struct annealing_tune_options *options, double cost,
                                   struct random_stream stream, struct arena *arena,
                                   struct annealing_tune **out, struct dse_error *err)
{
    struct annealing_tune *tune = arena_alloc(arena, 1, sizeof *tune);
    DSE_TRY(arena_check(arena, "simulated annealing", err));
    tune->space = *space;
    tune->options = *options;
    tune->stream = stream;
    tune->cost = cost;
    *out = tune;
    return DSE_OK;
}

/* What the run has counted leads to the next one. Moves that were not found tell nothing of the
 * temperature. */
static void end_run(struct annealing_tune *tune)
{
    double accepted = (double)tune->n_accepted / (double)tune->n_priced;
    double next = tune->temperature / tune->options.factor;
    if (tune->phase == FALL && accepted <= tune->options.accepted)
        tune->phase = RISE;
    if (tune->phase == RISE && accepted >= tune->options.accepted) {
        tune->first = tune->temperature;
        tune->phase = REST;
    }
    if (tune->phase == REST && tune->n_better == 0)
        tune->phase = FOUND;
    if (tune->phase == RISE)
        next = tune->temperature * tune->options.factor;
    if (tune->phase == FOUND)
        return;
    tune->temperature = next;
    tune->n_done = tune->n_priced = tune->n_accepted = tune->n_better = 0;
    if (++tune->n_run == RUN_MAX)
        tune->phase = GIVEN_UP;
}

static bool take(struct annealing_tune *tune, double cost)
{
    return cost <= tune->cost || random_unit(&tune->stream) < exp(-(cost - tune->cost) / tune->temperature);
}

/* False when the space is over. */
static bool make_move(struct annealing_tune *tune)
{
    double cost = INFINITY;
    enum search_outcome outcome = tune->space.propose(tune->space.self, &tune->stream, &cost);
    bool guess = tune->phase == GUESS;
    if (outcome == SEARCH_OVER)
        return false;
    tune->n_done++;
    tune->n_priced += outcome == SEARCH_PRICED;
    if (outcome == SEARCH_PRICED && (guess || take(tune, cost))) {
        tune->n_accepted++;
        tune->n_better += cost < tune->cost;
        if (guess && cost != tune->cost) {
            tune->temperature = fabs(cost - tune->cost);
            tune->phase = FALL;
            tune->n_done = tune->n_priced = tune->n_accepted = tune->n_better = 0;
        }
        tune->cost = cost;
    } else if (outcome == SEARCH_PRICED) {
        tune->space.undo(tune->space.self);
    }
    if (tune->n_done < tune->options.n_trial)
        return true;
    if (tune->phase == GUESS || tune->n_priced == 0) /* nothing changes the cost, or no move is found */
        tune->phase = GIVEN_UP;
    else
        end_run(tune);
    return true;
}

bool annealing_tune_step(struct annealing_tune *tune, uint64_t n)
{
    for (uint64_t i = 0; i < n && tune->phase < FOUND; i++)
        if (!make_move(tune))
            tune->phase = GIVEN_UP;
    return tune->phase < FOUND;
}

bool annealing_tune_found(const struct annealing_tune *tune, double *first, double *last)
{
    *first = tune->first;
    *last = tune->temperature;
    return tune->phase == FOUND;
}
