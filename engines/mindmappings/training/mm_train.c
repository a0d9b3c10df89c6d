/* Data, normalisation, one network after the other with checkpoints between steps, tests, the file. */
#include "engines/mindmappings/training/mm_train.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"
#include "engines/mindmappings/training/mm_data_file.h"
#include "engines/mindmappings/training/mm_keeper.h"
#include "engines/mindmappings/training/mm_quality.h"
#include "engines/mindmappings/training/mm_trial.h"
#include "engines/search/blas.h"

enum {
    STEPS_AT_ONCE = 100, /* between looks at the clock */
    TEST_OF_TRIAL = 20   /* problems of the tests for each problem of the trial */
};
static const double checkpoint_s = 20;

struct training {
    const struct mm_train_task *task;
    struct arena *arena;
    struct mm_data_pair data; /* the ratios of the training data become targets */
    struct mm_model *model;
    float *test_target; /* (test.n, n_cost) */
    double said_s;      /* when a line was last said */
};

static void say(const struct training *t, bool lasting, const char *line)
{
    if (t->task->say)
        t->task->say(t->task->user, lasting, line);
}

/* A preset with what the user changed, in one line. Returns `buffer`. */
static char *print_preset(const struct mm_preset *preset, char *buffer, size_t size)
{
    struct text_buffer text;
    const struct mlp_fit_options *fit = &preset->fit;
    text_init(&text);
    text_append(&text,
                "preset %s: %" PRIu32 " samples, %" PRIu32 " of a problem; inputs %s, outputs %s; layers",
                preset->name, preset->n_sample, preset->n_each, mm_input_form_name[preset->input],
                mm_output_form_name[preset->output]);
    for (uint32_t i = 0; i < preset->n_hidden; i++)
        text_append(&text, " %" PRIu32, preset->hidden[i]);
    text_append(&text, "; loss %s; %s", mlp_loss_name[fit->loss], mlp_optimiser_name[fit->optimiser]);
    if (fit->optimiser == MLP_SGD)
        text_append(&text, " momentum %g", (double)fit->momentum);
    text_append(&text, ", rate %g %s", fit->schedule.rate, mlp_schedule_name[fit->schedule.kind]);
    if (fit->schedule.kind == MLP_STEP)
        text_append(&text, " x%g every %" PRIu64 " epochs", fit->schedule.factor, fit->schedule.period);
    text_append(&text, "; batch %" PRIu32 ", %" PRIu32 " epochs", fit->batch, fit->n_epoch);
    if (fit->patience > 0)
        text_append(&text, ", patience %" PRIu32, fit->patience);
    (void)text_copy(buffer, size, text.data && !text.failed ? text.data : preset->name);
    text_free(&text);
    return buffer;
}

/* ---- data ---- */

static void say_drawn(void *user, uint32_t done, uint32_t n)
{
    char line[96], a[32], b[32];
    snprintf(line, sizeof line, "drawing mappings: %s of %s", text_thousands(done, a, sizeof a),
             text_thousands(n, b, sizeof b));
    say(user, false, line);
}

static enum dse_status get_data(struct training *t, struct dse_error *err)
{
    const struct mm_train_task *task = t->task;
    const uint32_t n_problem = task->preset.n_sample / MM_TEST_OF + 1;
    const struct mm_data_plan plan = {
        .draws = {.machine = task->machine,
                  .problems = task->problems,
                  .mode = task->mode,
                  .seed = task->seed},
        .problems = task->problems_name,
        .n_train = task->preset.n_sample,
        .n_train_each = task->preset.n_each,
        .n_test = (n_problem < MM_TEST_PROBLEM_MAX ? n_problem : MM_TEST_PROBLEM_MAX) * MM_TEST_EACH,
        .n_test_each = MM_TEST_EACH,
    };
    if (task->data && access(task->data, F_OK) == 0)
        return mm_data_read(&plan, task->data, t->arena, &t->data, err);
    return mm_data_make(&plan, task->data, task->n_thread, task->cancel, say_drawn, t, t->arena, &t->data,
                        err);
}

