/* The text form of a scheme, and DLSAs that do not fit.
 * Tests: apply.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "tests/support/soma_case.h"

static const char example[] = "cut 2 A_conv3x3, 4 C_conv1x1 B_conv3x3 D_add, cut 2 E_pool2x2 F_conv3x3s2";

struct scheme {
    struct soma_case c;
    struct soma_lfa lfa;
    struct soma_dlsa dlsa;
};

/* The reference page's worked example with its default DLSA. */
static void open_scheme(struct scheme *s)
{
    soma_case_open(&s->c, "tests/known/soma/tiny6.yaml", 1 << 20);
    s->lfa = soma_case_lfa(&s->c, example);
    assert_true(soma_case_parse(&s->c, &s->lfa));
    const struct fused_oracle made = {.schedule = s->c.schedule};
    s->dlsa = soma_case_oracle_dlsa(&s->c, &made);
}

static enum dse_status read_text(struct scheme *s, const char *text, struct soma_lfa *lfa,
                                 struct soma_dlsa *dlsa, bool *has_dlsa)
{
    return soma_case_read(text, strlen(text), &s->c.network, &s->c.arena, lfa, dlsa, has_dlsa, &s->c.err);
}

static enum dse_status read_rules(struct scheme *s, const char *text, enum soma_rules *rules)
{
    struct yaml_doc doc;
    DSE_TRY(yaml_parse(&doc, "t", text, strlen(text), &s->c.err));
    const enum dse_status status = soma_read_rules(&doc, rules, &s->c.err);
    yaml_doc_free(&doc);
    return status;
}

static void test_write_is_the_documented_form(void **state)
{
    struct scheme s;
    struct text_buffer text;
    (void)state;
    open_scheme(&s);
    text_init(&text);
    soma_write(&s.c.network, false, &s.lfa, NULL, NULL, SOMA_NAMED_MAX, &text);
    assert_string_equal(text.data, "soma: 1\n"
                                   "network: tiny6\n"
                                   "groups:\n"
                                   "- {cut: true, tiles: 2, layers: [A_conv3x3]}\n"
                                   "- {tiles: 4, layers: [C_conv1x1, B_conv3x3, D_add]}\n"
                                   "- {cut: true, tiles: 2, layers: [E_pool2x2, F_conv3x3s2]}\n");
    text_clear(&text);
    soma_write(&s.c.network, false, &s.lfa, &s.dlsa, &s.c.schedule, SOMA_NAMED_MAX, &text);
    assert_non_null(strstr(text.data, "tensors: 26\n"
                                      "dram: # tensor, start, end\n"
                                      "- [2, -1, 2] # weights A_conv3x3\n"
                                      "- [0, -1, 1] # ifmap A_conv3x3 0 from input\n"
                                      "- [1, 0, 2] # ifmap A_conv3x3 1 from input\n"));
    assert_non_null(strstr(text.data, "- [19, 13, 15] # ifmap E_pool2x2 0 from D_add\n"));
    text_free(&text);
    soma_case_close(&s.c);
}

/* Whose rules a scheme is for stands in the text, if it is the published program's; "false" can be said as
 * well. */
static void test_text_says_whose_rules_it_is_for(void **state)
{
    struct scheme s;
    struct text_buffer text;
    struct soma_lfa lfa;
    struct soma_dlsa dlsa;
    enum soma_rules rules;
    bool has_dlsa;
    (void)state;
    open_scheme(&s);
    text_init(&text);
    soma_write(&s.c.network, true, &s.lfa, NULL, NULL, SOMA_NAMED_MAX, &text);
    assert_non_null(strstr(text.data, "network: tiny6\ncompat: true\ngroups:\n"));
    assert_int_equal(read_text(&s, text.data, &lfa, &dlsa, &has_dlsa), DSE_OK);
    assert_int_equal(read_rules(&s, text.data, &rules), DSE_OK);
    assert_int_equal(rules, SOMA_RULES_COMPAT);
    text_clear(&text);
    soma_write(&s.c.network, false, &s.lfa, NULL, NULL, SOMA_NAMED_MAX, &text);
    assert_int_equal(read_rules(&s, text.data, &rules), DSE_OK);
    assert_int_equal(rules, SOMA_RULES_UNSAID);
    text_append(&text, "compat: false\n");
    assert_int_equal(read_text(&s, text.data, &lfa, &dlsa, &has_dlsa), DSE_OK);
    assert_int_equal(read_rules(&s, text.data, &rules), DSE_OK);
    assert_int_equal(rules, SOMA_RULES_DEFAULT);
    static const char maybe[] = "soma: 1\ncompat: maybe\n";
    assert_int_equal(read_rules(&s, maybe, &rules), DSE_BAD_INPUT);
    assert_int_equal(s.c.err.line, 2);
    text_free(&text);
    soma_case_close(&s.c);
}

