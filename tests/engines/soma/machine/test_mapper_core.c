/* A mapper as the scheduler of a core array. What it answers is compared with the same steps done by hand:
 * the layer's loop nest, the architecture without its DRAM, the engine's mapping, the plain cost model. */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/soma/notation/tile_plan.h"
#include "tests/support/accounting_refetch.h"
#include "tests/support/core_fixture.h"
#include "tests/support/soma_case.h"

enum { BUDGET = 300 };

static void check_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

/* 3x3 convolution, 32 to 64 channels, 8 x 16 outputs: no bound that would be filled up. */
static const struct core_tile conv = {
    .b = 1, .k = 64, .c = 32, .h = 8, .w = 16, .r = 3, .s = 3, .stride_h = 1, .stride_w = 1, .groups = 1};

/* Convolutions, strides, groups, fully connected layers, both attention products. */
static void test_mapper_core_problem_of_a_whole_layer_is_the_layers(void **state)
{
    static const char *const name[] = {"resnet50_soma",        "randwire_small",      "gpt2_small_prefill512",
                                       "gpt2_small_decode513", "inception_resnet_v1", "mobilenet_v1"};
    const uint32_t batch = 2;
    uint32_t n_layer = 0;
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char path[128] = "experiments/networks/";
        struct network network;
        struct dse_error err;
        assert_int_equal(network_read(strcat(strcat(path, name[i]), ".yaml"), &network, &err), DSE_OK);
        for (uint32_t l = 0; l < network.n_layer; l++) {
            const struct layer *layer = &network.layer[l];
            const struct soma_shape whole = {batch, layer->k, layer->p, layer->q};
            const struct core_tile tile = soma_core_tile(layer, &whole);
            struct problem mine, theirs;
            if (!layer_has_macs(layer))
                continue;
            assert_int_equal(mapper_core_problem(&tile, &mine, &err), DSE_OK);
            assert_int_equal(layer_problem(layer, batch, &theirs, &err), DSE_OK);
            assert_int_equal(mine.n_dim, theirs.n_dim);
            assert_memory_equal(mine.bound, theirs.bound, sizeof mine.bound);
            assert_memory_equal(mine.tensor, theirs.tensor, sizeof mine.tensor);
            n_layer++;
        }
        network_free(&network);
    }
    assert_true(n_layer > 300);
}

/* A tile of 40 channels of a layer with 4 groups of 8 by 8: 5 groups of the layer's size. */
static void test_mapper_core_problem_keeps_the_size_of_groups(void **state)
{
    struct core_tile tile = conv;
    struct problem problem;
    struct dse_error err;
    (void)state;
    tile.groups = 4, tile.k = 40, tile.group_k = 8;
    assert_int_equal(mapper_core_problem(&tile, &problem, &err), DSE_OK);
    assert_int_equal(problem.bound[problem_find_dim(&problem, "G")], 5);
    assert_int_equal(problem.bound[problem_find_dim(&problem, "C")], 8);
    assert_int_equal(problem.bound[problem_find_dim(&problem, "K")], 8);
    tile.groups = 5;
    assert_int_equal(mapper_core_problem(&tile, &problem, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "groups do not divide"));
    tile = conv, tile.h = 0;
    assert_int_equal(mapper_core_problem(&tile, &problem, &err), DSE_BAD_INPUT);
}

/* Without the DRAM level: what the cost must be. */
static struct evaluation inside_by_hand(struct core_fixture *f, const struct problem *problem,
                                        const struct mapping *mapping)
{
    struct architecture inside = f->arch;
    struct evaluator *evaluator;
    struct evaluation_detail *detail = arena_alloc(&f->arena, 1, sizeof *detail);
    inside.n_level--;
    assert_non_null(detail);
    assert_int_equal(evaluator_new(&accounting_timeloop, problem, &inside, &evaluator, &f->err), DSE_OK);
    assert_int_equal(evaluator_detail(evaluator, mapping, &f->arena, detail, &f->err), DSE_OK);
    assert_int_equal(detail->total.fit.what, FITS);
    evaluator_delete(evaluator);
    return detail->total;
}

