/* dse optimise: 100 hierarchies with two register files for nine networks, C|K, all of them priced, and as a
 * search. Prints "name,value,unit". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dse/command/commands.h"

#define FOLDER "experiments/interstellar/"

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static bool measure(const char *name, const char *how)
{
    static const char *const word[] = {"dse",
                                       "optimise",
                                       FOLDER "architectures/rf2_sram.yaml",
                                       FOLDER "networks/alexnet.csv",
                                       FOLDER "networks/vgg16.csv",
                                       FOLDER "networks/googlenet.csv",
                                       FOLDER "networks/mobilenet.csv",
                                       FOLDER "networks/lstm_m.csv",
                                       FOLDER "networks/lstm_l.csv",
                                       FOLDER "networks/rhn.csv",
                                       FOLDER "networks/mlp_m.csv",
                                       FOLDER "networks/mlp_l.csv",
                                       "--size=RF1=8 B..64 B",
                                       "--size=RF2=32 B..512 B",
                                       "--size=SRAM=32 KiB..512 KiB",
                                       "--format=csv",
                                       "--jobs=1"};
    enum { N = sizeof word / sizeof word[0], TEXT = 256 };
    char text[N + 1][TEXT], *argv[N + 2] = {NULL}, row[4096];
    int argc = 0;
    unsigned priced = 0;
    for (; argc < N; argc++)
        argv[argc] = memcpy(text[argc], word[argc], strlen(word[argc]) + 1);
    if (how)
        argv[argc++] = memcpy(text[N], how, strlen(how) + 1);
    FILE *out = tmpfile();
    if (!out)
        return false;
    const struct console console = {.out = out, .err = stderr};
    const double start_s = cpu_s();
    const bool good = cli_main(argc, argv, &console) == 0;
    printf("optimise/%s,%.1f,s\n", name, cpu_s() - start_s);
    rewind(out);
    while (fgets(row, sizeof row, out)) {
        const char *last = strrchr(row, ',');
        priced = last ? (unsigned)strtoul(last + 1, NULL, 10) : 0;
    }
    printf("optimise/%s_priced,%u,1\n", name, priced);
    fclose(out);
    return good && priced > 0;
}

int main(void)
{
    return measure("search", NULL) && measure("every", "--every") ? 0 : 1;
}
