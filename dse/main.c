/* The program: its streams, one ignored signal, no aborting in GSL; everything else begins in cli_main. */
#include <gsl/gsl_errno.h>
#include <signal.h>

#include "dse/command/commands.h"

int main(int argc, char **argv)
{
    struct console console = {stdout, stderr};
    gsl_set_error_handler_off(); /* which would abort; what GSL returns says it as well */
    signal(SIGXFSZ, SIG_IGN);    /* writing beyond a limit becomes an error that can be told */
    return cli_main(argc, argv, &console);
}
