/* The native network format (docs/networks.md): head, inputs, the list of layers, who produces for whom. */
#include "costmodel/native/network_native.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/native/network_expand.h"
#include "costmodel/native/network_parts.h"
#include "costmodel/native/network_scope.h"

enum { WHAT_MAX = 200 };

static enum dse_status out_of_memory(const struct network_reader *reader, struct dse_error *err)
{
    return dse_fail_at(err, DSE_NO_MEMORY, reader->doc->path, 0, "out of memory while reading the network");
}

static enum dse_status keep_text(struct network_reader *reader, const char *text, const char **kept,
                                 struct dse_error *err)
{
    *kept = arena_copy_text(&reader->net->arena, text, strlen(text));
    return arena_check(&reader->net->arena, "a network", err);
}

enum dse_status network_check_name(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                   struct dse_error *err)
{
    const char *text = NULL;
    DSE_TRY(yaml_text(doc, node, what, &text, err));
    size_t length = strlen(text);
    size_t fine = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+:/-");
    if (length == 0 || fine != length || length >= PROBLEM_NAME_MAX)
        return yaml_fail(doc, node, err,
                         "%s \"%.100s\" is not a name: up to %d letters, digits and _ . + : / - are accepted",
                         what, text, PROBLEM_NAME_MAX - 1);
    return DSE_OK;
}

enum dse_status network_read_name(struct network_reader *reader, const struct ynode *node, const char *what,
                                  const char **name, struct dse_error *err)
{
    DSE_TRY(network_check_name(reader->doc, node, what, err));
    return keep_text(reader, node->text, name, err);
}

/* Enter a name; the index is as in struct network_reader. */
static enum dse_status enter_name(struct network_reader *reader, const struct ynode *node, const char *name,
                                  size_t index, struct dse_error *err)
{
    size_t first = 0;
    if (name_table_get(&reader->name, name, &first)) {
        if (first < reader->net->n_layer)
            return yaml_fail(reader->doc, node, err, "layer name %s is used twice, first on line %d", name,
                             reader->layer[first].line);
        return yaml_fail(reader->doc, node, err, "layer name %s is already the name of a network input",
                         name);
    }
    return name_table_put(&reader->name, name, index) ? DSE_OK : out_of_memory(reader, err);
}

/* The key `layers`, or `problems` in its place. */
static enum dse_status find_list(struct network_reader *reader, const struct ynode *problems,
                                 const struct ynode **list, struct dse_error *err)
{
    const struct yaml_doc *doc = reader->doc;
    const char *key = problems != NULL ? "problems" : "layers";
    *list = problems;
    if (problems == NULL)
        DSE_TRY(yaml_require(doc, doc->root, "a network", "layers", list, err));
    else if (yaml_find(doc->root, "layers") != NULL)
        return yaml_fail(doc, problems, err, "both layers and problems are given; use one of them");
    DSE_TRY(yaml_is_sequence(doc, *list, key, err));
    if ((*list)->n_item == 0)
        return yaml_fail(doc, *list, err, "%s is empty; a network has at least one layer", key);
    return DSE_OK;
}

static enum dse_status read_layers(struct network_reader *reader, struct dse_error *err)
{
    struct network *net = reader->net;
    const struct ynode *problems = yaml_find(reader->doc->root, "problems"), *list = NULL;
    DSE_TRY(find_list(reader, problems, &list, err));
    if (list->n_item > NETWORK_LAYER_MAX)
        return dse_fail_at(err, DSE_LIMIT, reader->doc->path, list->line,
                           "%zu layers; up to %d are supported", list->n_item, NETWORK_LAYER_MAX);
    reader->list = list;
    reader->layer = arena_alloc(&net->arena, list->n_item, sizeof(*reader->layer));
    reader->bad = arena_alloc(&net->arena, list->n_item, sizeof(*reader->bad));
    DSE_TRY(arena_check(&reader->net->arena, "a network", err));
    net->n_layer = (uint32_t)list->n_item;
    net->layer = reader->layer;
    for (uint32_t i = 0; i < net->n_input; i++)
        DSE_TRY(enter_name(reader, reader->doc->root, net->input[i].name, net->n_layer + i, err));
    for (uint32_t i = 0; i < net->n_layer; i++) {
        struct layer *layer = &reader->layer[i];
        const size_t n_fault = dse_faults_count(reader->doc->faults);
        DSE_NOTE(reader->doc->faults, (problems != NULL ? network_read_problem : network_read_layer)(
                                          reader, list->item[i], layer, err));
        if (layer->name)
            DSE_NOTE(reader->doc->faults, enter_name(reader, list->item[i], layer->name, i, err));
        else
            reader->is_unnamed = true;
        reader->bad[i] = dse_faults_count(reader->doc->faults) > n_fault;
    }
    return DSE_OK;
}

