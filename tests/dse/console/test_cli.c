/* Parsing and help of a command made up here; the texts are those that docs and other commands have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/console/cli.h"

enum { WORD_MAX = 200 };

static const char *color(size_t i, const char **sentence)
{
    static const char *const word[] = {"red", "green"}, *const says[] = {"as a rose", "as grass"};
    *sentence = i < 2 ? says[i] : NULL;
    return i < 2 ? word[i] : NULL;
}

static const struct cli_option option[] = {
    {"color", 'c', "WORD", "one of these"},
    {"number-of-things", 'n', "COUNT",
     "how many there are; a sentence that is too long for one line of the help"},
    {"quiet", 'q', NULL, "say nothing"},
    {"long-only", 0, NULL, "no letter"},
    {"shade", 0, "[=HOW]", "a value that may lack"},
};

static const struct cli_command command = {.name = "paint",
                                           .operands = "WALL [DOOR]",
                                           .summary = "Paint it.",
                                           .help = "More.\n",
                                           .option = option,
                                           .n_option = 5,
                                           .min_operand = 1,
                                           .max_operand = 2,
                                           .choice_option = "color",
                                           .choice = color};

/* Parse "paint" and the words of `line`. They live until the next call. */
static enum dse_status parse(const char *line, struct cli_args *args, struct dse_error *err)
{
    static char text[4096], *argv[WORD_MAX];
    int argc = 0;
    snprintf(text, sizeof text, "paint %s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return cli_parse(&command, argc, argv, args, err);
}

static void parse_well(const char *line, struct cli_args *args)
{
    struct dse_error err = {0};
    if (parse(line, args, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void test_options_and_operands_in_any_order(void **state)
{
    struct cli_args args;
    (void)state;
    parse_well("kitchen -c red --quiet attic --color=green", &args);
    assert_int_equal(args.n_operand, 2);
    assert_string_equal(args.operand[0], "kitchen");
    assert_string_equal(args.operand[1], "attic");
    assert_int_equal(args.n_value, 3);
    assert_string_equal(args.value[0].text, "red");
    assert_null(args.value[1].text);
    assert_string_equal(cli_value(&args, "color"), "green"); /* the last one */
    assert_true(cli_has(&args, "quiet"));
    assert_false(cli_has(&args, "long-only"));
    assert_null(cli_value(&args, "number-of-things"));
    assert_int_equal(args.argc, 7);
    parse_well("-qn 5 -- -x", &args); /* letters together; what stands behind -- is an operand */
    assert_string_equal(cli_value(&args, "number-of-things"), "5");
    assert_string_equal(args.operand[0], "-x");
    parse_well("--number 5 wall", &args); /* getopt_long: as much of a name as tells it from the others */
    assert_string_equal(cli_value(&args, "number-of-things"), "5");
}

/* The word behind it is an operand: only an equals sign gives it a value. */
static void test_a_value_that_may_lack(void **state)
{
    struct cli_args args;
    (void)state;
    parse_well("--shade wall", &args);
    assert_true(cli_has(&args, "shade"));
    assert_null(cli_value(&args, "shade"));
    assert_string_equal(args.operand[0], "wall");
    parse_well("wall --shade=dark", &args);
    assert_string_equal(cli_value(&args, "shade"), "dark");
}

static void test_help_needs_no_operands(void **state)
{
    struct cli_args args;
    (void)state;
    parse_well("--help", &args);
    assert_true(args.help);
    parse_well("-h --no-such-thing", &args);
    assert_true(args.help);
}

static void test_wrong_use_is_named(void **state)
{
    static const struct {
        const char *line, *text;
    } row[] = {
        {"", "dse paint needs WALL [DOOR]; see dse paint --help"},
        {"a b c d", "dse paint: \"c\" is one too many; usage: dse paint WALL [DOOR]"},
        {"a --colour red", "dse paint: unknown option --colour; did you mean --color?"},
        {"a --hepl", "dse paint: unknown option --hepl; did you mean --help?"},
        {"a --zzzzzz", "dse paint: unknown option --zzzzzz; see dse paint --help"},
        {"a -z", "dse paint: unknown option -z; see dse paint --help"},
        {"a --color", "dse paint: option --color needs a value"},
        {"a -n", "dse paint: option -n needs a value"},
        {"a --quiet=yes", "dse paint: option --quiet takes no value"},
    };
    struct cli_args args;
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct dse_error err = {0};
        assert_int_equal(parse(row[i].line, &args, &err), DSE_BAD_USAGE);
        assert_string_equal(err.text, row[i].text);
    }
}

static void test_too_many_options(void **state)
{
    char line[4 * (CLI_VALUE_MAX + 1) + 2] = "wall";
    struct cli_args args;
    struct dse_error err = {0};
    (void)state;
    for (int i = 0; i < CLI_VALUE_MAX; i++)
        strcat(line, " -q");
    parse_well(line, &args);
    assert_int_equal(args.n_value, CLI_VALUE_MAX);
    strcat(line, " -q");
    assert_int_equal(parse(line, &args, &err), DSE_LIMIT);
    assert_string_equal(err.text, "dse paint: more than 128 options");
}

static void test_choice_of_words(void **state)
{
    static const char *const word[] = {"red", "green", "blue"};
    struct cli_args args;
    struct dse_error err = {0};
    size_t index = 9;
    (void)state;
    parse_well("wall", &args);
    assert_int_equal(cli_choice(&args, "color", word, 3, 1, &index, &err), DSE_OK);
    assert_int_equal(index, 1);
    parse_well("wall -c blue", &args);
    assert_int_equal(cli_choice(&args, "color", word, 3, 1, &index, &err), DSE_OK);
    assert_int_equal(index, 2);
    parse_well("wall -c gren", &args);
    assert_int_equal(cli_choice(&args, "color", word, 3, 1, &index, &err), DSE_BAD_USAGE);
    assert_string_equal(err.text, "--color gren: accepted are red, green, blue; did you mean green?");
    parse_well("wall -c Zinnober", &args);
    assert_int_equal(cli_choice(&args, "color", word, 3, 1, &index, &err), DSE_BAD_USAGE);
    assert_string_equal(err.text, "--color Zinnober: accepted are red, green, blue");
}

static void test_numbers_in_a_range(void **state)
{
    static const struct {
        const char *line;
        unsigned long long value; /* 0: refused */
    } row[] = {{"wall", 7},        {"wall -n 1", 1},   {"wall -n 100", 100},
               {"wall -n 0", 0},   {"wall -n 101", 0}, {"wall -n -1", 0},
               {"wall -n 2.5", 0}, {"wall -n 2x", 0},  {"wall -n 18446744073709551617", 0}};
    struct cli_args args;
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct dse_error err = {0};
        unsigned long long value = 7;
        parse_well(row[i].line, &args);
        enum dse_status status = cli_number(&args, "number-of-things", 1, 100, &value, &err);
        assert_int_equal(status, row[i].value ? DSE_OK : DSE_BAD_USAGE);
        assert_true(value == (row[i].value ? row[i].value : 7));
        if (status != DSE_OK)
            assert_non_null(strstr(err.text, ": a whole number from 1 to 100 is expected"));
    }
}

static void test_help_is_made_of_the_rows(void **state)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    (void)state;
    assert_non_null(out);
    cli_print_help(&command, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text,
                        "Usage: dse paint [OPTION]... WALL [DOOR]\n\nPaint it.\n\nOptions:\n"
                        "  -c, --color WORD          one of these\n"
                        "                              red           as a rose\n"
                        "                              green         as grass\n"
                        "  -n, --number-of-things COUNT\n"
                        "                            how many there are; a sentence that is too long for one "
                        "line of the\n"
                        "                            help\n"
                        "  -q, --quiet               say nothing\n"
                        "      --long-only           no letter\n"
                        "      --shade[=HOW]         a value that may lack\n"
                        "  -h, --help                show this text\n"
                        "\nMore.\n");
    free(text);
}

/* One of its own and one with a name that is there already. */
static bool of_doors(size_t i, struct cli_option *more)
{
    static const struct cli_option row[] = {{"quiet", 0, "NOISE", "another"},
                                            {"hinge", 0, "SIDE", "of the door"}};
    if (i < 2)
        *more = row[i];
    return i < 2;
}

static void test_options_of_other_tables_stand_behind_its_own(void **state)
{
    struct cli_command opened = command;
    struct cli_option room[CLI_OPTION_MAX];
    struct cli_args args;
    struct dse_error err = {0};
    char word[4][16] = {"paint", "wall", "--hinge=left", "-q"}, *argv[5];
    (void)state;
    opened.more = of_doors;
    const struct cli_command whole = cli_command_whole(&opened, room);
    assert_int_equal(whole.n_option, 6);
    assert_string_equal(whole.option[5].name, "hinge");
    for (int i = 0; i < 4; i++)
        argv[i] = word[i];
    argv[4] = NULL;
    assert_int_equal(cli_parse(&whole, 4, argv, &args, &err), DSE_OK);
    assert_string_equal(cli_value(&args, "hinge"), "left");
    assert_true(cli_has(&args, "quiet"));
}

static void test_report_gives_the_exit_code(void **state)
{
    char *text = NULL;
    size_t n;
    struct dse_error err = {0};
    struct console console = {.err = open_memstream(&text, &n)};
    (void)state;
    assert_non_null(console.err);
    assert_int_equal(cli_report(&console, DSE_OK, &err), 0);
    assert_int_equal(cli_report(&console, dse_fail_at(&err, DSE_BAD_INPUT, "a.yaml", 3, "no"), &err), 2);
    assert_int_equal(cli_report(&console, dse_fail(&err, DSE_INTERRUPTED, "stopped"), &err), 130);
    assert_int_equal(fclose(console.err), 0);
    assert_string_equal(text, "dse: a.yaml:3: no\ndse: stopped\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_and_operands_in_any_order),
        cmocka_unit_test(test_a_value_that_may_lack),
        cmocka_unit_test(test_help_needs_no_operands),
        cmocka_unit_test(test_wrong_use_is_named),
        cmocka_unit_test(test_too_many_options),
        cmocka_unit_test(test_choice_of_words),
        cmocka_unit_test(test_numbers_in_a_range),
        cmocka_unit_test(test_help_is_made_of_the_rows),
        cmocka_unit_test(test_options_of_other_tables_stand_behind_its_own),
        cmocka_unit_test(test_report_gives_the_exit_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
