/* The model against brute force: on problems with a handful of primes every assignment of primes to places
 * and every order of the permutation level (for minmax also of the DRAM) is priced by cosa_terms_of; the
 * cheapest that keeps the charges of docs/cosa.md must be the model's optimum.
 * Tests: model.c, choice.c, orders.c, minmax.c, speed_rows.c, extract.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/cosa/formulation.h"
#include "tests/engines/small_cases.h"

enum { PRIME_MAX = 8, N_PLACE = 5, X_LANE = 3 }; /* temporal at 0, 1, 2; the buffer's fan-out on X and on Y */

/* One problem on the small machine: registers in 2 x 2 lanes, a buffer (the permutation level), a DRAM. */
struct brute {
    struct problem problem;
    struct architecture arch;
    struct cosa_settings settings;
    uint32_t n_prime, dim[PRIME_MAX], prime[PRIME_MAX];
    uint32_t place[PRIME_MAX];
    double best;
    uint64_t n_priced;
};

static void list_primes(struct brute *b)
{
    for (uint32_t d = 0; d < b->problem.n_dim; d++)
        for (uint32_t rest = b->problem.bound[d], p = 2; rest > 1; p++)
            for (; rest % p == 0; rest /= p) {
                assert_true(b->n_prime < PRIME_MAX);
                b->dim[b->n_prime] = d;
                b->prime[b->n_prime++] = p;
            }
}

/* What prime i multiplies the charged tile of tensor t by: coefficient * prime for a related dimension; 2,
 * one bit, for a window dimension in the registers, which are the outermost inner level; 1 for it in the
 * buffer. R is the only window here. */
static double charge(const struct brute *b, uint32_t t, uint32_t i, uint32_t level)
{
    const struct tensor *tensor = &b->problem.tensor[t];
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
            if (tensor->rank[r].term[k].dim == b->dim[i]) {
                bool window = tensor->rank[r].n_term > 1 && b->problem.dim_name[b->dim[i]][0] == 'R';
                return window ? level == 0 ? 2 : 1
                              : (double)tensor->rank[r].term[k].coefficient * b->prime[i];
            }
    return 1;
}

/* The kept tensors have equal parts of a level. */
static bool keeps_rooms(const struct brute *b)
{
    for (uint32_t level = 0; level < 2; level++)
        for (uint32_t t = 0; t < 3; t++) {
            uint32_t keep = b->arch.level[level].keep_role;
            double tile = 1;
            if (!(keep >> b->problem.tensor[t].role & 1u))
                continue;
            for (uint32_t i = 0; i < b->n_prime; i++)
                if (b->place[i] <= level || (b->place[i] >= X_LANE && level == 1))
                    tile *= charge(b, t, i, level);
            if (tile > (double)b->arch.level[level].size_word / __builtin_popcount(keep) + 1e-9)
                return false;
        }
    return true;
}

/* Each lane axis holds a product of at most 2, and no dimension lies on both. */
static bool keeps_lanes(const struct brute *b)
{
    uint32_t product[2] = {1, 1}, dims[2] = {0, 0};
    for (uint32_t i = 0; i < b->n_prime; i++)
        if (b->place[i] >= X_LANE) {
            product[b->place[i] - X_LANE] *= b->prime[i];
            dims[b->place[i] - X_LANE] |= 1u << b->dim[i];
        }
    return product[0] <= 2 && product[1] <= 2 && !(dims[0] & dims[1]);
}

static bool indexes(const struct problem *problem, uint32_t t, uint32_t d)
{
    for (uint32_t r = 0; r < problem->tensor[t].n_rank; r++)
        for (uint32_t k = 0; k < problem->tensor[t].rank[r].n_term; k++)
            if (problem->tensor[t].rank[r].term[k].dim == d)
                return true;
    return false;
}

/* Bits of refetches of tensor t into the level inside `first`, by walking its loops outwards: after the first
 * loop that indexes it, every loop that does not costs. For GEMMs, where no dimension is a window. */
static double refetch_bits(const struct brute *b, const struct mapping *mapping, uint32_t t, uint32_t first)
{
    bool moved = false;
    double bits = 0;
    for (uint32_t l = first; l < 3; l++)
        for (uint32_t i = 0; i < b->problem.n_dim; i++) {
            uint32_t d = mapping->level[l].temporal_order[i], factor = mapping->level[l].temporal[d];
            if (factor > 1 && indexes(&b->problem, t, d))
                moved = true;
            else if (moved)
                bits += log2(factor);
        }
    return bits;
}

