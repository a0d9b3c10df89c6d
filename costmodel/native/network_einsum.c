/* Layers of type einsum: dims: {I: 128, J: 1024}, tensors: [{name: A, role: output, index: [I, "P*2+R"]},
 * ...]. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/native/network_parts.h"

enum { OWNER_MAX = 112, WHAT_MAX = 200 };

/* One term of an index: "P", "P*2" or "2*P". Moves `*text` behind it; 0 when it is none. */
static int parse_term(const char **text, char *name, size_t name_size, uint64_t *coefficient)
{
    const char *at = *text;
    *coefficient = 1;
    name[0] = '\0';
    for (int factor = 0; factor < 2; factor++) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_')
            length++;
        char word[PROBLEM_DIM_NAME_MAX];
        if (length == 0 || length >= sizeof(word))
            return 0;
        memcpy(word, at, length);
        word[length] = '\0';
        at += length;
        bool number = isdigit((unsigned char)word[0]);
        if (number ? (*coefficient != 1 || !text_parse_u64(word, coefficient)) : name[0] != '\0')
            return 0;
        if (!number)
            text_copy(name, name_size, word);
        if (*at != '*')
            break;
        if (factor == 1)
            return 0;
        at++;
    }
    *text = at;
    return name[0] != '\0';
}

static enum dse_status bad_index(const struct network_reader *reader, const struct ynode *node,
                                 const char *what, const char *text, struct dse_error *err)
{
    return yaml_fail(reader->doc, node, err,
                     "%s: index \"%.60s\" is not a dimension or a sum such as P*2+R (up to %d terms)", what,
                     text, PROBLEM_TERM_MAX);
}

/* A sum of terms such as "P*2+R"; blanks are allowed. */
static enum dse_status parse_index(const struct network_reader *reader, const struct ynode *node,
                                   const char *what, const struct problem *problem, struct tensor_rank *rank,
                                   struct dse_error *err)
{
    const char *text = NULL;
    DSE_TRY(yaml_text(reader->doc, node, what, &text, err));
    char packed[128];
    size_t length = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == ' ')
            continue;
        if (length + 1 >= sizeof(packed))
            return bad_index(reader, node, what, text, err);
        packed[length++] = *at;
    }
    packed[length] = '\0';
    const char *at = packed;
    for (;;) {
        char name[PROBLEM_DIM_NAME_MAX];
        uint64_t coefficient = 0;
        if (rank->n_term == PROBLEM_TERM_MAX || !parse_term(&at, name, sizeof(name), &coefficient))
            return bad_index(reader, node, what, text, err);
        int dim = problem_find_dim(problem, name);
        if (dim < 0)
            return yaml_fail(reader->doc, node, err, "%s: \"%s\" is not one of the layer's dims", what, name);
        if (coefficient < 1 || coefficient > NETWORK_STEP_MAX)
            return yaml_fail(reader->doc, node, err, "%s: a factor in \"%.60s\" is not from 1 to %d", what,
                             text, NETWORK_STEP_MAX);
        rank->term[rank->n_term++] =
            (struct projection_term){.dim = (uint32_t)dim, .coefficient = (uint32_t)coefficient};
        if (*at == '\0')
            return DSE_OK;
        if (*at++ != '+')
            return bad_index(reader, node, what, text, err);
    }
}

static enum dse_status read_tensor(const struct network_reader *reader, const struct ynode *node,
                                   const char *owner, const struct problem *problem, struct tensor *tensor,
                                   struct dse_error *err)
{
    static const char *const allowed[] = {"name", "role", "index"};
    static const char *const roles[TENSOR_ROLE_COUNT] = {
        [TENSOR_WEIGHT] = "weights", [TENSOR_INPUT] = "input", [TENSOR_OUTPUT] = "output"};
    const struct yaml_doc *doc = reader->doc;
    char what[WHAT_MAX];
    snprintf(what, sizeof(what), "a tensor of %.110s", owner);
    DSE_TRY(yaml_is_mapping(doc, node, what, err));
    DSE_TRY(yaml_check_keys(doc, node, what, allowed, 3, err));
    const struct ynode *value = NULL;
    const char *name = NULL;
    DSE_TRY(yaml_require(doc, node, what, "name", &value, err));
    DSE_TRY(yaml_text(doc, value, "tensor name", &name, err));
    if (!text_copy(tensor->name, sizeof(tensor->name), name) || !text_is_name(name))
        return yaml_fail(
            doc, value, err,
            "%s: a tensor name has from 1 to %d letters, digits and _ . + / -, beginning with a letter",
            owner, PROBLEM_NAME_MAX - 1);
    snprintf(what, sizeof(what), "%.110s: tensor %.60s", owner, name);
    DSE_TRY(yaml_require(doc, node, what, "role", &value, err));
    size_t role = 0;
    DSE_TRY(yaml_choice(doc, value, what, roles, TENSOR_ROLE_COUNT, &role, err));
    tensor->role = (enum tensor_role)role;
    tensor->read_write = tensor->role == TENSOR_OUTPUT;
    DSE_TRY(yaml_require(doc, node, what, "index", &value, err));
    DSE_TRY(yaml_is_sequence(doc, value, what, err));
    if (value->n_item > PROBLEM_RANK_MAX)
        return yaml_fail(doc, value, err, "%s has %zu ranks; up to %d are supported", what, value->n_item,
                         PROBLEM_RANK_MAX);
    for (size_t i = 0; i < value->n_item; i++)
        DSE_TRY(parse_index(reader, value->item[i], what, problem, &tensor->rank[tensor->n_rank++], err));
    return DSE_OK;
}

