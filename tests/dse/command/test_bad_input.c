/* Bad input of many kinds, through the whole program: each ends with exit code 2, the file and line to blame,
 * and a sentence that says what is wrong. The rows are the specification of what users see; words come from
 * the messages themselves.
 * Tests: command_run.c, sweep_plot.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/command/commands.h"

enum { PATH_BYTE = 512, COMMAND_BYTE = 512, ARGUMENT_MAX = 16 };

/* A machine and a network that are right, in pieces. */
#define ARCH_TOP "architecture: small\nclock: 1 GHz\nhierarchy:\n"
#define ARCH_DRAM "- {storage: DRAM, kind: dram, word: 8 bit, bandwidth: 4 GB/s, access_energy: 100 pJ}\n"
#define ARCH_BUFFER "- {storage: Buffer, word: 8 bit, capacity: 4 KiB, access_energy: 1 pJ}\n"
#define ARCH_MACS "- {array: PE, mesh: 4x4}\n- {macs: MAC, word: 8 bit, energy: 0.1 pJ}\n"
#define ARCH ARCH_TOP ARCH_DRAM ARCH_BUFFER ARCH_MACS
#define NETWORK                                                                                              \
    "network: tiny\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"                                                    \
    "- {name: one, type: conv, C: 3, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
#define SPEC "experiment: e\narchitecture: arch.yaml\nnetwork: net.yaml\nengine: random\n"

struct bad_case {
    const char *name;
    const char *file;  /* which of spec.yaml, arch.yaml, net.yaml is bad */
    const char *text;  /* its text */
    const char *place; /* "spec.yaml:5", what must stand in the message */
    const char *words;
};

