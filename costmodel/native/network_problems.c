/* problems: [conv1.yaml, {file: conv2.yaml, name: second, count: 3}], a list of layers whose loop nests lie
 * in files of their own. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/native/network_native.h"
#include "costmodel/native/network_parts.h"

enum { WHAT_MAX = 200 };

static const char name_signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+:/-";

char *network_name_of(const char *path, char name[PROBLEM_NAME_MAX])
{
    static const char *const ending[] = {".yaml", ".yml", ".json", ".csv", ".onnx"};
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        size_t n = strlen(ending[i]);
        if (length > n && strncmp(path + length - n, ending[i], n) == 0 && path[length - n - 1] != '/') {
            length -= n;
            break;
        }
    }
    size_t first = length;
    while (first > 0 && path[first - 1] != '/')
        first--;
    snprintf(name, PROBLEM_NAME_MAX, "%.*s", (int)(length - first), path + first);
    for (char *at = name; *at != '\0'; at++)
        if (strchr(name_signs, *at) == NULL)
            *at = '_';
    if (name[0] == '\0')
        text_copy(name, PROBLEM_NAME_MAX, "problem");
    return name;
}

/* What stands beside the file: its name, and how often it occurs. */
static enum dse_status read_details(struct network_reader *reader, const struct ynode *node,
                                    struct layer *layer, struct dse_error *err)
{
    static const char *const allowed[] = {"file", "name", "count"};
    const struct yaml_doc *doc = reader->doc;
    DSE_TRY(yaml_check_keys(doc, node, "an entry of problems", allowed, 3, err));
    const struct ynode *name = yaml_find(node, "name"), *count = yaml_find(node, "count");
    uint64_t number = 1;
    if (name != NULL)
        DSE_TRY(network_read_name(reader, name, "layer name", &layer->name, err));
    if (count != NULL)
        DSE_TRY(yaml_u64(doc, count, "count", 1, NETWORK_COUNT_MAX, &number, err));
    layer->count = (uint32_t)number;
    return DSE_OK;
}

enum dse_status network_read_problem(struct network_reader *reader, const struct ynode *node,
                                     struct layer *layer, struct dse_error *err)
{
    struct arena *arena = &reader->net->arena;
    const struct ynode *file = node;
    const char *path = NULL;
    char name[PROBLEM_NAME_MAX];
    *layer = (struct layer){.type = LAYER_EINSUM,
                            .line = node->line,
                            .groups = 1,
                            .count = 1,
                            .n_operand = 1,
                            .weight_producer = LAYER_NO_PRODUCER};
    if (node->kind != YNODE_SCALAR) {
        DSE_TRY(read_details(reader, node, layer, err));
        DSE_TRY(yaml_require(reader->doc, node, "an entry of problems", "file", &file, err));
    }
    DSE_TRY(yaml_text(reader->doc, file, "a problem file", &path, err));
    if (layer->name == NULL) {
        network_name_of(path, name);
        layer->name = arena_copy_text(arena, name, strlen(name));
    }
    struct problem *problem = arena_alloc(arena, 1, sizeof(*problem));
    DSE_TRY(arena_check(arena, "a network", err));
    DSE_TRY(reader->problems->read(reader->problems->user, path, problem, err));
    text_copy(problem->name, sizeof(problem->name), layer->name);
    layer->einsum = problem;
    return DSE_OK;
}
