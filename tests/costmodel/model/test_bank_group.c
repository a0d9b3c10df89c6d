/* Groups of storages that share banks: how many are needed, by whom, and groups that cannot be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/bank_group.h"

/* DRAM above buffers A (banks of 8 words) and B (banks of 4) that share 5 banks. */
static struct architecture two_of_a_group(void)
{
    struct architecture arch = {.name = "two", .clock_hz = 1e9, .n_level = 3, .n_group = 1};
    static const char *const name[] = {"B", "A", "DRAM"};
    arch.group[0] = (struct bank_group){.name = "Shared", .banks = 5};
    for (uint32_t l = 0; l < 3; l++) {
        struct storage_level *level = &arch.level[l];
        strcpy(level->name, name[l]);
        level->keep_role = 7;
        level->word_bit = 16;
        level->block_word = level->cluster_size = 1;
        level->multiple_buffering = 1;
        level->mesh_x = level->mesh_y = level->instances = 1;
        level->read_bandwidth_word_per_cycle = level->write_bandwidth_word_per_cycle = INFINITY;
        level->shared_bandwidth_word_per_cycle = INFINITY;
        level->bank_group = l < 2;
        level->bank_word = l < 2 ? (l ? 8 : 4) : 0;
        level->size_word = l < 2 ? (l ? 32 : 16) : ARCH_UNLIMITED; /* 4 banks: the other has one */
    }
    arch.mac = (struct mac_array){.name = "MAC", .word_bit = 16, .instances = 1, .mesh_x = 1, .mesh_y = 1};
    return arch;
}

static void test_bank_group_rounds_up_to_whole_banks_and_at_least_one(void **state)
{
    (void)state;
    assert_int_equal(bank_group_need(0, 8), 1);
    assert_int_equal(bank_group_need(8, 8), 1);
    assert_int_equal(bank_group_need(9, 8), 2);
    assert_int_equal(bank_group_need(UINT64_MAX, 1), UINT64_MAX);
}

static void test_bank_group_adds_up_over_its_storages(void **state)
{
    (void)state;
    struct architecture arch = two_of_a_group();
    struct misfit_info fit;
    const uint64_t fits[] = {12, 16, 1000}, idle[] = {16, 0, 1000}, too_many[] = {13, 16, 1000};
    assert_int_equal(bank_group_needed(&arch, 1, fits), 5); /* 3 and 2 */
    assert_true(bank_groups_fit(&arch, fits, &fit));
    assert_true(bank_groups_fit(&arch, idle, &fit)); /* 4 and the one that A has all the same */
    assert_false(bank_groups_fit(&arch, too_many, &fit));
    assert_int_equal(fit.what, MISFIT_BANKS);
    assert_int_equal(fit.level, 0);
    assert_int_equal(fit.needed, 6);
    assert_int_equal(fit.available, 5);
    assert_false(bank_groups_fit(&arch, too_many, NULL));
}

static void test_bank_group_refuses_what_does_not_hold_together(void **state)
{
    (void)state;
    struct architecture good = two_of_a_group(), arch;
    struct dse_error err;
    assert_int_equal(architecture_check(&good, &err), DSE_OK);
    assert_int_equal(bank_group_size_word(&good, &good.level[1]), 32);
#define REFUSED(change, words)                                                                               \
    arch = good;                                                                                             \
    change;                                                                                                  \
    assert_int_equal(bank_group_check(&arch, &err), DSE_BAD_INPUT);                                          \
    if (!strstr(err.text, words))                                                                            \
        fail_msg("\"%s\" lacks \"%s\"", err.text, words);
    REFUSED(arch.group[0].banks = 1, "1 banks for 2 storages");
    REFUSED(arch.level[0].bank_group = arch.level[1].bank_group = 0, "no storage shares the banks of Shared");
    REFUSED(arch.level[0].bank_group = 2, "there are 1 groups");
    REFUSED(arch.level[2].bank_group = 1, "outermost");
    REFUSED(arch.level[0].instances = 4, "no array can lie between");
    REFUSED(arch.level[0].bank_word = 0, "holds no word");
    REFUSED(arch.level[1].multiple_buffering = 2, "multiple_buffering");
    REFUSED(arch.level[1].min_utilization = 0.5, "min_utilization");
    REFUSED(arch.level[1].size_word = 31, "31 words");
    REFUSED(arch.n_group = 0, "there are 0 groups");
#undef REFUSED
}

/* A sweep that changes the banks must not find the results of another machine. */
static void test_bank_group_is_part_of_the_hash(void **state)
{
    (void)state;
    struct architecture arch = two_of_a_group();
    const uint64_t before = architecture_hash(&arch);
    arch.group[0].banks = 6;
    assert_true(architecture_hash(&arch) != before);
    arch = two_of_a_group();
    arch.level[0].bank_word = 3;
    assert_true(architecture_hash(&arch) != before);
    arch = two_of_a_group();
    strcpy(arch.group[0].name, "Other");
    assert_true(architecture_hash(&arch) == before); /* names are for people */
}

/* 5 banks: A's share is 2.5 of 8 words of 2 bytes, B's 2.5 of 4. */
static void test_bank_group_shares_its_area(void **state)
{
    (void)state;
    struct architecture arch = two_of_a_group();
    arch.level[0].byte_area_mm2 = arch.level[1].byte_area_mm2 = 0.5;
    assert_true(fabs(architecture_area_mm2(&arch) - 0.5 * 2 * (2.5 * 8 + 2.5 * 4)) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bank_group_rounds_up_to_whole_banks_and_at_least_one),
        cmocka_unit_test(test_bank_group_adds_up_over_its_storages),
        cmocka_unit_test(test_bank_group_refuses_what_does_not_hold_together),
        cmocka_unit_test(test_bank_group_is_part_of_the_hash),
        cmocka_unit_test(test_bank_group_shares_its_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