static void test_read_gives_back_what_was_written(void **state)
{
    struct scheme s;
    struct text_buffer text, again;
    struct soma_lfa lfa;
    struct soma_dlsa dlsa;
    bool has_dlsa;
    (void)state;
    open_scheme(&s);
    text_init(&text);
    text_init(&again);
    soma_write(&s.c.network, false, &s.lfa, &s.dlsa, &s.c.schedule, SOMA_NAMED_MAX, &text);
    assert_int_equal(read_text(&s, text.data, &lfa, &dlsa, &has_dlsa), DSE_OK);
    assert_true(has_dlsa);
    soma_write(&s.c.network, false, &lfa, &dlsa, &s.c.schedule, SOMA_NAMED_MAX, &again);
    assert_string_equal(text.data, again.data);
    assert_true(soma_case_parse(&s.c, &lfa));
    assert_int_equal(soma_apply(&dlsa, &s.c.schedule, &s.c.err), DSE_OK);
    text_free(&text);
    text_free(&again);
    soma_case_close(&s.c);
}

/* ---- runs ---- */

enum { N_ORDERED = 600 };

struct ordered {
    uint32_t order[N_ORDERED];
    int32_t start[N_ORDERED], end[N_ORDERED];
    struct soma_dlsa dlsa;
};

/* The lines of `dram` behind its own, when `o` is written in runs and reads back as it was. */
static char *write_in_runs(struct scheme *s, const struct ordered *o)
{
    struct text_buffer text;
    struct soma_lfa lfa;
    struct soma_dlsa again;
    bool has_dlsa;
    text_init(&text);
    soma_write(&s->c.network, false, &s->lfa, &o->dlsa, NULL, 0, &text);
    if (read_text(s, text.data, &lfa, &again, &has_dlsa) != DSE_OK)
        fail_msg("line %d: %s\n%s", s->c.err.line, s->c.err.text, text.data);
    assert_true(has_dlsa);
    assert_int_equal(again.n_tensor, o->dlsa.n_tensor);
    assert_int_equal(again.n_dram, o->dlsa.n_dram);
    for (uint32_t i = 0; i < again.n_dram; i++) {
        const uint32_t id = o->dlsa.order[i];
        assert_int_equal(again.order[i], id);
        assert_int_equal(again.start[id], o->dlsa.start[id]);
        assert_int_equal(again.end[id], o->dlsa.end[id]);
    }
    char *lines = arena_copy_text(&s->c.arena, strchr(strstr(text.data, "dram:"), '\n') + 1,
                                  strlen(strchr(strstr(text.data, "dram:"), '\n') + 1));
    text_free(&text);
    return lines;
}

static void put_in_order(struct ordered *o, uint32_t id, int32_t start, int32_t end)
{
    o->order[o->dlsa.n_dram++] = id;
    o->start[id] = start;
    o->end[id] = end;
}

static struct ordered *open_order(struct scheme *s)
{
    struct ordered *o = arena_alloc(&s->c.arena, 1, sizeof *o);
    assert_non_null(o);
    o->dlsa = (struct soma_dlsa){N_ORDERED, 0, o->order, o->start, o->end};
    return o;
}

/* Loads and stores of 40 tiles in turn, the last store later than the others, and what stands alone. */
static void test_long_orders_are_written_in_runs(void **state)
{
    struct scheme s;
    (void)state;
    open_scheme(&s);
    struct ordered *o = open_order(&s);
    put_in_order(o, 599, -1, 7);
    for (int32_t i = 0; i < 40; i++) {
        put_in_order(o, 100 + (uint32_t)i, i - 1, i + 1);
        put_in_order(o, 300 - 2 * (uint32_t)i, i, i + 2 + (i == 39));
    }
    for (int32_t i = 0; i < 3; i++)
        put_in_order(o, 400 + (uint32_t)i, 50, 60);
    assert_string_equal(write_in_runs(&s, o), "- [599, -1, 7]\n"
                                              "- {times: 39, of: [[100, -1, 1, 1, 1], [300, 0, 2, -2, 1]]}\n"
                                              "- [139, 38, 40]\n"
                                              "- [222, 39, 42]\n"
                                              "- {times: 3, of: [[400, 50, 60, 1, 0]]}\n");
    o->dlsa.n_dram = 0;
    put_in_order(o, 7, 0, 1);
    assert_string_equal(write_in_runs(&s, o), "- [7, 0, 1]\n");
    soma_case_close(&s.c);
}