static const struct bad_case cases[] = {
    {"empty file", "spec.yaml", "", "spec.yaml", "empty"},
    {"binary file", "spec.yaml",
     "\x7f"
     "ELF\x02\x01\x01",
     "spec.yaml", "binary"},
    {"not YAML", "spec.yaml", "experiment: [e\n", "spec.yaml:", "expected"},
    {"a list", "spec.yaml", "- experiment\n", "spec.yaml:1", "mapping"},
    {"unknown key", "spec.yaml", SPEC "objektive: edp\n", "spec.yaml:5", "objective"},
    {"duplicate key", "spec.yaml", SPEC "engine: random\n", "spec.yaml:5", "engine"},
    {"no name", "spec.yaml", "architecture: arch.yaml\nnetwork: net.yaml\nengine: random\n", "spec.yaml:1",
     "experiment"},
    {"name is a path", "spec.yaml", "experiment: a/b\n", "spec.yaml:1", "letters"},
    {"no architecture", "spec.yaml", "experiment: e\nnetwork: net.yaml\nengine: random\n", "spec.yaml:1",
     "architecture"},
    {"no network", "spec.yaml", "experiment: e\narchitecture: arch.yaml\nengine: random\n", "spec.yaml:1",
     "network"},
    {"no engine", "spec.yaml", "experiment: e\narchitecture: arch.yaml\nnetwork: net.yaml\n", "spec.yaml:1",
     "engine"},
    {"unknown engine", "spec.yaml",
     "experiment: e\narchitecture: arch.yaml\nnetwork: net.yaml\nengine: randon\n", "spec.yaml:4",
     "did you mean random"},
    {"unknown architecture", "spec.yaml",
     "experiment: e\narchitecture: simbo\nnetwork: net.yaml\nengine: random\n", "spec.yaml:2",
     "did you mean simba"},
    {"unknown network", "spec.yaml",
     "experiment: e\narchitecture: arch.yaml\nnetwork: resnet5O\nengine: random\n", "spec.yaml:3",
     "did you mean resnet50"},
    {"missing file", "spec.yaml",
     "experiment: e\narchitecture: none.yaml\nnetwork: net.yaml\nengine: random\n", "spec.yaml:2",
     "No such file"},
    {"unknown option", "spec.yaml", SPEC "options: {serch_size: 4}\n", "spec.yaml:5", "search_size"},
    {"option out of range", "spec.yaml", SPEC "options: {search_size: -4}\n", "spec.yaml:5", "search_size"},
    {"option of another engine", "spec.yaml", SPEC "options: {hybrid: {timeout: 4}}\n", "spec.yaml:5",
     "no engine of this sweep"},
    {"unknown layer", "spec.yaml", SPEC "layers: [onee]\n", "spec.yaml:5", "did you mean one"},
    {"layer twice", "spec.yaml", SPEC "layers: [one, one]\n", "spec.yaml:5", "twice"},
    {"bad batch", "spec.yaml", SPEC "batch: 0\n", "spec.yaml:5", "whole number"},
    {"bad seed", "spec.yaml", SPEC "seed: -1\n", "spec.yaml:5", "whole number"},
    {"bad objective", "spec.yaml", SPEC "objective: speed\n", "spec.yaml:5", "latency"},
    {"bad limit", "spec.yaml", SPEC "limits: {max_evaluations: many}\n", "spec.yaml:5", "max_evaluations"},
    {"unknown limit", "spec.yaml", SPEC "limits: {max_evals: 4}\n", "spec.yaml:5", "max_evaluations"},
    {"negative limit", "spec.yaml", SPEC "limits: {max_seconds: -1}\n", "spec.yaml:5", "max_seconds"},
    {"too few evaluations for a point", "spec.yaml",
     "experiment: e\narchitecture: arch.yaml\nnetwork: resnet50\nengine: random\nlimits:\n"
     "  point_max_evaluations: 20\n",
     "spec.yaml:6", "resnet50 has 21 different layers"},
    {"negative limit of a point", "spec.yaml", SPEC "limits: {point_max_seconds: -1}\n", "spec.yaml:5",
     "point_max_seconds"},
    {"axis without list", "spec.yaml", SPEC "axes:\n  DRAM.bandwidth: 4 GB/s\n", "spec.yaml:6", "list"},
    {"empty axis", "spec.yaml", SPEC "axes:\n  DRAM.bandwidth: []\n", "spec.yaml:6", "no values"},
    {"duplicate axis", "spec.yaml", SPEC "axes:\n  batch: [1]\n  batch: [2]\n", "spec.yaml:7", "batch"},
    {"duplicate value", "spec.yaml", SPEC "axes:\n  Buffer.capacity: [1 KiB, 1024 B]\n", "spec.yaml:6",
     "twice"},
    {"unknown path", "spec.yaml", SPEC "axes:\n  Bufer.capacity: [1 KiB]\n", "spec.yaml:6", "Buffer"},
    {"unknown quantity", "spec.yaml", SPEC "axes:\n  Buffer.capacty: [1 KiB]\n", "spec.yaml:6", "capacity"},
    {"missing unit", "spec.yaml", SPEC "axes:\n  Buffer.capacity: [1 KiB, 2048]\n", "spec.yaml:6", "KiB"},
    {"wrong unit", "spec.yaml", SPEC "axes:\n  Buffer.capacity:\n  - 1 KiB\n  - 2 GHz\n", "spec.yaml:8",
     "GHz"},
    {"not a number", "spec.yaml", SPEC "axes:\n  DRAM.bandwidth: [nan GB/s]\n", "spec.yaml:6", "nan"},
    {"trailing junk", "spec.yaml", SPEC "axes:\n  DRAM.bandwidth: [4 GB/s!]\n", "spec.yaml:6", "GB/s!"},
    {"capacity 0", "spec.yaml", SPEC "axes:\n  Buffer.capacity: [0 KiB, 1 KiB]\n", "spec.yaml:6", "0 KiB"},
    {"bad mesh", "spec.yaml", SPEC "axes:\n  PE.mesh: [4x4, 4x]\n", "spec.yaml:6", "4x"},
    {"mesh 0", "spec.yaml", SPEC "axes:\n  PE.mesh: [0x4]\n", "spec.yaml:6", "0x4"},
    {"axis and fixed", "spec.yaml", SPEC "batch: 2\naxes:\n  batch: [1, 2]\n", "spec.yaml:7",
     "fixed on line 5"},
    {"unknown engine on axis", "spec.yaml",
     "experiment: e\narchitecture: arch.yaml\nnetwork: net.yaml\naxes:\n  engine: [random, x]\n",
     "spec.yaml:5", "unknown engine"},
    {"zip of different lengths", "spec.yaml",
     SPEC "axes:\n  batch: [1, 2]\n  seed: [1]\nzip: [[batch, seed]]\n", "spec.yaml:8", "2"},
    {"zip of an unknown axis", "spec.yaml", SPEC "axes:\n  batch: [1, 2]\nzip: [[batch, sead]]\n",
     "spec.yaml:7", "no axis"},
    {"zip without axes", "spec.yaml", SPEC "zip: [[batch, seed]]\n", "spec.yaml:5", "no axes"},
    {"skip a value that is not there", "spec.yaml", SPEC "axes:\n  batch: [1, 2]\nskip: [{batch: 3}]\n",
     "spec.yaml:7", "no value of axis"},
    {"skip an unknown axis", "spec.yaml", SPEC "axes:\n  batch: [1, 2]\nskip: [{bach: 1}]\n", "spec.yaml:7",
     "did you mean batch"},
    {"skip everything", "spec.yaml", SPEC "axes:\n  batch: [1, 2]\nskip: [{batch: [1, 2]}]\n", "spec.yaml:7",
     "no cell"},
    {"points and axes", "spec.yaml", SPEC "axes: {batch: [1]}\npoints: [{batch: 1}]\n", "spec.yaml:6",
     "exclude"},
    {"points that differ in form", "spec.yaml", SPEC "points:\n- {batch: 1}\n- {seed: 1}\n", "spec.yaml:7",
     "batch"},
    {"equal points", "spec.yaml", SPEC "points:\n- {batch: 1}\n- {batch: 1}\n", "spec.yaml:7",
     "same as point 1"},
    {"too many cells", "spec.yaml",
     SPEC
     "axes:\n  batch: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n  seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n"
     "  MAC.energy: [1 pJ, 2 pJ, 3 pJ, 4 pJ, 5 pJ, 6 pJ, 7 pJ, 8 pJ, 9 pJ, 10 pJ]\n"
     "  DRAM.bandwidth: [1 GB/s, 2 GB/s, 3 GB/s, 4 GB/s, 5 GB/s, 6 GB/s, 7 GB/s, 8 GB/s, 9 GB/s, 10 GB/s]\n"
     "  DRAM.access_energy: [1 pJ, 2 pJ, 3 pJ, 4 pJ, 5 pJ, 6 pJ, 7 pJ, 8 pJ, 9 pJ, 10 pJ]\n"
     "  Buffer.access_energy: [1 pJ, 2 pJ, 3 pJ, 4 pJ, 5 pJ, 6 pJ, 7 pJ, 8 pJ, 9 pJ, 10 pJ]\n"
     "  DRAM.word: [1 bit, 2 bit, 3 bit, 4 bit, 5 bit, 6 bit, 7 bit, 8 bit, 9 bit, 10 bit]\n"
     "  Buffer.word: [1 bit, 2 bit, 3 bit, 4 bit, 5 bit, 6 bit, 7 bit, 8 bit, 9 bit, 10 bit]\n"
     "  clock: [1 GHz, 2 GHz]\n",
     "spec.yaml:14", "100000000"},
    {"bad constraint", "spec.yaml", SPEC "constraints:\n- {target: Bufer, type: temporal}\n", "spec.yaml:6",
     "Buffer"},
    {"constraints axis without names", "spec.yaml",
     SPEC "axes:\n  constraints:\n  - {target: Buffer, type: temporal}\n", "spec.yaml:7", "named lists"},
    {"constraints axis without lists", "spec.yaml",
     SPEC "axes:\n  constraints:\n    a: {target: Buffer, type: temporal}\n", "spec.yaml:7", "list"},
    {"constraints axis without values", "spec.yaml", SPEC "axes:\n  constraints: {}\n", "spec.yaml:6",
     "no values"},
    {"bad constraint on an axis", "spec.yaml",
     SPEC "axes:\n  constraints:\n    a: []\n    b: [{target: Bufer, type: temporal}]\n", "spec.yaml:8",
     "Buffer"},
    {"constraints of points", "spec.yaml", SPEC "points:\n- {constraints: a}\n", "spec.yaml:6",
     "by name under axes"},
    {"unknown measure", "spec.yaml", SPEC "measure: [nic]\n", "spec.yaml:5", "did you mean noc"},
    {"measure twice", "spec.yaml", SPEC "measure:\n- noc\n- noc\n", "spec.yaml:7", "twice"},
    {"measure without a list", "spec.yaml", SPEC "measure: noc\n", "spec.yaml:5", "a list is expected"},
    {"measure with an unknown setting", "spec.yaml", SPEC "measure:\n  noc:\n    steps: 4\n", "spec.yaml:7",
     "max_steps"},
    {"no simulations", "spec.yaml", SPEC "measure:\n  noc: {simulations: 0}\n", "spec.yaml:6", "simulations"},
    {"too many simulations", "spec.yaml", SPEC "measure:\n  noc: {simulations: 1001}\n", "spec.yaml:6",
     "1000"},
    {"measure with settings that it has not", "spec.yaml", SPEC "measure:\n  cosa: {a: 4}\n", "spec.yaml:6",
     "no settings"},
    {"measure of a machine without a mesh", "spec.yaml", SPEC "measure: [noc]\nset: {PE.mesh: 1x1}\n",
     "spec.yaml:5", "measure: noc: "},
    {"plot of what is not measured", "spec.yaml", SPEC "plot: {metric: noc_latency_cycle}\n", "spec.yaml:5",
     "latency_cycle"},
    {"bad plot key", "spec.yaml", SPEC "plot: {colour: red}\n", "spec.yaml:5", "plot"},
    {"plot along no axis", "spec.yaml", SPEC "axes: {batch: [1, 2]}\nplot:\n  x: bach\n", "spec.yaml:7",
     "plot.x: \"bach\" is unknown; did you mean \"batch\"?"},
    {"plot up no axis", "spec.yaml", SPEC "axes: {batch: [1, 2]}\nplot: {x: batch, y: foo}\n", "spec.yaml:6",
     "(accepted: batch)"},
    {"plot without axes", "spec.yaml", SPEC "plot: {x: batch}\n", "spec.yaml:5", "no axes"},
    {"plot of one axis against itself", "spec.yaml",
     SPEC "axes: {batch: [1, 2], seed: [1, 2]}\nzip: [[batch, seed]]\nplot: {x: batch, y: seed}\n",
     "spec.yaml:7", "two axes"},
    {"plot of no metric", "spec.yaml", SPEC "plot: {metric: edp}\n", "spec.yaml:5",
     "did you mean \"edp_js\"?"},
    {"plot of a text", "spec.yaml", SPEC "plot: {metric: status}\n", "spec.yaml:5", "latency_s"},
    {"plot of an unknown kind", "spec.yaml", SPEC "plot: {kind: pie}\n", "spec.yaml:5",
     "heatmap, convergence, breakdown"},
    {"plot of convergence along an axis", "spec.yaml",
     SPEC "axes: {batch: [1, 2]}\nplot: {kind: convergence, x: batch}\n", "spec.yaml:6",
     "one of evaluations, seconds, not 'batch'"},
    {"plot over a value that is none", "spec.yaml",
     SPEC "axes: {batch: [1, 2]}\nplot:\n  relative: batch=3\n", "spec.yaml:7",
     "plot.relative: unknown batch '3'; there are 1, 2"},
    {"plot over no value", "spec.yaml", SPEC "axes: {batch: [1, 2]}\nplot: {relative: batch}\n",
     "spec.yaml:6", "plot.relative: 'batch' should be axis=value"},
    {"plot of the winner of no axis", "spec.yaml", SPEC "axes: {batch: [1, 2]}\nplot: {winner: bach}\n",
     "spec.yaml:6", "plot.winner: unknown axis 'bach' (did you mean batch?)"},
    {"plot of the winner of what is drawn", "spec.yaml",
     SPEC "axes: {batch: [1, 2], seed: [1, 2]}\nplot: {x: seed, winner: seed}\n", "spec.yaml:6",
     "plot.winner: axis seed cannot be drawn along"},
    {"plot of the winner without a best", "spec.yaml",
     SPEC "axes: {batch: [1, 2]}\nplot: {metric: n_mac, winner: batch}\n", "spec.yaml:6",
     "plot.winner: there is no best of n_mac"},
    {"plot of two comparisons", "spec.yaml",
     SPEC "axes: {batch: [1, 2]}\nplot: {winner: batch, relative: batch=1}\n", "spec.yaml:6",
     "relative and winner are two figures"},
    {"plot of a comparison as lines", "spec.yaml",
     SPEC "axes: {batch: [1, 2]}\nplot: {kind: lines, relative: batch=1}\n", "spec.yaml:6",
     "plot.relative is of kind heatmap, not lines"},
    {"plot with a key that is nearly right", "spec.yaml", SPEC "plot: {metrik: edp_js}\n", "spec.yaml:5",
     "metric"},
    {"measured network that no point can have", "spec.yaml",
     SPEC "measure: [noc]\naxes:\n  batch: [1, 2]\n  noc.queue: [7, 3]\n", "spec.yaml:8",
     "a packet of 5 must fit"},
    {"option under set", "spec.yaml", SPEC "set: {option.search_size: 7}\n", "spec.yaml:5",
     "write it under options"},
    {"set of an unknown path", "spec.yaml", SPEC "set: {Buffer.size: 1 KiB}\n", "spec.yaml:5", "Buffer"},
    {"missing level", "arch.yaml", ARCH_TOP ARCH_MACS, "arch.yaml:", "storage"},
    {"no MACs", "arch.yaml", ARCH_TOP ARCH_DRAM ARCH_BUFFER, "arch.yaml:", "macs"},
    {"unknown key in the machine", "arch.yaml",
     ARCH_TOP "- {storage: D, kind: dram, word: 8 bit, bandwith: 4 GB/s}\n" ARCH_MACS, "arch.yaml:4",
     "bandwidth"},
    {"capacity 0 in the machine", "arch.yaml",
     ARCH_TOP ARCH_DRAM "- {storage: Buffer, word: 8 bit, capacity: 0 KiB, access_energy: 1 pJ}\n" ARCH_MACS,
     "arch.yaml:5", "capacity"},
    {"clock without unit", "arch.yaml", "architecture: small\nclock: 1\nhierarchy:\n" ARCH_DRAM ARCH_MACS,
     "arch.yaml:2", "Hz"},
    {"two levels of one name", "arch.yaml", ARCH_TOP ARCH_DRAM ARCH_BUFFER ARCH_BUFFER ARCH_MACS,
     "arch.yaml:6", "Buffer"},
    {"zero dimension", "net.yaml",
     "network: n\ninput: {C: 3, H: 8, W: 8}\nlayers:\n- {name: a, type: conv, C: 0, K: 8, P: 8, Q: 8}\n",
     "net.yaml:4", "C"},
    {"missing dimension", "net.yaml",
     "network: n\ninput: {C: 3, H: 8, W: 8}\nlayers:\n- {name: a, type: conv, C: 3, P: 8, Q: 8}\n",
     "net.yaml:4", "K"},
    {"unknown layer type", "net.yaml",
     "network: n\ninput: {C: 3, H: 8, W: 8}\nlayers:\n- {name: a, type: convv, C: 3, K: 3, P: 8, Q: 8}\n",
     "net.yaml:4", "conv"},
    {"cyclic network", "net.yaml",
     "network: n\ninput: {C: 8, H: 8, W: 8}\nlayers:\n- {name: a, type: conv, C: 8, K: 8, P: 8, Q: 8, from: "
     "b}\n"
     "- {name: b, type: conv, C: 8, K: 8, P: 8, Q: 8, from: a}\n",
     "net.yaml:", "cycl"},
    {"unknown producer", "net.yaml",
     "network: n\ninput: {C: 8, H: 8, W: 8}\nlayers:\n- {name: a, type: conv, C: 8, K: 8, P: 8, Q: 8, from: "
     "imput}\n",
     "net.yaml:4", "input"},
    {"network without MACs", "net.yaml",
     "network: n\ninput: {C: 8, H: 8, W: 8}\nlayers:\n- {name: a, type: pool, C: 8, P: 4, Q: 4, R: 2, S: 2, "
     "stride: 2, from: input}\n",
     "net.yaml", "multiply-accumulates"},
};