static bool in_buffer(const struct brute *b, uint32_t t)
{
    return b->arch.level[1].keep_role >> b->problem.tensor[t].role & 1u;
}

/* log2 of the cycles of one port of the buffer as docs/cosa.md has them: the largest of each transfer, each
 * two and all. The buffer reads operands for the registers and outputs for the DRAM, and writes the
 * others. */
static double port_bits(const struct brute *b, const struct mapping *mapping, bool reads, bool writes,
                        double words)
{
    double x[6], sum = 0, most = -INFINITY;
    uint32_t n = 0;
    for (uint32_t t = 0; t < 3; t++)
        for (uint32_t first = 1; first < 3; first++)
            if (in_buffer(b, t) && ((t == 2) == (first == 2) ? reads : writes)) {
                x[n] =
                    log2((double)problem_tensor_words(&b->problem, t)) + refetch_bits(b, mapping, t, first);
                sum += x[n++];
            }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++)
            most = fmax(most, (x[i] + x[j]) / 2 + (j > i));
    return fmax(most, sum / n + log2(n)) - log2(words);
}

/* 10 max(compute, traffic of each tensor, ports of the buffer) + 3 compute + traffic terms + refetches - 0.1
 * utilisation; the DRAM moves 4 words a cycle. */
static double minmax_cost(const struct brute *b, const struct mapping *mapping,
                          const struct cosa_terms *terms)
{
    double most = terms->comp, refetches = 0;
    for (uint32_t t = 0; t < 3; t++) {
        double bits = refetch_bits(b, mapping, t, in_buffer(b, t) ? 2 : 1);
        most = fmax(most, log2((double)problem_tensor_words(&b->problem, t)) + bits - 2);
        refetches += bits;
    }
    const struct storage_level *buffer = &b->arch.level[1];
    most = fmax(most, port_bits(b, mapping, true, false, buffer->read_bandwidth_word_per_cycle));
    most = fmax(most, port_bits(b, mapping, false, true, buffer->write_bandwidth_word_per_cycle));
    most = fmax(most, port_bits(b, mapping, true, true, buffer->shared_bandwidth_word_per_cycle));
    return 10 * most + 3 * terms->comp + terms->traf + refetches - 0.1 * terms->util;
}

/* Try every order of level l's loops from position n on, then those of the next level if it has any to
 * choose. */
static void try_orders(struct brute *b, struct mapping *mapping, uint32_t l, uint32_t n)
{
    uint8_t *order = mapping->level[l].temporal_order;
    bool minmax = b->settings.form == COSA_FORM_MINMAX;
    if (n == b->problem.n_dim && minmax && l == 1) {
        try_orders(b, mapping, 2, 0);
        return;
    }
    if (n == b->problem.n_dim) {
        struct cosa_terms terms;
        cosa_terms_of(&b->problem, &b->arch, &b->settings, mapping, &terms);
        b->best = fmin(b->best, minmax ? minmax_cost(b, mapping, &terms) : terms.objective);
        b->n_priced++;
        return;
    }
    for (uint32_t i = n; i < b->problem.n_dim; i++) {
        uint8_t first = order[i];
        order[i] = order[n];
        order[n] = first;
        try_orders(b, mapping, l, n + 1);
        order[n] = order[i];
        order[i] = first;
    }
}

static void try_places(struct brute *b, uint32_t i)
{
    if (i < b->n_prime) {
        for (b->place[i] = 0; b->place[i] < N_PLACE; b->place[i]++)
            try_places(b, i + 1);
        return;
    }
    if (!keeps_lanes(b) || !keeps_rooms(b))
        return;
    struct mapping mapping;
    mapping_init(&mapping, &b->problem, &b->arch);
    for (uint32_t d = 0; d < b->problem.n_dim; d++)
        mapping.level[2].temporal[d] = 1;
    for (uint32_t j = 0; j < b->n_prime; j++) {
        uint32_t place = b->place[j];
        uint32_t *factor = place >= X_LANE ? mapping.level[1].spatial : mapping.level[place].temporal;
        factor[b->dim[j]] *= b->prime[j];
    }
    try_orders(b, &mapping, 1, 0);
}