/* An engine that can only be priced by another accounting is priced by that one. */
static void test_mapper_core_prices_by_the_engines_accounting(void **state)
{
    static const struct engine_accounting only[] = {{&accounting_refetch, NULL, 0}, {NULL, NULL, 0}};
    struct core_fixture f;
    struct evaluator *evaluator;
    struct evaluation_detail refetched;
    struct problem problem;
    (void)state;
    core_fixture_open(&f, "soma_edge", "random", BUDGET);
    struct engine engine = *f.core.engine;
    struct engine_result *result = arena_alloc(&f.arena, 1, sizeof *result);
    engine.accounting = only;
    f.core.engine = &engine;
    assert_int_equal(mapper_core_solve(&f.core, &conv, &f.arena, &problem, result, &f.err), DSE_OK);
    assert_int_equal(evaluator_new(&accounting_refetch, &problem, &f.core.arch, &evaluator, &f.err), DSE_OK);
    assert_int_equal(evaluator_detail(evaluator, &result->mapping, &f.arena, &refetched, &f.err), DSE_OK);
    evaluator_delete(evaluator);
    check_near(result->evaluation.energy_j, refetched.total.energy_j);
    assert_true(fabs(inside_by_hand(&f, &problem, &result->mapping).energy_j / refetched.total.energy_j - 1) >
                1e-3);
    arena_free(&f.arena);
}

static void check_cost_by_hand(const char *arch, const char *engine, const struct core_tile *tile)
{
    struct core_fixture f;
    struct core_cost cost;
    struct problem problem;
    core_fixture_open(&f, arch, engine, BUDGET);
    struct engine_result *result = arena_alloc(&f.arena, 1, sizeof *result);
    if (mapper_core_cost(&f.core, tile, &cost, &f.err) != DSE_OK)
        fail_msg("%s", f.err.text);
    assert_int_equal(mapper_core_solve(&f.core, tile, &f.arena, &problem, result, &f.err), DSE_OK);
    assert_true(result->feasible);
    struct evaluation total = inside_by_hand(&f, &problem, &result->mapping);
    uint32_t home = f.arch.n_level - 2;
    double local = 0, bus = 0;
    for (uint32_t l = 0; l < home; l++)
        local += total.level_energy_j[l];
    for (uint32_t l = 0; l <= home; l++)
        bus += total.network_energy_j[l];
    assert_int_equal(cost.cycle, total.latency_cycle);
    check_near(cost.energy_j, total.energy_j);
    check_near(cost.buffer_energy_j, total.level_energy_j[home]);
    check_near(cost.local_energy_j, local);
    check_near(cost.bus_energy_j, bus);
    check_near(cost.mac_energy_j, total.energy_mac_j);
    arena_free(&f.arena);
}

static void test_mapper_core_cost_is_the_plain_evaluation(void **state)
{
    static const char *const engine[] = {"descent", "cosa", "random", "hybrid", "genetic", "annealing"};
    (void)state;
    for (size_t i = 0; i < sizeof engine / sizeof *engine; i++)
        check_cost_by_hand("soma_edge", engine[i], &conv);
    check_cost_by_hand("simba_fused", "descent", &conv);
    check_cost_by_hand("simba_fused", "cosa", &conv);
    struct core_tile grouped = conv;
    grouped.groups = 8, grouped.stride_h = 2;
    check_cost_by_hand("soma_edge", "descent", &grouped);
    grouped.weights_from_layer = true, grouped.b = 3, grouped.r = grouped.s = 1;
    check_cost_by_hand("soma_edge", "descent", &grouped);
}

/* The tile's mapping below a DRAM whose loops are all 1 is the layer's mapping on the whole machine: with an
 * unlimited DRAM it takes the same cycles (the buffer's fills are below its bandwidth on these machines), and
 * the energy besides is machine.dram_energy_j for each byte that comes in and the DRAM's for each that goes
 * out. So nothing of the DRAM is in the cost and nothing is missing. */
static void check_dram_apart(const char *arch)
{
    struct core_fixture f;
    struct problem problem;
    struct evaluator *evaluator;
    core_fixture_open(&f, arch, "descent", BUDGET);
    struct engine_result *result = arena_alloc(&f.arena, 1, sizeof *result);
    struct evaluation_detail *detail = arena_alloc(&f.arena, 1, sizeof *detail);
    assert_int_equal(mapper_core_solve(&f.core, &conv, &f.arena, &problem, result, &f.err), DSE_OK);
    uint32_t top = f.arch.n_level - 1;
    struct mapping whole = result->mapping;
    struct storage_level *dram = &f.arch.level[top];
    whole.n_level = (uint8_t)f.arch.n_level;
    whole.level[top] = whole.level[top - 1];
    for (uint32_t d = 0; d < problem.n_dim; d++)
        whole.level[top].temporal[d] = whole.level[top].spatial[d] = 1;
    dram->shared_bandwidth_word_per_cycle = INFINITY;
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &f.arch, &evaluator, &f.err), DSE_OK);
    assert_int_equal(evaluator_detail(evaluator, &whole, &f.arena, detail, &f.err), DSE_OK);
    assert_int_equal(detail->total.fit.what, FITS);
    assert_int_equal(detail->total.latency_cycle, result->evaluation.latency_cycle);
    double in = 64 * 32 * 9 + 32 * 10 * 18, out = 64 * 8 * 16; /* words of `conv`, whole blocks of 64 */
    double dram_word_j = dram->read_energy_j / dram->block_word;
    check_near(detail->total.energy_j,
               result->evaluation.energy_j + in * f.split.machine.dram_energy_j + out * dram_word_j);
    evaluator_delete(evaluator);
    arena_free(&f.arena);
}

