/* The names of core schedulers, their lines in a schedule's text (docs/core-array.md, "Another scheduler"),
 * and what is opened on machines that suit one of them or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/accounting_soma.h"
#include "costmodel/readers/readers.h"
#include "engines/soma/machine/core_choice.h"

static const struct core_tile tile = {
    .b = 1, .k = 8, .c = 8, .h = 4, .w = 4, .r = 3, .s = 3, .stride_h = 1, .stride_w = 1, .groups = 1};

static enum dse_status read_text(const char *text, struct soma_core_choice *choice, struct dse_error *err)
{
    struct yaml_doc doc;
    DSE_TRY(yaml_parse(&doc, "s.yaml", text, strlen(text), err));
    const enum dse_status status = soma_core_read(&doc, choice, err);
    yaml_doc_free(&doc);
    return status;
}

static void test_names_are_found_and_written(void **state)
{
    (void)state;
    for (enum soma_core core = SOMA_CORE_AUTO + 1; core < SOMA_N_CORE; core++) {
        const bool is_array = core == SOMA_CORE_ARRAY;
        struct soma_core_choice back;
        struct text_buffer text;
        struct dse_error err;
        enum soma_core found;
        char accounting[64];
        assert_int_equal(soma_core_find(soma_core_names[core], &found, &err), DSE_OK);
        assert_int_equal(found, core);
        snprintf(accounting, sizeof accounting, "soma%s%s", is_array ? "" : "-",
                 is_array ? "" : soma_core_names[core]);
        assert_string_equal(soma_core_accounting(core, &accounting_soma), accounting);
        text_init(&text);
        text_append(&text, "network: n\n");
        soma_core_write((struct soma_core_choice){core, 70 + core}, &text);
        assert_int_equal(read_text(text.data, &back, &err), DSE_OK);
        assert_int_equal(back.core, core);
        /* the built-in search has no number, and nothing to write */
        assert_int_equal(back.max_evaluations, is_array ? SOMA_CORE_EVALUATIONS : 70 + core);
        assert_int_equal(strchr(text.data, '\n')[1] == '\0', is_array);
        text_free(&text);
    }
    assert_string_equal(soma_core_accounting(SOMA_CORE_ARRAY, &accounting_soma_compat), "soma-compat");
}

static void test_texts_that_choose(void **state)
{
    static const struct {
        const char *text;
        struct soma_core_choice choice;
    } good[] = {
        {"{}", {SOMA_CORE_ARRAY, 4000}},
        {"core: array", {SOMA_CORE_ARRAY, 4000}},
        {"core: auto", {SOMA_CORE_AUTO, 4000}},
        {"core: cosa-best", {SOMA_CORE_COSA_BEST, 4000}},
        {"core_evaluations: 0\ncore: genetic", {SOMA_CORE_GENETIC, 0}},
    };
    static const struct {
        const char *text;
        int line;
        const char *message;
    } bad[] = {
        {"a: 1\ncore: sundial", 2,
         "core is \"sundial\"; there are auto, array, quick, descent, cosa, cosa-best, random, hybrid, "
         "annealing and genetic"},
        {"core_evaluations: 5", 1, "core_evaluations belongs to a mapper as core"},
        {"core: array\ncore_evaluations: 5", 2, "core_evaluations belongs to a mapper as core"},
    };
    struct soma_core_choice choice;
    struct dse_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(read_text(good[i].text, &choice, &err), DSE_OK);
        assert_int_equal(choice.core, good[i].choice.core);
        assert_int_equal(choice.max_evaluations, good[i].choice.max_evaluations);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_text(bad[i].text, &choice, &err), DSE_BAD_INPUT);
        assert_string_equal(err.file, "s.yaml");
        assert_int_equal(err.line, bad[i].line);
        assert_string_equal(err.text, bad[i].message);
    }
    assert_int_equal(read_text("core: cosa\ncore_evaluations: 1000000001", &choice, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "core_evaluations"));
}

struct fixture {
    struct architecture arch;
    struct schedule_task task;
    struct arena arena;
    struct soma_core_machine made;
    struct dse_error err;
};

static enum dse_status reopen(struct fixture *f, enum soma_core core, const struct accounting *accounting)
{
    arena_init(&f->arena);
    f->task.arch = &f->arch;
    assert_int_equal(core_cache_new(1000, &f->task.cache, &f->err), DSE_OK);
    return soma_core_open(accounting, (struct soma_core_choice){core, 50}, &f->task, &f->arena, &f->made,
                          &f->err);
}

static enum dse_status open_on(struct fixture *f, const char *arch, enum soma_core core, bool compat)
{
    char path[128];
    memset(f, 0, sizeof *f);
    snprintf(path, sizeof path, "experiments/architectures/%s.yaml", arch);
    assert_int_equal(architecture_read(path, &f->arch, &f->err), DSE_OK);
    return reopen(f, core, compat ? &accounting_soma_compat : &accounting_soma);
}

