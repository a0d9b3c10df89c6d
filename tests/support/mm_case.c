/* Loads shipped machines and known tables; every failure ends the test. */
#include "tests/support/mm_case.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/readers/readers.h"

static void must(int holds, const char *what, const char *why)
{
    if (!holds) {
        fprintf(stderr, "%s: %s\n", what, why);
        abort();
    }
}

void mm_case_begin(struct mm_case *c, enum mm_algorithm_id id, const char *const *override, size_t n)
{
    const char *path = id == MM_CNN ? "experiments/architectures/mindmappings_banks.yaml"
                                    : "experiments/architectures/mindmappings_mttkrp_banks.yaml";
    struct arch_override list[8];
    struct yaml_doc doc;
    struct dse_error err = {0};
    for (size_t i = 0; i < n; i++)
        list[i] = (struct arch_override){override[2 * i], override[2 * i + 1]};
    must(yaml_read(&doc, path, &err) == DSE_OK &&
             architecture_build(&doc, list, n, &c->arch, &err) == DSE_OK &&
             mm_machine_of(&c->arch, &c->machine, &err) == DSE_OK,
         path, err.text);
    yaml_doc_free(&doc);
    arena_init(&c->arena);
    c->space = NULL;
}

const struct mm_space *mm_case_space(struct mm_case *c, const uint32_t *size, enum mm_mode mode)
{
    struct dse_error err = {0};
    must(mm_space_new(&c->machine, size, mode, &c->arena, &c->space, &err) == DSE_OK, "a space", err.text);
    return c->space;
}

void mm_case_end(struct mm_case *c)
{
    arena_free(&c->arena);
}

void mm_table_open(struct mm_table *table, const char *name)
{
    char path[256];
    struct dse_error err = {0};
    *table = (struct mm_table){.header = 1};
    snprintf(path, sizeof path, "tests/known/mindmappings/%s", name);
    must(yaml_load(path, &table->text, &table->length, &err) == DSE_OK, path, err.text);
}

/* One line without its break; 0 at the end. */
static int read_line(struct mm_table *table)
{
    if (table->at >= table->length)
        return 0;
    const char *begin = table->text + table->at, *stop = strchr(begin, '\n');
    const size_t length = stop ? (size_t)(stop - begin) : strlen(begin);
    must(length < sizeof table->line, begin, "the line is too long");
    memcpy(table->line, begin, length);
    table->line[length] = '\0';
    table->at += length + 1;
    return 1;
}

int mm_table_next(struct mm_table *table)
{
    while (read_line(table)) {
        if (table->line[0] == '#' || table->line[0] == '\0')
            continue;
        if (table->header) {
            table->header = 0;
            continue;
        }
        table->n = 0;
        for (char *at = table->line; at && table->n < MM_FIELD_MAX; at = at ? at + 1 : NULL) {
            table->field[table->n++] = at;
            if ((at = strchr(at, ',')))
                *at = '\0';
        }
        return 1;
    }
    return 0;
}

void mm_table_close(struct mm_table *table)
{
    free(table->text);
}

enum mm_algorithm_id mm_case_problem(const char *name, uint32_t *size)
{
    struct mm_table table;
    enum mm_algorithm_id id = MM_CNN;
    int found = 0;
    mm_table_open(&table, "problems.csv");
    while (mm_table_next(&table)) {
        if (strcmp(table.field[0], name) != 0)
            continue;
        found = 1;
        id = strcmp(table.field[1], "CNN") == 0 ? MM_CNN : MM_MTTKRP;
        for (uint32_t d = 0; d < mm_algorithm(id)->n_dim; d++)
            size[d] = (uint32_t)atoi(table.field[2 + d]);
    }
    mm_table_close(&table);
    must(found, name, "no such problem");
    return id;
}