static enum dse_status read_input(struct network_reader *reader, const struct ynode *node, const char *name,
                                  struct network_input *input, struct dse_error *err)
{
    static const char *const allowed[] = {"C", "H", "W"};
    char what[WHAT_MAX];
    snprintf(what, sizeof(what), "network input %.100s", name);
    struct dse_faults *faults = reader->doc->faults;
    DSE_TRY(keep_text(reader, name, &input->name, err));
    DSE_TRY(yaml_check_keys(reader->doc, node, what, allowed, 3, err));
    DSE_NOTE(faults, network_require(reader, node, what, "C", err));
    DSE_NOTE(faults, network_read_dim(reader, node, what, "C", 1, &input->c, err));
    DSE_NOTE(faults, network_read_dim(reader, node, what, "H", 1, &input->h, err));
    return network_read_dim(reader, node, what, "W", 1, &input->w, err);
}

/* Keys input (one, called "input") and inputs (several by name). */
static enum dse_status read_inputs(struct network_reader *reader, struct dse_error *err)
{
    const struct yaml_doc *doc = reader->doc;
    const struct ynode *one = yaml_find(doc->root, "input");
    const struct ynode *several = yaml_find(doc->root, "inputs");
    const struct ynode *given = one != NULL ? one : several;
    if (!reader->net->is_graph)
        return given == NULL
                   ? DSE_OK
                   : yaml_fail(doc, given, err, "a list of layers (kind: layers) has no network input");
    if (given == NULL)
        return yaml_fail(
            doc, doc->root, err,
            "the network has no input; add \"input: {C: 3, H: 224, W: 224}\" (or kind: layers for a list)");
    if (one != NULL && several != NULL)
        return yaml_fail(doc, several, err, "both input and inputs are given; use one of them");
    if (several != NULL) {
        DSE_TRY(yaml_is_mapping(doc, several, "inputs", err));
        if (several->n_item == 0 || several->n_item > NETWORK_LAYER_MAX)
            return yaml_fail(doc, several, err, "inputs names %zu inputs; from 1 to %d are supported",
                             several->n_item, NETWORK_LAYER_MAX);
    }
    size_t n = one != NULL ? 1 : several->n_item;
    struct network_input *input = arena_alloc(&reader->net->arena, n, sizeof(*input));
    DSE_TRY(arena_check(&reader->net->arena, "a network", err));
    reader->net->input = input;
    reader->net->n_input = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        DSE_NOTE(doc->faults, read_input(reader, one != NULL ? one : several->item[i],
                                         one != NULL ? "input" : several->key[i], &input[i], err));
    return DSE_OK;
}

static enum dse_status read_optional_text(struct network_reader *reader, const char *key, const char **kept,
                                          struct dse_error *err)
{
    const struct ynode *node = yaml_find(reader->doc->root, key);
    const char *text = "";
    if (node != NULL)
        DSE_TRY(yaml_text(reader->doc, node, key, &text, err));
    return keep_text(reader, text, kept, err);
}

