/* One layer of a native network file: which keys its type has, what they must be, and their values. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/native/network_parts.h"

enum { OWNER_MAX = 112, WHAT_MAX = 200 };

/* Keys a layer may have, as bits. */
enum layer_key {
    KEY_C = 1 << 0,
    KEY_K = 1 << 1,
    KEY_PQ = 1 << 2,
    KEY_RS = 1 << 3,
    KEY_HW = 1 << 4,
    KEY_WINDOW = 1 << 5, /* stride, pad, dilation */
    KEY_GROUPS = 1 << 6,
    KEY_WEIGHTS_FROM = 1 << 7,
    KEY_PERMUTE = 1 << 8,
    KEY_EINSUM = 1 << 9,
    KEY_FACTOR = 1 << 10,
    KEY_OFFSET = 1 << 11,
    KEY_SHARE = 1 << 12
};

struct key_row {
    unsigned bit; /* 0: every layer */
    const char *key;
};

static const struct key_row key_table[] = {
    {0, "name"},
    {0, "type"},
    {0, "from"},
    {0, "count"},
    {0, "batch"},
    {KEY_C, "C"},
    {KEY_K, "K"},
    {KEY_PQ, "P"},
    {KEY_PQ, "Q"},
    {KEY_RS, "R"},
    {KEY_RS, "S"},
    {KEY_HW, "H"},
    {KEY_HW, "W"},
    {KEY_WINDOW, "stride"},
    {KEY_WINDOW, "pad"},
    {KEY_WINDOW, "dilation"},
    {KEY_GROUPS, "groups"},
    {KEY_WEIGHTS_FROM, "weights_from"},
    {KEY_SHARE, "share"},
    {KEY_PERMUTE, "permute"},
    {KEY_FACTOR, "factor"},
    {KEY_OFFSET, "offset"},
    {KEY_EINSUM, "dims"},
    {KEY_EINSUM, "tensors"},
};

/* The words a file may write, what they become, and what must or may be said of them. */
struct type_row {
    const char *word;
    enum layer_type type;
    unsigned keys;
    bool needs_k; /* else K is C when absent */
    bool keeps_c; /* K must equal C */
};

#define KEYS_POINT (KEY_C | KEY_K | KEY_PQ)
static const struct type_row type_table[] = {
    {"conv", LAYER_CONV, KEYS_POINT | KEY_RS | KEY_HW | KEY_WINDOW | KEY_GROUPS, true, false},
    {"depthwise", LAYER_CONV, KEYS_POINT | KEY_RS | KEY_HW | KEY_WINDOW, false, false},
    {"linear", LAYER_LINEAR, KEYS_POINT, true, false},
    {"matmul", LAYER_MATMUL, KEYS_POINT | KEY_GROUPS | KEY_WEIGHTS_FROM | KEY_SHARE, true, false},
    {"pool", LAYER_POOL, KEYS_POINT | KEY_RS | KEY_HW | KEY_WINDOW, false, true},
    {"add", LAYER_ADD, KEYS_POINT, false, true},
    {"mul", LAYER_MUL, KEYS_POINT, false, true},
    {"concat", LAYER_CONCAT, KEYS_POINT, false, true},
    {"norm", LAYER_NORM, KEYS_POINT | KEY_GROUPS, false, true},
    {"softmax", LAYER_SOFTMAX, KEYS_POINT | KEY_GROUPS, false, true},
    {"activation", LAYER_ACTIVATION, KEYS_POINT, false, true},
    {"transpose", LAYER_TRANSPOSE, KEYS_POINT | KEY_PERMUTE, true, false},
    {"embedding", LAYER_EMBEDDING, KEYS_POINT, true, false},
    {"einsum", LAYER_EINSUM, KEY_EINSUM, false, false},
    {"conv_transpose", LAYER_CONV_TRANSPOSE, KEYS_POINT | KEY_RS | KEY_HW | KEY_WINDOW | KEY_GROUPS, true,
     false},
    {"upsample", LAYER_UPSAMPLE, KEYS_POINT | KEY_FACTOR, false, true},
    {"crop", LAYER_CROP, KEYS_POINT | KEY_HW | KEY_OFFSET, false, true},
};
enum {
    N_TYPE = sizeof(type_table) / sizeof(type_table[0]),
    N_KEY = sizeof(key_table) / sizeof(key_table[0])
};

