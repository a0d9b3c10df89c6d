/* Drawing from a map space. Shares are worked out by hand for a machine so small that every draw can be
 * listed; everything else must agree with the cost model and the checker, and not depend on threads. */
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
#include "dse/solve/sample.h"
#include "dse/solve/workload.h"
#include "tests/support/mapping_same.h"

enum { ROW_MAX = 2000 };

struct kept {
    size_t n;
    uint64_t draw[ROW_MAX];
    uint64_t cycle[ROW_MAX];
    double energy_j[ROW_MAX];
    struct mapping mapping[ROW_MAX];
};

struct fixture {
    struct network network;
    struct workload workload;
    struct architecture arch;
    struct sample_settings settings;
    struct sample_summary summary;
};

#define HEAD "architecture: tiny\nclock: 1 GHz\nhierarchy:\n"
#define DRAM "- {storage: DRAM, kind: dram, word: 8 bit, bandwidth: 4 GB/s, access_energy: 100 pJ}\n"
#define MACS "- {macs: MAC, word: 8 bit, energy: 0.1 pJ}\n"

static const char conv_text[] = "network: n\nkind: layers\nlayers:\n"
                                "- {name: one, type: conv, C: 16, K: 32, P: 14, Q: 14, R: 3, S: 3}\n";
static const char two_text[] = "network: n\nkind: layers\nlayers:\n- {name: one, type: linear, C: 2, K: 1}\n";

/* `arch_text` NULL: the Simba-like machine. */
static struct fixture *make(const char *network_text, const char *arch_text)
{
    struct dse_error err = {0};
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(network_parse("n.yaml", network_text, strlen(network_text), &f->network, &err), DSE_OK);
    assert_int_equal(workload_init(&f->workload, &f->network, 1, NULL, 0, 0, &err), DSE_OK);
    if (arch_text) {
        struct yaml_doc doc;
        assert_int_equal(yaml_parse(&doc, "a.yaml", arch_text, strlen(arch_text), &err), DSE_OK);
        assert_int_equal(architecture_build(&doc, NULL, 0, &f->arch, &err), DSE_OK);
        yaml_doc_free(&doc);
    } else {
        assert_int_equal(architecture_read("experiments/architectures/simba.yaml", &f->arch, &err), DSE_OK);
    }
    f->settings = (struct sample_settings){.n_valid = 300, .max_draws = 100000, .n_thread = 1};
    return f;
}

static void drop(struct fixture *f)
{
    workload_free(&f->workload);
    network_free(&f->network);
    free(f);
}

static enum dse_status keep_row(void *user, const struct sample_row *row, struct dse_error *err)
{
    struct kept *kept = user;
    if (kept->n == ROW_MAX)
        return dse_fail(err, DSE_LIMIT, "too many");
    kept->draw[kept->n] = row->draw;
    kept->cycle[kept->n] = row->evaluation->latency_cycle;
    kept->energy_j[kept->n] = row->evaluation->energy_j;
    kept->mapping[kept->n++] = *row->mapping;
    return DSE_OK;
}

static struct kept *draw(struct fixture *f)
{
    struct dse_error err = {0};
    struct kept *kept = calloc(1, sizeof *kept);
    assert_non_null(kept);
    if (sample_space(&f->workload.problem[0], &f->arch, &f->settings, keep_row, kept, &f->summary, &err) !=
        DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(kept->n, f->summary.n_valid);
    uint64_t n_misfit = 0;
    for (uint32_t i = 0; i < f->summary.n_misfit; i++)
        n_misfit += f->summary.misfit[i].n;
    assert_int_equal(f->summary.n_draw, f->summary.n_valid + n_misfit);
    return kept;
}

/* The first `n` rows agree. */
static void assert_same_rows(const struct kept *a, const struct kept *b, size_t n)
{
    assert_true(a->n >= n && b->n >= n);
    assert_memory_equal(a->draw, b->draw, n * sizeof a->draw[0]);
    assert_memory_equal(a->cycle, b->cycle, n * sizeof a->cycle[0]);
    assert_memory_equal(a->energy_j, b->energy_j, n * sizeof a->energy_j[0]);
    for (size_t i = 0; i < n; i++)
        assert_true(mapping_same(&a->mapping[i], &b->mapping[i]));
}

static void test_sample_is_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    static const enum sample_draw how[] = {SAMPLE_CONSTRUCT, SAMPLE_PRIMES};
    for (size_t i = 0; i < 2; i++) {
        struct fixture *f = make(conv_text, NULL);
        f->settings.draw = how[i];
        f->settings.seed = 5;
        struct kept *one = draw(f);
        struct sample_summary summary = f->summary;
        assert_int_equal(one->n, 300);
        assert_int_equal(one->draw[299], summary.n_draw);
        for (int n_thread = 2; n_thread <= 5; n_thread++) {
            f->settings.n_thread = n_thread;
            struct kept *many = draw(f);
            assert_same_rows(one, many, 300);
            assert_int_equal(f->summary.n_draw, summary.n_draw);
            assert_int_equal(f->summary.n_misfit, summary.n_misfit);
            for (uint32_t m = 0; m < summary.n_misfit; m++)
                assert_int_equal(f->summary.misfit[m].n, summary.misfit[m].n);
            free(many);
        }
        /* Fewer are the first of more; another seed is something else. */
        f->settings.n_valid = 7;
        struct kept *few = draw(f);
        assert_int_equal(few->n, 7);
        assert_same_rows(one, few, 7);
        f->settings.seed = 6;
        struct kept *other = draw(f);
        assert_true(memcmp(few->energy_j, other->energy_j, 7 * sizeof(double)) != 0);
        free(one);
        free(few);
        free(other);
        drop(f);
    }
}

