/* Engine unfused: what layer by layer means, read out of the text of what it finds. Bytes are those of the
 * network's layers, evaluated by the plain evaluator of tests/support.
 * Tests: offer.c, explain.c, soma_metrics.c, task.c, unfused.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/accounting_soma.h"
#include "engines/soma/explain.h"
#include "engines/soma/offer.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"
#include "engines/soma/task.h"
#include "tests/support/fused_plain.h"
#include "tests/support/schedule_run.h"
#include "tests/support/soma_case.h"

struct found {
    struct schedule_run run;
    struct soma_task made;
    struct soma_lfa lfa;
    struct fused_schedule fused;
};

static void open_case(struct found *f, const char *network, const char *capacity, uint32_t batch, bool compat)
{
    struct dse_error err = {0};
    memset(f, 0, sizeof *f);
    schedule_run_open(&f->run, &engine_unfused, network, capacity);
    schedule_run_set(&f->run, "compat", compat ? "true" : "false");
    f->run.task.batch = batch;
    schedule_run_solve(&f->run);
    if (!f->run.result.feasible)
        return;
    struct soma_dlsa dlsa;
    struct soma_fault_info fault;
    bool has_dlsa;
    const struct engine_schedule *s = &f->run.result.schedule;
    if (soma_task_prepare(&f->run.task, NULL, compat ? &accounting_soma_compat : &accounting_soma,
                          (struct soma_core_choice){SOMA_CORE_ARRAY, 0}, &f->run.arena, &f->made,
                          &err) != DSE_OK ||
        soma_case_read(s->text, s->text_length, &f->run.network, &f->run.arena, &f->lfa, &dlsa, &has_dlsa,
                       &err) != DSE_OK ||
        soma_parse(&f->made.search.context, &f->lfa, &f->run.arena, &f->fused, &fault, &err) != DSE_OK ||
        has_dlsa) /* double buffering is what a text without it means */
        fail_msg("%s", err.text);
}

static void close_case(struct found *f)
{
    soma_task_free(&f->made);
    schedule_run_close(&f->run);
}

/* Every output and every weight passes the DRAM once, every input at least once. By hand: outputs A 16 x 32 x
 * 32, B, C and D 32 x 32 x 32 each, E 32 x 16 x 16, F 64 x 8 x 8; weights A 3 x 16 x 9, B 16 x 32 x 9, C 16 x
 * 32, F 32 x 64 x 9; inputs 3 x 32 x 32, twice A, B, C, D, and of E what F reads. */
static void test_unfused_moves_every_output_and_weight_once(void **state)
{
    (void)state;
    const uint64_t output = 16384 + 3 * 32768 + 8192 + 4096, weight = 432 + 4608 + 512 + 18432;
    const uint64_t input = 3072 + 2 * 16384 + 3 * 32768 + 32 * 15 * 15;
    for (uint32_t batch = 1; batch <= 2; batch++) {
        struct found f;
        uint64_t byte[4] = {0};
        open_case(&f, "tests/known/soma/tiny6.yaml", "8 MiB", batch, false);
        assert_true(f.run.result.feasible);
        assert_int_equal(f.run.result.stop, STOP_CONVERGED);
        assert_true(f.run.result.bound == 0);
        assert_int_equal(f.lfa.n_flc, 6);
        for (uint32_t g = 0; g < 6; g++)
            assert_true(f.lfa.dram_cut[g]);
        for (uint32_t i = 0; i < f.fused.n_tensor; i++)
            byte[f.fused.tensor[i].kind] += f.fused.tensor[i].dram_byte;
        assert_int_equal(byte[FUSED_OFMAP], batch * output);
        assert_int_equal(byte[FUSED_WEIGHT], weight);
        assert_int_equal(byte[FUSED_LOCAL], 0);
        assert_true(byte[FUSED_IFMAP] >= batch * input);
        uint64_t all = byte[FUSED_OFMAP] + byte[FUSED_WEIGHT] + byte[FUSED_IFMAP];
        assert_true(f.run.result.schedule.dram_byte == (double)all);
        close_case(&f);
    }
}

static void test_unfused_says_what_the_plain_evaluator_says(void **state)
{
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        struct found f;
        struct fused_result plain;
        open_case(&f, "tests/known/soma/tiny6.yaml", "8 MiB", 2, compat);
        uint32_t n_tile = f.fused.n_tile, n_tensor = f.fused.n_tensor;
        struct fused_trace trace = {
            .tile_start = arena_alloc(&f.run.arena, n_tile, sizeof *trace.tile_start),
            .tile_finish = arena_alloc(&f.run.arena, n_tile, sizeof *trace.tile_finish),
            .tensor_start = arena_alloc(&f.run.arena, n_tensor, sizeof *trace.tensor_start),
            .tensor_finish = arena_alloc(&f.run.arena, n_tensor, sizeof *trace.tensor_finish),
            .living_byte = arena_alloc(&f.run.arena, (size_t)n_tile + 1, sizeof *trace.living_byte),
        };
        assert_true(fused_plain(&f.fused, &f.made.search.machine, &f.run.arena, &trace, &plain));
        assert_int_equal(plain.fault, FUSED_OK);
        assert_int_equal(plain.cycle, f.run.result.schedule.latency_cycle);
        assert_true((double)plain.buffer_max_byte ==
                    soma_metrics_get(&f.run.result.schedule).buffer_max_byte);
        assert_string_equal(f.run.result.schedule.accounting, compat ? "soma-compat" : "soma");
        close_case(&f);
    }
}