/* Mean and standard deviation of n values, value i being the i-th of a hook; 1 where all are the same. */
static void describe(double (*value)(const struct training *t, uint32_t column, size_t i),
                     const struct training *t, uint32_t column, double *mean, double *deviation)
{
    double sum = 0, square = 0;
    size_t n = t->data.train.n;
    for (size_t i = 0; i < n; i++)
        sum += value(t, column, i);
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = value(t, column, i) - *mean;
        square += d * d;
    }
    *deviation = square > 0 ? sqrt(square / (double)n) : 1;
}

static double input_at(const struct training *t, uint32_t column, size_t i)
{
    const struct mm_data *data = &t->data.train;
    return mm_encoding_form_input(&t->model->encoding, column,
                                  data->vector[i * data->algorithm->n_value + column]);
}

static double output_at(const struct training *t, uint32_t column, size_t i)
{
    const struct mm_data *data = &t->data.train;
    return mm_encoding_form_output(&t->model->encoding, column,
                                   (double)data->ratio[i * data->algorithm->n_cost + column]);
}

/* The tables; then targets in place of the ratios of training, and beside those of the tests. */
static enum dse_status normalise(struct training *t, struct dse_error *err)
{
    struct mm_encoding *e = &t->model->encoding;
    uint32_t n_value = e->algorithm->n_value, n_cost = e->algorithm->n_cost;
    int n_thread = t->task->n_thread;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_thread)
    for (uint32_t c = 0; c < n_value + n_cost; c++) {
        if (c < n_value)
            describe(input_at, t, c, &e->input_mean[c], &e->input_deviation[c]);
        else
            describe(output_at, t, c - n_value, &e->output_mean[c - n_value],
                     &e->output_deviation[c - n_value]);
    }
    t->test_target = arena_alloc_unset(t->arena, (size_t)t->data.test.n * n_cost, sizeof(float));
    DSE_TRY(arena_check(t->arena, "training data", err));
    for (int which = 0; which < 2; which++) {
        const struct mm_data *data = which ? &t->data.test : &t->data.train;
        float *target = which ? t->test_target : t->data.train.ratio;
#pragma omp parallel for schedule(static) num_threads(n_thread)
        for (size_t i = 0; i < data->n; i++) {
            double ratio[MM_COST_MAX];
            for (uint32_t c = 0; c < n_cost; c++)
                ratio[c] = (double)data->ratio[i * n_cost + c];
            mm_encode_ratios(e, ratio, target + i * n_cost);
        }
    }
    return DSE_OK;
}

/* ---- examples for mlp_fit.h ---- */

struct source {
    const struct mm_encoding *encoding;
    const struct mm_data *data;
    const float *target; /* (n, n_cost) */
};

static void get_examples(void *self, const uint32_t *index, size_t n, float *input, float *target)
{
    const struct source *source = self;
    const struct mm_algorithm *algorithm = source->data->algorithm;
    for (size_t i = 0; i < n; i++) {
        const uint16_t *from = source->data->vector + (size_t)index[i] * algorithm->n_value;
        double vector[MM_VALUE_MAX];
        for (uint32_t v = 0; v < algorithm->n_value; v++)
            vector[v] = from[v];
        mm_encode_vector(source->encoding, vector, input + i * algorithm->n_value);
        memcpy(target + i * algorithm->n_cost, source->target + (size_t)index[i] * algorithm->n_cost,
               algorithm->n_cost * sizeof *target);
    }
}

/* ---- training ---- */

static void say_epoch(struct training *t, uint32_t number, const struct mlp_fit *fit)
{
    char line[128];
    uint32_t epoch = mlp_fit_epoch(fit);
    uint64_t in_epoch = fit->step % fit->n_step_epoch;
    if (in_epoch == 0)
        snprintf(line, sizeof line, "network %u, epoch %u of %u: training loss %.5f, test loss %.5f",
                 number + 1, epoch, fit->options.n_epoch, fit->train_loss[epoch - 1],
                 fit->test_loss[epoch - 1]);
    else
        snprintf(line, sizeof line, "network %u, epoch %u of %u: %2.0f %%, training loss %.5f", number + 1,
                 epoch + 1, fit->options.n_epoch, 100 * (double)in_epoch / (double)fit->n_step_epoch,
                 fit->loss_sum /
                     ((double)in_epoch * fit->options.batch * fit->mlp->width[fit->mlp->n_layer]));
    say(t, in_epoch == 0, line);
}

