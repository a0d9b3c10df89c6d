/* Both of Mind Mappings' machines for all tests of a program: cmocka_run_group_tests(tests, begin, end). */
#ifndef TESTS_SUPPORT_MM_FIXTURE_H
#define TESTS_SUPPORT_MM_FIXTURE_H

#include "tests/support/mm_case.h"

static struct mm_case cnn, mttkrp;

static inline int begin(void **unused)
{
    (void)unused;
    mm_case_begin(&cnn, MM_CNN, NULL, 0);
    mm_case_begin(&mttkrp, MM_MTTKRP, NULL, 0);
    return 0;
}

static inline int end(void **unused)
{
    (void)unused;
    mm_case_end(&mttkrp);
    mm_case_end(&cnn);
    return 0;
}

#endif
