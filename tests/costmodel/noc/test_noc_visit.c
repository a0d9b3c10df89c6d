/* The traffic of the simulated network is the cost model's: random mappings, each word a packet, against the
 * reads and updates that the evaluation counts, and the program's transactions against both; no simulation is
 * faster than what a level of the evaluation takes for its transfers.
 * Tests: noc_visit.c, noc_deliver.c, noc_groups.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/noc/noc_plan.h"
#include "tests/support/random_case.h"

enum { N_CASE = 4000 };

struct visit_case {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct noc_config config;
    struct noc_plan plan;
    struct evaluation_detail cost;
    uint32_t level;
    struct arena arena;
};

/* Packets per kind of way. */
struct ways {
    double from_memory, to_memory, from_buffer, to_buffer;
};

/* A mapping that fits, from one memory outside; false: not such a case. Without limits words are of 8 bit. */
static bool open_case(struct visit_case *c, struct random_stream *stream, bool limits)
{
    const struct random_case_options options = {.roles = true, .limits = limits};
    struct dse_error err;
    c->evaluator = NULL;
    arena_init(&c->arena);
    random_case_problem(stream, 2000, &c->problem);
    random_case_architecture(stream, &options, &c->arch);
    for (uint32_t l = 0; !limits && l < c->arch.n_level; l++)
        c->arch.level[l].word_bit = 8;
    random_case_mapping(stream, &c->problem, &c->arch, !limits, &c->mapping);
    if (noc_config_of(&c->arch, &c->config, &c->level, &err) != DSE_OK ||
        evaluator_new(&accounting_timeloop, &c->problem, &c->arch, &c->evaluator, &err) != DSE_OK ||
        !evaluator_bound_applies(c->evaluator, &c->mapping))
        return false;
    if (evaluator_detail(c->evaluator, &c->mapping, &c->arena, &c->cost, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return c->cost.total.fit.what == FITS;
}

static void close_case(struct visit_case *c)
{
    evaluator_delete(c->evaluator);
    arena_free(&c->arena);
}

static void one_word_packets(struct noc_config *config)
{
    config->flit_bit = 8;
    config->data_flits = 1;
    config->dram.burst_byte = 1;
}

/* The tensors in the order of the plan's streams. */
static uint32_t tensor_of(const struct problem *problem, uint32_t stream)
{
    static const enum tensor_role order[] = {TENSOR_OUTPUT, TENSOR_INPUT, TENSOR_WEIGHT};
    uint32_t n = 0;
    for (size_t r = 0; r < sizeof order / sizeof *order; r++)
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            if (problem->tensor[t].role == order[r] && n++ == stream)
                return t;
    fail_msg("no stream %u", stream);
    return 0;
}

static void compare(const struct visit_case *c, uint32_t i, const char *what, double packets, uint64_t words)
{
    if (packets != (double)words)
        fail_msg("%s %s: %.17g packets, %llu words", c->problem.tensor[tensor_of(&c->problem, i)].name, what,
                 packets, (unsigned long long)words);
}

/* What the memory and the buffer send and take of one tensor, against the evaluation's reads and updates. */
static void check_stream(const struct visit_case *c, uint32_t i, struct ways *ways)
{
    const struct noc_plan *plan = &c->plan;
    const struct noc_stream *stream = &plan->stream[i];
    uint32_t t = tensor_of(&c->problem, i), buffer = c->level, outside;
    double moved = noc_visit_packets(plan, stream->send, stream->pe_packets, plan->bound) * stream->n_group;
    double back = moved, through = 0, fetched = 0;
    while (!(c->mapping.level[buffer].keep >> t & 1u))
        buffer++;
    outside = stream->buffered ? buffer + 1 : buffer; /* all levels behind the port are memory */
    while (!(c->mapping.level[outside].keep >> t & 1u))
        outside++;
    const struct tensor_counts *near = &c->cost.level[buffer].tensor[t];
    const struct tensor_counts *memory = &c->cost.level[outside].tensor[t];
    if (stream->buffered)
        through = fetched = noc_visit_packets(plan, stream->fetch, stream->buffer_packets, plan->bound);
    if (stream->is_output) {
        back -=
            noc_visit_fresh(plan, stream, stream->send, stream->pe_packets, plan->bound) * stream->n_group;
        fetched -= noc_visit_fresh(plan, stream, stream->fetch, stream->buffer_packets, plan->bound);
        compare(c, i, "up", moved, near->updates);
        /* Outputs of PEs that do not add up are added where they arrive; the evaluation reads for that. */
        bool alone = false;
        for (uint32_t l = 0; l <= c->level; l++)
            alone = alone || (c->mapping.level[l].no_multicast >> t & 1u);
        if (!alone || stream->buffered)
            compare(c, i, "from memory", stream->buffered ? fetched : back, memory->reads);
        if (stream->buffered)
            compare(c, i, "to memory", through, memory->updates);
        /* Timeloop reads zeros back of every tile of a buffer but its first. */
        assert_true(back <= (double)near->reads);
        *(stream->buffered ? &ways->to_buffer : &ways->to_memory) += moved;
        ways->to_memory += through;
        ways->from_buffer += through;
    } else {
        compare(c, i, "down", moved, near->reads);
        if (stream->buffered)
            compare(c, i, "from memory", fetched, memory->reads);
    }
    *(stream->buffered ? &ways->from_buffer : &ways->from_memory) += back;
    ways->from_memory += fetched;
    ways->to_buffer += fetched;
}

static struct ways program_ways(const struct visit_case *c, const struct noc_program *program)
{
    struct ways ways = {0, 0, 0, 0};
    for (uint32_t id = 0; id < program->n_transaction; id++) {
        const struct noc_transaction *transaction = &program->transaction[id];
        if (transaction->operation == NOC_COUNT)
            continue;
        uint32_t to = program->destination[transaction->first_destination];
        ways.from_memory += transaction->actor == c->config.dram_port ? transaction->size : 0;
        ways.from_buffer += transaction->actor == c->config.buffer_port ? transaction->size : 0;
        ways.to_memory += to == c->config.dram_port ? transaction->size : 0;
        ways.to_buffer += to == c->config.buffer_port ? transaction->size : 0;
    }
    return ways;
}

static void test_noc_traffic_is_that_of_the_cost_model(void **state)
{
    static struct visit_case c;
    struct random_stream stream = random_stream_make(1207, 1, RANDOM_TEST);
    uint32_t n_checked = 0;
    (void)state;
    for (int n = 0; n < N_CASE; n++) {
        struct noc_program program;
        struct ways want = {0, 0, 0, 0};
        struct dse_error err;
        if (!open_case(&c, &stream, false)) {
            close_case(&c);
            continue;
        }
        one_word_packets(&c.config);
        enum dse_status status =
            noc_plan_init(&c.plan, &c.problem, &c.arch, &c.mapping, c.level, &c.config, &c.arena, &err);
        if (status == DSE_OK) {
            for (uint32_t i = 0; i < c.plan.n_stream; i++)
                check_stream(&c, i, &want);
            assert_int_equal(noc_program_of(&c.problem, &c.arch, &c.mapping, c.level, &c.config, 0, &c.arena,
                                            &program, NULL, &err),
                             DSE_OK);
            struct ways got = program_ways(&c, &program);
            assert_true(got.from_memory == want.from_memory && got.to_memory == want.to_memory);
            assert_true(got.from_buffer == want.from_buffer && got.to_buffer == want.to_buffer);
            n_checked++;
        } else {
            assert_int_equal(status, DSE_BAD_USAGE); /* parallel outside the PEs */
        }
        close_case(&c);
    }
    assert_true(n_checked > N_CASE / 4);
}

/* Machines with bandwidths at every level, words of 8 to 32 bit; every simulation ends with all flits. What
 * the DRAM takes follows from its accesses, without the bound: all steps are simulated. */
static void test_noc_latency_is_not_below_the_transfers_of_any_level(void **state)
{
    static struct visit_case c;
    struct random_stream stream = random_stream_make(1206, 1, RANDOM_TEST);
    uint32_t n_checked = 0, n_slow_memory = 0;
    (void)state;
    for (int n = 0; n < N_CASE; n++) {
        struct noc_latency all, part;
        struct dse_error err;
        enum dse_status status = DSE_BAD_USAGE;
        bool fits = open_case(&c, &stream, true);
        if (fits)
            status = noc_latency_of(&c.problem, &c.arch, &c.mapping, 0, NULL, &c.arena, &all, &err);
        if (status == DSE_OK) {
            const uint64_t memory = c.cost.level[c.arch.n_level - 1].cycle;
            if (noc_latency_of(&c.problem, &c.arch, &c.mapping, 16, NULL, &c.arena, &part, &err) != DSE_OK)
                fail_msg("%s", err.text);
            for (uint32_t l = 0; l < c.arch.n_level; l++)
                assert_true(all.cycle >= c.cost.level[l].cycle && part.cycle >= c.cost.level[l].cycle);
            assert_true(all.simulated.cycle >= memory);
            assert_int_equal(all.simulated.flits_received, all.simulated.flits_expected);
            n_slow_memory += memory > c.cost.total.compute_cycle;
            n_checked++;
        } else if (fits) {
            assert_int_equal(status, DSE_BAD_USAGE);
        }
        close_case(&c);
    }
    assert_true(n_checked > N_CASE / 8 && n_slow_memory > n_checked / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_traffic_is_that_of_the_cost_model),
        cmocka_unit_test(test_noc_latency_is_not_below_the_transfers_of_any_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
