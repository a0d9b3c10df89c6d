/* The architecture struct by itself: look-ups, checks, hash. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/architecture.h"

/* DRAM above a buffer above 4 x 2 register files with 3 MACs each. */
static struct architecture three_levels(void)
{
    struct architecture arch = {.name = "three", .clock_hz = 1e9, .n_level = 3};
    static const char *const name[] = {"RegFile", "Buffer", "DRAM"};
    for (uint32_t l = 0; l < 3; l++) {
        struct storage_level *level = &arch.level[l];
        strcpy(level->name, name[l]);
        level->is_dram = l == 2;
        level->reduces = l != 2;
        level->keep_role = 7;
        level->word_bit = 16;
        level->block_word = 1;
        level->cluster_size = 1;
        level->size_word = l == 2 ? ARCH_UNLIMITED : 100;
        level->multiple_buffering = 1;
        level->mesh_x = l == 0 ? 4 : 1;
        level->mesh_y = l == 0 ? 2 : 1;
        level->instances = level->mesh_x * level->mesh_y;
        level->read_bandwidth_word_per_cycle = INFINITY;
        level->write_bandwidth_word_per_cycle = INFINITY;
        level->shared_bandwidth_word_per_cycle = 8;
        level->read_energy_j = level->write_energy_j = level->update_energy_j = 1e-12;
    }
    arch.mac = (struct mac_array){.name = "MAC", .word_bit = 16, .instances = 24, .mesh_x = 12, .mesh_y = 2};
    return arch;
}

static void test_architecture_finds_levels_by_name(void **state)
{
    (void)state;
    struct architecture arch = three_levels();
    assert_int_equal(architecture_find_level(&arch, "RegFile"), 0);
    assert_int_equal(architecture_find_level(&arch, "DRAM"), 2);
    assert_int_equal(architecture_find_level(&arch, "dram"), -1);
}

static void test_architecture_fanout_and_usable_words(void **state)
{
    (void)state;
    struct architecture arch = three_levels();
    uint64_t x = 0, y = 0;
    architecture_fanout(&arch, 0, &x, &y); /* 12 / 4 by 2 / 2 MACs */
    assert_int_equal(x, 3);
    assert_int_equal(y, 1);
    architecture_fanout(&arch, 1, &x, &y);
    assert_int_equal(x, 4);
    assert_int_equal(y, 2);
    architecture_fanout(&arch, 2, &x, &y);
    assert_int_equal(x * y, 1);
    arch.level[1].multiple_buffering = 1.5;
    assert_int_equal(architecture_usable_words(&arch.level[1]), 66); /* floor(100 / 1.5) */
    assert_true(architecture_usable_words(&arch.level[2]) == ARCH_UNLIMITED);
}

/* The check must refuse `bad` with a text that has `word` in it. */
static void refused(const struct architecture *bad, enum dse_status status, const char *word)
{
    struct dse_error err;
    assert_int_equal(architecture_check(bad, &err), status);
    if (!strstr(err.text, word))
        fail_msg("\"%s\" lacks \"%s\"", err.text, word);
}

#define REFUSED(change, word)                                                                                \
    do {                                                                                                     \
        struct architecture arch = three_levels();                                                           \
        change;                                                                                              \
        refused(&arch, DSE_BAD_INPUT, word);                                                                 \
    } while (0)

static void test_architecture_check_refuses_nonsense(void **state)
{
    (void)state;
    struct architecture good = three_levels();
    struct dse_error err;
    assert_int_equal(architecture_check(&good, &err), DSE_OK);
    REFUSED(arch.n_level = 0, "no storage");
    REFUSED(arch.clock_hz = NAN, "clock");
    REFUSED(arch.clock_hz = 0, "clock");
    REFUSED(arch.level[1].name[0] = '\0', "no name");
    REFUSED(strcpy(arch.level[1].name, "DRAM"), "two storage levels");
    REFUSED(strcpy(arch.level[1].name, "MAC"), "MACs");
    REFUSED(arch.level[0].word_bit = 0, "word bits");
    REFUSED(arch.level[0].block_word = 0, "words per access");
    REFUSED(arch.level[0].cluster_size = 0, "cluster");
    REFUSED(arch.level[0].size_word = 0, "capacity");
    REFUSED(arch.level[0].multiple_buffering = 0, "multiple buffering");
    REFUSED(arch.level[0].min_utilization = 1.01, "utilization");
    REFUSED(arch.level[0].keep_role = 0, "keeps no tensor");
    REFUSED(arch.level[0].read_bandwidth_word_per_cycle = 0, "read bandwidth");
    REFUSED(arch.level[0].shared_bandwidth_word_per_cycle = NAN, "shared bandwidth");
    REFUSED(arch.level[0].update_energy_j = -1e-12, "update energy");
    REFUSED(arch.level[0].hop_energy_j = INFINITY, "hop");
    REFUSED(arch.level[0].instances = 9, "9 instances");
    REFUSED(arch.level[1].mesh_x = 3; arch.level[1].instances = 3, "no multiple");
    REFUSED(arch.mac.mesh_y = 0; arch.mac.instances = 0, "MAC");
    REFUSED(arch.mac.word_bit = 0, "MAC word");
    REFUSED(arch.mac.energy_j = NAN, "MAC energy");
    good.n_level = ARCH_LEVEL_MAX + 1;
    refused(&good, DSE_LIMIT, "17 storage levels");
}