static void check_brute(struct brute *b)
{
    struct cosa_shape shape;
    struct milp_result result;
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    b->best = INFINITY;
    list_primes(b);
    try_places(b, 0);
    assert_true(b->n_priced > 500);
    b->settings.limits.relative_gap = 1e-9;
    cosa_shape_init(&shape, &b->problem, &b->arch, NULL, &b->settings);
    assert_int_equal(shape.permutation, 1);
    for (int plain = 0; plain < 2; plain++) {
        struct cosa_model *model = arena_alloc(&arena, 1, sizeof *model);
        assert_non_null(model);
        assert_int_equal(
            cosa_model_build(model, &shape, &b->settings, b->settings.halo, plain == 1, &arena, &err),
            DSE_OK);
        assert_int_equal(milp_solve(model->milp, &b->settings.limits, &arena, &result, &err), DSE_OK);
        assert_int_equal(result.status, MILP_OPTIMAL);
        if (!(fabs(result.objective - b->best) <= 1e-7 * fabs(b->best)))
            fail_msg("%s: the model says %.10g, brute force %.10g", b->problem.name, result.objective,
                     b->best);
    }
    arena_free(&arena);
}

static void start(struct brute *b, uint64_t register_word, uint64_t buffer_word)
{
    memset(b, 0, sizeof *b);
    small_machine(&b->arch, register_word, buffer_word);
    cosa_settings_init(&b->settings);
}

static void test_model_is_brute_force_on_gemms(void **state)
{
    (void)state;
    struct brute b;
    start(&b, 12, 30);
    small_gemm(&b.problem, 4, 6, 2);
    check_brute(&b);
    start(&b, 6, 48);
    small_gemm(&b.problem, 2, 4, 10);
    check_brute(&b);
    start(&b, 6, 20); /* other weights, so that the order and the buffers matter more than the time */
    small_gemm(&b.problem, 6, 2, 6);
    b.settings.weight_comp = 0.5;
    b.settings.weight_util = 0.7;
    b.settings.weight_traf = 3;
    b.settings.spatial_related_only = true;
    check_brute(&b);
}

/* With all tensors in the buffer, then with the first operand past it, as Simba's weights go past the global
 * buffer. */
static void test_minmax_model_is_brute_force(void **state)
{
    (void)state;
    static const uint32_t bound[][3] = {{4, 6, 2}, {2, 4, 10}, {6, 2, 6}, {8, 3, 2}, {2, 2, 12}};
    for (int i = 0; i < 10; i++) {
        struct brute b;
        start(&b, 6, i % 2 ? 12 : 24);
        if (i >= 5)
            b.arch.level[1].keep_role = 1u << TENSOR_INPUT | 1u << TENSOR_OUTPUT;
        small_gemm(&b.problem, bound[i % 5][0], bound[i % 5][1], bound[i % 5][2]);
        b.settings.form = COSA_FORM_MINMAX;
        check_brute(&b);
    }
}

/* The buffer, not the DRAM, is the slow one: by its read, its write or its one shared port. */
static void test_minmax_sees_the_slowest_level(void **state)
{
    (void)state;
    static const uint32_t bound[][3] = {{4, 6, 2}, {2, 4, 10}, {6, 2, 6}, {8, 3, 2}};
    for (int i = 0; i < 12; i++) {
        struct brute b;
        start(&b, 6, i % 2 ? 12 : 24);
        if (i >= 8)
            b.arch.level[1].keep_role = 1u << TENSOR_INPUT | 1u << TENSOR_OUTPUT;
        if (i % 3 == 0)
            b.arch.level[1].read_bandwidth_word_per_cycle = 0.5;
        if (i % 3 == 1)
            b.arch.level[1].write_bandwidth_word_per_cycle = 0.5;
        if (i % 3 == 2)
            b.arch.level[1].shared_bandwidth_word_per_cycle = 0.75;
        small_gemm(&b.problem, bound[i % 4][0], bound[i % 4][1], bound[i % 4][2]);
        b.settings.form = COSA_FORM_MINMAX;
        check_brute(&b);
    }
}

static void test_model_is_brute_force_on_windows(void **state)
{
    (void)state;
    struct brute b;
    start(&b, 12, 60);
    small_conv(&b.problem, 3, 2, 2, 2);
    check_brute(&b);
    start(&b, 24, 36);
    small_conv(&b.problem, 3, 2, 2, 2);
    b.settings.weight_comp = 1;
    check_brute(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_is_brute_force_on_gemms),
        cmocka_unit_test(test_minmax_model_is_brute_force),
        cmocka_unit_test(test_minmax_sees_the_slowest_level),
        cmocka_unit_test(test_model_is_brute_force_on_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
