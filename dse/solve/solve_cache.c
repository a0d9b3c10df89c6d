/* A fixed table indexed by the address of the loop nest; another machine only moves the compiled evaluator
 * to it. */
#include "dse/solve/solve_cache.h"

#include <stdlib.h>
#include <string.h>

/* Loop nests at most: 40 KB each, and a network seldom has more distinct ones. */
enum { ENTRY_MAX = 64 };

struct entry {
    uint64_t serial; /* of the machine it is compiled for */
    struct solve_compiled compiled;
};

struct solve_cache {
    uint64_t serial;
    struct entry entry[ENTRY_MAX];
};

enum dse_status solve_cache_new(struct solve_cache **cache, struct dse_error *err)
{
    *cache = calloc(1, sizeof **cache);
    return *cache ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for compiled cost models");
}

void solve_cache_free(struct solve_cache *cache)
{
    for (size_t i = 0; cache && i < ENTRY_MAX; i++)
        solve_compiled_free(&cache->entry[i].compiled);
    free(cache);
}

void solve_cache_machine(struct solve_cache *cache, uint64_t serial)
{
    cache->serial = serial;
}

void solve_compiled_free(struct solve_compiled *compiled)
{
    eval_workspace_delete(compiled->workspace);
    evaluator_delete(compiled->evaluator);
    memset(compiled, 0, sizeof *compiled);
}

/* The evaluator is compiled: all that comes with it. */
static enum dse_status complete(struct solve_compiled *compiled, struct dse_error *err)
{
    if (compiled->workspace && !eval_workspace_fits(compiled->workspace, compiled->evaluator)) {
        eval_workspace_delete(compiled->workspace);
        compiled->workspace = NULL;
    }
    if (!compiled->workspace)
        DSE_TRY(eval_workspace_new(compiled->evaluator, &compiled->workspace, err));
    evaluator_bound(compiled->evaluator, &compiled->bound);
    return DSE_OK;
}

enum dse_status solve_compile(const struct accounting *accounting, const struct problem *problem,
                              const struct architecture *arch, struct solve_compiled *compiled,
                              struct dse_error *err)
{
    memset(compiled, 0, sizeof *compiled);
    DSE_TRY(evaluator_new(accounting, problem, arch, &compiled->evaluator, err));
    compiled->problem = problem;
    compiled->problem_key = problem_hash(problem);
    return complete(compiled, err);
}

/* Its place follows from its address: loop nests of one network lie beside one another. */
static struct entry *entry_of(struct solve_cache *cache, const struct problem *problem)
{
    return &cache->entry[(uintptr_t)problem / sizeof *problem % ENTRY_MAX];
}

enum dse_status solve_cache_get(struct solve_cache *cache, const struct accounting *accounting,
                                const struct problem *problem, const struct architecture *arch,
                                const struct solve_compiled **compiled, struct dse_error *err)
{
    struct entry *entry = entry_of(cache, problem);
    struct solve_compiled *own = &entry->compiled;
    enum dse_status status = DSE_OK;
    bool known = own->problem == problem && evaluator_accounting(own->evaluator) == accounting;
    *compiled = own;
    if (known && entry->serial == cache->serial)
        return DSE_OK;
    if (known) {
        status = evaluator_move(own->evaluator, arch, err);
        if (status == DSE_OK)
            status = complete(own, err);
    } else {
        solve_compiled_free(own);
        status = solve_compile(accounting, problem, arch, own, err);
    }
    if (status != DSE_OK)
        solve_compiled_free(own);
    entry->serial = cache->serial;
    return status;
}
