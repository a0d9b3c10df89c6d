/* The CSV reports of `dse eval` against Timeloop's own tables (tests/known/timeloop, whose README says how
 * they were made): every field is the same text, but for energies, which are joules here and may differ in
 * the last digits (1e-9 relative, as the issue allows). Names of columns and keys are those of result files
 * where they have the quantity. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "dse/console/report_print.h"
#include "dse/inputs/inputs.h"
#include "dse/report/mapping_report.h"

#define FOLDER "tests/known/timeloop/"

enum { FIELD_MAX = 16, CELL_MAX = 256, N_CASE = 130 };

struct one_case {
    char field[FIELD_MAX][CELL_MAX]; /* of cases.csv */
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct arena arena;
    struct evaluation_detail detail;
};

/* Split one line without quoted commas; returns the number of fields. */
static int split(const char *line, size_t length, char field[FIELD_MAX][CELL_MAX])
{
    int n = 0;
    for (size_t from = 0; from <= length && n < FIELD_MAX; n++) {
        size_t to = from;
        while (to < length && line[to] != ',')
            to++;
        snprintf(field[n], CELL_MAX, "%.*s", (int)(to - from), line + from);
        from = to + 1;
    }
    return n;
}

static char *in_folder(const char *name, char *path, size_t size)
{
    snprintf(path, size, FOLDER "%s", name);
    return path;
}

static void load(struct one_case *c)
{
    char path[512];
    struct dse_error err = {0};
    arena_init(&c->arena);
    assert_int_equal(architecture_read(in_folder(c->field[1], path, sizeof path), &c->arch, &err), DSE_OK);
    assert_int_equal(problem_read(in_folder(c->field[2], path, sizeof path), &c->problem, &err), DSE_OK);
    assert_int_equal(
        mapping_read(in_folder(c->field[3], path, sizeof path), &c->problem, &c->arch, &c->mapping, &err),
        DSE_OK);
    assert_int_equal(evaluator_new(&accounting_timeloop, &c->problem, &c->arch, &c->evaluator, &err), DSE_OK);
    assert_int_equal(evaluator_detail(c->evaluator, &c->mapping, &c->arena, &c->detail, &err), DSE_OK);
    assert_int_equal(c->detail.total.fit.what, FITS);
}

static void unload(struct one_case *c)
{
    evaluator_delete(c->evaluator);
    arena_free(&c->arena);
}

/* Ours of Timeloop's names of columns and keys, and how many joules its unit is (0: no energy). */
static double ours(const char *theirs, char name[CELL_MAX])
{
    static const char *const other[][2] = {
        {"cycles", "latency_cycle"},
        {"compute_cycles", "compute_cycle"},
        {"computes", "n_mac"},
        {"macs_used", "n_mac_used"},
        {"access_energy_total_pJ", "access_energy_j"},
        {"addr_gen_energy_total_pJ", "addr_gen_energy_j"},
        {"energy_total_pJ", "energy_j"},
        {"link_energy_total_pJ", "link_energy_j"},
    };
    static const char *const begin[][2] = {{"energy_pJ:", "energy_j:"},
                                           {"level_cycles:", "level_cycle:"},
                                           {"level_slowdown:", "level_slowdown:"}};
    snprintf(name, CELL_MAX, "%s", theirs);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (strcmp(theirs, other[i][0]) == 0)
            snprintf(name, CELL_MAX, "%s", other[i][1]);
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++)
        if (strncmp(theirs, begin[i][0], strlen(begin[i][0])) == 0)
            snprintf(name, CELL_MAX, "%s%s", begin[i][1], theirs + strlen(begin[i][0]));
    return strstr(theirs, "_pJ") ? 1e-12 : 0;
}

/* A field of column `header`, in a list of key `key`, both of Timeloop. Energies may differ in the last
 * digits, and Timeloop writes ingresses with two. */
static int same_field(const char *got, const char *want, const char *header, const char *key)
{
    char name[CELL_MAX], text[CELL_MAX];
    double unit = ours(strcmp(header, "value") == 0 ? key : header, name);
    if (unit > 0 && strchr(want, '.')) {
        double expected = strtod(want, NULL) * unit;
        return strpbrk(got, ".e") && fabs(strtod(got, NULL) - expected) <= 1e-9 * fabs(expected);
    }
    if (strcmp(header, "ingresses") == 0 && strchr(want, '.')) {
        snprintf(text, sizeof text, "%.2f", strtod(got, NULL));
        return strchr(got, '.') && strcmp(text, want) == 0;
    }
    ours(want, name); /* of a header or key; else the same text */
    return strcmp(got, name) == 0;
}

/* The next line of the reference that the report must have, or NULL. */
static const char *next_wanted(const char *at)
{
    while (at && *at &&
           (strncmp(at, "mapping_origin,", 15) == 0 || strncmp(at, "energy_total_uJ_as_printed,", 27) == 0))
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    return at && *at ? at : NULL;
}

/* The rest of a report without the keys that Timeloop's summary has not. */
static const char *next_compared(const char *at)
{
    while (strncmp(at, "latency_s,", 10) == 0 || strncmp(at, "edp_js,", 7) == 0 ||
           strncmp(at, "level_byte:", 11) == 0)
        at += strcspn(at, "\n") + 1;
    return at;
}

/* Compare line by line; returns how many fields differ and counts how many agree only within the
 * tolerance. */
