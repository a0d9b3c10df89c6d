/* libdse: the cost model and the searches of dse in a program of your own. Link with -ldse (pkg-config: dse);
 * plotting/dse.py is the same for Python. docs/python.md shows what it is for.
 *
 *     struct dse_machine *machine;
 *     struct dse_network *network;
 *     struct dse_result *result;
 *     struct dse_field field;
 *     const char *set[] = {"DRAM.bandwidth", "10 GB/s"};
 *     struct dse_search search = {.engine = "cosa"};
 *     char error[DSE_TEXT_MAX];
 *     if (dse_machine_open("simba", set, 1, &machine, error, sizeof error) ||
 *         dse_network_open("resnet50", NULL, 0, &network, error, sizeof error) ||
 *         dse_map(machine, network, "conv1", &search, &result, error, sizeof error))
 *         return fprintf(stderr, "%s\n", error);
 *     for (size_t k = 0; dse_result_field(result, 0, k, &field); k++)
 *         printf("%s %s %.17g\n", field.name, field.text ? field.text : "", field.number);
 *
 * Errors. A function that returns int returns 0 or an enum dse_code, and then `error` (error_size bytes, may
 * be NULL) has one sentence, which names the file and line to blame, if there is one; what it should have
 * made is NULL or left alone. Wrong arguments are such errors, too: NULL where something is needed, a row of
 * another width, a name that does not exist ("did you mean ...").
 *
 * Ownership. What a function opens is the caller's, who frees it with the function of its name; NULL is
 * freed as well. No handle needs another one to live on: a machine may be freed while its layers are used.
 * Texts and arrays that a handle hands out live as long as the handle.
 *
 * Threads. Handles never change once they are open: any number of threads may use one at a time. What
 * evaluations need besides, a scratch, is of one thread at a time. The library has no state of its own, but
 * for one thing: when it is loaded it switches off the handler of GSL that would abort the process.
 * Searches need 1 MiB of stack.
 *
 * Files are looked for as the program dse does: by path, or by name in ./experiments, then among the data
 * that was installed with the library. */
#ifndef DSE_LIBRARY_DSE_H
#define DSE_LIBRARY_DSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DSE_PUBLIC __attribute__((visibility("default")))

/* Enough for every error and every reason. */
#define DSE_TEXT_MAX 2048

enum dse_code {
    DSE_CODE_OK = 0,
    DSE_CODE_INPUT = 1,     /* what was given to read is wrong */
    DSE_CODE_USAGE = 2,     /* what is asked for does not go together */
    DSE_CODE_IO = 3,        /* a file cannot be read */
    DSE_CODE_MEMORY = 4,    /* out of memory */
    DSE_CODE_LIMIT = 5,     /* beyond a documented limit */
    DSE_CODE_CANCELLED = 6, /* the cancel flag was set */
    DSE_CODE_INTERNAL = 7   /* a bug: a check of dse's own has failed */
};

struct dse_machine; /* an accelerator */
struct dse_network; /* layers, with or without a graph */
struct dse_layer;   /* one layer on one machine, compiled for an accounting */
struct dse_scratch; /* working memory of evaluations; of one thread at a time */
struct dse_result;  /* what a search has found */

/* The version of the library, "0.1". The number in its soname changes when this header does so that programs
 * have to be compiled anew. */
DSE_PUBLIC const char *dse_version(void);

/* The name of metric number i, from 0, with its unit in it ("latency_s", "energy_j", "edp_js", ...); NULL
 * behind the last one. `unit` ("s", "J s", "1"), `sentence` (what it is, without a full stop) and `better`
 * (-1: less is better, 1: more, 0: neither) are filled where they are not NULL. */
DSE_PUBLIC const char *dse_metric(size_t i, const char **unit, const char **sentence, int *better);

/* ---- machines and networks ---- */

/* Open an architecture by name ("simba") or path (native, Timeloop's or Interstellar's file). `set` (2 n_set,
 * may be NULL without any) has pairs of texts: the path of a quantity as axes of sweeps have it, and its
 * value, {"DRAM.bandwidth", "10 GB/s"}. Of Timeloop's files "ert" and "art" name reference tables in files of
 * their own. */
DSE_PUBLIC int dse_machine_open(const char *name, const char *const *set, size_t n_set,
                                struct dse_machine **machine, char *error, size_t error_size);
DSE_PUBLIC void dse_machine_free(struct dse_machine *machine);

/* Open a network by name ("resnet50", "resnet50+googlenet") or path (native file, ONNX, Timeloop's problem
 * files, Interstellar's). `set` (2 n_set) has pairs: a parameter of the network, "sequence" or
 * "network.sequence", and its value. */
DSE_PUBLIC int dse_network_open(const char *name, const char *const *set, size_t n_set,
                                struct dse_network **network, char *error, size_t error_size);

/* Read a network from memory, in the native format (docs/networks.md), `length` bytes of YAML. For a problem
 * that is given by its sizes:
 * "{network: mine, kind: layers, layers: [{name: a, type: conv, C: 64, K: 64, P: 56, Q: 56, R: 3, S: 3}]}" */