static char folder[PATH_BYTE];

static void write_file(const char *name, const char *text)
{
    char path[2 * PATH_BYTE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void write_good_files(void)
{
    write_file("spec.yaml", SPEC);
    write_file("arch.yaml", ARCH);
    write_file("net.yaml", NETWORK);
}

/* Run "dse WORDS" (blank-separated; "@" stands for the folder); returns the exit code, the messages in *text
 * (to be freed). */
static int run_words(const char *words, char **text)
{
    char line[COMMAND_BYTE], *argv[ARGUMENT_MAX + 1], argument[ARGUMENT_MAX][2 * PATH_BYTE];
    size_t size;
    int argc = 0;
    FILE *err = open_memstream(text, &size), *out = fopen("/dev/null", "w");
    assert_non_null(err);
    assert_non_null(out);
    snprintf(line, sizeof line, "dse %s", words);
    for (char *save = NULL, *word = strtok_r(line, " ", &save); word && argc < ARGUMENT_MAX;
         word = strtok_r(NULL, " ", &save)) {
        snprintf(argument[argc], sizeof argument[argc], "%s%s", word[0] == '@' ? folder : "",
                 word[0] == '@' ? word + 1 : word);
        argv[argc] = argument[argc];
        argc++;
    }
    argv[argc] = NULL;
    struct console console = {.out = out, .err = err};
    int code = cli_main(argc, argv, &console);
    fclose(out);
    fclose(err);
    return code;
}

static int check_one(const char *name, const char *words, const char *place, const char *expected)
{
    char *text = NULL;
    int code = run_words(words, &text);
    int good = code == EXIT_BAD_USE && strstr(text, place) && strstr(text, expected) &&
               strncmp(text, "dse: ", 5) == 0;
    if (!good)
        print_error("%s: exit code %d, \"%s\", expected 2 with \"%s\" and \"%s\"\n", name, code, text, place,
                    expected);
    free(text);
    return good;
}

static void test_bad_input_is_refused_with_place_and_reason(void **state)
{
    (void)state;
    int n_bad = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_good_files();
        write_file(cases[i].file, cases[i].text);
        n_bad += !check_one(cases[i].name, "check @/spec.yaml", cases[i].place, cases[i].words);
    }
    assert_int_equal(n_bad, 0);
}

static void test_bad_input_good_files_pass(void **state)
{
    (void)state;
    char *text = NULL;
    write_good_files();
    assert_int_equal(run_words("check @/spec.yaml", &text), EXIT_DONE);
    free(text);
}

/* Bursts of 24 bytes (3 flits of 64 bit) need rows of 6 KiB, the default 32 bytes go into both; the mesh must
 * hold the array. */
static void test_bad_input_spares_values_that_some_point_can_have(void **state)
{
    (void)state;
    char *text = NULL;
    write_good_files();
    write_file("spec.yaml", SPEC "measure: [noc]\naxes:\n  noc.data_flits: [3, 4]\n"
                                 "  noc.dram_row: [6 KiB, 8 KiB]\n");
    assert_int_equal(run_words("check @/spec.yaml", &text), EXIT_DONE);
    free(text);
    write_file("spec.yaml", SPEC "measure: [noc]\naxes:\n  noc.mesh: [2x2, 4x4]\n  PE.mesh: [2x2, 4x4]\n");
    assert_int_equal(run_words("check @/spec.yaml", &text), EXIT_DONE);
    free(text);
    write_file("spec.yaml", SPEC "axes:\n  noc.queue: [7, 3]\n"); /* not measured */
    assert_int_equal(run_words("check @/spec.yaml", &text), EXIT_DONE);
    free(text);
}

static void test_bad_input_of_the_file_system(void **state)
{
    (void)state;
    char path[2 * PATH_BYTE];
    write_good_files();
    assert_true(check_one("missing", "run @/none.yaml", "none.yaml", "No such file"));
    assert_true(check_one("folder", "run @", folder, "irectory"));
    snprintf(path, sizeof path, "%s/net.yaml", folder);
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() != 0) /* root reads everything */
        assert_true(check_one("unreadable", "run @/spec.yaml", "net.yaml", "ermission"));
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(check_one("output folder", "run @/spec.yaml -o @/none/out.h5", "none/out", "No such file"));
}

