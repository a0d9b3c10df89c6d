/* Turns a command's rows into getopt_long's tables and into wrapped help, and getopt_long's complaints
 * into sentences with the nearest option. */
#include "dse/console/cli.h"

#include <getopt.h>
#include <string.h>

#include "base/text.h"

enum { HELP_INDENT = 28, HELP_WIDTH = 98 };

static bool has_option(const struct cli_option *option, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(option[i].name, name) == 0)
            return true;
    return false;
}

struct cli_command cli_command_whole(const struct cli_command *command, struct cli_option *option)
{
    struct cli_command whole = *command;
    whole.more = NULL;
    whole.option = option;
    for (size_t i = 0; i < command->n_option; i++)
        option[i] = command->option[i];
    for (size_t i = 0; command->more && whole.n_option < CLI_OPTION_MAX; i++) {
        if (!command->more(i, &option[whole.n_option]))
            break;
        whole.n_option += !has_option(option, whole.n_option, option[whole.n_option].name);
    }
    return whole;
}

/* Print `text` wrapped, continued lines indented; the first line starts at column `at`. */
static void print_wrapped(FILE *out, const char *text, int at)
{
    int column = at;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        } else if (column > at) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* "[=LIST]": --name or --name=LIST. */
static bool value_may_lack(const struct cli_option *option)
{
    return option->value && strncmp(option->value, "[=", 2) == 0;
}

static void print_option(FILE *out, const struct cli_option *option)
{
    char left[64];
    int n = option->letter ? snprintf(left, sizeof left, "  -%c, --%s", option->letter, option->name)
                           : snprintf(left, sizeof left, "      --%s", option->name);
    if (option->value && n > 0 && (size_t)n < sizeof left)
        n += snprintf(left + n, sizeof left - (size_t)n, "%s%s", value_may_lack(option) ? "" : " ",
                      option->value);
    fprintf(out, "%-*s", HELP_INDENT, left);
    if (n >= HELP_INDENT)
        fprintf(out, "\n%*s", HELP_INDENT, "");
    print_wrapped(out, option->sentence, HELP_INDENT);
}

static void print_choices(FILE *out, const struct cli_command *command)
{
    const char *word, *sentence;
    for (size_t i = 0; (word = command->choice(i, &sentence)); i++)
        fprintf(out, "%*s%-12s  %s\n", HELP_INDENT + 2, "", word, sentence);
}

void cli_print_help(const struct cli_command *command, FILE *out)
{
    static const struct cli_option help = {"help", 'h', NULL, "show this text"};
    fprintf(out, "Usage: dse %s [OPTION]... %s\n\n%s\n\nOptions:\n", command->name, command->operands,
            command->summary);
    for (size_t i = 0; i < command->n_option; i++) {
        print_option(out, &command->option[i]);
        if (command->choice_option && strcmp(command->option[i].name, command->choice_option) == 0)
            print_choices(out, command);
    }
    print_option(out, &help);
    if (command->help && command->help[0])
        fprintf(out, "\n%s", command->help);
}

/* The rows as getopt_long wants them. `letters` holds at least 2 * CLI_OPTION_MAX + 4. */
static void build_getopt(const struct cli_command *command, struct option *table, char *letters)
{
    char *at = letters;
    *at++ = ':';
    *at++ = 'h';
    for (size_t i = 0; i < command->n_option; i++) {
        const struct cli_option *option = &command->option[i];
        table[i] = (struct option){option->name,
                                   value_may_lack(option) ? optional_argument
                                   : option->value        ? required_argument
                                                          : no_argument,
                                   NULL, 256 + (int)i};
        if (!option->letter)
            continue;
        *at++ = option->letter;
        if (option->value)
            *at++ = ':';
    }
    table[command->n_option] = (struct option){"help", no_argument, NULL, 'h'};
    table[command->n_option + 1] = (struct option){NULL, 0, NULL, 0};
    *at = '\0';
}

/* getopt_long's '?' and ':' in words. */
static enum dse_status bad_option(const struct cli_command *command, int code, const char *word,
                                  struct dse_error *err)
{
    const char *known[CLI_OPTION_MAX + 1];
    char name[64], shown[96];
    for (size_t i = 0; i < command->n_option; i++)
        known[i] = command->option[i].name;
    known[command->n_option] = "help";
    text_excerpt(word, shown, sizeof shown);
    if (code == ':')
        return dse_fail(err, DSE_BAD_USAGE, "dse %s: option %s needs a value", command->name, shown);
    const char *start = word + strspn(word, "-");
    size_t length = strcspn(start, "=");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), start);
    for (size_t i = 0; i <= command->n_option; i++)
        if (strcmp(known[i], name) == 0)
            return dse_fail(err, DSE_BAD_USAGE, "dse %s: option --%s takes no value", command->name, name);
    const char *nearest =
        word[0] == '-' && word[1] == '-' ? text_nearest(name, known, command->n_option + 1) : NULL;
    if (nearest)
        return dse_fail(err, DSE_BAD_USAGE, "dse %s: unknown option %s; did you mean --%s?", command->name,
                        shown, nearest);
    return dse_fail(err, DSE_BAD_USAGE, "dse %s: unknown option %s; see dse %s --help", command->name, shown,
                    command->name);
}

