/* Machines of Timeloop v4 as written: nodes from the outside in. A container passes its attributes and its
 * fan-out on to what follows; a fan-out becomes a level of its own, inter_NAME_spatial, as in v4's
 * mappings. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/timeloop/timeloop_parts.h"

/* What the nodes around one hand to it. */
struct scope {
    uint64_t mesh_x, mesh_y;
    size_t n_outer;
    const struct ynode *outer[TIMELOOP_NODE_MAX]; /* (n_outer) attributes of containers, innermost last */
    const struct timeloop_branch *branch;         /* NULL: none */
};

static struct timeloop_component component_in(const struct timeloop_builder *b, const struct scope *scope,
                                              const struct ynode *node, enum timeloop_kind kind)
{
    struct timeloop_component component = timeloop_component_of(b, node, kind);
    component.outer = scope->outer;
    component.n_outer = scope->n_outer;
    component.mesh_x = scope->mesh_x;
    component.mesh_y = scope->mesh_y;
    component.count = scope->mesh_x * scope->mesh_y;
    return component;
}

static enum dse_status node_name(const struct timeloop_builder *b, const struct ynode *node, char *name,
                                 size_t size, struct dse_error *err)
{
    const struct ynode *value;
    uint64_t count;
    DSE_TRY(yaml_require(b->doc, node, node->tag + 1, "name", &value, err));
    DSE_TRY(timeloop_name(b->doc, value, "node", name, size, &count, err));
    if (count != 1)
        return yaml_fail(b->doc, value, err, "%s: in v4 the instances are said by spatial: {meshX, meshY}",
                         name);
    return DSE_OK;
}

/* The attributes of a node, which do not say how many there are: `spatial` does. */
static enum dse_status take_attributes(struct timeloop_component *component, struct dse_error *err)
{
    DSE_TRY(timeloop_take_attributes(component, err));
    for (size_t i = 0; component->attributes && i < component->attributes->n_item; i++)
        if (timeloop_is_mesh(component->attributes->key[i]))
            return dse_fail_at(err, DSE_BAD_INPUT, component->doc->path, component->attributes->key_line[i],
                               "%s.%s: in v4 the instances are said by spatial: {meshX, meshY} beside the "
                               "attributes",
                               component->name, component->attributes->key[i]);
    return DSE_OK;
}

/* `spatial` of the node `name`: a level that spreads, and a larger mesh for what follows. */
static enum dse_status add_spatial(struct timeloop_builder *b, const struct ynode *node, const char *name,
                                   struct scope *scope, bool *spreads, struct dse_error *err)
{
    static const char *const allowed[] = {"meshX", "meshY"};
    const char *const *const spelling[] = {SPELL("meshX"), SPELL("meshY")};
    const struct ynode *spatial = yaml_find(node, "spatial");
    struct timeloop_component self = timeloop_component_of(b, node, TIMELOOP_NODE);
    struct timeloop_component fanout = component_in(b, scope, node, TIMELOOP_FANOUT);
    uint64_t mesh[2] = {1, 1};
    *spreads = !timeloop_is_null(spatial);
    if (!*spreads)
        return DSE_OK;
    DSE_TRY(yaml_check_keys(b->doc, spatial, "spatial", allowed, 2, err));
    if ((size_t)snprintf(fanout.name, sizeof fanout.name, "inter_%s_spatial", name) >= sizeof fanout.name)
        return yaml_fail(b->doc, node, err, "%s: the name is too long for its fan-out, inter_%s_spatial",
                         name, name);
    text_copy(self.name, sizeof self.name, name);
    self.attributes = spatial;
    for (size_t i = 0; i < 2; i++)
        DSE_TRY(timeloop_attribute_u64(&self, spelling[i], 1, UINT32_MAX, &mesh[i], NULL, err));
    DSE_TRY(timeloop_add_component(b, &fanout, "dummy_storage", err));
    if (scope->mesh_x > UINT32_MAX / mesh[0] || scope->mesh_y > UINT32_MAX / mesh[1] ||
        scope->mesh_x * mesh[0] > UINT32_MAX / (scope->mesh_y * mesh[1]))
        return dse_fail_at(err, DSE_LIMIT, b->doc->path, spatial->line, "more than %u instances of %s",
                           (unsigned)UINT32_MAX, name);
    scope->mesh_x *= mesh[0];
    scope->mesh_y *= mesh[1];
    return DSE_OK;
}

