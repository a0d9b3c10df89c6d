/* The same thing priced twice agrees (docs/core-array.md, "One ruler"): layers by a mapping on the whole
 * machine and by a fused schedule whose tiles that mapper schedules. Where a layer is one tile, whatever is
 * on the chip is equal, and what the DRAM moves differs by what the page lists; where it is cut, both ways
 * are near.
 * Tests: mapper_core.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/fused/accounting_soma.h"
#include "costmodel/fused/core_machine.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "engines/soma/notation/tile_plan.h"
#include "engines/soma/task.h"

enum { BUDGET = 40 };

#define ENOUGH_WORDS (1ull << 40) /* any layer fits the buffer */

static const char *const machines[] = {"simba", "eyeriss_12x14", "tpu_128x128", "soma_edge"};
static const char *const networks[] = {"resnet18", "bert_base"};

enum { N_MACHINE = sizeof machines / sizeof *machines, N_NETWORK = sizeof networks / sizeof *networks };

struct fixture {
    struct architecture arch; /* with a buffer for all */
    struct core_split split;
    struct network network;
    struct engine_task task;
    struct soma_task made;
    struct arena arena, scratch;
    struct dse_error err;
};

static void must(enum dse_status status, const struct dse_error *err)
{
    if (status != DSE_OK)
        fail_msg("%s", err->text);
}

static void open_case(struct fixture *f, const char *machine, const char *network)
{
    char path[2][128] = {"experiments/architectures/", "experiments/networks/"};
    const struct soma_core_choice choice = {SOMA_CORE_DESCENT, BUDGET};
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    arena_init(&f->scratch);
    must(architecture_read(strcat(strcat(path[0], machine), ".yaml"), &f->arch, &f->err), &f->err);
    must(core_machine_split(&f->arch, &f->split, &f->err), &f->err);
    f->arch.level[f->split.buffer].size_word = ENOUGH_WORDS;
    must(core_machine_split(&f->arch, &f->split, &f->err), &f->err);
    must(network_read(strcat(strcat(path[1], network), ".yaml"), &f->network, &f->err), &f->err);
    f->task = (struct engine_task){
        .architecture = &f->arch, .network = &f->network, .batch = 1, .objective = MAPPER_CORE_OBJECTIVE};
    must(soma_task_prepare(&f->task, NULL, &accounting_soma, choice, &f->arena, &f->made, &f->err), &f->err);
}

static void close_case(struct fixture *f)
{
    soma_task_free(&f->made);
    network_free(&f->network);
    arena_free(&f->arena);
    arena_free(&f->scratch);
}

static void check_near(const struct fixture *f, const char *what, double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b))))
        fail_msg("%s on %s: %s is %.17g one way and %.17g the other", f->network.name, f->arch.name, what, a,
                 b);
}

/* ---- the two ways ---- */

/* A tile's mapping, on the whole machine, with `n` steps of dimension d at the DRAM. */
static void lift(const struct fixture *f, const struct mapping *inside, uint32_t d, uint32_t n,
                 struct mapping *whole)
{
    const uint32_t top = f->arch.n_level - 1, home = f->split.home;
    assert_int_equal(home, top - 1); /* no level between that was left out */
    *whole = *inside;
    whole->n_level = (uint8_t)f->arch.n_level;
    if (!f->split.streams)
        whole->level[top] = whole->level[home];
    for (uint32_t i = 0; i < whole->n_dim; i++) {
        assert_true(!f->split.streams || whole->level[top].temporal[i] == 1);
        whole->level[top].temporal[i] = i == d ? n : 1;
        if (!f->split.streams)
            whole->level[top].spatial[i] = 1;
    }
    whole->level[top].keep = 7;
}

struct way {
    double mac, macs, chip_j,
        fill_j; /* fill_j, of chip_j: what comes from the DRAM written into the buffer */
    double role_j[TENSOR_ROLE_COUNT]; /* of chip_j without fill_j, by the role of the tensor */
    double moved_word;                /* from and to the DRAM, past the buffer or not */
    uint64_t cycle;
};

