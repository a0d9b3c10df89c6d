/* Drawing from the map space of one layer: what mappings there are, rather than which is best. */
#ifndef DSE_SOLVE_SAMPLE_H
#define DSE_SOLVE_SAMPLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "dse/solve/measure_settings.h"
#include "engines/driver/vector_format.h"
#include "engines/mapspace/mapspace_constraints.h"

/* How a mapping is drawn: as the option `sampling` of the engine random, or uniformly among the vectors of a
 * machine that has such, in a mode of theirs. */
enum sample_draw { SAMPLE_CONSTRUCT, SAMPLE_PRIMES, SAMPLE_VECTORS };

struct sample_settings {
    enum sample_draw draw;
    const struct vector_format *vectors; /* with SAMPLE_VECTORS */
    size_t mode;                         /* of vectors */
    uint64_t n_valid;                    /* stop after so many valid mappings; 0: no limit */
    /* stop after so many draws, valid or not; 0: no limit. One of the two limits must be set */
    uint64_t max_draws;
    uint64_t seed;
    bool search_bypass;
    const struct accounting *accounting;            /* NULL: accounting_standard */
    const struct mapspace_constraints *constraints; /* NULL: none */
    struct measure_settings measure;
    int n_thread;
    const atomic_int *cancel; /* NULL: none */
};

enum { SAMPLE_MAPPINGS_MAX = 1000000000 };

/* When to give up for want of another limit: 1000 draws for each of n_valid (up to SAMPLE_MAPPINGS_MAX), and
 * never less than a million. */
static inline uint64_t sample_max_draws(uint64_t n_valid)
{
    return n_valid > 1000 ? 1000 * n_valid : 1000000;
}

/* One valid mapping. */
struct sample_row {
    uint64_t draw; /* its number among all draws, from 1 */
    const struct mapping *mapping;
    const struct evaluation *evaluation;
    const struct measure_values *measured;
};

/* Called for every valid mapping in the order of the draws, never by two threads at once. */
typedef enum dse_status sample_visit(void *user, const struct sample_row *row, struct dse_error *err);

enum { SAMPLE_MISFIT_MAX = (MISFIT_ORDER + 1) * (ARCH_LEVEL_MAX + 1) };

/* Draws that did not fit, by what and where. */
struct sample_misfit {
    uint64_t n;
    /* of the first of them; what == FITS: thrown away on the way, for no reason told */
    struct misfit_info first;
};

struct sample_summary {
    uint64_t n_draw, n_valid;
    double log10_size; /* how many vectors there are, before limits; with SAMPLE_VECTORS */
    uint32_t n_misfit;
    struct sample_misfit misfit[SAMPLE_MISFIT_MAX]; /* (n_misfit) the most frequent first */
};

/* Draw until a limit is reached. Each block of draws has a random stream of its own, so that rows and summary
 * are the same for any number of threads. DSE_BAD_INPUT: the space is empty, with the reason; what `visit`
 * and measure_mapping return; DSE_INTERRUPTED soon after `cancel` is set; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status sample_space(const struct problem *problem, const struct architecture *arch,
                                            const struct sample_settings *settings, sample_visit *visit,
                                            void *user, struct sample_summary *summary,
                                            struct dse_error *err);

#endif
