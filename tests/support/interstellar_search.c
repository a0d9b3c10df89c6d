/* Machines and schedules are the files of experiments/interstellar/, so that the readers are tested along. */
#include "tests/support/interstellar_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/interstellar/accounting_interstellar.h"
#include "costmodel/readers/readers.h"
#include "dse/inputs/inputs.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "tests/support/interstellar_case.h"

enum { OPTION_MAX = 64, CELL_MAX = 16 };

/* Benchmarks use this as well, so it is not cmocka's. */
static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "interstellar_search: %s\n", what);
    abort();
}

/* The cells of a line without quotes, cut apart in place. */
static void cut(char *line, char **cell)
{
    for (int i = 0; i < CELL_MAX; i++) {
        cell[i] = line;
        line += strcspn(line, ",\n");
        require(*line == (i + 1 < CELL_MAX ? ',' : '\n'), "a row of public.csv has another length");
        *line++ = '\0';
    }
}

int interstellar_searches_load(struct interstellar_search *search, int max)
{
    char line[512], *cell[CELL_MAX];
    int n = 0;
    FILE *file = fopen("tests/known/interstellar/public.csv", "r");
    require(file && fgets(line, sizeof line, file), "public.csv");
    while (n < max && fgets(line, sizeof line, file)) {
        struct interstellar_search *s = &search[n++];
        cut(line, cell);
        (void)snprintf(s->arch, sizeof s->arch, "%s", cell[0]);
        (void)snprintf(s->layer, sizeof s->layer, "%s", cell[2]);
        (void)snprintf(s->schedule, sizeof s->schedule, "%s", cell[11]);
        for (int i = 0; i < 8; i++)
            s->bound[i] = (uint32_t)strtoul(cell[3 + i], NULL, 10);
        s->feasible = strcmp(cell[12], "ok") == 0;
        s->energy_pj = strtod(cell[13], NULL);
        s->n_point = strtod(cell[14], NULL);
        s->python_s = strtod(cell[15], NULL);
    }
    fclose(file);
    return n;
}

/* "mx_rf64_sram128k" is eyeriss512 with other memories: 0.03 pJ for 16 B, 9 pJ for 32 KiB and half as much
 * again for every doubling (the paper's Table 3, its SRAMs shifted one row as in the authors' files). */
static void machine(const char *name, struct architecture *arch)
{
    char path[128];
    struct dse_error err;
    unsigned rf, sram;
    const bool grid = sscanf(name, "mx_rf%u_sram%uk", &rf, &sram) == 2;
    (void)snprintf(path, sizeof path, "experiments/interstellar/architectures/%s.json",
                   grid ? "eyeriss512" : name);
    require(architecture_read(path, arch, &err) == DSE_OK, path);
    if (!grid)
        return;
    const double pj[2] = {0.03 * rf / 16, 9 * pow(1.5, log2(sram / 32.0))};
    arch->level[0].size_word = rf / 2;
    arch->level[1].size_word = (uint64_t)sram * 512;
    for (int l = 0; l < 2; l++)
        arch->level[l].read_energy_j = arch->level[l].write_energy_j = arch->level[l].update_energy_j =
            pj[l] * 1e-12;
}

void interstellar_task_init(struct interstellar_task *task, const struct interstellar_search *search,
                            bool free)
{
    char path[128];
    struct dse_error err;
    struct yaml_doc doc;
    const struct ynode *list;
    machine(search->arch, &task->arch);
    interstellar_layer(search->bound, &task->problem);
    task->constraints = NULL;
    if (free)
        return;
    (void)snprintf(path, sizeof path, "experiments/interstellar/schedules/%s.json", search->schedule);
    require(input_constraints(path, &doc, &list, &err) == DSE_OK, path);
    task->constraints = calloc(1, sizeof *task->constraints);
    require(task->constraints && mapspace_constraints_read(&doc, list, NULL, &task->problem, &task->arch,
                                                           task->constraints, &err) == DSE_OK,
            path);
    yaml_doc_free(&doc);
}

void interstellar_task_free(struct interstellar_task *task)
{
    free(task->constraints);
}

enum dse_status interstellar_task_solve(const struct interstellar_task *task, bool compat, const char *option,
                                        const struct objective *objective, struct engine_budget budget,
                                        struct engine_result *result, struct dse_error *err)
{
    const struct engine *engine = engine_find("interstellar");
    double value[OPTION_MAX];
    char name[32];
    struct evaluator *evaluator;
    struct arena arena;
    engine_option_defaults(engine, value);
    if (option) {
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(option, "="), option);
        DSE_TRY(engine_option_set(engine, name, option + strlen(name) + 1, value, err));
    }
    DSE_TRY(evaluator_new(compat ? &accounting_interstellar_compat : &accounting_interstellar, &task->problem,
                          &task->arch, &evaluator, err));
    struct engine_task what = {.evaluator = evaluator,
                               .architecture = &task->arch,
                               .constraints = task->constraints,
                               .batch = 1,
                               .objective = *objective,
                               .option = value,
                               .budget = budget};
    arena_init(&arena);
    enum dse_status status = engine_solve(engine, &what, &arena, result, err);
    arena_free(&arena);
    evaluator_delete(evaluator);
    return status;
}
