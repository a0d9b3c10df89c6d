/* Data are the same for any number of threads and after interruptions, and come back from their file; what is
 * of something else, cut or edited is refused. Tests: mm_data.c, mm_data_file.c. */
#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "engines/mindmappings/training/mm_data_file.h"
#include "tests/support/mm_fixture.h"

enum { N_TRAIN = 50001, N_TEST = 400 };

static struct mm_problems problems;
static struct mm_data_plan plan;
static struct arena arena;
static char path[64], part[80];

static int set_up(void **unused)
{
    (void)unused;
    arena_init(&arena);
    snprintf(path, sizeof path, "/tmp/test_mm_data_%ld.h5", (long)getpid());
    snprintf(part, sizeof part, "%s.part", path);
    problems = (struct mm_problems){.algorithm = cnn.machine.algorithm};
    plan = (struct mm_data_plan){
        .draws = {.machine = &cnn.machine, .problems = &problems, .mode = MM_AUTOBYPASS, .seed = 3},
        .problems = "cnn",
        .n_train = N_TRAIN,
        .n_train_each = 50,
        .n_test = N_TEST,
        .n_test_each = 40,
    };
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    unlink(path);
    unlink(part);
    arena_free(&arena);
    return 0;
}

/* Sets the flag that ends the work when so many samples are there. */
struct stopper {
    atomic_int cancel;
    uint32_t at;
};

static void tick(void *user, uint32_t done, uint32_t n)
{
    struct stopper *stopper = user;
    assert_true(done <= n);
    if (stopper->at && done >= stopper->at)
        atomic_store(&stopper->cancel, 1);
}

static enum dse_status make(const char *to, int n_thread, uint32_t stop_at, struct mm_data_pair *data,
                            struct dse_error *err)
{
    struct stopper stopper = {0, stop_at};
    return mm_data_make(&plan, to, n_thread, &stopper.cancel, tick, &stopper, &arena, data, err);
}

static uint64_t made(const char *to, int n_thread)
{
    struct mm_data_pair data;
    assert_int_equal(make(to, n_thread, 0, &data, NULL), DSE_OK);
    return mm_data_hash(&data);
}

static void test_samples_are_what_they_say(void **unused)
{
    (void)unused;
    struct mm_data_pair pair;
    struct dse_error err = {0};
    plan.n_train = 120;
    assert_int_equal(make(NULL, 2, 0, &pair, &err), DSE_OK);
    const struct mm_data *data = &pair.train;
    assert_int_equal(mm_data_check(data, &err), DSE_OK);
    for (uint32_t i = 0; i < data->n; i++) {
        const struct mm_space *space;
        struct mm_pricer *pricer;
        struct mm_mapping mapping;
        struct mm_cost cost, least;
        double vector[MM_VALUE_MAX];
        uint32_t size[MM_DIM_MAX];
        char reason[256];
        for (int v = 0; v < 62; v++)
            vector[v] = data->vector[i * 62 + (uint32_t)v];
        assert_true(mm_vector_read(data->algorithm, vector, size, &mapping, reason, sizeof reason));
        if (i % 50 > 0) /* 50 mappings of a problem */
            assert_memory_equal(data->vector + (size_t)i * 62, data->vector + (size_t)(i - 1) * 62, 14);
        assert_int_equal(mm_space_new(&cnn.machine, size, MM_AUTOBYPASS, &arena, &space, &err), DSE_OK);
        assert_true(mm_space_contains(space, &mapping, reason, sizeof reason));
        assert_int_equal(mm_pricer_new(space, &pricer, &err), DSE_OK);
        assert_true(mm_price(pricer, &mapping, &cost));
        mm_minimum(space, MM_MINIMUM_CODE, &least);
        mm_pricer_delete(pricer);
        for (int c = 0; c < 12; c++)
            assert_true(data->ratio[i * 12 + (uint32_t)c] == (float)(cost.value[c] / least.value[c]));
    }
}

/* The authors' data have a mean energy of 55.48 and a deviation of 68.49 over the minimum, cycles 24.44 and
 * 43.42, utilization 0.2131 and 0.2375 (their tables of normalisation). */
