/* The cost model against timeloop-model v3.0.3: 130 evaluated mappings and 15 accept/reject cases
 * (tests/known/timeloop, whose README says how they were made). Counts and cycles equal, energies to 1e-9
 * relative; the fast path equals the plain one.
 * Tests: accounting_timeloop.c, compiled.c, detail.c, nest.c, spatial_groups.c, traffic.c. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"

#define FOLDER "tests/known/timeloop/"

enum { FIELD_MAX = 16, LINE_MAX_BYTE = 4096 };

struct csv_file {
    FILE *stream;
    char line[LINE_MAX_BYTE];
    char *field[FIELD_MAX];
    int n_field;
};

/* Next row; the files quote only texts this test does not look at. */
static int next_row(struct csv_file *csv)
{
    if (!fgets(csv->line, sizeof csv->line, csv->stream))
        return 0;
    csv->line[strcspn(csv->line, "\r\n")] = '\0';
    csv->n_field = 0;
    for (char *at = csv->line; at && csv->n_field < FIELD_MAX;) {
        csv->field[csv->n_field++] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return 1;
}

static void open_csv(struct csv_file *csv, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, FOLDER "%s", name);
    csv->stream = fopen(path, "r");
    assert_non_null(csv->stream);
    assert_true(next_row(csv)); /* header */
}

struct test_case {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct arena arena;
    struct evaluation_detail detail;
};

static int n_wrong;

static void wrong(const char *name, const char *where, const char *what, double got, double want)
{
    if (n_wrong++ < 20)
        print_error("%s: %s %s is %.17g, Timeloop has %.17g\n", name, where, what, got, want);
}

static void same_count(const char *name, const char *where, const char *what, uint64_t got, const char *want)
{
    if (got != strtoull(want, NULL, 10))
        wrong(name, where, what, (double)got, strtod(want, NULL));
}

static void same_number(const char *name, const char *where, const char *what, double got, const char *want)
{
    double expected = strtod(want, NULL);
    if (!(fabs(got - expected) <= 1e-9 * fabs(expected)))
        wrong(name, where, what, got, expected);
}

/* Reads a case; returns 0 and fills err when a reader refuses it. */
static int load_case(char *const *field, struct test_case *tc, struct dse_error *err)
{
    char arch[512], problem[512], map[512];
    memset(tc, 0, sizeof *tc);
    arena_init(&tc->arena);
    snprintf(arch, sizeof arch, FOLDER "%s", field[1]);
    snprintf(problem, sizeof problem, FOLDER "%s", field[2]);
    snprintf(map, sizeof map, FOLDER "%s", field[3]);
    return architecture_read(arch, &tc->arch, err) == DSE_OK &&
           problem_read(problem, &tc->problem, err) == DSE_OK &&
           mapping_read(map, &tc->problem, &tc->arch, &tc->mapping, err) == DSE_OK &&
           evaluator_new(&accounting_timeloop, &tc->problem, &tc->arch, &tc->evaluator, err) == DSE_OK &&
           evaluator_detail(tc->evaluator, &tc->mapping, &tc->arena, &tc->detail, err) == DSE_OK;
}

static void free_case(struct test_case *tc)
{
    evaluator_delete(tc->evaluator);
    arena_free(&tc->arena);
}

static void check_levels(const char *name, const char *file, const struct test_case *tc)
{
    struct csv_file csv;
    open_csv(&csv, file);
    while (next_row(&csv)) {
        int l = architecture_find_level(&tc->arch, csv.field[0]),
            t = problem_find_tensor(&tc->problem, csv.field[1]);
        assert_true(l >= 0 && t >= 0);
        const struct tensor_counts *counts = &tc->detail.level[l].tensor[t];
        char where[128];
        snprintf(where, sizeof where, "%s/%s", csv.field[0], csv.field[1]);
        same_count(name, where, "keep", counts->keep, csv.field[2]);
        same_count(name, where, "instances_used", counts->instances_used, csv.field[3]);
        same_count(name, where, "clusters_used", counts->clusters_used, csv.field[4]);
        same_count(name, where, "capacity_words", counts->capacity_word, csv.field[5]);
        same_count(name, where, "partition_words", counts->partition_word, csv.field[6]);
        same_count(name, where, "reads", counts->reads, csv.field[7]);
        same_count(name, where, "fills", counts->fills, csv.field[8]);
        same_count(name, where, "updates", counts->updates, csv.field[9]);
        same_count(name, where, "temporal_reductions", counts->temporal_reductions, csv.field[10]);
        same_count(name, where, "address_generations", counts->address_generations, csv.field[11]);
        same_number(name, where, "access energy", counts->access_energy_j * 1e12, csv.field[12]);
        same_number(name, where, "address energy", counts->address_energy_j * 1e12, csv.field[13]);
    }
    fclose(csv.stream);
}