static const struct cli_option *option_of(const struct cli_command *command, int code)
{
    if (code >= 256)
        return &command->option[code - 256];
    for (size_t i = 0; i < command->n_option; i++)
        if (command->option[i].letter == code)
            return &command->option[i];
    return NULL;
}

static enum dse_status check_operands(const struct cli_command *command, const struct cli_args *args,
                                      struct dse_error *err)
{
    char shown[96];
    if (args->n_operand < command->min_operand)
        return dse_fail(err, DSE_BAD_USAGE, "dse %s needs %s; see dse %s --help", command->name,
                        command->operands, command->name);
    if (args->n_operand > command->max_operand)
        return dse_fail(err, DSE_BAD_USAGE, "dse %s: \"%s\" is one too many; usage: dse %s %s", command->name,
                        text_excerpt(args->operand[command->max_operand], shown, sizeof shown), command->name,
                        command->operands);
    return DSE_OK;
}

enum dse_status cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args,
                          struct dse_error *err)
{
    struct option table[CLI_OPTION_MAX + 2];
    char letters[2 * CLI_OPTION_MAX + 4];
    memset(args, 0, sizeof *args);
    args->command = command;
    args->argc = argc;
    args->argv = argv;
    build_getopt(command, table, letters);
    optind = 0; /* glibc: start anew */
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        if (code == 'h') {
            args->help = true;
            return DSE_OK;
        }
        if (code == '?' || code == ':')
            return bad_option(command, code, argv[optind > 0 ? optind - 1 : 0], err);
        if (args->n_value == CLI_VALUE_MAX)
            return dse_fail(err, DSE_LIMIT, "dse %s: more than %d options", command->name, CLI_VALUE_MAX);
        args->value[args->n_value].option = option_of(command, code);
        args->value[args->n_value].text = optarg;
        args->n_value++;
    }
    args->operand = argv + optind;
    args->n_operand = (size_t)(argc - optind);
    return check_operands(command, args, err);
}

const char *cli_value(const struct cli_args *args, const char *name)
{
    for (size_t i = args->n_value; i-- > 0;)
        if (strcmp(args->value[i].option->name, name) == 0)
            return args->value[i].text;
    return NULL;
}

bool cli_has(const struct cli_args *args, const char *name)
{
    const char *value[CLI_VALUE_MAX];
    return cli_values(args, name, value) > 0;
}

size_t cli_values(const struct cli_args *args, const char *name, const char **value)
{
    size_t n = 0;
    for (size_t i = 0; i < args->n_value; i++)
        if (strcmp(args->value[i].option->name, name) == 0)
            value[n++] = args->value[i].text;
    return n;
}

enum dse_status cli_choice(const struct cli_args *args, const char *name, const char *const *choice, size_t n,
                           size_t standard, size_t *index, struct dse_error *err)
{
    struct text_buffer list;
    char shown[96];
    const char *word = cli_value(args, name);
    *index = standard;
    if (!word)
        return DSE_OK;
    for (size_t i = 0; i < n; i++)
        if (strcmp(choice[i], word) == 0) {
            *index = i;
            return DSE_OK;
        }
    text_init(&list);
    for (size_t i = 0; i < n; i++)
        text_append(&list, "%s%s", i ? ", " : "", choice[i]);
    text_excerpt(word, shown, sizeof shown);
    const char *nearest = text_nearest(word, choice, n);
    enum dse_status status = dse_fail(err, DSE_BAD_USAGE, "--%s %s: accepted are %s%s%s%s", name, shown,
                                      list.data ? list.data : "", nearest ? "; did you mean " : "",
                                      nearest ? nearest : "", nearest ? "?" : "");
    text_free(&list);
    return status;
}

enum dse_status cli_number(const struct cli_args *args, const char *name, unsigned long long lowest,
                           unsigned long long highest, unsigned long long *value, struct dse_error *err)
{
    char shown[96];
    uint64_t number;
    const char *word = cli_value(args, name);
    if (!word)
        return DSE_OK;
    if (!text_parse_u64(word, &number) || number < lowest || number > highest)
        return dse_fail(err, DSE_BAD_USAGE, "--%s %s: a whole number from %llu to %llu is expected", name,
                        text_excerpt(word, shown, sizeof shown), lowest, highest);
    *value = number;
    return DSE_OK;
}

int cli_report(const struct console *console, enum dse_status status, const struct dse_error *err)
{
    char text[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    if (status == DSE_OK)
        return EXIT_DONE;
    fprintf(console->err, "dse: %s\n", dse_error_print(err, text, sizeof text));
    return status == DSE_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_BAD_USE;
}

void cli_warn(const struct console *console, const char *text)
{
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        fprintf(console->err, "dse: warning: %.*s\n", (int)length, text);
    }
}
