/* Problems: a shape (dimensions, coefficients, projections, or the built-in cnn-layer) and its instance;
 * coefficients are put into the projections at the end. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "costmodel/timeloop/timeloop.h"
#include "costmodel/timeloop/timeloop_parts.h"

enum { COEFFICIENT_MAX = 32 };

struct coefficient {
    const char *name;
    bool known;
    uint32_t value;
};

/* A shape being read. `shape_doc` differs from `doc` for a built-in shape. */
struct shape {
    const struct yaml_doc *doc;
    const struct yaml_doc *shape_doc;
    struct problem *problem;
    bool nameless; /* with doc->faults: dimensions or coefficients are wrong, and so are references to them */
    uint32_t n_coefficient;
    struct coefficient coefficient[COEFFICIENT_MAX];
};

/* Timeloop's own shape file of that name; the order of dimensions and tensors matters for reports. */
static const char cnn_layer[] =
    "name: cnn-layer\n"
    "dimensions: [C, K, R, S, N, P, Q]\n"
    "coefficients:\n"
    "- {name: Wstride, default: 1}\n"
    "- {name: Hstride, default: 1}\n"
    "- {name: Wdilation, default: 1}\n"
    "- {name: Hdilation, default: 1}\n"
    "data-spaces:\n"
    "- {name: Weights, projection: [[[C]], [[K]], [[R]], [[S]]]}\n"
    "- {name: Inputs, projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, "
    "Hstride]]]}\n"
    "- {name: Outputs, projection: [[[N]], [[K]], [[Q]], [[P]]], read-write: true}\n";

static bool is_word(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return text[0] != '\0' && strchr(letters, text[0]) != NULL && strspn(text, all) == strlen(text);
}

static struct coefficient *find_coefficient(struct shape *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_coefficient; i++)
        if (strcmp(s->coefficient[i].name, name) == 0)
            return &s->coefficient[i];
    return NULL;
}

static enum dse_status read_dimension(struct shape *s, const struct ynode *node, struct dse_error *err)
{
    const struct yaml_doc *doc = s->shape_doc;
    struct problem *problem = s->problem;
    const char *name;
    DSE_TRY(yaml_text(doc, node, "a dimension", &name, err));
    if (!is_word(name) || strlen(name) >= PROBLEM_DIM_NAME_MAX)
        return yaml_fail(doc, node, err, "dimension \"%s\" must be a word of at most %d letters", name,
                         PROBLEM_DIM_NAME_MAX - 1);
    if (problem_find_dim(problem, name) >= 0)
        return yaml_fail(doc, node, err, "dimension %s appears twice", name);
    text_copy(problem->dim_name[problem->n_dim++], PROBLEM_DIM_NAME_MAX, name);
    return DSE_OK;
}

static enum dse_status read_dimensions(struct shape *s, const struct ynode *shape, struct dse_error *err)
{
    const struct yaml_doc *doc = s->shape_doc;
    const struct ynode *list;
    DSE_TRY(yaml_require(doc, shape, "problem.shape", "dimensions", &list, err));
    DSE_TRY(yaml_is_sequence(doc, list, "dimensions", err));
    if (list->n_item == 0)
        return yaml_fail(doc, list, err, "the problem has no dimensions");
    if (list->n_item > PROBLEM_DIM_MAX)
        return dse_fail_at(err, DSE_LIMIT, doc->path, list->line, "%zu dimensions, at most %d are supported",
                           list->n_item, PROBLEM_DIM_MAX);
    for (size_t i = 0; i < list->n_item; i++)
        DSE_NOTE(doc->faults, read_dimension(s, list->item[i], err));
    return DSE_OK;
}

/* A stride or dilation: a whole number >= 1. */
static enum dse_status coefficient_value(const struct yaml_doc *doc, const struct ynode *node,
                                         const char *name, uint32_t *value, struct dse_error *err)
{
    int64_t signed_value = 0;
    uint64_t wide = 0;

    if (node->kind == YNODE_SCALAR && text_parse_i64(node->text, &signed_value) && signed_value < 1)
        return yaml_fail(doc, node, err,
                         "coefficient %s is %s: negative and zero coefficients are not supported, it "
                         "must be at least 1",
                         name, node->text);
    DSE_TRY(yaml_u64(doc, node, name, 1, UINT32_MAX, &wide, err));
    *value = (uint32_t)wide;
    return DSE_OK;
}

