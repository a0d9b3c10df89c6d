/* dse merge: the shards of a sweep become one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "costmodel/fused/core_cache.h"
#include "dse/command/commands.h"
#include "dse/command/run_command.h"
#include "dse/console/not_ok.h"
#include "dse/exchange/exchange.h"
#include "dse/run/run_report.h"
#include "dse/run/runner.h"
#include "dse/run/threads.h"
#include "dse/spec/sweep.h"
#include "results/cube/cube_read.h"
#include "results/cube/merge.h"
#include "results/cube/merge_files.h"

enum { RESULT_PATH_MAX = 4096 };

/* What the specification in the merged file says: its path for the command, and which cells are points when
 * it leaves some out. Without inputs in the file there is neither. */
static void look_into(const char *out, struct arena *arena, struct merge_summary *summary,
                      struct result_schema *schema)
{
    struct sweep_spec spec;
    struct sweep sweep;
    char h5[RESULT_PATH_MAX];
    memset(schema, 0, sizeof *schema);
    if (!result_path(h5, sizeof h5, out, ".h5") || cube_read_schema(h5, arena, schema, NULL) != DSE_OK ||
        cube_read_inputs(h5, arena, schema, NULL, NULL) != DSE_OK || summary->n_example > 0)
        return;
    if (spec_replay(&spec, schema, h5, NULL) == DSE_OK) {
        if (sweep_init(&sweep, &spec, NULL) != DSE_OK ||
            merge_missing_find(out, schema, sweep.cell, sweep.n_point, summary, NULL) != DSE_OK)
            summary->n_example = 0;
        sweep_free(&sweep);
    }
    spec_free(&spec);
}

static void print_command(const char *out, const struct result_schema *schema, FILE *to)
{
    struct text_buffer text;
    text_init(&text);
    run_command_append(out, schema, &text);
    if (!text.failed)
        fprintf(to, "dse: to compute what is missing: %s\n", text.data);
    text_free(&text);
}

/* As people write it. */
static void print_place(const struct result_schema *schema, const char *place, FILE *to)
{
    struct text_buffer text;
    text_init(&text);
    not_ok_place(schema, place, &text);
    fprintf(to, "       %s\n", text.failed || !text.data ? place : text.data);
    text_free(&text);
}

static void print_missing(const char *out, struct merge_summary *summary, FILE *to)
{
    char n[64];
    struct arena arena;
    struct result_schema schema;
    arena_init(&arena);
    look_into(out, &arena, summary, &schema);
    fprintf(to, "dse: %s point%s missing%s\n", text_thousands(summary->n_missing, n, sizeof n),
            summary->n_missing == 1 ? " is" : "s are",
            !summary->n_example                       ? ""
            : summary->n_example < summary->n_missing ? ", the first of them:"
                                                      : ":");
    for (size_t i = 0; i < summary->n_example; i++)
        print_place(&schema, summary->example[i], to);
    if (summary->n_absent) {
        fprintf(to, "dse: of %" PRIu32 " shards these were not named:", summary->n_shard);
        for (uint32_t i = 0; i < summary->n_absent && i < MERGE_ABSENT_MAX; i++)
            fprintf(to, " %" PRIu32, summary->absent[i]);
        fputs(summary->n_absent > MERGE_ABSENT_MAX ? " ...\n" : "\n", to);
    }
    print_command(out, &schema, to);
    arena_free(&arena);
}

static enum dse_status take_exchanged(void *user, uint64_t cell, const struct journal_lines *lines,
                                      struct dse_error *err)
{
    const struct cube_entry row = {.cell = cell, .exchanged = true};
    return merge_files_add(user, &row, &lines->point, &lines->layers, err);
}

static enum dse_status exchange_merged(const struct sweep *sweep, const struct result_schema *schema,
                                       struct merge_files *files, struct exchange_summary *found,
                                       struct dse_error *err)
{
    struct core_cache *cache = NULL;
    DSE_TRY(core_cache_new(RUN_CORE_COST_MAX, &cache, err));
    const struct exchange_options options = {
        .tables = files->csv_path,
        .schema = schema,
        .core_cache = cache,
        .n_thread = threads_available(),
        .take = take_exchanged,
        .user = files,
    };
    enum dse_status status = exchange_run(sweep, &options, found, err);
    core_cache_free(cache);
    return status;
}

/* All points are there: their cells exchange schedules, as they do at the end of a run. */
static enum dse_status exchange(void *user, const struct result_schema *schema, struct merge_files *files,
                                struct dse_error *err)
{
    struct sweep_spec spec;
    struct sweep sweep;
    if (!schema->schedules)
        return DSE_OK;
    enum dse_status status = spec_replay(&spec, schema, files->h5_path, err);
    if (status == DSE_OK) {
        status = sweep_init(&sweep, &spec, err);
        if (status == DSE_OK && exchange_is_wanted(&sweep))
            status = exchange_merged(&sweep, schema, files, user, err);
        sweep_free(&sweep);
    }
    spec_free(&spec);
    return status;
}

static enum dse_status merge(const struct cli_args *args, const struct console *console,
                             struct dse_error *err)
{
    struct provenance provenance;
    const char *out = args->operand[0];
    struct merge_summary summary;
    struct exchange_summary found = {0};
    const struct merge_options options = {&provenance, exchange, &found};
    provenance_make(&provenance);
    snprintf(provenance.command, sizeof provenance.command, "dse merge %s", out);
    DSE_TRY(merge_shards(out, (const char *const *)args->operand + 1, args->n_operand - 1, &options, &summary,
                         err));
    fprintf(console->err, "dse: %" PRIu64 " of %" PRIu64 " point%s in %s", summary.n_point,
            summary.n_expected, text_plural(summary.n_expected), out);
    if (summary.n_duplicate)
        fprintf(console->err, "; %" PRIu64 " %s in more than one shard and agreed", summary.n_duplicate,
                summary.n_duplicate == 1 ? "was" : "were");
    if (summary.n_chosen)
        fprintf(console->err,
                "; %" PRIu64
                " differed between shards, as one failed or met a limit of seconds: the better row "
                "was taken",
                summary.n_chosen);
    fputs("\n", console->err);
    run_exchange_print(&found, summary.n_point, console->err);
    if (summary.n_missing)
        print_missing(out, &summary, console->err);
    return DSE_OK;
}

static int merge_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    return cli_report(console, merge(args, console, &err), &err);
}

const struct cli_command command_merge = {
    .name = "merge",
    .operands = "OUT.h5 SHARD.h5...",
    .summary = "Put the shards of one sweep together.",
    .help = "Shards are what `dse run --shard` wrote; they must come from the same specification and agree "
            "where they overlap.\n"
            "What is missing is named, with the command that computes it. When nothing is, cells exchange\n"
            "schedules as at the end of `dse run` (docs/sweeps.md).\n"
            "\n"
            "  dse merge out.h5 out.*-of-4.h5\n",
    .min_operand = 2,
    .max_operand = 1025,
    .run = merge_main,
};