static void test_mapper_core_cost_has_nothing_of_the_dram(void **state)
{
    (void)state;
    check_dram_apart("soma_edge");
    check_dram_apart("simba_fused");
}

/* soma_edge: 8192 MACs, hence 512 lanes, 0.018 * 0.0873 / 0.018 pJ; the buffer reads 256 bytes per cycle,
 * 1.52588502 and 2.877791037 pJ. */
static void test_mapper_core_vector_rule(void **state)
{
    struct core_fixture f;
    struct core_cost cost;
    (void)state;
    core_fixture_open(&f, "soma_edge", "descent", BUDGET);
    struct core_tile pool = {.operation = CORE_VECTOR, .b = 1, .k = 64, .c = 64, .h = 56, .w = 56};
    pool.r = pool.s = 3, pool.stride_h = pool.stride_w = 2, pool.groups = pool.operands = 1;
    assert_int_equal(mapper_core_cost(&f.core, &pool, &cost, &f.err), DSE_OK);
    assert_int_equal(cost.cycle, 3528); /* 64 * 56 * 56 * 9 / 512; reads 64 * 113 * 113 / 256 = 3193 */
    check_near(cost.mac_energy_j, 64.0 * 56 * 56 * 9 * 0.0873e-12);
    check_near(cost.buffer_energy_j, 64.0 * 113 * 113 * 1.52588502e-12 + 64.0 * 56 * 56 * 2.877791037e-12);
    check_near(cost.energy_j, cost.mac_energy_j + cost.buffer_energy_j);
    struct core_tile sum = {.operation = CORE_VECTOR, .b = 2, .k = 256, .c = 256, .h = 28, .w = 56};
    sum.r = sum.s = sum.stride_h = sum.stride_w = sum.groups = 1, sum.operands = 2;
    assert_int_equal(mapper_core_cost(&f.core, &sum, &cost, &f.err), DSE_OK);
    assert_int_equal(cost.cycle, 6272); /* reads 2 * 802,816 / 256; operations 3136 */
    check_near(cost.buffer_energy_j, 802816 * (2 * 1.52588502e-12 + 2.877791037e-12));
    pool.r = pool.s = 1; /* one of four is read */
    assert_int_equal(mapper_core_cost(&f.core, &pool, &cost, &f.err), DSE_OK);
    assert_int_equal(cost.cycle, 784); /* 64 * 56 * 56 / 256 */
    arena_free(&f.arena);
    core_fixture_open(&f, "simba_fused", "descent",
                      BUDGET); /* 1024 MACs, 64 lanes; blocks of 8 words; no bandwidth */
    assert_int_equal(mapper_core_cost(&f.core, &sum, &cost, &f.err), DSE_OK);
    assert_int_equal(cost.cycle, 2 * 802816 / 64);
    check_near(cost.buffer_energy_j, 3 * 802816 / 8 * 29.62814070e-12);
    arena_free(&f.arena);
}

/* 31 is a prime, which no mesh of 4 x 4 takes: 32 rows are better than 31. */
static void test_mapper_core_fills_up_where_it_pays(void **state)
{
    struct core_fixture f;
    struct core_tile tile = conv;
    struct problem problem, exact;
    (void)state;
    core_fixture_open(&f, "soma_edge", "descent", BUDGET);
    struct engine_result *result = arena_alloc(&f.arena, 1, sizeof *result);
    tile.h = tile.w = 31;
    assert_int_equal(mapper_core_problem(&tile, &exact, &f.err), DSE_OK);
    assert_int_equal(mapper_core_solve(&f.core, &tile, &f.arena, &problem, result, &f.err), DSE_OK);
    assert_true(result->feasible);
    for (uint32_t d = 0; d < problem.n_dim; d++)
        assert_true(problem.bound[d] >= exact.bound[d]);
    assert_int_equal(problem.bound[problem_find_dim(&problem, "P")], 32);
    assert_int_equal(problem.bound[problem_find_dim(&problem, "R")], 3);
    /* all 8192 MACs can do it in 32 * 64 * 9 * 32 * 31 / 8192 cycles at best */
    assert_true(result->evaluation.latency_cycle >= 2232 &&
                result->evaluation.n_compute >= 32.0 * 64 * 9 * 32 * 31);
    arena_free(&f.arena);
}

