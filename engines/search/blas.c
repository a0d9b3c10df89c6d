/* Debian has three builds of OpenBLAS, which the system's administrator may exchange under the program. Each
 * is held to one thread a call in its own way. */
#include "engines/search/blas.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

/* What openblas_get_parallel says. */
enum { BUILD_SERIAL, BUILD_PTHREAD, BUILD_OPENMP };

static const char library_name[] = "libopenblas.so.0";

enum dse_status blas_open(struct blas *blas, struct dse_error *err)
{
    const struct {
        const char *name;
        void *to; /* a pointer to a function, as POSIX has dlsym give it */
    } entry[] = {
        {"cblas_sgemm", &blas->sgemm},
        {"openblas_get_parallel", &blas->get_parallel},
        {"openblas_get_num_threads", &blas->get_num_threads},
        {"openblas_set_num_threads", &blas->set_num_threads},
        {"openblas_get_corename", &blas->core},
    };
    /* Its threads and buffers would not survive to be unloaded: it is not closed. */
    void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return dse_fail(err, DSE_IO,
                        "OpenBLAS, which neural networks need, cannot be loaded (%s): apt-get install "
                        "libopenblas0-openmp",
                        dlerror());
    for (size_t i = 0; i < sizeof entry / sizeof entry[0]; i++) {
        void *found = dlsym(library, entry[i].name);
        if (!found)
            return dse_fail(err, DSE_IO, "%s is no OpenBLAS: it has no %s", library_name, entry[i].name);
        memcpy(entry[i].to, &found, sizeof found);
    }
    return DSE_OK;
}

static void product(const struct blas *blas, enum blas_turn turn_a, const gsl_matrix_float *a,
                    enum blas_turn turn_b, const gsl_matrix_float *b, float beta, gsl_matrix_float *c)
{
    const size_t n_inner = turn_a == BLAS_AS_IS ? a->size2 : a->size1;
    blas->sgemm(CblasRowMajor, turn_a == BLAS_AS_IS ? CblasNoTrans : CblasTrans,
                turn_b == BLAS_AS_IS ? CblasNoTrans : CblasTrans, (int)c->size1, (int)c->size2, (int)n_inner,
                1, a->data, (int)a->tda, b->data, (int)b->tda, beta, c->data, (int)c->tda);
}

static bool is_product(enum blas_turn turn_a, const gsl_matrix_float *a, enum blas_turn turn_b,
                       const gsl_matrix_float *b, const gsl_matrix_float *c)
{
    const size_t row_a = turn_a == BLAS_AS_IS ? a->size1 : a->size2, inner_a = a->size1 + a->size2 - row_a;
    const size_t inner_b = turn_b == BLAS_AS_IS ? b->size1 : b->size2,
                 column_b = b->size1 + b->size2 - inner_b;
    return row_a == c->size1 && column_b == c->size2 && inner_a == inner_b;
}

enum dse_status blas_product(const struct blas *blas, enum blas_turn turn_a, const gsl_matrix_float *a,
                             enum blas_turn turn_b, const gsl_matrix_float *b, float beta,
                             gsl_matrix_float *c, struct dse_error *err)
{
    if (!is_product(turn_a, a, turn_b, b, c))
        return dse_fail(err, DSE_INTERNAL, "a product of matrices whose shapes do not fit");
    const int build = blas->get_parallel();
    if (build == BUILD_SERIAL) {
        /* It keeps its buffers without a lock: called from several threads at once it gives wrong
         * products. */
#pragma omp critical
        product(blas, turn_a, a, turn_b, b, beta, c);
    } else if (build == BUILD_OPENMP) {
        /* It takes as many threads as the caller's next parallel region would. */
        int n_thread = omp_get_max_threads();
        omp_set_num_threads(1);
        product(blas, turn_a, a, turn_b, b, beta, c);
        omp_set_num_threads(n_thread);
    } else {
        if (blas->get_num_threads() != 1)
            blas->set_num_threads(1);
        product(blas, turn_a, a, turn_b, b, beta, c);
    }
    return DSE_OK;
}