/* `constraints` of a node; `level` NULL: it is no memory. */
static enum dse_status add_constraints(struct timeloop_builder *b, const struct ynode *node, const char *name,
                                       const char *level, bool spreads, const struct timeloop_branch *branch,
                                       struct dse_error *err)
{
    static const char *const allowed[] = {"temporal", "spatial", "dataspace"};
    static const char *const refused[][2] = {
        {"sparse_optimizations", "the cost model is dense"},
        {"max_overbooked_proportion", "overbooking is not modelled"},
        {"utilization", "restrict the spatial factors instead"},
    };
    const struct timeloop_rules r = {
        .doc = b->doc, .text = b->rules, .n_visited = &b->n_visited, .in_component = true};
    const struct ynode *constraints = yaml_find(node, "constraints"), *value;
    char fanout[ARCH_NAME_MAX + 32];
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if ((value = yaml_find(constraints, refused[i][0])) && !timeloop_is_empty(value))
            return yaml_fail(b->doc, value, err, "%s: constraints.%s is not supported: %s", name,
                             refused[i][0], refused[i][1]);
    if (!timeloop_is_null(constraints))
        DSE_TRY(yaml_check_keys(b->doc, constraints, "constraints", allowed, 3, err));
    for (size_t i = 0; i < 3; i += 2)
        if (!level && (value = yaml_find(constraints, allowed[i])) && !timeloop_is_empty(value))
            return yaml_fail(b->doc, value, err, "%s is no memory: it has no %s constraints", name,
                             allowed[i]);
    value = yaml_find(constraints, "spatial");
    if (!timeloop_is_empty(value) && !spreads)
        return yaml_fail(b->doc, value, err,
                         "%s has a spatial constraint and no fan-out (spatial: {meshX, meshY})", name);
    snprintf(fanout, sizeof fanout, "inter_%s_spatial", name);
    DSE_TRY(timeloop_rule_spatial(&r, value, fanout, err));
    if (!level)
        return DSE_OK;
    DSE_TRY(timeloop_rule_temporal(&r, yaml_find(constraints, "temporal"), level, err));
    return timeloop_rule_dataspace(&r, yaml_find(constraints, "dataspace"), node, level, branch, err);
}

static enum dse_status add_container(struct timeloop_builder *b, const struct ynode *node,
                                     struct scope *scope, struct dse_error *err)
{
    static const char *const allowed[] = {"name", "attributes", "spatial", "constraints", "enabled"};
    struct timeloop_component self = timeloop_component_of(b, node, TIMELOOP_NODE);
    bool enabled, spreads;
    DSE_TRY(yaml_check_keys(b->doc, node, "!Container", allowed, 5, err));
    DSE_TRY(node_name(b, node, self.name, sizeof self.name, err));
    DSE_TRY(timeloop_add_node(b, node, self.name, err));
    DSE_TRY(timeloop_enabled(b->doc, node, self.name, &enabled, err));
    if (!enabled)
        return yaml_fail(b->doc, yaml_find(node, "enabled"), err,
                         "%s: a container cannot be switched off; take it out", self.name);
    DSE_TRY(take_attributes(&self, err));
    self.kind = TIMELOOP_NODE | TIMELOOP_STORAGE | TIMELOOP_MAC; /* any that something inside may have */
    DSE_TRY(timeloop_attribute_check(&self, err));
    if (self.attributes)
        scope->outer[scope->n_outer++] = self.attributes; /* at most one for each node remembered */
    DSE_TRY(add_spatial(b, node, self.name, scope, &spreads, err));
    return add_constraints(b, node, self.name, NULL, spreads, scope->branch, err);
}

