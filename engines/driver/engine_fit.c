/* The questions, put to the accounting first and to the engine's table then. */
#include "engines/driver/engine_fit.h"

#include <assert.h>
#include <string.h>

double engine_question_option(const struct engine_question *question, const char *name)
{
    const struct engine *engine = question->engine;
    size_t i = 0;
    while (i < engine->n_option && strcmp(engine->option[i].name, name) != 0)
        i++;
    assert(i < engine->n_option);
    return question->task->option[i];
}

const void *engine_question_file(const struct engine_question *question, const char *name)
{
    const struct engine_task *task = question->task;
    const double id = engine_question_option(question, name);
    for (size_t i = 0; i < task->n_file; i++)
        if (task->file[i].id == id)
            return task->file[i].content;
    return NULL;
}

enum dse_status engine_takes_machine(const struct engine_question *question, struct dse_error *err)
{
    const struct engine *engine = question->engine;
    if (question->accounting)
        DSE_TRY(accounting_accepts(question->accounting, question->task->architecture, err));
    return engine->takes_machine ? engine->takes_machine(question, err) : DSE_OK;
}

enum dse_status engine_takes(const struct engine_question *question, struct dse_error *err)
{
    const struct engine *engine = question->engine;
    if (question->task->front && !engine->proves_front)
        return dse_fail(err, DSE_BAD_USAGE,
                        "objective pareto needs an engine that proves what it finds, optimal; not %s",
                        engine->name);
    DSE_TRY(engine_takes_machine(question, err));
    return engine->takes_task ? engine->takes_task(question, err) : DSE_OK;
}