/* The mapper's way: one nest on the whole machine. */
static struct way by_mapping(struct fixture *f, const struct problem *problem, const struct mapping *mapping)
{
    struct evaluator *evaluator;
    struct evaluation_detail *detail = arena_alloc(&f->scratch, 1, sizeof *detail);
    const uint32_t top = f->arch.n_level - 1, home = f->split.home;
    const struct storage_level *buffer = &f->arch.level[home];
    struct architecture arch = f->arch; /* cycles of the core array alone */
    arch.level[top].read_bandwidth_word_per_cycle = INFINITY;
    arch.level[top].write_bandwidth_word_per_cycle = INFINITY;
    arch.level[top].shared_bandwidth_word_per_cycle = INFINITY;
    must(evaluator_new(&accounting_timeloop, problem, &arch, &evaluator, &f->err), &f->err);
    must(evaluator_detail(evaluator, mapping, &f->scratch, detail, &f->err), &f->err);
    assert_int_equal(detail->total.fit.what, FITS);
    struct way way = {.mac = (double)problem_macs(problem), .chip_j = detail->total.energy_mac_j};
    for (uint32_t l = 0; l <= top; l++)
        way.chip_j += (l < top ? detail->total.level_energy_j[l] : 0) + detail->total.network_energy_j[l];
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor_counts *kept = &detail->level[home].tensor[t],
                                   *source = &detail->level[top].tensor[t];
        const double fill_j = kept->keep
                                  ? ceil((double)kept->fills / buffer->block_word) * buffer->write_energy_j +
                                        (double)kept->fills * buffer->address_energy_j
                                  : 0;
        double *role_j = &way.role_j[problem->tensor[t].role];
        for (uint32_t l = 0; l <= top; l++) {
            const struct tensor_counts *counts = &detail->level[l].tensor[t];
            const struct network_counts *network = &detail->level[l].network[t];
            *role_j += (l < top ? counts->access_energy_j + counts->address_energy_j : 0) +
                       network->energy_j + network->link_energy_j;
        }
        *role_j -= fill_j;
        way.fill_j += fill_j;
        way.moved_word += (double)(problem->tensor[t].read_write ? source->updates : source->reads);
    }
    way.cycle = detail->total.latency_cycle;
    evaluator_delete(evaluator);
    return way;
}

static const struct layer *layer_at(const struct fixture *f, uint32_t l)
{
    return &f->made.search.context.network->layer[l];
}

static struct core_tile tile_of(const struct fixture *f, uint32_t l)
{
    const struct layer *layer = layer_at(f, l);
    const struct soma_shape whole = {f->made.search.context.batch, layer->k, layer->p, layer->q};
    return soma_core_tile(layer, &whole);
}

static struct core_cost price_of(struct fixture *f, const struct core_tile *tile)
{
    const struct core_scheduler *core = &f->made.search.context.core;
    struct core_cost cost;
    must(core->cost(core->self, tile, &cost, &f->err), &f->err);
    return cost;
}

/* ---- one tile per layer ---- */

/* A layer as one tile and as its mapping without a loop at the DRAM: MACs, energy on the chip and cycles. */
static void check_layer(struct fixture *f, uint32_t l)
{
    const struct core_tile tile = tile_of(f, l);
    const struct core_cost cost = price_of(f, &tile);
    struct engine_result *result = arena_alloc(&f->scratch, 1, sizeof *result);
    struct problem problem, own;
    struct mapping whole;
    must(mapper_core_solve(&f->made.core.mapper, &tile, &f->scratch, &problem, result, &f->err), &f->err);
    assert_true(result->feasible);
    lift(f, &result->mapping, 0, 1, &whole);
    const struct way way = by_mapping(f, &problem, &whole);
    must(layer_problem(layer_at(f, l), f->made.search.context.batch, &own, &f->err), &f->err);
    assert_true(problem_macs(&problem) >= problem_macs(&own)); /* more where the nest was filled up */
    check_near(f, "energy of the MACs", cost.mac_energy_j, way.mac * f->arch.mac.energy_j);
    check_near(f, "energy on the chip", cost.energy_j, way.chip_j - way.fill_j);
    assert_true(way.cycle >= cost.cycle); /* the fills of the buffer may take its port */
    if (isinf(f->arch.level[f->split.home].shared_bandwidth_word_per_cycle) &&
        isinf(f->arch.level[f->split.home].write_bandwidth_word_per_cycle))
        assert_int_equal(way.cycle, cost.cycle);
}

