/* dse sample ARCH NETWORK LAYER */
#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "dse/command/commands.h"
#include "dse/console/table.h"
#include "dse/inputs/inputs.h"
#include "dse/isolate/run_signals.h"
#include "dse/report/vector_eval.h"
#include "dse/run/threads.h"
#include "dse/solve/record.h"
#include "dse/solve/sample.h"
#include "dse/solve/workload.h"
#include "results/record/csv_line.h"

enum { REASON_SHOWN_MAX = 10, STANDARD_MAPPINGS = 1000 };

/* What the summary at the end is about: a few numbers of every row. */
enum { VALUE_CYCLE, VALUE_ENERGY, VALUE_EDP, VALUE_MEASURED, N_VALUE };

/* Everything one call of the command holds. */
struct sample_job {
    struct architecture arch;
    struct network network;
    struct workload workload;
    struct yaml_doc constraints_doc;
    struct mapspace_constraints constraints;
    struct sample_settings settings;
    struct sample_summary summary;
    bool with_mapping;
    bool only_summary;
    struct new_file file;                           /* where rows go */
    const struct metric *metric[MEASURE_VALUE_MAX]; /* (n_metric) of what is measured */
    size_t n_metric;
    struct text_buffer line;
    struct arena arena; /* the text of one mapping */
    size_t n, capacity;
    double (*value)[N_VALUE]; /* (n) */
};

/* ---------------------------------------- the rows */

static enum dse_status write_header(struct sample_job *job, struct dse_error *err)
{
    if (job->only_summary)
        return DSE_OK;
    text_append(&job->line, "draw,latency_cycle,latency_s,energy_j,edp_js,utilization");
    for (size_t i = 0; i < job->n_metric; i++)
        text_append(&job->line, ",%s", job->metric[i]->name);
    text_append(&job->line, "%s\n", job->with_mapping ? ",mapping" : "");
    DSE_TRY(text_check(&job->line, "a line", err));
    fputs(job->line.data, job->file.stream);
    return DSE_OK;
}

static bool keep_values(struct sample_job *job, const struct sample_row *row)
{
    double(*grown)[N_VALUE] = array_grow(job->value, job->n + 1, &job->capacity, sizeof *grown);
    if (!grown)
        return false;
    job->value = grown;
    double *value = job->value[job->n++];
    value[VALUE_CYCLE] = (double)row->evaluation->latency_cycle;
    value[VALUE_ENERGY] = row->evaluation->energy_j;
    value[VALUE_EDP] = row->evaluation->edp_js;
    value[VALUE_MEASURED] = job->n_metric ? metric_number(job->metric[0], &row->measured->value[0]) : NAN;
    return true;
}

