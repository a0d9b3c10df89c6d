/* dse convert NET.onnx -o NET.yaml */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/report.h"
#include "costmodel/onnx/onnx.h"
#include "dse/command/commands.h"
#include "dse/console/report_print.h"
#include "dse/inputs/inputs.h"
#include "dse/inputs/resolve.h"

static const struct cell_column column[] = {
    CELL_COLUMN("operator", "operator", LOOK_TEXT),
    CELL_COLUMN("nodes", "nodes", LOOK_COUNT),
    CELL_COLUMN("macs", "multiply-accumulates", LOOK_COUNT),
    CELL_COLUMN("read", "read", LOOK_COUNT),
    CELL_COLUMN("folded", "folded", LOOK_COUNT),
    CELL_COLUMN("moves", "moves data only", LOOK_COUNT),
    CELL_COLUMN("left_out", "left out", LOOK_COUNT),
    CELL_COLUMN("refused", "refused", LOOK_COUNT),
};
enum { N_COLUMN = sizeof column / sizeof column[0] };

static void add_count(struct cells *rows, const struct onnx_count *count)
{
    char shown[64];
    cells_text(rows, text_excerpt(count->name, shown, sizeof shown));
    cells_count(rows, count->n);
    cells_count(rows, count->macs);
    cells_count(rows, count->read);
    cells_count(rows, count->folded);
    cells_count(rows, count->moves);
    cells_count(rows, count->left_out);
    cells_count(rows, count->refused);
}

static bool is_quantised(const struct onnx_report *found)
{
    for (size_t i = 0; i < found->n_count; i++)
        if (strstr(found->count[i].name, "Quantize") || strstr(found->count[i].name, "QLinear") ||
            strstr(found->count[i].name, "Integer"))
            return true;
    return false;
}

static enum dse_status print_report(const struct cli_args *args, const struct onnx_report *found, FILE *out,
                                    struct dse_error *err)
{
    static const char *const format_word[] = {"table", "csv", "json"};
    struct onnx_count total = {.name = "total"};
    struct report report;
    struct text_buffer text;
    size_t format;
    DSE_TRY(cli_choice(args, "format", format_word, 3, REPORT_TABLE, &format, err));
    report_init(&report, "operators");
    cells_init(&report.rows, column, N_COLUMN);
    report.has_total = 1;
    for (size_t i = 0; i < found->n_count; i++) {
        const struct onnx_count *count = &found->count[i];
        add_count(&report.rows, count);
        total.n += count->n;
        total.macs += count->macs;
        total.read += count->read;
        total.folded += count->folded;
        total.moves += count->moves;
        total.left_out += count->left_out;
        total.refused += count->refused;
    }
    add_count(&report.rows, &total);
    cells_list_text(&report.about, "kind", found->is_graph ? "graph" : "layers");
    cells_list_text(&report.about, "reason", found->reason);
    if (found->is_graph || *found->reason)
        text_append(&report.foot,
                    found->is_graph ? "a graph: every scheduler takes it\n"
                                    : "a list of layers, for mappers; the first in the way of a "
                                      "graph is %s\n",
                    found->reason);
    if (is_quantised(found))
        text_append(&report.foot, "quantised: the widths of its numbers are not kept; a machine's words hold "
                                  "for all tensors\n");
    text_init(&text);
    enum dse_status status = report_print(&report, (enum report_format)format, &text, err);
    if (status == DSE_OK)
        fwrite(text.data, 1, text.length, out);
    text_free(&text);
    report_free(&report);
    return status;
}

/* That what was made is a network with these parameters. */
static enum dse_status check_network(const char *path, const struct text_buffer *text,
                                     const struct network_settings *settings, struct dse_error *err)
{
    const struct network_files files = {.settings = *settings};
    struct network network;
    DSE_TRY(network_parse_with(path, text->data, text->length, &files, &network, err));
    network_free(&network);
    return DSE_OK;
}

static enum dse_status write_file(const char *path, const struct text_buffer *text, struct dse_error *err)
{
    struct new_file file;
    enum dse_status status = DSE_OK;
    DSE_TRY(new_file_open(path, NULL, &file, err));
    if (fwrite(text->data, 1, text->length, file.stream) != text->length)
        status = dse_fail_at(err, DSE_IO, path, 0, "cannot be written");
    return new_file_close(&file, status, err);
}

