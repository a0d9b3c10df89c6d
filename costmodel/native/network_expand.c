/* Works on the tree of the file: a value becomes the number that it is, a group its layers, and at last a
 * block its repetitions (network_blocks.c); what comes out is read as any other network. */
#include "costmodel/native/network_expand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "costmodel/native/network_blocks.h"
#include "costmodel/native/network_scope.h"

enum { WHAT_MAX = 160, TEXT_MAX = 4096 };

struct expander {
    const struct yaml_doc *doc;
    struct arena *arena;
    struct scope scope;
    struct node_list layer, input;
    struct network_block *block; /* (n_block) owned */
    size_t n_block, block_room;
    bool in_block;
    uint32_t n_step;
};

static enum dse_status expand_group(struct expander *e, const struct ynode *node, struct dse_error *err);

/* So that a short file cannot keep the reader busy for ever. */
static enum dse_status count_step(struct expander *e, const struct ynode *node, struct dse_error *err)
{
    if (e->n_step++ < EXPAND_STEP_MAX)
        return DSE_OK;
    return dse_fail_at(err, DSE_LIMIT, e->doc->path, node->line,
                       "groups and lists of names stand for more than %d layers and names", EXPAND_STEP_MAX);
}

/* ---- values ---- */

/* A number as the file has it, or what an expression is; lists and mappings of them, too. */
static enum dse_status expand_value(struct expander *e, const struct ynode *node, const char *what,
                                    const struct ynode **out, struct dse_error *err)
{
    struct node_list list = {0};
    enum dse_status status = DSE_OK;
    if (node->kind == YNODE_SCALAR) {
        int64_t number;
        char text[24];
        *out = node;
        if (node->text[strspn(node->text, "0123456789")] == '\0')
            return DSE_OK;
        DSE_TRY(scope_number(&e->scope, node, what, &number, err));
        snprintf(text, sizeof text, "%" PRId64, number);
        return node_make_scalar(node, text, e->arena, out, err);
    }
    for (size_t i = 0; status == DSE_OK && i < node->n_item; i++) {
        const struct ynode *item;
        status = expand_value(e, node->item[i], what, &item, err);
        if (status == DSE_OK)
            status = node_list_add(&list, node->kind == YNODE_MAPPING ? node->key[i] : NULL,
                                   node->kind == YNODE_MAPPING ? node->key_line[i] : 0, item, err);
    }
    if (status == DSE_OK)
        status = node_list_make(&list, node, node->kind, e->arena, out, err);
    node_list_free(&list);
    return status;
}

/* ---- names: key<h>, key<0..heads-1> ---- */

static enum dse_status bad_pattern(const struct expander *e, const struct ynode *node, struct dse_error *err)
{
    char shown[96];
    return yaml_fail(e->doc, node, err,
                     "\"%s\": <EXPRESSION>, or in from <FIRST..LAST>, is expected between < and >",
                     text_excerpt(node->text, shown, sizeof shown));
}

static enum dse_status pattern_number(struct expander *e, const struct ynode *node, const char *text,
                                      size_t length, int64_t *number, struct dse_error *err)
{
    struct scope_value value;
    DSE_TRY(scope_evaluate(&e->scope, node, text, length, &value, err));
    *number = value.number;
    return value.kind == SCOPE_NUMBER ? DSE_OK : bad_pattern(e, node, err);
}

