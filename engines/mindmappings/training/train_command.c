/* Options into a task, and the trained model as a report. */
#include "engines/mindmappings/training/train_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engines/mindmappings/training/mm_train.h"

/* ---- options ---- */

static const char *value_of(const struct engine_command_task *task, const char *name)
{
    return task->value(task->args, name);
}

/* An option that is one of `choice` (n); `*found` stays when it is not given. */
static enum dse_status choose(const struct engine_command_task *task, const char *name,
                              const char *const *choice, size_t n, uint32_t *found, struct dse_error *err)
{
    char list[256] = "", shown[64];
    size_t length = 0;
    const char *word = value_of(task, name);
    if (!word)
        return DSE_OK;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, choice[i]) == 0) {
            *found = (uint32_t)i;
            return DSE_OK;
        }
        if (length < sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", choice[i]);
    }
    return dse_fail(err, DSE_BAD_USAGE, "--%s %s is unknown; it is one of: %s", name,
                    text_excerpt(word, shown, sizeof shown), list);
}

/* A whole number; `*value` stays when it is not given. */
static enum dse_status count(const struct engine_command_task *task, const char *name, uint64_t lowest,
                             uint64_t highest, uint64_t *value, struct dse_error *err)
{
    const char *word = value_of(task, name);
    char shown[64];
    uint64_t number;
    if (!word)
        return DSE_OK;
    if (!text_parse_u64(word, &number) || number < lowest || number > highest)
        return dse_fail(err, DSE_BAD_USAGE,
                        "--%s %s: a whole number from %" PRIu64 " to %" PRIu64 " is wanted", name,
                        text_excerpt(word, shown, sizeof shown), lowest, highest);
    *value = number;
    return DSE_OK;
}

static enum dse_status read_preset(const struct engine_command_task *task, struct mm_preset *preset,
                                   struct dse_error *err)
{
    size_t n;
    uint32_t chosen = 0, loss;
    const struct mm_preset *all = mm_preset_all(&n);
    const char *name[8];
    for (size_t i = 0; i < n && i < sizeof name / sizeof name[0]; i++)
        name[i] = all[i].name;
    DSE_TRY(choose(task, "preset", name, n, &chosen, err));
    *preset = all[chosen];
    uint64_t n_sample = preset->n_sample, n_epoch = preset->fit.n_epoch, patience = preset->fit.patience;
    DSE_TRY(count(task, "samples", 1000, 1000000000, &n_sample, err));
    DSE_TRY(count(task, "epochs", 1, MM_EPOCH_MAX, &n_epoch, err));
    DSE_TRY(count(task, "patience", 0, MM_EPOCH_MAX, &patience, err));
    loss = preset->fit.loss;
    DSE_TRY(choose(task, "loss", mlp_loss_name, MLP_LOSS_COUNT, &loss, err));
    preset->n_sample = (uint32_t)n_sample;
    preset->fit.n_epoch = (uint32_t)n_epoch;
    preset->fit.patience = (uint32_t)patience;
    preset->fit.loss = (enum mlp_loss)loss;
    return DSE_OK;
}

/* Drawn problems of the machine's algorithm, or the layers of a network, which lives as long as its problems
 * are read. */
static enum dse_status read_problems(const struct engine_command_task *task, const struct mm_machine *machine,
                                     struct arena *arena, struct mm_problems *problems, struct dse_error *err)
{
    const char *word = value_of(task, "problems");
    struct network network;
    char line[128];
    uint32_t n_other;
    *problems = (struct mm_problems){.algorithm = machine->algorithm};
    if (!word || strcmp(word, machine->algorithm->name) == 0)
        return DSE_OK;
    if (mm_algorithm_find(word))
        return dse_fail(err, DSE_BAD_USAGE, "--problems %s: %s is a machine for %s", word,
                        machine->arch->name, machine->algorithm->name);
    DSE_TRY(task->network(word, &network, err));
    enum dse_status status =
        mm_problems_of_network(&network, machine->algorithm, arena, problems, &n_other, err);
    if (status == DSE_OK && n_other > 0) {
        snprintf(line, sizeof line, "%" PRIu32 " layer%s of %s left out: no problems of algorithm %s",
                 n_other, text_plural(n_other), network.name, machine->algorithm->name);
        task->say(task->user, true, line);
    }
    network_free(&network);
    return status;
}

