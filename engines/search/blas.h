/* Products of float matrices: GSL's BLAS over OpenBLAS, one thread a call, so that what comes out depends on
 * the processor (blas_core) and on nothing else, and may be asked for by any number of threads at once. */
#ifndef ENGINES_SEARCH_BLAS_H
#define ENGINES_SEARCH_BLAS_H

#include <gsl/gsl_matrix_float.h>

#include "base/status.h"

enum blas_turn { BLAS_AS_IS, BLAS_TRANSPOSED };

/* c = a b + beta c, with a and b as they are or transposed. DSE_INTERNAL: the shapes do not fit. */
DSE_MUST_CHECK enum dse_status blas_product(enum blas_turn turn_a, const gsl_matrix_float *a,
                                            enum blas_turn turn_b, const gsl_matrix_float *b, float beta,
                                            gsl_matrix_float *c, struct dse_error *err);

/* The kind of processor that products are made for ("Haswell", "SkylakeX"): those of one kind round alike. */
const char *blas_core(void);

#endif
