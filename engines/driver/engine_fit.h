/* Whether an engine takes a task, asked without a search: the engines' own tables say it (takes_machine and
 * takes_task of struct engine), and whoever wants to know, `dse check` and the driver alike, asks here. */
#ifndef ENGINES_DRIVER_ENGINE_FIT_H
#define ENGINES_DRIVER_ENGINE_FIT_H

#include "base/status.h"
#include "engines/driver/engine.h"

/* What is asked about. All is borrowed. */
struct engine_question {
    const struct engine *engine;
    const struct engine_task *task; /* network and evaluator may be NULL where the machine is asked about */
    const struct accounting *accounting; /* that prices the search; NULL: a scheduler by rules of its own */
};

/* The value of an option by its name, which the engine has. */
double engine_question_option(const struct engine_question *question, const char *name);

/* What the engine made of the file that an option of that name names; NULL: none is named. */
const void *engine_question_file(const struct engine_question *question, const char *name);

/* The machine alone, with the options and the accounting. DSE_BAD_INPUT or DSE_BAD_USAGE: one sentence that
 * names the machine's level and the reason. */
DSE_MUST_CHECK enum dse_status engine_takes_machine(const struct engine_question *question,
                                                    struct dse_error *err);

/* The whole task: the machine, and on it the network or loop nest with batch, objective and constraints. The
 * errors of engine_takes_machine; a sentence about a network names its layer. */
DSE_MUST_CHECK enum dse_status engine_takes(const struct engine_question *question, struct dse_error *err);

#endif