static enum dse_status read_coefficient(struct shape *s, const struct ynode *node, struct dse_error *err)
{
    static const char *const allowed[] = {"name", "default"};
    const struct yaml_doc *doc = s->shape_doc;
    struct coefficient *c = &s->coefficient[s->n_coefficient];
    const struct ynode *value;
    const char *name;
    if (s->n_coefficient == COEFFICIENT_MAX)
        return dse_fail_at(err, DSE_LIMIT, doc->path, node->line, "more than %d coefficients",
                           (int)COEFFICIENT_MAX);
    DSE_TRY(yaml_check_keys(doc, node, "a coefficient", allowed, 2, err));
    DSE_TRY(yaml_require(doc, node, "a coefficient", "name", &value, err));
    DSE_TRY(yaml_text(doc, value, "the name of a coefficient", &name, err));
    if (find_coefficient(s, name) != NULL || problem_find_dim(s->problem, name) >= 0)
        return yaml_fail(doc, value, err, "coefficient %s has the name of another coefficient or dimension",
                         name);
    *c = (struct coefficient){.name = name};
    value = yaml_find(node, "default");
    if (value != NULL) {
        DSE_TRY(coefficient_value(doc, value, name, &c->value, err));
        c->known = true;
    }
    s->n_coefficient++;
    return DSE_OK;
}

static enum dse_status read_coefficients(struct shape *s, const struct ynode *shape, struct dse_error *err)
{
    const struct yaml_doc *doc = s->shape_doc;
    const struct ynode *list = yaml_find(shape, "coefficients");
    if (timeloop_is_null(list))
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(doc, list, "coefficients", err));
    for (size_t i = 0; i < list->n_item; i++)
        DSE_NOTE(doc->faults, read_coefficient(s, list->item[i], err));
    return DSE_OK;
}

/* One term of a rank: "P", [P] or [P, Wstride]. Its coefficient is filled in once the instance is read; until
 * then the field holds the coefficient's index + 1, or 0 for none. */
static enum dse_status read_term(struct shape *s, const struct ynode *node, struct projection_term *term,
                                 struct dse_error *err)
{
    const struct yaml_doc *doc = s->shape_doc;
    const struct ynode *dim = node;
    const struct coefficient *c;
    const char *name;
    int d;
    term->coefficient = 0;
    if (node->kind == YNODE_SEQUENCE) {
        if (node->n_item < 1 || node->n_item > 2)
            return yaml_fail(doc, node, err,
                             "a term of a projection must be [dimension] or [dimension, coefficient]");
        dim = node->item[0];
    }
    DSE_TRY(yaml_text(doc, dim, "a dimension in a projection", &name, err));
    d = problem_find_dim(s->problem, name);
    if (d < 0)
        return timeloop_unknown_dim(doc, dim->line, err, "dimension in a projection", name, s->problem);
    term->dim = (uint32_t)d;
    if (node->kind == YNODE_SEQUENCE && node->n_item == 2) {
        DSE_TRY(yaml_text(doc, node->item[1], "a coefficient in a projection", &name, err));
        c = find_coefficient(s, name);
        if (c == NULL)
            return yaml_fail(doc, node->item[1], err,
                             "\"%s\" is not one of the shape's coefficients; name "
                             "it under `coefficients` with a default",
                             name);
        term->coefficient = (uint32_t)(c - s->coefficient) + 1;
    }
    return DSE_OK;
}

static enum dse_status read_projection(struct shape *s, const struct ynode *list, struct tensor *tensor,
                                       struct dse_error *err)
{
    const struct yaml_doc *doc = s->shape_doc;
    DSE_TRY(yaml_is_sequence(doc, list, "projection", err));
    if (list->n_item == 0 || list->n_item > PROBLEM_RANK_MAX)
        return dse_fail_at(err, list->n_item == 0 ? DSE_BAD_INPUT : DSE_LIMIT, doc->path, list->line,
                           "%s has %zu ranks, 1 to %d are supported", tensor->name, list->n_item,
                           (int)PROBLEM_RANK_MAX);
    for (size_t r = 0; r < list->n_item; r++) {
        const struct ynode *node = list->item[r];
        struct tensor_rank *rank = &tensor->rank[tensor->n_rank++];

        if (node->kind == YNODE_SCALAR) {
            rank->n_term = 1;
            DSE_NOTE(doc->faults, read_term(s, node, &rank->term[0], err));
            continue;
        }
        DSE_TRY(yaml_is_sequence(doc, node, "a rank of a projection", err));
        if (node->n_item == 0 || node->n_item > PROBLEM_TERM_MAX)
            return dse_fail_at(err, node->n_item == 0 ? DSE_BAD_INPUT : DSE_LIMIT, doc->path, node->line,
                               "a rank of %s adds up %zu terms, 1 to %d are supported", tensor->name,
                               node->n_item, (int)PROBLEM_TERM_MAX);
        for (size_t t = 0; t < node->n_item; t++)
            DSE_NOTE(doc->faults, read_term(s, node->item[t], &rank->term[rank->n_term++], err));
    }
    return DSE_OK;
}

