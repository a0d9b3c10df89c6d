/* The transactions of a mapping: the worked example of CoSA row by row, and the rules one by one on small mappings. Expected
 * numbers are worked out from the mappings in the comments; the example's source is tests/known/cosa_noc/README.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/noc.h"
#include "costmodel/readers.h"

#define KNOWN "tests/known/cosa_noc/"
#define TABLE_V "experiments/architectures/simba_tablev.yaml"

struct program_case {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct noc_config config;
    struct noc_program program;
    uint64_t n_step;
    struct arena arena;
};

static void write_program(struct program_case *c, uint64_t max_steps)
{
    struct dse_error err;
    int level = noc_level_of(&c->arch);
    assert_true(level >= 0);
    if (noc_program_of(&c->problem, &c->arch, &c->mapping, (uint32_t)level, &c->config, max_steps, &c->arena,
                       &c->program, &c->n_step, &err) != DSE_OK)
        fail_msg("%s", err.text);
    if (noc_check(&c->config, &c->program, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* Problem and mapping from one text on the machine at `path`. */
static void read_case(struct program_case *c, const char *path, const struct yaml_doc *doc)
{
    struct dse_error err;
    memset(c, 0, sizeof *c);
    arena_init(&c->arena);
    if (architecture_read(path, &c->arch, &err) != DSE_OK ||
        problem_build(doc, &c->problem, &err) != DSE_OK ||
        mapping_build(doc, &c->problem, &c->arch, &c->mapping, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
    noc_config_init(&c->config, 4, 4);
}

static void worked_example(struct program_case *c)
{
    struct yaml_doc doc;
    struct dse_error err;
    assert_int_equal(yaml_read(&doc, KNOWN "worked_example.yaml", &err), DSE_OK);
    read_case(c, TABLE_V, &doc);
    yaml_doc_free(&doc);
}

/* Spell out the ranges of the compacted file: "3-5 9" is "3 4 5 9". */
static void expand(const char *line, struct text_buffer *out)
{
    text_clear(out);
    for (const char *p = line; *p;) {
        char *after;
        if (*p < '0' || *p > '9') {
            text_append_bytes(out, p++, 1);
            continue;
        }
        unsigned long first = strtoul(p, &after, 10), last = first;
        if (*after == '-')
            last = strtoul(after + 1, &after, 10);
        for (unsigned long i = first; i <= last; i++)
            text_append(out, i > first ? " %lu" : "%lu", i);
        p = after;
    }
}

static void test_noc_program_is_the_worked_example_row_by_row(void **state)
{
    struct program_case c;
    struct text_buffer got, want;
    char line[2048];
    size_t row = 0;
    (void)state;
    worked_example(&c);
    write_program(&c, 0);
    assert_int_equal(c.n_step, 14); /* P2 x Q7 at the DRAM */
    assert_int_equal(c.program.n_transaction, 536);
    text_init(&got);
    text_init(&want);
    noc_program_write_csv(&c.program, &got);
    FILE *file = fopen(KNOWN "worked_example.csv", "r");
    assert_non_null(file);
    char *at = got.data;
    while (fgets(line, sizeof line, file)) {
        expand(line, &want);
        if (strncmp(at, want.data, want.length) != 0)
            fail_msg("row %zu: want %sgot %.200s", row, want.data, at);
        at += want.length;
        row++;
    }
    fclose(file);
    assert_int_equal(row, 536);
    assert_int_equal(*at, '\0');
    text_free(&got);
    text_free(&want);
    arena_free(&c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_program_is_the_worked_example_row_by_row),
    };
    return cmocka_run_group_tests_name("noc_program", tests, NULL, NULL);
}