static enum dse_status add_component(struct timeloop_builder *b, const struct ynode *node,
                                     struct scope *scope, struct dse_error *err)
{
    static const char *const allowed[] = {"name",       "class",       "subclass", "attributes",
                                          "spatial",    "constraints", "enabled",  "required_actions",
                                          "area_scale", "energy_scale"};
    static const char *const scale[] = {"energy_scale", "area_scale"};
    const struct ynode *value, *sparse = yaml_find(node, "sparse_optimizations");
    struct timeloop_component component;
    const char *class_name;
    char name[ARCH_NAME_MAX];
    bool enabled, spreads;
    if (sparse)
        return yaml_fail(b->doc, sparse, err,
                         "sparse_optimizations is not supported: the cost model is dense");
    DSE_TRY(yaml_check_keys(b->doc, node, "!Component", allowed, 10, err));
    DSE_TRY(node_name(b, node, name, sizeof name, err));
    for (size_t i = 0; i < 2 && !b->has_ert; i++)
        if ((value = yaml_find(node, scale[i])))
            return yaml_fail(b->doc, value, err,
                             "%s.%s: Accelergy multiplies by it; give the ERT that it makes", name, scale[i]);
    DSE_TRY(add_spatial(b, node, name, scope, &spreads, err));
    if (spreads)
        DSE_TRY(timeloop_add_node(b, node, name, err));
    component = component_in(b, scope, node, TIMELOOP_STORAGE);
    text_copy(component.name, sizeof component.name, name);
    DSE_TRY(yaml_require(b->doc, node, name, "class", &value, err));
    DSE_TRY(yaml_text(b->doc, value, "class", &class_name, err));
    DSE_TRY(timeloop_classify(b->doc, value, name, class_name, &component.kind, err));
    DSE_TRY(timeloop_check_compound(b, value, name, class_name, err));
    DSE_TRY(take_attributes(&component, err));
    DSE_TRY(timeloop_enabled(b->doc, node, name, &enabled, err));
    if (!enabled && component.kind == TIMELOOP_MAC)
        return yaml_fail(b->doc, yaml_find(node, "enabled"), err, "%s computes: it cannot be switched off",
                         name);
    if (!enabled)
        component.kind = TIMELOOP_FANOUT;
    DSE_TRY(timeloop_add_component(b, &component, class_name, err));
    return add_constraints(b, node, name, component.kind == TIMELOOP_STORAGE ? name : NULL, spreads,
                           scope->branch, err);
}

static enum dse_status add_nodes(struct timeloop_builder *b, const struct ynode *list, struct scope *scope,
                                 int depth, struct dse_error *err);

/* The nodes inside a !Hierarchical or one branch of a !Parallel, which hands nothing on to what follows. */
static enum dse_status add_inside(struct timeloop_builder *b, const struct ynode *list,
                                  const struct scope *scope, int depth, struct dse_error *err)
{
    struct scope inside = *scope;
    return add_nodes(b, list, &inside, depth + 1, err);
}

static enum dse_status add_parallel(struct timeloop_builder *b, const struct ynode *list,
                                    const struct scope *scope, int depth, struct dse_error *err)
{
    for (size_t i = 0; i < list->n_item; i++) {
        const struct timeloop_branch branch = {list, i, scope->branch};
        const struct ynode *item[] = {list->item[i]};
        const struct ynode one = {.kind = YNODE_SEQUENCE, .line = list->line, .n_item = 1, .item = item};
        struct scope inside = *scope;
        inside.branch = &branch;
        DSE_NOTE(b->doc->faults, add_inside(b, &one, &inside, depth, err));
    }
    return DSE_OK;
}