static void test_sample_rows_are_valid_mappings_at_their_price(void **state)
{
    (void)state;
    struct dse_error err = {0};
    char reason[256];
    for (int how = SAMPLE_CONSTRUCT; how <= SAMPLE_PRIMES; how++) {
        struct fixture *f = make(conv_text, NULL);
        struct evaluator *evaluator;
        struct arena arena;
        const struct problem *problem = &f->workload.problem[0];
        arena_init(&arena);
        f->settings.draw = (enum sample_draw)how;
        f->settings.n_valid = 100;
        struct kept *kept = draw(f);
        assert_int_equal(evaluator_new(&accounting_timeloop, problem, &f->arch, &evaluator, &err), DSE_OK);
        for (size_t i = 0; i < kept->n; i++) {
            struct evaluation_detail *detail = arena_alloc(&arena, 1, sizeof *detail);
            assert_non_null(detail);
            assert_true(i == 0 || kept->draw[i] > kept->draw[i - 1]);
            assert_true(checker_accepts(problem, &f->arch, &kept->mapping[i], reason, sizeof reason));
            assert_int_equal(evaluator_detail(evaluator, &kept->mapping[i], &arena, detail, &err), DSE_OK);
            assert_int_equal(detail->total.latency_cycle, kept->cycle[i]);
            assert_true(fabs(detail->total.energy_j - kept->energy_j[i]) <= 1e-12 * kept->energy_j[i]);
            arena_reset(&arena);
        }
        evaluator_delete(evaluator);
        arena_free(&arena);
        free(kept);
        drop(f);
    }
}

/* One prime, C = 2, and two slots: DRAM or the buffer. In the buffer the tiles are 2 weights, 2 inputs, 1
 * output: 5 words, and it has
 * 4. So half of the draws are invalid, all for that reason; drawn by construction none is. The standard
 * deviation of n draws is sqrt(n / 4). */
static void test_sample_primes_count_what_does_not_fit(void **state)
{
    (void)state;
    struct fixture *f = make(two_text, HEAD DRAM
                             "- {storage: Buffer, word: 8 bit, capacity: 4 B, access_energy: 1 pJ}\n" MACS);
    char text[256];
    f->settings.draw = SAMPLE_PRIMES;
    f->settings.n_valid = 0;
    f->settings.max_draws = 3000;
    struct kept *kept = draw(f);
    assert_int_equal(f->summary.n_draw, 3000);
    assert_true(fabs((double)f->summary.n_valid - 1500) < 4 * sqrt(3000 / 4.0));
    assert_int_equal(f->summary.n_misfit, 1);
    misfit_print(&f->summary.misfit[0].first, &f->workload.problem[0], &f->arch, text, sizeof text);
    assert_string_equal(text, "Buffer needs 5 B for Weights+Inputs+Outputs, has 4 B");
    f->settings.draw = SAMPLE_CONSTRUCT;
    f->settings.max_draws = 1000;
    free(kept);
    kept = draw(f);
    assert_int_equal(f->summary.n_draw, 1000);
    assert_int_equal(f->summary.n_valid, 1000);
    free(kept);
    drop(f);
}

