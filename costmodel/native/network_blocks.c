/* Blocks that repeat: layer `conv` of block `stage` becomes stage1.conv, stage2.conv, ...; of a block that is
 * there once names stay. Who reads what goes by the names of the file. */
#include "costmodel/native/network_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/name_table.h"
#include "base/text.h"

/* ---- lists of nodes ---- */

enum dse_status node_list_add(struct node_list *list, const char *key, int key_line, const struct ynode *node,
                              struct dse_error *err)
{
    const struct ynode **item = array_grow(list->item, list->n + 1, &list->item_room, sizeof *item);
    list->item = item ? item : list->item;
    const char **keys = array_grow(list->key, list->n + 1, &list->key_room, sizeof *keys);
    list->key = keys ? keys : list->key;
    int *line = array_grow(list->key_line, list->n + 1, &list->line_room, sizeof *line);
    list->key_line = line ? line : list->key_line;
    if (!item || !keys || !line)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a network");
    list->item[list->n] = node;
    list->key[list->n] = key;
    list->key_line[list->n++] = key_line;
    return DSE_OK;
}

void node_list_free(struct node_list *list)
{
    free(list->item);
    free(list->key);
    free(list->key_line);
}

enum dse_status node_list_make(const struct node_list *list, const struct ynode *like, enum ynode_kind kind,
                               struct arena *arena, const struct ynode **out, struct dse_error *err)
{
    struct ynode *node = arena_alloc(arena, 1, sizeof *node);
    const struct ynode **item = arena_alloc(arena, list->n, sizeof *item);
    const char **key = arena_alloc(arena, list->n, sizeof *key);
    int *line = arena_alloc(arena, list->n, sizeof *line);
    DSE_TRY(arena_check(arena, "a network", err));
    for (size_t i = 0; i < list->n; i++) {
        item[i] = list->item[i];
        key[i] = list->key[i];
        line[i] = list->key_line[i];
    }
    *node = (struct ynode){.kind = kind, .line = like->line, .n_item = list->n, .item = item};
    if (kind == YNODE_MAPPING) {
        node->key = key;
        node->key_line = line;
    }
    *out = node;
    return DSE_OK;
}

enum dse_status node_make_scalar(const struct ynode *like, const char *text, struct arena *arena,
                                 const struct ynode **out, struct dse_error *err)
{
    struct ynode *node = arena_alloc(arena, 1, sizeof *node);
    const char *copy = arena_copy_text(arena, text, strlen(text));
    DSE_TRY(arena_check(arena, "a network", err));
    *node = (struct ynode){.kind = YNODE_SCALAR, .line = like->line, .quoted = like->quoted, .text = copy};
    *out = node;
    return DSE_OK;
}

/* ---- whose names are whose ---- */

struct repeater {
    const struct yaml_doc *doc;
    struct arena *arena;
    const struct network_block *block;
    uint32_t n_block;
    uint32_t n_name;         /* of producers, so far */
    struct name_table owner; /* names of layers and inputs: 0, or 1 + the number of their block */
};

static const char *name_of(const struct ynode *layer)
{
    const struct ynode *name = yaml_find(layer, "name");
    return name && name->kind == YNODE_SCALAR ? name->text : NULL;
}

static size_t owner_of(const struct repeater *r, const char *name)
{
    size_t owner = 0;
    return name_table_get(&r->owner, name, &owner) ? owner : 0;
}

/* The same name twice within a block, or twice outside, is for the reader to see. */
static enum dse_status enter(struct repeater *r, const struct ynode *node, const char *name, size_t owner,
                             struct dse_error *err)
{
    size_t other;
    if (name_table_get(&r->owner, name, &other) && other != owner)
        return yaml_fail(r->doc, node, err, "the name %.100s is used both in block %.60s and outside of it",
                         name, r->block[(owner ? owner : other) - 1].name);
    return name_table_put(&r->owner, name, owner)
               ? DSE_OK
               : dse_fail_at(err, DSE_NO_MEMORY, r->doc->path, 0, "out of memory while reading the network");
}

/* The block that a layer or input is of: 1 + its number, or 0. */
static size_t block_at(const struct repeater *r, size_t i, bool is_input)
{
    for (uint32_t b = 0; b < r->n_block; b++) {
        const struct network_block *block = &r->block[b];
        size_t first = is_input ? block->first_input : block->first;
        if (i >= first && i < first + (is_input ? block->n_input : block->n))
            return b + 1;
    }
    return 0;
}

