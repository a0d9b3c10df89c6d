/* All spreads of random cases come, each once; of mirror images one, with the same bound as the others; and
 * what is not worth while is left out with all that continues it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/optimal/optimal_price.h"
#include "engines/optimal/optimal_spreads.h"
#include "tests/engines/optimal/optimal_case.h"

enum { CASES = 400, SPREAD_MAX = 20000 };

struct listed {
    uint32_t n;
    struct optimal_spread spread[SPREAD_MAX]; /* (n) */
    double quick[SPREAD_MAX];                 /* (n) */
};

static void new_model(const struct problem *problem, const struct architecture *arch, struct arena *arena,
                      struct optimal_model *out)
{
    struct dse_error err;
    arena_reset(arena);
    assert_int_equal(optimal_model_new(problem, arch, NULL, arena, out, &err), DSE_OK);
}

static bool has_all_at_most_2(void *self, const struct optimal_spread *spread, uint32_t l,
                              const uint32_t *left)
{
    const struct optimal_model *model = self;
    for (uint32_t i = 0; i < model->arch->n_level; i++)
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            if ((i < l && spread->factor[i][d] != 1) || left[d] > model->problem->bound[d])
                fail_msg("level %u is asked about before its turn", i);
            else if (spread->factor[i][d] > 2)
                return false;
    return true;
}

/* `mirror`: as the engine lists them; `few`: those without a factor above 2. */
static void list_all(struct optimal_model *model, bool mirror, bool few, struct listed *out)
{
    struct optimal_price price[OPTIMAL_PRICE_MAX];
    struct optimal_spreads spreads;
    struct dse_error err;
    uint16_t place[ARCH_LEVEL_MAX];
    bool over;
    out->n = 0;
    optimal_prices(model->arch, price);
    assert_int_equal(optimal_spreads_init(&spreads, model, &err), DSE_OK);
    if (mirror)
        optimal_spreads_mirror(&spreads);
    spreads.worth = few ? has_all_at_most_2 : NULL;
    spreads.self = model;
    struct optimal_spread at, got;
    while (out->n < SPREAD_MAX && optimal_spreads_next(&spreads, UINT32_MAX, &at, place, &over)) {
        optimal_spreads_get(&spreads, place, &got);
        assert_memory_equal(got.factor, at.factor, model->arch->n_level * sizeof at.factor[0]);
        out->quick[out->n] = optimal_quick_price(model, &at, price[0]);
        out->spread[out->n++] = at;
    }
    assert_true(out->n < SPREAD_MAX);
    optimal_spreads_free(&spreads);
}

/* Products of the factors of the levels from l on that divide the bounds and fit the arrays, without listing
 * them: for arrays of one side. */
static uint64_t count_all(const struct optimal_model *model, uint32_t l, uint32_t d, uint64_t room,
                          uint32_t *left)
{
    uint64_t n = 0, x, y;
    if (l == model->arch->n_level)
        return 1;
    if (d == model->problem->n_dim) {
        if (l + 1 < model->arch->n_level)
            architecture_fanout(model->arch, l + 1, &x, &y);
        return count_all(model, l + 1, 0, l + 1 < model->arch->n_level ? x * y : 0, left);
    }
    const uint32_t whole = left[d];
    for (uint32_t f = 1; f <= whole && f <= room; f++) {
        left[d] = whole / f;
        n += whole % f == 0 ? count_all(model, l, d + 1, room / f, left) : 0;
    }
    left[d] = whole;
    return n;
}

static bool has_one_side(const struct architecture *arch)
{
    uint64_t x, y;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        architecture_fanout(arch, l, &x, &y);
        if (x > 1 && y > 1)
            return false;
    }
    return true;
}

