/* dse list engines|accountings|architectures|networks|experiments|reports, dse list engine NAME */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/yaml.h"
#include "dse/command/commands.h"
#include "dse/console/table.h"
#include "dse/inputs/inputs.h"
#include "dse/inputs/resolve.h"
#include "dse/report/engine_matrix.h"
#include "dse/report/layer_list.h"
#include "dse/report/machine_report.h"
#include "dse/report/mapping_report.h"
#include "dse/solve/solve.h"
#include "engines/driver/schedule_format.h"

/* Columns of an engine's options; range and meaning are broken into lines, so that a table fits a wide
 * terminal. */
enum { OPTION_COLUMNS = 5, RANGE_WIDTH = 28, MEANING_WIDTH = 60 };

/* 1e+15 rather than fifteen zeros. */
static const char *short_number(double value, char *buffer, size_t size)
{
    if (value < 1e6)
        return text_double(value, buffer, size);
    snprintf(buffer, size, "%g", value);
    return buffer;
}

static void option_range(const struct engine_option *option, char *buffer, size_t size)
{
    char low[40], high[40];
    struct text_buffer list;
    switch (option->kind) {
    case OPTION_BOOL:
        snprintf(buffer, size, "true, false");
        break;
    case OPTION_CHOICE:
        text_init(&list);
        for (size_t i = 0; i <= (size_t)option->highest; i++)
            text_append(&list, "%s%s", i ? ", " : "", option->choice[i]);
        snprintf(buffer, size, "%s", list.data ? list.data : "");
        text_free(&list);
        break;
    case OPTION_FILE:
        snprintf(buffer, size, "a file");
        break;
    case OPTION_INTEGER:
    case OPTION_REAL:
        snprintf(buffer, size, "%s .. %s", short_number(option->lowest, low, sizeof low),
                 short_number(option->highest, high, sizeof high));
        break;
    }
}

/* The line of at most `width` bytes that `*text` begins with, broken at a blank; moves `*text` to the next
 * one. */
static int next_line(const char **text, size_t width)
{
    size_t length = strlen(*text);
    if (length > width) {
        length = width;
        while (length > 0 && (*text)[length] != ' ')
            length--;
        if (length == 0) /* a word that is longer than a line */
            length = strcspn(*text, " ");
    }
    *text += length;
    *text += strspn(*text, " ");
    return (int)length;
}

/* An option in as many rows as range and meaning take. */
static void option_rows(struct table *table, const struct engine_option *option)
{
    char text[TABLE_CELL_MAX], range_text[TABLE_CELL_MAX];
    const char *range = range_text, *meaning = option->sentence;
    option_range(option, range_text, sizeof range_text);
    for (int row = 0; row == 0 || *range || *meaning; row++) {
        table_cell(table, "  %s", row == 0 ? option->name : "");
        table_cell(table, "%s",
                   row == 0 ? engine_option_print(option, option->standard, text, sizeof text) : "");
        const char *line = range;
        int length = next_line(&range, RANGE_WIDTH);
        table_cell(table, "%.*s", length, line);
        table_cell(table, "%s", row == 0 ? option->unit : "");
        line = meaning;
        length = next_line(&meaning, MEANING_WIDTH);
        table_cell(table, "%.*s", length, line);
    }
}

static void print_options(const struct engine *engine, struct text_buffer *out)
{
    if (engine->takes_only)
        text_append(out, "  takes only %s\n", engine->takes_only);
    static const char *const header[] = {"  option", "default", "range", "unit", "meaning"};
    struct table table;
    if (engine->n_option == 0) {
        text_append(out, "  no options\n");
        return;
    }
    table_init(&table, header, OPTION_COLUMNS, 0x1f);
    for (size_t i = 0; i < engine->n_option; i++)
        option_rows(&table, &engine->option[i]);
    table_print(&table, out);
    table_free(&table);
}

static void add_row(struct table *table, const char *name, const char *kind, const char *sentence)
{
    table_cell(table, "%s", name);
    table_cell(table, "%s", kind);
    table_cell(table, "%s", sentence);
}

static void print_engines(bool verbose, struct text_buffer *out)
{
    static const char *const header[] = {"engine", "kind", "summary"};
    size_t n;
    const struct engine *const *engine = engine_all(&n);
    struct table table;
    table_init(&table, header, 3, 7);
    for (size_t i = 0; i < n; i++) {
        const char *kind = engine[i]->kind == ENGINE_MAPPER ? "mapper" : "scheduler";
        add_row(&table, engine[i]->name, kind, engine[i]->summary);
        if (!verbose)
            continue;
        text_append(out, "%s%s (%s): %s\n", i ? "\n" : "", engine[i]->name, kind, engine[i]->summary);
        print_options(engine[i], out);
    }
    if (!verbose)
        table_print(&table, out);
    table_free(&table);
}