/* Whole machine words, so that a cost can be compared byte by byte. */
enum { N_TILE = 24 };

static struct core_tile tile_number(uint32_t i)
{
    struct core_tile tile = conv;
    tile.h = 4 + i % 7;
    tile.w = 7 + i % 5;
    tile.k = 16 + 8 * (i % 3);
    if (i % 4 == 3)
        tile.operation = CORE_VECTOR;
    return tile;
}

/* A tile that is not mapped in time has no cost, and none is remembered. */
static void test_mapper_core_that_is_late_has_no_cost(void **state)
{
    struct core_fixture f;
    struct core_cache *cache;
    struct core_cached cached;
    struct core_cost cost;
    atomic_int cancel = 1;
    (void)state;
    core_fixture_open(&f, "soma_edge", "descent", BUDGET);
    assert_int_equal(core_cache_new(1 << 12, &cache, &f.err), DSE_OK);
    assert_int_equal(mapper_core_join(cache, &f.core, &cached, &f.err), DSE_OK);
    struct core_scheduler scheduler = core_cached_scheduler(&cached);
    for (int late = 0; late < 2; late++) {
        f.core.stop_at_s = late ? 1e-9 : 0;
        f.core.cancel = late ? NULL : &cancel;
        assert_int_equal(scheduler.cost(scheduler.self, &conv, &cost, &f.err), DSE_BAD_INPUT);
        assert_non_null(strstr(f.err.text, "the time was over before engine descent had mapped a tile"));
    }
    f.core.stop_at_s = 0;
    assert_int_equal(scheduler.cost(scheduler.self, &conv, &cost, &f.err), DSE_OK);
    core_cache_free(cache);
    arena_free(&f.arena);
}

static void test_mapper_core_does_not_depend_on_threads(void **state)
{
    struct core_fixture f;
    struct core_cache *cache;
    struct core_cached cached;
    struct core_cost alone[N_TILE], shared[2 * N_TILE];
    int n_failed = 0;
    (void)state;
    core_fixture_open(&f, "soma_edge", "descent", BUDGET);
    for (uint32_t i = 0; i < N_TILE; i++) {
        struct core_tile tile = tile_number(i);
        assert_int_equal(mapper_core_cost(&f.core, &tile, &alone[i], &f.err), DSE_OK);
    }
    assert_int_equal(core_cache_new(1 << 12, &cache, &f.err), DSE_OK);
    assert_int_equal(mapper_core_join(cache, &f.core, &cached, &f.err), DSE_OK);
    struct core_scheduler scheduler = core_cached_scheduler(&cached);
#pragma omp parallel for num_threads(4) schedule(dynamic, 1) reduction(+ : n_failed)
    for (uint32_t i = 0; i < 2 * N_TILE; i++) {
        struct core_tile tile = tile_number(i % N_TILE);
        n_failed += scheduler.cost(scheduler.self, &tile, &shared[i], NULL) != DSE_OK;
    }
    assert_int_equal(n_failed, 0);
    for (uint32_t i = 0; i < 2 * N_TILE; i++)
        assert_memory_equal(&shared[i], &alone[i % N_TILE], sizeof alone[0]);
    core_cache_free(cache);
    arena_free(&f.arena);
}

/* A scheduler behind a cache that counts how often it is asked. */
struct counted {
    struct core_scheduler inner;
    size_t asked;
};

static enum dse_status counted_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                    struct dse_error *err)
{
    struct counted *counted = *(struct counted *const *)self;
    counted->asked++;
    return counted->inner.cost(counted->inner.self, tile, cost, err);
}

