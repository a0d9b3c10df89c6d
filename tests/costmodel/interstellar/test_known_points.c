/* Tests: interstellar_price.c, interstellar_detail.c, points_write.c, accounting_interstellar.c.
 * The 46 mappings that the authors' program priced: every count equal, energies to 1e-12. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar/accounting_interstellar.h"
#include "costmodel/interstellar/interstellar_compiled.h"
#include "costmodel/interstellar/loops.h"
#include "costmodel/interstellar/points.h"
#include "tests/support/interstellar_case.h"

struct priced {
    struct architecture arch;
    struct problem problem;
    struct evaluator *evaluator;
    struct mapping mapping;
    struct interstellar_prices prices;
    struct evaluation total;
    int tensor[3]; /* inputs, outputs, weights */
};

static void read_point(const struct interstellar_point *point, struct priced *p, char *text, size_t size)
{
    struct dse_error err;
    static const char *const names[] = {"Inputs", "Outputs", "Weights"};
    interstellar_point_task(point, &p->arch, &p->problem);
    snprintf(text, size, "%s ; %s", point->cell[POINT_LOOPS], point->cell[POINT_SPATIAL]);
    if (points_read_line(text, strlen(text), "points", 1, &p->problem, &p->arch, &p->mapping, &err) != DSE_OK)
        fail_msg("%s: %s", point->cell[POINT_ID], err.text);
    for (int i = 0; i < 3; i++)
        p->tensor[i] = problem_find_tensor(&p->problem, names[i]);
}

static void open_point(const struct interstellar_point *point, struct priced *p)
{
    struct dse_error err;
    char text[512];
    read_point(point, p, text, sizeof text);
    if (evaluator_new(&accounting_interstellar_compat, &p->problem, &p->arch, &p->evaluator, &err) != DSE_OK)
        fail_msg("%s: %s", point->cell[POINT_ID], err.text);
    interstellar_price(interstellar_of(p->evaluator), &p->mapping, &p->prices);
    interstellar_sum(interstellar_of(p->evaluator), &p->mapping, &p->prices, &p->total);
}

/* Number i of a list "a;b;c", or of "a/b/c". */
static double number_at(const char *list, int i)
{
    for (; i > 0; i--) {
        list += strcspn(list, ";/");
        assert_true(*list != '\0');
        list++;
    }
    return strtod(list, NULL);
}

static void assert_close(const char *id, const char *what, double value, double expected)
{
    if (fabs(value - expected) > 1e-12 * fabs(expected))
        fail_msg("%s: %s is %.17g, expected %.17g", id, what, value, expected);
}

static void check_counts(const struct interstellar_point *point, const struct priced *p)
{
    const char *id = point->cell[POINT_ID];
    for (uint32_t l = 0; l < p->arch.n_level; l++) {
        const char *banks = point->cell[POINT_BANKS];
        for (uint32_t k = 0; k < l; k++)
            banks = strchr(banks, ';') + 1;
        for (int i = 0; i < 3; i++) {
            const struct interstellar_access *access = &p->prices.level[l].access[p->tensor[i]];
            const struct reuse_tensor *tensor = &interstellar_of(p->evaluator)->reuse.tensor[p->tensor[i]];
            double each = number_at(point->cell[POINT_ACCESSES + i], (int)l);
            double all = number_at(point->cell[POINT_TOTAL + i], (int)l);
            if (reuse_accesses(tensor, access->count) != each || access->accesses != all)
                fail_msg("%s: level %u, tensor %d: %.17g accesses, expected %.17g", id, l, i,
                         reuse_accesses(tensor, access->count), each);
            if (access->bank_word != number_at(banks, i))
                fail_msg("%s: level %u, tensor %d: bank of %.17g words, expected %.17g", id, l, i,
                         access->bank_word, number_at(banks, i));
        }
        assert_close(id, "level", p->total.level_energy_j[l] * 1e12,
                     number_at(point->cell[POINT_LEVEL_ENERGY], (int)l));
    }
}

