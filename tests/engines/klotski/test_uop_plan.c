/* Tests: uop_plan.c, plan_text.c, plan_format.c.
 * A plan of two layers by hand: times, messages, energies; its text there and back; texts that are refused,
 * with line and reason. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/readers/readers.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/uop_plan.h"

static const char network_text[] =
    "network: two\ninput: {C: 4, H: 4, W: 4}\nlayers:\n"
    "- {name: a, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: input}\n"
    "- {name: b, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: a}\n";

/* 1 x 2 cores. A tile of 2 x 4 pixels and 4 by 4 channels: 8 pixels of 1 + ceil(8 / 128) = 2 cycles, and
 * ceil(20 / 128) = 1 for the first: 17 cycles. */
static const char plan_text[] =
    "uops: 1\nnetwork: two\n"
    "options: {sums: all, sram: all, memory: free, transport: ideal, firing: static}\n"
    "partition:\n"
    "- {layer: a, h: 2, w: 4, ic: 4, oc: 4}\n"
    "- {layer: b, h: 2, w: 4, ic: 4, oc: 4}\n"
    "cores:\n"
    "- [a/0, b/0, b/1]\n"
    "- [a/1]\n";

struct made {
    struct network network;
    struct architecture arch;
    struct kc_machine machine;
    struct uop_network uops;
    struct uop_plan plan;
    struct arena arena;
};

static void make(struct made *m, const char *mesh)
{
    struct yaml_doc doc;
    struct dse_error err;
    const struct arch_override set[] = {{"Core.mesh", mesh}};
    arena_init(&m->arena);
    assert_int_equal(yaml_read(&doc, "experiments/architectures/klotski.yaml", &err), DSE_OK);
    assert_int_equal(architecture_build(&doc, set, 1, &m->arch, &err), DSE_OK);
    yaml_doc_free(&doc);
    assert_int_equal(kc_machine_of(&m->arch, &m->machine, &err), DSE_OK);
    assert_int_equal(network_parse("two.yaml", network_text, strlen(network_text), &m->network, &err),
                     DSE_OK);
    assert_int_equal(uop_network_of(&m->network, UOP_FUSED, &m->arena, &m->uops, &err), DSE_OK);
}

static void unmake(struct made *m)
{
    arena_free(&m->arena);
    network_free(&m->network);
}

static enum dse_status read_text(struct made *m, const char *text, uint32_t batch, struct dse_error *err)
{
    return uop_plan_read("plan.yaml", text, strlen(text), &m->uops, batch, &m->arena, &m->plan, err);
}

static void test_a_plan_by_hand(void **state)
{
    struct made m;
    struct uop_outcome o;
    struct dse_error err;
    struct text_buffer text;
    (void)state;
    make(&m, "2x1");
    assert_int_equal(read_text(&m, plan_text, 1, &err), DSE_OK);
    assert_int_equal(uop_plan_evaluate(&m.uops, &m.machine, &m.plan, "plan.yaml", NULL, &m.arena, &o, &err),
                     DSE_OK);
    assert_int_equal(o.times.cycle, 51);
    assert_int_equal(o.times.start[2], 17);
    assert_int_equal(o.times.start[3], 34);
    assert_int_equal(o.work_cycle, 68);
    assert_int_equal(o.path_cycle, 34);
    assert_int_equal(o.bound_cycle, 34);
    assert_int_equal(o.n_mac, 2 * 16 * 16);
    assert_true(fabs(o.busy_share - 68.0 / 102) < 1e-12);
    assert_true(fabs(o.mac_share - 512.0 / (102 * 168)) < 1e-12);
    /* a/1 sends its 32 words to core 0 for b/1, a hop away */
    assert_int_equal(o.n_message, 1);
    assert_int_equal(o.n_hop, 1);
    assert_true(o.byte_hop == 128);
    assert_true(fabs(o.noc_energy_j / (32 * 0.07e-12) - 1) < 1e-12);
    assert_true(fabs(o.mac_energy_j / (512 * 0.15e-12) - 1) < 1e-12);
    text_init(&text);
    uop_plan_write(&o.graph, &m.plan, &text);
    assert_string_equal(text.data, plan_text);
    text_free(&text);
    unmake(&m);
}

/* The plan's text with one piece replaced. */
static const char *with(const char *from, const char *to, char *text, size_t size)
{
    const char *at = strstr(plan_text, from);
    assert_non_null(at);
    (void)snprintf(text, size, "%.*s%s%s", (int)(at - plan_text), plan_text, to, at + strlen(from));
    return text;
}