enum dse_status network_require(const struct network_reader *reader, const struct ynode *node,
                                const char *what, const char *key, struct dse_error *err)
{
    const struct ynode *value = NULL;
    return yaml_is_misspelt(reader->doc, node, key) ? DSE_OK
                                                    : yaml_require(reader->doc, node, what, key, &value, err);
}

enum dse_status network_read_dim(const struct network_reader *reader, const struct ynode *parent,
                                 const char *owner, const char *key, uint32_t missing, uint32_t *value,
                                 struct dse_error *err)
{
    const struct ynode *node = yaml_find(parent, key);
    *value = missing;
    if (node == NULL)
        return DSE_OK;
    char what[WHAT_MAX];
    snprintf(what, sizeof(what), "%.150s: %s", owner, key);
    uint64_t number = 0;
    DSE_TRY(yaml_u64(reader->doc, node, what, 1, NETWORK_DIM_MAX, &number, err));
    *value = (uint32_t)number;
    return DSE_OK;
}

/* One number for both directions, [vertical, horizontal], or with n_value 4 also [top, left, bottom, right].
 * */
static enum dse_status read_pair(const struct network_reader *reader, const struct ynode *parent,
                                 const char *owner, const char *key, uint64_t lowest, uint32_t n_value,
                                 uint32_t *value, struct dse_error *err)
{
    const struct ynode *node = yaml_find(parent, key);
    for (uint32_t i = 0; i < n_value; i++)
        value[i] = (uint32_t)lowest;
    if (node == NULL)
        return DSE_OK;
    char what[WHAT_MAX];
    snprintf(what, sizeof(what), "%.150s: %s", owner, key);
    bool single = node->kind == YNODE_SCALAR;
    size_t n_given = single ? 1 : node->n_item;
    if (node->kind == YNODE_MAPPING || (!single && n_given != 2 && n_given != n_value))
        return yaml_fail(reader->doc, node, err, "%s is one number, [vertical, horizontal]%s", what,
                         n_value == 4 ? " or [top, left, bottom, right]" : "");
    for (uint32_t i = 0; i < n_value; i++) {
        uint64_t number = 0;
        const struct ynode *item = single ? node : node->item[i % n_given];
        DSE_TRY(yaml_u64(reader->doc, item, what, lowest, NETWORK_STEP_MAX, &number, err));
        value[i] = (uint32_t)number;
    }
    return DSE_OK;
}

static enum dse_status read_permute(const struct network_reader *reader, const struct ynode *parent,
                                    const char *owner, struct layer *layer, struct dse_error *err)
{
    const struct ynode *node = NULL;
    const char *text = NULL;
    DSE_TRY(yaml_require(reader->doc, parent, owner, "permute", &node, err));
    DSE_TRY(yaml_text(reader->doc, node, "permute", &text, err));
    if (strlen(text) != 3 || strchr(text, 'C') == NULL || strchr(text, 'H') == NULL ||
        strchr(text, 'W') == NULL)
        return yaml_fail(
            reader->doc, node, err,
            "%s: permute \"%.20s\" is not an order of C, H and W; \"HCW\" makes K = H, P = C, Q = W", owner,
            text);
    memcpy(layer->permute, text, 4);
    return DSE_OK;
}