#define CHANGES(change)                                                                                      \
    do {                                                                                                     \
        struct architecture arch = three_levels();                                                           \
        uint64_t before = architecture_hash(&arch);                                                          \
        change;                                                                                              \
        if (architecture_hash(&arch) == before)                                                              \
            fail_msg("the hash does not see: %s", #change);                                                  \
    } while (0)

static void test_architecture_hash_sees_everything_but_names(void **state)
{
    (void)state;
    struct architecture a = three_levels(), b = three_levels();
    strcpy(b.name, "other");
    strcpy(b.level[1].name, "GLB");
    strcpy(b.level[1].array, "PE");
    strcpy(b.mac.name, "mul");
    assert_true(architecture_hash(&a) == architecture_hash(&b));
    CHANGES(arch.clock_hz = 2e9);
    CHANGES(arch.link_transfers = true);
    CHANGES(arch.strict_fanout = true);
    CHANGES(arch.n_level = 2);
    CHANGES(arch.level[1].is_dram = true);
    CHANGES(arch.level[1].reduces = false);
    CHANGES(arch.level[1].keep_role = 3);
    CHANGES(arch.level[1].word_bit = 8);
    CHANGES(arch.level[1].block_word = 2);
    CHANGES(arch.level[0].cluster_size = 2);
    CHANGES(arch.level[1].size_word = 101);
    CHANGES(arch.level[1].multiple_buffering = 2);
    CHANGES(arch.level[1].min_utilization = 0.5);
    CHANGES(arch.level[0].mesh_x = 2; arch.level[0].mesh_y = 4);
    CHANGES(arch.level[1].read_bandwidth_word_per_cycle = 8);
    CHANGES(arch.level[1].write_bandwidth_word_per_cycle = 8);
    CHANGES(arch.level[1].shared_bandwidth_word_per_cycle = 9);
    CHANGES(arch.level[1].read_energy_j = 2e-12);
    CHANGES(arch.level[1].write_energy_j = 2e-12);
    CHANGES(arch.level[1].update_energy_j = 2e-12);
    CHANGES(arch.level[1].address_energy_j = 2e-12);
    CHANGES(arch.level[1].hop_energy_j = 2e-12);
    CHANGES(arch.level[1].area_mm2 = 1);
    CHANGES(arch.level[1].byte_area_mm2 = 1);
    CHANGES(arch.level[1].hop_area_mm2 = 1);
    CHANGES(arch.mac.area_mm2 = 1);
    CHANGES(arch.level[1].leakage_w = 1);
    CHANGES(arch.mac.leakage_w = 1);
    CHANGES(arch.power_gating = true);
    CHANGES(arch.max_area_mm2 = 1);
    CHANGES(arch.level[1].router_energy_j = 2e-12);
    CHANGES(arch.level[1].ingress_energy_j = 2e-12);
    CHANGES(arch.level[1].fill_latency_cycle = 1);
    CHANGES(arch.level[1].drain_latency_cycle = 1);
    CHANGES(arch.mac.word_bit = 8);
    CHANGES(arch.mac.mesh_x = 24; arch.mac.mesh_y = 1);
    CHANGES(arch.mac.energy_j = 1e-12);
    /* The same change at another level is another machine. */
    struct architecture c = three_levels(), d = three_levels();
    c.level[0].word_bit = 8;
    d.level[1].word_bit = 8;
    assert_false(architecture_hash(&c) == architecture_hash(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_architecture_finds_levels_by_name),
        cmocka_unit_test(test_architecture_fanout_and_usable_words),
        cmocka_unit_test(test_architecture_check_refuses_nonsense),
        cmocka_unit_test(test_architecture_hash_sees_everything_but_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