/* Runs of any period, broken off anywhere, and what looks like a run for a while. */
static void test_runs_read_back_whatever_the_order(void **state)
{
    struct random_stream random = random_stream_make(3, 4, RANDOM_TEST);
    uint32_t n_run = 0;
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        struct scheme s;
        open_scheme(&s);
        struct ordered *o = open_order(&s);
        while (o->dlsa.n_dram < N_ORDERED - 64) {
            const uint32_t period = 1 + random_below(&random, 10), n = 1 + random_below(&random, 60),
                           first = o->dlsa.n_dram;
            int32_t start[10], moved = (int32_t)random_below(&random, 3) - 1;
            for (uint32_t k = 0; k < period; k++)
                start[k] = 100 + (int32_t)random_below(&random, 9);
            for (uint32_t i = 0; i < n; i++) { /* numbers in rising or falling order, or in period chains */
                const uint32_t id = round % 3 == 0 ? N_ORDERED - 1 - first - i : first + i;
                const int32_t at = start[i % period] + moved * (int32_t)(i / period);
                put_in_order(o, id, at, at + 1 + (int32_t)(i % period) + (random_below(&random, 40) == 0));
            }
        }
        n_run += strstr(write_in_runs(&s, o), "times") != NULL;
        soma_case_close(&s.c);
    }
    assert_true(n_run > 250);
}

static void test_read_says_what_is_wrong_and_where(void **state)
{
#define HEAD "soma: 1\nnetwork: tiny6\ngroups:\n"
#define ALL                                                                                                  \
    HEAD "- {cut: true, tiles: 1, layers: [A_conv3x3, B_conv3x3, C_conv1x1, D_add, E_pool2x2, "              \
         "F_conv3x3s2]}\n"
    static const struct {
        const char *text, *message;
        int line;
    } wrong[] = {
        {"soma: 2\nnetwork: tiny6\ngroups: []\n", "soma", 1},
        {"soma: 1\nnetwork: other\ngroups: []\n", "for network \"other\", not tiny6", 2},
        {"soma: 1\nnetwork: tiny6\ngroups: []\n", "0 groups", 3},
        {HEAD "- {tiles: 1, layers: [A_conv3x3]}\n", "must have cut: true", 4},
        {HEAD "- {cut: true, tiles: 0, layers: [A_conv3x3]}\n", "tiles", 4},
        {HEAD "- {cut: true, tiles: 1, layers: []}\n", "without layers", 4},
        {HEAD "- {cut: true, tiles: 1, layers: [A]}\n", "no layer \"A\"", 4},
        {HEAD "- {cut: true, tiles: 1, layers: [A_conv3x3]}\n- {tiles: 1, layers: [A_conv3x3]}\n",
         "second time", 5},
        {HEAD "- {cut: true, tiles: 1, layers: [A_conv3x3]}\n", "B_conv3x3 is in no group", 4},
        {HEAD "- {cut: true, tiles: 1, layer: [A_conv3x3]}\n", "layer", 4},
        {ALL "tensors: 2\n", "dram", 1},
        {ALL "tensors: 2\ndram:\n- [0, 1]\n", "[tensor, start, end]", 7},
        {ALL "tensors: 2\ndram:\n- [2, 0, 1]\n", "tensor", 7},
        {ALL "tensors: 2\ndram:\n- [1, 0, 1]\n- [1, 0, 1]\n", "second time", 8},
        {ALL "tensors: 2\ndram:\n- [1, -2, 1]\n", "start is \"-2\"; it must be a position from -1", 7},
        {ALL "tensors: 2\ndram:\n- [1, 3, 3]\n", "behind the start", 7},
        {ALL "tensors: 9\ndram:\n- {times: 3, of: [[0, 0, 1, 1]]}\n", "step of start and end]", 7},
        {ALL "tensors: 9\ndram:\n- {times: 3, off: [[0, 0, 1, 1, 1]]}\n", "off", 7},
        {ALL "tensors: 9\ndram:\n- {times: 0, of: [[0, 0, 1, 1, 1]]}\n", "times", 7},
        {ALL "tensors: 9\ndram:\n- {times: 10, of: [[0, 0, 1, 0, 1]]}\n", "1 tensors 10 times; there are 9",
         7},
        {ALL "tensors: 9\ndram:\n- {times: 3, of: [[0, 0, 1, 0, 1]]}\n", "tensor 0 stands here a second", 7},
        {ALL "tensors: 9\ndram:\n- {times: 3, of: [[4, 0, 1, 4, 1]]}\n", "time 3 this is tensor 12", 7},
        {ALL "tensors: 9\ndram:\n- {times: 3, of: [[4, 0, 1, 1, -1]]}\n", "tensor 6 from -2", 7},
        {ALL "tensors: 9\ndram:\n- {times: 3, of: [[4, 0, 1, 1, x]]}\n", "a step is \"x\"", 7},
    };
#undef ALL
#undef HEAD
    struct scheme s;
    struct soma_lfa lfa;
    struct soma_dlsa dlsa;
    bool has_dlsa;
    (void)state;
    open_scheme(&s);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(read_text(&s, wrong[i].text, &lfa, &dlsa, &has_dlsa), DSE_BAD_INPUT);
        assert_string_equal(s.c.err.file, "scheme.yaml");
        if (s.c.err.line != wrong[i].line || strstr(s.c.err.text, wrong[i].message) == NULL)
            fail_msg("case %zu: line %d: %s", i, s.c.err.line, s.c.err.text);
    }
    soma_case_close(&s.c);
}