static void test_statistics_are_those_of_the_authors_data(void **unused)
{
    (void)unused;
    struct mm_data_pair pair;
    const double wanted[3][2] = {{0.2131, 0.2375}, {55.48, 68.49}, {24.44, 43.42}};
    plan.n_train_each = 5; /* many problems */
    assert_int_equal(make(NULL, 2, 0, &pair, NULL), DSE_OK);
    for (int which = 0; which < 3; which++) {
        double sum = 0, square = 0, n = N_TRAIN;
        for (uint32_t i = 0; i < N_TRAIN; i++) {
            double ratio = (double)pair.train.ratio[i * 12 + 9 + (uint32_t)which];
            sum += ratio;
            square += ratio * ratio;
        }
        double mean = sum / n, deviation = sqrt(square / n - mean * mean);
        /* samples of a problem are alike: allow for a hundredth of them */
        assert_true(fabs(mean - wanted[which][0]) < 4 * wanted[which][1] / sqrt(n / 5));
        assert_true(fabs(deviation / wanted[which][1] - 1) < 0.08);
    }
}

static void test_threads_and_interruptions_change_no_byte(void **unused)
{
    (void)unused;
    struct mm_data_pair data;
    struct dse_error err = {0};
    uint64_t wanted = made(NULL, 1);
    assert_true(made(NULL, 2) == wanted && made(NULL, 7) == wanted);
    assert_int_equal(make(path, 2, 1, &data, &err), DSE_INTERRUPTED);
    assert_int_equal(access(part, F_OK), 0);
    assert_int_equal(make(path, 2, 40000, &data, &err), DSE_INTERRUPTED);
    assert_true(made(path, 2) == wanted);
    assert_int_not_equal(access(part, F_OK), 0);
    assert_int_equal(mm_data_read(&plan, path, &arena, &data, &err), DSE_OK);
    assert_true(mm_data_hash(&data) == wanted);
    plan.draws.seed = 4;
    assert_true(made(NULL, 2) != wanted);
}

static void refuse(const char *words)
{
    struct mm_data_pair data;
    struct dse_error err = {0};
    assert_int_equal(mm_data_read(&plan, path, &arena, &data, &err), DSE_BAD_INPUT);
    assert_string_equal(err.file, path);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in '%s'", words, err.text);
}

static void test_files_of_something_else_are_refused(void **unused)
{
    (void)unused;
    struct mm_data_pair data;
    const struct mm_problems other = {.algorithm = mttkrp.machine.algorithm};
    plan.n_train = 500;
    made(path, 2);
    plan.n_train = 200; /* fewer is fine: the first ones */
    assert_int_equal(mm_data_read(&plan, path, &arena, &data, NULL), DSE_OK);
    assert_true(data.train.n == 200 && data.test.n == N_TEST && data.train.n_each == 50);
    plan.n_train = 501;
    refuse("holds 500 samples, and 501 are asked for");
    plan.n_train = 500;
    plan.draws.mode = MM_MUSTFIT;
    refuse("data of mode autobypass, and mustfit is asked for");
    plan.draws.mode = MM_AUTOBYPASS;
    plan.problems = "resnet50";
    refuse("data of problems cnn, and resnet50 is asked for");
    plan.problems = "cnn";
    uint32_t given[1][MM_DIM_MAX] = {{1, 64, 64, 3, 3, 14, 14}};
    problems.n_given = 1;
    problems.given = given;
    refuse("data of another network cnn: its layers are others now");
    problems.n_given = 0;
    plan.draws.machine = &mttkrp.machine;
    plan.draws.problems = &other;
    refuse("data of algorithm cnn, and mttkrp is asked for");
}

/* One value replaced by hand; HDF5 takes the seal off, as it does for h5py. */
static void put(const char *name, hsize_t row, hsize_t column, double value)
{
    const hsize_t at[2] = {row, column}, one[2] = {1, 1};
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), dataset = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(2, one, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void test_cut_and_edited_files_are_refused(void **unused)
{
    (void)unused;
    plan.n_train = 500;
    made(path, 2);
    put("train_ratio", 7, 10, NAN);
    refuse("sample 7: cost 10 is nan");
    put("train_ratio", 7, 10, 0);
    refuse("sample 7: cost 10 is 0");
    put("train_ratio", 7, 10, 2);
    put("test_vector", 9, 7, 60000);
    refuse("sample 9: the factors do not multiply to the sizes");
    unlink(path);
    made(path, 2);
    assert_int_equal(truncate(path, 20000), 0);
    refuse("damaged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_samples_are_what_they_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_statistics_are_those_of_the_authors_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads_and_interruptions_change_no_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_of_something_else_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_and_edited_files_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