/* "288/288/208@0.035 0/0/0@0 0/0/0@0": near, then far along each dimension; a bus has the first alone. */
static void check_groups(const struct interstellar_point *point, const struct priced *p)
{
    uint32_t array = 1;
    const char *groups = point->cell[POINT_GROUPS];
    while (!p->prices.level[array].is_array)
        array++;
    for (int group = 0; groups && *groups; group++) {
        double cost = strtod(strchr(groups, '@') + 1, NULL);
        double distance = group ? p->prices.level[array].distance[group - 1] : 1;
        assert_close(point->cell[POINT_ID], "hop",
                     distance * interstellar_of(p->evaluator)->hop_j[array] * 1e12, cost);
        for (int i = 0; i < 3; i++) {
            const struct interstellar_hops *hops = &p->prices.level[array].hops[p->tensor[i]];
            double value = group ? hops->far[group - 1] : hops->near;
            if (value != number_at(groups, i))
                fail_msg("%s: group %d, tensor %d: %g hops, expected %g", point->cell[POINT_ID], group, i,
                         value, number_at(groups, i));
        }
        groups = strchr(groups, ' ');
        groups = groups ? groups + 1 : NULL;
    }
}

static void test_all_points_cost_what_the_authors_program_says(void **state)
{
    (void)state;
    static struct interstellar_point point[POINT_MAX];
    int n = interstellar_points_load(point, POINT_MAX);
    assert_int_equal(n, 46);
    for (int i = 0; i < n; i++) {
        struct priced p;
        const char *id = point[i].cell[POINT_ID];
        double array_j = 0;
        open_point(&point[i], &p);
        check_counts(&point[i], &p);
        check_groups(&point[i], &p);
        for (uint32_t l = 0; l < p.arch.n_level; l++)
            array_j += p.total.network_energy_j[l];
        assert_close(id, "array", array_j * 1e12, strtod(point[i].cell[POINT_ARRAY_ENERGY], NULL));
        assert_close(id, "MACs", p.total.energy_mac_j * 1e12, strtod(point[i].cell[POINT_MAC_ENERGY], NULL));
        assert_close(id, "total", (p.total.energy_j - p.total.energy_mac_j) * 1e12,
                     strtod(point[i].cell[POINT_ENERGY], NULL));
        assert_true((double)p.total.n_mac_used == strtod(point[i].cell[POINT_PE_USED], NULL));
        evaluator_delete(p.evaluator);
    }
}

/* "FX=1,3,1 FY=...": the factor of each loop at each level. */
static void check_factors(const struct interstellar_point *point, const struct priced *p)
{
    struct interstellar_loops loops;
    interstellar_loops_of(&p->problem, &loops);
    for (int spatial = 0; spatial < 2; spatial++)
        for (int loop = 0; loop < LOOP_COUNT; loop++) {
            char key[8];
            snprintf(key, sizeof key, "%s=", interstellar_loop_name(loop));
            const char *list =
                strstr(point->cell[spatial ? POINT_PARTITIONING : POINT_BLOCKING], key) + strlen(key);
            for (uint32_t l = 0; l < p->arch.n_level; l++, list += strcspn(list, ", ") + 1) {
                const int d = loops.dim[loop];
                uint32_t factor = !spatial                  ? p->mapping.level[l].temporal[d]
                                  : l + 1 < p->arch.n_level ? p->mapping.level[l + 1].spatial[d]
                                                            : 1;
                assert_int_equal(factor, strtol(list, NULL, 10));
            }
        }
}

static void test_a_point_is_read_and_written_as_it_was(void **state)
{
    (void)state;
    static struct interstellar_point point[POINT_MAX];
    int n = interstellar_points_load(point, POINT_MAX);
    for (int i = 0; i < n; i++) {
        struct priced p;
        struct text_buffer out;
        char text[512];
        read_point(&point[i], &p, text, sizeof text);
        check_factors(&point[i], &p);
        text_init(&out);
        points_write(&p.mapping, &p.problem, &p.arch, &out);
        assert_string_equal(out.data, text);
        text_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_points_cost_what_the_authors_program_says),
        cmocka_unit_test(test_a_point_is_read_and_written_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
