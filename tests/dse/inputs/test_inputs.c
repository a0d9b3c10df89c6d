/* Operands of commands: the project's own architectures and networks, and small files of this test. Numbers
 * are those of experiments/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/inputs/inputs.h"

enum { SIZE = 24 };

/* A file with this text; the caller unlinks it. */
static const char *write_file(const char *text)
{
    static char path[600];
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/dse-inputs-XXXXXX", base && base[0] ? base : "/tmp");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
    return path;
}

static void test_settings_are_split(void **state)
{
    static const struct {
        const char *option, *text, *path, *value, *message;
    } row[] = {
        {"set", "a.b=1", "a.b", "1", NULL},
        {"set", "a.b  =  128 KiB", "a.b", "128 KiB", NULL},
        {"set", "a==b=c", "a", "=b=c", NULL},
        {"set", "a.b", NULL, NULL,
         "--set a.b: write KEY=VALUE, for instance GlobalBuffer.capacity='128 KiB'"},
        {"option", "=3", NULL, NULL,
         "--option =3: write NAME=VALUE, for instance search_size=1000; `dse list engine NAME` has the "
         "names"},
        {"set", "a=  ", NULL, NULL, "--set a=  : the value is missing"},
        {"set", "123456789012345678901234=1", NULL, NULL,
         "--set 123456789012345678901234=1: write KEY=VALUE, for instance GlobalBuffer.capacity='128 KiB'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char path[SIZE];
        const char *value;
        struct dse_error err = {0};
        enum dse_status status = input_split_set(row[i].option, row[i].text, path, sizeof path, &value, &err);
        assert_int_equal(status, row[i].message ? DSE_BAD_USAGE : DSE_OK);
        if (row[i].message) {
            assert_string_equal(err.text, row[i].message);
        } else {
            assert_string_equal(path, row[i].path);
            assert_string_equal(value, row[i].value);
        }
    }
}

/* Of several --ert the last counts, as of all options; --set add up. */
static void test_overrides_of_a_command_line(void **state)
{
    static const struct cli_option set = {.name = "set"}, ert = {.name = "ert"}, other = {.name = "quiet"};
    static struct cli_args args;
    static struct input_overrides o;
    struct dse_error err = {0};
    (void)state;
    args.value[0].option = &set, args.value[0].text = "a=1";
    args.value[1].option = &other;
    args.value[2].option = &ert, args.value[2].text = "old.yaml";
    args.value[3].option = &set, args.value[3].text = "b=2";
    args.value[4].option = &ert, args.value[4].text = "new.yaml";
    args.n_value = 5;
    assert_int_equal(input_overrides_read(&args, &o, &err), DSE_OK);
    assert_int_equal(o.n, 2);
    assert_string_equal(o.path[1], "b");
    assert_string_equal(o.value[1], "2");
    assert_string_equal(o.ert, "new.yaml");
    for (size_t i = 0; i < INPUT_SET_MAX + 1; i++)
        args.value[i].option = &set, args.value[i].text = "a=1";
    args.n_value = INPUT_SET_MAX;
    assert_int_equal(input_overrides_read(&args, &o, &err), DSE_OK);
    args.n_value++;
    assert_int_equal(input_overrides_read(&args, &o, &err), DSE_LIMIT);
    assert_string_equal(err.text, "more than 64 --set options");
}

static void test_architectures_with_settings(void **state)
{
    static struct architecture plain, changed;
    static struct input_overrides o = {.n = 2, .path = {"clock", "PE.mesh"}, .value = {"3 GHz", "2x2"}};
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(input_architecture("simba", NULL, &plain, &err), DSE_OK);
    assert_int_equal(input_architecture("simba", &o, &changed, &err), DSE_OK);
    assert_true(plain.clock_hz != 3e9 && changed.clock_hz == 3e9);
    assert_int_equal(changed.mac.instances * 4, plain.mac.instances); /* 4 x 4 PEs in the file */
    o.value[1] = "much";
    assert_int_equal(input_architecture("simba", &o, &changed, &err), DSE_BAD_INPUT);
    o.n = 0;
    o.ert = "no/such/ert.yaml";
    assert_int_equal(input_architecture("simba", &o, &changed, &err), DSE_IO);
    assert_string_equal(err.file, "no/such/ert.yaml");
}

static void test_layers_of_networks(void **state)
{
    struct network network;
    struct dse_error err = {0};
    uint32_t index;
    (void)state;
    assert_int_equal(input_network("resnet50", NULL, &network, &err), DSE_OK);
    assert_int_equal(input_layer(&network, "fc", &index, &err), DSE_OK);
    assert_string_equal(network.layer[index].name, "fc");
    assert_int_equal(input_layer(&network, "fd", &index, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "network resnet50 has no layer \"fd\"; did you mean fc?");
    assert_int_equal(input_layer(&network, "conv2_0_", &index, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean conv2_0_"));
    assert_int_equal(input_layer(&network, "zzzzzzzzzzzz", &index, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "network resnet50 has no layer \"zzzzzzzzzzzz\"; its first is conv1");
    uint32_t pool = 0;
    while (layer_has_macs(&network.layer[pool]))
        pool++;
    assert_int_equal(input_layer(&network, network.layer[pool].name, &index, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "without multiply-accumulates to map"));
    network_free(&network);
}

/* fc of ResNet-50: 2048 inputs, 1000 outputs (He et al., 2016). */
static void test_problems_of_layers_and_what_is_none(void **state)
{
    static const struct {
        const char *name, *message;
    } row[] = {
        {"resnet50", "for a mapping write NETWORK:LAYER, for instance resnet50:conv1"},
        {"resnet50:", "for a mapping write NETWORK:LAYER, for instance resnet50:conv1"},
        {"experiments/networks/resnet50.yaml", "is a whole network, which needs a fused schedule"},
        {"resnet50:fd", "network resnet50 has no layer \"fd\"; did you mean fc?"},
        {"renset50:fc", "did you mean resnet50?"},
        {"zzzzzzzzzzzz", "zzzzzzzzzzzz is neither a problem file nor NETWORK:LAYER, such as resnet50:conv1"},
    };
    static struct problem problem;
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(input_problem("resnet50:fc", NULL, 3, &problem, &err), DSE_OK);
    assert_int_equal(problem_macs(&problem), 3 * 2048 * 1000);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(input_problem(row[i].name, NULL, 1, &problem, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, row[i].message))
            fail_msg("%s: \"%s\" has no \"%s\"", row[i].name, err.text, row[i].message);
    }
    assert_int_equal(input_problem("no/such.yaml", NULL, 1, &problem, &err), DSE_IO);
}

static void test_lists_of_constraints(void **state)
{
    static const struct {
        const char *text;
        const char *message; /* NULL: a list of two */
    } row[] = {
        {"- {a: 1}\n- {b: 2}\n", NULL},
        {"constraints:\n  - {a: 1}\n  - {b: 2}\n", NULL},
        {"a: 1\n", "a list of constraints is expected, or a key \"constraints\" that has one"},
        {"constraints: 7\n", "constraints"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct yaml_doc doc;
        const struct ynode *list;
        struct dse_error err = {0};
        const char *path = write_file(row[i].text);
        enum dse_status status = input_constraints(path, &doc, &list, &err);
        assert_int_equal(status, row[i].message ? DSE_BAD_INPUT : DSE_OK);
        if (row[i].message)
            assert_non_null(strstr(err.text, row[i].message));
        else
            assert_int_equal(list->n_item, 2);
        yaml_doc_free(&doc);
        unlink(path);
    }
}

static void test_text_of_a_file_as_it_stands(void **state)
{
    static const char text[] = "a: [1,\n # not even YAML\n";
    struct dse_error err = {0};
    const char *path = write_file(text);
    char *back;
    size_t length;
    (void)state;
    assert_int_equal(yaml_load(path, &back, &length, &err), DSE_OK);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(back, text, length);
    free(back);
    unlink(path);
    assert_int_equal(yaml_load(path, &back, &length, &err), DSE_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_are_split),
        cmocka_unit_test(test_overrides_of_a_command_line),
        cmocka_unit_test(test_architectures_with_settings),
        cmocka_unit_test(test_layers_of_networks),
        cmocka_unit_test(test_problems_of_layers_and_what_is_none),
        cmocka_unit_test(test_lists_of_constraints),
        cmocka_unit_test(test_text_of_a_file_as_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