static void print_accountings(struct text_buffer *out)
{
    static const char *const header[] = {"accounting", "prices", "summary"};
    size_t n;
    const struct accounting *const *accounting = accounting_all(&n);
    struct table table;
    table_init(&table, header, 3, 7);
    for (size_t i = 0; i < n; i++)
        add_row(&table, accounting[i]->name,
                accounting[i]->kind == ACCOUNTING_MAPPING ? "mappings" : "schedules", accounting[i]->summary);
    table_print(&table, out);
    table_free(&table);
}

static const char *title_of(const struct yaml_doc *doc)
{
    const struct ynode *title = yaml_find(doc->root, "title");
    return title && title->kind == YNODE_SCALAR ? title->text : "";
}

static void architecture_row(void *user, const char *name, const char *path)
{
    struct yaml_doc doc;
    struct architecture arch;
    char text[48];
    table_cell(user, "%s", name);
    if (yaml_read(&doc, path, NULL) != DSE_OK) {
        table_cell(user, "?");
        table_cell(user, "?");
        table_cell(user, "cannot be read: %s", path);
        return;
    }
    bool good = architecture_build(&doc, NULL, 0, &arch, NULL) == DSE_OK;
    table_cell(user, "%s", good ? text_thousands(arch.mac.instances, text, sizeof text) : "?");
    if (good)
        table_cell(user, "%u", arch.n_level);
    else
        table_cell(user, "?");
    table_cell(user, "%s", title_of(&doc));
    yaml_doc_free(&doc);
}

static void network_row(void *user, const char *name, const char *path)
{
    struct network network;
    char text[48];
    table_cell(user, "%s", name);
    if (network_read(path, &network, NULL) != DSE_OK) {
        for (int i = 0; i < 3; i++)
            table_cell(user, "?");
        table_cell(user, "cannot be read: %s", path);
        return;
    }
    table_cell(user, "%u", network.n_layer);
    table_cell(user, "%s", text_si((double)network_macs(&network, 1), "MAC", text, sizeof text));
    table_cell(user, "%s", text_si((double)network_weight_words(&network), "words", text, sizeof text));
    table_cell(user, "%s", network.title);
    network_free(&network);
}

static void experiment_row(void *user, const char *name, const char *path)
{
    struct yaml_doc doc;
    table_cell(user, "%s", name);
    table_cell(user, "%s", path);
    if (yaml_read(&doc, path, NULL) != DSE_OK) {
        table_cell(user, "cannot be read");
        return;
    }
    table_cell(user, "%s", title_of(&doc));
    yaml_doc_free(&doc);
}

static enum dse_status print_files(enum resolve_kind kind, struct text_buffer *out, struct dse_error *err)
{
    static const char *const arch_header[] = {"architecture", "MACs", "levels", "title"};
    static const char *const network_header[] = {"network", "layers", "per sample", "weights", "title"};
    static const char *const experiment_header[] = {"experiment", "file", "title"};
    struct table table;
    enum dse_status status;
    if (kind == RESOLVE_ARCHITECTURE) {
        table_init(&table, arch_header, 4, 1 | 8);
        status = resolve_each(kind, architecture_row, &table, err);
    } else if (kind == RESOLVE_NETWORK) {
        table_init(&table, network_header, 5, 1 | 16);
        status = resolve_each(kind, network_row, &table, err);
    } else {
        table_init(&table, experiment_header, 3, 7);
        status = resolve_each(kind, experiment_row, &table, err);
    }
    table_print(&table, out);
    table_free(&table);
    return status;
}

/* Reports of the mappings of one line that accountings have; several may share a notation. */
static void add_point_reports(struct table *table)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    const struct point_format *shown = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct point_format *points = all[i]->points;
        for (size_t k = 0; points && points != shown && k < points->n_report; k++)
            add_row(table, points->report[k].name, points->name, points->report[k].sentence);
        shown = points ? points : shown;
    }
}