static int network_level(const struct architecture *arch, const char *network)
{
    for (uint32_t l = 0; l < arch->n_level; l++) {
        size_t length = strlen(arch->level[l].name);
        if (strncmp(network, arch->level[l].name, length) == 0 && strncmp(network + length, " <==> ", 6) == 0)
            return (int)l;
    }
    return -1;
}

static void print_signature(const struct network_counts *network, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t k = 0; k < network->n_record && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 "x%" PRIu64 ":%.2f", k ? "|" : "",
                                 network->record[k].multicast, network->record[k].scatter,
                                 network->record[k].ingresses);
}

static void check_networks(const char *name, const char *file, const struct test_case *tc)
{
    struct csv_file csv;
    open_csv(&csv, file);
    while (next_row(&csv)) {
        int l = network_level(&tc->arch, csv.field[0]), t = problem_find_tensor(&tc->problem, csv.field[1]);
        assert_true(l >= 0 && t >= 0);
        const struct network_counts *network = &tc->detail.level[l].network[t];
        char where[160], signature[1024], ingresses[64];
        snprintf(where, sizeof where, "%s/%s", csv.field[0], csv.field[1]);
        print_signature(network, signature, sizeof signature);
        snprintf(ingresses, sizeof ingresses, "%.2f", network->ingresses);
        same_count(name, where, "fanout", network->fanout, csv.field[2]);
        same_count(name, where, "max_multicast", network->max_multicast, csv.field[3]);
        if (strcmp(ingresses, csv.field[4]) != 0 || strcmp(signature, csv.field[5]) != 0)
            wrong(name, where, signature, network->ingresses, strtod(csv.field[4], NULL));
        same_count(name, where, "link_transfers", network->link_transfers, csv.field[6]);
        same_count(name, where, "spatial_reductions", network->spatial_reductions, csv.field[7]);
        same_number(name, where, "avg_hops", network->average_hops, csv.field[8]);
        same_number(name, where, "energy", network->energy_j * 1e12, csv.field[9]);
        same_number(name, where, "link energy", network->link_energy_j * 1e12, csv.field[10]);
    }
    fclose(csv.stream);
}

