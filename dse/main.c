/* The program: its streams, one ignored signal, no aborting in GSL; everything else begins in cli_main. */
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/process.h"
#include "dse/command/commands.h"
#include "dse/console/printable.h"

/* Searches take about 100 KiB of stack; the environment and what libraries do in larger ones come on top. */
enum { STACK_BYTE = 1 << 20, WRONG_USE = 2 };

static void close_stream(FILE *stream, const FILE *to)
{
    if (stream != to)
        fclose(stream);
}

int main(int argc, char **argv)
{
    size_t stack_byte;
    if (!process_stack_suffices(STACK_BYTE, &stack_byte)) {
        fprintf(
            stderr,
            "dse: the stack may have %zu KiB here, and %d KiB are needed; raise the limit first: ulimit -s "
            "8192\n",
            stack_byte / 1024, STACK_BYTE / 1024);
        return WRONG_USE;
    }
    struct printable out, err;
    struct console console = {.out = printable_stream(&out, stdout, isatty(STDOUT_FILENO)),
                              .err = printable_stream(&err, stderr, 1),
                              .out_terminal = isatty(STDOUT_FILENO) ? stdout : NULL,
                              .err_terminal = isatty(STDERR_FILENO) ? stderr : NULL,
                              .of_process = true};
    gsl_set_error_handler_off(); /* which would abort; what GSL returns says it as well */
    signal(SIGXFSZ, SIG_IGN);    /* writing beyond a limit becomes an error that can be told */
    int code = cli_main(argc, argv, &console);
    close_stream(console.out, stdout);
    close_stream(console.err, stderr);
    return code;
}
