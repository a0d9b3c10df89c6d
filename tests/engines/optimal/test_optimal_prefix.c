/* Bounds of prefixes on random cases: none is above the quick bound of a spread that continues it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/optimal/optimal_prefix.h"
#include "engines/optimal/optimal_price.h"
#include "tests/engines/optimal/optimal_case.h"

#ifndef OPTIMAL_CASES
#define OPTIMAL_CASES 1500
#endif

enum { SPREADS = 150 };

/* The outer levels of a spread down to `next`, and nothing spread further in. */
static void check_prefix(const struct optimal_prefixes *prefixes, const struct optimal_spread *whole,
                         int next, double quick, uint64_t i)
{
    const struct optimal_model *model = prefixes->model;
    struct optimal_spread spread = *whole;
    double left[PROBLEM_DIM_MAX];
    double energy = 0;
    for (int l = 0; l <= next; l++)
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            spread.factor[l][d] = 1;
    optimal_spread_complete(model, &spread);
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        left[d] = model->problem->bound[d];
    for (int top = (int)model->arch->n_level;;) { /* from the outermost level inwards */
        const int bottom = prefixes->next[top];
        energy += optimal_prefix_events(prefixes, &spread, left, next, bottom, top);
        if (bottom <= next)
            break;
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            left[d] /= spread.factor[bottom][d];
        top = bottom;
    }
    energy += optimal_prefix_events(prefixes, &spread, left, next, 0, next) +
              optimal_prefix_fixed(prefixes, &spread, left, next);
    const double cycles = optimal_prefix_cycles(prefixes, &spread, next);
    if (!(energy <= quick * (1 + 1e-12)) || !(cycles <= whole->cycles * (1 + 1e-12)))
        fail_msg("case %llu, down to level %d: %.17g J and %.17g cycles for a spread of %.17g J and %.17g",
                 (unsigned long long)i, next, energy, cycles, quick, whole->cycles);
}

static void test_no_prefix_is_above_its_spreads(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    for (uint64_t i = 0; i < OPTIMAL_CASES; i++) {
        struct problem problem;
        struct architecture arch;
        struct optimal_model model;
        struct optimal_spreads spreads;
        struct optimal_prefixes prefixes;
        struct optimal_spread spread;
        struct optimal_price price[OPTIMAL_PRICE_MAX]; /* energy first */
        struct dse_error err;
        uint16_t place[ARCH_LEVEL_MAX];
        bool over;
        optimal_case(i, 96, &problem, &arch);
        arena_reset(&arena);
        assert_int_equal(optimal_model_new(&problem, &arch, NULL, &arena, &model, &err), DSE_OK);
        assert_int_equal(optimal_spreads_init(&spreads, &model, &err), DSE_OK);
        optimal_prefixes_init(&model, &spreads, &prefixes);
        optimal_prices(&arch, price);
        for (uint32_t n = 0; n < SPREADS; n++) {
            if (!optimal_spreads_next(&spreads, UINT32_MAX, &spread, place, &over))
                break;
            optimal_spread_complete(&model, &spread);
            const double quick = optimal_quick_price(&model, &spread, price[0]);
            for (int next = prefixes.next[arch.n_level];; next = prefixes.next[next]) {
                check_prefix(&prefixes, &spread, next, quick, i);
                if (next < 0)
                    break;
            }
        }
        optimal_spreads_free(&spreads);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_prefix_is_above_its_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
