/* Searches a schedule, evaluates its text as `dse eval` would, and prints either the report or the text
 * with the settings it was found with. */
#include "dse/report/map_network.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dse/console/report_print.h"
#include "dse/report/mapping_texts.h"
#include "dse/report/schedule_input.h"

enum dse_status map_network_check(const struct cli_args *args, const struct solve_settings *settings,
                                  struct dse_error *err)
{
    static const char *const of_layers[] = {"layer", "constraints", "measure", "simulations",
                                            "each-dataflow"};
    struct mapping_texts texts;
    const char *given = NULL;
    mapping_texts_asked(args, &texts);
    if (texts.n)
        given = texts.text[0]->name;
    for (size_t i = 0; i < sizeof of_layers / sizeof of_layers[0]; i++)
        if (cli_has(args, of_layers[i]))
            given = of_layers[i];
    return given ? dse_fail(err, DSE_BAD_USAGE, "--%s is for mappers; engine %s schedules whole networks",
                            given, settings->engine->name)
                 : DSE_OK;
}

enum { LABEL = 12 };

/* Of what an objective's cost is; "energy^2*delay^1" says it itself, in joule and seconds. */
static const char *cost_unit(const char *objective)
{
    static const char *const unit[][2] = {
        {"latency", " s"}, {"energy", " J"}, {"edp", " J s"}, {"ed2p", " J s^2"}};
    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++)
        if (strcmp(objective, unit[i][0]) == 0)
            return unit[i][1];
    return " (J, s)";
}

static bool is_listed(const struct cells *rows, const char *key)
{
    for (size_t i = 0; i < rows->n_cell; i += 2)
        if (strcmp(cells_text_at(rows, cells_at(rows, i)), key) == 0)
            return true;
    return false;
}

/* What the engine alone knows, as far as the schedule itself does not say it. */
static void add_own(const struct metric_group *group, const struct engine_schedule *found, struct cells *rows)
{
    for (size_t i = 0; group && i < group->n; i++) {
        const struct metric *metric = &group->metric[i];
        if (is_listed(rows, metric->name))
            continue;
        if (metric->type == METRIC_U64)
            cells_list_count(rows, metric->name, found->own[i].u64);
        else
            cells_list_real(rows, metric->name, found->own[i].f64);
    }
}

/* How the schedule was found, behind what its format says of it. */
static void add_search(const struct solve_settings *settings, const struct engine_result *result,
                       struct report *report)
{
    char objective[64], a[48];
    const struct engine_schedule *found = &result->schedule;
    const char *stop = engine_stop_text(result->stop);
    double ratio = result->bound > 0 ? result->cost / result->bound : NAN;
    struct cells *rows = &report->rows;
    struct text_buffer *out = &report->head;
    objective_print(&settings->objective, objective, sizeof objective);
    cells_list_real(rows, "utilization", found->utilization);
    cells_list_text(rows, "engine", settings->engine->name);
    cells_list_text(rows, "objective", objective);
    cells_list_count(rows, "seed", settings->seed);
    cells_list_text(rows, "stop", stop);
    cells_list_count(rows, "evaluations", result->n_evaluation);
    cells_list_real(rows, "cost", result->cost);
    cells_list_real(rows, "bound_cost", result->bound > 0 ? result->bound : NAN);
    cells_list_real(rows, "bound_cost_ratio", ratio);
    add_own(settings->engine->group, found, rows);
    text_append(out, "  %-*s  %.1f %% of the MAC units\n", LABEL, "utilization", 100 * found->utilization);
    if (settings->engine->remark)
        settings->engine->remark(found, out);
    text_append(out, "  %-*s  %s, seed %" PRIu64 ", %s after %s evaluation%s\n", LABEL, "engine",
                settings->engine->name, settings->seed, stop,
                text_thousands(result->n_evaluation, a, sizeof a), text_plural(result->n_evaluation));
    text_append(out, "  %-*s  %s = %.6g%s", LABEL, "objective", objective, result->cost,
                cost_unit(objective));
    if (result->bound > 0)
        text_append(out, ", %.4f times the engine's lower bound", ratio);
    text_append(out, "\n");
}

