/* Looks an engine up, sets its options, solves one task. */
#include "tests/support/engine_case.h"

#include "costmodel/loopnest/accounting_timeloop.h"

enum dse_status engine_case_solve(const char *name, const struct engine_setting *setting, size_t n,
                                  const struct problem *problem, const struct architecture *arch,
                                  struct engine_task task, struct engine_result *result,
                                  struct dse_error *err)
{
    const struct engine *engine = engine_find(name);
    struct evaluator *own = NULL;
    struct arena arena;
    double option[ENGINE_CASE_OPTION_MAX];
    if (!engine || engine->n_option > ENGINE_CASE_OPTION_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "no engine %s, or one with too many options", name);
    engine_option_defaults(engine, option);
    for (size_t i = 0; i < n; i++)
        DSE_TRY(engine_option_set(engine, setting[i].name, setting[i].value, option, err));
    for (size_t i = 0; i < engine->n_option && task.n_file > 0; i++)
        if (engine->option[i].kind == OPTION_FILE)
            option[i] = task.file[0].id;
    if (!task.evaluator)
        DSE_TRY(evaluator_new(&accounting_timeloop, problem, arch, &own, err));
    arena_init(&arena);
    task.evaluator = task.evaluator ? task.evaluator : own;
    task.architecture = arch;
    task.batch = 1;
    task.option = option;
    enum dse_status status = engine_solve(engine, &task, &arena, result, err);
    evaluator_delete(own);
    arena_free(&arena);
    return status;
}
