/* A network with some layers in parts: along output channels (K), and along input channels (C) with a sum of
 * what the parts make. The parts are layers like any other, so whatever prices or schedules layers takes
 * them; multiply-accumulates, weights and outputs are those of the whole. For layers whose weights are more
 * than a buffer holds (docs/networks.md, "Layers in parts"). */
#ifndef COSTMODEL_MODEL_NETWORK_CUT_H
#define COSTMODEL_MODEL_NETWORK_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/network.h"

/* How one layer is cut. `k`: parts along its output channels. With groups of channels (a convolution's, a
 * matmul's) whole groups go to a part, those that share a second operand together; of more parts than these
 * each group is cut into equally many, so k is a multiple of their number then. `c`: parts along the input
 * channels of each of these, for which none may have several groups. Shares differ by at most one (group,
 * output channel or input channel). */
struct network_cut {
    const char *layer; /* its name */
    uint32_t k, c;     /* at least 1, and one of them more */
    bool joined;       /* k more than 1: who reads the layer reads L#all, a concatenation of its parts */
};

/* The most parts along K that layer l can be cut into: 1 where it cannot. Convolutions, linear layers and
 * transposed convolutions can; sums, products, activations, concatenations, pools, upsamplings and crops; a
 * softmax and a norm by their groups; a matmul where its second operand has a channel, or a row of each
 * channel, for each output channel, or by its groups, where these have whole channels of it. */
uint32_t network_cut_k_max(const struct network *network, uint32_t l);

/* The same along C, when it is cut into k parts along K: of a linear layer that flattens its input in whole
 * channels of that. 1: not at all; a matmul and layers without multiply-accumulates are not. */
uint32_t network_cut_c_max(const struct network *network, uint32_t l, uint32_t k);

/* The next number of parts along K from k on that the layer can be cut into; 0: there is none. */
uint32_t network_cut_k_next(const struct network *network, uint32_t l, uint32_t k);

/* Layer l as its largest part of k x c (c 1: along K only), without producers. k and c are possible. */
struct layer network_cut_largest(const struct network *network, uint32_t l, uint32_t k, uint32_t c);

/* Which part layer l of a network in parts is: "3 of 34"; "2 of 6, 1 of 4" for part 1 along C of part 2 along
 * K. Empty for layers that are whole. Returns `text`. */
char *network_cut_part(const struct network *network, uint32_t l, char *text, size_t size);

/* DSE_BAD_INPUT: there is no such layer, or it cannot be cut so; the message has its name. */
DSE_MUST_CHECK enum dse_status network_cut_check(const struct network *network, const struct network_cut *cut,
                                                 struct dse_error *err);

/* The network with n layers cut (each named once). In the place of layer L stand L#1, L#2, ... along K.
 * Where it is cut along C as well, L#i is the sum (`add`) of L#i.1, L#i.2, ..., each of which makes partial
 * sums of all output channels of L#i, in the machine's words. Who read L reads the parts in their order, or
 * L#all, a concatenation of them, where they are joined. A second operand of a matmul is one layer: one of
 * the parts, or L#all where a matmul needs several. A part that reads some channels of its producers only
 * has layer.skip. out->cut says what was cut. A block whose repetitions are all cut alike is one in `out`,
 * too. Memory from `arena`; `out` borrows from `from` and is not to be released (network_free) itself.
 * DSE_BAD_USAGE: a list of layers; DSE_BAD_INPUT as network_cut_check, or a layer twice; DSE_LIMIT: more
 * than NETWORK_PART_MAX layers, or a name that is too long; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status network_cut(const struct network *from, const struct network_cut *cut,
                                           uint32_t n, struct arena *arena, struct network *out,
                                           struct dse_error *err);

#endif
