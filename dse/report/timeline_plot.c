/* dse plot of timeline files and fused schedules. */
#include "dse/report/timeline_plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/yaml.h"
#include "dse/inputs/inputs.h"
#include "dse/report/schedule_input.h"
#include "results/plot/plot_timeline.h"

enum { FIGURE_PATH_MAX = 4096 };

const char *timeline_title(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const char *title = arena_copy_text(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
    return title ? title : path;
}

enum dse_status timeline_of(const struct schedule_format *format, const void *schedule, const char *path,
                            struct arena *arena, struct timeline *timeline, struct dse_error *err)
{
    if (!format->timeline)
        return dse_fail(err, DSE_BAD_USAGE, "%s: a %s has no execution graph", path, format->name);
    return format->timeline(schedule, timeline_title(path, arena), arena, timeline, err);
}

/* Whether the file is HDF5, which may be large: it is not read whole to find out that it is no text. */
static bool is_hdf5(const char *path)
{
    static const char magic[] = "\x89HDF";
    char begin[sizeof magic] = "";
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "re") : NULL;
    if (!file)
        return false; /* a pipe is not read twice */
    size_t n = fread(begin, 1, sizeof magic - 1, file);
    fclose(file);
    return n == sizeof magic - 1 && memcmp(begin, magic, n) == 0;
}

/* Whether the file's text is a schedule. */
static bool is_schedule(const char *path)
{
    char *text;
    size_t length;
    if (is_hdf5(path) || yaml_load(path, &text, &length, NULL) != DSE_OK)
        return false;
    bool found = schedule_format_of(text, length) != NULL;
    free(text);
    return found;
}

bool timeline_is_operand(const char *path)
{
    return is_hdf5(path) ? timeline_is_file(path) : is_schedule(path);
}

enum dse_status timeline_plot_not(const struct cli_args *args, struct dse_error *err)
{
    static const char *const of_schedules[] = {"cycles", "arch", "network", "batch", "set"};
    const char *given =
        schedule_option_given(args, of_schedules, sizeof of_schedules / sizeof of_schedules[0]);
    if (given)
        return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to the execution graph of a schedule; %s is none",
                        given, args->operand[0]);
    for (size_t i = 1; i < args->n_operand; i++)
        if (timeline_is_operand(args->operand[i]))
            return dse_fail(err, DSE_BAD_USAGE,
                            "%s is no schedule; only schedules are drawn one above the other",
                            args->operand[0]);
    return DSE_OK;
}

/* The network that the text names, for want of --network; from `arena`, or NULL. */
static const char *named_network(const char *text, size_t length, struct arena *arena)
{
    struct yaml_doc doc;
    const char *name = NULL;
    if (yaml_parse(&doc, "schedule", text, length, NULL) != DSE_OK)
        return NULL;
    const struct ynode *node = yaml_find(doc.root, "network");
    if (node && node->kind == YNODE_SCALAR)
        name = arena_copy_text(arena, node->text, strlen(node->text));
    yaml_doc_free(&doc);
    return name;
}

/* Evaluate the text of a schedule on `arch`. */
static enum dse_status evaluate_text(const struct cli_args *args, const char *path,
                                     const struct architecture *arch, const char *text, size_t length,
                                     struct arena *arena, struct timeline *timeline, struct dse_error *err)
{
    const char *name = cli_value(args, "network");
    struct network network;
    unsigned long long batch = 0;
    name = name ? name : named_network(text, length, arena);
    if (!name)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "the schedule names no network; --network does");
    DSE_TRY(cli_number(args, "batch", 1, UINT32_MAX, &batch, err));
    DSE_TRY(input_schedule_network(name, args, path, text, length, &network, err));
    struct schedule_request request = {.arch = arch,
                                       .network = &network,
                                       .batch = batch ? (uint32_t)batch : network_batch(&network),
                                       .path = path,
                                       .text = text,
                                       .length = length};
    const struct schedule_format *format = schedule_format_of(text, length);
    void *schedule;
    enum dse_status status = schedule_input(args, format, &request, arena, &schedule, err);
    if (status == DSE_OK)
        status = timeline_of(format, schedule, path, arena, timeline, err);
    network_free(&network);
    return status;
}

