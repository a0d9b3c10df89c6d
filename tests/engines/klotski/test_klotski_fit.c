/* Tests: klotski_fit.c. What is refused before a search, with the layer; how far max_uops grows by itself,
 * and how much less is tried then;
 * that every engine finds something where tiles of its grid alone do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/driver/engine_fit.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_fit.h"
#include "engines/klotski/klotski_metrics.h"
#include "tests/support/schedule_run.h"

#define NETWORK(NAME) "experiments/networks/" NAME ".yaml"

static void open_on(struct schedule_run *run, const struct engine *engine, const char *network,
                    const char *capacity)
{
    const struct arch_override set = {.path = "SRAM.capacity", .value = capacity};
    schedule_run_open_on(run, engine, network, "klotski", &set, 1);
}

/* `says`: part of the sentence; NULL: it is taken. */
static void check_answer(const struct schedule_run *run, const char *says)
{
    const struct engine_question question = {run->engine, &run->task, run->engine->accounting[0].accounting};
    struct dse_error err = {0};
    const enum dse_status status = engine_takes(&question, &err);
    assert_int_equal(status, says ? DSE_BAD_USAGE : DSE_OK);
    if (says && !strstr(err.text, says))
        fail_msg("%s", err.text);
}

/* A fully connected layer has R S = 49, 12 lanes by 14: 8,232 weights, 588 inputs and 14 outputs, more than
 * the 8,192 words of 32 KiB. Outputs alone fit; whole layers pass over it. */
static void test_a_layer_that_no_tile_fits(void **state)
{
    struct schedule_run run;
    (void)state;
    open_on(&run, &engine_klotski, NETWORK("vgg16"), "32 KiB");
    check_answer(&run, "no tile of layer fc6 fits the 8192 words");
    schedule_run_set(&run, "sram", "output");
    check_answer(&run, NULL);
    schedule_run_set(&run, "sram", "all");
    schedule_run_set(&run, "partition", "fixed");
    check_answer(&run, NULL);
    schedule_run_close(&run);
    open_on(&run, &engine_tangram, NETWORK("vgg16"), "32 KiB");
    check_answer(&run, NULL);
    schedule_run_set(&run, "memory", "dram");
    check_answer(&run, "no tile of layer fc6 fits the 8192 words");
    schedule_run_close(&run);
}

/* lstm_m: 4 times 500 outputs of 1,000 inputs, 2,000,000 weights. Of 100,000 words at least 20 uops; in
 * slices one for each of its layers. */
static void test_max_uops_that_memories_do_not_let_be(void **state)
{
    struct schedule_run run;
    (void)state;
    open_on(&run, &engine_atomic, NETWORK("lstm_m"), "400000 B");
    check_answer(&run, NULL);
    schedule_run_set(&run, "max_uops", "19");
    check_answer(&run, NULL);
    schedule_run_set(&run, "memory", "dram");
    check_answer(&run, NULL);
    schedule_run_set(&run, "transport", "links"); /* which slices from the DRAM have not */
    check_answer(&run, "more than max_uops = 19; take max_uops=24 or more, ");
    schedule_run_set(&run, "max_uops", "40");
    check_answer(&run, NULL);
    schedule_run_close(&run);
}

/* 512 rows of GPT-2 XL through 4,096 words. */
static void test_more_than_a_graph_has(void **state)
{
    struct schedule_run run;
    (void)state;
    open_on(&run, &engine_klotski_plus, NETWORK("gpt2_xl_prefill1024"), "16 KiB");
    check_answer(&run, NULL);
    schedule_run_set(&run, "sram", "output");
    check_answer(&run, NULL);
    schedule_run_set(&run, "sram", "all");
    schedule_run_set(&run, "memory", "dram");
    check_answer(&run, NULL);
    schedule_run_set(&run, "transport", "links");
    check_answer(&run, "more than 98000; take ");
    schedule_run_close(&run);
}

/* Asks again with each way that a refusal names, of "; take this, that or other". */
static uint32_t check_ways(struct schedule_run *run, const char *text)
{
    char ways[256], *next, *at;
    uint32_t n = 0;
    const char *take = strstr(text, "; take ");
    if (!take)
        return 0;
    (void)snprintf(ways, sizeof ways, "%s", take + strlen("; take "));
    if ((at = strstr(ways, " or ")) && strncmp(at, " or more", 8) == 0)
        at = strstr(at + 1, " or ");
    if (at)
        memcpy(at, ",   ", 4);
    for (at = ways; at; at = next, n++) {
        struct schedule_run as = *run; /* the same but for what changes */
        char name[32], value[32];
        as.task.architecture = &as.arch;
        as.task.network = &as.network;
        as.task.option = as.option;
        if ((next = strchr(at, ',')))
            *next++ = '\0';
        at += strspn(at, " ");
        if (strcmp(at, "a smaller batch") == 0)
            as.task.batch = 1;
        else if (strcmp(at, "larger memories") == 0)
            as.arch.level[1].size_word *= 1000000; /* SRAM */
        else if (sscanf(at, "%31[a-z_]=%31[a-z0-9]", name, value) == 2)
            schedule_run_set(&as, name, value);
        else
            fail_msg("what is \"%s\"?", at);
        check_answer(&as, NULL);
    }
    return n;
}