static void test_unfused_names_layer_and_bytes_when_nothing_fits(void **state)
{
    (void)state;
    struct found f;
    open_case(&f, "experiments/networks/resnet50_soma.yaml", "256 KiB", 1, true);
    assert_false(f.run.result.feasible);
    assert_non_null(strstr(f.run.result.reason, "layer conv"));
    assert_non_null(
        strstr(f.run.result.reason,
               "2,359,296 bytes of weights, which must fit whole (compat never cuts channels); the "
               "global buffer has 262,144"));
    assert_null(strstr(f.run.result.reason, "soma-plus"));
    close_case(&f);
}

/* Loads as late as can be need less: engine soma-plus finds a schedule of this, and whoever asks the
 * others is told. */
static void test_unfused_says_who_has_a_schedule(void **state)
{
    (void)state;
    static const struct engine *const engine[] = {&engine_unfused, &engine_cocco, &engine_soma};
    for (int i = 0; i < 3; i++) {
        struct schedule_run r;
        schedule_run_open(&r, engine[i], "experiments/networks/inception_resnet_v1.yaml", "4 MiB");
        schedule_run_set(&r, "compat", "1");
        schedule_run_solve(&r);
        assert_false(r.result.feasible);
        assert_int_equal(r.result.stop, STOP_CONVERGED);
        assert_non_null(strstr(r.result.reason, "layer Dropout"));
        assert_non_null(strstr(r.result.reason, "engine soma-plus, which loads later, has a schedule"));
        schedule_run_close(&r);
    }
}

/* The smallest tiles that fill the core array were a fixed choice once, and 14 times the energy-delay
 * product of one tile a layer. Whoever fuses may always not fuse: cocco and soma find nothing worse. */
static void test_unfused_is_what_tuned_tiles_give_and_others_are_no_worse(void **state)
{
    static const struct engine *const other[] = {&engine_cocco, &engine_soma};
    (void)state;
    struct found f;
    open_case(&f, "experiments/networks/gpt2_small_prefill512.yaml", "16 MiB", 1, false);
    double tuned = f.run.result.cost, all_in_one;
    for (uint32_t g = 0; g < f.lfa.n_flc; g++)
        f.lfa.tiling[g] = 1;
    struct soma_price price;
    assert_int_equal(soma_price_lfa(&f.made.search, &f.lfa, 16 << 20, &f.run.arena, NULL, &price, NULL),
                     DSE_OK);
    all_in_one = price.cost;
    assert_true(isfinite(all_in_one) && tuned <= all_in_one);
    close_case(&f);
    for (int i = 0; i < 2; i++) {
        struct schedule_run r;
        schedule_run_open(&r, other[i], "experiments/networks/gpt2_small_prefill512.yaml", "16 MiB");
        r.task.budget.max_evaluations = 4;
        schedule_run_solve(&r);
        assert_true(r.result.feasible && r.result.cost <= all_in_one);
        schedule_run_close(&r);
    }
}

/* A limit that is over before the first step: there is a schedule all the same, and it says why it ended. */
static void test_unfused_and_those_that_fuse_answer_without_any_time(void **state)
{
    static const struct engine *const engine[] = {&engine_unfused, &engine_cocco, &engine_soma};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct schedule_run r;
        schedule_run_open(&r, engine[i], "experiments/networks/resnet50_soma.yaml", "8 MiB");
        r.task.budget.max_seconds = 1e-9;
        schedule_run_solve(&r);
        assert_true(r.result.feasible);
        assert_int_equal(r.result.stop, STOP_MAX_SECONDS);
        schedule_run_close(&r);
    }
}

/* A mapper of tiles that takes its time gets none: a quick one answers, and the schedule says which. */
static void test_slow_mappers_of_tiles_leave_an_answer(void **state)
{
    static const struct engine *const engine[] = {&engine_unfused, &engine_cocco, &engine_soma,
                                                  &engine_soma_plus};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct schedule_run r;
        schedule_run_open(&r, engine[i], "experiments/networks/resnet50_soma.yaml", "8 MiB");
        schedule_run_set(&r, "core", "descent");
        schedule_run_set(&r, "core_evaluations", "0");
        r.task.budget.max_seconds = 1e-9;
        schedule_run_solve(&r);
        assert_true(r.result.feasible);
        assert_int_equal(r.result.stop, STOP_MAX_SECONDS);
        assert_string_equal(r.result.schedule.accounting, "soma-random");
        schedule_run_close(&r);
    }
}

/* U-Net with 64 KiB has 908,864 tiles (dse map soma_edge unet --set GBUF.capacity='64 KiB' -e unfused -n 1):
 * when no time is left there is neither one in haste nor the first one, which it would take to check, too. */