static bool in_list(const struct listed *list, const struct optimal_model *model,
                    const struct optimal_spread *spread)
{
    for (uint32_t i = 0; i < list->n; i++) {
        bool same = true;
        for (uint32_t l = 0; same && l < model->arch->n_level; l++)
            same = memcmp(list->spread[i].factor[l], spread->factor[l],
                          model->problem->n_dim * sizeof spread->factor[0][0]) == 0;
        if (same)
            return true;
    }
    return false;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void test_all_spreads_come(void **state)
{
    (void)state;
    struct listed *all = malloc(sizeof *all), *few = malloc(sizeof *few), *first = malloc(sizeof *first);
    uint32_t n_side = 0, n_fewer = 0;
    struct arena arena;
    arena_init(&arena);
    assert_true(all && few && first);
    for (uint64_t i = 0; i < CASES; i++) {
        struct problem problem;
        struct architecture arch;
        struct optimal_model model;
        uint32_t left[PROBLEM_DIM_MAX], n = 0;
        uint64_t x, y;
        optimal_case(i, 96, &problem, &arch);
        if (i % 2)
            optimal_case_square(&problem);
        new_model(&problem, &arch, &arena, &model);
        list_all(&model, false, false, all);
        list_all(&model, false, true, few);
        list_all(&model, true, false, first);
        memcpy(left, problem.bound, sizeof left);
        architecture_fanout(&arch, 0, &x, &y);
        if (has_one_side(&arch)) {
            assert_int_equal(all->n, count_all(&model, 0, 0, x * y, left));
            n_side++;
        }
        for (uint32_t k = 0; k < all->n; k++) {
            bool small = true;
            for (uint32_t l = 0; l < arch.n_level; l++)
                for (uint32_t d = 0; d < problem.n_dim; d++)
                    small = small && all->spread[k].factor[l][d] <= 2;
            n += small;
            if (small && k < 50)
                assert_true(in_list(few, &model, &all->spread[k]));
        }
        assert_int_equal(n, few->n);
        /* Every cost that some spread has is that of one which comes. */
        n_fewer += first->n < all->n;
        qsort(all->quick, all->n, sizeof all->quick[0], by_value);
        qsort(first->quick, first->n, sizeof first->quick[0], by_value);
        for (uint32_t k = 0, m = 0; k < all->n; k++) {
            while (m < first->n && first->quick[m] < all->quick[k] * (1 - 1e-12))
                m++;
            if (m == first->n || first->quick[m] > all->quick[k] * (1 + 1e-12))
                fail_msg("case %u: %.17g J is not there", (unsigned)i, all->quick[k]);
        }
    }
    assert_true(n_side > CASES / 10);
    assert_true(n_fewer > CASES / 60);
    arena_free(&arena);
    free(all);
    free(few);
    free(first);
}

/* Rows and columns of a square layer, with those of its filter: each pair of spreads that differ is one. */
static void test_a_square_layer_has_half(void **state)
{
    (void)state;
    struct listed *all = malloc(sizeof *all), *first = malloc(sizeof *first);
    struct architecture arch;
    struct optimal_model model;
    struct problem problem;
    uint32_t own = 0;
    struct arena arena;
    arena_init(&arena);
    assert_true(all && first);
    /* The first case with a square layer: dimensions P, Q and R, S of equal bounds above 1. */
    for (uint64_t i = 0;; i++) {
        optimal_case(i, 96, &problem, &arch);
        new_model(&problem, &arch, &arena, &model);
        const int p = problem_find_dim(&problem, "P"), q = problem_find_dim(&problem, "Q");
        const int r = problem_find_dim(&problem, "R"), s = problem_find_dim(&problem, "S");
        if (p < 0 || q < 0 || r < 0 || s < 0 || problem.bound[p] != problem.bound[q] ||
            problem.bound[r] != problem.bound[s] || problem.bound[p] == 1 || problem.bound[r] == 1)
            continue;
        list_all(&model, true, false, first);
        list_all(&model, false, false, all);
        if (first->n == all->n || first->n < 4)
            continue;
        for (uint32_t k = 0; k < all->n; k++) {
            bool same = true;
            for (uint32_t l = 0; l < arch.n_level; l++)
                same = same && all->spread[k].factor[l][p] == all->spread[k].factor[l][q] &&
                       all->spread[k].factor[l][r] == all->spread[k].factor[l][s];
            own += same;
        }
        break;
    }
    assert_int_equal(2 * first->n, all->n + own);
    arena_free(&arena);
    free(all);
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_spreads_come),
        cmocka_unit_test(test_a_square_layer_has_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