/* ---- the report ---- */

static const struct cell_column net_column[] = {
    {.name = "network", .title = "network", .look = LOOK_COUNT},
    {.name = "seed", .title = "seed", .look = LOOK_TEXT},
    {.name = "epochs", .title = "epochs", .look = LOOK_COUNT},
    {.name = "train_loss", .title = "training loss", .look = LOOK_FIXED, .digit = 5},
    {.name = "test_loss", .title = "test loss", .look = LOOK_FIXED, .digit = 5},
    {.name = "spearman", .title = "rank correlation", .look = LOOK_FIXED, .digit = 4},
    {.name = "spearman_within", .title = "within a problem", .look = LOOK_FIXED, .digit = 4},
    {.name = "spearman_low", .title = "cheapest tenth", .look = LOOK_FIXED, .digit = 4},
    {.name = "median_error", .title = "median error", .look = LOOK_PERCENT},
    {.name = "search_trial", .title = "search trial", .look = LOOK_FIXED, .digit = 3},
};

/* The columns before the first quality are those of an epoch, too. */
enum { N_EPOCH_COLUMN = 5 };

static void fill_epochs(const struct mm_model *model, struct cells *rows)
{
    cells_init(rows, net_column, N_EPOCH_COLUMN);
    for (uint32_t i = 0; i < model->n_net; i++)
        for (uint32_t epoch = 0; epoch < model->net[i].n_epoch; epoch++) {
            cells_count(rows, i + 1);
            cells_format(rows, "%" PRIu64, model->net[i].seed);
            cells_count(rows, epoch + 1);
            cells_real(rows, model->net[i].train_loss[epoch]);
            cells_real(rows, model->net[i].test_loss[epoch]);
        }
}

static void fill_nets(const struct mm_model *model, struct report *report)
{
    cells_init(&report->rows, net_column, sizeof net_column / sizeof net_column[0]);
    for (uint32_t i = 0; i < model->n_net; i++) {
        const struct mm_net *net = &model->net[i];
        cells_count(&report->rows, i + 1);
        cells_format(&report->rows, "%" PRIu64, net->seed);
        cells_count(&report->rows, net->n_epoch);
        cells_real(&report->rows, net->train_loss[net->n_epoch - 1]);
        cells_real(&report->rows, net->test_loss[net->n_epoch - 1]);
        cells_real(&report->rows, net->quality.spearman);
        cells_real(&report->rows, net->quality.spearman_within);
        cells_real(&report->rows, net->quality.spearman_low);
        cells_real(&report->rows, net->quality.median_error);
        cells_real(&report->rows, net->quality.trial);
    }
}

static void fill_report(const struct mm_model *model, const struct mm_train_task *task, bool epochs,
                        bool found, struct report *report)
{
    if (epochs)
        fill_epochs(model, &report->rows);
    else
        fill_nets(model, report);
    text_append(&report->foot,
                "\n%s: algorithm %s, mode %s, %s, problems %s\n%s; products by OpenBLAS for %s%s\n",
                task->model, model->encoding.algorithm->name, mm_mode_name[model->mode], model->architecture,
                model->problems, model->options, model->core,
                found ? "\nIt was there already, trained by the same command." : "");
}

/* ---- the command ---- */