static void test_bad_texts_name_line_and_reason(void **state)
{
    static const struct {
        const char *from, *to;
        int line;
        const char *says;
    } row[] = {
        {"network: two", "network: three", 2, "the schedule is for network \"three\", not two"},
        {"sums: all", "sums: some", 3, "sums"},
        {"memory: free", "memory: disk", 3, "memory"},
        {"layer: b, h", "layer: c, h", 6, "network two has no layer \"c\" with MACs"},
        {"layer: b, h", "layer: a, h", 6, "layer a stands here a second time"},
        {"- {layer: b, h: 2, w: 4, ic: 4, oc: 4}\n", "", 5, "layer b is missing"},
        {"h: 2", "h: 0", 5, "h"},
        {", b/1]", "]", 8, "uop b/1 of sample 0 is on no core"},
        {"[a/1]", "[a/0]", 9, "uop a/0 stands here a second time"},
        {"[a/1]", "[a/2]", 9, "there is no uop a/2: layer a has tiles 0 to 1"},
        {"[a/1]", "[c/1]", 9, "there is no uop c/1: network two has no layer \"c\""},
        {"[a/1]", "[a]", 9, "\"a\" is no uop; write LAYER/TILE"},
        {"[a/1]", "[a/x]", 9, "there is no uop a/x"},
        {"[a/1]", "[a/1#1]", 9, "the batch has samples 0 to 0"},
        {"[a/1]", "[a/4294967297]", 9, "is no uop"},
        {"cores:\n", "cors:\n", 7, "unknown key"},
    };
    struct made m;
    (void)state;
    make(&m, "2x1");
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[600];
        struct dse_error err;
        assert_int_equal(read_text(&m, with(row[i].from, row[i].to, text, sizeof text), 1, &err),
                         DSE_BAD_INPUT);
        if (err.line != row[i].line || !strstr(err.text, row[i].says))
            fail_msg("row %zu: line %d: %s", i, err.line, err.text);
    }
    unmake(&m);
}

