/* The paper's form against an oracle that shares no code with it: on random machines and small random
 * problems, with random settings and constraints, every assignment of primes to places that keeps the rows of
 * docs/cosa.md is priced, with every order of the permutation level, by the formulas of that page; the
 * cheapest must be the model's optimum (infeasible where nothing keeps the rows), with and without the rows
 * that only speed the solve up. The terms of the cheapest mapping must be the same, too.
 * Tests: model.c, rows.c, relations.c, choice.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/cosa/formulation.h"
#include "tests/engines/cosa/oracle.h"
#include "tests/support/random_case.h"

enum { N_CASE = 250 };

/* ---------------------------------------- random cases */

static bool list_primes(struct oracle *o)
{
    o->n_prime = 0;
    for (uint32_t d = 0; d < o->problem.n_dim; d++)
        for (uint32_t rest = o->problem.bound[d], p = 2; rest > 1; p++)
            for (; rest % p == 0; rest /= p) {
                if (o->n_prime == PRIME_MAX)
                    return false;
                o->dim[o->n_prime] = d;
                o->prime[o->n_prime++] = p;
            }
    return o->n_prime > 0;
}

static void draw_problem(struct random_stream *stream, struct oracle *o)
{
    static const char *const letters[] = {"RPCK", "RSPQK", "MNK", "IJKL", "BMNK", "RPQCN"};
    static const uint32_t bounds[] = {1, 2, 2, 3, 4, 3, 5, 6, 7, 4, 9, 8};
    uint32_t kind = random_below(stream, 6), bound[DIM_MAX];
    char input[32];
    do {
        for (uint32_t d = 0; d < DIM_MAX; d++)
            bound[d] = bounds[random_below(stream, 12)];
        if (kind == 5)
            bound[2] = bound[1]; /* P = Q */
        random_case_dims(&o->problem, letters[kind], letters[kind], bound);
    } while (!list_primes(o));
    unsigned stride = 1 + random_below(stream, 3), dilation = 1 + random_below(stream, 2);
    bool window = kind < 2 || kind == 5;
    if (kind == 0)
        (void)snprintf(input, sizeof input, "C P*%u+R*%u", stride, dilation);
    else if (kind == 1)
        (void)snprintf(input, sizeof input, "P*%u+R*%u Q*%u+S", stride, dilation, stride);
    else
        (void)snprintf(input, sizeof input, "N C P*%u+R*%u Q*%u", stride, dilation, stride);
    static const char *const operand[][3] = {
        {"C K R"}, {"K R S"}, {"M K", "K N"}, {"I K L", "K J", "L J"}, {"B M K", "B K N"}, {"C R"}};
    static const char *const output[] = {"K P", "K P Q", "M N", "I J", "B M N", "N C P Q"};
    for (uint32_t i = 0; i < 3 && operand[kind][i]; i++)
        random_case_tensor(&o->problem, i ? "B" : "A", i ? TENSOR_INPUT : TENSOR_WEIGHT, operand[kind][i]);
    if (window)
        random_case_tensor(&o->problem, "Inputs", TENSOR_INPUT, input);
    random_case_tensor(&o->problem, "Outputs", TENSOR_OUTPUT, output[kind]);
}

static double scaled(struct random_stream *stream, double value)
{
    static const double by[] = {0, 0.1, 0.5, 1, 1, 2, 10, 1000};
    return value * by[random_below(stream, 8)];
}

static void draw_settings(struct random_stream *stream, struct oracle *o)
{
    struct cosa_settings *s = &o->settings;
    cosa_settings_init(s);
    s->limits.relative_gap = 0;
    s->halo = (enum cosa_halo)random_below(stream, 4);
    if (random_below(stream, 2)) {
        s->weight_util = scaled(stream, 0.5);
        s->weight_comp = scaled(stream, 2);
        s->weight_traf = scaled(stream, 2);
        s->inner_factor = scaled(stream, 0.8);
        s->spatial_factor = scaled(stream, 1);
        s->util_weight_factor = scaled(stream, 1);
        s->spatial_related_only = random_below(stream, 2);
        for (int role = 0; role < TENSOR_ROLE_COUNT; role++) {
            s->outer_factor[role] = scaled(stream, 1);
            s->share[role] = 0.05 + scaled(stream, 0.5);
        }
    }
    if (random_below(stream, 5) == 0)
        s->permutation_level = (int)random_below(stream, o->arch.n_level);
    if (!o->constrained && random_below(stream, 5) == 0)
        s->stationary = (int)random_below(stream, o->problem.n_tensor);
}

