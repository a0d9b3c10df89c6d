/* The table of commands, to which engines add theirs, and the program around it. */
#include <string.h>

#include "base/text.h"
#include "dse/command/commands.h"
#include "engines/driver/engine_command.h"
#include "results/record/provenance.h"

static const struct cli_command *const commands[] = {
    &command_run,     &command_eval,  &command_map,    &command_sample, &command_optimise, &command_list,
    &command_convert, &command_plot,  &command_pareto, &command_report, &command_merge,    &command_status,
    &command_watch,   &command_check, &command_rerun,  &command_slurm,
};

enum { N_COMMAND = sizeof commands / sizeof commands[0], COMMAND_MAX = N_COMMAND + 16 };

/* Every command, those of engines last; returns how many. */
static size_t all_commands(struct cli_command command[COMMAND_MAX])
{
    size_t n = 0, n_engine;
    const struct engine_command *const *of_engine = engine_command_all(&n_engine);
    for (; n < N_COMMAND; n++)
        command[n] = *commands[n];
    for (size_t i = 0; i < n_engine && n < COMMAND_MAX; i++)
        command[n++] = command_of_engine(of_engine[i]);
    return n;
}

static const struct cli_command *find(const struct cli_command *command, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(command[i].name, name) == 0)
            return &command[i];
    return NULL;
}

static void print_overview(const struct cli_command *command, size_t n, FILE *out)
{
    fputs("Usage: dse COMMAND [OPTION]... [OPERAND]...\n\n"
          "Design-space exploration of DNN accelerators: sweeps over architectures, networks and search "
          "engines.\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "  %-9s %s\n", command[i].name, command[i].summary);
    fputs("\nOptions:\n"
          "  -h, --help     show this text; `dse COMMAND --help` shows that of a command\n"
          "  -V, --version  show the version\n\n"
          "First steps:\n"
          "  dse list networks                         what there is to map\n"
          "  dse map simba resnet50 --layer conv1      find a mapping for one layer\n"
          "  dse map soma_edge resnet50_soma -e soma   schedule a network with its layers fused\n"
          "  dse run quickstart                        run (or resume) a sweep\n"
          "  dse plot quickstart.h5 -o edp.png         draw it\n\n"
          "Exit codes: 0 done; 1 some points failed (they are listed); 2 wrong use, bad input, or a\n"
          "file that cannot be written; 130 interrupted, and the same command resumes.\n",
          out);
}

static int print_version(FILE *out)
{
    struct provenance provenance;
    char text[512];
    provenance_make(&provenance);
    fprintf(out, "%s\n", provenance_print(&provenance, text, sizeof text));
    return EXIT_DONE;
}

static int unknown_command(const struct cli_command *command, size_t n, const char *word,
                           const struct console *console)
{
    static const char *const options[] = {"--help", "--version"};
    const char *known[COMMAND_MAX];
    char shown[96];
    bool is_option = word[0] == '-';
    for (size_t i = 0; i < n; i++)
        known[i] = command[i].name;
    const char *nearest = is_option ? text_nearest(word, options, 2) : text_nearest(word, known, n);
    text_excerpt(word, shown, sizeof shown);
    fprintf(console->err, "dse: unknown %s \"%s\"; ", is_option ? "option" : "command", shown);
    if (nearest)
        fprintf(console->err, "did you mean dse %s?\n", nearest);
    else
        fprintf(console->err, "see dse --help\n");
    return EXIT_BAD_USE;
}

static void print_help(const struct cli_command *command, FILE *out)
{
    struct cli_option option[CLI_OPTION_MAX];
    const struct cli_command whole = cli_command_whole(command, option);
    cli_print_help(&whole, out);
}

static int run_command(const struct cli_command *command, int argc, char **argv,
                       const struct console *console)
{
    struct dse_error err = {0};
    struct cli_args args;
    struct cli_option option[CLI_OPTION_MAX];
    const struct cli_command whole = cli_command_whole(command, option);
    enum dse_status status = cli_parse(&whole, argc, argv, &args, &err);
    if (status != DSE_OK)
        return cli_report(console, status, &err);
    if (args.help) {
        cli_print_help(&whole, console->out);
        return EXIT_DONE;
    }
    int code = whole.run(&args, console);
    if (fflush(console->out) != 0 && code == EXIT_DONE) {
        fprintf(console->err, "dse: the output could not be written\n");
        return EXIT_BAD_USE;
    }
    return code;
}

int cli_main(int argc, char **argv, const struct console *console)
{
    struct cli_command all[COMMAND_MAX];
    size_t n = all_commands(all);
    if (argc < 2) {
        print_overview(all, n, console->err);
        return EXIT_BAD_USE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        const struct cli_command *command = argc > 2 ? find(all, n, argv[2]) : NULL;
        if (command)
            print_help(command, console->out);
        else
            print_overview(all, n, console->out);
        return EXIT_DONE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return print_version(console->out);
    const struct cli_command *command = find(all, n, word);
    return command ? run_command(command, argc - 1, argv + 1, console)
                   : unknown_command(all, n, word, console);
}
