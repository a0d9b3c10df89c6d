/* One draw by either way, and the two limits in rows (so many without something better, so many invalid)
 * that baselines share. */
#include "engines/baseline/sampling.h"

#include "engines/mapspace/mapspace.h"

const char *const sampling_names[2] = {"construct", "primes"};

bool sampling_draw(struct engine_context *context, const struct mapspace *space, enum sampling sampling,
                   struct random_stream *stream, struct mapping *mapping, uint64_t *n_invalid)
{
    struct misfit_info fit;
    uint64_t n_rejected = 0;
    bool drawn;
    if (sampling == SAMPLING_PRIMES) {
        drawn = mapspace_sample(space, stream, mapping, &fit);
        n_rejected = drawn ? 0 : 1;
    } else {
        drawn = mapspace_draw(space, stream, mapping, &n_rejected, &fit);
    }
    engine_context_reject(context, n_rejected, drawn ? NULL : &fit);
    *n_invalid += n_rejected;
    return drawn;
}

bool sampling_reached(uint64_t n, double limit)
{
    return limit > 0 && (double)n >= limit;
}

bool sampling_timed_out(uint64_t n_invalid, double timeout)
{
    return sampling_reached(n_invalid, timeout > 0 ? timeout : SAMPLING_INVALID_MAX);
}