/* Every layer alone in one tile. */
static struct soma_lfa one_tile_each(struct fixture *f)
{
    const struct network *network = f->made.search.context.network;
    struct soma_lfa lfa;
    soma_lfa_new(network->n_layer, &f->arena, &lfa);
    lfa.n_layer = lfa.n_flc = network->n_layer;
    for (uint32_t i = 0; i < network->n_layer; i++) {
        lfa.order[i] = network->order[i];
        lfa.flc[i] = i;
        lfa.tiling[i] = 1;
        lfa.dram_cut[i] = true;
    }
    return lfa;
}

/* The schedule's total is the sum of the tiles, and besides only what the DRAM moves. */
static void check_schedule(struct fixture *f)
{
    const struct soma_lfa lfa = one_tile_each(f);
    struct fused_schedule fused;
    struct soma_fault_info fault;
    struct schedule_detail detail;
    double core_j = 0, cycle = 0;
    must(soma_parse(&f->made.search.context, &lfa, &f->arena, &fused, &fault, &f->err), &f->err);
    assert_int_equal(fault.what, SOMA_OK);
    must(schedule_price_detail(f->made.core.pricer, &fused, &f->arena, &detail, &f->err), &f->err);
    assert_int_equal(detail.result.fault, FUSED_OK);
    for (uint32_t l = 0; l < lfa.n_layer; l++) {
        const struct core_tile tile = tile_of(f, l);
        const struct core_cost cost = price_of(f, &tile);
        core_j += cost.energy_j;
        cycle += (double)cost.cycle;
    }
    check_near(f, "energy of the core array", detail.result.core_energy_j, core_j);
    check_near(f, "cycles of computing", (double)detail.result.compute_cycle, cycle);
    check_near(f, "energy", detail.result.energy_j, core_j + detail.result.dram_energy_j);
}

/* ---- what the DRAM moves ---- */

static double words_of(const struct problem *problem, enum tensor_role role)
{
    double words = 0;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        words += problem->tensor[t].role == role ? (double)problem_tensor_words(problem, t) : 0;
    return words;
}

/* Pixels of the layer's input that its windows span, and padding around it, are what a mapping moves; a
 * schedule moves those that there are. */
static bool is_padded(const struct layer *layer)
{
    return layer->r > 1 || layer->s > 1;
}

/* Outputs and weights are the same words; so are inputs without padding. The second operand of a product is
 * an input to the schedule. What streams is no tensor of the buffer. */
static void check_words(struct fixture *f, const struct fused_schedule *fused, uint32_t l)
{
    const struct layer *layer = layer_at(f, l);
    double moved[4] = {0};
    struct problem own;
    must(layer_problem(layer, f->made.search.context.batch, &own, &f->err), &f->err);
    for (uint32_t i = 0; i < fused->n_tensor; i++)
        if (fused->tensor[i].layer == l)
            moved[fused->tensor[i].kind] += (double)fused->tensor[i].byte * 8 / f->split.word_bit;
    const double in = words_of(&own, TENSOR_INPUT), weight = words_of(&own, TENSOR_WEIGHT);
    check_near(f, "words of outputs", moved[FUSED_OFMAP], words_of(&own, TENSOR_OUTPUT));
    if (f->split.streams >> TENSOR_WEIGHT & 1u)
        return;
    if (is_padded(layer))
        assert_true(moved[FUSED_WEIGHT] == weight && moved[FUSED_IFMAP] <= in);
    else
        check_near(f, "words of inputs and weights", moved[FUSED_WEIGHT] + moved[FUSED_IFMAP], in + weight);
}

static void test_one_tile_moves_what_its_mapping_does(void **state)
{
    static struct fixture f;
    (void)state;
    for (int i = 0; i < N_MACHINE * N_NETWORK; i++) {
        struct fused_schedule fused;
        struct soma_fault_info fault;
        open_case(&f, machines[i / N_NETWORK], networks[i % N_NETWORK]);
        const struct soma_lfa lfa = one_tile_each(&f);
        must(soma_parse(&f.made.search.context, &lfa, &f.arena, &fused, &fault, &f.err), &f.err);
        for (uint32_t l = 0; l < lfa.n_layer; l++)
            if (layer_has_macs(layer_at(&f, l)))
                check_words(&f, &fused, l);
        close_case(&f);
    }
}