static int compare(const char *name, const char *got, const char *want)
{
    char header[FIELD_MAX][CELL_MAX], g[FIELD_MAX][CELL_MAX], w[FIELD_MAX][CELL_MAX];
    int n_wrong = 0, n_header = split(want, strcspn(want, "\r\n"), header);
    while ((want = next_wanted(want)) != NULL) {
        size_t length = strcspn(got, "\n"), wanted = strcspn(want, "\r\n");
        int n = split(got, length, g);
        if (n != n_header || split(want, wanted, w) != n_header) {
            print_error("%s: %.*s, Timeloop has %.*s\n", name, (int)length, got, (int)wanted, want);
            return n_wrong + 1;
        }
        for (int i = 0; i < n; i++)
            if (!same_field(g[i], w[i], header[i], w[0])) {
                print_error("%s: %s of %s is %s, Timeloop has %s\n", name, header[i], w[0], g[i], w[i]);
                n_wrong++;
            }
        got += length + (got[length] == '\n');
        want += strcspn(want, "\n");
        want += *want == '\n';
    }
    return n_wrong + (*next_compared(got) != '\0'); /* surplus rows */
}

/* A report of the case as text; to be freed. */
static struct text_buffer print(struct one_case *c, int kind, enum report_format format)
{
    struct mapping_report of = {.problem = &c->problem, .arch = &c->arch, .detail = &c->detail};
    struct report report;
    struct text_buffer text;
    struct dse_error err = {0};
    report_init(&report, mapping_report_name[kind]);
    text_init(&text);
    mapping_report_fill(&of, (enum mapping_report_kind)kind, format == REPORT_TABLE, &report);
    assert_int_equal(report_print(&report, format, &text, &err), DSE_OK);
    report_free(&report);
    return text;
}

static int check_case(struct one_case *c)
{
    int n_wrong = 0;
    load(c);
    for (int kind = MAPPING_LEVELS; kind <= MAPPING_SUMMARY; kind++) {
        char path[512], *want;
        size_t length;
        struct dse_error err = {0};
        assert_int_equal(yaml_load(in_folder(c->field[4 + kind], path, sizeof path), &want, &length, &err),
                         DSE_OK);
        struct text_buffer got = print(c, kind, REPORT_CSV);
        n_wrong += compare(c->field[4 + kind], got.data, want);
        text_free(&got);
        free(want);
    }
    unload(c);
    return n_wrong;
}

/* Calls `check` for each accepted case (at most `most`); returns how many there were, adds up what it
 * returns. */
static int each_case(int (*check)(struct one_case *), int most, int *sum)
{
    char line[4096];
    int n = 0;
    FILE *file = fopen(FOLDER "cases.csv", "r");
    struct one_case *c = calloc(1, sizeof *c);
    assert_non_null(file);
    assert_non_null(c);
    assert_non_null(fgets(line, sizeof line, file));
    while (n < most && fgets(line, sizeof line, file)) {
        split(line, strcspn(line, "\r\n"), c->field);
        if (c->field[4][0] == '\0')
            continue;
        *sum += check(c);
        n++;
    }
    free(c);
    fclose(file);
    return n;
}

static void test_mapping_report_csv_is_timeloops_for_all_cases(void **state)
{
    (void)state;
    int n_wrong = 0;
    assert_int_equal(each_case(check_case, N_CASE + 1, &n_wrong), N_CASE);
    assert_int_equal(n_wrong, 0);
}

static int check_json(struct one_case *c)
{
    load(c);
    size_t n_row = (size_t)c->arch.n_level * c->problem.n_tensor;
    for (int kind = MAPPING_LEVELS; kind <= MAPPING_SUMMARY; kind++) {
        struct text_buffer text = print(c, kind, REPORT_JSON);
        json_t *root = json_loads(text.data, 0, NULL);
        assert_non_null(root);
        assert_string_equal(json_string_value(json_object_get(root, "report")), mapping_report_name[kind]);
        if (kind == MAPPING_SUMMARY) {
            const json_t *summary = json_object_get(root, "summary");
            assert_int_equal(json_integer_value(json_object_get(summary, "latency_cycle")),
                             c->detail.total.latency_cycle);
            assert_true(json_real_value(json_object_get(summary, "energy_j")) == c->detail.total.energy_j);
        } else {
            assert_int_equal(json_array_size(json_object_get(root, "rows")), n_row);
        }
        json_decref(root);
        text_free(&text);
    }
    unload(c);
    return 0;
}

static void test_mapping_report_json_parses_and_has_all_rows(void **state)
{
    (void)state;
    int sum = 0;
    assert_int_equal(each_case(check_json, 10, &sum), 10);
}

static int check_table(struct one_case *c)
{
    load(c);
    for (int kind = MAPPING_LEVELS; kind <= MAPPING_SUMMARY; kind++) {
        struct text_buffer text = print(c, kind, REPORT_TABLE);
        assert_int_equal(text.failed, 0);
        assert_non_null(strstr(text.data, c->arch.level[0].name));
        text_free(&text);
    }
    unload(c);
    return 0;
}

static void test_mapping_report_table_names_the_levels(void **state)
{
    (void)state;
    int sum = 0;
    assert_int_equal(each_case(check_table, 10, &sum), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapping_report_csv_is_timeloops_for_all_cases),
        cmocka_unit_test(test_mapping_report_json_parses_and_has_all_rows),
        cmocka_unit_test(test_mapping_report_table_names_the_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