static enum dse_status add_node(struct timeloop_builder *b, const struct ynode *node, struct scope *scope,
                                bool last, int depth, struct dse_error *err)
{
    enum { CONTAINER, COMPONENT, PARALLEL, HIERARCHICAL, TAG_COUNT };
    static const char *const tag[TAG_COUNT] = {"!Container", "!Component", "!Parallel", "!Hierarchical"};
    static const char *const allowed[] = {"nodes"};
    const struct ynode *nodes;
    size_t which = 0;
    if (!node->tag)
        return yaml_fail(
            b->doc, node, err,
            "a node of v4 begins with a tag: !Container, !Component, !Parallel or !Hierarchical");
    while (which < TAG_COUNT && strcmp(node->tag, tag[which]) != 0)
        which++;
    if (which == TAG_COUNT)
        return timeloop_unknown(b->doc, node->line, err, "tag of a node", node->tag, tag, TAG_COUNT);
    DSE_TRY(yaml_is_mapping(b->doc, node, tag[which], err));
    if (b->mac_node && (which == CONTAINER || which == COMPONENT) && !scope->branch)
        return yaml_fail(b->doc, node, err, "%s is the innermost node: nothing may follow it",
                         b->arch->mac.name);
    if (which == CONTAINER)
        return add_container(b, node, scope, err);
    if (which == COMPONENT)
        return add_component(b, node, scope, err);
    DSE_TRY(yaml_check_keys(b->doc, node, tag[which], allowed, 1, err));
    DSE_TRY(yaml_require(b->doc, node, tag[which], "nodes", &nodes, err));
    DSE_TRY(yaml_is_sequence(b->doc, nodes, "nodes", err));
    if (depth == TIMELOOP_DEPTH_MAX || ++b->n_visited > TIMELOOP_VISIT_MAX)
        return dse_fail_at(err, DSE_LIMIT, b->doc->path, node->line,
                           "nodes in nodes, more than %d deep, or more than %d", (int)TIMELOOP_DEPTH_MAX,
                           (int)TIMELOOP_VISIT_MAX);
    if (which == PARALLEL)
        return add_parallel(b, nodes, scope, depth, err);
    if (!last)
        return yaml_fail(
            b->doc, node, err,
            "nodes after a !Hierarchical, which are neither inside nor beside it: put them into it, "
            "or all into a !Parallel");
    return add_inside(b, nodes, scope, depth, err);
}

static enum dse_status add_nodes(struct timeloop_builder *b, const struct ynode *list, struct scope *scope,
                                 int depth, struct dse_error *err)
{
    DSE_TRY(yaml_is_sequence(b->doc, list, "nodes", err));
    for (size_t i = 0; i < list->n_item; i++)
        DSE_NOTE(b->doc->faults, add_node(b, list->item[i], scope, i + 1 == list->n_item, depth, err));
    return DSE_OK;
}

enum dse_status timeloop_read_nodes(struct timeloop_builder *b, const struct ynode *top,
                                    struct dse_error *err)
{
    static const char *const allowed[] = {"version", "name", "nodes"};
    static const char *const version[] = {"0.4"};
    const struct ynode *value = yaml_find(top, "version");
    struct scope scope = {.mesh_x = 1, .mesh_y = 1};
    const char *text;
    size_t which;
    DSE_TRY(yaml_check_keys(b->doc, top, "architecture", allowed, 3, err));
    if (value)
        DSE_NOTE(b->doc->faults, yaml_choice(b->doc, value, "architecture.version", version, 1, &which, err));
    value = yaml_find(top, "name");
    if (!timeloop_is_null(value)) {
        DSE_TRY(yaml_text(b->doc, value, "architecture.name", &text, err));
        text_excerpt(text, b->arch->name, sizeof b->arch->name);
    }
    return add_nodes(b, yaml_find(top, "nodes"), &scope, 0, err);
}