static void check_summary(const char *name, const char *file, const struct test_case *tc)
{
    struct csv_file csv;
    const struct evaluation *total = &tc->detail.total;
    open_csv(&csv, file);
    while (next_row(&csv)) {
        const char *key = csv.field[0], *value = csv.field[1], *sub = strchr(key, ':');
        if (strcmp(key, "cycles") == 0)
            same_count(name, "", key, total->latency_cycle, value);
        else if (strcmp(key, "compute_cycles") == 0)
            same_count(name, "", key, total->compute_cycle, value);
        else if (strcmp(key, "utilization") == 0)
            same_number(name, "", key, total->utilization, value);
        else if (strcmp(key, "computes") == 0)
            same_count(name, "", key, (uint64_t)total->n_compute, value);
        else if (strcmp(key, "macs_used") == 0)
            same_count(name, "", key, total->n_mac_used, value);
        else if (strcmp(key, "energy_total_pJ") == 0)
            same_number(name, "", key, total->energy_j * 1e12, value);
        else if (strncmp(key, "level_cycles:", 13) == 0)
            same_count(name, "", key, tc->detail.level[architecture_find_level(&tc->arch, sub + 1)].cycle,
                       value);
        else if (strncmp(key, "level_slowdown:", 15) == 0)
            same_number(name, "", key, tc->detail.level[architecture_find_level(&tc->arch, sub + 1)].slowdown,
                        value);
        else if (strncmp(key, "energy_pJ:", 10) == 0 && network_level(&tc->arch, sub + 1) >= 0)
            same_number(name, "", key, total->network_energy_j[network_level(&tc->arch, sub + 1)] * 1e12,
                        value);
        else if (strncmp(key, "energy_pJ:", 10) == 0 && strcmp(sub + 1, tc->arch.mac.name) == 0)
            same_number(name, "", key, total->energy_mac_j * 1e12, value);
        else if (strncmp(key, "energy_pJ:", 10) == 0)
            same_number(name, "", key,
                        total->level_energy_j[architecture_find_level(&tc->arch, sub + 1)] * 1e12, value);
        else if (strcmp(key, "energy_total_uJ_as_printed") == 0) {
            if (fabs(total->energy_j * 1e6 - strtod(value, NULL)) > 0.00501)
                wrong(name, "", key, total->energy_j * 1e6, strtod(value, NULL));
        } else if (strcmp(key, "mapping_origin") != 0)
            wrong(name, "unknown key", key, 0, 0);
    }
    fclose(csv.stream);
}

static void check_fast(const char *name, const struct test_case *tc)
{
    struct eval_workspace *workspace;
    struct evaluation fast;
    struct dse_error err;
    const struct evaluation *plain = &tc->detail.total;
    assert_int_equal(eval_workspace_new(tc->evaluator, &workspace, &err), DSE_OK);
    if (!evaluator_run(tc->evaluator, workspace, &tc->mapping, &fast))
        wrong(name, "fast path", "misfit", fast.fit.what, 0);
    else {
        if (fast.latency_cycle != plain->latency_cycle)
            wrong(name, "fast path", "cycles", (double)fast.latency_cycle, (double)plain->latency_cycle);
        if (fabs(fast.energy_j - plain->energy_j) > 1e-12 * plain->energy_j)
            wrong(name, "fast path", "energy", fast.energy_j, plain->energy_j);
    }
    eval_workspace_delete(workspace);
}

static void test_timeloop_cases_are_reproduced(void **state)
{
    (void)state;
    struct csv_file index;
    int n_case = 0;
    n_wrong = 0;
    open_csv(&index, "cases.csv");
    while (next_row(&index)) {
        if (index.field[4][0] == '\0')
            continue; /* accept/reject only */
        struct test_case tc;
        struct dse_error err = {0};
        int before = n_wrong;
        n_case++;
        if (!load_case(index.field, &tc, &err) || tc.detail.total.fit.what != FITS) {
            wrong(index.field[0], "refused:", err.text, tc.detail.total.fit.what, 0);
        } else {
            check_levels(index.field[0], index.field[4], &tc);
            check_networks(index.field[0], index.field[5], &tc);
            check_summary(index.field[0], index.field[6], &tc);
            check_fast(index.field[0], &tc);
        }
        if (n_wrong > before)
            print_error("case %s differs\n", index.field[0]);
        free_case(&tc);
    }
    fclose(index.stream);
    assert_int_equal(n_case, 130);
    assert_int_equal(n_wrong, 0);
}

static void test_timeloop_accept_and_reject(void **state)
{
    (void)state;
    struct csv_file index;
    int n_case = 0;
    open_csv(&index, "cases.csv");
    while (next_row(&index)) {
        if (index.field[4][0] != '\0')
            continue;
        struct test_case tc;
        struct dse_error err = {0};
        int accepted = load_case(index.field, &tc, &err) && tc.detail.total.fit.what == FITS;
        n_case++;
        if (accepted != (strcmp(index.field[7], "yes") == 0))
            fail_msg("%s: %s, Timeloop says %s", index.field[0], accepted ? "accepted" : "rejected",
                     index.field[8]);
        free_case(&tc);
    }
    fclose(index.stream);
    assert_int_equal(n_case, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_cases_are_reproduced),
        cmocka_unit_test(test_timeloop_accept_and_reject),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