static enum tensor_role role_of(const struct tensor *tensor)
{
    static const char *const weight[] = {"Weights", "Weight", "Filters", "Filter"};

    if (tensor->read_write)
        return TENSOR_OUTPUT;
    for (size_t i = 0; i < sizeof weight / sizeof weight[0]; i++)
        if (strcasecmp(tensor->name, weight[i]) == 0)
            return TENSOR_WEIGHT;
    return TENSOR_INPUT;
}

/* The value under `key` or under its other spelling, NULL when neither is there; both at once are an
 * error. */
static enum dse_status find_spelling(const struct shape *s, const struct ynode *node, const char *key,
                                     const char *other, const struct ynode **value, struct dse_error *err)
{
    const struct ynode *second = yaml_find(node, other);

    *value = yaml_find(node, key);
    if (*value != NULL && second != NULL)
        return yaml_fail(s->shape_doc, second, err, "both %s and %s are given, two spellings of one thing",
                         key, other);
    if (*value == NULL)
        *value = second;
    return DSE_OK;
}

static enum dse_status read_tensor(struct shape *s, const struct ynode *node, struct dse_error *err)
{
    const struct yaml_doc *doc = s->shape_doc;
    static const char *const allowed[] = {"name", "projection", "read-write", "read_write"};
    struct tensor *tensor = &s->problem->tensor[s->problem->n_tensor];
    const struct ynode *value, *projection;
    const char *name;
    DSE_TRY(yaml_is_mapping(doc, node, "a data-space", err));
    value = yaml_find(node, "density");
    if (value != NULL)
        return yaml_fail(doc, value, err, "density is not supported: the cost model is dense");
    DSE_TRY(yaml_check_keys(doc, node, "a data-space", allowed, 4, err));
    DSE_TRY(yaml_require(doc, node, "a data-space", "name", &value, err));
    DSE_TRY(yaml_text(doc, value, "the name of a data-space", &name, err));
    if (!text_is_name(name) || strlen(name) >= PROBLEM_NAME_MAX)
        return yaml_fail(
            doc, value, err,
            "the name of a data-space must have 1 to %d letters, digits and _ . + / -, beginning with a "
            "letter",
            (int)PROBLEM_NAME_MAX - 1);
    if (problem_find_tensor(s->problem, name) >= 0)
        return yaml_fail(doc, value, err, "two data-spaces are named %s", name);
    text_copy(tensor->name, sizeof tensor->name, name);
    DSE_TRY(find_spelling(s, node, "read-write", "read_write", &value, err));
    if (value != NULL)
        DSE_TRY(yaml_bool(doc, value, "read-write", &tensor->read_write, err));
    tensor->role = role_of(tensor);
    DSE_TRY(yaml_require(doc, node, name, "projection", &projection, err));
    DSE_TRY(read_projection(s, projection, tensor, err));
    s->problem->n_tensor++;
    return DSE_OK;
}

