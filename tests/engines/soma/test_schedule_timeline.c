/* Timelines of schedules: rows are those of the trace, which other tests compare with the published program's
 * events (tests/engines/soma/test_schedule_evaluate.sh); sums are those of the evaluator; groups are those of
 * docs/fused-schedule.md. */
#include "tests/results/files.h"

#include <math.h>

#include "costmodel/fused/accounting_soma.h"
#include "dse/inputs/inputs.h"
#include "engines/soma/schedule_reports.h"
#include "results/timeline/timeline.h"
#include "tests/support/accounting_two_loads.h"

static const char tiny_text[] = "soma: 1\nnetwork: tiny6\ngroups:\n"
                                "- {cut: true, tiles: 2, layers: [A_conv3x3]}\n"
                                "- {tiles: 4, layers: [C_conv1x1, B_conv3x3, D_add]}\n"
                                "- {cut: true, tiles: 2, layers: [E_pool2x2, F_conv3x3s2]}\n";

struct timeline_case {
    struct architecture arch;
    struct network network;
    struct soma_schedule schedule;
    struct timeline timeline;
    struct arena arena;
};

static void open_case(struct timeline_case *c, const char *network, const char *bandwidth,
                      const struct accounting *accounting, const char *text)
{
    struct dse_error err = {0};
    struct input_overrides overrides = {.n = 1, .path = {"DRAM.bandwidth"}, .value = {bandwidth}};
    memset(&c->schedule, 0, sizeof c->schedule);
    arena_init(&c->arena);
    assert_int_equal(input_architecture("soma_edge", &overrides, &c->arch, &err), DSE_OK);
    assert_int_equal(input_network(network, NULL, &c->network, &err), DSE_OK);
    c->schedule.arch = &c->arch;
    c->schedule.network = &c->network;
    c->schedule.batch = 1;
    c->schedule.accounting = accounting;
    if (soma_schedule_evaluate(&c->schedule, "schedule", text, strlen(text), &c->arena, &err) != DSE_OK ||
        soma_schedule_timeline(&c->schedule, "name", &c->arena, &c->timeline, &err) != DSE_OK ||
        timeline_check(&c->timeline, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void open_resnet(struct timeline_case *c, const char *path)
{
    char *text = files_read(path, NULL);
    open_case(c, "resnet50_soma", "16 GB/s", &accounting_soma_compat, text);
    free(text);
}

static void close_case(struct timeline_case *c)
{
    network_free(&c->network);
    arena_free(&c->arena);
}

static void check_rows(const struct timeline_case *c)
{
    const struct soma_schedule *s = &c->schedule;
    const struct timeline *t = &c->timeline;
    uint64_t moved = 0;
    assert_int_equal(t->n_transfer, s->fused.n_dram);
    assert_int_equal(t->n_tile, s->fused.n_tile);
    for (uint32_t k = 0; k < s->fused.n_dram; k++) {
        uint32_t i = s->fused.dram_order[k];
        const struct fused_tensor *tensor = &s->fused.tensor[i];
        const struct timeline_transfer *row = &t->transfer[k];
        assert_int_equal(row->tensor, i);
        assert_string_equal(row->kind, soma_schedule_kind_text(tensor->kind));
        assert_string_equal(row->layer, s->network->layer[tensor->layer].name);
        assert_int_equal(row->start, s->detail.trace.tensor_start[i]);
        assert_int_equal(row->finish, s->detail.trace.tensor_finish[i]);
        assert_int_equal(row->living_start, tensor->start);
        assert_int_equal(row->living_end, tensor->end);
        assert_int_equal(row->buffer_byte, tensor->byte);
        assert_int_equal(row->byte, tensor->dram_byte);
        moved += (uint64_t)row->byte;
    }
    assert_int_equal(moved, s->detail.result.dram_byte);
    for (uint32_t p = 0; p < s->fused.n_tile; p++) {
        assert_string_equal(t->tile[p].layer, s->network->layer[s->fused.tile[p].layer].name);
        assert_int_equal(t->tile[p].tile, s->fused.tile[p].index);
        assert_int_equal(t->tile[p].group, s->fused.tile[p].flc);
        assert_int_equal(t->tile[p].start, s->detail.trace.tile_start[p]);
        assert_int_equal(t->tile[p].finish, s->detail.trace.tile_finish[p]);
        assert_int_equal(t->tile[p].stall, s->detail.trace.tile_stall[p]);
    }
}

/* Bytes at every position are the trace's; over time they are the evaluator's average; the steps fill all of
 * the time. */
static void check_buffer(const struct timeline_case *c)
{
    const struct soma_schedule *s = &c->schedule;
    double integral = 0;
    int64_t now = 0;
    for (size_t p = 0; p < c->timeline.n_tile; p++) {
        const struct timeline_step *step = &c->timeline.step[p];
        int64_t sum = step->weight_byte + step->ifmap_byte + step->ofmap_byte + step->local_byte;
        assert_int_equal(sum, s->detail.trace.living_byte[p + 1]);
        assert_int_equal(step->start, now);
        now = step->finish;
        integral += (double)sum * (double)(step->finish - step->start);
    }
    assert_int_equal(now, s->detail.result.cycle);
    assert_true(fabs(integral / (s->detail.result.buffer_average_byte * (double)s->detail.result.cycle) - 1) <
                1e-12);
}

static void test_timeline_has_the_rows_of_the_trace(void **state)
{
    (void)state;
    struct timeline_case c;
    open_resnet(&c, "experiments/soma/schedules/resnet50_fused.yaml");
    check_rows(&c);
    check_buffer(&c);
    close_case(&c);
    open_resnet(&c, "experiments/soma/schedules/resnet50_fused_stage2.yaml");
    check_rows(&c);
    check_buffer(&c);
    close_case(&c);
    open_case(&c, "tests/known/soma/tiny6.yaml", "8 GB/s", &accounting_soma_compat, tiny_text);
    check_rows(&c);
    check_buffer(&c);
    close_case(&c);
    /* By the default rules tiles overlap: what the DRAM moves may be less than what lies in the buffer. */
    open_case(&c, "tests/known/soma/tiny6.yaml", "8 GB/s", &accounting_soma, tiny_text);
    check_rows(&c);
    check_buffer(&c);
    assert_string_equal(c.timeline.rules, "sound");
    close_case(&c);
}

/* The example of docs/fused-schedule.md: A is over at 834; D3, the last of its layer group, at 5186; F1 at
 * 13522, O_F1 at 13778. */
static void test_timeline_groups_are_those_of_the_example(void **state)
{
    (void)state;
    static const struct timeline_group expected[] = {{0, 1, 2, 0, 2, 0, 834, "A_conv3x3"},
                                                     {0, 0, 4, 2, 12, 834, 5186, "C_conv1x1 B_conv3x3 D_add"},
                                                     {1, 1, 2, 14, 4, 5186, 13522, "E_pool2x2 F_conv3x3s2"}};
    struct timeline_case c;
    open_case(&c, "tests/known/soma/tiny6.yaml", "8 GB/s", &accounting_soma_compat, tiny_text);
    assert_int_equal(c.timeline.n_group, 3);
    assert_int_equal(c.timeline.cycle, 13778);
    for (size_t g = 0; g < 3; g++) {
        const struct timeline_group *group = &c.timeline.group[g];
        assert_int_equal(group->layer_group, expected[g].layer_group);
        assert_int_equal(group->cut, expected[g].cut);
        assert_int_equal(group->tiling, expected[g].tiling);
        assert_int_equal(group->first_tile, expected[g].first_tile);
        assert_int_equal(group->n_tile, expected[g].n_tile);
        assert_int_equal(group->start, expected[g].start);
        assert_int_equal(group->finish, expected[g].finish);
        assert_string_equal(group->layers, expected[g].layers);
    }
    close_case(&c);
}

/* An accounting that this family has never heard of: its DRAM costs twice as much, all else is SoMa's. */
static void test_schedule_is_priced_by_the_accounting_that_is_asked(void **state)
{
    static const char network[] = "tests/known/soma/tiny6.yaml";
    struct timeline_case one, two;
    (void)state;
    open_case(&one, network, "8 GB/s", &accounting_soma, tiny_text);
    open_case(&two, network, "8 GB/s", &accounting_two_loads, tiny_text);
    const struct schedule_detail *a = &one.schedule.detail, *b = &two.schedule.detail;
    assert_int_equal(b->result.cycle, a->result.cycle);
    assert_true(a->result.dram_energy_j > 0 && b->result.dram_energy_j == 2 * a->result.dram_energy_j);
    assert_true(b->result.core_energy_j == a->result.core_energy_j);
    assert_true(a->bound_cycle > 0 && b->bound_cycle == 0);
    close_case(&one);
    close_case(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeline_has_the_rows_of_the_trace),
        cmocka_unit_test(test_timeline_groups_are_those_of_the_example),
        cmocka_unit_test(test_schedule_is_priced_by_the_accounting_that_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
