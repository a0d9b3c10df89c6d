/* Networks: layers with their operator, dimensions and producers. Read by network_read
 * (readers/network_file.c) from native YAML files (docs/networks.md), or from Timeloop's problem files;
 * plain data afterwards. Everything in a network is owned by its arena
 * and const for readers, so threads may share one.
 *
 * Letters: C input channels, K output channels, P and Q output height and width, R and S filter height and
 * width, H and W input height and width. C and K are totals over all groups.
 * Two-element arrays are vertical, horizontal. */
#ifndef COSTMODEL_MODEL_NETWORK_H
#define COSTMODEL_MODEL_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/problem.h"

/* Documented limits; the reader refuses what lies beyond them. */
enum {
    NETWORK_LAYER_MAX = 10000,
    NETWORK_PART_MAX = 1 << 20, /* layers of a network in parts (network_cut.h) */
    NETWORK_DIM_MAX = 1 << 24,  /* any dimension of a layer */
    NETWORK_STEP_MAX = 65535,   /* stride, padding, dilation */
    NETWORK_COUNT_MAX = 1000000 /* occurrences of one layer */
};

enum layer_type {
    LAYER_CONV,   /* also "depthwise", which is a convolution with as many groups as input channels */
    LAYER_LINEAR, /* fully connected; P (and Q) count rows such as tokens */
    LAYER_MATMUL, /* both operands are activations; the second one comes from weight_producer */
    LAYER_POOL,
    LAYER_ADD,
    LAYER_MUL,
    LAYER_CONCAT,
    LAYER_NORM,
    LAYER_SOFTMAX,
    LAYER_ACTIVATION,
    LAYER_TRANSPOSE,
    LAYER_EMBEDDING,      /* C rows of K words; one row per input index */
    LAYER_EINSUM,         /* any loop nest, given in the file */
    LAYER_CONV_TRANSPOSE, /* transposed convolution (up-convolution) */
    LAYER_UPSAMPLE,       /* every element stride[0] x stride[1] times (nearest neighbour) */
    LAYER_CROP,           /* rows pad[0] .. pad[0] + P - 1 and columns pad[1] .. pad[1] + Q - 1 */
    LAYER_TYPE_COUNT
};

/* Producer numbers: 0 and up are layers of the network, -1 - i is network input i. */
enum { LAYER_NO_PRODUCER = INT32_MIN };

struct layer {
    const char *name;
    enum layer_type type;
    int line; /* in the file, for messages */
    uint32_t c, k, p, q, r, s, h, w;
    uint32_t stride[2]; /* upsample: the factors */
    uint32_t pad[4];    /* top, left, bottom, right; of a transposed convolution: cut off its output */
    uint32_t dilation[2];
    bool centred;    /* crop: the file gives no offset */
    uint32_t groups; /* 1 = none; divides c and k */
    /* matmul: so many groups in a row have one second operand, as heads of grouped-query attention; divides
     * groups. 0: every group its own */
    uint32_t share;
    uint32_t count;  /* occurrences; 1 in graphs */
    uint32_t batch;  /* of this layer, where nobody says another; 0: the file does not say; 0 in graphs */
    char permute[4]; /* transpose: output (K, P, Q) in letters of the input, "HCW"; else "" */
    uint32_t n_producer;
    const int32_t *producer; /* (n_producer) in file order */
    uint32_t n_operand; /* groups of producers whose channels together fill C; 2 or more for add and mul */
    int32_t weight_producer; /* matmul: where the second operand comes from; else LAYER_NO_PRODUCER */
    /* Only in parts of a cut layer (network_cut.h): channels of its producers, and of the second operand, in
     * front of those that it reads, which need not be all behind them either. */
    uint32_t skip[2];
    const uint32_t *operand_skip;      /* (n_operand) skip[0] of each, where there are several; NULL: 0 */
    uint32_t second_row, n_second_row; /* rows of the second operand from that one on; 0 of them: all */
    /* LAYER_EINSUM only: the loop nest as in the file, or in that of Timeloop (problem name = layer name) */
    const struct problem *einsum;
};

/* An activation that comes from outside, per sample. */
struct network_input {
    const char *name;
    uint32_t c, h, w;
};

/* One of several networks that were joined. */
struct network_part {
    const char *name; /* before the dot in its layers' names */
    uint32_t first_layer, n_layer;
};

/* Layers that the file has once, behind one another: layer first_layer + r * n_layer + i is layer i of
 * repetition r. All repetitions are the same but for names and where their inputs come from. */
