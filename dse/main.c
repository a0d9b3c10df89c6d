#include "dse/cli.h"

int main(int argc, char **argv)
{
    struct console console = {stdout, stderr};
    return cli_main(argc, argv, &console);
}