/* Any text with a few bytes changed is refused with a message, or read, parsed and applied or refused. */
static void test_read_survives_changed_bytes(void **state)
{
    static const char letters[] = "0123456789-,:[]{} \n#ABtc";
    enum { ROUNDS = 3000 };
    struct random_stream random = random_stream_make(1, 2, RANDOM_TEST);
    struct scheme s;
    struct text_buffer text;
    uint32_t n_read = 0;
    (void)state;
    open_scheme(&s);
    text_init(&text);
    soma_write(&s.c.network, false, &s.lfa, &s.dlsa, &s.c.schedule, SOMA_NAMED_MAX, &text);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct arena arena;
        struct soma_lfa lfa;
        struct soma_dlsa dlsa;
        bool has_dlsa;
        arena_init(&arena);
        char *copy = arena_copy_text(&arena, text.data, text.length);
        for (uint32_t n = 1 + random_below(&random, 3); n > 0; n--)
            copy[random_below(&random, (uint32_t)text.length)] =
                letters[random_below(&random, sizeof(letters) - 1)];
        s.c.err.text[0] = '\0';
        if (soma_case_read(copy, text.length, &s.c.network, &arena, &lfa, &dlsa, &has_dlsa, &s.c.err) !=
            DSE_OK) {
            assert_true(s.c.err.text[0] != '\0');
        } else if (soma_parse(&s.c.context, &lfa, &arena, &s.c.schedule, &s.c.fault, &s.c.err) == DSE_OK &&
                   s.c.fault.what == SOMA_OK) {
            n_read++;
            if (has_dlsa && soma_apply(&dlsa, &s.c.schedule, &s.c.err) != DSE_OK)
                assert_true(s.c.err.text[0] != '\0');
        }
        arena_free(&arena);
    }
    assert_true(n_read > ROUNDS / 10); /* changes in comments, and of starts and ends */
    text_free(&text);
    soma_case_close(&s.c);
}

static void expect_refusal(struct scheme *s, const char *message)
{
    assert_int_equal(soma_apply(&s->dlsa, &s->c.schedule, &s->c.err), DSE_BAD_INPUT);
    if (strstr(s->c.err.text, message) == NULL)
        fail_msg("%s", s->c.err.text);
}

/* Tensor numbers of the worked example: 3 is local, 15 the first store of D (producer 4), 19 the first load
 * of E (used at 14). */
static void test_apply_refuses_what_does_not_fit(void **state)
{
    struct scheme s;
    (void)state;
    open_scheme(&s);
    assert_int_equal(soma_apply(&s.dlsa, &s.c.schedule, &s.c.err), DSE_OK);
    s.dlsa.n_tensor--;
    expect_refusal(&s, "the schedule has 26 and 14");
    s.dlsa.n_tensor++;
    uint32_t order[14];
    memcpy(order, s.dlsa.order, sizeof(order));
    s.dlsa.order = order;
    order[13] = order[12];
    expect_refusal(&s, "twice");
    order[13] = 3;
    expect_refusal(&s, "never leaves the buffer");
    order[13] = 26;
    expect_refusal(&s, "the last one is 25");
    order[13] = 25;
    s.dlsa.end[15] = 4;
    expect_refusal(&s, "it may end from 5 to 18");
    s.dlsa.end[15] = 18;
    s.dlsa.start[19] = 15;
    expect_refusal(&s, "it may start from -1 to 14");
    s.dlsa.start[19] = -1;
    assert_int_equal(soma_apply(&s.dlsa, &s.c.schedule, &s.c.err), DSE_OK);
    assert_int_equal(s.c.schedule.tensor[15].end, 18);
    assert_int_equal(s.c.schedule.tensor[19].start, -1);
    soma_case_close(&s.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_is_the_documented_form),
        cmocka_unit_test(test_text_says_whose_rules_it_is_for),
        cmocka_unit_test(test_read_gives_back_what_was_written),
        cmocka_unit_test(test_long_orders_are_written_in_runs),
        cmocka_unit_test(test_runs_read_back_whatever_the_order),
        cmocka_unit_test(test_read_says_what_is_wrong_and_where),
        cmocka_unit_test(test_read_survives_changed_bytes),
        cmocka_unit_test(test_apply_refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests_name("soma text", tests, NULL, NULL);
}