static enum dse_status find_type(const struct network_reader *reader, const struct ynode *node,
                                 const char *owner, const struct type_row **row, struct dse_error *err)
{
    const char *word[N_TYPE];
    for (size_t i = 0; i < N_TYPE; i++)
        word[i] = type_table[i].word;
    const struct ynode *type = NULL;
    char what[WHAT_MAX];
    snprintf(what, sizeof(what), "%.110s: type", owner);
    DSE_TRY(yaml_require(reader->doc, node, owner, "type", &type, err));
    size_t index = 0;
    DSE_TRY(yaml_choice(reader->doc, type, what, word, N_TYPE, &index, err));
    *row = &type_table[index];
    return DSE_OK;
}

static enum dse_status check_layer_keys(const struct network_reader *reader, const struct ynode *node,
                                        const char *owner, const struct type_row *row, struct dse_error *err)
{
    const char *allowed[N_KEY];
    size_t n_allowed = 0;
    for (size_t i = 0; i < N_KEY; i++)
        if (key_table[i].bit == 0 || (key_table[i].bit & row->keys) != 0)
            allowed[n_allowed++] = key_table[i].key;
    char what[WHAT_MAX];
    snprintf(what, sizeof(what), "%.110s of type %s", owner, row->word);
    DSE_TRY(yaml_check_keys(reader->doc, node, what, allowed, n_allowed, err));
    const struct ynode *from = yaml_find(node, "from");
    const struct ynode *count = yaml_find(node, "count"), *batch = yaml_find(node, "batch");
    const struct ynode *weights_from = yaml_find(node, "weights_from");
    if (reader->net->is_graph && count != NULL)
        return yaml_fail(reader->doc, count, err,
                         "%s: count is for lists of layers (kind: layers); in a graph write every layer",
                         owner);
    if (reader->net->is_graph && batch != NULL)
        return yaml_fail(
            reader->doc, batch, err,
            "%s: batch is for lists of layers (kind: layers); a graph has one for all (-b, or batch "
            "in a sweep)",
            owner);
    if (!reader->net->is_graph && (from != NULL || weights_from != NULL))
        return yaml_fail(
            reader->doc, from != NULL ? from : weights_from, err,
            "%s: a list of layers (kind: layers) has no producers; drop %s, or drop kind: layers", owner,
            from != NULL ? "from" : "weights_from");
    return DSE_OK;
}

static enum dse_status check_channels(const struct network_reader *reader, const struct ynode *node,
                                      const char *owner, const struct type_row *row, struct layer *layer,
                                      struct dse_error *err)
{
    if (row->keeps_c && layer->k != layer->c)
        return yaml_fail(reader->doc, yaml_find(node, "K"), err,
                         "%s: K is %u but C is %u; a layer of type %s keeps its channels (leave K out)",
                         owner, layer->k, layer->c, row->word);
    if (layer->c % layer->groups != 0 || layer->k % layer->groups != 0)
        return yaml_fail(reader->doc, node, err, "%s: C %u and K %u must both be multiples of %s %u", owner,
                         layer->c, layer->k, strcmp(row->word, "depthwise") == 0 ? "C" : "groups",
                         layer->groups);
    if (layer->share && layer->groups % layer->share != 0)
        return yaml_fail(reader->doc, yaml_find(node, "share"), err,
                         "%s: groups %u must be a multiple of share %u", owner, layer->groups, layer->share);
    if ((uint64_t)layer->share * layer->q > NETWORK_DIM_MAX)
        return yaml_fail(reader->doc, yaml_find(node, "share"), err, "%s: share %u times Q %u is beyond %d",
                         owner, layer->share, layer->q, NETWORK_DIM_MAX);
    return DSE_OK;
}

