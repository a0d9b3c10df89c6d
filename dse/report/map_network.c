/* Searches a schedule, evaluates its text as `dse eval` would, and prints either the report or the text
 * with the settings it was found with. */
#include "dse/report/map_network.h"

#include <stdio.h>
#include <string.h>

#include "dse/console/table.h"
#include "dse/report/report_fused.h"
#include "dse/report/schedule_evaluate.h"

enum dse_status map_network_check(const struct cli_args *args, const struct solve_settings *settings,
                                  struct dse_error *err)
{
    static const char *const of_layers[] = {"layer", "constraints", "measure", "nest", "gpu"};
    for (size_t i = 0; i < sizeof of_layers / sizeof of_layers[0]; i++)
        if (cli_has(args, of_layers[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--%s is for mappers; engine %s schedules whole networks",
                            of_layers[i], settings->engine->name);
    return DSE_OK;
}

/* A count among the engine's own metrics; 0 when it has none of this name, or it is missing. */
static uint64_t own_count(const struct metric_group *group, const struct engine_schedule *found,
                          const char *name)
{
    for (size_t i = 0; group && i < group->n; i++)
        if (strcmp(group->metric[i].name, name) == 0 && found->own[i].u64 != METRIC_U64_MISSING)
            return found->own[i].u64;
    return 0;
}

/* Evaluate the text as `dse eval` does, so that both say the same. */
static enum dse_status report(const struct solve_settings *settings, const struct workload *workload,
                              const struct architecture *arch, const struct solve_result *result,
                              enum map_format format, struct arena *arena, struct text_buffer *out,
                              struct dse_error *err)
{
    char objective[64];
    const struct engine_schedule *found = &result->found.schedule;
    const struct schedule_search search = {
        .engine = settings->engine->name,
        .objective = objective_print(&settings->objective, objective, sizeof objective),
        .stop = engine_stop_text(result->found.stop),
        .evaluations = result->found.n_evaluation,
        .seed = settings->seed,
        .cost = result->found.cost,
        .bound = result->found.bound,
        .utilization = found->utilization,
        .stage1_cycle = own_count(settings->engine->group, found, "stage1_latency_cycle"),
    };
    struct schedule schedule = {
        .arch = arch, .network = workload->network, .batch = workload->batch, .search = &search};
    DSE_TRY(schedule_evaluate(&schedule, "the schedule found", found->text, found->text_length, arena, err));
    if (format == MAP_JSON)
        return report_fused_json(&schedule, FUSED_REPORT_SUMMARY, out, err);
    if (format == MAP_CSV)
        report_fused_csv(&schedule, FUSED_REPORT_SUMMARY, out);
    else
        report_fused_table(&schedule, FUSED_REPORT_SUMMARY, out);
    return DSE_OK;
}

/* What the text form does not say and an evaluation needs, as a comment: batch, machine, and what was found
 * there. */
static void put_origin(const struct solve_settings *settings, const struct workload *workload,
                       const struct architecture *arch, const struct engine_schedule *found,
                       struct text_buffer *out)
{
    const struct storage_level *dram = &arch->level[arch->n_level - 1], *buffer = dram - 1;
    char bytes[48], rate[48], cycles[48];
    double byte_per_s = dram->shared_bandwidth_word_per_cycle * dram->word_bit / 8.0 * arch->clock_hz;
    text_append(out, "# by %s for batch %u on %s, %s %s, %s %s: %s cycles\n", settings->engine->name,
                workload->batch, arch->name, buffer->name,
                text_bytes((double)buffer->size_word * buffer->word_bit / 8.0, bytes, sizeof bytes),
                dram->name, text_si(byte_per_s, "B/s", rate, sizeof rate),
                text_thousands(found->latency_cycle, cycles, sizeof cycles));
}

enum dse_status map_network(const struct solve_settings *settings, const struct workload *workload,
                            const struct architecture *arch, int n_thread, enum map_format format,
                            struct text_buffer *out, enum result_status *outcome, char *reason,
                            struct dse_error *err)
{
    const struct solve_shared shared = {.n_thread = n_thread};
    struct solve_result result;
    struct arena arena;
    arena_init(&arena);
    enum dse_status status = solve_network(settings, workload, arch, &shared, NULL, &arena, &result);
    if (status == DSE_OK) {
        *outcome = result.outcome;
        (void)snprintf(reason, SOLVE_REASON_MAX, "%s", result.reason);
    }
    if (status == DSE_OK && result.outcome == RESULT_OK && format == MAP_YAML) {
        put_origin(settings, workload, arch, &result.found.schedule, out);
        text_append_bytes(out, result.schedule, result.found.schedule.text_length);
    } else if (status == DSE_OK && result.outcome == RESULT_OK)
        status = report(settings, workload, arch, &result, format, &arena, out, err);
    if (status == DSE_OK && out->failed)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the output");
    solve_result_clear(&result);
    arena_free(&arena);
    return status;
}