static enum dse_status train(const struct engine_command_task *task, struct arena *arena,
                             struct report *report, struct dse_error *err)
{
    struct mm_machine machine;
    struct mm_problems problems;
    const struct mm_model *model;
    struct mm_train_task job = {.machine = &machine,
                                .problems = &problems,
                                .data = value_of(task, "data"),
                                .model = value_of(task, "output"),
                                .n_thread = task->n_thread,
                                .cancel = task->cancel,
                                .say = task->say,
                                .user = task->user};
    uint64_t seed = 0, n_net = 1;
    static const char *const rows[] = {"nets", "epochs"};
    uint32_t mode = MM_AUTOBYPASS, row = 0;
    bool found;
    if (!job.model)
        return dse_fail(err, DSE_BAD_USAGE, "where to? -o MODEL.h5");
    DSE_TRY(read_preset(task, &job.preset, err));
    DSE_TRY(choose(task, "mode", mm_mode_name, MM_MODE_COUNT, &mode, err));
    DSE_TRY(choose(task, "rows", rows, sizeof rows / sizeof rows[0], &row, err));
    DSE_TRY(count(task, "seed", 0, UINT32_MAX, &seed, err));
    DSE_TRY(count(task, "nets", 1, MM_NET_MAX, &n_net, err));
    DSE_TRY(mm_machine_of(task->architecture, &machine, err));
    DSE_TRY(read_problems(task, &machine, arena, &problems, err));
    job.problems_name = value_of(task, "problems") ? value_of(task, "problems") : machine.algorithm->name;
    job.mode = (enum mm_mode)mode;
    job.seed = seed;
    job.n_net = (uint32_t)n_net;
    DSE_TRY(mm_train(&job, arena, &model, &found, err));
    fill_report(model, &job, row == 1, found, report);
    return DSE_OK;
}

static enum dse_status run(const struct engine_command_task *task, struct report *report,
                           struct dse_error *err)
{
    struct arena arena;
    arena_init(&arena);
    enum dse_status status = train(task, &arena, report, err);
    arena_free(&arena);
    return status;
}

static const struct cli_option options[] = {
    {"output", 'o', "MODEL.h5",
     "the model; what is unfinished is in MODEL.h5.part, and the same command goes on"},
    {"problems", 'p', "WHAT",
     "cnn, mttkrp: problems drawn at random, of the machine's algorithm (default); or a network"},
    {"preset", 0, "NAME", "small (default) or paper"},
    {"samples", 'n', "N", "mappings to train with (default: of the preset)"},
    {"epochs", 0, "N", "times that each is looked at (default: of the preset)"},
    {"patience", 0, "N", "end after N epochs without a lower test loss, with the network of the lowest"},
    {"loss", 0, "NAME", "huber (default), mse or mae"},
    {"nets", 0, "N", "networks in the model, of N seeds (default 1)"},
    {"data", 'd', "FILE.h5", "training data: read, or drawn and kept there (default: drawn and not kept)"},
    {"mode", 'm', "MODE", "autobypass (default): tiles that do not fit are bypassed; mustfit: all fit"},
    {"seed", 's', "N", "of data, first weights and shuffles (default 0)"},
    {"rows", 0, "WHAT", "what is printed: nets (default), or epochs, with the losses of each"},
    {"format", 'f', "HOW", "table for people (default), csv or json"},
    {"set", 0, "PATH=VALUE", "replace a quantity of the architecture: DRAM.bandwidth='8 GB/s'; repeatable"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use)"},
};

const struct engine_command engine_command_train = {
    .name = "train",
    .summary = "Train a surrogate of the costs of mappings, as Mind Mappings searches with.",
    .help =
        "Mappings of many problems are drawn and priced, and a neural network learns what they cost. The "
        "model says\n"
        "how well it ranks mappings of 1,000 problems that it has not seen. The same bytes for any number "
        "of\n"
        "threads, and after any interruption.\n"
        "\n"
        "  dse train mindmappings_banks -o cnn.h5\n"
        "  dse train mindmappings_mttkrp_banks -o mttkrp.h5 --nets 3 --data mttkrp-data.h5\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .writes = true,
    .run = run,
};
