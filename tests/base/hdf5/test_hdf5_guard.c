/* The seal of result files and the trial of those that have none. The damage that HDF5 1.10 does not survive
 * was found by changing each byte of a small file: the size of the first text in its heap of texts ("GCOL":
 * 16 bytes of header, then per text 8 bytes and its size; HDF5 File Format Specification, section III.E).
 * Tests: hdf5_trial.c, hdf5_file.c, hdf5_read.c. */
#include "tests/results/files.h"

#include <sys/stat.h>

#include "base/hash.h"
#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/hdf5/hdf5_read.h"

enum {
    FILE_MAX_BYTE = 1 << 16,
    SEAL_BYTE = 64,
    HEAP_FIRST_SIZE = 24 /* little-endian, 8 bytes */,
    TRIAL_S = 1
};

static char folder[512], path[600];

/* The file in memory. */
struct image {
    size_t n;
    char byte[FILE_MAX_BYTE];
};

static void load(struct image *image)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    image->n = fread(image->byte, 1, sizeof image->byte, file);
    assert_true(image->n > 0 && image->n < sizeof image->byte);
    assert_int_equal(fclose(file), 0);
}

static void store(const struct image *image, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image->byte, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Three texts and three numbers, one of them chunked and compressed, as a cube has them. */
static void make(struct image *image)
{
    static const char *const word[] = {"ok", "ok", "timeout"};
    static const double number[] = {1, 2, 3};
    const hsize_t n = 3;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), type = hdf5_text_type(),
          space = H5Screate_simple(1, &n, NULL);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(file >= 0 && type >= 0 && space >= 0 && list >= 0);
    assert_true(H5Pset_chunk(list, 1, &n) >= 0 && H5Pset_deflate(list, 4) >= 0);
    hid_t text = H5Dcreate2(file, "status", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t value = H5Dcreate2(file, "energy_j", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Dwrite(text, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, word) >= 0);
    assert_true(H5Dwrite(value, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) >= 0);
    assert_true(hdf5_put_text(file, "specification", "name: sample") >= 0);
    H5Dclose(text);
    H5Dclose(value);
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(type);
    assert_true(H5Fclose(file) >= 0);
    load(image);
}

static struct image image; /* per test, too large for a stack */

static void check_is(enum dse_status wanted, const char *words)
{
    struct dse_error err = {0};
    enum dse_status status = hdf5_check_within(path, TRIAL_S, "write it again", &err);
    if (status != wanted || (status != DSE_OK && !strstr(err.text, words)))
        print_error("status %d (%s) instead of %d (%s)\n", status, err.text, wanted, words);
    assert_int_equal(status, wanted);
    if (status != DSE_OK)
        assert_non_null(strstr(err.text, words));
}

static void test_hdf5_guard_seal_is_the_hash_of_the_bytes_before_it(void **state)
{
    (void)state;
    struct dse_error err;
    char line[SEAL_BYTE + 1];
    make(&image);
    size_t n = image.n;
    snprintf(line, sizeof line, "\nsealed by dse %016zx bytes, XXH3-64 %016llx\n", n,
             (unsigned long long)hash_of_bytes(image.byte, n));
    for (int twice = 0; twice < 2; twice++) { /* the second time changes nothing */
        assert_int_equal(hdf5_seal(path, 0, &err), DSE_OK);
        load(&image);
        assert_int_equal(image.n, n + SEAL_BYTE);
        assert_memory_equal(image.byte + n, line, SEAL_BYTE);
    }
    check_is(DSE_OK, "");
}

static void test_hdf5_guard_every_changed_byte_of_a_sealed_file_is_found(void **state)
{
    (void)state;
    struct dse_error err;
    make(&image);
    size_t n = image.n;
    assert_int_equal(hdf5_seal(path, 0, &err), DSE_OK);
    load(&image);
    for (size_t i = 8; i < n; i += 7) { /* the first 8 say that it is HDF5 */
        image.byte[i] = (char)(image.byte[i] ^ 0x10);
        store(&image, image.n);
        check_is(DSE_BAD_INPUT, "not those that were written");
        image.byte[i] = (char)(image.byte[i] ^ 0x10);
    }
    image.byte[3] = 'G';
    store(&image, image.n);
    check_is(DSE_BAD_INPUT, "not an HDF5 file");
}

static void test_hdf5_guard_files_without_a_seal_are_tried(void **state)
{
    (void)state;
    make(&image);
    check_is(DSE_OK, "");
    hid_t file;
    struct dse_error err;
    assert_int_equal(hdf5_open_checked(path, "", &file, &err), DSE_OK);
    assert_true(H5Fclose(file) >= 0);
}

static void test_hdf5_guard_edits_by_hdf5_drop_the_seal(void **state)
{
    (void)state;
    struct dse_error err;
    make(&image);
    size_t n = image.n;
    assert_int_equal(hdf5_seal(path, 0, &err), DSE_OK);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(hdf5_put_text(file, "note", "by hand") >= 0);
    assert_true(H5Fclose(file) >= 0);
    load(&image);
    assert_true(image.n >= n);
    assert_null(memmem(image.byte, image.n, "\nsealed by dse ", 15));
    check_is(DSE_OK, "");
}

static void test_hdf5_guard_survives_what_hdf5_does_not(void **state)
{
    (void)state;
    make(&image);
    char *heap = memmem(image.byte, image.n, "GCOL", 4);
    assert_non_null(heap);
    heap[HEAP_FIRST_SIZE + 1] = 8; /* a text of 2 KiB, which ends within the heap */
    store(&image, image.n);
    check_is(DSE_BAD_INPUT, "damaged: the HDF5 library does not end on ");
    heap[HEAP_FIRST_SIZE + 1] = 0;
    heap[HEAP_FIRST_SIZE + 2] = 8; /* of 512 KiB, which does not */
    store(&image, image.n);
    check_is(DSE_BAD_INPUT,
             "damaged: "); /* the library crashes, where what it reads behind the heap is not mapped */
}

/* Found by fuzz_cube: HDF5 writes all values of an attribute, however many are asked for. */
static void test_hdf5_read_count_takes_one_whole_number_only(void **state)
{
    (void)state;
    static const uint64_t four[] = {7, 8, 9, 10};
    static const double real = 7;
    make(&image);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(hdf5_put_attribute(file, "one", H5T_NATIVE_UINT64, four, 0) >= 0);
    assert_true(hdf5_put_attribute(file, "four", H5T_NATIVE_UINT64, four, 4) >= 0);
    assert_true(hdf5_put_attribute(file, "real", H5T_NATIVE_DOUBLE, &real, 0) >= 0);
    assert_int_equal(hdf5_read_count(file, "one"), 7);
    assert_int_equal(hdf5_read_count(file, "four"), 0);
    assert_int_equal(hdf5_read_count(file, "real"), 0);
    assert_int_equal(hdf5_read_count(file, "specification"), 0);
    assert_int_equal(hdf5_read_count(file, "none"), 0);
    assert_true(H5Fclose(file) >= 0);
}

/* Found by fuzz_cube: a dataset of 2^40 numbers that holds none takes no room in the file, and 8 TiB of
 * memory. */
static void test_hdf5_read_dataset_asks_for_no_memory_that_the_file_cannot_fill(void **state)
{
    (void)state;
    const hsize_t n = (hsize_t)1 << 40, chunk = 1024;
    const char **text;
    double *number;
    size_t n_read;
    struct arena arena;
    struct dse_error err = {0};
    make(&image);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(1, &n, NULL);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(file >= 0 && space >= 0 && list >= 0 && H5Pset_chunk(list, 1, &chunk) >= 0);
    hid_t dataset = H5Dcreate2(file, "long", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    arena_init(&arena);
    assert_int_equal(hdf5_read_dataset(dataset, &arena, &text, &number, &n_read, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "longer than what the file holds"));
    arena_free(&arena);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
    check_is(DSE_OK, ""); /* it is sound HDF5, and the trial does not read it either */
}

static void test_hdf5_guard_cut_files_are_refused(void **state)
{
    (void)state;
    struct dse_error err;
    make(&image);
    assert_int_equal(hdf5_seal(path, 0, &err), DSE_OK);
    load(&image);
    store(&image, 0);
    check_is(DSE_BAD_INPUT, "it is empty");
    for (size_t n = 8; n < image.n - SEAL_BYTE; n += image.n / 40) {
        store(&image, n);
        check_is(DSE_BAD_INPUT, "damaged: HDF5 cannot open it");
    }
    store(&image, image.n - 1); /* a cut seal is none */
    check_is(DSE_OK, "");
}

static void test_hdf5_guard_other_kinds_of_file_do_not_hang(void **state)
{
    (void)state;
    struct dse_error err;
    assert_int_equal(unlink(path), 0);
    check_is(DSE_IO, "No such file");
    assert_int_equal(mkfifo(path, 0600), 0);
    check_is(DSE_BAD_INPUT, "not a regular file");
    assert_int_equal(hdf5_seal(path, 0, &err), DSE_BAD_INPUT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(hdf5_check("/dev/zero", "", &err), DSE_BAD_INPUT);
    assert_int_equal(hdf5_check(folder, "", &err), DSE_BAD_INPUT);
}

static int make_folder(void **state)
{
    (void)state;
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "t.h5");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hdf5_guard_seal_is_the_hash_of_the_bytes_before_it),
        cmocka_unit_test(test_hdf5_guard_every_changed_byte_of_a_sealed_file_is_found),
        cmocka_unit_test(test_hdf5_guard_files_without_a_seal_are_tried),
        cmocka_unit_test(test_hdf5_guard_edits_by_hdf5_drop_the_seal),
        cmocka_unit_test(test_hdf5_guard_survives_what_hdf5_does_not),
        cmocka_unit_test(test_hdf5_read_count_takes_one_whole_number_only),
        cmocka_unit_test(test_hdf5_read_dataset_asks_for_no_memory_that_the_file_cannot_fill),
        cmocka_unit_test(test_hdf5_guard_cut_files_are_refused),
        cmocka_unit_test(test_hdf5_guard_other_kinds_of_file_do_not_hang),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
