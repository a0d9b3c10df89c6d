/* An arena for each test of a program: cmocka_unit_test_setup_teardown(TEST, set_up, tear_down). */
#ifndef TESTS_SUPPORT_ARENA_FIXTURE_H
#define TESTS_SUPPORT_ARENA_FIXTURE_H

#include "base/arena.h"

static struct arena arena;

static inline int set_up(void **unused)
{
    (void)unused;
    arena_init(&arena);
    return 0;
}

static inline int tear_down(void **unused)
{
    (void)unused;
    arena_free(&arena);
    return 0;
}

#endif