static enum dse_status evaluate(const struct cli_args *args, const char *path, struct arena *arena,
                                struct timeline *timeline, struct dse_error *err)
{
    const char *arch_name = cli_value(args, "arch");
    struct architecture arch;
    struct input_overrides overrides;
    char *text;
    size_t length;
    if (!arch_name)
        return dse_fail(err, DSE_BAD_USAGE, "%s is a schedule: --arch says on what machine", path);
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(input_architecture(arch_name, &overrides, &arch, err));
    DSE_TRY(yaml_load(path, &text, &length, err));
    enum dse_status status = evaluate_text(args, path, &arch, text, length, arena, timeline, err);
    free(text);
    return status;
}

/* --cycles FROM:TO, either may be left out. */
static enum dse_status read_cycles(const struct cli_args *args, struct plot_timeline_options *options,
                                   struct dse_error *err)
{
    const char *text = cli_value(args, "cycles"), *colon = text ? strchr(text, ':') : NULL;
    char from[32];
    uint64_t low = 0, high = 0;
    if (!text)
        return DSE_OK;
    bool good = colon && (size_t)(colon - text) < sizeof from;
    if (good) {
        snprintf(from, sizeof from, "%.*s", (int)(colon - text), text);
        good = (!from[0] || text_parse_u64(from, &low)) && (!colon[1] || text_parse_u64(colon + 1, &high)) &&
               low < UINT64_C(1) << 60 && high < UINT64_C(1) << 60 && (!colon[1] || high > low);
    }
    if (!good)
        return dse_fail(err, DSE_BAD_USAGE, "--cycles %.60s: write FROM:TO in cycles, for instance 0:500000",
                        text);
    options->from = (int64_t)low;
    options->to = (int64_t)high;
    return DSE_OK;
}

/* FIG.png beside FIG.h5 or FIG.yaml. */
static bool figure_beside(const char *path, char *figure, size_t size)
{
    static const char *const known[] = {".yaml", ".yml", ".hdf5", ".h5"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t n = strlen(known[i]);
        if (length > n && path[length - n - 1] != '/' && strcmp(path + length - n, known[i]) == 0) {
            length -= n;
            break;
        }
    }
    int written = snprintf(figure, size, "%.*s.png", (int)length, path);
    return written >= 0 && (size_t)written < size;
}

static enum dse_status draw(const struct cli_args *args, const struct console *console, struct arena *arena,
                            struct dse_error *err)
{
    static const char *const of_cubes[] = {"kind", "metric", "x", "y", "where", "facets"};
    struct timeline timeline[PLOT_TIMELINE_MAX];
    struct plot_timeline_options options = {.title = cli_value(args, "title"),
                                            .keep_script = cli_has(args, "keep-script")};
    char figure[FIGURE_PATH_MAX];
    const char *given = cli_value(args, "output");
    for (size_t i = 0; i < sizeof of_cubes / sizeof of_cubes[0]; i++)
        if (cli_has(args, of_cubes[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to the results of a sweep; %s is one schedule",
                            of_cubes[i], args->operand[0]);
    DSE_TRY(read_cycles(args, &options, err));
    if (args->n_operand > PLOT_TIMELINE_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "at most %d schedules fit into a figure", PLOT_TIMELINE_MAX);
    for (size_t i = 0; i < args->n_operand; i++)
        if (is_schedule(args->operand[i]))
            DSE_TRY(evaluate(args, args->operand[i], arena, &timeline[i], err));
        else
            DSE_TRY(timeline_hdf5_read(args->operand[i], arena, &timeline[i], err));
    if (given ? !text_copy(figure, sizeof figure, given)
              : !figure_beside(args->operand[0], figure, sizeof figure))
        return dse_fail(err, DSE_BAD_USAGE, "--output: the path is too long");
    DSE_TRY(plot_timelines(timeline, args->n_operand, figure, &options, err));
    fprintf(console->err, "dse: %s\n", figure);
    return DSE_OK;
}

enum dse_status timeline_plot(const struct cli_args *args, const struct console *console,
                              struct dse_error *err)
{
    struct arena arena;
    arena_init(&arena);
    enum dse_status status = draw(args, console, &arena, err);
    arena_free(&arena);
    return status;
}
