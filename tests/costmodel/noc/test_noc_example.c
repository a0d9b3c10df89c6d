/* The 536 transactions of the paper's worked example (tests/known/cosa_noc/README.md) on the mesh: the loads
 * of its links, and the plain simulator's answer.
 * Tests: noc_simulate.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/noc_plain.h"

enum { TRANSACTION_MAX = 600, ENTRY_MAX = 20000, LINE_MAX_BYTE = 4096 };

struct example {
    struct noc_transaction transaction[TRANSACTION_MAX];
    uint32_t destination[ENTRY_MAX], dependency[ENTRY_MAX];
    struct noc_program program;
    uint64_t start[2][TRANSACTION_MAX], finish[2][TRANSACTION_MAX];
};

/* Numbers and ranges: "0 4-7". */
static uint32_t read_list(const char *text, uint32_t *list, size_t *n)
{
    size_t before = *n;
    for (;;) {
        char *end;
        uint32_t first = (uint32_t)strtoul(text, &end, 10), last = first;
        if (end == text)
            return (uint32_t)(*n - before);
        if (*end == '-')
            last = (uint32_t)strtoul(end + 1, &end, 10);
        text = end;
        for (uint32_t number = first; number <= last; number++) {
            assert_true(*n < ENTRY_MAX);
            list[(*n)++] = number;
        }
    }
}

/* Columns: id, port, operation, size, source, destinations, dependencies. */
static void read_example(struct example *example)
{
    struct noc_program *program = &example->program;
    char line[LINE_MAX_BYTE];
    FILE *file = fopen("tests/known/cosa_noc/worked_example.csv", "r");
    assert_non_null(file);
    *program = (struct noc_program){0, example->transaction, example->destination, example->dependency, 0, 0};
    while (fgets(line, sizeof line, file)) {
        char *field[7], *rest = line;
        for (int i = 0; i < 7; i++)
            field[i] = strsep(&rest, ",");
        if (!field[6] || line[0] == '#')
            continue;
        assert_true(program->n_transaction < TRANSACTION_MAX);
        struct noc_transaction *t = &example->transaction[program->n_transaction++];
        t->actor = (uint32_t)strtoul(field[1], NULL, 10);
        t->operation = (enum noc_operation)strtoul(field[2], NULL, 10);
        t->size = (uint32_t)strtoul(field[3], NULL, 10);
        t->first_destination = (uint32_t)program->n_destination;
        t->n_destination = read_list(field[5], example->destination, &program->n_destination);
        t->first_dependency = (uint32_t)program->n_dependency;
        t->n_dependency = read_list(field[6], example->dependency, &program->n_dependency);
    }
    fclose(file);
}

static void test_noc_worked_example(void **state)
{
    (void)state;
    struct example *example = calloc(1, sizeof *example);
    struct noc_config config;
    struct noc_result result, plain;
    struct dse_error err = {0};
    struct arena arena;
    assert_non_null(example);
    read_example(example);
    assert_int_equal(example->program.n_transaction, 536);
    noc_config_init(&config, 4, 4);
    struct noc_trace trace = {example->start[0], example->finish[0]};
    arena_init(&arena);
    if (noc_simulate(&config, &example->program, 0, NULL, &arena, &trace, &result, &err) != DSE_OK)
        fail_msg("%s", err.text);
    arena_free(&arena);
    /* 14 steps of 448 packets in and 1344 out, and once 4 x 32 packets of weights; 5 flits each (reference
     * page). */
    assert_int_equal(result.dram_link_flits_in, 14 * 448 * 5 + 4 * 32 * 5);
    assert_int_equal(result.dram_link_flits_out, 14 * 1344 * 5);
    assert_int_equal(result.dram_reads, 14 * 448 + 4 * 32);
    assert_int_equal(result.dram_writes, 14 * 1344);
    /* The multicasts go to 4 PEs each: 14 x 4 of 112 packets and 4 of 32; outputs 14 x 16 x 84 packets to the
     * buffer. */
    assert_int_equal(result.flits_received, 5 * (14 * (448 + 1344 + 4 * 112 * 4 + 16 * 84) + 4 * 32 * 4));
    assert_true(result.cycle > result.dram_link_flits_out);
    assert_true(noc_plain_simulate(&config, &example->program, 1000000, example->start[1], example->finish[1],
                                   &plain));
    assert_int_equal(result.cycle, plain.cycle);
    assert_memory_equal(example->start[0], example->start[1], sizeof example->start[0]);
    assert_memory_equal(example->finish[0], example->finish[1], sizeof example->finish[0]);
    result.n_stepped_cycle = 0;
    assert_memory_equal(&result, &plain, sizeof result);
    free(example);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_noc_worked_example)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
