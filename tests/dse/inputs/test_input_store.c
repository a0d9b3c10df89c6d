/* Files are read once, kept, and served again without a look at the disk. What is expected is what the test
 * wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/inputs/input_store.h"
#include "dse/spec/sweep.h"

struct place {
    char folder[256], spec[300], machine[300], network[300];
};

static const char machine_text[] = "name: m\nclock: 1 GHz\n# the rest does not matter here\n";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A copy of a file of experiments/. */
static void copy_file(const char *from, const char *to)
{
    char text[65536];
    FILE *file = fopen(from, "re");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_true(n > 0 && n < sizeof text - 1);
    text[n] = '\0';
    write_file(to, text);
}

static int set_up(void **state)
{
    const char *temporary = getenv("TMPDIR");
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    snprintf(place->folder, sizeof place->folder, "%.200s/dse_inputs_XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->spec, sizeof place->spec, "%s/s.yaml", place->folder);
    snprintf(place->machine, sizeof place->machine, "%s/m.yaml", place->folder);
    snprintf(place->network, sizeof place->network, "%s/n.yaml", place->folder);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    unlink(place->spec);
    unlink(place->machine);
    unlink(place->network);
    rmdir(place->folder);
    free(place);
    return 0;
}

static void test_input_store_reads_each_file_once(void **state)
{
    const struct place *place = *state;
    struct input_store *store;
    struct result_input a, b;
    struct dse_error err = {0};
    size_t n;
    write_file(place->machine, machine_text);
    assert_int_equal(input_store_new(&store, &err), DSE_OK);
    assert_int_equal(input_store_get(store, RESOLVE_ARCHITECTURE, "m.yaml", place->folder, &a, &err), DSE_OK);
    assert_string_equal(a.role, "architecture");
    assert_string_equal(a.name, "m.yaml");
    assert_string_equal(a.path, place->machine);
    assert_string_equal(a.content, machine_text);
    assert_int_equal(a.n_byte, sizeof machine_text - 1);
    assert_int_equal(unlink(place->machine), 0);
    assert_int_equal(input_store_get(store, RESOLVE_ARCHITECTURE, "m.yaml", place->folder, &b, &err), DSE_OK);
    assert_ptr_equal(a.content, b.content); /* the file is gone: it came from memory */
    assert_int_equal(input_store_get(store, RESOLVE_ARCHITECTURE, "./m.yaml", place->folder, &b, &err),
                     DSE_IO);
    assert_non_null(strstr(err.text, "cannot read"));
    assert_ptr_equal(input_store_all(store, &n)[0].content, a.content);
    assert_int_equal(n, 1);
    input_store_free(store);
}

static void test_input_store_shares_what_two_names_lead_to(void **state)
{
    const struct place *place = *state;
    struct input_store *store;
    struct result_input a, b;
    struct dse_error err = {0};
    size_t n;
    write_file(place->machine, machine_text);
    assert_int_equal(input_store_new(&store, &err), DSE_OK);
    assert_int_equal(input_store_get(store, RESOLVE_ARCHITECTURE, "m.yaml", place->folder, &a, &err), DSE_OK);
    assert_int_equal(input_store_get(store, RESOLVE_NETWORK, place->machine, NULL, &b, &err), DSE_OK);
    assert_ptr_equal(a.content, b.content);
    (void)input_store_all(store, &n);
    assert_int_equal(n, 2);
    input_store_free(store);
}

static void test_input_store_replays_without_the_disk(void **state)
{
    (void)state;
    static const struct result_input kept[] = {{"architecture", "x", "/nowhere/x.yaml", "a: 1\n", 5},
                                               {"network", "x", "/nowhere/n.yaml", "b: 2\n", 5}};
    struct input_store *store;
    struct result_input got;
    struct dse_error err = {0};
    assert_int_equal(input_store_replay(kept, 2, "out.h5", &store, &err), DSE_OK);
    assert_int_equal(input_store_get(store, RESOLVE_NETWORK, "x", "/elsewhere", &got, &err), DSE_OK);
    assert_string_equal(got.content, "b: 2\n");
    assert_string_equal(got.path, "/nowhere/n.yaml");
    assert_int_equal(input_store_get(store, RESOLVE_NETWORK, "resnet50", NULL, &got, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "out.h5 does not hold the network resnet50"));
    input_store_free(store);
}

/* Of a file of an option the checksum is kept: a result file serves only the very same bytes. */
static void test_input_store_keeps_what_identifies_a_file_of_an_option(void **state)
{
    const struct place *place = *state;
    struct input_store *store, *replayed;
    char path[RESOLVE_PATH_MAX], *bytes;
    size_t n_byte, n;
    struct dse_error err = {0};
    write_file(place->machine, "learned");
    assert_int_equal(input_store_new(&store, &err), DSE_OK);
    assert_int_equal(input_store_option_file(store, "m.yaml", place->folder, path, &bytes, &n_byte, &err),
                     DSE_OK);
    assert_string_equal(path, place->machine);
    assert_int_equal(n_byte, 7);
    assert_memory_equal(bytes, "learned", 7);
    free(bytes);
    const struct result_input *kept = input_store_all(store, &n);
    assert_int_equal(n, 1);
    assert_string_equal(kept->role, "option file");
    assert_string_equal(kept->path, place->machine);
    assert_non_null(strstr(kept->content, "\nbyte: 7\n"));
    assert_null(strstr(kept->content, "learned"));

    assert_int_equal(input_store_replay(kept, n, "out.h5", &replayed, &err), DSE_OK);
    assert_int_equal(input_store_option_file(replayed, "m.yaml", NULL, path, &bytes, &n_byte, &err), DSE_OK);
    free(bytes);
    write_file(place->machine, "Learned");
    assert_int_equal(input_store_option_file(replayed, "m.yaml", NULL, path, &bytes, &n_byte, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "m.yaml has changed since the results were computed"));
    assert_int_equal(input_store_option_file(store, "m.yaml", place->folder, path, &bytes, &n_byte, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "has changed since it was read"));
    assert_int_equal(input_store_option_file(replayed, "other.h5", NULL, path, &bytes, &n_byte, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "out.h5 does not hold the option file other.h5"));
    assert_int_equal(unlink(place->machine), 0);
    assert_int_equal(input_store_option_file(replayed, "m.yaml", NULL, path, &bytes, &n_byte, &err), DSE_IO);
    input_store_free(replayed);
    input_store_free(store);
}

static void read_sweep(const char *path, const char *const *set, size_t n_set, struct sweep_spec *spec,
                       struct sweep *sweep)
{
    struct dse_error err = {0};
    char text[2048];
    if (spec_read(spec, path, set, n_set, &err) != DSE_OK || sweep_init(sweep, spec, &err) != DSE_OK)
        fail_msg("%s", dse_error_print(&err, text, sizeof text));
}

static uint64_t hash_of(const struct place *place, const char *const *set, size_t n_set)
{
    struct sweep_spec spec;
    struct sweep *sweep = calloc(1, sizeof *sweep);
    assert_non_null(sweep);
    read_sweep(place->spec, set, n_set, &spec, sweep);
    uint64_t hash = sweep->schema.specification_hash;
    sweep_free(sweep);
    spec_free(&spec);
    free(sweep);
    return hash;
}

static void write_small(const struct place *place, const char *k)
{
    char text[512];
    copy_file("experiments/architectures/simba.yaml", place->machine);
    snprintf(text, sizeof text,
             "network: n\nkind: layers\nlayers:\n- {name: a, type: conv, C: 8, K: %s, P: 4, Q: 4}\n", k);
    write_file(place->network, text);
    write_file(place->spec, "experiment: e\narchitecture: m.yaml\nnetwork: n.yaml\nengine: random\n"
                            "axes: {DRAM.bandwidth: [1 GB/s, 2 GB/s]}\n");
}

static void test_specification_hash_is_of_inputs_and_set(void **state)
{
    const struct place *place = *state;
    static const char *const set[] = {"batch=2", "batch=3"};
    write_small(place, "8");
    uint64_t first = hash_of(place, NULL, 0);
    assert_true(hash_of(place, NULL, 0) == first);
    assert_true(hash_of(place, set, 1) != first);
    assert_true(hash_of(place, set + 1, 1) != hash_of(place, set, 1));
    write_small(place, "16");
    assert_true(hash_of(place, NULL, 0) != first);
    write_small(place, "8");
    assert_true(hash_of(place, NULL, 0) == first);
}

static void test_specification_is_replayed_with_its_inputs_gone(void **state)
{
    const struct place *place = *state;
    static const char *const set[] = {"batch=2"};
    struct sweep_spec spec, again;
    struct sweep *sweep = calloc(2, sizeof *sweep);
    struct dse_error err = {0};
    struct sweep_point point;
    assert_non_null(sweep);
    write_small(place, "8");
    read_sweep(place->spec, set, 1, &spec, &sweep[0]);
    unlink(place->spec);
    unlink(place->machine);
    unlink(place->network);
    assert_int_equal(sweep[0].schema.n_input, 3); /* the specification, a machine, a network */
    assert_int_equal(spec_replay(&again, &sweep[0].schema, "out.h5", &err), DSE_OK);
    assert_int_equal(sweep_init(&sweep[1], &again, &err), DSE_OK);
    assert_true(sweep[1].schema.specification_hash == sweep[0].schema.specification_hash);
    assert_string_equal(again.path, place->spec);
    sweep_point(&sweep[1], 1, &point);
    assert_int_equal(point.workload->batch, 2);
    struct result_schema less = sweep[0].schema;
    less.n_input = 2; /* without the network */
    struct sweep_spec third;
    sweep_free(&sweep[1]);
    spec_free(&again);
    assert_int_equal(spec_replay(&third, &less, "out.h5", &err), DSE_OK);
    assert_int_equal(sweep_init(&sweep[1], &third, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "does not hold the network n.yaml"));
    sweep_free(&sweep[1]);
    spec_free(&third);
    sweep_free(&sweep[0]);
    spec_free(&spec);
    free(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_input_store_reads_each_file_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_input_store_shares_what_two_names_lead_to, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_input_store_keeps_what_identifies_a_file_of_an_option, set_up,
                                        tear_down),
        cmocka_unit_test(test_input_store_replays_without_the_disk),
        cmocka_unit_test_setup_teardown(test_specification_hash_is_of_inputs_and_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_specification_is_replayed_with_its_inputs_gone, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