static void test_bad_input_on_the_command_line(void **state)
{
    (void)state;
    static const struct {
        const char *words, *expected;
    } rows[] = {
        {"rnu", "did you mean dse run?"},
        {"--verison", "did you mean dse --version?"},
        {"run", "needs SPEC"},
        {"run @/spec.yaml extra", "one too many"},
        {"run quikstart", "unknown experiment \"quikstart\"; did you mean quickstart?"},
        {"run fig9a", "unknown experiment \"fig9a\"; did you mean cosa/fig9a?"},
        {"check zzzzzzzzz", "a name of `dse list experiments`"},
        {"run @/spec.yaml --job 4x", "whole number"},
        {"run @/spec.yaml --fersh", "did you mean --fresh?"},
        {"run @/spec.yaml -o", "needs a value"},
        {"run @/spec.yaml --fresh=1", "takes no value"},
        {"run @/spec.yaml --shard 5/4", "K/N"},
        {"run @/spec.yaml --set batch", "KEY=VALUE"},
        {"run @/spec.yaml --set batch=", "missing"},
        {"run @/spec.yaml --set Bufer.capacity=4", "Buffer"},
        {"run @/spec.yaml --set option.x=4", "no option"},
        {"run @/spec.yaml --set limits.point_max_seconds=nan", "point_max_seconds nan: a number of seconds"},
        {"run @/spec.yaml --set limits.point_max_evaluations=x", "point_max_evaluations x: a whole number"},
        {"eval @/arch.yaml", "needs ARCH PROBLEM MAPPING"},
        {"eval @/arch.yaml @/net.yaml:two @/none.yaml", "no layer"},
        {"eval @/arch.yaml @/net.yaml @/none.yaml", "/net.yaml:one"},
        {"eval @/arch.yaml @/net.yaml: @/none.yaml", "/net.yaml:one"},
        {"eval @/arch.yaml resnet50 @/none.yaml", "write NETWORK:LAYER, for instance resnet50:conv1"},
        {"eval @/arch.yaml resnet5O @/none.yaml", "did you mean resnet50?"},
        {"eval @/arch.yaml resnet50:conf1 @/none.yaml", "did you mean conv1?"},
        {"eval @/arch.yaml resnet50:conv2_0 @/none.yaml", "did you mean conv2_0_"},
        {"eval @/arch.yaml @/none.yaml @/none.yaml", "No such file"},
        {"eval @/arch.yaml @/net.yaml:one @/none.yaml", "No such file"},
        {"eval @/arch.yaml @/net.yaml:one @/spec.yaml", "mapping"},
        {"map @/arch.yaml @/net.yaml --engine randm", "did you mean random?"},
        {"map @/arch.yaml @/net.yaml --objective x", "latency"},
        {"map @/arch.yaml @/net.yaml --layer tow", "no layer"},
        {"map @/arch.yaml @/net.yaml --simulations 0", "simulations"},
        {"map @/arch.yaml @/net.yaml --simulations 1001", "1000"},
        {"map @/arch.yaml @/net.yaml --format xml", "table, yaml, csv, json"},
        {"map @/arch.yaml @/net.yaml --engine random --option serch_size=1", "search_size"},
        {"map @/arch.yaml @/net.yaml --set Buffer.capacity=4", "KiB"},
        {"map @/arch.yaml @/net.yaml --engine cosa -o wieght_comp=1", "did you mean \"weight_comp\"?"},
        {"map @/arch.yaml @/net.yaml --engine cosa -o zzzzzz=1", "it has form, halo, stationary"},
        {"map @/arch.yaml @/net.yaml --engine cosa -o weight_comp", "--option weight_comp: write NAME=VALUE"},
        {"map @/arch.yaml @/net.yaml --engine cosa -o weight_comp=", "--option weight_comp=: the value is"},
        {"map @/arch.yaml @/net.yaml --engine cosa -o weight_comp=-1", "accepted: a number 0 to 1000000"},
        {"map @/arch.yaml @/net.yaml --set option.pad=7", "write --option pad=7"},
        {"map @/arch.yaml @/net.yaml -c @/net.yaml", "or a key \"constraints\" that has one"},
        {"map @/arch.yaml @/net.yaml -m noc,", "measure: a name is missing"},
        {"map @/arch.yaml @/net.yaml -m nocc", "did you mean noc?"},
        {"list", "needs engines"},
        {"list engins", "engines"},
        {"list engine randm", "did you mean random?"},
        {"status @/none.h5", "none"},
        {"plot @/none.h5", "none.h5"},
        {"merge @/all.h5 @/none.h5", "none"},
        {"merge @/all.h5", "needs OUT.h5"},
    };
    int n_bad = 0;
    write_good_files();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        n_bad += !check_one(rows[i].words, rows[i].words, "dse", rows[i].expected);
    assert_int_equal(n_bad, 0);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/dse_bad_input_XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const name[] = {"spec.yaml", "arch.yaml", "net.yaml"};
    char path[2 * PATH_BYTE];
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_input_good_files_pass),
        cmocka_unit_test(test_bad_input_spares_values_that_some_point_can_have),
        cmocka_unit_test(test_bad_input_is_refused_with_place_and_reason),
        cmocka_unit_test(test_bad_input_of_the_file_system),
        cmocka_unit_test(test_bad_input_on_the_command_line),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