/* ---- several tiles ---- */

/* The layer in two halves of its rows: two tiles, and the mapping of one with a loop of 2 at the DRAM. On the
 * chip a mapping can keep what the second half needs, too: each half has outputs of its own, which cost twice
 * those of one, while weights and inputs cost once to twice as much. */
static void check_halves(struct fixture *f, uint32_t l)
{
    struct core_tile tile = tile_of(f, l);
    struct engine_result *result = arena_alloc(&f->scratch, 1, sizeof *result);
    struct problem problem;
    struct mapping whole;
    tile.h /= 2;
    const struct core_cost cost = price_of(f, &tile);
    must(mapper_core_solve(&f->made.core.mapper, &tile, &f->scratch, &problem, result, &f->err), &f->err);
    const uint32_t p = (uint32_t)problem_find_dim(&problem, "P");
    lift(f, &result->mapping, p, 1, &whole);
    const struct way half = by_mapping(f, &problem, &whole);
    lift(f, &result->mapping, p, 2, &whole);
    problem.bound[p] *= 2;
    const struct way way = by_mapping(f, &problem, &whole);
    check_near(f, "energy of a half", cost.energy_j, half.chip_j - half.fill_j);
    check_near(f, "energy by tensor", way.chip_j - way.fill_j,
               way.mac * f->arch.mac.energy_j + way.role_j[TENSOR_INPUT] + way.role_j[TENSOR_WEIGHT] +
                   way.role_j[TENSOR_OUTPUT]);
    check_near(f, "energy of outputs", 2 * half.role_j[TENSOR_OUTPUT], way.role_j[TENSOR_OUTPUT]);
    for (int role = 0; role < TENSOR_ROLE_COUNT; role++)
        if (!(way.role_j[role] >= (1 - 1e-9) * half.role_j[role] &&
              way.role_j[role] <= (1 + 1e-9) * 2 * half.role_j[role]))
            fail_msg("%s on %s: tensors of role %d take %g J in a half, %g in the mapping",
                     layer_at(f, l)->name, f->arch.name, role, half.role_j[role], way.role_j[role]);
}

static uint64_t nest_of(struct fixture *f, uint32_t l)
{
    struct problem problem;
    must(layer_problem(layer_at(f, l), f->made.search.context.batch, &problem, &f->err), &f->err);
    return problem_hash(&problem);
}

static bool is_new(struct fixture *f, uint32_t l)
{
    for (uint32_t i = 0; i < l; i++)
        if (layer_has_macs(layer_at(f, i)) && nest_of(f, i) == nest_of(f, l))
            return false;
    return true;
}

static void test_one_tile_costs_what_its_mapping_does(void **state)
{
    static struct fixture f;
    (void)state;
    for (int i = 0; i < N_MACHINE * N_NETWORK; i++) {
        uint32_t n = 0;
        open_case(&f, machines[i / N_NETWORK], networks[i % N_NETWORK]);
        for (uint32_t l = 0; l < f.made.search.context.network->n_layer; l++)
            if (layer_has_macs(layer_at(&f, l)) && is_new(&f, l)) {
                arena_reset(&f.scratch);
                check_layer(&f, l);
                n++;
            }
        assert_true(n >= 6);
        check_schedule(&f);
        close_case(&f);
    }
}

static void test_tiles_cost_about_what_loops_at_the_dram_do(void **state)
{
    static struct fixture f;
    (void)state;
    for (int i = 0; i < N_MACHINE * N_NETWORK; i++) {
        uint32_t n = 0;
        open_case(&f, machines[i / N_NETWORK], networks[i % N_NETWORK]);
        for (uint32_t l = 0; l < f.made.search.context.network->n_layer; l++)
            if (layer_has_macs(layer_at(&f, l)) && layer_at(&f, l)->p % 2 == 0 && is_new(&f, l)) {
                arena_reset(&f.scratch);
                check_halves(&f, l);
                n++;
            }
        assert_true(n >= 5);
        close_case(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_tile_costs_what_its_mapping_does),
        cmocka_unit_test(test_one_tile_moves_what_its_mapping_does),
        cmocka_unit_test(test_tiles_cost_about_what_loops_at_the_dram_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