/* Equal content shares entries; another engine, option, budget, seed or quantity of the machine does not. */
static void test_mapper_core_shares_costs_by_content(void **state)
{
    struct core_fixture f;
    struct core_cache *cache;
    struct core_cost cost;
    const struct core_tile tile = tile_number(3); /* a vector tile: quick */
    struct mapper_core variant[7];
    (void)state;
    core_fixture_open(&f, "soma_edge", "descent", BUDGET);
    for (size_t i = 0; i < 7; i++)
        variant[i] = f.core;
    variant[2].max_evaluations++;
    variant[3].seed++;
    variant[4].option[0]++;
    variant[5].arch.level[0].read_energy_j = 1e-12;
    assert_int_equal(mapper_core_init(&f.split, engine_find("cosa"), NULL, BUDGET, &variant[6], &f.err),
                     DSE_OK);
    assert_int_equal(core_cache_new(1 << 12, &cache, &f.err), DSE_OK);
    for (size_t i = 0; i < 7; i++) {
        struct core_cached cached;
        assert_int_equal(mapper_core_join(cache, &variant[i], &cached, &f.err), DSE_OK);
        struct counted counted = {.inner = cached.inner}, *self = &counted;
        cached.inner = (struct core_scheduler){&self, counted_cost};
        struct core_scheduler scheduler = core_cached_scheduler(&cached);
        assert_int_equal(scheduler.cost(scheduler.self, &tile, &cost, &f.err), DSE_OK);
        assert_int_equal(counted.asked, i != 1);
    }
    core_cache_free(cache);
    arena_free(&f.arena);
}

/* A buffer of inputs that must be full: no mapping of a small tile. The scheme is not valid, and the reason
 * is told. */
static void test_mapper_core_says_why_a_tile_has_no_mapping(void **state)
{
    struct core_fixture f;
    struct soma_case c;
    struct core_tile tile = conv;
    struct core_cost cost;
    (void)state;
    core_fixture_open(&f, "soma_edge", "descent", BUDGET);
    int inputs = architecture_find_level(&f.core.arch, "AL1");
    f.core.arch.level[inputs].min_utilization = 1;
    tile.b = tile.h = tile.w = tile.r = tile.s = 1;
    assert_int_equal(mapper_core_cost(&f.core, &tile, &cost, &f.err), DSE_BAD_INPUT);
    if (!strstr(f.err.text,
                "engine descent finds no mapping on soma_edge for a tile of 1 x 64 x 1 x 1 outputs") ||
        !strstr(f.err.text, "AL1"))
        fail_msg("%s", f.err.text);
    soma_case_open(&c, "tests/known/soma/tiny6.yaml", 8 << 20);
    c.context.core = mapper_core_scheduler(&f.core);
    struct soma_lfa lfa =
        soma_case_lfa(&c, "cut 4 A_conv3x3 B_conv3x3 C_conv1x1 D_add E_pool2x2 F_conv3x3s2");
    assert_false(soma_case_parse(&c, &lfa));
    assert_int_equal(c.fault.what, SOMA_COST);
    assert_int_equal(c.fault.layer, 0);
    assert_int_equal(c.schedule.n_tile, 0);
    assert_non_null(strstr(c.err.text, "engine descent finds no mapping"));
    soma_case_close(&c);
    arena_free(&f.arena);
}

static void test_mapper_core_takes_mappers_only(void **state)
{
    struct core_fixture f;
    struct mapper_core core;
    (void)state;
    core_fixture_open(&f, "soma_edge", "descent", BUDGET);
    assert_int_equal(mapper_core_init(&f.split, engine_find("unfused"), NULL, 0, &core, &f.err),
                     DSE_BAD_USAGE);
    assert_non_null(strstr(f.err.text, "unfused is no mapper"));
    arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapper_core_prices_by_the_engines_accounting),
        cmocka_unit_test(test_mapper_core_problem_of_a_whole_layer_is_the_layers),
        cmocka_unit_test(test_mapper_core_problem_keeps_the_size_of_groups),
        cmocka_unit_test(test_mapper_core_cost_is_the_plain_evaluation),
        cmocka_unit_test(test_mapper_core_cost_has_nothing_of_the_dram),
        cmocka_unit_test(test_mapper_core_vector_rule),
        cmocka_unit_test(test_mapper_core_fills_up_where_it_pays),
        cmocka_unit_test(test_mapper_core_does_not_depend_on_threads),
        cmocka_unit_test(test_mapper_core_that_is_late_has_no_cost),
        cmocka_unit_test(test_mapper_core_shares_costs_by_content),
        cmocka_unit_test(test_mapper_core_says_why_a_tile_has_no_mapping),
        cmocka_unit_test(test_mapper_core_takes_mappers_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