/* Evaluate the text as `dse eval` does, so that both say the same. */
static enum dse_status report(const struct solve_settings *settings, const struct workload *workload,
                              const struct architecture *arch, const struct solve_result *result,
                              enum map_format how, struct arena *arena, struct map_found *to,
                              struct dse_error *err)
{
    static const enum report_format print_as[] = {
        [MAP_TABLE] = REPORT_TABLE, [MAP_CSV] = REPORT_CSV, [MAP_JSON] = REPORT_JSON};
    const struct engine_schedule *found = &result->found.schedule;
    const struct schedule_format *format = schedule_format_of(found->text, found->text_length);
    struct schedule_request request = {.arch = arch,
                                       .network = workload->network,
                                       .batch = workload->batch,
                                       .path = "the schedule found",
                                       .text = found->text,
                                       .length = found->text_length};
    struct report made;
    void *schedule;
    if (!format)
        return dse_fail(err, DSE_INTERNAL, "engine %s writes schedules in an unknown form",
                        settings->engine->name);
    DSE_TRY(schedule_input(NULL, format, &request, arena, &schedule, err));
    report_init(&made, format->report[0].name);
    enum dse_status status = format->report[0].fill(schedule, &made, err);
    add_search(settings, &result->found, &made);
    if (status == DSE_OK)
        status = report_print(&made, print_as[how], &to->out, err);
    if (status == DSE_OK && format->warn)
        format->warn(schedule, &to->warning);
    report_free(&made);
    return status;
}

/* What the text form does not say and an evaluation needs, as a comment: batch, machine, and what was found
 * there. */
static void put_origin(const struct solve_settings *settings, const struct workload *workload,
                       const struct architecture *arch, const struct engine_schedule *found,
                       struct text_buffer *out)
{
    const struct storage_level *dram = &arch->level[arch->n_level - 1],
                               *buffer = arch->fused.buffer ? &arch->level[arch->fused.buffer - 1] : dram - 1;
    char bytes[48], rate[48], cycles[48];
    double word_per_cycle = fmin(dram->shared_bandwidth_word_per_cycle, dram->read_bandwidth_word_per_cycle);
    text_append(out, "# by %s for batch %u on %s, %s %s%s, %s %s: %s cycles\n", settings->engine->name,
                workload->batch, arch->name, buffer->name,
                text_bytes((double)buffer->size_word * buffer->word_bit / 8.0, bytes, sizeof bytes),
                arch->fused.keeps_all ? " for all tensors" : "", dram->name,
                isinf(word_per_cycle) ? "unlimited"
                                      : text_si(word_per_cycle * dram->word_bit / 8.0 * arch->clock_hz, "B/s",
                                                rate, sizeof rate),
                text_thousands(found->latency_cycle, cycles, sizeof cycles));
}

enum dse_status map_network(const struct solve_settings *settings, const struct workload *workload,
                            const struct architecture *arch, int n_thread, enum map_format format,
                            struct map_found *found, struct dse_error *err)
{
    const struct solve_shared shared = {.n_thread = n_thread};
    struct solve_result result;
    struct arena arena;
    arena_init(&arena);
    enum dse_status status = solve_network(settings, workload, arch, &shared, NULL, &arena, &result);
    if (status == DSE_OK) {
        found->outcome = result.outcome;
        (void)snprintf(found->reason, sizeof found->reason, "%s", result.reason);
    }
    if (status == DSE_OK && result.outcome == RESULT_OK && format == MAP_YAML) {
        put_origin(settings, workload, arch, &result.found.schedule, &found->out);
        text_append_bytes(&found->out, result.schedule, result.found.schedule.text_length);
    } else if (status == DSE_OK && result.outcome == RESULT_OK)
        status = report(settings, workload, arch, &result, format, &arena, found, err);
    if (status == DSE_OK)
        status = text_check(&found->out, "the output", err);
    solve_result_clear(&result);
    arena_free(&arena);
    return status;
}
