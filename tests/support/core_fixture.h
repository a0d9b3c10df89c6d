/* A mapper as the scheduler of a shipped machine's core array: what its tests share. */
#ifndef TESTS_SUPPORT_CORE_FIXTURE_H
#define TESTS_SUPPORT_CORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/fused/core_machine.h"
#include "costmodel/readers/readers.h"
#include "engines/soma/machine/mapper_core.h"

/* Its parts point to each other: it stays where it was opened. The test releases the arena. */
struct core_fixture {
    struct architecture arch;
    struct core_split split;
    struct mapper_core core;
    struct arena arena;
    struct dse_error err;
};

/* experiments/architectures/ARCH.yaml, and an engine with so many evaluations for a tile. */
static inline void core_fixture_open(struct core_fixture *f, const char *arch, const char *engine,
                                     uint64_t max_evaluations)
{
    char path[128] = "experiments/architectures/";
    struct yaml_doc doc;
    strcat(strcat(path, arch), ".yaml");
    *f = (struct core_fixture){0};
    arena_init(&f->arena);
    if (yaml_read(&doc, path, &f->err) != DSE_OK ||
        architecture_build_with_tables(&doc, NULL, NULL, NULL, 0, &f->arch, &f->err) != DSE_OK ||
        core_machine_split(&f->arch, &f->split, &f->err) != DSE_OK ||
        mapper_core_init(&f->split, engine_find(engine), NULL, max_evaluations, &f->core, &f->err) != DSE_OK)
        fail_msg("%s: %s", arch, f->err.text);
    yaml_doc_free(&doc);
}

#endif
