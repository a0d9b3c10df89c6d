/* The machine of Mind Mappings: found in the shipped files, refused elsewhere; its problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "tests/support/mm_case.h"

static void check_buffers(const struct mm_machine *machine, enum mm_memory memory, const char *const *name,
                          const char *const *tensor, uint64_t bank_word)
{
    for (uint32_t i = 0; i < machine->algorithm->n_tensor; i++) {
        assert_string_equal(machine->arch->level[machine->level[memory][i]].name, name[i]);
        assert_string_equal(machine->shape.tensor[machine->tensor[memory][i]].name, tensor[i]);
        assert_int_equal(machine->bank_word[memory][i], bank_word);
    }
    assert_int_equal(machine->banks[memory], 16);
}

/* Counts and sizes: the authors' program (4096 rows of 4 words; 2048 of 1 and 4096 of 2 in a PE). */
static void test_machine_is_found_in_the_shipped_files(void **state)
{
    (void)state;
    static const char *const
        shared[] = {"InputBuffer", "WeightBuffer", "PsumBuffer"},
        *const private[] = {"PsumRegFile", "WeightRegFile", "InputRegFile"},
        *const in[] = {"Inputs", "Weights", "Outputs"}, *const out[] = {"Outputs", "Weights", "Inputs"},
        *const b[] = {"ABuffer", "BBuffer", "CBuffer", "DBuffer"},
        *const r[] = {"ARegFile", "BRegFile", "CRegFile", "DRegFile"}, *const t[] = {"A", "B", "C", "D"};
    struct mm_case cnn, mttkrp;
    mm_case_begin(&cnn, MM_CNN, NULL, 0);
    assert_int_equal(cnn.machine.n_pe, 256);
    assert_string_equal(cnn.machine.algorithm->name, "cnn");
    check_buffers(&cnn.machine, MM_MEMORY_SHARED, shared, in, 16384);
    check_buffers(&cnn.machine, MM_MEMORY_PRIVATE, private, out, 2048);
    mm_case_begin(&mttkrp, MM_MTTKRP, NULL, 0);
    check_buffers(&mttkrp.machine, MM_MEMORY_SHARED, b, t, 16384);
    check_buffers(&mttkrp.machine, MM_MEMORY_PRIVATE, r, t, 8192);
    mm_case_end(&cnn);
    mm_case_end(&mttkrp);
}

static void test_machine_says_what_is_another(void **state)
{
    (void)state;
    struct architecture arch;
    struct mm_machine machine;
    struct mm_case c;
    struct dse_error err;
    assert_int_equal(architecture_read("experiments/architectures/mindmappings.yaml", &arch, &err), DSE_OK);
    assert_int_equal(mm_machine_of(&arch, &machine, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "InputBuffer does not share the banks"));
    assert_int_equal(architecture_read("experiments/architectures/simba.yaml", &arch, &err), DSE_OK);
    assert_int_equal(mm_machine_of(&arch, &machine, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "simba is no machine of Mind Mappings"));
    mm_case_begin(&c, MM_CNN, NULL, 0);
#define REFUSED(change, words)                                                                               \
    arch = c.arch;                                                                                           \
    change;                                                                                                  \
    assert_int_equal(mm_machine_of(&arch, &machine, &err), DSE_BAD_INPUT);                                   \
    if (!strstr(err.text, words))                                                                            \
        fail_msg("\"%s\" lacks \"%s\"", err.text, words);
    REFUSED(arch.level[5].keep_role = 7, "InputBuffer does not keep one tensor");
    REFUSED(arch.level[4].keep_role = arch.level[5].keep_role, "WeightBuffer keeps the tensor of another");
    REFUSED(arch.level[4].bank_group = 2, "WeightBuffer does not share the banks");
    REFUSED(arch.level[3].mesh_y = 1; arch.level[2].mesh_y = arch.level[1].mesh_y = arch.level[0].mesh_y = 2;
            arch.mac.mesh_y = 2, "in one row");
    REFUSED(arch.mac.mesh_x *= 2, "InputRegFile has an array inside it");
#undef REFUSED
    mm_case_end(&c);
}

/* Those of a network's layer are the same problem. */
static void test_problem_sizes_come_back(void **state)
{
    (void)state;
    const uint32_t cnn[] = {8, 96, 256, 5, 5, 27, 27}, mttkrp[] = {128, 1024, 4096, 2048};
    struct problem problem;
    struct network network;
    struct dse_error err;
    uint32_t size[MM_DIM_MAX];
    assert_int_equal(mm_problem(mm_algorithm(MM_CNN), cnn, &problem, &err), DSE_OK);
    assert_int_equal(problem_macs(&problem),
                     UINT64_C(3583180800)); /* tests/known/mindmappings/problems.csv */
    assert_int_equal(mm_problem_sizes(mm_algorithm(MM_CNN), &problem, size, &err), DSE_OK);
    assert_memory_equal(size, cnn, sizeof cnn);
    assert_int_equal(mm_problem(mm_algorithm(MM_MTTKRP), mttkrp, &problem, &err), DSE_OK);
    assert_int_equal(problem_macs(&problem), UINT64_C(1099511627776));
    assert_int_equal(mm_problem_sizes(mm_algorithm(MM_CNN), &problem, size, &err), DSE_BAD_INPUT);
    assert_int_equal(network_read("experiments/networks/mindmappings_mttkrp_0.yaml", &network, &err), DSE_OK);
    assert_int_equal(layer_problem(&network.layer[0], 1, &problem, &err), DSE_OK);
    assert_int_equal(mm_problem_sizes(mm_algorithm(MM_MTTKRP), &problem, size, &err), DSE_OK);
    assert_memory_equal(size, mttkrp, sizeof mttkrp);
    network_free(&network);
    const struct layer strided = {.name = "strided",
                                  .type = LAYER_CONV,
                                  .c = 3,
                                  .k = 64,
                                  .p = 8,
                                  .q = 8,
                                  .r = 7,
                                  .s = 7,
                                  .stride = {2, 2},
                                  .dilation = {1, 1},
                                  .groups = 1};
    assert_int_equal(layer_problem(&strided, 1, &problem, &err), DSE_OK);
    assert_int_equal(mm_problem_sizes(mm_algorithm(MM_CNN), &problem, size, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "stride and dilation 1"));
    assert_int_equal(
        mm_problem(mm_algorithm(MM_CNN), (const uint32_t[]){8, 0, 1, 1, 1, 1, 1}, &problem, &err),
        DSE_BAD_INPUT);
}

static void test_algorithms_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(mm_algorithm_find("mttkrp"), mm_algorithm(MM_MTTKRP));
    assert_null(mm_algorithm_find("gemm"));
    for (int i = 0; i < MM_ALGORITHM_COUNT; i++) {
        const struct mm_algorithm *a = mm_algorithm((enum mm_algorithm_id)i);
        assert_int_equal(a->n_value, a->n_dim * (1 + MM_BLOCK_COUNT + MM_NEST_COUNT) + 2 * a->n_tensor);
        assert_int_equal(a->n_cost, 3 * a->n_tensor + 3);
        assert_int_equal(a->n_attribute, a->n_dim + MM_NEST_COUNT + MM_MEMORY_COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_is_found_in_the_shipped_files),
        cmocka_unit_test(test_machine_says_what_is_another),
        cmocka_unit_test(test_problem_sizes_come_back),
        cmocka_unit_test(test_algorithms_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