static void test_sample_keeps_to_constraints(void **state)
{
    (void)state;
    static const char text[] = "- {target: DRAM, type: temporal, factors: K=8 C=2, permutation: QC}\n";
    struct fixture *f = make(conv_text, NULL);
    struct mapspace_constraints constraints;
    struct yaml_doc doc;
    struct dse_error err = {0};
    const struct problem *problem = &f->workload.problem[0];
    assert_int_equal(yaml_parse(&doc, "c.yaml", text, strlen(text), &err), DSE_OK);
    assert_int_equal(mapspace_constraints_read(&doc, doc.root, NULL, problem, &f->arch, &constraints, &err),
                     DSE_OK);
    f->settings.constraints = &constraints;
    for (int how = SAMPLE_CONSTRUCT; how <= SAMPLE_PRIMES; how++) {
        f->settings.draw = (enum sample_draw)how;
        f->settings.n_valid = 50;
        struct kept *kept = draw(f);
        for (size_t i = 0; i < kept->n; i++) {
            const struct mapping_level *dram = &kept->mapping[i].level[f->arch.n_level - 1];
            assert_int_equal(dram->temporal[problem_find_dim(problem, "K")], 8);
            assert_int_equal(dram->temporal[problem_find_dim(problem, "C")], 2);
            assert_int_equal(dram->temporal_order[0], problem_find_dim(problem, "Q"));
            assert_int_equal(dram->temporal_order[1], problem_find_dim(problem, "C"));
        }
        free(kept);
    }
    yaml_doc_free(&doc);
    drop(f);
}

static void test_sample_of_an_empty_space_says_why(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct fixture *f = make(two_text, HEAD DRAM
                             "- {storage: Buffer, word: 8 bit, capacity: 2 B, access_energy: 1 pJ}\n" MACS);
    struct kept *kept = calloc(1, sizeof *kept);
    assert_non_null(kept);
    assert_int_equal(
        sample_space(&f->workload.problem[0], &f->arch, &f->settings, keep_row, kept, &f->summary, &err),
        DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "there is no mapping: Buffer needs 3 B"));
    assert_int_equal(kept->n, 0);
    f->settings.n_valid = f->settings.max_draws = 0;
    assert_int_equal(
        sample_space(&f->workload.problem[0], &f->arch, &f->settings, keep_row, kept, &f->summary, &err),
        DSE_BAD_USAGE);
    free(kept);
    drop(f);
}

static enum dse_status refuse(void *user, const struct sample_row *row, struct dse_error *err)
{
    (void)user;
    return row->draw == 5 ? dse_fail(err, DSE_IO, "full") : DSE_OK;
}

static void test_sample_ends_when_a_row_cannot_be_taken(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct fixture *f = make(conv_text, NULL);
    assert_int_equal(
        sample_space(&f->workload.problem[0], &f->arch, &f->settings, refuse, NULL, &f->summary, &err),
        DSE_IO);
    assert_string_equal(err.text, "full");
    drop(f);
}

/* The flag is set from the third row on; nothing but it would end the draws. */
struct cancelled_rows {
    atomic_int cancel;
    uint64_t n;
};

static enum dse_status cancel_at_three(void *user, const struct sample_row *row, struct dse_error *err)
{
    struct cancelled_rows *rows = user;
    (void)row, (void)err;
    if (++rows->n == 3)
        atomic_store(&rows->cancel, 1);
    return DSE_OK;
}

static void test_sample_can_be_cancelled(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct cancelled_rows rows = {.n = 0};
    struct fixture *f = make(conv_text, NULL);
    atomic_init(&rows.cancel, 0);
    f->settings.n_valid = f->settings.max_draws = UINT64_MAX;
    f->settings.cancel = &rows.cancel;
    assert_int_equal(sample_space(&f->workload.problem[0], &f->arch, &f->settings, cancel_at_three, &rows,
                                  &f->summary, &err),
                     DSE_INTERRUPTED);
    assert_true(rows.n >= 3);
    drop(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(test_sample_rows_are_valid_mappings_at_their_price),
        cmocka_unit_test(test_sample_primes_count_what_does_not_fit),
        cmocka_unit_test(test_sample_keeps_to_constraints),
        cmocka_unit_test(test_sample_of_an_empty_space_says_why),
        cmocka_unit_test(test_sample_ends_when_a_row_cannot_be_taken),
        cmocka_unit_test(test_sample_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