/* Append the names that `rest` stands for behind `head` (length bytes of it). */
static enum dse_status expand_name(struct expander *e, const struct ynode *node, char *head, size_t length,
                                   const char *rest, struct node_list *list, struct dse_error *err)
{
    const char *open = strchr(rest, '<'), *close = open ? strchr(open, '>') : NULL;
    const size_t plain = open ? (size_t)(open - rest) : strlen(rest);
    if (length + plain >= TEXT_MAX - 24 || (open && !close))
        return bad_pattern(e, node, err);
    memcpy(head + length, rest, plain);
    length += plain;
    if (!open) {
        const struct ynode *name;
        DSE_TRY(count_step(e, node, err));
        head[length] = '\0';
        DSE_TRY(node_make_scalar(node, head, e->arena, &name, err));
        return node_list_add(list, NULL, 0, name, err);
    }
    const char *dots = open + 1;
    while (dots < close && strncmp(dots, "..", 2) != 0)
        dots++;
    int64_t first, last;
    DSE_TRY(pattern_number(e, node, open + 1, (size_t)(dots - open - 1), &first, err));
    last = first;
    if (dots < close)
        DSE_TRY(pattern_number(e, node, dots + 2, (size_t)(close - dots - 2), &last, err));
    if (first < 0 || last - first >= NETWORK_LAYER_MAX || list->n > NETWORK_LAYER_MAX)
        return yaml_fail(e->doc, node, err,
                         "the numbers %" PRId64 " to %" PRId64 ": up to %d from 0 on are accepted", first,
                         last, NETWORK_LAYER_MAX);
    for (int64_t i = first; i <= last; i++) {
        const int n = snprintf(head + length, 24, "%" PRId64, i);
        DSE_TRY(expand_name(e, node, head, length + (size_t)n, close + 1, list, err));
    }
    return DSE_OK;
}

/* A name or a list of them. `one`: just one name. */
static enum dse_status expand_names(struct expander *e, const struct ynode *node, bool one,
                                    const struct ynode **out, struct dse_error *err)
{
    struct node_list list = {0};
    char head[TEXT_MAX];
    enum dse_status status = DSE_OK;
    const bool single = node->kind == YNODE_SCALAR;
    *out = node;
    if (node->kind == YNODE_MAPPING || (single && !strchr(node->text, '<')))
        return DSE_OK;
    for (size_t i = 0; status == DSE_OK && i < (single ? 1 : node->n_item); i++) {
        const struct ynode *item = single ? node : node->item[i];
        status = item->kind == YNODE_SCALAR ? expand_name(e, item, head, 0, item->text, &list, err)
                                            : node_list_add(&list, NULL, 0, item, err);
    }
    if (status == DSE_OK && single && list.n == 1)
        *out = list.item[0];
    else if (status == DSE_OK && one)
        status = bad_pattern(e, single ? node : node->item[0], err);
    else if (status == DSE_OK)
        status = node_list_make(&list, node, YNODE_SEQUENCE, e->arena, out, err);
    node_list_free(&list);
    return status;
}

/* ---- layers ---- */

/* Keys whose texts are no expressions. */
static bool is_word_key(const char *key)
{
    static const char *const word[] = {"type", "permute", "tensors"};
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        if (strcmp(key, word[i]) == 0)
            return true;
    return false;
}

static bool is_reference(const char *key)
{
    return strcmp(key, "from") == 0 || strcmp(key, "weights_from") == 0;
}

static enum dse_status is_wanted(struct expander *e, const struct ynode *node, bool *wanted,
                                 struct dse_error *err)
{
    const struct ynode *when = yaml_find(node, "when");
    *wanted = true;
    return when ? scope_truth(&e->scope, when, wanted, err) : DSE_OK;
}

/* The mapping of a layer or an input with numbers for expressions, without `when`. */
static enum dse_status expand_mapping(struct expander *e, const struct ynode *node, const char *what,
                                      const struct ynode **out, struct dse_error *err)
{
    struct node_list list = {0};
    enum dse_status status = DSE_OK;
    for (size_t i = 0; status == DSE_OK && i < node->n_item; i++) {
        const char *key = node->key[i];
        const struct ynode *value = node->item[i];
        char owner[WHAT_MAX];
        snprintf(owner, sizeof owner, "%.100s: %.40s", what, key);
        if (strcmp(key, "when") == 0)
            continue;
        if (strcmp(key, "name") == 0)
            status = expand_names(e, node->item[i], true, &value, err);
        else if (is_reference(key))
            status = expand_names(e, node->item[i], false, &value, err);
        else if (!is_word_key(key))
            status = expand_value(e, node->item[i], owner, &value, err);
        if (status == DSE_OK)
            status = node_list_add(&list, key, node->key_line[i], value, err);
    }
    if (status == DSE_OK)
        status = node_list_make(&list, node, YNODE_MAPPING, e->arena, out, err);
    node_list_free(&list);
    return status;
}

static const char *name_of(const struct ynode *layer)
{
    const struct ynode *name = yaml_find(layer, "name");
    return name && name->kind == YNODE_SCALAR ? name->text : "";
}

