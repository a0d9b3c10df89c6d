/* Products of float matrices by OpenBLAS, one thread a call, so that what comes out depends on the processor
 * (core) and on nothing else, and may be asked for by any number of threads at once. It is loaded when it is
 * asked for: it reserves 128 MiB of addresses a core, which a program that only searches may not have. */
#ifndef ENGINES_SEARCH_BLAS_H
#define ENGINES_SEARCH_BLAS_H

#include <gsl/gsl_cblas.h>
#include <gsl/gsl_matrix_float.h>

#include "base/status.h"

enum blas_turn { BLAS_AS_IS, BLAS_TRANSPOSED };

/* OpenBLAS's entries; of no use before blas_open. */
struct blas {
    void (*sgemm)(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE turn_a, enum CBLAS_TRANSPOSE turn_b, int n_row,
                  int n_column, int n_inner, float alpha, const float *a, int stride_a, const float *b,
                  int stride_b, float beta, float *c, int stride_c);
    int (*get_parallel)(void);
    int (*get_num_threads)(void);
    void (*set_num_threads)(int n);
    /* the kind of processor that products are made for ("Haswell", "SkylakeX"): those of one kind round
     * alike */
    char *(*core)(void);
};

/* Load OpenBLAS, which then stays. DSE_IO: it is not installed (the message names the package) or lacks an
 * entry. */
DSE_MUST_CHECK enum dse_status blas_open(struct blas *blas, struct dse_error *err);

/* c = a b + beta c, with a and b as they are or transposed. DSE_INTERNAL: the shapes do not fit. */
DSE_MUST_CHECK enum dse_status blas_product(const struct blas *blas, enum blas_turn turn_a,
                                            const gsl_matrix_float *a, enum blas_turn turn_b,
                                            const gsl_matrix_float *b, float beta, gsl_matrix_float *c,
                                            struct dse_error *err);

#endif
