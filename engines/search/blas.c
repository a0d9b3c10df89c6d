/* Debian has three builds of OpenBLAS, which the system's administrator may exchange under the program. Each
 * is held to one thread a call in its own way. */
#include "engines/search/blas.h"

#include <gsl/gsl_blas.h>
#include <omp.h>

/* Of OpenBLAS's cblas.h, which cannot be included beside GSL's. */
extern int openblas_get_parallel(void);
extern int openblas_get_num_threads(void);
extern void openblas_set_num_threads(int n);
extern char *openblas_get_corename(void);

/* What openblas_get_parallel says. */
enum { BUILD_SERIAL, BUILD_PTHREAD, BUILD_OPENMP };

const char *blas_core(void)
{
    return openblas_get_corename();
}

static int product(enum blas_turn turn_a, const gsl_matrix_float *a, enum blas_turn turn_b,
                   const gsl_matrix_float *b, float beta, gsl_matrix_float *c)
{
    return gsl_blas_sgemm(turn_a == BLAS_AS_IS ? CblasNoTrans : CblasTrans,
                          turn_b == BLAS_AS_IS ? CblasNoTrans : CblasTrans, 1, a, b, beta, c);
}

enum dse_status blas_product(enum blas_turn turn_a, const gsl_matrix_float *a, enum blas_turn turn_b,
                             const gsl_matrix_float *b, float beta, gsl_matrix_float *c,
                             struct dse_error *err)
{
    int failed = 0, build = openblas_get_parallel();
    if (build == BUILD_SERIAL) {
        /* It keeps its buffers without a lock: called from several threads at once it gives wrong
         * products. */
#pragma omp critical
        failed = product(turn_a, a, turn_b, b, beta, c);
    } else if (build == BUILD_OPENMP) {
        /* It takes as many threads as the caller's next parallel region would. */
        int n_thread = omp_get_max_threads();
        omp_set_num_threads(1);
        failed = product(turn_a, a, turn_b, b, beta, c);
        omp_set_num_threads(n_thread);
    } else {
        if (openblas_get_num_threads() != 1)
            openblas_set_num_threads(1);
        failed = product(turn_a, a, turn_b, b, beta, c);
    }
    return failed ? dse_fail(err, DSE_INTERNAL, "a product of matrices whose shapes do not fit") : DSE_OK;
}
