/* What searches of loop nests need of the cost model, kept from one search to the next: the compiled
 * evaluator with its scratch memory, the lower bound, the key of the loop nest. Points that differ in seed,
 * engine or options ask for the same again and again, and on the next machine the loop nest is the same.
 * Never changes a result. One for each thread. */
#ifndef DSE_SOLVE_SOLVE_CACHE_H
#define DSE_SOLVE_SOLVE_CACHE_H

#include <stdint.h>

#include "base/status.h"
#include "costmodel/accounting/evaluator.h"

struct solve_cache;

/* One loop nest on one machine. */
struct solve_compiled {
    const struct problem *problem; /* borrowed; NULL: nothing yet */
    uint64_t problem_key;          /* problem_hash */
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct lower_bound bound; /* of the evaluator's problem and machine */
};

/* Empty. The loop nests asked for must live, unchanged, as long as the cache. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status solve_cache_new(struct solve_cache **cache, struct dse_error *err);
void solve_cache_free(struct solve_cache *cache); /* NULL is fine */

/* From now on the machine is number `serial`: with another number than before, all is compiled for it anew
 * when asked for. */
void solve_cache_machine(struct solve_cache *cache, uint64_t serial);

/* The loop nest on the machine, by an accounting; `arch` is the machine last announced. `*compiled` is valid
 * until the next call. Errors of evaluator_new. */
DSE_MUST_CHECK enum dse_status solve_cache_get(struct solve_cache *cache, const struct accounting *accounting,
                                               const struct problem *problem, const struct architecture *arch,
                                               const struct solve_compiled **compiled, struct dse_error *err);

/* One that nobody keeps. Release with solve_compiled_free, also after a failure. */
DSE_MUST_CHECK enum dse_status solve_compile(const struct accounting *accounting,
                                             const struct problem *problem, const struct architecture *arch,
                                             struct solve_compiled *compiled, struct dse_error *err);
void solve_compiled_free(struct solve_compiled *compiled);

#endif
