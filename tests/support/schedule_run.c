/* Opens machine and network, runs an engine, and fails the test on any error. */
#include "tests/support/schedule_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/readers/readers.h"

static void check(enum dse_status status, const struct dse_error *err)
{
    if (status == DSE_OK)
        return;
    (void)fprintf(stderr, "schedule_run: %s\n", err->text);
    abort();
}

void schedule_run_open(struct schedule_run *run, const struct engine *engine, const char *network_path,
                       const char *capacity)
{
    const struct arch_override buffer = {"GBUF.capacity", capacity};
    schedule_run_open_on(run, engine, network_path, "soma_edge", &buffer, 1);
}

void schedule_run_open_on(struct schedule_run *run, const struct engine *engine, const char *network_path,
                          const char *machine, const struct arch_override *set, size_t n)
{
    struct yaml_doc doc;
    struct dse_error err = {0};
    char path[128];
    *run = (struct schedule_run){.engine = engine};
    arena_init(&run->arena);
    (void)snprintf(path, sizeof path, "experiments/architectures/%s.yaml", machine);
    check(yaml_read(&doc, path, &err), &err);
    check(architecture_build(&doc, set, n, &run->arch, &err), &err);
    yaml_doc_free(&doc);
    check(network_read(network_path, &run->network, &err), &err);
    if (engine->n_option > SCHEDULE_RUN_OPTION_MAX)
        check(dse_fail(&err, DSE_LIMIT, "engine %s has %zu options", engine->name, engine->n_option), &err);
    engine_option_defaults(engine, run->option);
    run->task = (struct engine_task){.network = &run->network,
                                     .architecture = &run->arch,
                                     .batch = 1,
                                     .objective = {1, 1},
                                     .option = run->option,
                                     .n_thread = 1};
}

void schedule_run_set(struct schedule_run *run, const char *option, const char *value)
{
    struct dse_error err = {0};
    check(engine_option_set(run->engine, option, value, run->option, &err), &err);
}

void schedule_run_give(struct schedule_run *run, const char *option, const char *text)
{
    struct dse_error err = {0};
    size_t index = 0;
    while (index < run->engine->n_option && strcmp(run->engine->option[index].name, option) != 0)
        index++;
    if (index == run->engine->n_option)
        check(dse_fail(&err, DSE_BAD_INPUT, "engine %s has no option %s", run->engine->name, option), &err);
    run->file.id = engine_file_id(text, strlen(text));
    check(run->engine->read_file(index, "given.yaml", text, strlen(text), &run->arena, &run->file.content,
                                 &err),
          &err);
    run->option[index] = run->file.id;
    run->task.file = &run->file;
    run->task.n_file = 1;
}

void schedule_run_solve(struct schedule_run *run)
{
    struct dse_error err = {0};
    check(engine_solve(run->engine, &run->task, &run->arena, &run->result, &err), &err);
}

void schedule_run_close(struct schedule_run *run)
{
    network_free(&run->network);
    arena_free(&run->arena);
}
