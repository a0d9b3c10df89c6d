/* Mappings as text against the same text by printf, and the longest mapping there can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/model/mapping.h"
#include "tests/support/random_case.h"

/* The same text by printf, word for word as the format says it. */
static void plain_loops(const uint32_t *factor, const uint8_t *order, const struct problem *problem,
                        bool is_short, struct text_buffer *out)
{
    text_append(out, "factors: ");
    for (uint32_t d = 0; d < problem->n_dim; d++)
        text_append(out, "%s%s=%u", d ? " " : "", problem->dim_name[d], factor[d]);
    text_append(out, ", permutation: %s", is_short ? "" : "\"");
    for (uint32_t k = 0; k < problem->n_dim; k++)
        text_append(out, "%s%s", k && !is_short ? "," : "", problem->dim_name[order[k]]);
    text_append(out, is_short ? "" : "\"");
}

static void plain_tensors(const char *key, uint32_t mask, const struct problem *problem,
                          struct text_buffer *out)
{
    bool first = true;
    text_append(out, "%s: [", key);
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (mask >> t & 1u) {
            text_append(out, "%s%s", first ? "" : ", ", problem->tensor[t].name);
            first = false;
        }
    text_append(out, "]");
}

static void plain_level(const struct mapping_level *level, const char *target, const struct problem *problem,
                        bool is_short, struct text_buffer *out)
{
    bool spatial = level->no_link_transfer || level->no_multicast;
    text_append(out, "- {target: %s, type: temporal, ", target);
    plain_loops(level->temporal, level->temporal_order, problem, is_short, out);
    if (level->no_temporal_reuse) {
        text_append(out, ", ");
        plain_tensors("no_temporal_reuse", level->no_temporal_reuse, problem, out);
    }
    text_append(out, "}\n");
    for (uint32_t d = 0; d < problem->n_dim; d++)
        spatial = spatial || level->spatial[d] != 1;
    if (spatial) {
        text_append(out, "- {target: %s, type: spatial, ", target);
        plain_loops(level->spatial, level->spatial_order, problem, is_short, out);
        text_append(out, ", split: %u", level->split);
        if (level->no_link_transfer) {
            text_append(out, ", ");
            plain_tensors("no_link_transfer", level->no_link_transfer, problem, out);
        }
        if (level->no_multicast) {
            text_append(out, ", ");
            plain_tensors("no_multicast_no_reduction", level->no_multicast, problem, out);
        }
        text_append(out, "}\n");
    }
    text_append(out, "- {target: %s, type: bypass, ", target);
    plain_tensors("keep", level->keep, problem, out);
    text_append(out, ", ");
    plain_tensors("bypass", ((1u << problem->n_tensor) - 1) & ~(uint32_t)level->keep, problem, out);
    text_append(out, "}\n");
}

/* The block list as a flow list. */
static void plain_line(const char *block, struct text_buffer *line)
{
    for (const char *at = block; *at;) {
        size_t length = strcspn(at, "\n");
        int is_entry = strncmp(at, "- ", 2) == 0;
        if (is_entry)
            text_append(line, "%s", line->data[line->length - 1] == '}' ? ", " : " [");
        text_append(line, "%.*s", (int)length - (is_entry ? 2 : 0), at + (is_entry ? 2 : 0));
        at += length + 1;
    }
    text_append(line, "]");
}

static void check(const struct mapping *mapping, const struct problem *problem,
                  const struct architecture *arch)
{
    struct text_buffer quick, plain, line;
    bool is_short = true;
    text_init(&quick);
    text_init(&plain);
    text_init(&line);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        is_short = is_short && strlen(problem->dim_name[d]) == 1;
    text_append(&plain, "mapping:\n");
    for (uint32_t l = arch->n_level; l-- > 0;)
        plain_level(&mapping->level[l], arch->level[l].name, problem, is_short, &plain);
    mapping_write_yaml(mapping, problem, arch, &quick);
    assert_string_equal(quick.data, plain.data);
    assert_int_equal(quick.length, plain.length);
    plain_line(plain.data, &line);
    text_clear(&quick);
    mapping_write_line(mapping, problem, arch, &quick);
    assert_int_equal(quick.length, line.length);
    assert_memory_equal(quick.data, line.data, line.length);
    text_free(&quick);
    text_free(&plain);
    text_free(&line);
}

static void test_mapping_text_is_that_of_printf(void **state)
{
    (void)state;
    static const struct random_case_options options = {true, true, true, true};
    struct random_stream stream = random_stream_make(5, 1, RANDOM_TEST);
    for (int i = 0; i < 300; i++) {
        struct problem problem;
        struct architecture arch;
        struct mapping mapping;
        random_case_problem(&stream, 5000, &problem);
        random_case_architecture(&stream, &options, &arch);
        random_case_mapping(&stream, &problem, &arch, i % 2 == 0, &mapping);
        if (i % 3 == 0)
            strcpy(problem.dim_name[(uint32_t)i % problem.n_dim], "long");
        check(&mapping, &problem, &arch);
    }
}

/* Everything as long as the limits allow: the room that is asked for holds it (address sanitizer looks). */
static void test_longest_mapping_has_room(void **state)
{
    (void)state;
    static struct problem problem;
    static struct architecture arch;
    static struct mapping mapping;
    problem.n_dim = PROBLEM_DIM_MAX;
    problem.n_tensor = PROBLEM_TENSOR_MAX;
    arch.n_level = ARCH_LEVEL_MAX;
    for (int d = 0; d < PROBLEM_DIM_MAX; d++)
        memset(problem.dim_name[d], 'a' + d, PROBLEM_DIM_NAME_MAX - 1);
    for (int t = 0; t < PROBLEM_TENSOR_MAX; t++)
        memset(problem.tensor[t].name, 'A' + t, PROBLEM_NAME_MAX - 1);
    for (int l = 0; l < ARCH_LEVEL_MAX; l++) {
        struct mapping_level *level = &mapping.level[l];
        memset(arch.level[l].name, 'l', ARCH_NAME_MAX - 1);
        memset(level->temporal, 0xFF, sizeof level->temporal);
        memset(level->spatial, 0xFF, sizeof level->spatial);
        for (uint8_t d = 0; d < PROBLEM_DIM_MAX; d++)
            level->temporal_order[d] = level->spatial_order[d] = d;
        level->split = 255;
        level->keep = (uint8_t)(l * 17);
        level->no_temporal_reuse = level->no_link_transfer = level->no_multicast = 255;
    }
    check(&mapping, &problem, &arch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapping_text_is_that_of_printf),
        cmocka_unit_test(test_longest_mapping_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