static void test_bad_plans_are_refused(void **state)
{
    static const struct {
        const char *mesh, *from, *to;
        uint64_t sram_word;
        int line;
        const char *says;
    } row[] = {
        {"3x1", "network: two", "network: two", 100, 8, "lists for 2 cores, and the machine has 3 x 1"},
        {"2x1", "[a/0, b/0, b/1]", "[b/0, a/0, b/1]", 100, 8, "a/0, which waits for b/0"},
        {"2x1", "network: two", "network: two", 79, 5,
         "a uop of layer a does not fit: it has 32 outputs, 32 inputs and 16 weights, an accelerator holds "
         "79"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct made m;
        struct uop_outcome o;
        struct dse_error err;
        char text[600];
        make(&m, row[i].mesh);
        m.machine.sram_word = row[i].sram_word;
        assert_int_equal(read_text(&m, with(row[i].from, row[i].to, text, sizeof text), 1, &err), DSE_OK);
        assert_int_equal(
            uop_plan_evaluate(&m.uops, &m.machine, &m.plan, "plan.yaml", NULL, &m.arena, &o, &err),
            DSE_BAD_INPUT);
        if (err.line != row[i].line || !strstr(err.text, row[i].says))
            fail_msg("row %zu: line %d: %s", i, err.line, err.text);
        unmake(&m);
    }
}

/* On core 0 a/0, then b/1, which waits for the 128 bytes of a/1 from core 1: made in cycle 17, they take a
 * link and one flit of 512 bytes; or a packet over two idle routers, 3 x 2 + 5 cycles (docs/noc.md). With
 * dynamic firing b/0 goes before it. */
static void test_messages_that_take_time(void **state)
{
    static const struct {
        const char *options;
        uint64_t start[2]; /* of b/0, b/1 */
        uint64_t busy;     /* of the link from core 1 to core 0 */
    } row[] = {
        {"transport: ideal, firing: static", {34, 17}, 0},
        {"transport: links, firing: static", {36, 19}, 1},
        {"transport: flits, firing: static", {45, 28}, 5},
        {"transport: ideal, firing: dynamic", {34, 17}, 0},
        {"transport: links, firing: dynamic", {17, 34}, 1},
        {"transport: flits, firing: dynamic", {17, 34}, 5},
        {"transport: ideal, firing: rounds", {34, 17}, 0},
        {"transport: links, firing: rounds", {36, 19}, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct made m;
        struct uop_outcome o;
        struct dse_error err;
        struct text_buffer text;
        char plan[600];
        make(&m, "2x1");
        (void)with("transport: ideal, firing: static", row[i].options, plan, sizeof plan);
        memcpy(strstr(plan, "b/0, b/1"), "b/1, b/0", 8);
        assert_int_equal(read_text(&m, plan, 1, &err), DSE_OK);
        assert_int_equal(
            uop_plan_evaluate(&m.uops, &m.machine, &m.plan, "plan.yaml", NULL, &m.arena, &o, &err), DSE_OK);
        assert_int_equal(o.times.start[2], row[i].start[0]);
        assert_int_equal(o.times.start[3], row[i].start[1]);
        assert_int_equal(o.link[1 * UOP_SIDES + UOP_WEST].byte, 128);
        assert_int_equal(o.link[1 * UOP_SIDES + UOP_WEST].busy_cycle, row[i].busy);
        text_init(&text);
        uop_plan_write(&o.graph, &m.plan, &text);
        assert_string_equal(text.data, plan);
        text_free(&text);
        unmake(&m);
    }
}

/* The plan above at 4 words a cycle: a's 16 weights for both cores (to 4), the 32 inputs of a/0 (to 12) and
 * a/1 (to 20), b's weights (to 24). a/0 runs from 12 to 29, a/1 from 20 to 37; b/0 to 46, then b/1 to 63,
 * and 32 words of each are written in 8 cycles. Over the link east come a's weights and inputs, west a/1's
 * output. No uop starts before 12, and then they take 34; 160 words take 40 cycles. */
static void test_weights_from_the_dram(void **state)
{
    struct made m;
    struct uop_outcome o;
    struct dse_error err;
    struct text_buffer text;
    char plan[600];
    (void)state;
    make(&m, "2x1");
    assert_int_equal(read_text(&m, with("memory: free", "memory: dram", plan, sizeof plan), 1, &err), DSE_OK);
    assert_int_equal(uop_plan_evaluate(&m.uops, &m.machine, &m.plan, "plan.yaml", NULL, &m.arena, &o, &err),
                     DSE_OK);
    assert_int_equal(o.times.start[0], 12);
    assert_int_equal(o.times.start[1], 20);
    assert_int_equal(o.times.start[2], 29);
    assert_int_equal(o.times.start[3], 46);
    assert_int_equal(o.times.cycle, 63 + 8);
    assert_int_equal(o.dram_read_byte, (16 + 32 + 32 + 16) * 4);
    assert_int_equal(o.dram_written_byte, 2 * 32 * 4);
    assert_int_equal(o.spilled_byte, 0);
    assert_true(fabs(o.dram_energy_j / (160 * 400e-12) - 1) < 1e-12);
    assert_int_equal(o.times.dram.busy_cycle, 40);
    assert_int_equal(o.n_message, 1 + 4 + 2);
    assert_int_equal(o.n_hop, 3);
    assert_true(o.byte_hop == (16 + 32 + 32) * 4);
    assert_int_equal(o.bound_cycle, 12 + 34);
    assert_int_equal(o.partition_bound_cycle, 40);
    text_init(&text);
    uop_plan_write(&o.graph, &m.plan, &text);
    assert_string_equal(text.data, plan);
    text_free(&text);
    m.plan.schedule.firing = UOP_DYNAMIC;
    assert_int_equal(uop_plan_evaluate(&m.uops, &m.machine, &m.plan, "plan.yaml", NULL, &m.arena, &o, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "takes firing=static, not dynamic"));
    unmake(&m);
}

/* What a makes, 256 bytes on core 0, goes to the three others of 2 x 2: 1 + 1 + 2 links, or a tree that goes
 * to core 3 by way of core 1, and over no link twice. */
static void test_a_multicast_is_one_message(void **state)
{
    static const char text[] = "uops: 1\nnetwork: two\noptions: {transport: %s}\npartition:\n"
                               "- {layer: a, h: 4, w: 4, ic: 4, oc: 4}\n"
                               "- {layer: b, h: 4, w: 4, ic: 4, oc: 1}\n"
                               "cores:\n- [a/0, b/0]\n- [b/1]\n- [b/2]\n- [b/3]\n";
    static const uint64_t hops[] = {[UOP_IDEAL] = 4, [UOP_LINKS] = 4, [UOP_FLITS] = 3};
    (void)state;
    for (int t = UOP_IDEAL; t <= UOP_FLITS; t++) {
        struct made m;
        struct uop_outcome o;
        struct dse_error err;
        char plan[400];
        uint64_t byte = 0;
        make(&m, "2x2");
        (void)snprintf(plan, sizeof plan, text, uop_transport_name[t]);
        assert_int_equal(read_text(&m, plan, 1, &err), DSE_OK);
        assert_int_equal(
            uop_plan_evaluate(&m.uops, &m.machine, &m.plan, "plan.yaml", NULL, &m.arena, &o, &err), DSE_OK);
        assert_int_equal(o.n_message, t == UOP_FLITS ? 1 : 3);
        assert_int_equal(o.n_hop, hops[t]);
        assert_true(o.byte_hop == 256.0 * (double)hops[t]);
        assert_true(fabs(o.noc_energy_j / (64 * (double)hops[t] * 0.07e-12) - 1) < 1e-12);
        for (uint32_t k = 0; k < 4 * UOP_SIDES; k++)
            byte += o.link[k].byte;
        assert_int_equal(byte, 256 * hops[t]);
        unmake(&m);
    }
}

/* `dse eval -o transport=... -o firing=...` of the text above, and the report on links. */
static void test_options_of_the_evaluation(void **state)
{
    static const struct {
        double transport, firing;
        uint64_t links[8]; /* from, to, bytes, busy cycles */
    } row[] = {
        {NAN, NAN, {0, 1, 0, 0, 1, 0, 128, 0}},
        {UOP_LINKS, NAN, {0, 1, 0, 0, 1, 0, 128, 1}},
        {UOP_FLITS, UOP_DYNAMIC, {0, 1, 0, 0, 1, 0, 128, 5}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct made m;
        struct dse_error err;
        struct report report;
        void *schedule;
        const struct schedule_format *format = &schedule_format_klotski;
        const double option[] = {row[i].transport, row[i].firing, NAN};
        make(&m, "2x1");
        const struct schedule_request request = {.arch = &m.arch,
                                                 .network = &m.network,
                                                 .batch = 1,
                                                 .option = option,
                                                 .path = "plan.yaml",
                                                 .text = plan_text,
                                                 .length = strlen(plan_text)};
        assert_int_equal(format->evaluate(&request, &m.arena, &schedule, &err), DSE_OK);
        for (size_t r = 0; r < format->n_report; r++) {
            if (strcmp(format->report[r].name, "links") != 0)
                continue;
            report_init(&report, "links");
            assert_int_equal(format->report[r].fill(schedule, &report, &err), DSE_OK);
            assert_false(report_failed(&report));
            assert_int_equal(report.rows.n_cell, 8);
            for (size_t k = 0; k < 8; k++)
                assert_int_equal(cells_at(&report.rows, k)->whole, row[i].links[k]);
            report_free(&report);
        }
        unmake(&m);
    }
}

static void test_what_fits(void **state)
{
    const struct kc_machine machine = {.sram_word = 100};
    static const struct {
        struct uop_need need;
        bool all, output;
    } row[] = {{{50, 30, 20}, true, true},
               {{50, 30, 21}, false, true},
               {{101, 0, 0}, false, false},
               {{1, UINT64_MAX, 1}, false, true}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        assert_int_equal(uop_need_fits(&row[i].need, UOP_SRAM_ALL, &machine), row[i].all);
        assert_int_equal(uop_need_fits(&row[i].need, UOP_SRAM_OUTPUT, &machine), row[i].output);
        assert_true(uop_need_fits(&row[i].need, UOP_SRAM_OFF, &machine));
    }
}

static void test_samples_have_names(void **state)
{
    struct made m;
    struct dse_error err;
    struct uop_outcome o;
    char text[600];
    (void)state;
    make(&m, "2x1");
    assert_int_equal(
        read_text(&m, with("[a/1]", "[a/1, a/0#1, a/1#1, b/0#1, b/1#1]", text, sizeof text), 2, &err),
        DSE_OK);
    assert_int_equal(uop_plan_evaluate(&m.uops, &m.machine, &m.plan, "plan.yaml", NULL, &m.arena, &o, &err),
                     DSE_OK);
    assert_int_equal(o.graph.n_uop, 8);
    assert_int_equal(o.times.cycle, 5 * 17);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plan_by_hand),
        cmocka_unit_test(test_bad_texts_name_line_and_reason),
        cmocka_unit_test(test_bad_plans_are_refused),
        cmocka_unit_test(test_what_fits),
        cmocka_unit_test(test_samples_have_names),
        cmocka_unit_test(test_messages_that_take_time),
        cmocka_unit_test(test_weights_from_the_dram),
        cmocka_unit_test(test_options_of_the_evaluation),
        cmocka_unit_test(test_a_multicast_is_one_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