static enum dse_status expand_layer(struct expander *e, const struct ynode *node, struct dse_error *err)
{
    char what[WHAT_MAX];
    bool wanted;
    const struct ynode *layer = node;
    if (e->layer.n == NETWORK_LAYER_MAX)
        return dse_fail_at(err, DSE_LIMIT, e->doc->path, node->line, "more than %d layers",
                           NETWORK_LAYER_MAX);
    if (node->kind == YNODE_MAPPING) { /* else its reader says what is wrong */
        snprintf(what, sizeof what, "layer %.100s", name_of(node));
        DSE_TRY(is_wanted(e, node, &wanted, err));
        if (!wanted)
            return DSE_OK;
        DSE_TRY(expand_mapping(e, node, what, &layer, err));
    }
    return node_list_add(&e->layer, NULL, 0, layer, err);
}

/* Of the mapping `inputs`, those that are wanted. */
static enum dse_status expand_inputs(struct expander *e, const struct ynode *inputs, struct dse_error *err)
{
    DSE_TRY(yaml_is_mapping(e->doc, inputs, "inputs", err));
    for (size_t i = 0; i < inputs->n_item; i++) {
        const struct ynode *input = inputs->item[i];
        char what[WHAT_MAX];
        bool wanted = true;
        snprintf(what, sizeof what, "network input %.100s", inputs->key[i]);
        if (input->kind == YNODE_MAPPING) {
            DSE_TRY(is_wanted(e, input, &wanted, err));
            if (wanted)
                DSE_TRY(expand_mapping(e, input, what, &input, err));
        }
        if (wanted)
            DSE_TRY(node_list_add(&e->input, inputs->key[i], inputs->key_line[i], input, err));
    }
    return DSE_OK;
}

/* ---- groups ---- */

static enum dse_status expand_items(struct expander *e, const struct ynode *list, struct dse_error *err)
{
    DSE_TRY(yaml_is_sequence(e->doc, list, "layers", err));
    for (size_t i = 0; i < list->n_item; i++) {
        DSE_TRY(count_step(e, list->item[i], err));
        DSE_TRY(yaml_find(list->item[i], "layers") ? expand_group(e, list->item[i], err)
                                                   : expand_layer(e, list->item[i], err));
    }
    return DSE_OK;
}

/* for: {h: heads}: h is 0 .. heads - 1. */
static enum dse_status expand_for(struct expander *e, const struct ynode *node, const struct ynode *each,
                                  struct dse_error *err)
{
    int64_t n;
    if (each->kind != YNODE_MAPPING || each->n_item != 1)
        return yaml_fail(e->doc, each, err,
                         "for: an index and how many there are is expected, as {h: heads}");
    DSE_TRY(scope_number(&e->scope, each->item[0], each->key[0], &n, err));
    if (n < 0 || n > NETWORK_LAYER_MAX)
        return yaml_fail(e->doc, each, err, "for: %" PRId64 " times; from 0 to %d are supported", n,
                         NETWORK_LAYER_MAX);
    DSE_TRY(scope_push(&e->scope, each, each->key[0], err));
    for (int64_t i = 0; i < n; i++) {
        e->scope.symbol[e->scope.n - 1].value = (struct scope_value){.kind = SCOPE_NUMBER, .number = i};
        DSE_TRY(expand_items(e, yaml_find(node, "layers"), err));
    }
    scope_pop(&e->scope);
    return DSE_OK;
}

static enum dse_status read_block(struct expander *e, const struct ynode *node, struct network_block *block,
                                  struct dse_error *err)
{
    const struct ynode *name, *times;
    int64_t n;
    DSE_TRY(yaml_require(e->doc, node, "a block", "block", &name, err));
    DSE_TRY(yaml_text(e->doc, name, "block", &block->name, err));
    DSE_TRY(yaml_require(e->doc, node, "a block", "times", &times, err));
    DSE_TRY(scope_number(&e->scope, times, "times", &n, err));
    if (n < 1 || n > NETWORK_LAYER_MAX)
        return yaml_fail(e->doc, times, err, "block %.60s: %" PRId64 " times; from 1 to %d are supported",
                         block->name, n, NETWORK_LAYER_MAX);
    DSE_TRY(yaml_require(e->doc, node, "a block", "feeds", &block->feeds, err));
    DSE_TRY(yaml_is_mapping(e->doc, block->feeds, "feeds", err));
    block->times = (uint32_t)n;
    return DSE_OK;
}