static enum dse_status run_epochs(struct training *t, uint32_t number, struct mlp_fit *fit,
                                  struct mm_keeper *keeper, struct dse_error *err)
{
    const struct mm_train_task *task = t->task;
    struct source train = {&t->model->encoding, &t->data.train, t->data.train.ratio};
    struct source test = {&t->model->encoding, &t->data.test, t->test_target};
    const struct mlp_examples training = {&train, t->data.train.n, get_examples};
    const struct mlp_examples tests = {&test, t->data.test.n, get_examples};
    while (!mlp_fit_over(fit)) {
        const uint64_t before = fit->step;
        enum dse_status status =
            mlp_fit_steps(fit, &training, STEPS_AT_ONCE, task->n_thread, task->cancel, err);
        /* also when a signal came with its last step */
        bool epoch_done = fit->step > before && fit->step % fit->n_step_epoch == 0;
        if (epoch_done) {
            double loss;
            DSE_TRY(mlp_mean_loss(fit->mlp, fit->options.loss, &tests, task->n_thread, &loss, err));
            mlp_fit_note(fit, loss);
        }
        if (status == DSE_INTERRUPTED || epoch_done || clock_wall_s() - keeper->last_s > checkpoint_s)
            DSE_TRY(mm_keeper_keep(keeper, fit, status == DSE_OK ? err : NULL));
        if (status != DSE_OK)
            return status;
        say_epoch(t, number, fit);
    }
    return DSE_OK;
}

/* What the network is worth. */
static enum dse_status judge(struct training *t, uint32_t number, struct dse_error *err)
{
    const struct mm_train_task *task = t->task;
    struct mm_net *net = &t->model->net[number];
    const struct mm_draws draws = {
        .machine = task->machine, .problems = task->problems, .mode = task->mode, .seed = task->seed};
    DSE_TRY(
        mm_quality_of(&net->frozen, &t->model->encoding, &t->data.test, task->n_thread, &net->quality, err));
    const uint32_t n_problem = t->data.test.n / MM_TEST_EACH / TEST_OF_TRIAL + 1;
    return mm_trial(t->model, number, &draws,
                    n_problem < MM_TRIAL_PROBLEM_MAX ? n_problem : MM_TRIAL_PROBLEM_MAX, task->n_thread,
                    task->cancel, &net->quality.trial, err);
}

static enum dse_status train_net(struct training *t, uint32_t number, struct mm_keeper *keeper,
                                 struct dse_error *err)
{
    struct mm_net *net = &t->model->net[number];
    struct mlp_fit fit;
    struct mlp_fit_options options = t->task->preset.fit;
    struct arena work;
    net->seed = options.seed = t->task->seed + number;
    arena_init(&work);
    enum dse_status status = mlp_fit_new(&net->mlp, &options, t->data.train.n, &work, &fit, err);
    if (status == DSE_OK)
        status = mm_keeper_restore(keeper, number, &fit, t->arena, err);
    if (status == DSE_OK)
        status = run_epochs(t, number, &fit, keeper, err);
    if (status == DSE_OK) {
        mlp_fit_end(&fit);
        net->n_epoch = mlp_fit_epoch(&fit);
        memcpy(net->train_loss, fit.train_loss, net->n_epoch * sizeof *net->train_loss);
        memcpy(net->test_loss, fit.test_loss, net->n_epoch * sizeof *net->test_loss);
        status = mlp_freeze(&net->mlp, t->arena, &net->frozen, err);
    }
    arena_free(&work);
    return status == DSE_OK ? judge(t, number, err) : status;
}

static enum dse_status train_all(struct training *t, struct mm_keeper *keeper, struct dse_error *err)
{
    const struct mm_preset *preset = &t->task->preset;
    const struct mm_algorithm *algorithm = t->task->machine->algorithm;
    uint32_t width[MLP_LAYER_MAX + 1] = {algorithm->n_value};
    memcpy(width + 1, preset->hidden, preset->n_hidden * sizeof *width);
    width[preset->n_hidden + 1] = algorithm->n_cost;
    for (uint32_t i = 0; i < t->model->n_net; i++) {
        struct mm_net *net = &t->model->net[i];
        net->train_loss = arena_alloc(t->arena, preset->fit.n_epoch, sizeof *net->train_loss);
        net->test_loss = arena_alloc(t->arena, preset->fit.n_epoch, sizeof *net->test_loss);
        DSE_TRY(arena_check(t->arena, "a model", err));
        DSE_TRY(mlp_new(width, preset->n_hidden + 1, t->arena, &net->mlp, err));
        DSE_TRY(train_net(t, i, keeper, err));
    }
    return DSE_OK;
}

