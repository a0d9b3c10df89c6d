/* One option of a command: what dse/console reads, and what engines declare for the commands they bring. */
#ifndef BASE_CLI_OPTION_H
#define BASE_CLI_OPTION_H

struct cli_option {
    const char *name;     /* long name without dashes */
    char letter;          /* or 0; also where the value may lack */
    const char *value;    /* placeholder of its argument, "FILE"; "[=FILE]": it may lack; NULL: a switch */
    const char *sentence; /* for help */
};

#endif
