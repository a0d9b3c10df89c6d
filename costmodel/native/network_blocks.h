/* Blocks of a network file that repeat (docs/networks.md, "Blocks"). Nobody but the network reader includes
 * this. */
#ifndef COSTMODEL_NATIVE_NETWORK_BLOCKS_H
#define COSTMODEL_NATIVE_NETWORK_BLOCKS_H

#include "base/arena.h"
#include "base/yaml.h"
#include "costmodel/model/network.h"

/* Layers and names that a file may stand for, also those that a condition leaves out. */
enum { EXPAND_STEP_MAX = 200000 };

/* Nodes in the order of the file; of a mapping with keys. */
struct node_list {
    const struct ynode **item; /* (n) owned */
    const char **key;          /* (n) owned; NULL where there is none */
    int *key_line;             /* (n) owned */
    size_t n, item_room, key_room, line_room;
};

DSE_MUST_CHECK enum dse_status node_list_add(struct node_list *list, const char *key, int key_line,
                                             const struct ynode *node, struct dse_error *err);
void node_list_free(struct node_list *list);

/* A mapping or sequence of the list's nodes, at the place of `like`; in `arena`. */
DSE_MUST_CHECK enum dse_status node_list_make(const struct node_list *list, const struct ynode *like,
                                              enum ynode_kind kind, struct arena *arena,
                                              const struct ynode **out, struct dse_error *err);

/* A scalar of that text, at the place of `like`; in `arena`. */
DSE_MUST_CHECK enum dse_status node_make_scalar(const struct ynode *like, const char *text,
                                                struct arena *arena, const struct ynode **out,
                                                struct dse_error *err);

/* Layers first .. first + n - 1 and inputs first_input .. first_input + n_input - 1 of the lists. */
struct network_block {
    const struct ynode *feeds; /* a mapping */
    const char *name;
    uint32_t times;
    uint32_t first, n;
    uint32_t first_input, n_input;
};

/* Put every layer and input of the `block` (n_block, by first layer) times[b] times into `out_layer` and
 * `out_input`, all others once, with the names of producers changed so that each repetition reads the one
 * before. Inputs of blocks come behind the others. DSE_BAD_INPUT: names that are not unique, `feeds` that
 * does not fit; DSE_LIMIT: too many layers. */
DSE_MUST_CHECK enum dse_status network_repeat_blocks(const struct yaml_doc *doc, struct arena *arena,
                                                     const struct node_list *layer,
                                                     const struct node_list *input,
                                                     const struct network_block *block, uint32_t n_block,
                                                     struct node_list *out_layer, struct node_list *out_input,
                                                     struct dse_error *err);

#endif