static void test_every_way_out_is_one(void **state)
{
    static const struct {
        const struct engine *engine;
        const char *network, *capacity;
        uint32_t batch;
        const char *option[8]; /* and values */
        uint32_t n_way;
    } row[] = {
        {&engine_klotski, NETWORK("vgg16"), "32 KiB", 1, {NULL}, 2},
        {&engine_klotski, NETWORK("vgg16"), "48 B", 1, {NULL}, 2},
        {&engine_klotski, NETWORK("vgg16"), "48 B", 1, {"memory", "dram"}, 2},
        {&engine_tangram, NETWORK("vgg16"), "32 KiB", 1, {"memory", "dram"}, 2},
        {&engine_atomic, NETWORK("bert_base"), "6000 KiB", 1, {"max_uops", "50"}, 1},
        {&engine_atomic, NETWORK("bert_base"), "6000 KiB", 2, {"max_uops", "50"}, 1},
        {&engine_klotski, NETWORK("bert_base"), "64 KiB", 1, {"max_uops", "200", "sram", "output"}, 3},
        {&engine_klotski,
         NETWORK("bert_base"),
         "64 KiB",
         1,
         {"memory", "dram", "max_uops", "200", "transport", "links"},
         4},
        {&engine_tangram,
         NETWORK("gpt2_xl_prefill1024"),
         "16 KiB",
         1,
         {"memory", "dram", "transport", "links"},
         3},
        {&engine_tangram, NETWORK("gpt2_xl_prefill1024"), "1 KiB", 1, {"memory", "dram"}, 2},
        {&engine_klotski, NETWORK("gpt2_xl_prefill1024"), "1 KiB", 1, {"memory", "dram"}, 2},
        {&engine_atomic, NETWORK("resnet152"), "6000 KiB", 700, {NULL}, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct schedule_run run;
        struct dse_error err = {0};
        open_on(&run, row[i].engine, row[i].network, row[i].capacity);
        run.task.batch = row[i].batch;
        for (size_t k = 0; row[i].option[k]; k += 2)
            schedule_run_set(&run, row[i].option[k], row[i].option[k + 1]);
        const struct engine_question question = {run.engine, &run.task, run.engine->accounting[0].accounting};
        assert_int_equal(engine_takes(&question, &err), DSE_BAD_USAGE);
        if (check_ways(&run, err.text) != row[i].n_way)
            fail_msg("%zu: %s", i, err.text);
        schedule_run_close(&run);
    }
}

/* BERT-base in at least 20,844 uops on eyeriss_12x14: with sums=all each reads all parts of the sums that
 * it is made of, with sums=reduce what they add up to. */
static void test_more_than_a_plan_of_memories_has(void **state)
{
    struct schedule_run run;
    (void)state;
    schedule_run_open_on(&run, &engine_klotski, NETWORK("bert_base"), "eyeriss_12x14", NULL, 0);
    check_answer(&run, NULL);
    schedule_run_set(&run, "memory", "dram");
    check_answer(&run, NULL);
    run.task.batch = 2;
    check_answer(&run, "more than the 16777216 tiles that a plan of memories has");
    schedule_run_set(&run, "sram", "slices");
    check_answer(&run, NULL);
    schedule_run_set(&run, "sram", "all");
    schedule_run_set(&run, "sums", "reduce");
    check_answer(&run, NULL);
    schedule_run_close(&run);
}

static void test_how_far_it_grows(void **state)
{
    static const uint32_t expected[] = {3000, 6000, 12000, 24000, 48000, 96000, 98000};
    struct tile_rules rules = {
        .max_uops = KLOTSKI_MAX_UOPS_STANDARD, .usual = KLOTSKI_MAX_UOPS_STANDARD, .grows = true};
    (void)state;
    assert_int_equal(klotski_fewer(&rules, 200, 8), 200);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_true(klotski_more_uops(&rules));
        assert_int_equal(rules.max_uops, expected[i]);
    }
    assert_false(klotski_more_uops(&rules));
    assert_int_equal(klotski_fewer(&rules, 10000, 1), 154); /* 10,000 / 98,000 * 1,500 = 153.06 */
    assert_int_equal(klotski_fewer(&rules, 200, 8), 8);
    assert_int_equal(klotski_fewer(&rules, 5, 8), 5);
    assert_int_equal(klotski_fewer(&rules, 0, 8), 0);
    rules = (struct tile_rules){.max_uops = 17};
    assert_false(klotski_more_uops(&rules));
}

/* dlrm: 2,000,000 weights; 900 words hold fewer weights than that, so 1,500 uops do not do. */
static void test_every_engine_goes_as_fine_as_memories_need(void **state)
{
    static const struct engine *const engine[] = {&engine_klotski, &engine_atomic, &engine_klotski_plus};
    (void)state;
    for (size_t i = 0; i < sizeof engine / sizeof engine[0]; i++) {
        struct schedule_run run;
        struct klotski_metrics own;
        open_on(&run, engine[i], NETWORK("dlrm"), "3600 B");
        schedule_run_set(&run, "evaluations", "1");
        if (engine[i] != &engine_atomic) {
            schedule_run_set(&run, "tries", "1");
            schedule_run_set(&run, "moves", "1");
        }
        check_answer(&run, NULL);
        schedule_run_solve(&run);
        assert_true(run.result.feasible);
        memcpy(&own, run.result.schedule.own, sizeof own);
        assert_true(own.n_uop > 1500 && own.n_repeated_uop == 0);
        schedule_run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_layer_that_no_tile_fits),
        cmocka_unit_test(test_max_uops_that_memories_do_not_let_be),
        cmocka_unit_test(test_more_than_a_graph_has),
        cmocka_unit_test(test_every_way_out_is_one),
        cmocka_unit_test(test_more_than_a_plan_of_memories_has),
        cmocka_unit_test(test_how_far_it_grows),
        cmocka_unit_test(test_every_engine_goes_as_fine_as_memories_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