static enum dse_status read_einsum_dims(const struct network_reader *reader, const struct ynode *dims,
                                        const char *owner, struct problem *problem, struct dse_error *err)
{
    const struct yaml_doc *doc = reader->doc;
    char what[WHAT_MAX];
    snprintf(what, sizeof(what), "%.110s: dims", owner);
    DSE_TRY(yaml_is_mapping(doc, dims, what, err));
    if (dims->n_item < 1 || dims->n_item > PROBLEM_DIM_MAX)
        return yaml_fail(doc, dims, err, "%s has %zu dimensions; from 1 to %d are supported", what,
                         dims->n_item, PROBLEM_DIM_MAX);
    for (size_t d = 0; d < dims->n_item; d++) {
        const char *key = dims->key[d];
        size_t fine = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if (key[0] == '\0' || isdigit((unsigned char)key[0]) || key[fine] != '\0' ||
            fine >= PROBLEM_DIM_NAME_MAX)
            return yaml_fail(doc, dims->item[d], err,
                             "%s: \"%.40s\" is not a dimension name (a letter, then up to %d "
                             "letters, digits and _)",
                             what, key, PROBLEM_DIM_NAME_MAX - 2);
        snprintf(what, sizeof(what), "%.110s: dims: %.30s", owner, key);
        uint64_t bound = 0;
        DSE_TRY(yaml_u64(doc, dims->item[d], what, 1, NETWORK_DIM_MAX, &bound, err));
        text_copy(problem->dim_name[d], sizeof(problem->dim_name[d]), key);
        problem->bound[d] = (uint32_t)bound;
        problem->n_dim++;
    }
    return DSE_OK;
}

enum dse_status network_read_einsum(struct network_reader *reader, const struct ynode *node,
                                    struct layer *layer, struct dse_error *err)
{
    const struct yaml_doc *doc = reader->doc;
    char owner[OWNER_MAX];
    snprintf(owner, sizeof(owner), "layer %.100s", layer->name);
    if (reader->net->is_graph)
        return yaml_fail(doc, node, err, "%s: type einsum is for lists of layers only; add kind: layers",
                         owner);
    struct problem *problem = arena_alloc(&reader->net->arena, 1, sizeof(*problem));
    DSE_TRY(arena_check(&reader->net->arena, "a network", err));
    layer->einsum = problem;
    layer->groups = 1;
    text_copy(problem->name, sizeof(problem->name), layer->name);
    const struct ynode *dims = NULL;
    const struct ynode *tensors = NULL;
    DSE_TRY(yaml_require(doc, node, owner, "dims", &dims, err));
    DSE_TRY(yaml_require(doc, node, owner, "tensors", &tensors, err));
    DSE_TRY(read_einsum_dims(reader, dims, owner, problem, err));
    char what[WHAT_MAX];
    snprintf(what, sizeof(what), "%.110s: tensors", owner);
    DSE_TRY(yaml_is_sequence(doc, tensors, what, err));
    if (tensors->n_item < 1 || tensors->n_item > PROBLEM_TENSOR_MAX)
        return yaml_fail(doc, tensors, err, "%s has %zu tensors; from 1 to %d are supported", owner,
                         tensors->n_item, PROBLEM_TENSOR_MAX);
    for (size_t t = 0; t < tensors->n_item; t++)
        DSE_TRY(read_tensor(reader, tensors->item[t], owner, problem, &problem->tensor[problem->n_tensor++],
                            err));
    struct dse_error inner = {0};
    enum dse_status status = problem_check(problem, &inner);
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, doc->path, layer->line, "%s", inner.text);
}
