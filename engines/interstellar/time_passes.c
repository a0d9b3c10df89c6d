/* What one search for least energy leaves open by an objective with time in it. A search with at most L
 * cycles finds energy E. Whatever takes X cycles or more costs E by X at least: with the least X for which
 * that is no better than the best, what is left is X - 1 cycles and less, for the next search. By latency
 * alone, where energy says nothing, cycles are halved between what is known to be possible and not. Energies
 * are those without leakage, which grows with the time; with power gating what leaks at least counts. */
#include "engines/interstellar/time_passes.h"

#include <math.h>

/* Costs are compared as if equal within the rounding of their products. */
#define SLACK (1 - 1e-12)

static double leakage_j(const struct time_passes *passes, double cycle)
{
    return architecture_least_leakage_j(passes->arch, passes->macs, cycle + passes->wait_cycle);
}

static double cost_of(const struct time_passes *passes, double energy_j, double cycle)
{
    return objective_cost_of(&passes->objective, energy_j + leakage_j(passes, cycle),
                             (cycle + passes->wait_cycle) / passes->clock_hz);
}

bool time_passes_timed(const struct time_passes *passes)
{
    return passes->objective.delay_exponent != 0 || architecture_all_leakage_w(passes->arch) > 0;
}

void time_passes_begin(struct time_passes *passes, const struct objective *objective,
                       const struct problem *problem, const struct architecture *arch, double most_mac)
{
    *passes = (struct time_passes){.objective = *objective,
                                   .arch = arch,
                                   .macs = (double)problem_macs(problem),
                                   .clock_hz = arch->clock_hz,
                                   .least_cycle = ceil((double)problem_macs(problem) / fmax(1, most_mac)),
                                   .most_cycle = INFINITY,
                                   .below_j = INFINITY,
                                   .passed = INFINITY};
    for (uint32_t l = 0; l < arch->n_level; l++)
        passes->wait_cycle +=
            (double)(arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle);
}

/* The least number of cycles, not above `most`, with which energy_j is no better than best_cost. */
static double least_useless_cycle(const struct time_passes *passes, double energy_j, double best_cost,
                                  double most)
{
    double low = passes->least_cycle, high = most;
    while (low < high) {
        const double middle = floor((low + high) / 2);
        if (cost_of(passes, energy_j, middle) >= best_cost * SLACK)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The most energy with which a mapping of the fewest cycles would be better than best_cost. */
static double most_energy(const struct time_passes *passes, double best_cost)
{
    const double energy = passes->objective.energy_exponent, cycle = passes->least_cycle;
    const double delay_s = (cycle + passes->wait_cycle) / passes->clock_hz;
    if (energy == 0)
        return INFINITY;
    return pow(best_cost / pow(delay_s, passes->objective.delay_exponent), 1 / energy) / SLACK -
           leakage_j(passes, cycle);
}

bool time_passes_next(struct time_passes *passes, bool found, double energy_j, double best_cost)
{
    const bool latency_alone = passes->objective.energy_exponent == 0;
    if (isinf(best_cost)) /* there is no mapping */
        return false;
    if (!time_passes_timed(passes)) {
        passes->passed = found ? cost_of(passes, energy_j, passes->least_cycle) : INFINITY;
        return false;
    }
    if (!found && (isinf(passes->most_cycle) || !latency_alone))
        return false; /* what would be better is not there */
    if (!found)
        passes->least_cycle = passes->most_cycle + 1;
    const double useless = least_useless_cycle(passes, latency_alone ? 1 : energy_j, best_cost, 0x1p52);
    double next = useless - 1;
    passes->passed = fmin(passes->passed, cost_of(passes, latency_alone ? 1 : energy_j, useless));
    if (next < passes->least_cycle)
        return false;
    if (latency_alone)
        next = floor((passes->least_cycle + next) / 2);
    if (found && next >= passes->most_cycle) { /* the time of what was found is not what was asked for */
        passes->passed =
            fmin(passes->passed, cost_of(passes, latency_alone ? 1 : energy_j, passes->least_cycle));
        return false;
    }
    passes->most_cycle = next;
    passes->below_j = most_energy(passes, best_cost);
    return true;
}

void time_passes_leave(struct time_passes *passes, double bound_j)
{
    passes->passed = fmin(passes->passed, cost_of(passes, bound_j, passes->least_cycle));
}