static enum dse_status read_head(struct network_reader *reader, struct dse_error *err)
{
    static const char *const allowed[] = {"network",    "title",  "source", "kind",     "published_batch",
                                          "input",      "inputs", "layers", "problems", "unroll",
                                          "parameters", "let",    "of",     "set",      "not_graph"};
    static const char *const kinds[] = {"graph", "layers"};
    const struct yaml_doc *doc = reader->doc;
    struct network *net = reader->net;
    DSE_TRY(yaml_is_mapping(doc, doc->root, "a network file", err));
    DSE_TRY(yaml_check_keys(doc, doc->root, "a network file", allowed, sizeof(allowed) / sizeof(allowed[0]),
                            err));
    const struct ynode *name = yaml_find(doc->root, "network");
    DSE_NOTE(doc->faults, network_require(reader, doc->root, "a network file", "network", err));
    if (name)
        DSE_NOTE(doc->faults, network_read_name(reader, name, "network name", &net->name, err));
    DSE_NOTE(doc->faults, read_optional_text(reader, "title", &net->title, err));
    DSE_NOTE(doc->faults, read_optional_text(reader, "source", &net->source, err));
    DSE_NOTE(doc->faults, read_optional_text(reader, "not_graph", &net->not_graph, err));
    DSE_TRY(keep_text(reader, doc->path, &net->path, err));
    const struct ynode *kind = yaml_find(doc->root, "kind");
    const struct ynode *problems = yaml_find(doc->root, "problems");
    size_t index = problems != NULL;
    if (kind != NULL)
        DSE_TRY(yaml_choice(doc, kind, "kind", kinds, 2, &index, err)); /* all else hangs on it */
    net->is_graph = index == 0;
    if (net->is_graph && yaml_find(doc->root, "not_graph") != NULL)
        return yaml_fail(doc, yaml_find(doc->root, "not_graph"), err,
                         "not_graph says why a list of layers (kind: layers) is none; this is a graph");
    if (net->is_graph && problems != NULL)
        return yaml_fail(doc, problems, err,
                         "problems are a list of layers, not a graph; write kind: layers");
    const struct ynode *batch = yaml_find(doc->root, "published_batch");
    uint64_t number = 0;
    if (batch != NULL)
        DSE_NOTE(doc->faults, yaml_u64(doc, batch, "published_batch", 1, NETWORK_DIM_MAX, &number, err));
    net->published_batch = (uint32_t)number;
    const struct ynode *unroll = yaml_find(doc->root, "unroll");
    if (unroll)
        DSE_NOTE(doc->faults, yaml_bool(doc, unroll, "unroll", &net->unroll, err));
    return DSE_OK;
}

static enum dse_status unknown_producer(const struct network_reader *reader, const struct layer *layer,
                                        const struct ynode *node, const char *name, struct dse_error *err)
{
    const struct network *net = reader->net;
    const char **known =
        arena_alloc(&reader->net->arena, (size_t)net->n_layer + net->n_input, sizeof(*known));
    const char *near = NULL;
    if (known != NULL) {
        for (uint32_t i = 0; i < net->n_input; i++)
            known[i] = net->input[i].name;
        for (uint32_t i = 0; i < net->n_layer; i++)
            known[net->n_input + i] = net->layer[i].name;
        near = text_nearest(name, known, (size_t)net->n_layer + net->n_input);
    }
    if (near != NULL)
        return yaml_fail(reader->doc, node, err,
                         "layer %s: its producer \"%.100s\" does not exist; did you mean \"%s\"?",
                         layer->name, name, near);
    return yaml_fail(reader->doc, node, err,
                     "layer %s: its producer \"%.100s\" is neither a layer nor a network input (%s)",
                     layer->name, name, net->input[0].name);
}

static enum dse_status resolve(const struct network_reader *reader, const struct layer *layer,
                               const struct ynode *node, const char *key, int32_t *producer,
                               struct dse_error *err)
{
    const char *name = NULL;
    DSE_TRY(yaml_text(reader->doc, node, key, &name, err));
    size_t index = 0;
    if (!name_table_get(&reader->name, name, &index))
        return unknown_producer(reader, layer, node, name, err);
    size_t n_layer = reader->net->n_layer;
    *producer = index < n_layer ? (int32_t)index : -1 - (int32_t)(index - n_layer);
    return DSE_OK;
}

static enum dse_status link_layer(struct network_reader *reader, const struct ynode *node,
                                  struct layer *layer, struct dse_error *err)
{
    const struct ynode *from = yaml_find(node, "from");
    if (from == NULL && yaml_is_misspelt(reader->doc, node, "from"))
        return DSE_OK;
    if (from == NULL)
        return network_fail_layer(reader, layer, err, "no producer; add \"from: %s\" or another layer's name",
                                  reader->net->input[0].name);
    size_t n = from->kind == YNODE_SEQUENCE ? from->n_item : 1;
    if (n == 0 || n > NETWORK_LAYER_MAX)
        return network_fail_layer(reader, layer, err, "from names %zu producers; from 1 to %d are supported",
                                  n, NETWORK_LAYER_MAX);
    int32_t *producer = arena_alloc(&reader->net->arena, n, sizeof(*producer));
    DSE_TRY(arena_check(&reader->net->arena, "a network", err));
    for (size_t i = 0; i < n; i++)
        DSE_TRY(resolve(reader, layer, from->kind == YNODE_SEQUENCE ? from->item[i] : from, "from",
                        &producer[i], err));
    layer->producer = producer;
    layer->n_producer = (uint32_t)n;
    if (layer->type != LAYER_MATMUL)
        return DSE_OK;
    const struct ynode *weights = yaml_find(node, "weights_from");
    if (weights == NULL)
        return network_fail_layer(reader, layer, err,
                                  "a matmul needs weights_from: the producer of its second operand");
    return resolve(reader, layer, weights, "weights_from", &layer->weight_producer, err);
}

