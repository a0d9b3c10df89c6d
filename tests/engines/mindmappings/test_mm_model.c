/* A model comes back from its file as it was; what is cut, edited, or for something else is refused in one
 * sentence. Tests: mm_model.c, mm_model_file.c. */
#include <hdf5.h>
#include <hdf5_hl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/files.h"
#include "base/hdf5/hdf5_guard.h"
#include "tests/support/mm_fixture.h"
#include "tests/support/mm_model_case.h"

static struct arena arena;
static struct mm_model model;
static struct text_buffer bytes;
static char path[64];

static void load(void)
{
    text_clear(&bytes);
    assert_int_equal(data_file_append("", path + 1, &bytes, NULL), DSE_OK);
}

static void store(size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **unused)
{
    (void)unused;
    arena_init(&arena);
    text_init(&bytes);
    snprintf(path, sizeof path, "/tmp/test_mm_model_%ld.h5", (long)getpid());
    mm_model_case(&cnn.machine, MM_AUTOBYPASS, &arena, &model);
    assert_int_equal(mm_model_write(&model, path, NULL), DSE_OK);
    load();
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    unlink(path);
    text_free(&bytes);
    arena_free(&arena);
    return 0;
}

static enum dse_status read_it(const struct mm_model **is, struct dse_error *err)
{
    *err = (struct dse_error){0};
    return mm_model_read("cnn.h5", bytes.data, bytes.length, &arena, is, err);
}

static void test_it_comes_back(void **unused)
{
    (void)unused;
    const struct mm_model *is;
    struct dse_error err;
    assert_int_equal(read_it(&is, &err), DSE_OK);
    const struct mm_encoding *e = &is->encoding, *f = &model.encoding;
    assert_true(e->algorithm == f->algorithm && e->input == f->input && e->output == f->output);
    assert_memory_equal(e->input_mean, f->input_mean, 62 * sizeof(double));
    assert_memory_equal(e->input_deviation, f->input_deviation, 62 * sizeof(double));
    assert_memory_equal(e->output_mean, f->output_mean, 12 * sizeof(double));
    assert_memory_equal(e->output_deviation, f->output_deviation, 12 * sizeof(double));
    assert_true(is->mode == model.mode && is->machine == model.machine && is->data == 17);
    assert_string_equal(is->architecture, model.architecture);
    assert_string_equal(is->core, "Haswell");
    assert_true(is->n_sample == 1000 && is->n_net == 2);
    for (int i = 0; i < 2; i++) {
        const struct mm_net *a = &is->net[i], *b = &model.net[i];
        assert_true(a->seed == b->seed && a->n_epoch == 3 && a->mlp.n_parameter == b->mlp.n_parameter);
        assert_memory_equal(a->mlp.parameter, b->mlp.parameter, b->mlp.n_parameter * sizeof(float));
        assert_memory_equal(a->mlp.width, b->mlp.width, sizeof b->mlp.width);
        assert_memory_equal(a->test_loss, b->test_loss, 3 * sizeof(double));
        assert_memory_equal(&a->quality, &b->quality, sizeof b->quality);
    }
}

static void test_the_same_model_is_the_same_bytes(void **unused)
{
    (void)unused;
    struct text_buffer first = bytes;
    text_init(&bytes);
    sleep(1); /* a time in the file would be another now */
    assert_int_equal(mm_model_write(&model, path, NULL), DSE_OK);
    load();
    assert_int_equal(bytes.length, first.length);
    assert_memory_equal(bytes.data, first.data, first.length);
    text_free(&first);
}

static void refuse(const char *words)
{
    const struct mm_model *is;
    struct dse_error err;
    assert_int_equal(read_it(&is, &err), DSE_BAD_INPUT);
    assert_string_equal(err.file, "cnn.h5");
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in '%s'", words, err.text);
}

static void test_cut_and_edited_files_are_refused(void **unused)
{
    (void)unused;
    size_t n = bytes.length;
    for (size_t cut = 0; cut < n; cut += cut < 200 ? 7 : 4001) {
        bytes.length = cut;
        refuse(cut < 8 ? "not an HDF5 file" : "cut, edited or damaged");
    }
    bytes.length = n;
    for (size_t at = 8; at < n; at += 997) {
        bytes.data[at] ^= 1;
        refuse("cut, edited or damaged");
        bytes.data[at] ^= 1;
    }
    bytes.data[0] = 'x';
    refuse("not an HDF5 file");
}

/* Let `edit` loose on the file, and seal it again: HDF5 takes the seal off. */
static void edit(void (*how)(hid_t file))
{
    store(bytes.length);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    how(file);
    H5Fclose(file);
    assert_int_equal(hdf5_seal(path, 0, NULL), DSE_OK);
    load();
}

static void put_value(hid_t file, const char *name, double value)
{
    const hsize_t at[1] = {0}, one[1] = {1};
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    hid_t memory = H5Screate_simple(1, one, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void put_nan(hid_t file)
{
    put_value(file, "net_1/parameter", NAN);
}

static void put_flat(hid_t file)
{
    put_value(file, "output_deviation", 0);
}

static void put_wide(hid_t file)
{
    put_value(file, "net_0/width", 61);
}

static void drop_net(hid_t file)
{
    H5Ldelete(file, "net_1", H5P_DEFAULT);
}

static void drop_table(hid_t file)
{
    H5Ldelete(file, "input_mean", H5P_DEFAULT);
}

static void many_nets(hid_t file)
{
    const unsigned long n = 1000000000;
    H5LTset_attribute_ulong(file, "/", "n_net", &n, 1);
}

static void other_format(hid_t file)
{
    H5Adelete(file, "format");
}

static void test_what_makes_no_sense_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        void (*how)(hid_t file);
        const char *words;
    } fault[] = {
        {put_nan, "parameter 0 of a network is not finite"},
        {put_flat, "output_deviation: value 0 is not above 0"},
        {put_wide, "62 inputs"},
        {drop_net, "no group net_1"},
        {drop_table, "dataset input_mean is missing"},
        {many_nets, "1000000000 networks"},
        {other_format, "not a model of `dse train`"},
    };
    struct text_buffer good = bytes;
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        text_init(&bytes);
        text_append_bytes(&bytes, good.data, good.length);
        edit(fault[i].how);
        refuse(fault[i].words);
        text_free(&bytes);
    }
    bytes = good;
}

static void test_it_serves_what_it_was_trained_for(void **unused)
{
    (void)unused;
    struct dse_error err = {0};
    struct mm_case other;
    assert_int_equal(mm_model_check(&model, "cnn.h5", &cnn.machine, MM_AUTOBYPASS, &err), DSE_OK);
    assert_int_equal(mm_model_check(&model, "cnn.h5", &cnn.machine, MM_MUSTFIT, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "trained for mode autobypass, and this search has mode mustfit"));
    assert_int_equal(mm_model_check(&model, "cnn.h5", &mttkrp.machine, MM_AUTOBYPASS, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "trained for algorithm cnn, and this machine is for mttkrp"));
    mm_case_begin(&other, MM_CNN, (const char *[]){"InputBuffer.access_energy", "3 pJ"}, 1);
    assert_int_equal(mm_model_check(&model, "cnn.h5", &other.machine, MM_AUTOBYPASS, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "trained for another machine"));
    mm_case_end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_same_model_is_the_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_and_edited_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_makes_no_sense_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_serves_what_it_was_trained_for, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