/* The layers once; they are repeated when all are known. */
static enum dse_status expand_block(struct expander *e, const struct ynode *node, struct dse_error *err)
{
    struct network_block block = {.first = (uint32_t)e->layer.n, .first_input = (uint32_t)e->input.n};
    const struct ynode *inputs = yaml_find(node, "inputs");
    if (e->in_block)
        return yaml_fail(e->doc, node, err,
                         "a block inside a block; a block has layers and groups with `for`");
    DSE_TRY(read_block(e, node, &block, err));
    if (inputs)
        DSE_TRY(expand_inputs(e, inputs, err));
    e->in_block = true;
    DSE_TRY(expand_items(e, yaml_find(node, "layers"), err));
    e->in_block = false;
    block.n = (uint32_t)e->layer.n - block.first;
    block.n_input = (uint32_t)e->input.n - block.first_input;
    struct network_block *list = array_grow(e->block, e->n_block + 1, &e->block_room, sizeof *list);
    if (!list)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a network");
    e->block = list;
    e->block[e->n_block++] = block;
    return DSE_OK;
}

static enum dse_status expand_group(struct expander *e, const struct ynode *node, struct dse_error *err)
{
    static const char *const plain[] = {"when", "for", "layers", "block"};
    static const char *const block[] = {"when", "block", "times", "feeds", "inputs", "layers"};
    const bool is_block = yaml_find(node, "block") || yaml_find(node, "times") || yaml_find(node, "feeds");
    const struct ynode *each = yaml_find(node, "for");
    bool wanted;
    DSE_TRY(yaml_check_keys(e->doc, node, is_block ? "a block" : "a group of layers",
                            is_block ? block : plain, is_block ? 6 : 4, err));
    DSE_TRY(is_wanted(e, node, &wanted, err));
    if (!wanted)
        return DSE_OK;
    if (is_block)
        return expand_block(e, node, err);
    return each ? expand_for(e, node, each, err) : expand_items(e, yaml_find(node, "layers"), err);
}

/* ---- the file ---- */

bool network_is_parametrised(const struct yaml_doc *doc)
{
    const struct ynode *layers = yaml_find(doc->root, "layers");
    bool found = yaml_find(doc->root, "parameters") || yaml_find(doc->root, "let");
    for (size_t i = 0; !found && layers && layers->kind == YNODE_SEQUENCE && i < layers->n_item; i++)
        found = yaml_find(layers->item[i], "layers") != NULL;
    return found;
}

/* The values that were used, for those who ask. */
static enum dse_status keep_parameters(struct expander *e, struct network_expansion *out,
                                       struct dse_error *err)
{
    struct network_parameter *list = arena_alloc(e->arena, e->scope.n, sizeof *list);
    DSE_TRY(arena_check(e->arena, "a network", err));
    for (size_t i = 0; i < e->scope.n; i++) {
        const struct scope_symbol *symbol = &e->scope.symbol[i];
        if (symbol->is_parameter && !(symbol->set && symbol->set->by_file))
            list[out->n_parameter++] =
                (struct network_parameter){symbol->name, scope_text(&e->scope, &symbol->value),
                                           scope_accepted(&e->scope, i), symbol->is_default};
    }
    out->parameter = list;
    return arena_check(e->arena, "a network", err);
}

static enum dse_status keep_repeats(struct expander *e, struct network_expansion *out, struct dse_error *err)
{
    struct network_repeat *list = arena_alloc(e->arena, e->n_block, sizeof *list);
    uint32_t more = 0; /* layers that repetitions before this block have added */
    DSE_TRY(arena_check(e->arena, "a network", err));
    for (size_t b = 0; b < e->n_block; b++) {
        const struct network_block *block = &e->block[b];
        if (block->times > 1 && block->n > 0)
            list[out->n_repeat++] =
                (struct network_repeat){block->name, block->first + more, block->n, block->times};
        more += block->n * (block->times - 1);
    }
    out->repeat = list;
    return DSE_OK;
}