static enum dse_status link_layers(struct network_reader *reader, struct dse_error *err)
{
    for (uint32_t i = 0; i < reader->net->n_layer; i++) {
        const size_t n_fault = dse_faults_count(reader->doc->faults);
        DSE_NOTE(reader->doc->faults, link_layer(reader, reader->list->item[i], &reader->layer[i], err));
        reader->bad[i] |= dse_faults_count(reader->doc->faults) > n_fault;
    }
    return DSE_OK;
}

static enum dse_status read_document(struct network_reader *reader, struct dse_error *err)
{
    struct dse_faults *faults = reader->doc->faults;
    const size_t n_fault = dse_faults_count(faults);
    DSE_TRY(read_head(reader, err));
    DSE_NOTE(faults, read_inputs(reader, err));
    reader->has_bad_input = dse_faults_count(faults) > n_fault;
    DSE_TRY(read_layers(reader, err));
    if (reader->net->is_graph && (reader->net->n_input == 0 || reader->is_unnamed))
        return DSE_OK; /* noted; nobody knows who produces what */
    if (reader->net->is_graph)
        DSE_TRY(link_layers(reader, err));
    if (dse_faults_count(faults) == n_fault)
        DSE_TRY(network_sort(reader, err));
    return network_check_shapes(reader, err);
}

/* What repeats and what was set, out of an arena that goes. */
static enum dse_status keep_expansion(const struct network_expansion *expansion, struct network *net,
                                      struct dse_error *err)
{
    struct arena *arena = &net->arena;
    struct network_repeat *repeat = arena_alloc(arena, expansion->n_repeat, sizeof *repeat);
    struct network_parameter *parameter = arena_alloc(arena, expansion->n_parameter, sizeof *parameter);
    DSE_TRY(arena_check(arena, "a network", err));
    for (uint32_t i = 0; i < expansion->n_repeat; i++) {
        repeat[i] = expansion->repeat[i];
        repeat[i].name = arena_copy_text(arena, repeat[i].name, strlen(repeat[i].name));
    }
    for (uint32_t i = 0; i < expansion->n_parameter; i++) {
        const struct network_parameter *from = &expansion->parameter[i];
        parameter[i] = (struct network_parameter){
            arena_copy_text(arena, from->name, strlen(from->name)),
            arena_copy_text(arena, from->value, strlen(from->value)),
            arena_copy_text(arena, from->accepted, strlen(from->accepted)), from->is_default};
    }
    net->n_repeat = expansion->n_repeat;
    net->repeat = repeat;
    net->n_parameter = expansion->n_parameter;
    net->parameter = parameter;
    return arena_check(arena, "a network", err);
}

/* Expanded in `arena`, then read as any other. */
static enum dse_status build_expanded(struct network_reader *reader, const struct network_settings *settings,
                                      struct arena *arena, struct dse_error *err)
{
    struct network_expansion expansion;
    struct yaml_doc plain = *reader->doc;
    DSE_TRY(network_expand(reader->doc, settings, arena, &expansion, err));
    plain.root = expansion.root;
    reader->doc = &plain;
    enum dse_status status = read_document(reader, err);
    return status == DSE_OK ? keep_expansion(&expansion, reader->net, err) : status;
}

static enum dse_status build(struct network_reader *reader, const struct network_settings *settings,
                             struct dse_error *err)
{
    struct arena arena;
    arena_init(&arena);
    enum dse_status status;
    if (network_is_parametrised(reader->doc) || settings->n > 0)
        status = build_expanded(reader, settings, &arena, err);
    else
        status = read_document(reader, err);
    arena_free(&arena);
    return status;
}

enum dse_status network_native_build(const struct yaml_doc *doc, const struct network_problems *problems,
                                     const struct network_settings *settings, struct network *network,
                                     struct dse_error *err)
{
    memset(network, 0, sizeof(*network));
    arena_init(&network->arena);
    const size_t n_fault = dse_faults_count(doc->faults);
    struct network_reader reader = {.doc = doc, .problems = problems, .net = network};
    name_table_init(&reader.name);
    enum dse_status status = dse_while_reading(doc->path, build(&reader, settings, err), err);
    name_table_free(&reader.name);
    if (status != DSE_OK || dse_faults_count(doc->faults) > n_fault)
        network_free(network);
    return status;
}