DSE_PUBLIC int dse_network_parse(const char *text, size_t length, struct dse_network **network, char *error,
                                 size_t error_size);
DSE_PUBLIC void dse_network_free(struct dse_network *network);

/* The name of layer number i, from 0, in the file's order; NULL behind the last one. `type` ("conv", "pool"),
 * `count` (how often the network has it) and `mac` (multiply-accumulates of one, for the batch that its file
 * says, else 1; 0: it has none, so that there is nothing to map) are filled where they are not NULL. */
DSE_PUBLIC const char *dse_network_layer(const struct dse_network *network, size_t i, const char **type,
                                         uint64_t *count, uint64_t *mac);

/* ---- one layer, and many mappings of it ---- */

/* How to see a layer. NULL or all zero: as `dse eval` does without options. */
struct dse_layer_options {
    uint32_t batch;         /* samples; 0: what the network says, else 1 */
    const char *accounting; /* what mappings cost: `dse list accountings`; NULL: the machine's */
    const char *const *pad; /* (2 n_pad) {"P", "54"}: loop bounds that an engine has enlarged */
    size_t n_pad;
};

/* Compile a layer for a machine. `name` NULL: the only layer that has multiply-accumulates. A machine larger
 * than its max_area is an error. */
DSE_PUBLIC int dse_layer_open(const struct dse_machine *machine, const struct dse_network *network,
                              const char *name, const struct dse_layer_options *options,
                              struct dse_layer **layer, char *error, size_t error_size);
DSE_PUBLIC void dse_layer_free(struct dse_layer *layer);

/* What a layer and its rows look like. */
struct dse_shape {
    const char *name;       /* of the layer */
    const char *accounting; /* what prices it */
    uint32_t n_dim;
    const char *const *dim; /* (n_dim) "R", "S", "P", ... */
    const uint32_t *bound;  /* (n_dim) loop bounds */
    uint32_t n_tensor;
    const char *const *tensor; /* (n_tensor) "Weights", ... */
    uint32_t n_level;
    const char *const *level; /* (n_level) storage levels, innermost first */
    const uint64_t *fanout_x; /* (n_level) columns of instances below a level: what its loops on X may use */
    const uint64_t *fanout_y; /* (n_level) rows */
    const uint32_t *keeps;    /* (n_level) bit t: tensor t may be kept there */
    uint32_t width;           /* numbers of a row: n_level * (4 * n_dim + 6) */
};

/* Of the layer; NULL for NULL. */
DSE_PUBLIC const struct dse_shape *dse_layer_shape(const struct dse_layer *layer);

/* Rows. A mapping as int32_t numbers, level by level, innermost first; for each level 4 * n_dim + 6 of them:
 *
 *     n_dim   temporal factor of each dimension, at least 1
 *     n_dim   spatial factor of each dimension: over the instances below the level
 *     n_dim   order of the temporal loops: numbers of dimensions, innermost first; a permutation
 *     n_dim   order of the spatial loops, the same
 *     1       split: the first so many of the spatial order lie on X, the others on Y
 *     1       keep: bit t set, tensor t is kept here, else bypassed
 *     1       further: bit i, i > split, position i of the spatial order begins another dimension of the
 *             array (accounting interstellar only); else 0
 *     1       no_temporal_reuse: bit t set, every refill of tensor t is a whole one; 0 unless wanted
 *     1       no_link_transfer: bit t set, neighbours do not hand tensor t on
 *     1       no_multicast: bit t set, neither multicast nor spatial reduction of tensor t
 *
 * All factors of a dimension, of all levels, multiply to its bound. The order of loops of one iteration does
 * not matter. The outermost level keeps every tensor (of a Timeloop file it may bypass some, as there). */

/* Working memory for evaluations of that layer, and of others of the same machine and accounting. */
DSE_PUBLIC int dse_scratch_new(const struct dse_layer *layer, struct dse_scratch **scratch, char *error,
                               size_t error_size);
DSE_PUBLIC void dse_scratch_free(struct dse_scratch *scratch);

/* Price n mappings: `row` (n, width), `metric` (m) numbers of dse_metric, NULL: the first m. Fills `value`
 * (n, m), NaN where a metric is not known, and everywhere in a row of a mapping that does not fit, or that
 * is none (dse_explain says why); `n_fit` (may be NULL) is how many do. bound_*_ratio are over the bounds of
 * dse_bounds, where they hold. The numbers are those of `dse sample`, and of `dse eval`, which adds energies
 * up in another order: the last digit may differ. */
DSE_PUBLIC int dse_evaluate(const struct dse_layer *layer, struct dse_scratch *scratch, size_t n,
                            const int32_t *row, size_t width, const uint32_t *metric, size_t m, double *value,
                            size_t *n_fit, char *error, size_t error_size);

/* Why a mapping does not fit, in one sentence, "GlobalBuffer needs 133,888 B for ..., has 131,072 B"; "" when
 * it does. */
