/* A sweep from the text of a specification. */
#ifndef TESTS_SUPPORT_SWEEP_CASE_H
#define TESTS_SUPPORT_SWEEP_CASE_H

#include "dse/spec/sweep.h"

struct sweep_case {
    struct sweep_spec spec;
    struct sweep sweep;
};

/* Read it by way of a temporary file, with `n_set` settings replaced as by --set. NULL with `err` when it is
 * refused; else the caller's, for sweep_case_close. */
struct sweep_case *sweep_case_open(const char *text, const char *const *set, size_t n_set,
                                   struct dse_error *err);

void sweep_case_close(struct sweep_case *opened);

#endif