struct network_repeat {
    const char *name; /* of the block in the file; layers are called "NAME1.conv" */
    uint32_t first_layer, n_layer, times;
};

/* A parameter that the network was read with. */
struct network_parameter {
    const char *name;
    const char *value;
    const char *accepted; /* "prefill, decode" or "from 1 to 4096" */
    bool is_default;      /* the value is the file's own */
};

struct network {
    const char *name;
    const char *title;  /* "" when the file has none */
    const char *source; /* "" when the file has none */
    const char *path;   /* as given to network_read */
    bool is_graph;      /* false: a list of layers (kind: layers) */
    /* Of a list: why it is one although its layers belong together; it has no graph then. NULL
     * or "" otherwise */
    const char *not_graph;
    uint32_t published_batch; /* the batch the source used; 0 when the file does not say */
    uint32_t n_input;
    const struct network_input *input; /* (n_input) */
    uint32_t n_layer;
    const struct layer *layer; /* (n_layer) in file order */
    /* (n_layer) layer numbers, producers before consumers; file order where that allows */
    const uint32_t *order;
    uint32_t n_part;                 /* 0: it is no joined one */
    const struct network_part *part; /* (n_part) */
    uint32_t n_repeat;
    const struct network_repeat *repeat; /* (n_repeat) by first layer; 2 times or more */
    bool unroll;                         /* the file wants them searched one by one all the same */
    uint32_t n_cut;                      /* 0: no layer is in parts */
    const struct network_cut *cut;       /* (n_cut) what made them: network_cut.h */
    uint32_t n_parameter; /* that can be set: those that the file declares and does not set itself */
    const struct network_parameter *parameter; /* (n_parameter) */
    struct arena arena;
};

/* A value for a parameter of a network, and where it stands, for messages; `file` NULL: nowhere. */
struct network_set {
    const char *name;
    const char *value;
    const char *file;
    int line;
    bool by_file; /* a network file that is another one sets it: nobody else can */
};

/* All of them (n, no name twice); borrowed. */
struct network_settings {
    const struct network_set *set;
    size_t n;
    bool may_lack; /* names that the network does not have are passed over, but for those by_file */
};

/* Read and check a network: a native file; a Timeloop problem file, which is a list of one layer; or a folder
 * of those, a list in the order of their names. On failure `network` needs no release. DSE_IO: cannot
 * be read; DSE_BAD_INPUT: unknown key or type, missing or zero dimension, duplicate name, unknown producer,
 * cycle, channels or sizes that do not fit; DSE_LIMIT: beyond the limits above or those of problem.h. All
 * with file and line. */
DSE_MUST_CHECK enum dse_status network_read(const char *path, struct network *network, struct dse_error *err);

/* The same from memory; `name` stands for the file name in messages. */
DSE_MUST_CHECK enum dse_status network_parse(const char *name, const char *bytes, size_t length,
                                             struct network *network, struct dse_error *err);

/* Serves the files that a network names under `problems` and `of`, with the errors of network_read: the bytes
 * of `path`, which live until the network is read. With what is to be set of the network's parameters. */
struct network_files {
    enum dse_status (*get)(void *user, const char *path, const char **bytes, size_t *length,
                           struct dse_error *err);
    void *user;
    struct dse_faults *faults; /* NULL: the first error ends the reading */
    struct network_settings settings;
};

/* network_parse with problem files from `files`; their paths are relative to the folder of `name`. With
 * files->faults errors are noted there; where some were, DSE_OK is returned all the same, and there is no
 * network. */
DSE_MUST_CHECK enum dse_status network_parse_with(const char *name, const char *bytes, size_t length,
                                                  const struct network_files *files, struct network *network,
                                                  struct dse_error *err);

/* network_read with parameters set (NULL: none) and errors to `faults` (NULL: the first ends it), as
 * network_parse_with. */
DSE_MUST_CHECK enum dse_status network_read_with(const char *path, const struct network_settings *settings,
                                                 struct dse_faults *faults, struct network *network,
                                                 struct dse_error *err);
void network_free(struct network *network);

/* Several networks (n, 1 at least) side by side as one, which shares nothing with them: "a+b", with layers
 * "a.conv1"; a second network of one name is "a-2". On failure `out` needs no release. DSE_BAD_INPUT: graphs
 * and lists of layers together; DSE_LIMIT: too many layers, a name too long. */
DSE_MUST_CHECK enum dse_status network_join(const struct network *part, uint32_t n, struct network *out,
                                            struct dse_error *err);