static void test_no_schedule_of_very_many_tiles_is_made_in_haste(void **state)
{
    static const struct engine *const engine[] = {&engine_unfused, &engine_cocco, &engine_soma,
                                                  &engine_soma_plus};
    static const char *const core[] = {"array", "descent"};
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct schedule_run r;
        schedule_run_open(&r, engine[i / 2], "experiments/networks/unet.yaml", "64 KiB");
        schedule_run_set(&r, "core", core[i % 2]);
        r.task.budget.max_seconds = 1e-9;
        schedule_run_solve(&r);
        assert_false(r.result.feasible);
        assert_int_equal(r.result.stop, STOP_MAX_SECONDS);
        schedule_run_close(&r);
    }
}

/* What was found is checked to the end when the search is cancelled, if that takes an instant; a text of more
 * than a megabyte takes longer to read. */
static void test_long_texts_are_not_checked_when_cancelled(void **state)
{
    enum { LONG_BYTE = 2 << 20 };
    (void)state;
    struct schedule_run r;
    atomic_int cancel = 0;
    schedule_run_open(&r, &engine_unfused, "tests/known/soma/tiny6.yaml", "8 MiB");
    schedule_run_solve(&r);
    assert_true(r.result.feasible);
    const struct engine_schedule found = r.result.schedule;
    char *text = arena_alloc(&r.arena, LONG_BYTE, 1);
    (void)snprintf(text, LONG_BYTE, "%s#", found.text);
    const size_t length = strlen(text);
    memset(text + length, '-', LONG_BYTE - length);
    r.task.budget.cancel = &cancel;
    for (int longer = 0; longer < 2; longer++)
        for (int cancelled = 0; cancelled < 2; cancelled++) {
            struct engine_schedule again, given = found;
            struct dse_error err = {0};
            if (longer) {
                given.text = text;
                given.text_length = LONG_BYTE;
            }
            atomic_store(&cancel, cancelled);
            engine_schedule_init(&again);
            assert_int_equal(soma_verify(&r.task, &accounting_soma, &given, &r.arena, &again, &err),
                             longer && cancelled ? DSE_INTERRUPTED : DSE_OK);
        }
    schedule_run_close(&r);
}

struct late {
    struct soma_task task;
    struct soma_unfused unfused;
    struct arena scratch;
};

static enum dse_status late_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct late *late = memory;
    return soma_task_of(context, 1, &late->task, err);
}

/* The time is over behind the search, before anything that loads later is looked for. */
static enum dse_status late_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct late *late = memory;
    if (engine_context_task(context)->budget.max_seconds > 0)
        late->task.search.stop_at_s = 1; /* of a clock that has run for longer */
    soma_unfused_new(late->task.search.context.network->n_layer, engine_context_arena(context),
                     &late->unfused);
    DSE_TRY(soma_initial_lfa(&late->task.search, SOMA_MOVES_PAPER, late->task.search.machine.buffer_byte,
                             NULL, &late->unfused.start, &late->unfused.price, err));
    DSE_TRY(soma_late_end(context, &late->task, &late->unfused, &late->scratch, stop, err));
    assert_int_equal(*stop,
                     engine_context_task(context)->budget.max_seconds > 0 ? STOP_RUNNING : STOP_CONVERGED);
    *stop = STOP_CONVERGED;
    return DSE_OK;
}

static void late_free(void *memory)
{
    struct late *late = memory;
    soma_task_free(&late->task);
    arena_free(&late->scratch);
}

/* "Converged" would say that nothing fits. */
static void test_what_is_over_has_not_converged(void **state)
{
    (void)state;
    struct engine late = engine_unfused;
    late.state_byte = sizeof(struct late);
    late.init = late_init;
    late.step = late_step;
    late.free = late_free;
    for (int over = 0; over < 2; over++) {
        struct schedule_run r;
        schedule_run_open(&r, &late, "experiments/networks/inception_resnet_v1.yaml", "4 MiB");
        schedule_run_set(&r, "compat", "1");
        r.task.budget.max_seconds = over ? 3600 : 0;
        schedule_run_solve(&r);
        schedule_run_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_schedule_of_very_many_tiles_is_made_in_haste),
        cmocka_unit_test(test_what_is_over_has_not_converged),
        cmocka_unit_test(test_long_texts_are_not_checked_when_cancelled),
        cmocka_unit_test(test_unfused_says_who_has_a_schedule),
        cmocka_unit_test(test_unfused_is_what_tuned_tiles_give_and_others_are_no_worse),
        cmocka_unit_test(test_unfused_and_those_that_fuse_answer_without_any_time),
        cmocka_unit_test(test_slow_mappers_of_tiles_leave_an_answer),
        cmocka_unit_test(test_unfused_moves_every_output_and_weight_once),
        cmocka_unit_test(test_unfused_says_what_the_plain_evaluator_says),
        cmocka_unit_test(test_unfused_names_layer_and_bytes_when_nothing_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