/* Everything of a layer but its name, producers and derived sizes. */
static enum dse_status read_dims(struct network_reader *reader, const struct ynode *node, const char *owner,
                                 const struct type_row *row, struct layer *layer, struct dse_error *err)
{
    struct dse_faults *faults = reader->doc->faults;
    const size_t n_fault = dse_faults_count(faults);
    DSE_NOTE(faults, network_require(reader, node, owner, "C", err));
    if (row->needs_k)
        DSE_NOTE(faults, network_require(reader, node, owner, "K", err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "C", 1, &layer->c, err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "K", layer->c, &layer->k, err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "P", 1, &layer->p, err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "Q", 1, &layer->q, err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "R", 1, &layer->r, err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "S", 1, &layer->s, err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "H", 0, &layer->h, err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "W", 0, &layer->w, err));
    bool depthwise = strcmp(row->word, "depthwise") == 0;
    DSE_NOTE(faults,
             network_read_dim(reader, node, owner, "groups", depthwise ? layer->c : 1, &layer->groups, err));
    DSE_NOTE(faults, network_read_dim(reader, node, owner, "share", 0, &layer->share, err));
    DSE_NOTE(faults, read_pair(reader, node, owner, "stride", 1, 2, layer->stride, err));
    DSE_NOTE(faults, read_pair(reader, node, owner, "dilation", 1, 2, layer->dilation, err));
    DSE_NOTE(faults, read_pair(reader, node, owner, "pad", 0, 4, layer->pad, err));
    if (row->type == LAYER_UPSAMPLE) {
        DSE_NOTE(faults, network_require(reader, node, owner, "factor", err));
        DSE_NOTE(faults, read_pair(reader, node, owner, "factor", 1, 2, layer->stride, err));
    }
    if (row->type == LAYER_CROP)
        DSE_NOTE(faults, read_pair(reader, node, owner, "offset", 0, 2, layer->pad, err));
    layer->centred = row->type == LAYER_CROP && yaml_find(node, "offset") == NULL;
    if (row->type == LAYER_TRANSPOSE)
        DSE_NOTE(faults, read_permute(reader, node, owner, layer, err));
    return dse_faults_count(faults) > n_fault ? DSE_OK : check_channels(reader, node, owner, row, layer, err);
}

/* A whole number of the layer as a whole, `missing` when it is not there. */
static enum dse_status read_count(const struct network_reader *reader, const struct ynode *node,
                                  const char *owner, const char *key, uint32_t highest, uint32_t missing,
                                  uint32_t *value, struct dse_error *err)
{
    const struct ynode *given = yaml_find(node, key);
    char what[WHAT_MAX];
    uint64_t number = missing;
    snprintf(what, sizeof(what), "%.110s: %s", owner, key);
    if (given != NULL)
        DSE_TRY(yaml_u64(reader->doc, given, what, 1, highest, &number, err));
    *value = (uint32_t)number;
    return DSE_OK;
}

enum dse_status network_read_layer(struct network_reader *reader, const struct ynode *node,
                                   struct layer *layer, struct dse_error *err)
{
    const struct yaml_doc *doc = reader->doc;
    DSE_TRY(yaml_is_mapping(doc, node, "a layer", err));
    const struct ynode *name = NULL;
    DSE_TRY(yaml_require(doc, node, "a layer", "name", &name, err));
    DSE_TRY(network_read_name(reader, name, "layer name", &layer->name, err));
    char owner[OWNER_MAX];
    snprintf(owner, sizeof(owner), "layer %.100s", layer->name);
    const struct type_row *row = NULL;
    DSE_TRY(find_type(reader, node, owner, &row, err));
    DSE_NOTE(doc->faults, check_layer_keys(reader, node, owner, row, err));
    layer->type = row->type;
    layer->line = node->line;
    layer->weight_producer = LAYER_NO_PRODUCER;
    layer->n_operand = row->type == LAYER_ADD || row->type == LAYER_MUL ? 2 : 1;
    DSE_NOTE(doc->faults, read_count(reader, node, owner, "count", NETWORK_COUNT_MAX, 1, &layer->count, err));
    DSE_NOTE(doc->faults, read_count(reader, node, owner, "batch", NETWORK_DIM_MAX, 0, &layer->batch, err));
    if (row->type == LAYER_EINSUM)
        return network_read_einsum(reader, node, layer, err);
    return read_dims(reader, node, owner, row, layer, err);
}
