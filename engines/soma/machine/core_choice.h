/* Which scheduler a task of the SoMa family has for its core array, and its machine: the built-in search on
 * the machine that it models, or a mapper on any architecture that core_machine_split takes
 * (docs/core-array.md, "Another scheduler"). */
#ifndef ENGINES_SOMA_MACHINE_CORE_CHOICE_H
#define ENGINES_SOMA_MACHINE_CORE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/fused/core_cache.h"
#include "costmodel/fused/schedule_pricer.h"
#include "costmodel/model/architecture.h"
#include "engines/driver/engine.h"
#include "engines/soma/machine/mapper_core.h"

/* The numbers are in the keys of points. */
enum soma_core {
    SOMA_CORE_AUTO,    /* the built-in search where the machine is one that it models, else quick */
    SOMA_CORE_DESCENT, /* mappers by the name of their engine */
    SOMA_CORE_COSA,
    SOMA_CORE_COSA_BEST,
    SOMA_CORE_RANDOM,
    SOMA_CORE_HYBRID,
    SOMA_CORE_ANNEALING,
    SOMA_CORE_GENETIC,
    SOMA_CORE_ARRAY, /* the built-in search */
    SOMA_CORE_QUICK, /* descent with the tricks of mapper_core_quick */
    SOMA_N_CORE
};

extern const char *const soma_core_names[SOMA_N_CORE];

enum { SOMA_CORE_EVALUATIONS = 4000 }; /* the default */

struct soma_core_choice {
    enum soma_core core;
    /* of a mapper, for each tile; 0: until it ends by itself. Not used by the built-in search */
    uint64_t max_evaluations;
};

/* Options that the engines of the family have besides SOMA_OPTION_COMPAT. */
#define SOMA_OPTION_CORE                                                                                     \
    {                                                                                                        \
        .name = "core",                                                                                      \
        .sentence =                                                                                          \
            "what schedules a tile on the core array: array, the built-in search on the machine "            \
            "that it models, or a mapper on the architecture inside the DRAM; auto: array where the "        \
            "machine is one, else quick",                                                                    \
        .unit = "", .kind = OPTION_CHOICE, .standard = SOMA_CORE_AUTO, .lowest = 0,                          \
        .highest = SOMA_N_CORE - 1, .choice = soma_core_names                                                \
    }
#define SOMA_OPTION_CORE_EVALUATIONS                                                                         \
    {                                                                                                        \
        .name = "core_evaluations",                                                                          \
        .sentence = "mappings that a mapper may price for a tile; 0: until it ends by itself",               \
        .unit = "evaluation", .kind = OPTION_INTEGER, .standard = SOMA_CORE_EVALUATIONS, .lowest = 0,        \
        .highest = 1e9                                                                                       \
    }

/* What was chosen, compiled by the accounting. Its parts point to each other: it stays where soma_core_open
 * filled it. */
struct soma_core_machine {
    struct soma_core_choice choice; /* resolved */
    struct schedule_pricer *pricer;
    struct mapper_core mapper; /* in place of the accounting's core array; else unused, as `cached` */
    struct core_cached cached, searched;
};

/* Is the architecture a machine for the accounting with that core? DSE_BAD_INPUT: it is no such machine
 * (core_machine_of, core_machine_split); DSE_BAD_USAGE: a mapper for an accounting that prices tiles alone.
 */
DSE_MUST_CHECK enum dse_status soma_core_check(const struct accounting *accounting, enum soma_core core,
                                               const struct architecture *arch, struct dse_error *err);

/* SOMA_CORE_AUTO where that comes to `core`, else `core`. */
enum soma_core soma_core_known_as(const struct accounting *accounting, enum soma_core core,
                                  const struct architecture *arch);

/* Compile a task (without `tile`) by an accounting of schedules, with the chosen scheduler of the core array;
 * memory from `arena`. Errors of soma_core_check; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_core_open(const struct accounting *accounting,
                                              struct soma_core_choice choice,
                                              const struct schedule_task *task, struct arena *arena,
                                              struct soma_core_machine *made, struct dse_error *err);

/* Whose rules priced a schedule, for results: the accounting's name, or of that with a mapper
 * "soma-descent"; a constant. `core` is resolved, as for soma_core_write. */
const char *soma_core_accounting(enum soma_core core, const struct accounting *accounting);

/* The lines of a schedule's text form that say it: nothing for the built-in search, else `core: descent` and
 * `core_evaluations: 4000`. */
void soma_core_write(struct soma_core_choice choice, struct text_buffer *out);

/* The choice that a schedule's text form records. DSE_BAD_INPUT with file and line: another name, a number
 * out of range, core_evaluations without a mapper. */
DSE_MUST_CHECK enum dse_status soma_core_read(const struct yaml_doc *doc, struct soma_core_choice *choice,
                                              struct dse_error *err);

/* A core by its name. DSE_BAD_INPUT names those there are. */
DSE_MUST_CHECK enum dse_status soma_core_find(const char *name, enum soma_core *core, struct dse_error *err);

#endif
