/* The cost model and the Timeloop readers on 130 random cases (tests/known/timeloop_random, whose README says
 * where the numbers come from): counts and cycles equal, energies to 1e-9 relative, refusals for a right
 * reason, and the fast path equal to the plain one.
 * Tests: compiled.c, detail.c, nest.c, spatial_groups.c, traffic.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"

#define FOLDER "tests/known/timeloop_random/"

enum { FIELD_MAX = 24, LINE_BYTE = 512, N_CASE = 130, N_REFUSED = 30, N_ROW = 1173 };

struct row {
    char line[LINE_BYTE];
    char *field[FIELD_MAX];
    int n_field;
};

static int next_row(FILE *file, struct row *row)
{
    if (!fgets(row->line, sizeof row->line, file))
        return 0;
    row->line[strcspn(row->line, "\n")] = '\0';
    row->n_field = 0;
    for (char *at = row->line; at && row->n_field < FIELD_MAX;) {
        row->field[row->n_field++] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return 1;
}

struct random_case {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct arena arena;
    struct evaluation_detail detail;
    struct evaluation fast;
};

static void load(const char *name, struct random_case *rc)
{
    struct dse_error err;
    struct eval_workspace *workspace = NULL;
    char path[256];
    snprintf(path, sizeof path, FOLDER "cases/%s.yaml", name);
    arena_init(&rc->arena);
    if (architecture_read(path, &rc->arch, &err) != DSE_OK ||
        problem_read(path, &rc->problem, &err) != DSE_OK ||
        mapping_read(path, &rc->problem, &rc->arch, &rc->mapping, &err) != DSE_OK ||
        evaluator_new(&accounting_timeloop, &rc->problem, &rc->arch, &rc->evaluator, &err) != DSE_OK ||
        evaluator_detail(rc->evaluator, &rc->mapping, &rc->arena, &rc->detail, &err) != DSE_OK ||
        eval_workspace_new(rc->evaluator, &workspace, &err) != DSE_OK)
        fail_msg("%s:%d: %s", path, err.line, err.text);
    memset(&rc->fast, 0, sizeof rc->fast);
    evaluator_run(rc->evaluator, workspace, &rc->mapping, &rc->fast);
    eval_workspace_delete(workspace);
}

static void unload(struct random_case *rc)
{
    evaluator_delete(rc->evaluator);
    arena_free(&rc->arena);
}

static const char *misfit_word(enum misfit what)
{
    switch (what) {
    case MISFIT_CAPACITY:
        return "capacity";
    case MISFIT_UTILIZATION:
        return "utilization";
    case MISFIT_MESH_X:
        return "mesh x";
    case MISFIT_MESH_Y:
        return "mesh y";
    case MISFIT_INSTANCES:
        return "instances";
    case MISFIT_FANOUT:
        return "fanout";
    case MISFIT_BYPASS:
        return "bypass";
    default:
        return "another reason";
    }
}

static int close_to(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fabs(want);
}

static void check_fast(const char *name, const struct random_case *rc)
{
    const struct evaluation *fast = &rc->fast, *plain = &rc->detail.total;
    assert_int_equal(fast->fit.what, plain->fit.what);
    assert_int_equal(fast->fit.level, plain->fit.level);
    if (plain->fit.what != FITS)
        return;
    assert_int_equal(fast->latency_cycle, plain->latency_cycle);
    assert_int_equal(fast->compute_cycle, plain->compute_cycle);
    for (uint32_t l = 0; l < rc->arch.n_level; l++)
        if (!close_to(fast->level_energy_j[l], plain->level_energy_j[l]) ||
            !close_to(fast->network_energy_j[l], plain->network_energy_j[l]) ||
            fast->level_byte[l] != plain->level_byte[l])
            fail_msg("case %s: the fast path differs at %s", name, rc->arch.level[l].name);
    assert_true(close_to(fast->energy_j, plain->energy_j));
}

static void test_timeloop_random_totals_and_refusals(void **state)
{
    (void)state;
    struct row row;
    int n = 0, n_refused = 0;
    FILE *file = fopen(FOLDER "cases.csv", "r");
    assert_non_null(file);
    assert_true(next_row(file, &row));
    while (next_row(file, &row)) {
        struct random_case rc;
        load(row.field[0], &rc);
        const struct evaluation *total = &rc.detail.total;
        check_fast(row.field[0], &rc);
        if (strcmp(row.field[1], "yes") != 0) {
            if (!strstr(row.field[1], misfit_word(total->fit.what)))
                fail_msg("case %s: refused for %s instead of \"%s\"", row.field[0],
                         misfit_word(total->fit.what), row.field[1]);
            n_refused++;
        } else {
            if (total->fit.what != FITS)
                fail_msg("case %s does not fit: %s", row.field[0], misfit_word(total->fit.what));
            assert_int_equal(total->latency_cycle, strtoull(row.field[2], NULL, 10));
            assert_int_equal(total->compute_cycle, strtoull(row.field[3], NULL, 10));
            assert_true(close_to(total->energy_j, strtod(row.field[4], NULL) * 1e-12));
            assert_true(close_to(total->utilization, strtod(row.field[5], NULL)));
        }
        unload(&rc);
        n++;
    }
    fclose(file);
    assert_int_equal(n, N_CASE);
    assert_int_equal(n_refused, N_REFUSED);
}

/* One row of expected.csv against the case it belongs to. */
static void check_row(const struct row *row, const struct random_case *rc)
{
    int l = architecture_find_level(&rc->arch, row->field[1]),
        t = problem_find_tensor(&rc->problem, row->field[2]);
    assert_true(l >= 0 && t >= 0);
    const struct tensor_counts *c = &rc->detail.level[l].tensor[t];
    const struct network_counts *n = &rc->detail.level[l].network[t];
    const struct {
        int field;
        uint64_t got;
    } count[] = {{3, c->keep},
                 {4, c->instances_used},
                 {5, c->clusters_used},
                 {6, c->capacity_word},
                 {7, c->partition_word},
                 {8, c->reads},
                 {9, c->fills},
                 {10, c->updates},
                 {11, c->address_generations},
                 {14, n->fanout},
                 {15, n->max_multicast},
                 {17, n->link_transfers},
                 {18, n->spatial_reductions}};
    const struct {
        int field;
        double got;
    } number[] = {{12, c->access_energy_j * 1e12},
                  {13, c->address_energy_j * 1e12},
                  {16, n->ingresses},
                  {19, n->average_hops},
                  {20, (n->energy_j + n->link_energy_j) * 1e12}};
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        if (count[i].got != strtoull(row->field[count[i].field], NULL, 10))
            fail_msg("case %s, %s/%s, column %d: %llu instead of %s", row->field[0], row->field[1],
                     row->field[2], count[i].field, (unsigned long long)count[i].got,
                     row->field[count[i].field]);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        if (!close_to(number[i].got, strtod(row->field[number[i].field], NULL)))
            fail_msg("case %s, %s/%s, column %d: %.17g instead of %s", row->field[0], row->field[1],
                     row->field[2], number[i].field, number[i].got, row->field[number[i].field]);
}

static void test_timeloop_random_counts_of_every_level(void **state)
{
    (void)state;
    struct row row;
    struct random_case rc;
    char loaded[32] = "";
    int n = 0;
    FILE *file = fopen(FOLDER "expected.csv", "r");
    assert_non_null(file);
    assert_true(next_row(file, &row));
    while (next_row(file, &row)) {
        assert_int_equal(row.n_field, 21);
        if (strcmp(loaded, row.field[0]) != 0) {
            if (loaded[0])
                unload(&rc);
            snprintf(loaded, sizeof loaded, "%s", row.field[0]);
            load(loaded, &rc);
        }
        check_row(&row, &rc);
        n++;
    }
    if (loaded[0])
        unload(&rc);
    fclose(file);
    assert_int_equal(n, N_ROW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_random_totals_and_refusals),
        cmocka_unit_test(test_timeloop_random_counts_of_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