static enum dse_status enter_all(struct repeater *r, const struct node_list *layer,
                                 const struct node_list *input, struct dse_error *err)
{
    for (size_t i = 0; i < input->n; i++)
        DSE_TRY(enter(r, input->item[i], input->key[i], block_at(r, i, true), err));
    for (size_t i = 0; i < layer->n; i++)
        if (name_of(layer->item[i]))
            DSE_TRY(enter(r, layer->item[i], name_of(layer->item[i]), block_at(r, i, false), err));
    return DSE_OK;
}

/* ---- names of repetitions ---- */

static bool is_reference(const char *key)
{
    return strcmp(key, "from") == 0 || strcmp(key, "weights_from") == 0;
}

static bool mentions(const struct ynode *node, const char *name)
{
    if (node->kind == YNODE_SCALAR)
        return strcmp(node->text, name) == 0;
    for (size_t i = 0; node->kind == YNODE_SEQUENCE && i < node->n_item; i++)
        if (mentions(node->item[i], name))
            return true;
    return false;
}

/* Every name that is fed is read by the block, and every one that feeds is a layer of it. */
static enum dse_status check_feeds(const struct repeater *r, uint32_t b, const struct node_list *layer,
                                   struct dse_error *err)
{
    const struct network_block *block = &r->block[b];
    const struct ynode *feeds = block->feeds;
    for (size_t i = 0; i < feeds->n_item; i++) {
        const char *text;
        bool is_read = false, is_layer = false;
        DSE_TRY(yaml_text(r->doc, feeds->item[i], "feeds", &text, err));
        for (uint32_t l = block->first; l < block->first + block->n; l++) {
            const struct ynode *node = layer->item[l];
            is_layer |= name_of(node) && strcmp(name_of(node), text) == 0;
            for (size_t k = 0; node->kind == YNODE_MAPPING && k < node->n_item; k++)
                is_read |= is_reference(node->key[k]) && mentions(node->item[k], feeds->key[i]);
        }
        if (!is_layer)
            return yaml_fail(r->doc, feeds->item[i], err, "feeds: %.100s is no layer of block %.60s", text,
                             block->name);
        if (!is_read || owner_of(r, feeds->key[i]) == b + 1)
            return yaml_fail(r->doc, feeds->item[i], err,
                             "feeds: %.100s is not what a layer of block %.60s reads from outside",
                             feeds->key[i], block->name);
    }
    return DSE_OK;
}

/* "NAME3.conv"; of a block that is there once "conv". */
static enum dse_status name_in(const struct repeater *r, size_t owner, uint32_t repetition,
                               const struct ynode *node, const char *name, const char **out,
                               struct dse_error *err)
{
    char text[4 * PROBLEM_NAME_MAX];
    *out = name;
    if (owner == 0 || r->block[owner - 1].times == 1)
        return DSE_OK;
    const int n = snprintf(text, sizeof text, "%s%u.%s", r->block[owner - 1].name, repetition, name);
    if (n < 0 || n >= PROBLEM_NAME_MAX)
        return yaml_fail(r->doc, node, err, "%.60s%u.%.100s is longer than %d letters",
                         r->block[owner - 1].name, repetition, name, PROBLEM_NAME_MAX - 1);
    *out = arena_copy_text(r->arena, text, (size_t)n);
    return arena_check(r->arena, "a network", err);
}

/* A producer, as a layer of block `in` (0: of none) in that repetition names it. */
static enum dse_status rename_one(struct repeater *r, size_t in, uint32_t repetition,
                                  const struct ynode *node, const struct ynode **out, struct dse_error *err)
{
    const char *name = node->text;
    const struct ynode *feed = in && repetition > 1 ? yaml_find(r->block[in - 1].feeds, name) : NULL;
    size_t owner = feed ? in : owner_of(r, name);
    *out = node;
    if (r->n_name++ == EXPAND_STEP_MAX)
        return dse_fail_at(err, DSE_LIMIT, r->doc->path, node->line,
                           "blocks stand for more than %d names of producers", EXPAND_STEP_MAX);
    if (owner == 0)
        return DSE_OK;
    uint32_t from = feed ? repetition - 1 : owner == in ? repetition : r->block[owner - 1].times;
    DSE_TRY(name_in(r, owner, from, node, feed ? feed->text : name, &name, err));
    return name == node->text ? DSE_OK : node_make_scalar(node, name, r->arena, out, err);
}