static void draw_constraints(struct random_stream *stream, struct oracle *o)
{
    uint32_t n = o->constrained ? 1 + random_below(stream, 3) : 0;
    mapspace_constraints_init(&o->constraints, &o->problem, &o->arch);
    while (n--) {
        uint32_t l = random_below(stream, o->arch.n_level), d = random_below(stream, o->problem.n_dim);
        struct level_constraints *c = &o->constraints.level[l];
        struct loop_constraints *loops = random_below(stream, 2) ? &c->temporal : &c->spatial;
        switch (random_below(stream, 6)) {
        case 0:
            loops->fixed[d] = 1 + random_below(stream, 3);
            break;
        case 1:
            loops->highest[d] = 1 + random_below(stream, 4);
            break;
        case 2:
            c->dims_x &= ~(1u << d);
            break;
        case 3:
            c->dims_y &= ~(1u << d);
            break;
        case 4:
            if (l < o->arch.n_level - 1)
                c->bypass |= 1u << random_below(stream, o->problem.n_tensor);
            break;
        default: /* two loops innermost */
            c->temporal.n_order = 2;
            c->temporal.order[0] = (uint8_t)d;
            c->temporal.order[1] = (uint8_t)((d + 1) % o->problem.n_dim);
        }
    }
}

static void check_model(const struct oracle *o, uint32_t number, bool plain)
{
    struct arena arena;
    struct cosa_shape shape;
    struct milp_result result;
    struct dse_error err;
    arena_init(&arena);
    struct cosa_model *model = arena_alloc(&arena, 1, sizeof *model);
    assert_non_null(model);
    cosa_shape_init(&shape, &o->problem, &o->arch, o->constrained ? &o->constraints : NULL, &o->settings);
    assert_int_equal(cosa_model_build(model, &shape, &o->settings, o->settings.halo, plain, &arena, &err),
                     DSE_OK);
    if (milp_solve(model->milp, &o->settings.limits, &arena, &result, &err) != DSE_OK)
        fail_msg("case %u: %s", number, err.text);
    double found = result.status == MILP_OPTIMAL ? result.objective : INFINITY;
    if (found != o->best && !(fabs(found - o->best) <= 1e-6 * fmax(1, fabs(o->best))))
        fail_msg("case %u, %s: the model is %s with %.10g, the oracle says %.10g", number, o->problem.name,
                 milp_status_text(result.status), found, o->best);
    arena_free(&arena);
}

static void check_cases(bool constrained, uint32_t *n_infeasible)
{
    const struct random_case_options options = {.limits = true, .roles = true};
    *n_infeasible = 0;
    for (uint32_t number = 0; number < N_CASE; number++) {
        struct random_stream stream = random_stream_make(23 + constrained, number, RANDOM_TEST);
        struct oracle o = {.constrained = constrained};
        struct cosa_terms terms;
        random_case_architecture(&stream, &options, &o.arch);
        for (uint32_t l = 0; l + 1 < o.arch.n_level; l++)
            if (random_below(&stream, 2))
                o.arch.level[l].size_word = 1 + random_below(&stream, l ? 60 : 12);
        draw_problem(&stream, &o);
        draw_settings(&stream, &o);
        draw_constraints(&stream, &o);
        oracle_search(&o);
        check_model(&o, number, false);
        check_model(&o, number, true);
        *n_infeasible += isinf(o.best) ? 1 : 0;
        if (isinf(o.best) || o.settings.stationary >= 0 || o.constraints.level[o.inner].temporal.n_order)
            continue; /* the terms know the loops that are there, not those that could be */
        cosa_terms_of(&o.problem, &o.arch, &o.settings, &o.best_mapping, &terms);
        if (!(fabs(terms.objective - o.best) <= 1e-7 * fmax(1, fabs(o.best))))
            fail_msg("case %u: terms of %.10g, the oracle says %.10g", number, terms.objective, o.best);
    }
}

static void test_model_is_the_oracle(void **state)
{
    (void)state;
    uint32_t n_infeasible;
    check_cases(false, &n_infeasible);
    assert_int_equal(n_infeasible, 0); /* everything at the outermost level is always a solution */
}

static void test_model_with_constraints_is_the_oracle(void **state)
{
    (void)state;
    uint32_t n_infeasible;
    check_cases(true, &n_infeasible);
    assert_true(n_infeasible > N_CASE / 20 && n_infeasible < N_CASE / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_is_the_oracle),
        cmocka_unit_test(test_model_with_constraints_is_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
