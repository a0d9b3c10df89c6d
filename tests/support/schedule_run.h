/* A run of a scheduler: what the engines' tests share. */
#ifndef TESTS_SUPPORT_SCHEDULE_RUN_H
#define TESTS_SUPPORT_SCHEDULE_RUN_H

#include "costmodel/model/architecture.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/driver/engine.h"

enum { SCHEDULE_RUN_OPTION_MAX = 64 };

/* The task points into the run: it stays where it was opened. */
struct schedule_run {
    const struct engine *engine;
    struct architecture arch;
    struct network network;
    struct arena arena;
    struct engine_task task; /* batch 1, energy times delay, one thread, no budget; the test's to change */
    struct engine_result result;
    double option[SCHEDULE_RUN_OPTION_MAX];
    struct engine_file file; /* of schedule_run_give */
};

/* experiments/architectures/soma_edge.yaml with another capacity of the global buffer ("8 MiB"), and the
 * engine's default options. This and the next three end the program, with the message, when something
 * fails. */
void schedule_run_open(struct schedule_run *run, const struct engine *engine, const char *network_path,
                       const char *capacity);

/* The same on experiments/architectures/MACHINE.yaml with `n` quantities set. */
void schedule_run_open_on(struct schedule_run *run, const struct engine *engine, const char *network_path,
                          const char *machine, const struct arch_override *set, size_t n);

/* Set an option from text. */
void schedule_run_set(struct schedule_run *run, const char *option, const char *value);

/* Set the one option that names a file to a file with that text (borrowed). */
void schedule_run_give(struct schedule_run *run, const char *option, const char *text);

/* Search; memory of run->arena. */
void schedule_run_solve(struct schedule_run *run);

void schedule_run_close(struct schedule_run *run);

#endif