static enum dse_status rename_all(struct repeater *r, size_t in, uint32_t repetition,
                                  const struct ynode *node, const struct ynode **out, struct dse_error *err)
{
    struct node_list list = {0};
    enum dse_status status = DSE_OK;
    *out = node;
    if (node->kind == YNODE_SCALAR)
        return rename_one(r, in, repetition, node, out, err);
    for (size_t i = 0; status == DSE_OK && node->kind == YNODE_SEQUENCE && i < node->n_item; i++) {
        const struct ynode *item = node->item[i];
        if (item->kind == YNODE_SCALAR)
            status = rename_one(r, in, repetition, item, &item, err);
        if (status == DSE_OK)
            status = node_list_add(&list, NULL, 0, item, err);
    }
    if (status == DSE_OK && node->kind == YNODE_SEQUENCE)
        status = node_list_make(&list, node, YNODE_SEQUENCE, r->arena, out, err);
    node_list_free(&list);
    return status;
}

/* The layer of repetition `repetition`, counted from 1. */
static enum dse_status repeat_layer(struct repeater *r, size_t in, uint32_t repetition,
                                    const struct ynode *node, struct node_list *out, struct dse_error *err)
{
    struct node_list list = {0};
    enum dse_status status = DSE_OK;
    if (out->n == NETWORK_LAYER_MAX)
        return dse_fail_at(err, DSE_LIMIT, r->doc->path, node->line, "more than %d layers",
                           NETWORK_LAYER_MAX);
    if (node->kind != YNODE_MAPPING)
        return node_list_add(out, NULL, 0, node, err);
    for (size_t i = 0; status == DSE_OK && i < node->n_item; i++) {
        const struct ynode *item = node->item[i];
        const char *name;
        if (is_reference(node->key[i])) {
            status = rename_all(r, in, repetition, item, &item, err);
        } else if (strcmp(node->key[i], "name") == 0 && item->kind == YNODE_SCALAR) {
            status = name_in(r, in, repetition, item, item->text, &name, err);
            if (status == DSE_OK && name != item->text)
                status = node_make_scalar(item, name, r->arena, &item, err);
        }
        if (status == DSE_OK)
            status = node_list_add(&list, node->key[i], node->key_line[i], item, err);
    }
    const struct ynode *layer;
    if (status == DSE_OK)
        status = node_list_make(&list, node, YNODE_MAPPING, r->arena, &layer, err);
    if (status == DSE_OK)
        status = node_list_add(out, NULL, 0, layer, err);
    node_list_free(&list);
    return status;
}

static enum dse_status repeat_inputs(const struct repeater *r, const struct node_list *input,
                                     struct node_list *out, struct dse_error *err)
{
    for (size_t i = 0; i < input->n; i++)
        if (block_at(r, i, true) == 0)
            DSE_TRY(node_list_add(out, input->key[i], input->key_line[i], input->item[i], err));
    for (uint32_t b = 0; b < r->n_block; b++)
        for (uint32_t t = 1; t <= r->block[b].times; t++)
            for (uint32_t k = 0; k < r->block[b].n_input; k++) {
                const uint32_t i = r->block[b].first_input + k;
                const char *name;
                DSE_TRY(name_in(r, b + 1, t, input->item[i], input->key[i], &name, err));
                DSE_TRY(node_list_add(out, name, input->key_line[i], input->item[i], err));
            }
    return DSE_OK;
}

static enum dse_status repeat_layers(struct repeater *r, const struct node_list *layer, struct node_list *out,
                                     struct dse_error *err)
{
    size_t i = 0;
    while (i < layer->n) {
        const size_t in = block_at(r, i, false);
        if (in == 0) {
            DSE_TRY(repeat_layer(r, 0, 1, layer->item[i++], out, err));
            continue;
        }
        const struct network_block *block = &r->block[in - 1];
        for (uint32_t t = 1; t <= block->times; t++)
            for (uint32_t k = 0; k < block->n; k++)
                DSE_TRY(repeat_layer(r, in, t, layer->item[block->first + k], out, err));
        i += block->n;
    }
    return DSE_OK;
}

enum dse_status network_repeat_blocks(const struct yaml_doc *doc, struct arena *arena,
                                      const struct node_list *layer, const struct node_list *input,
                                      const struct network_block *block, uint32_t n_block,
                                      struct node_list *out_layer, struct node_list *out_input,
                                      struct dse_error *err)
{
    struct repeater r = {.doc = doc, .arena = arena, .block = block, .n_block = n_block};
    name_table_init(&r.owner);
    enum dse_status status = enter_all(&r, layer, input, err);
    for (uint32_t b = 0; status == DSE_OK && b < n_block; b++)
        status = check_feeds(&r, b, layer, err);
    if (status == DSE_OK)
        status = repeat_inputs(&r, input, out_input, err);
    if (status == DSE_OK)
        status = repeat_layers(&r, layer, out_layer, err);
    name_table_free(&r.owner);
    return status;
}