DSE_PUBLIC int dse_explain(const struct dse_layer *layer, const int32_t *row, size_t width, char *reason,
                           size_t reason_size, char *error, size_t error_size);

/* Read the text of a mapping (`length` bytes), as `dse eval` does and `dse map --format yaml` prints it, into
 * `row` (width). A text that leaves iterations out is an error; whether it fits is not asked. */
DSE_PUBLIC int dse_mapping_read(const struct dse_layer *layer, const char *text, size_t length, int32_t *row,
                                size_t width, char *error, size_t error_size);

/* Write a mapping as text: `form` "yaml" (NULL; what dse_mapping_read reads), "line" (the same in one line),
 * "nest" (loops, for people), "gpu" or "halide" (where there is one). `text` (size) gets as much as fits, and
 * a 0; `*length` (may be NULL) is the whole length without it. */
DSE_PUBLIC int dse_mapping_write(const struct dse_layer *layer, const int32_t *row, size_t width,
                                 const char *form, char *text, size_t size, size_t *length, char *error,
                                 size_t error_size);

/* Draw n valid mappings at random into `row` (n, width): those that `dse sample -n N -s SEED` draws.
 * `search_bypass` not 0: tensors may also be bypassed where the machine would keep them. `*n_drawn` may be
 * less, where valid ones are very rare. `cancel` as of struct dse_search. */
DSE_PUBLIC int dse_draw(const struct dse_layer *layer, size_t n, uint64_t seed, int search_bypass,
                        const volatile int *cancel, int32_t *row, size_t width, size_t *n_drawn, char *error,
                        size_t error_size);

/* What no mapping of the layer can be below, in `bound`: latency in s, energy in J, energy-delay product in
 * J s; 0 where nothing is known. A search proves more: bound_edp_ratio of its result. */
DSE_PUBLIC int dse_bounds(const struct dse_layer *layer, double bound[3], char *error, size_t error_size);

/* ---- searches ---- */

/* How to search. All zero: as `dse map` does without options. */
struct dse_search {
    const char *engine;        /* of `dse list engines`, a mapper or a scheduler; NULL: descent */
    const char *objective;     /* latency, energy, edp (NULL), ed2p, energy^n*delay^m, pareto */
    const char *accounting;    /* NULL: the engine's first that takes the machine */
    const char *bound;         /* effort for lower bounds: auto (NULL), quick, strong */
    const char *measure;       /* also "noc", "cosa" or "noc,cosa"; NULL: nothing */
    const char *constraints;   /* path of a file of constraints; NULL: none */
    const char *const *option; /* (2 n_option) options of the engine: {"samples", "100"} */
    size_t n_option;
    uint64_t seed;
    uint64_t max_evaluations;   /* per layer, or of a schedule; 0: the engine's own rule */
    double max_seconds;         /* the same; results then depend on the machine */
    uint32_t batch;             /* 0: what the network says, else 1 */
    uint32_t n_thread;          /* 0: the processors that this process may use */
    const volatile int *cancel; /* an int that any thread sets to another value than 0 to end the search
                                   soon, with DSE_CODE_CANCELLED; NULL: none */
};

/* Search as `dse map` does: the best mapping of one layer (`layer` NULL: of all layers), or, with an engine
 * that is a scheduler, a schedule of the whole network. `search` NULL: all zero. That nothing was found is no
 * error but the result's status. */
DSE_PUBLIC int dse_map(const struct dse_machine *machine, const struct dse_network *network,
                       const char *layer, const struct dse_search *search, struct dse_result **result,
                       char *error, size_t error_size);
DSE_PUBLIC void dse_result_free(struct dse_result *result);

/* How many rows the result has: one for a schedule, else one for each layer, or several, the fastest first,
 * with the objective pareto. Row number dse_result_count is their total: once each, as often as the network
 * has it. 0 for NULL. */
DSE_PUBLIC size_t dse_result_count(const struct dse_result *result);

/* A column of a row. */
struct dse_field {
    const char *name; /* as in result files: "edp_js", "stop", "mapping" (docs/results.md) */
    const char *unit; /* "J s"; "" for texts */
    double number;    /* NaN: missing, or a text */
    const char *text; /* NULL: missing, or a number */
    int is_text;
};

/* Column number k of row i: layer, status (ok, infeasible, timeout, failed), then those of result files, with
 * what was measured and what only the engine knows. The text of a schedule, and of a mapping in one line, is
 * column `mapping`. 1, or 0 behind the last column and for rows that are not there. */
DSE_PUBLIC int dse_result_field(const struct dse_result *result, size_t i, size_t k, struct dse_field *field);

/* The mapping of row i as numbers: fills `row` (width). Where the column `padded` is not empty, it is one of
 * the layer opened with this padding. DSE_CODE_USAGE when the row has none. */
DSE_PUBLIC int dse_result_mapping(const struct dse_result *result, size_t i, int32_t *row, size_t width,
                                  char *error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