/* What dse eval --report takes. */
static void print_reports(struct text_buffer *out)
{
    static const char *const header[] = {"report", "of", "what it has"};
    struct table table;
    size_t n;
    const struct schedule_format *const *format = schedule_format_all(&n);
    table_init(&table, header, 3, 7);
    for (size_t i = 0; i < MAPPING_N_REPORT; i++)
        add_row(&table, mapping_report_name[i], "mapping", mapping_report_sentence[i]);
    add_row(&table, machine_report_name, "machine", machine_report_sentence);
    add_point_reports(&table);
    for (size_t f = 0; f < n; f++)
        for (size_t i = 0; i < format[f]->n_report; i++)
            add_row(&table, format[f]->report[i].name, format[f]->name, format[f]->report[i].sentence);
    table_print(&table, out);
    table_free(&table);
}

static enum dse_status read_format(const struct cli_args *args, size_t *format, struct dse_error *err)
{
    static const char *const formats[] = {"table", "csv", "json"};
    return cli_choice(args, "format", formats, sizeof formats / sizeof formats[0], REPORT_TABLE, format, err);
}

/* The layers of a network. */
static enum dse_status print_layers(const struct cli_args *args, struct text_buffer *out,
                                    struct dse_error *err)
{
    struct network network;
    size_t format;
    DSE_TRY(read_format(args, &format, err));
    DSE_TRY(input_network(args->operand[1], args, &network, err));
    enum dse_status status = layer_list(&network, (enum report_format)format, out, err);
    network_free(&network);
    return status;
}

/* The layers of a network have its parameters; the matrix those of the machines and networks that it is told.
 */
static enum dse_status check_set(const struct cli_args *args, struct dse_error *err)
{
    const bool of_layers = strcmp(args->operand[0], "layers") == 0, of_matrix = cli_has(args, "matrix");
    char shown[96];
    for (size_t i = 0; i < args->n_value; i++) {
        const bool set = strcmp(args->value[i].option->name, "set") == 0;
        const bool of_network = set && strncmp(args->value[i].text, "network.", 8) == 0;
        if (!set || (of_layers && of_network))
            continue;
        text_excerpt(args->value[i].text, shown, sizeof shown);
        if (!of_matrix)
            return dse_fail(
                err, DSE_BAD_USAGE,
                "--set %s: dse list layers NETWORK takes parameters of the network, "
                "network.NAME=VALUE, and dse list engines --matrix those and quantities of machines; "
                "nothing else is set here",
                shown);
        if (!cli_has(args, of_network ? "network" : "architecture"))
            return dse_fail(err, DSE_BAD_USAGE, "--set %s: say with --%s of which %s", shown,
                            of_network ? "network" : "architecture", of_network ? "network" : "machine");
    }
    return DSE_OK;
}

static enum dse_status unknown_list(const char *word, struct dse_error *err)
{
    static const char *const known[] = {"engines",     "accountings", "architectures", "networks",
                                        "experiments", "reports",     "layers",        "engine"};
    char shown[96];
    const char *nearest = text_nearest(word, known, sizeof known / sizeof known[0]);
    return dse_fail(err, DSE_BAD_USAGE,
                    "dse list: unknown word \"%s\"; %s%s%sengines, accountings, architectures, networks, "
                    "experiments, reports, layers NETWORK, or engine NAME",
                    text_excerpt(word, shown, sizeof shown), nearest ? "did you mean " : "",
                    nearest ? nearest : "", nearest ? "? There are " : "there are ");
}

static enum dse_status engine_named(const char *name, const struct engine **engine, struct dse_error *err)
{
    struct solve_settings settings;
    DSE_TRY(solve_settings_init(&settings, name, err));
    *engine = settings.engine;
    return DSE_OK;
}

/* What runs where. */
static enum dse_status print_matrix(const struct cli_args *args, const struct engine *engine,
                                    struct text_buffer *out, struct dse_error *err)
{
    const char *architecture[CLI_VALUE_MAX], *network[CLI_VALUE_MAX];
    struct engine_matrix_request request = {
        .engine = engine, .architecture = architecture, .network = network, .set = args};
    struct engine_matrix matrix;
    size_t format;
    DSE_TRY(read_format(args, &format, err));
    if (cli_value(args, "accounting"))
        DSE_TRY(accounting_named(cli_value(args, "accounting"), &request.accounting, err));
    request.n_architecture = cli_values(args, "architecture", architecture);
    request.n_network = cli_values(args, "network", network);
    enum dse_status status = engine_matrix_init(&matrix, &request, err);
    if (status == DSE_OK)
        status = engine_matrix_print(&matrix, (enum report_format)format, out, err);
    engine_matrix_free(&matrix);
    return status;
}