static void close_case(struct fixture *f)
{
    core_cache_free(f->task.cache);
    arena_free(&f->arena);
}

/* Asked twice, once past the cache: the answers are those of the scheduler itself. */
static void assert_answers(struct fixture *f, struct core_cost wanted)
{
    for (int i = 0; i < 2; i++) {
        struct core_cost cost;
        assert_int_equal(f->made.pricer->tile.cost(f->made.pricer->tile.self, &tile, &cost, &f->err), DSE_OK);
        assert_true(cost.cycle == wanted.cycle && cost.energy_j == wanted.energy_j);
    }
    assert_true(wanted.cycle > 0 && wanted.energy_j > 0);
    close_case(f);
}

static void test_scheduler_is_the_one_chosen(void **state)
{
    static struct fixture f;
    struct core_cost cost;
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        assert_int_equal(open_on(&f, "soma_edge", SOMA_CORE_ARRAY, compat), DSE_OK);
        assert_int_equal(core_array_cost(&f.made.pricer->array, &tile, compat, &cost, &f.err), DSE_OK);
        assert_int_equal(f.made.pricer->word_bit, 8);
        assert_answers(&f, cost);
    }
    assert_int_equal(open_on(&f, "simba_fused", SOMA_CORE_RANDOM, false), DSE_OK);
    assert_int_equal(mapper_core_cost(&f.made.mapper, &tile, &cost, &f.err), DSE_OK);
    assert_answers(&f, cost);
}

/* auto is the built-in search on the machines that it models, and always with the published rules; quick on
 * others. What was opened says which. */
static void test_auto_takes_what_the_machine_is(void **state)
{
    static const struct {
        const char *arch;
        bool compat;
        enum soma_core core;
    } one[] = {
        {"soma_edge", false, SOMA_CORE_ARRAY},   {"soma_edge", true, SOMA_CORE_ARRAY},
        {"soma_cloud", false, SOMA_CORE_ARRAY},  {"simba_fused", false, SOMA_CORE_QUICK},
        {"tpu_128x128", false, SOMA_CORE_QUICK},
    };
    static struct fixture f;
    (void)state;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        assert_int_equal(open_on(&f, one[i].arch, SOMA_CORE_AUTO, one[i].compat), DSE_OK);
        assert_int_equal(f.made.choice.core, one[i].core);
        assert_int_equal(f.made.choice.max_evaluations, 50);
        close_case(&f);
    }
    assert_int_equal(open_on(&f, "simba_fused", SOMA_CORE_AUTO, true), DSE_BAD_INPUT);
    assert_null(strstr(f.err.text, "core=auto"));
    close_case(&f);
}

/* Results of `array` are those of `auto` where it is that. */
static void test_what_auto_comes_to_is_known_as_auto(void **state)
{
    static const struct {
        const char *path;
        enum soma_core same;
    } known[] = {{"experiments/architectures/soma_edge.yaml", SOMA_CORE_ARRAY},
                 {"experiments/architectures/simba.yaml", SOMA_CORE_QUICK}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct architecture arch;
        struct dse_error err;
        assert_int_equal(architecture_read(known[i].path, &arch, &err), DSE_OK);
        for (enum soma_core core = 0; core < SOMA_N_CORE; core++)
            assert_int_equal(soma_core_known_as(&accounting_soma, core, &arch),
                             core == known[i].same ? SOMA_CORE_AUTO : core);
    }
}

static void test_machines_that_do_not_go_with_it(void **state)
{
    static const char hint[] =
        "; with a mapper for its tiles it is one: engine option core=auto, or --core auto "
        "of dse eval";
    static struct fixture f;
    (void)state;
    assert_int_equal(open_on(&f, "simba_fused", SOMA_CORE_ARRAY, false), DSE_BAD_INPUT);
    assert_string_equal(f.err.text + strlen(f.err.text) - strlen(hint), hint);
    close_case(&f);
    assert_int_equal(open_on(&f, "simba_fused", SOMA_CORE_COSA, true), DSE_BAD_USAGE);
    assert_string_equal(f.err.text,
                        "the published program's rules (compat) go with core array, not with core cosa");
    close_case(&f);
    f.arch.level[f.arch.n_level - 1].is_dram = false; /* then no mapper will do, either */
    assert_int_equal(reopen(&f, SOMA_CORE_ARRAY, &accounting_soma), DSE_BAD_INPUT);
    assert_null(strstr(f.err.text, hint));
    close_case(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_found_and_written),
        cmocka_unit_test(test_texts_that_choose),
        cmocka_unit_test(test_scheduler_is_the_one_chosen),
        cmocka_unit_test(test_auto_takes_what_the_machine_is),
        cmocka_unit_test(test_what_auto_comes_to_is_known_as_auto),
        cmocka_unit_test(test_machines_that_do_not_go_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