/* A word that is a parameter stands for its value: unroll: unroll. */
static enum dse_status expand_switch(struct expander *e, const struct ynode *node, const struct ynode **out,
                                     struct dse_error *err)
{
    struct scope_value value;
    const int symbol =
        node->kind == YNODE_SCALAR ? scope_index(&e->scope, node->text, strlen(node->text)) : -1;
    *out = node;
    if (symbol < 0)
        return DSE_OK;
    DSE_TRY(scope_find(&e->scope, node, (size_t)symbol, &value, err));
    const char *text = scope_text(&e->scope, &value);
    DSE_TRY(arena_check(e->arena, "a network", err));
    return node_make_scalar(node, text, e->arena, out, err);
}

/* Inputs and layers, each once. */
static enum dse_status expand_all(struct expander *e, struct dse_error *err)
{
    const struct ynode *root = e->doc->root, *layers;
    const struct ynode *one = yaml_find(root, "input"), *several = yaml_find(root, "inputs");
    if (one && several)
        return yaml_fail(e->doc, several, err, "both input and inputs are given; use one of them");
    if (one && one->kind == YNODE_MAPPING)
        DSE_TRY(expand_mapping(e, one, "network input input", &one, err));
    if (one)
        DSE_TRY(node_list_add(&e->input, "input", one->line, one, err));
    if (several)
        DSE_TRY(expand_inputs(e, several, err));
    DSE_TRY(yaml_require(e->doc, root, "a network", "layers", &layers, err));
    return expand_items(e, layers, err);
}

/* The root of a plain file; `layer` and `input` are its. */
static enum dse_status make_root(struct expander *e, const struct node_list *layer,
                                 const struct node_list *input, struct network_expansion *out,
                                 struct dse_error *err)
{
    struct node_list list = {0};
    const struct ynode *root = e->doc->root, *node;
    enum dse_status status = DSE_OK;
    for (size_t i = 0; status == DSE_OK && i < root->n_item; i++) {
        const char *key = root->key[i];
        node = root->item[i];
        if (strcmp(key, "parameters") == 0 || strcmp(key, "let") == 0 || strcmp(key, "input") == 0 ||
            strcmp(key, "inputs") == 0)
            continue;
        if (strcmp(key, "layers") == 0)
            status = node_list_make(layer, node, YNODE_SEQUENCE, e->arena, &node, err);
        else if (strcmp(key, "unroll") == 0)
            status = expand_switch(e, node, &node, err);
        if (status == DSE_OK)
            status = node_list_add(&list, key, root->key_line[i], node, err);
    }
    if (status == DSE_OK && input->n > 0)
        status = node_list_make(input, root, YNODE_MAPPING, e->arena, &node, err);
    if (status == DSE_OK && input->n > 0)
        status = node_list_add(&list, "inputs", root->line, node, err);
    if (status == DSE_OK)
        status = node_list_make(&list, root, YNODE_MAPPING, e->arena, &out->root, err);
    node_list_free(&list);
    return status;
}

static enum dse_status expand(struct expander *e, const struct network_settings *settings,
                              struct network_expansion *out, struct dse_error *err)
{
    struct node_list layer = {0}, input = {0};
    DSE_TRY(yaml_is_mapping(e->doc, e->doc->root, "a network file", err));
    DSE_TRY(scope_init(&e->scope, e->doc, e->arena, settings, err));
    DSE_TRY(expand_all(e, err));
    DSE_TRY(keep_parameters(e, out, err));
    DSE_TRY(keep_repeats(e, out, err));
    enum dse_status status = network_repeat_blocks(e->doc, e->arena, &e->layer, &e->input, e->block,
                                                   (uint32_t)e->n_block, &layer, &input, err);
    if (status == DSE_OK)
        status = make_root(e, &layer, &input, out, err);
    node_list_free(&layer);
    node_list_free(&input);
    return status;
}

enum dse_status network_expand(const struct yaml_doc *doc, const struct network_settings *settings,
                               struct arena *arena, struct network_expansion *out, struct dse_error *err)
{
    struct expander e = {.doc = doc, .arena = arena};
    memset(out, 0, sizeof *out);
    enum dse_status status = expand(&e, settings, out, err);
    node_list_free(&e.layer);
    node_list_free(&e.input);
    free(e.block);
    return status;
}
