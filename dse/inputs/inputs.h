/* What commands take as operands: architectures, networks and problems by name or path, with --set. */
#ifndef DSE_INPUTS_INPUTS_H
#define DSE_INPUTS_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "dse/console/cli.h"

enum { INPUT_SET_MAX = 64, INPUT_SET_TEXT_MAX = 256 };

/* What a command line changes about an architecture: the --set PATH=VALUE options but those of networks, and
 * --ert FILE and --art FILE. */
struct input_overrides {
    /* Energy and Area Reference Table beside a Timeloop architecture, or NULL; borrowed from the arguments */
    const char *ert, *art;
    size_t n;
    char path[INPUT_SET_MAX][INPUT_SET_TEXT_MAX];
    const char *value[INPUT_SET_MAX]; /* (n) borrowed from the arguments */
};

/* Split "PATH=VALUE" (blanks around "=" allowed), the value of --`option`. DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status input_split_set(const char *option, const char *text, char *path, size_t size,
                                               const char **value, struct dse_error *err);
DSE_MUST_CHECK enum dse_status input_overrides_read(const struct cli_args *args,
                                                    struct input_overrides *overrides, struct dse_error *err);

/* An architecture by name or path. */
DSE_MUST_CHECK enum dse_status input_architecture(const char *name, const struct input_overrides *overrides,
                                                  struct architecture *arch, struct dse_error *err);

enum { INPUT_NOTE_MAX = 1024 };

/* That leakage in the machine's ERT is not counted: where, and what would be right; NULL: none is left out.
 * `ert`: the ERT's file, NULL: `path`, the machine's. Returns `buffer`, of INPUT_NOTE_MAX bytes. */
const char *input_leak_note(const struct architecture *arch, const char *ert, const char *path, char *buffer);

/* The same as a note on console->err, of the machine in the first operand. */
void input_note_leak(const struct architecture *arch, const struct cli_args *args,
                     const struct console *console);

/* Parameters of networks that --set network.NAME=VALUE gives (`args` NULL: none), the last of each name;
 * texts in `arena`. DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status input_network_settings(const struct cli_args *args, struct arena *arena,
                                                      struct network_settings *settings,
                                                      struct dse_error *err);

/* A network by name or path, or several, "resnet50+googlenet", side by side (network_names.h, network_join),
 * with the parameters that --set network.NAME=VALUE of `args` (NULL: none) gives; of several networks one at
 * least has each. Release with network_free. */
DSE_MUST_CHECK enum dse_status input_network(const char *name, const struct cli_args *args,
                                             struct network *network, struct dse_error *err);

/* The same with parameters that do not come from a command line. */
DSE_MUST_CHECK enum dse_status input_network_with(const char *name, const struct network_settings *settings,
                                                  struct network *network, struct dse_error *err);

/* As input_network for the text (`length` bytes) of a schedule in the file `path`: parameters that it says
 * (network_write_name) need not be given, those that it does not say are the file's. DSE_BAD_INPUT: others
 * are given, or it is for another network. */
DSE_MUST_CHECK enum dse_status input_schedule_network(const char *name, const struct cli_args *args,
                                                      const char *path, const char *text, size_t length,
                                                      struct network *network, struct dse_error *err);

/* One network as input_network has it, or the paths of several (n) problem files, which are a list of
 * layers. */
DSE_MUST_CHECK enum dse_status input_problems(const char *const *name, size_t n, const struct cli_args *args,
                                              struct network *network, struct dse_error *err);

/* A Timeloop problem file, a layer of Interstellar's authors, or "NETWORK:LAYER"; batch 0: what the file
 * says, or 1. */
DSE_MUST_CHECK enum dse_status input_problem(const char *name, const struct cli_args *args, uint32_t batch,
                                             struct problem *problem, struct dse_error *err);

/* That --set gives no parameter of a network, where there is no network: `what` is there. DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status input_no_network_set(const struct cli_args *args, const char *what,
                                                    struct dse_error *err);

/* The index of a layer with MACs by name; DSE_BAD_INPUT with the nearest one. */
DSE_MUST_CHECK enum dse_status input_layer(const struct network *network, const char *name, uint32_t *index,
                                           struct dse_error *err);

/* A list of map-space constraints: the file's whole content, or what stands under `constraints` in it, as in
 * a sweep specification; a Timeloop file with constraints; or a schedule of Interstellar's authors. `list`
 * lies in `doc`; release that with yaml_doc_free (also after a failure). */
DSE_MUST_CHECK enum dse_status input_constraints(const char *path, struct yaml_doc *doc,
                                                 const struct ynode **list, struct dse_error *err);

#endif