static enum dse_status write_row(void *user, const struct sample_row *row, struct dse_error *err)
{
    struct sample_job *job = user;
    struct text_buffer *line = &job->line;
    const struct evaluation *e = row->evaluation;
    const double number[] = {e->latency_s, e->energy_j, e->edp_js, e->utilization};
    char text[40];
    text_clear(line);
    if (job->only_summary)
        return keep_values(job, row) ? DSE_OK
                                     : dse_fail(err, DSE_NO_MEMORY, "out of memory for the mappings");
    text_append(line, "%llu,%llu", (unsigned long long)row->draw, (unsigned long long)e->latency_cycle);
    for (size_t i = 0; i < 4; i++)
        text_append(line, ",%s", text_double(number[i], text, sizeof text));
    for (size_t i = 0; i < job->n_metric; i++) {
        double value = metric_number(job->metric[i], &row->measured->value[i]);
        text_append(line, ",%s", isnan(value) ? "" : text_double(value, text, sizeof text));
    }
    if (job->with_mapping) {
        arena_reset(&job->arena);
        char *mapping = record_mapping_line(row->mapping, &job->workload.problem[0], &job->arch, &job->arena);
        text_append(line, ",");
        csv_add_text(line, mapping);
        line->failed |= !mapping;
        line->length -= !line->failed; /* the comma behind the field */
    }
    text_append(line, "\n");
    if (!keep_values(job, row) || line->failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the mappings");
    if (fwrite(line->data, 1, line->length, job->file.stream) != line->length)
        return dse_fail_at(err, DSE_IO, job->file.path ? job->file.path : "the output", 0,
                           "cannot be written: %s", strerror(errno));
    return DSE_OK;
}

/* ---------------------------------------- the summary */

struct spread {
    size_t n; /* mappings that have the value; the rest is of these */
    double best, median, mean, deviation, worst;
};

/* False when there is no memory. */
static bool spread_of(const struct sample_job *job, size_t v, struct spread *spread)
{
    double *sorted = malloc((job->n + 1) * sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; sorted && i < job->n; i++)
        if (!isnan(job->value[i][v]))
            sorted[n++] = job->value[i][v];
    *spread = (struct spread){.n = n};
    if (n > 0) {
        gsl_sort(sorted, 1, n);
        spread->best = sorted[0];
        spread->median = gsl_stats_median_from_sorted_data(sorted, 1, n);
        spread->mean = gsl_stats_mean(sorted, 1, n);
        spread->deviation = n > 1 ? gsl_stats_sd_m(sorted, 1, n, spread->mean) : 0;
        spread->worst = sorted[n - 1];
    }
    free(sorted);
    return sorted != NULL;
}

/* --only-summary: a CSV row for each value, in the place of the mappings'. */
static enum dse_status write_spread(struct sample_job *job, struct dse_error *err)
{
    const char *const name[N_VALUE] = {"latency_cycle", "energy_j", "edp_js",
                                       job->n_metric ? job->metric[0]->name : NULL};
    text_clear(&job->line);
    text_append(&job->line, "value,mappings,draws,best,median,mean,deviation,worst\n");
    for (size_t v = 0; v < N_VALUE && name[v]; v++) {
        struct spread s;
        char text[40];
        if (!spread_of(job, v, &s))
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for the summary");
        const double number[] = {s.best, s.median, s.mean, s.deviation, s.worst};
        text_append(&job->line, "%s,%zu,%llu", name[v], s.n, (unsigned long long)job->summary.n_draw);
        for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
            text_append(&job->line, ",%s", s.n ? text_double(number[i], text, sizeof text) : "");
        text_append(&job->line, "\n");
    }
    DSE_TRY(text_check(&job->line, "the summary", err));
    fputs(job->line.data, job->file.stream);
    return DSE_OK;
}

/* One row of the table: smallest, median and largest of a value, and how far apart they are. */
static bool spread_row(const struct sample_job *job, size_t v, const char *name, const char *unit,
                       struct table *table)
{
    struct spread spread;
    char text[64];
    if (!spread_of(job, v, &spread))
        return false;
    const double shown[] = {spread.best, spread.median, spread.worst};
    if (spread.n == 0)
        return true;
    table_cell(table, "%s", name);
    for (size_t i = 0; i < 3; i++)
        table_cell(table, "%s",
                   unit ? text_si(shown[i], unit, text, sizeof text)
                        : text_thousands((uint64_t)(shown[i] + 0.5), text, sizeof text));
    table_cell(table, "%.4g", shown[2] / shown[0]);
    return true;
}

static bool print_spread(const struct sample_job *job, struct text_buffer *out)
{
    static const char *const header[] = {"", "best", "median", "worst", "worst/best"};
    struct table table;
    table_init(&table, header, 5, 1);
    bool good = spread_row(job, VALUE_CYCLE, "cycles", NULL, &table) &&
                spread_row(job, VALUE_ENERGY, "energy", "J", &table) &&
                spread_row(job, VALUE_EDP, "edp", "J s", &table) &&
                spread_row(job, VALUE_MEASURED, job->n_metric ? job->metric[0]->name : "", NULL, &table);
    table_print(&table, out);
    table_free(&table);
    return good;
}

static void print_reasons(const struct sample_job *job, struct text_buffer *out)
{
    const struct sample_summary *s = &job->summary;
    char text[256], n[48];
    for (uint32_t i = 0; i < s->n_misfit && i < REASON_SHOWN_MAX; i++) {
        const struct sample_misfit *misfit = &s->misfit[i];
        if (misfit->first.what == FITS)
            snprintf(text, sizeof text, "given up while it was drawn");
        else
            misfit_print(&misfit->first, &job->workload.problem[0], &job->arch, text, sizeof text);
        double percent = 100 * (double)misfit->n / (double)s->n_draw;
        snprintf(n, sizeof n, percent < 0.05 ? "< 0.1" : "%5.1f", percent);
        text_append(out, "  %s %%  %s%s\n", n, misfit->first.what != FITS && misfit->n > 1 ? "such as: " : "",
                    text);
    }
    if (s->n_misfit > REASON_SHOWN_MAX)
        text_append(out, "          and %s other reasons\n",
                    text_thousands(s->n_misfit - REASON_SHOWN_MAX, n, sizeof n));
}

static enum dse_status print_summary(const struct sample_job *job, FILE *stream, struct dse_error *err)
{
    const struct sample_summary *s = &job->summary;
    struct text_buffer out;
    char a[48], b[48];
    text_init(&out);
    text_append(&out, "dse: %s valid mapping%s in %s draw%s, %.4g %% of the draws invalid\n",
                text_thousands(s->n_valid, a, sizeof a), text_plural(s->n_valid),
                text_thousands(s->n_draw, b, sizeof b), text_plural(s->n_draw),
                s->n_draw ? 100 * (1 - (double)s->n_valid / (double)s->n_draw) : 0);
    if (job->settings.draw == SAMPLE_VECTORS)
        text_append(&out, "     of 10^%.2f vectors, before the limits of PEs and tiles\n", s->log10_size);
    print_reasons(job, &out);
    bool good = s->n_valid == 0 || print_spread(job, &out);
    if (s->n_valid < job->settings.n_valid)
        text_append(&out, "dse: %s mappings were asked for; --max-draws ended it\n",
                    text_thousands(job->settings.n_valid, a, sizeof a));
    good = good && !out.failed;
    if (good)
        fputs(out.data, stream);
    text_free(&out);
    return good ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for the summary");
}

/* ---------------------------------------- the command */

/* `path` NULL: only the machine's own. */
static enum dse_status read_constraints(const char *path, struct sample_job *job, struct dse_error *err)
{
    const struct ynode *list = NULL;
    if (path)
        DSE_TRY(input_constraints(path, &job->constraints_doc, &list, err));
    job->settings.constraints = &job->constraints;
    DSE_TRY(mapspace_constraints_read(&job->constraints_doc, list, NULL, &job->workload.problem[0],
                                      &job->arch, &job->constraints, err));
    return mapspace_constraints_fix_hint(&job->constraints, &job->workload.problem[0], &job->arch, path, err);
}

static enum dse_status read_limits(const struct cli_args *args, struct sample_settings *s,
                                   struct dse_error *err)
{
    unsigned long long seed = 0, n = STANDARD_MAPPINGS, draws = 0, threads = 0;
    DSE_TRY(cli_number(args, "mappings", 0, SAMPLE_MAPPINGS_MAX, &n, err));
    DSE_TRY(cli_number(args, "max-draws", 1, 1000000000000, &draws, err));
    DSE_TRY(cli_number(args, "seed", 0, UINT64_MAX, &seed, err));
    DSE_TRY(cli_number(args, "jobs", 1, 4096, &threads, err));
    if (n == 0 && draws == 0)
        return dse_fail(err, DSE_BAD_USAGE, "--mappings 0 needs --max-draws: something has to end it");
    s->n_valid = n;
    s->max_draws = draws ? draws : sample_max_draws(n);
    s->seed = seed;
    s->n_thread = threads ? (int)threads : threads_available();
    return DSE_OK;
}

/* --draw vectors: their space knows no constraints. */
static enum dse_status prepare_vectors(const struct cli_args *args, struct sample_job *job,
                                       struct dse_error *err)
{
    static const char *const of_others[] = {"search-bypass", "constraints"};
    for (size_t i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
        if (cli_has(args, of_others[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--%s does not go with --draw vectors", of_others[i]);
    DSE_TRY(vector_format_of(&job->arch, &job->settings.vectors, err));
    return cli_has(args, "mode")
               ? vector_mode_named(job->settings.vectors, cli_value(args, "mode"), &job->settings.mode, err)
               : DSE_OK;
}

static enum dse_status prepare(const struct cli_args *args, struct sample_job *job, struct dse_error *err)
{
    static const char *const draws[] = {"construct", "primes", "vectors"};
    struct input_overrides overrides;
    unsigned long long batch = 0;
    size_t draw;
    const char *const layer = args->n_operand > 2 ? args->operand[2] : NULL;
    DSE_TRY(cli_choice(args, "draw", draws, 3, SAMPLE_CONSTRUCT, &draw, err));
    DSE_TRY(cli_number(args, "batch", 1, UINT32_MAX, &batch, err));
    DSE_TRY(read_limits(args, &job->settings, err));
    job->settings.draw = (enum sample_draw)draw;
    job->settings.search_bypass = cli_has(args, "search-bypass");
    job->with_mapping = cli_has(args, "mapping");
    job->only_summary = cli_has(args, "only-summary");
    if (job->with_mapping && job->only_summary)
        return dse_fail(err, DSE_BAD_USAGE,
                        "--mapping does not go with --only-summary, which has no mappings");
    if (cli_value(args, "accounting"))
        DSE_TRY(accounting_named(cli_value(args, "accounting"), &job->settings.accounting, err));
    if (cli_value(args, "measure"))
        DSE_TRY(measure_add_list(&job->settings.measure, cli_value(args, "measure"), err));
    job->n_metric = measure_columns(&job->settings.measure, false, job->metric);
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(input_architecture(args->operand[0], &overrides, &job->arch, err));
    DSE_TRY(measure_check(&job->settings.measure, &job->arch, err));
    if (draw == SAMPLE_VECTORS)
        DSE_TRY(prepare_vectors(args, job, err));
    else if (cli_has(args, "mode"))
        return dse_fail(err, DSE_BAD_USAGE, "--mode belongs to --draw vectors");
    DSE_TRY(input_network(args->operand[1], args, &job->network, err));
    if (!layer && job->network.n_layer > 1)
        return dse_fail(err, DSE_BAD_USAGE, "%s has %u layers; choose one, for instance %s",
                        job->network.name, job->network.n_layer, job->network.layer[0].name);
    DSE_TRY(workload_init(&job->workload, &job->network, (uint32_t)batch, &layer, layer != NULL, 0, err));
    return cli_value(args, "constraints") || mapspace_constraints_of_machine(&job->arch)
               ? read_constraints(cli_value(args, "constraints"), job, err)
               : DSE_OK;
}

static enum dse_status draw(struct sample_job *job, struct dse_error *err)
{
    DSE_TRY(write_header(job, err));
    DSE_TRY(sample_space(&job->workload.problem[0], &job->arch, &job->settings, write_row, job, &job->summary,
                         err));
    return job->only_summary ? write_spread(job, err) : DSE_OK;
}

/* A signal must not leave half a file behind: it sets a flag instead, and the draws end. */
static enum dse_status draw_to_file(const char *path, struct sample_job *job, struct dse_error *err)
{
    struct watch watch;
    watch_block(&watch);
    job->settings.cancel = &watch.cancel;
    enum dse_status status = new_file_open(path, NULL, &job->file, err);
    if (status == DSE_OK) {
        status = watch_start(&watch, NULL, err);
        if (status == DSE_OK) {
            status = draw(job, err);
            watch_stop(&watch);
        }
        status = new_file_close(&job->file, status, err);
    }
    watch_unblock(&watch);
    return status;
}

/* Without a file there is nothing to tidy up, and signals do what they always do. */
static enum dse_status draw_to_stream(FILE *stream, struct sample_job *job, struct dse_error *err)
{
    DSE_TRY(new_file_open(NULL, stream, &job->file, err));
    return new_file_close(&job->file, draw(job, err), err);
}

static enum dse_status sample(const struct cli_args *args, const struct console *console,
                              struct sample_job *job, struct dse_error *err)
{
    const char *path = cli_value(args, "output");
    DSE_TRY(prepare(args, job, err));
    input_note_leak(&job->arch, args, console);
    DSE_TRY(path ? draw_to_file(path, job, err) : draw_to_stream(console->out, job, err));
    return print_summary(job, console->err, err);
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct sample_job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_report(console, DSE_NO_MEMORY, &(struct dse_error){.text = "out of memory"});
    arena_init(&job->arena);
    text_init(&job->line);
    enum dse_status status = sample(args, console, job, &err);
    int code = cli_report(console, status, &err);
    if (status == DSE_OK && job->summary.n_valid == 0)
        code = EXIT_SOME_FAILED;
    arena_free(&job->arena);
    text_free(&job->line);
    yaml_doc_free(&job->constraints_doc);
    workload_free(&job->workload);
    network_free(&job->network);
    free(job->value);
    free(job);
    return code;
}

static const struct cli_option options[] = {
    {"mappings", 'n', "N", "valid mappings to draw (default 1000; 0: as many as --max-draws gives)"},
    {"max-draws", 0, "N", "give up after so many draws (default 1000 for each mapping, at least a million)"},
    {"draw", 'd', "HOW",
     "construct (default): every prime goes where it fits; primes: to any slot, and what does not fit is "
     "invalid; vectors: uniform among the vectors of docs/mindmappings.md"},
    {"mode", 0, "MODE", "of vectors: autobypass (default) or mustfit"},
    {"search-bypass", 0, NULL, "tensors may also be bypassed where the machine would keep them"},
    {"constraints", 'c', "FILE", "constraints of the map space: a list, or a specification that has one"},
    {"accounting", 'a', "NAME",
     "what a mapping costs: a name of `dse list accountings` (default: the first that prices mappings on "
     "ARCH)"},
    {"measure", 'm', "WHAT",
     "also noc (simulated network-on-chip), cosa (terms of CoSA's objective) or noc,cosa"},
    {"mapping", 0, NULL, "also the mapping itself, as `dse eval` reads it"},
    {"only-summary", 0, NULL,
     "no rows of mappings, but one for cycles, energy and EDP each: best, median, mean, standard deviation, "
     "worst"},
    {"output", 'o', "FILE", "where rows go (default: standard output)"},
    {"seed", 's', "N", "of the random streams (default 0)"},
    {"batch", 'b', "N", "samples (default: what the network says, else 1)"},
    {"set", 0, "PATH=VALUE",
     "replace a quantity of the architecture, DRAM.bandwidth='8 GB/s', or a parameter of the network, "
     "network.sequence=128; "
     "repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
    {"art", 0, "FILE", "its areas from a separate Area Reference Table"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use)"},
};

const struct cli_command command_sample = {
    .name = "sample",
    .operands = "ARCH NETWORK [LAYER]",
    .summary = "Draw mappings of one layer at random, to see what its map space is like.",
    .help =
        "One CSV row per valid mapping: the number of the draw, then what it costs; the last row's draw is "
        "how many\n"
        "draws all of them took. A summary follows on the standard error: invalid draws with their reasons, "
        "best,\n"
        "median and worst. The rows are the same for any number of threads. No valid mapping gives exit code "
        "1.\n"
        "\n"
        "  dse sample simba resnet50 conv4_0_b -n 40000 -o space.csv\n"
        "  dse sample simba resnet50 conv4_0_b --draw primes --set GlobalBuffer.capacity='64 KiB' | head\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .min_operand = 2,
    .max_operand = 3,
    .run = command,
};