static const char *const of_matrix[] = {"architecture", "network", "accounting", "format"}; /* it last */

/* Options of the matrix without it, or with another list. */
static enum dse_status refuse_matrix(const struct cli_args *args, struct dse_error *err)
{
    const char *given = cli_has(args, "matrix") ? "matrix" : NULL;
    const bool has_format = strcmp(args->operand[0], "layers") == 0;
    for (size_t i = 0; i < sizeof of_matrix / sizeof of_matrix[0] - has_format; i++)
        given = !given && cli_has(args, of_matrix[i]) ? of_matrix[i] : given;
    return given ? dse_fail(err, DSE_BAD_USAGE, "--%s belongs to dse list engines%s", given,
                            strcmp(given, "matrix") == 0 ? "" : " --matrix")
                 : DSE_OK;
}

static enum dse_status print_list(const struct cli_args *args, struct text_buffer *out, struct dse_error *err)
{
    static const char *const words[] = {"architectures", "networks", "experiments"};
    const char *word = args->operand[0];
    DSE_TRY(check_set(args, err));
    if (strcmp(word, "engine") == 0 || strcmp(word, "engines") == 0) {
        const struct engine *engine = NULL;
        if (args->n_operand > 1)
            DSE_TRY(engine_named(args->operand[1], &engine, err));
        if (cli_has(args, "matrix"))
            return print_matrix(args, engine, out, err);
        DSE_TRY(refuse_matrix(args, err));
        if (!engine) {
            print_engines(cli_has(args, "verbose"), out);
            return DSE_OK;
        }
        text_append(out, "%s: %s\n", engine->name, engine->summary);
        print_options(engine, out);
        return DSE_OK;
    }
    DSE_TRY(refuse_matrix(args, err));
    if (strcmp(word, "layers") == 0) {
        if (args->n_operand == 1)
            return dse_fail(err, DSE_BAD_USAGE, "dse list layers needs a network: dse list layers resnet50");
        return print_layers(args, out, err);
    }
    if (args->n_operand > 1)
        return dse_fail(err, DSE_BAD_USAGE, "dse list %s takes no further word", word);
    if (strcmp(word, "accountings") == 0) {
        print_accountings(out);
        return DSE_OK;
    }
    if (strcmp(word, "reports") == 0) {
        print_reports(out);
        return DSE_OK;
    }
    for (size_t i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0)
            return print_files((enum resolve_kind)i, out, err);
    return unknown_list(word, err);
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct text_buffer out;
    text_init(&out);
    enum dse_status status = print_list(args, &out, &err);
    if (status == DSE_OK)
        status = text_check(&out, "the list", &err);
    if (status == DSE_OK && out.data)
        fputs(out.data, console->out);
    text_free(&out);
    return cli_report(console, status, &err);
}

static const struct cli_option options[] = {
    {"verbose", 'v', NULL, "engines: also every option with its default and range"},
    {"matrix", 0, NULL, "engines: which machines and networks they take, or why not, without a search"},
    {"architecture", 'A', "ARCH", "matrix: this machine, and each network on it; repeatable"},
    {"network", 'N', "NETWORK", "matrix: this network, on each machine; repeatable"},
    {"accounting", 'a', "NAME", "matrix: priced so (default: each engine's first that takes the machine)"},
    {"format", 'f', "HOW", "matrix and layers: table (default), csv or json"},
    {"set", 0, "PATH=VALUE",
     "layers, and matrix with -N: a parameter, network.NAME=VALUE; matrix with -A:"
     " a quantity of the machine, as for `dse map`; repeatable"},
};

const struct cli_command command_list = {
    .name = "list",
    .operands = "engines|accountings|architectures|networks|experiments|reports|layers NETWORK|engine NAME",
    .summary = "List what there is to sweep over.",
    .help =
        "Architectures, networks and experiments are looked up in ./experiments and in the installed data.\n"
        "\n"
        "  dse list networks\n"
        "  dse list layers resnet50\n"
        "  dse list layers gpt2 --set network.phase=decode --set network.blocks=1\n"
        "  dse list engines --verbose\n"
        "  dse list engine random\n"
        "  dse list engines --matrix\n"
        "  dse list engines --matrix -A simba -N vgg16\n"
        "  dse list engines --matrix -A soma_edge -N gpt2 --set network.sequence=4096 --set GBUF.capacity='1 "
        "MiB'\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .min_operand = 1,
    .max_operand = 2,
    .run = command,
};
