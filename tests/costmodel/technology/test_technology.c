/* Technologies: what the tables say off their grid against runs of CACTI there (tests/known/technology),
 * their published rows, and that a larger memory takes no less. Tests: technology.c, sram_table.c,
 * sram_factors.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/technology/technology.h"

enum { ROW_MAX = 200, LINE_MAX_BYTE = 256, N_PAIR = 10000, READ = 0, WRITE, AREA, LEAKAGE, N_QUANTITY };

struct row {
    char set[8];
    double nm;
    struct technology_memory memory;
    double value[N_QUANTITY]; /* pJ, pJ, mm2, W */
};

static uint32_t read_rows(struct row *row)
{
    char line[LINE_MAX_BYTE];
    uint32_t n = 0;
    FILE *file = fopen("tests/known/technology/sram.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct row *r = &row[n];
        assert_true(n < ROW_MAX);
        n += sscanf(line, "%7[a-z],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", r->set, &r->nm, &r->memory.byte,
                    &r->memory.bit, &r->memory.ports, &r->memory.banks, &r->value[READ], &r->value[WRITE],
                    &r->value[AREA], &r->value[LEAKAGE]) == 10;
        r->memory.cell = strcmp(r->set, "hp") == 0 ? TECHNOLOGY_HP : TECHNOLOGY_LSTP;
    }
    (void)fclose(file);
    return n;
}

static void ask(double nm, const struct technology_memory *memory, double value[N_QUANTITY])
{
    struct technology_cost cost;
    struct dse_error err = {.text = ""};
    if (technology_memory_cost(nm, memory, &cost, &err) != DSE_OK)
        fail_msg("%s", err.text);
    value[READ] = cost.read_j * 1e12;
    value[WRITE] = cost.write_j * 1e12;
    value[AREA] = cost.area_mm2;
    value[LEAKAGE] = cost.leakage_w;
}

/* Means and largest errors are those of linear interpolation in the logarithms, computed once apart. */
static void test_technology_is_near_cacti_off_the_grid(void **state)
{
    static const double mean_most[N_QUANTITY] = {0.0620, 0.0437, 0.0484, 0.0207};
    static const double most[N_QUANTITY] = {0.242, 0.160, 0.178, 0.088};
    struct row row[ROW_MAX];
    double sum[N_QUANTITY] = {0}, worst[N_QUANTITY] = {0}, value[N_QUANTITY];
    uint32_t n = 0;
    (void)state;
    for (uint32_t i = 0, n_row = read_rows(row); i < n_row; i++) {
        if (strcmp(row[i].set, "check") != 0)
            continue;
        n++;
        ask(row[i].nm, &row[i].memory, value);
        for (int q = 0; q < N_QUANTITY; q++) {
            const double error = fabs(value[q] / row[i].value[q] - 1);
            sum[q] += error;
            worst[q] = fmax(worst[q], error);
        }
    }
    assert_int_equal(n, 36);
    for (int q = 0; q < N_QUANTITY; q++) {
        assert_true(sum[q] / n <= mean_most[q]);
        assert_true(worst[q] <= most[q]);
    }
}

/* Where ports, banks and cells were tried they are exact, but for what is raised to a smaller memory's. */
static void test_technology_knows_ports_banks_and_cells(void **state)
{
    struct row row[ROW_MAX];
    double value[N_QUANTITY];
    uint32_t n = 0, raised = 0;
    (void)state;
    for (uint32_t i = 0, n_row = read_rows(row); i < n_row; i++) {
        if (strcmp(row[i].set, "check") == 0)
            continue;
        n++;
        ask(row[i].nm, &row[i].memory, value);
        for (int q = 0; q < N_QUANTITY; q++) {
            const double ratio = value[q] / row[i].value[q];
            assert_true(ratio > 1 - 1e-4);
            raised += ratio > 1 + 1e-4;
        }
    }
    assert_int_equal(n, 96);
    assert_true(raised <= 12); /* of 384 */
}

/* pJ: CACTI's at 45 nm and 64 bit, as published with the table. */
static void test_technology_has_the_rows_of_its_tables(void **state)
{
    static const double byte[] = {8192, 32768, 1 << 20}, pj[] = {6.1, 17.0, 93.5};
    struct technology_cost cost;
    struct dse_error err;
    (void)state;
    for (int i = 0; i < 3; i++) {
        const struct technology_memory memory = {byte[i], 64, 1, 1, TECHNOLOGY_LSTP};
        assert_int_equal(technology_memory_cost(45, &memory, &cost, &err), DSE_OK);
        assert_true(fabs(cost.read_j * 1e12 - pj[i]) < 0.051);
    }
    assert_int_equal(technology_mac_cost(45, 8, &cost, &err), DSE_OK); /* 0.2 + 0.05 pJ, 282 + 67 um2 */
    assert_true(fabs(cost.read_j - 0.25e-12) < 1e-24);
    assert_true(fabs(cost.area_mm2 - 349e-6) < 1e-15);
    assert_int_equal(technology_mac_cost(45, 32, &cost, &err), DSE_OK); /* 3.1 + 0.1 pJ */
    assert_true(fabs(cost.read_j - 3.2e-12) < 1e-24);
    const struct technology_memory file = {64, 16, 1, 1, TECHNOLOGY_LSTP};
    assert_int_equal(technology_memory_cost(40, &file, &cost, &err), DSE_OK); /* 0.009 pJ, 5.98 um2 a bit */
    assert_true(fabs(cost.read_j - 16 * 0.009e-12) < 1e-24);
    assert_true(fabs(cost.area_mm2 - 512 * 5.98e-6) < 1e-12);
    technology_dram_cost(TECHNOLOGY_LPDDR4, 64, &cost);
    assert_true(fabs(cost.read_j - 512e-12) < 1e-20);
}