/* ---- the model ---- */

/* What the model will be, but for its networks and tables. */
static enum dse_status start_model(struct training *t, struct dse_error *err)
{
    const struct mm_train_task *task = t->task;
    char options[512];
    struct mm_model *model = arena_alloc(t->arena, 1, sizeof *model);
    struct mm_net *net = arena_alloc(t->arena, task->n_net, sizeof *net);
    struct blas blas;
    DSE_TRY(blas_open(&blas, err)); /* before the data are drawn */
    print_preset(&task->preset, options, sizeof options);
    char *kept = arena_copy_text(t->arena, options, strlen(options));
    DSE_TRY(arena_check(t->arena, "a model", err));
    *model = (struct mm_model){
        .encoding = {.algorithm = task->machine->algorithm,
                     .input = task->preset.input,
                     .output = task->preset.output},
        .mode = task->mode,
        .machine = architecture_hash(task->machine->arch),
        .architecture = task->machine->arch->name,
        .problems = task->problems_name,
        .options = kept,
        .core = blas.core(),
        .n_sample = task->preset.n_sample,
        .n_net = task->n_net,
        .net = net,
    };
    t->model = model;
    return DSE_OK;
}

/* All that determines the networks; the data are known by then. */
static uint64_t work_of(const struct training *t)
{
    struct hash_state state;
    const struct mm_model *model = t->model;
    hash_begin(&state);
    hash_text(&state, model->options);
    hash_text(&state, model->core);
    hash_u64(&state, model->data);
    hash_u64(&state, t->task->seed);
    return hash_end(&state);
}

/* Whether a model that is there is what the task would give. */
static bool is_same(const struct training *t, const struct mm_model *a)
{
    const struct mm_model *b = t->model;
    return mm_model_check(a, t->task->model, t->task->machine, t->task->mode, NULL) == DSE_OK &&
           strcmp(a->options, b->options) == 0 && strcmp(a->core, b->core) == 0 && a->data == b->data &&
           a->n_net == b->n_net && a->net[0].seed == t->task->seed;
}

static enum dse_status find_model(const struct training *t, const struct mm_model **model, bool *found,
                                  struct dse_error *err)
{
    char *bytes;
    size_t n;
    *found = false;
    if (access(t->task->model, F_OK) != 0)
        return DSE_OK;
    DSE_TRY(yaml_load(t->task->model, &bytes, &n, err)); /* as a search reads its model */
    /* what is no model is not written over */
    enum dse_status status = mm_model_read(t->task->model, bytes, n, t->arena, model, err);
    free(bytes);
    *found = status == DSE_OK && is_same(t, *model);
    return status;
}

static enum dse_status train_from_data(struct training *t, const struct mm_model **model, bool *found,
                                       struct dse_error *err)
{
    char part[CHECKPOINT_PATH_MAX];
    struct mm_keeper keeper = {.record = NULL};
    t->model->data = mm_data_hash(&t->data);
    DSE_TRY(find_model(t, model, found, err));
    if (*found)
        return DSE_OK;
    if (snprintf(part, sizeof part, "%s.part", t->task->model) >= (int)sizeof part)
        return dse_fail(err, DSE_LIMIT, "the path of the model is too long");
    DSE_TRY(normalise(t, err));
    DSE_TRY(checkpoint_open(&keeper.file, part, work_of(t), 0, err));
    enum dse_status status = train_all(t, &keeper, err);
    if (status == DSE_OK)
        status = mm_model_write(t->model, t->task->model, err);
    checkpoint_close(&keeper.file, status == DSE_OK);
    *model = t->model;
    return status;
}

enum dse_status mm_train(const struct mm_train_task *task, struct arena *arena, const struct mm_model **model,
                         bool *found, struct dse_error *err)
{
    struct training t = {.task = task, .arena = arena};
    DSE_TRY(start_model(&t, err));
    DSE_TRY(get_data(&t, err));
    return train_from_data(&t, model, found, err);
}