/* Once with parameters, to check the network, and once without, to keep it. */
static enum dse_status convert(const struct cli_args *args, const char *path, const char *bytes,
                               size_t length, struct onnx_options options, struct text_buffer *text,
                               struct onnx_report *found, struct dse_error *err)
{
    options.report = found;
    DSE_TRY(onnx_network_text(path, bytes, length, &options, text, err));
    DSE_TRY(check_network(path, text, options.settings, err));
    if (!cli_has(args, "output"))
        return DSE_OK;
    options.report = NULL;
    options.plain = true;
    text_clear(text);
    DSE_TRY(onnx_network_text(path, bytes, length, &options, text, err));
    return write_file(cli_value(args, "output"), text, err);
}

static enum dse_status convert_file(const struct cli_args *args, const char *path, FILE *out,
                                    struct dse_error *err)
{
    const char *ignore[CLI_VALUE_MAX];
    struct network_settings settings;
    struct onnx_options options = {.settings = &settings, .ignore = ignore};
    struct onnx_report found = {.count = NULL};
    struct arena arena;
    struct text_buffer text;
    char *bytes = NULL;
    size_t length = 0;
    options.n_ignore = cli_values(args, "ignore", ignore);
    arena_init(&arena);
    arena_init(&found.arena);
    text_init(&text);
    enum dse_status status = input_network_settings(args, &arena, &settings, err);
    if (status == DSE_OK)
        status = onnx_load(path, &bytes, &length, err);
    if (status == DSE_OK)
        status = convert(args, path, bytes, length, options, &text, &found, err);
    size_t n_refused = 0;
    for (size_t i = 0; i < found.n_count; i++)
        n_refused += found.count[i].refused;
    if (found.n_count > 0 && (status == DSE_OK || n_refused > 0)) {
        struct dse_error second;
        const enum dse_status printed = print_report(args, &found, out, status == DSE_OK ? err : &second);
        status = status == DSE_OK ? printed : status;
    }
    onnx_report_free(&found);
    text_free(&text);
    arena_free(&arena);
    free(bytes);
    return status;
}

static enum dse_status check_usage(const struct cli_args *args, struct dse_error *err)
{
    char shown[96];
    for (size_t i = 0; i < args->n_value; i++)
        if (strcmp(args->value[i].option->name, "set") == 0 &&
            strncmp(args->value[i].text, "network.", 8) != 0)
            return dse_fail(err, DSE_BAD_USAGE,
                            "--set %s: a parameter of the network is expected, such as network.seq_len=128",
                            text_excerpt(args->value[i].text, shown, sizeof shown));
    if (!onnx_is_path(args->operand[0]))
        return dse_fail(err, DSE_BAD_USAGE, "%s: an ONNX file is expected, whose name ends in .onnx",
                        text_excerpt(args->operand[0], shown, sizeof shown));
    return DSE_OK;
}

static int command_convert_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    char path[RESOLVE_PATH_MAX];
    enum dse_status status = check_usage(args, &err);
    if (status == DSE_OK)
        status = resolve_name(RESOLVE_NETWORK, args->operand[0], NULL, path, sizeof path, &err);
    if (status == DSE_OK)
        status = convert_file(args, path, console->out, &err);
    return status == DSE_OK ? EXIT_DONE : cli_report(console, status, &err);
}

static const struct cli_option convert_option_table[] = {
    {"output", 'o', "NET.yaml", "the network file to write; without it there is only the table"},
    {"set", 0, "network.NAME=N", "the value of a free dimension; repeatable"},
    {"ignore", 0, "OPERATOR",
     "take this operator as free, where the model says the shape of its result; repeatable"},
    {"format", 'f', "FORMAT", "table (default), csv or json"},
};

const struct cli_command command_convert = {
    .name = "convert",
    .operands = "NET.onnx",
    .summary = "Write an ONNX model as a network file, and say what becomes of its operators.",
    .help =
        "An ONNX file works wherever a network does; this is for looking at it, changing it, or keeping it "
        "without\n"
        "the model. The file reads back to the same network. By operator: how many nodes; their "
        "multiply-accumulates\n"
        "per sample; how many became layers (read), are part of a layer or computed before it runs "
        "(folded), move data\n"
        "only, are left out of a list of layers, or are not read (refused, exit code 2). See "
        "docs/onnx.md.\n"
        "\n"
        "  dse convert resnet50.onnx -o resnet50.yaml\n"
        "  dse convert bert.onnx --set network.sequence=128\n",
    .option = convert_option_table,
    .n_option = sizeof convert_option_table / sizeof convert_option_table[0],
    .min_operand = 1,
    .max_operand = 1,
    .run = command_convert_main,
};