/* 45 to 7 nm at 0.9 V: (0.1776 0.81 - 0.09097 0.9 + 0.02447) / (1.103 0.81 - 0.362 0.9 + 0.2767) and .059. */
static void test_technology_scales_beyond_its_tables(void **state)
{
    struct technology_cost old, new;
    struct dse_error err;
    (void)state;
    assert_int_equal(technology_mac_cost(45, 8, &old, &err), DSE_OK);
    assert_int_equal(technology_mac_cost(7, 8, &new, &err), DSE_OK);
    assert_true(fabs(new.read_j / old.read_j - 0.086453 / 0.84433) < 1e-6);
    assert_true(fabs(new.area_mm2 / old.area_mm2 - 0.059) < 1e-12);
    const struct technology_memory memory = {65536, 64, 1, 1, TECHNOLOGY_LSTP};
    assert_int_equal(technology_memory_cost(90, &memory, &old, &err), DSE_OK);
    assert_int_equal(technology_memory_cost(130, &memory, &new, &err), DSE_OK);
    assert_true(fabs(new.read_j / old.read_j - 2.67441 / 1.64632) < 1e-6);
    assert_true(fabs(new.area_mm2 / old.area_mm2 - 6.4 / 2.8) < 1e-12);
}

static void test_technology_never_falls_with_the_capacity(void **state)
{
    struct random_stream random = random_stream_make(5, 1, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < N_PAIR; i++) {
        struct technology_memory memory = {0};
        double small[N_QUANTITY], large[N_QUANTITY];
        const double nm = 7 * pow(130.0 / 7, random_unit(&random));
        memory.bit = 32 * pow(2, 5 * random_unit(&random));
        memory.ports = 1 + (double)(i % 2);
        memory.banks = pow(2, 4 * random_unit(&random));
        memory.cell = i % 3 ? TECHNOLOGY_LSTP : TECHNOLOGY_HP;
        const double least = 4096, span = log2(0x1p24 / least); /* 4 KiB have 32 of 1,024 bit */
        const double a = random_unit(&random), b = random_unit(&random);
        memory.byte = fmin(least * pow(2, span * fmin(a, b)), 0x1p24);
        ask(nm, &memory, small);
        memory.byte = fmin(least * pow(2, span * fmax(a, b)), 0x1p24);
        ask(nm, &memory, large);
        for (int q = 0; q < N_QUANTITY; q++)
            assert_true(large[q] >= small[q] * (1 - 1e-12));
    }
}

static void test_technology_says_what_its_tables_are_for(void **state)
{
    static const struct {
        double nm;
        struct technology_memory memory;
        const char *text;
    } bad[] = {
        {5, {8192, 64, 1, 1, TECHNOLOGY_LSTP}, "the tables are for 7 to 130 nm, not for 5 nm"},
        {45,
         {8192, 16, 1, 1, TECHNOLOGY_LSTP},
         "the table of memories is for accesses of 32 to 1024 bit, not of 16; \"block\" says how many words "
         "an "
         "access moves"},
        {45,
         {0x1p25, 64, 1, 1, TECHNOLOGY_LSTP},
         "the table of memories goes up to 16 MiB; this one has 32 MiB"},
        {45,
         {512, 256, 1, 1, TECHNOLOGY_LSTP},
         "the table of memories has none of fewer than 32 accesses; 512 B are 16 of 256 bit"},
        {45,
         {256, 64, 2, 1, TECHNOLOGY_LSTP},
         "a memory below 512 B is of flip-flops, for which there are no ports, banks or cells"},
    };
    struct technology_cost cost;
    struct dse_error err;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(technology_memory_cost(bad[i].nm, &bad[i].memory, &cost, &err), DSE_BAD_INPUT);
        assert_string_equal(err.text, bad[i].text);
    }
    assert_int_equal(technology_mac_cost(45, 4, &cost, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "the table of multipliers is for 8 to 32 bit, not for 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_technology_is_near_cacti_off_the_grid),
        cmocka_unit_test(test_technology_knows_ports_banks_and_cells),
        cmocka_unit_test(test_technology_has_the_rows_of_its_tables),
        cmocka_unit_test(test_technology_scales_beyond_its_tables),
        cmocka_unit_test(test_technology_never_falls_with_the_capacity),
        cmocka_unit_test(test_technology_says_what_its_tables_are_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