static enum dse_status read_shape(struct shape *s, const struct ynode *shape, struct dse_error *err)
{
    const struct yaml_doc *doc = s->shape_doc;
    static const char *const allowed[] = {"version",      "name",        "dimensions",
                                          "coefficients", "data-spaces", "data_spaces"};
    const struct ynode *list, *value;
    const char *name = "problem";
    DSE_TRY(yaml_is_mapping(doc, shape, "problem.shape", err));
    DSE_TRY(yaml_check_keys(doc, shape, "problem.shape", allowed, 6, err));
    value = yaml_find(shape, "name");
    if (!timeloop_is_null(value))
        DSE_TRY(yaml_text(doc, value, "problem.shape.name", &name, err));
    text_excerpt(name, s->problem->name, sizeof s->problem->name);
    const size_t n_fault = dse_faults_count(doc->faults);
    DSE_NOTE(doc->faults, read_dimensions(s, shape, err));
    DSE_NOTE(doc->faults, read_coefficients(s, shape, err));
    s->nameless = dse_faults_count(doc->faults) > n_fault;
    if (s->nameless)
        return DSE_OK;
    DSE_TRY(find_spelling(s, shape, "data-spaces", "data_spaces", &list, err));
    if (list == NULL)
        DSE_TRY(yaml_require(doc, shape, "problem.shape", "data-spaces", &list, err));
    DSE_TRY(yaml_is_sequence(doc, list, "data-spaces", err));
    if (list->n_item > PROBLEM_TENSOR_MAX)
        return dse_fail_at(err, DSE_LIMIT, doc->path, list->line, "%zu data-spaces, at most %d are supported",
                           list->n_item, (int)PROBLEM_TENSOR_MAX);
    for (size_t i = 0; i < list->n_item; i++)
        DSE_NOTE(doc->faults, read_tensor(s, list->item[i], err));
    return DSE_OK;
}

static enum dse_status unknown_instance_key(const struct shape *s, const char *key, int line,
                                            struct dse_error *err)
{
    static const char *const density[] = {"densities", "density", "commonDensity", "common-density"};
    const char *known[PROBLEM_DIM_MAX + COEFFICIENT_MAX];
    size_t n_known = 0;

    for (size_t i = 0; i < sizeof density / sizeof density[0]; i++)
        if (strcmp(key, density[i]) == 0)
            return dse_fail_at(err, DSE_BAD_INPUT, s->doc->path, line,
                               "%s is not supported: the cost model is dense", key);
    for (uint32_t d = 0; d < s->problem->n_dim; d++)
        known[n_known++] = s->problem->dim_name[d];
    for (uint32_t i = 0; i < s->n_coefficient; i++)
        known[n_known++] = s->coefficient[i].name;
    return timeloop_unknown(s->doc, line, err, "dimension or coefficient", key, known, n_known);
}

/* The bound of a dimension or the value of a coefficient. */
static enum dse_status read_entry(struct shape *s, const char *key, int line, const struct ynode *node,
                                  struct dse_error *err)
{
    static const char *const size_of_input[] = {"H", "W", "Hpad", "Wpad"}; /* which bounds and strides say */
    struct coefficient *c = find_coefficient(s, key);
    int d = problem_find_dim(s->problem, key);
    uint64_t bound = 0;
    if (d >= 0) {
        DSE_TRY(yaml_u64(s->doc, node, key, 1, UINT32_MAX, &bound, err));
        s->problem->bound[d] = (uint32_t)bound;
        return DSE_OK;
    }
    for (size_t i = 0; c == NULL && i < sizeof size_of_input / sizeof size_of_input[0]; i++)
        if (strcmp(key, size_of_input[i]) == 0)
            return DSE_OK;
    if (c == NULL && strcmp(key, "densities") == 0 && timeloop_is_empty(node))
        return DSE_OK;
    if (c == NULL)
        return unknown_instance_key(s, key, line, err);
    DSE_TRY(coefficient_value(s->doc, node, key, &c->value, err));
    c->known = true;
    return DSE_OK;
}

/* Bounds and coefficients. `beside` are keys that may stand next to them (an instance written into
 * `problem`). */
static enum dse_status read_instance(struct shape *s, const struct ynode *node, const char *const *beside,
                                     size_t n_beside, struct dse_error *err)
{
    struct problem *problem = s->problem;
    const size_t n_fault = dse_faults_count(s->doc->faults);
    DSE_TRY(yaml_is_mapping(s->doc, node, "problem.instance", err));
    for (size_t i = 0; i < node->n_item; i++) {
        bool skip = false;
        for (size_t k = 0; k < n_beside; k++)
            skip = skip || strcmp(node->key[i], beside[k]) == 0;
        if (!skip)
            DSE_NOTE(s->doc->faults, read_entry(s, node->key[i], node->key_line[i], node->item[i], err));
    }
    if (dse_faults_count(s->doc->faults) > n_fault) /* what is missing may be misspelt */
        return DSE_OK;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (problem->bound[d] == 0)
            DSE_NOTE(s->doc->faults,
                     yaml_fail(s->doc, node, err, "dimension %s has no bound (problem.instance.%s)",
                               problem->dim_name[d], problem->dim_name[d]));
    return DSE_OK;
}

