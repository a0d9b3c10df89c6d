/* The names of core schedulers, their lines in the text form, and opening either on an architecture with
 * the cache joined. */
#include "engines/soma/machine/core_choice.h"

#include <inttypes.h>
#include <string.h>

#include "costmodel/fused/core_machine.h"
#include "engines/soma/machine/quick_tile.h"

#define EVALUATIONS_MAX 1000000000

const char *const soma_core_names[SOMA_N_CORE] = {"auto",   "descent",   "cosa",    "cosa-best", "random",
                                                  "hybrid", "annealing", "genetic", "array",     "quick"};

/* What a user with another machine can do: nearly any will do for a mapper. */
static const char *array_hint(const struct architecture *arch)
{
    struct core_split split;
    struct dse_error ignored = {0};
    return core_machine_split(arch, &split, &ignored) == DSE_OK
               ? "; with a mapper for its tiles it is one: engine option core=auto, or --core auto of dse "
                 "eval"
               : "";
}

/* Whether the built-in search models the machine. */
static enum dse_status check_array(const struct architecture *arch, struct dse_error *err)
{
    struct core_array_size size;
    struct fused_machine machine;
    return core_machine_of(arch, &size, &machine, err);
}

/* What `core` comes to: never SOMA_CORE_AUTO. */
static enum soma_core resolve(const struct accounting *accounting, enum soma_core core,
                              const struct architecture *arch)
{
    struct dse_error ignored = {0};
    if (core != SOMA_CORE_AUTO)
        return core;
    return accounting->schedule->own_tiles || check_array(arch, &ignored) == DSE_OK ? SOMA_CORE_ARRAY
                                                                                    : SOMA_CORE_QUICK;
}

enum soma_core soma_core_known_as(const struct accounting *accounting, enum soma_core core,
                                  const struct architecture *arch)
{
    return core != SOMA_CORE_AUTO && resolve(accounting, SOMA_CORE_AUTO, arch) == core ? SOMA_CORE_AUTO
                                                                                       : core;
}

enum dse_status soma_core_check(const struct accounting *accounting, enum soma_core core,
                                const struct architecture *arch, struct dse_error *err)
{
    struct core_split split;
    struct dse_error inner = {0};
    core = resolve(accounting, core, arch);
    if (core != SOMA_CORE_ARRAY && accounting->schedule->own_tiles)
        return dse_fail(err, DSE_BAD_USAGE,
                        "the published program's rules (compat) go with core array, not with core %s",
                        soma_core_names[core]);
    if (core != SOMA_CORE_ARRAY)
        return core_machine_split(arch, &split, err);
    const enum dse_status status = check_array(arch, &inner);
    if (status == DSE_OK)
        return DSE_OK;
    return dse_fail(err, status, "%.700s%s", inner.text,
                    accounting->schedule->own_tiles ? "" : array_hint(arch));
}

static enum dse_status open_mapper(const struct accounting *accounting, const struct schedule_task *task,
                                   struct arena *arena, struct soma_core_machine *made, struct dse_error *err)
{
    struct core_split split;
    struct schedule_task with = *task;
    const bool quick = made->choice.core == SOMA_CORE_QUICK;
    const char *name = soma_core_names[quick ? SOMA_CORE_DESCENT : made->choice.core];
    const struct engine *engine = engine_find(name);
    if (!engine)
        return dse_fail(err, DSE_INTERNAL, "there is no engine %s for the core array", name);
    DSE_TRY(core_machine_split(task->arch, &split, err));
    DSE_TRY(mapper_core_init(&split, engine, NULL, made->choice.max_evaluations, &made->mapper, err));
    made->mapper.quick = quick;
    DSE_TRY(mapper_core_join(task->cache, &made->mapper, &made->cached, err));
    DSE_TRY(mapper_core_join_quick(task->cache, &made->mapper, &made->searched, err));
    made->mapper.shared = &made->searched;
    with.tile = quick ? quick_tile_scheduler(&made->cached) : core_cached_scheduler(&made->cached);
    return schedule_pricer_new(accounting, &with, arena, &made->pricer, err);
}

enum dse_status soma_core_open(const struct accounting *accounting, struct soma_core_choice choice,
                               const struct schedule_task *task, struct arena *arena,
                               struct soma_core_machine *made, struct dse_error *err)
{
    DSE_TRY(soma_core_check(accounting, choice.core, task->arch, err));
    choice.core = resolve(accounting, choice.core, task->arch);
    *made = (struct soma_core_machine){.choice = choice};
    return choice.core == SOMA_CORE_ARRAY ? schedule_pricer_new(accounting, task, arena, &made->pricer, err)
                                          : open_mapper(accounting, task, arena, made, err);
}

const char *soma_core_accounting(enum soma_core core, const struct accounting *accounting)
{
    static const char *const text[SOMA_N_CORE] = {NULL,
                                                  "soma-descent",
                                                  "soma-cosa",
                                                  "soma-cosa-best",
                                                  "soma-random",
                                                  "soma-hybrid",
                                                  "soma-annealing",
                                                  "soma-genetic",
                                                  [SOMA_CORE_QUICK] = "soma-quick"};
    return text[core] ? text[core] : accounting->name;
}

void soma_core_write(struct soma_core_choice choice, struct text_buffer *out)
{
    if (choice.core != SOMA_CORE_ARRAY)
        text_append(out, "core: %s\ncore_evaluations: %" PRIu64 "\n", soma_core_names[choice.core],
                    choice.max_evaluations);
}

enum dse_status soma_core_find(const char *name, enum soma_core *core, struct dse_error *err)
{
    for (int i = 0; i < SOMA_N_CORE; i++)
        if (strcmp(name, soma_core_names[i]) == 0) {
            *core = (enum soma_core)i;
            return DSE_OK;
        }
    return dse_fail(
        err, DSE_BAD_INPUT,
        "core is \"%.100s\"; there are auto, array, quick, descent, cosa, cosa-best, random, hybrid, "
        "annealing and genetic",
        name);
}

enum dse_status soma_core_read(const struct yaml_doc *doc, struct soma_core_choice *choice,
                               struct dse_error *err)
{
    const struct ynode *core = yaml_find(doc->root, "core"),
                       *evaluations = yaml_find(doc->root, "core_evaluations");
    const char *name = NULL;
    struct dse_error inner = {0};
    *choice = (struct soma_core_choice){SOMA_CORE_ARRAY, SOMA_CORE_EVALUATIONS};
    if (core) {
        DSE_TRY(yaml_text(doc, core, "core", &name, err));
        if (soma_core_find(name, &choice->core, &inner) != DSE_OK)
            return yaml_fail(doc, core, err, "%s", inner.text);
    }
    if (!evaluations)
        return DSE_OK;
    if (choice->core == SOMA_CORE_ARRAY)
        return yaml_fail(doc, evaluations, err, "core_evaluations belongs to a mapper as core");
    return yaml_u64(doc, evaluations, "core_evaluations", 0, EVALUATIONS_MAX, &choice->max_evaluations, err);
}