/* That the network, a joined one, has every parameter of `settings` in one of its parts; the message names
 * one that it lacks, at its place. DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status network_has_parameters(const struct network *network,
                                                      const struct network_settings *settings,
                                                      struct dse_error *err);

/* The word of a type in files ("conv"); never NULL. */
const char *layer_type_text(enum layer_type type);

/* Index of the layer of that name, or -1. */
int network_find_layer(const struct network *network, const char *name);

/* Whether the layer multiplies and accumulates (conv, conv_transpose, linear, matmul, einsum), i.e.
 * whether it is a mapper's problem. */
bool layer_has_macs(const struct layer *layer);

/* Multiply-accumulates of one occurrence for `batch` samples: K C/groups R S P Q batch, of a transposed
 * convolution K C/groups R S H W batch (every input element meets every tap); 0 for a layer without. An
 * einsum without dimension N counts once per sample. Saturates at UINT64_MAX. ResNet-50 conv1, batch 1:
 * 118,013,952. */
uint64_t layer_macs(const struct layer *layer, uint32_t batch);

/* Parameters of one occurrence, without biases: K C/groups R S, for an embedding C K; 0 for a matmul, whose
 * second operand is an activation. Einsum: its tensors of role weights. */
uint64_t layer_weight_words(const struct layer *layer);

/* Whether the stride of a transposed convolution divides its filter, without dilation: then all its output
 * rows have equally many taps, R / stride, and it is an ordinary convolution of H x W positions to
 * stride_v stride_h times the channels (W. Shi et al., "Is the deconvolution layer the same as a
 * convolutional layer?", 2016). */
bool layer_is_subpixel(const struct layer *layer);

/* Words of the second operand of a conv, linear or matmul per sample: K C/groups R S, of a matmul whose
 * groups share theirs that divided by `share`; 0 for other types. */
uint64_t layer_second_operand_words(const struct layer *layer);

/* Channels of its producers in front of those that it reads as operand o. */
static inline uint32_t layer_skip(const struct layer *layer, uint32_t o)
{
    return layer->operand_skip ? layer->operand_skip[o] : layer->skip[0];
}

/* How many different second operands the layer's groups have: groups / share. Those that share one are rows
 * of one product: the loop nest of a layer has Q share columns. */
uint32_t layer_operand_groups(const struct layer *layer);

/* Sums over all layers times their count; saturate at UINT64_MAX. */
uint64_t network_macs(const struct network *network, uint32_t batch);
uint64_t network_weight_words(const struct network *network);

/* The batch that all layers of the network have by their file, 1 where it says none; 0 when they differ. */
uint32_t network_batch(const struct network *network);

/* How the text of a schedule says of what network it is: "network: gpt2" and, in a line of its own, the
 * parameters that have not the file's own values, "parameters: {size: xl}". */
void network_write_name(const struct network *network, struct text_buffer *out);

/* Whether the two layers are the same loop nest (layer_problem gives equal problems up to the name for every
 * batch, also the own one), so that one mapping serves both. Padding and names do not matter; a linear layer
 * equals a 1x1 convolution. False when either has no multiply-accumulates. */
bool layer_same_problem(const struct layer *a, const struct layer *b);

/* The loop nest of one occurrence of `layer` for `batch` samples (0: its own batch, or 1), with `out->name`
 * the layer's name. Of a matmul with `share` G is layer_operand_groups and Q is Q share.
 *
 * conv, linear and matmul: dimensions R S P Q C K N, with G in front when groups > 1 (C and K are then per
 * group), and
 *   Weights [G] C K R S              (matmul: N [G] C K R S, as every sample has its own second operand)
 *   Inputs  N [G] C (P stride_v + R dilation_v) (Q stride_h + S dilation_h)
 *   Outputs N [G] K P Q
 * conv_transpose: where layer_is_subpixel that convolution, with R / stride, S / stride, H, W and K stride_v
 * stride_h for R, S, P, Q and K; else Inputs and Outputs change places, with P and Q running over the inputs:
 *   Inputs  N [G] C P Q
 *   Outputs N [G] K (P stride_v + R dilation_v) (Q stride_h + S dilation_h)
 * as in Timeloop's cnn-layer shape; padding is not modelled, the input extent is (P-1) stride + (R-1)
 * dilation + 1. einsum: as in the file, the bound of dimension N times `batch`; without a dimension N only
 * batch 1 is possible.
 *
 * DSE_BAD_USAGE: a layer without multiply-accumulates, or batch > 1 for an einsum without N.
 * DSE_LIMIT: beyond the limits of problem.h. */
DSE_MUST_CHECK enum dse_status layer_problem(const struct layer *layer, uint32_t batch, struct problem *out,
                                             struct dse_error *err);

#endif