/* Put the coefficients' values where read_term left their indices. */
static enum dse_status resolve_coefficients(struct shape *s, const struct ynode *instance,
                                            struct dse_error *err)
{
    for (uint32_t t = 0; t < s->problem->n_tensor; t++)
        for (uint32_t r = 0; r < s->problem->tensor[t].n_rank; r++)
            for (uint32_t k = 0; k < s->problem->tensor[t].rank[r].n_term; k++) {
                struct projection_term *term = &s->problem->tensor[t].rank[r].term[k];
                const struct coefficient *c =
                    term->coefficient > 0 ? &s->coefficient[term->coefficient - 1] : NULL;

                if (c != NULL && !c->known)
                    return yaml_fail(s->doc, instance, err,
                                     "coefficient %s has neither a default nor a value in the instance",
                                     c->name);
                term->coefficient = c == NULL ? 1 : c->value;
            }
    return DSE_OK;
}

static enum dse_status build(struct shape *s, const struct ynode *top, const struct ynode *shape,
                             struct dse_error *err)
{
    static const char *const beside[] = {"version", "name", "shape"};
    static const char *const keys[] = {"version", "name", "shape", "instance"};
    const struct ynode *instance = yaml_find(top, "instance"), *name;
    const char *text;
    struct dse_error inner;
    struct dse_faults *const faults = s->doc->faults;
    const size_t n_fault = dse_faults_count(faults);
    DSE_NOTE(faults, read_shape(s, shape, err));
    if (instance != NULL)
        DSE_NOTE(faults, yaml_check_keys(s->doc, top, "problem", keys, 4, err));
    if (!s->nameless)
        DSE_NOTE(faults, read_instance(s, instance != NULL ? instance : top, beside,
                                       instance != NULL ? 0 : sizeof beside / sizeof beside[0], err));
    if (dse_faults_count(faults) > n_fault)
        return DSE_OK;
    DSE_TRY(resolve_coefficients(s, instance != NULL ? instance : top, err));
    name = yaml_find(top, "name");
    if (!timeloop_is_null(name)) {
        DSE_TRY(yaml_text(s->doc, name, "problem.name", &text, err));
        text_excerpt(text, s->problem->name, sizeof s->problem->name);
    }
    if (problem_check(s->problem, &inner) != DSE_OK)
        return dse_fail_at(err, inner.status, s->doc->path, top->line, "%s", inner.text);
    return DSE_OK;
}

enum dse_status problem_build(const struct yaml_doc *doc, struct problem *problem, struct dse_error *err)
{
    struct shape s = {.doc = doc, .shape_doc = doc, .problem = problem};
    const struct ynode *top, *shape;
    struct yaml_doc built_in;
    enum dse_status status;

    memset(problem, 0, sizeof *problem);
    DSE_NOTE(doc->faults, timeloop_check_root(doc, TIMELOOP_PROBLEM, err));
    DSE_TRY(yaml_require(doc, doc->root, "a problem file", "problem", &top, err));
    DSE_TRY(yaml_is_mapping(doc, top, "problem", err));
    DSE_TRY(yaml_require(doc, top, "problem", "shape", &shape, err));
    if (shape->kind != YNODE_SCALAR)
        return build(&s, top, shape, err);
    if (strcmp(shape->text, "cnn-layer") != 0)
        return yaml_fail(doc, shape, err,
                         "problem.shape \"%s\": only cnn-layer is built in; write the shape out "
                         "(dimensions, coefficients, data-spaces)",
                         shape->text);
    DSE_TRY(yaml_parse(&built_in, "built-in shape cnn-layer", cnn_layer, strlen(cnn_layer), err));
    s.shape_doc = &built_in;
    status = build(&s, top, built_in.root, err);
    yaml_doc_free(&built_in);
    return status;
}

enum dse_status problem_read(const char *path, struct problem *problem, struct dse_error *err)
{
    struct yaml_doc doc;
    enum dse_status status;

    DSE_TRY(yaml_read(&doc, path, err));
    status = problem_build(&doc, problem, err);
    yaml_doc_free(&doc);
    return status;
}
