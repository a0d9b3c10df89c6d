/* Products by OpenBLAS: right, the same from many threads at once, and really its own, which nothing but
 * blas_open loads. */
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/search/blas.h"

enum { N = 97, N_THREAD = 8, N_TIME = 40 };

static struct blas blas;

static void fill(float *value, size_t n, uint64_t key)
{
    struct random_stream stream = random_stream_make(1, key, RANDOM_TEST);
    for (size_t i = 0; i < n; i++)
        value[i] = (float)(random_unit(&stream) - 0.5);
}

static gsl_matrix_float view(float *base, size_t n_row, size_t n_column)
{
    return gsl_matrix_float_view_array(base, n_row, n_column).matrix;
}

static void test_a_product_is_what_it_is_by_hand(void **unused)
{
    (void)unused;
    /* [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50]; of the transposed left one: [26 30; 38 44] */
    float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {1, 1, 1, 1};
    gsl_matrix_float left = view(a, 2, 2), right = view(b, 2, 2), out = view(c, 2, 2);
    assert_int_equal(blas_product(&blas, BLAS_AS_IS, &left, BLAS_AS_IS, &right, 0, &out, NULL), DSE_OK);
    assert_true(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
    assert_int_equal(blas_product(&blas, BLAS_TRANSPOSED, &left, BLAS_AS_IS, &right, 1, &out, NULL), DSE_OK);
    assert_true(c[0] == 45 && c[1] == 52 && c[2] == 81 && c[3] == 94);
    assert_int_equal(blas_product(&blas, BLAS_AS_IS, &left, BLAS_TRANSPOSED, &right, 0, &out, NULL), DSE_OK);
    assert_true(c[0] == 17 && c[1] == 23 && c[2] == 39 && c[3] == 53);
}

static void test_shapes_that_do_not_fit_are_told(void **unused)
{
    (void)unused;
    float a[6] = {0}, c[4];
    struct dse_error err = {0};
    gsl_matrix_float left = view(a, 2, 3), right = view(a, 2, 3), out = view(c, 2, 2);
    assert_int_equal(blas_product(&blas, BLAS_AS_IS, &left, BLAS_AS_IS, &right, 0, &out, &err), DSE_INTERNAL);
    assert_non_null(strstr(err.text, "shapes"));
}

/* The serial build of OpenBLAS without a lock fails this in about every second run. */
static void test_many_threads_get_the_same_bytes(void **unused)
{
    (void)unused;
    static float a[N * N], b[N * N], first[N * N];
    fill(a, N * N, 1);
    fill(b, N * N, 2);
    gsl_matrix_float left = view(a, N, N), right = view(b, N, N), out = view(first, N, N);
    assert_int_equal(blas_product(&blas, BLAS_AS_IS, &left, BLAS_AS_IS, &right, 0, &out, NULL), DSE_OK);
    for (size_t i = 0; i < N * N; i += N + 1) {
        double plain = 0;
        for (size_t k = 0; k < N; k++)
            plain += (double)a[i / N * N + k] * b[k * N + i % N];
        assert_true(fabs((double)first[i] - plain) <= 1e-5);
    }
    int n_other = 0;
#pragma omp parallel for num_threads(N_THREAD) schedule(dynamic, 1) reduction(+ : n_other)
    for (int t = 0; t < N_TIME; t++) {
        float own[N * N];
        gsl_matrix_float x = view(a, N, N), y = view(b, N, N), z = view(own, N, N);
        n_other += blas_product(&blas, BLAS_AS_IS, &x, BLAS_AS_IS, &y, 0, &z, NULL) != DSE_OK;
        n_other += memcmp(own, first, sizeof own) != 0;
    }
    assert_int_equal(n_other, 0);
}

static void test_callers_keep_their_number_of_threads(void **unused)
{
    (void)unused;
    float a[] = {1}, c[1];
    gsl_matrix_float one = view(a, 1, 1), out = view(c, 1, 1);
    omp_set_num_threads(5);
    assert_int_equal(blas_product(&blas, BLAS_AS_IS, &one, BLAS_AS_IS, &one, 0, &out, NULL), DSE_OK);
    assert_int_equal(omp_get_max_threads(), 5);
}

static void test_it_is_openblas_and_not_linked(void **unused)
{
    (void)unused;
    Dl_info from;
    void *entry;
    memcpy(&entry, &blas.sgemm, sizeof entry);
    assert_int_not_equal(dladdr(entry, &from), 0);
    assert_non_null(strstr(from.dli_fname, "openblas"));
    assert_true(strlen(blas.core()) > 0);
    assert_null(dlsym(RTLD_DEFAULT, "openblas_get_corename")); /* what the program is linked with */
}

static int open_it(void **unused)
{
    struct dse_error err;
    (void)unused;
    assert_null(dlopen("libopenblas.so.0", RTLD_NOLOAD | RTLD_LAZY));
    return blas_open(&blas, &err) == DSE_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_product_is_what_it_is_by_hand),
        cmocka_unit_test(test_shapes_that_do_not_fit_are_told),
        cmocka_unit_test(test_many_threads_get_the_same_bytes),
        cmocka_unit_test(test_callers_keep_their_number_of_threads),
        cmocka_unit_test(test_it_is_openblas_and_not_linked),
    };
    return cmocka_run_group_tests(tests, open_it, NULL);
}
