/* The program: its streams and one ignored signal; everything else begins in cli_main. */
#include <signal.h>

#include "dse/command/commands.h"

int main(int argc, char **argv)
{
    struct console console = {stdout, stderr};
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a limit becomes an error that can be told */
    return cli_main(argc, argv, &console);
}
