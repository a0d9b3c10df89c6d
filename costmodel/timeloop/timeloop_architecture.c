/* Architecture files: the tree of v0.2 to v0.4 and the flat v0.1, from the outside in; then levels are
 * turned round, meshes checked, overrides and energy tables applied. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/model/machine_rules.h"
#include "costmodel/timeloop/timeloop.h"
#include "costmodel/timeloop/timeloop_parts.h"

static const struct ynode *find_architecture(const struct yaml_doc *doc)
{
    const struct ynode *node = yaml_find(doc->root, "architecture");

    return node != NULL ? node : yaml_find(doc->root, "arch");
}

bool timeloop_is_architecture(const struct yaml_doc *doc)
{
    const struct ynode *node = find_architecture(doc);

    return yaml_find(node, "subtree") != NULL || yaml_find(node, "nodes") != NULL ||
           (yaml_find(node, "storage") != NULL && yaml_find(node, "arithmetic") != NULL);
}

/* Names are how mappings, ERTs and overrides point at things, so no two may be the same. */
static enum dse_status check_new_name(const struct timeloop_builder *b, const struct ynode *node,
                                      const char *name, struct dse_error *err)
{
    if (architecture_find_level(b->arch, name) >= 0 ||
        (b->mac_node != NULL && strcmp(b->arch->mac.name, name) == 0))
        return yaml_fail(b->doc, node, err, "two components are named %s", name);
    return DSE_OK;
}

static enum dse_status add_storage(struct timeloop_builder *b, const struct timeloop_component *component,
                                   const char *class_name, struct dse_error *err)
{
    struct architecture *arch = b->arch;

    if (arch->n_level == ARCH_LEVEL_MAX)
        return dse_fail_at(err, DSE_LIMIT, b->doc->path, component->node->line, "more than %d storage levels",
                           (int)ARCH_LEVEL_MAX);
    DSE_TRY(check_new_name(b, component->node, component->name, err));
    if (component->kind == TIMELOOP_FANOUT) {
        b->fixed_energy[arch->n_level] = true;
        DSE_TRY(timeloop_fanout_build(component, &arch->level[arch->n_level], err));
    } else {
        DSE_TRY(timeloop_storage_build(component, class_name, &arch->level[arch->n_level],
                                       &b->fixed_energy[arch->n_level], err));
    }
    b->level_node[arch->n_level++] = component->node;
    return DSE_OK;
}

static enum dse_status add_mac(struct timeloop_builder *b, const struct timeloop_component *component,
                               struct dse_error *err)
{
    if (b->mac_node != NULL)
        return yaml_fail(b->doc, component->node, err,
                         "%s is a second compute component beside %s: only one kind of MAC is supported",
                         component->name, b->arch->mac.name);
    DSE_TRY(check_new_name(b, component->node, component->name, err));
    DSE_TRY(timeloop_mac_build(component, &b->arch->mac, &b->mac_fixed_energy, err));
    b->mac_node = component->node;
    return DSE_OK;
}

struct timeloop_component timeloop_component_of(const struct timeloop_builder *b, const struct ynode *node,
                                                enum timeloop_kind kind)
{
    return (struct timeloop_component){.doc = b->doc,
                                       .node = node,
                                       .kind = kind,
                                       .v4 = b->v4,
                                       .override = b->override,
                                       .n_override = b->n_override};
}

enum dse_status timeloop_take_attributes(struct timeloop_component *component, struct dse_error *err)
{
    const struct ynode *attributes = yaml_find(component->node, "attributes");
    if (timeloop_is_null(attributes))
        return DSE_OK;
    component->attributes = attributes;
    return yaml_is_mapping(component->doc, attributes, "attributes", err);
}

enum dse_status timeloop_add_component(struct timeloop_builder *b, const struct timeloop_component *component,
                                       const char *class_name, struct dse_error *err)
{
    return component->kind == TIMELOOP_MAC ? add_mac(b, component, err)
                                           : add_storage(b, component, class_name, err);
}

enum dse_status timeloop_check_compound(const struct timeloop_builder *b, const struct ynode *node,
                                        const char *name, const char *class_name, struct dse_error *err)
{
    static const char *const key[] = {"compound_components", "components"};
    for (size_t i = 0; !b->has_ert && i < 2; i++) {
        const struct ynode *classes = yaml_find(yaml_find(b->doc->root, key[i]), "classes");
        for (size_t k = 0; classes && classes->kind == YNODE_SEQUENCE && k < classes->n_item; k++) {
            const struct ynode *defined = yaml_find(classes->item[k], "name");
            if (defined && defined->kind == YNODE_SCALAR && strcmp(defined->text, class_name) == 0)
                return yaml_fail(
                    b->doc, node, err,
                    "%s has class %s, a compound component (line %d), whose energy Accelergy "
                    "computes; append the ERT that it makes to this file, or give it: --ert FILE",
                    name, class_name, defined->line);
        }
    }
    return DSE_OK;
}

enum dse_status timeloop_enabled(const struct yaml_doc *doc, const struct ynode *item, const char *name,
                                 bool *enabled, struct dse_error *err)
{
    const struct ynode *value = yaml_find(item, "enabled");
    char what[ARCH_NAME_MAX + 16];
    *enabled = true;
    if (timeloop_is_null(value))
        return DSE_OK;
    snprintf(what, sizeof what, "%s.enabled", name);
    return yaml_bool(doc, value, what, enabled, err);
}

/* What a component of the tree may say. */
static enum dse_status check_local(const struct timeloop_builder *b, const struct ynode *item,
                                   struct dse_error *err)
{
    static const char *const allowed[] = {"name",   "class", "attributes", "subclass", "required_actions",
                                          "enabled"};
    const struct ynode *sparse = yaml_find(item, "sparse_optimizations");
    if (sparse != NULL)
        return yaml_fail(b->doc, sparse, err,
                         "sparse_optimizations is not supported: the cost model is dense");
    return yaml_check_keys(b->doc, item, "a component under `local`", allowed, b->v4 ? 6 : 3, err);
}

static enum dse_status add_local(struct timeloop_builder *b, const struct ynode *item, struct dse_error *err)
{
    struct timeloop_component component = timeloop_component_of(b, item, TIMELOOP_STORAGE);
    const struct ynode *value;
    const char *class_name;
    uint64_t count;
    bool enabled;
    DSE_TRY(timeloop_check_tag(b->doc, item, err));
    DSE_TRY(yaml_is_mapping(b->doc, item, "a component under `local`", err));
    DSE_NOTE(b->doc->faults, check_local(b, item, err));
    DSE_TRY(yaml_require(b->doc, item, "a component under `local`", "name", &value, err));
    DSE_TRY(timeloop_name(b->doc, value, "component", component.name, sizeof component.name, &count, err));
    DSE_TRY(yaml_require(b->doc, item, component.name, "class", &value, err));
    DSE_TRY(yaml_text(b->doc, value, "class", &class_name, err));
    DSE_TRY(timeloop_classify(b->doc, value, component.name, class_name, &component.kind, err));
    DSE_TRY(timeloop_check_compound(b, value, component.name, class_name, err));
    DSE_TRY(timeloop_take_attributes(&component, err));
    DSE_TRY(timeloop_enabled(b->doc, item, component.name, &enabled, err));
    if (!enabled && component.kind == TIMELOOP_MAC)
        return yaml_fail(b->doc, yaml_find(item, "enabled"), err, "%s computes: it cannot be switched off",
                         component.name);
    if (!enabled)
        component.kind = TIMELOOP_FANOUT;
    if (b->multiplicity > UINT32_MAX / count)
        return dse_fail_at(err, DSE_LIMIT, b->doc->path, item->line, "%s has more than %u instances",
                           component.name, (unsigned)UINT32_MAX);
    component.count = b->multiplicity * count;
    return timeloop_add_component(b, &component, class_name, err);
}

/* Attributes of a node are not passed on to its components: only those without effect may stand there. */
static enum dse_status check_node_attributes(struct timeloop_component *node, struct dse_error *err)
{
    DSE_TRY(timeloop_take_attributes(node, err));
    return timeloop_attribute_check(node, err);
}

enum dse_status timeloop_add_node(struct timeloop_builder *b, const struct ynode *name_node, const char *name,
                                  struct dse_error *err)
{
    if (b->n_node == TIMELOOP_NODE_MAX)
        return dse_fail_at(err, DSE_LIMIT, b->doc->path, name_node->line, "more than %d nested %s",
                           (int)TIMELOOP_NODE_MAX, b->v4 ? "containers" : "subtrees");
    text_copy(b->node_name[b->n_node++], ARCH_NAME_MAX, name);
    return DSE_OK;
}

static enum dse_status add_node(struct timeloop_builder *b, const struct ynode *node, struct dse_error *err)
{
    static const char *const allowed[] = {"name", "local", "subtree", "attributes"};
    struct timeloop_component self = timeloop_component_of(b, node, TIMELOOP_NODE);
    const struct ynode *value;
    uint64_t count; /* the n of NAME[0..n-1], replaced by an override NAME.count */
    DSE_TRY(timeloop_check_tag(b->doc, node, err));
    DSE_TRY(yaml_check_keys(b->doc, node, "a subtree node", allowed, 4, err));
    DSE_TRY(yaml_require(b->doc, node, "a subtree node", "name", &value, err));
    DSE_TRY(timeloop_name(b->doc, value, "subtree node", self.name, sizeof self.name, &count, err));
    DSE_TRY(timeloop_add_node(b, value, self.name, err));
    DSE_NOTE(b->doc->faults, timeloop_attribute_u64(&self, SPELL("count"), 1, UINT32_MAX, &count, NULL, err));
    if (b->multiplicity > UINT32_MAX / count)
        return dse_fail_at(err, DSE_LIMIT, b->doc->path, node->line, "more than %u instances of %s",
                           (unsigned)UINT32_MAX, self.name);
    b->multiplicity *= count;
    DSE_NOTE(b->doc->faults, check_node_attributes(&self, err));
    value = yaml_find(node, "local");
    if (timeloop_is_null(value))
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(b->doc, value, "local", err));
    if (b->mac_node != NULL && value->n_item > 0)
        return yaml_fail(b->doc, value, err,
                         "%s lies inside the node of the MACs, which must be the innermost one", self.name);
    for (size_t i = 0; i < value->n_item; i++)
        DSE_NOTE(b->doc->faults, add_local(b, value->item[i], err));
    return DSE_OK;
}

/* The tree, v0.2 to v0.4: a chain of subtrees with one node each. */
static enum dse_status read_tree(struct timeloop_builder *b, const struct ynode *top, struct dse_error *err)
{
    static const char *const allowed[] = {"version", "name", "subtree", "attributes"};
    static const char *const version[] = {"0.2", "0.3", "0.4"};
    struct timeloop_component whole = timeloop_component_of(b, top, TIMELOOP_NODE);
    const struct ynode *node = top, *value = yaml_find(top, "version");
    const char *text;
    size_t which;

    DSE_TRY(yaml_check_keys(b->doc, top, "architecture", allowed, 4, err));
    if (value != NULL)
        DSE_NOTE(b->doc->faults, yaml_choice(b->doc, value, "architecture.version", version, 3, &which, err));
    value = yaml_find(top, "name");
    if (value != NULL) {
        DSE_TRY(yaml_text(b->doc, value, "architecture.name", &text, err));
        text_excerpt(text, b->arch->name, sizeof b->arch->name);
    }
    text_copy(whole.name, sizeof whole.name, "architecture");
    DSE_NOTE(b->doc->faults, check_node_attributes(&whole, err));
    b->multiplicity = 1;
    for (;;) {
        value = yaml_find(node, "subtree");
        if (timeloop_is_null(value) || (value->kind == YNODE_SEQUENCE && value->n_item == 0))
            return DSE_OK;
        DSE_TRY(yaml_is_sequence(b->doc, value, "subtree", err));
        if (value->n_item > 1)
            return yaml_fail(b->doc, value->item[1], err,
                             "a second node in one subtree: only a linear hierarchy is "
                             "supported, with one node per subtree");
        node = value->item[0];
        DSE_NOTE(b->doc->faults, add_node(b, node, err));
    }
}

/* One element of the flat format: `node` holds name and attributes side by side. */
static enum dse_status add_flat(struct timeloop_builder *b, const struct ynode *node, enum timeloop_kind kind,
                                struct dse_error *err)
{
    struct timeloop_component component = timeloop_component_of(b, node, kind);
    const struct ynode *name = yaml_find(node, "name");
    uint64_t count;
    DSE_TRY(yaml_is_mapping(b->doc, node, kind == TIMELOOP_MAC ? "arithmetic" : "a storage level", err));
    text_copy(component.name, sizeof component.name, "MACs");
    if (kind == TIMELOOP_STORAGE)
        DSE_TRY(yaml_require(b->doc, node, "a storage level", "name", &name, err));
    if (name != NULL)
        DSE_TRY(
            timeloop_name(b->doc, name, "storage level", component.name, sizeof component.name, &count, err));
    component.attributes = node;
    component.named_inside = true;
    return timeloop_add_component(b, &component, "", err);
}

/* The flat format of v0.1: `arithmetic` and a list `storage`, innermost level first. */
static enum dse_status read_flat(struct timeloop_builder *b, const struct ynode *top, struct dse_error *err)
{
    static const char *const allowed[] = {"version", "name", "arithmetic", "storage"};
    static const char *const version[] = {"0.1"};
    const struct ynode *storage, *arithmetic, *value = yaml_find(top, "version");
    size_t which;

    DSE_TRY(yaml_check_keys(b->doc, top, "architecture", allowed, 4, err));
    if (value != NULL)
        DSE_NOTE(b->doc->faults, yaml_choice(b->doc, value, "architecture.version of the flat format",
                                             version, 1, &which, err));
    DSE_TRY(yaml_require(b->doc, top, "architecture", "arithmetic", &arithmetic, err));
    DSE_TRY(yaml_require(b->doc, top, "architecture", "storage", &storage, err));
    DSE_TRY(yaml_is_sequence(b->doc, storage, "storage", err));
    for (size_t i = storage->n_item; i-- > 0;)
        DSE_NOTE(b->doc->faults, add_flat(b, storage->item[i], TIMELOOP_STORAGE, err));
    return add_flat(b, arithmetic, TIMELOOP_MAC, err);
}

static void turn_round(struct timeloop_builder *b)
{
    for (uint32_t i = 0, k = b->arch->n_level; i + 1 < k; i++) {
        struct storage_level level = b->arch->level[i];
        const struct ynode *node = b->level_node[i];
        bool fixed = b->fixed_energy[i];

        k--;
        b->arch->level[i] = b->arch->level[k];
        b->level_node[i] = b->level_node[k];
        b->fixed_energy[i] = b->fixed_energy[k];
        b->arch->level[k] = level;
        b->level_node[k] = node;
        b->fixed_energy[k] = fixed;
    }
}

/* Meshes are cumulative, so an outer one must divide the one inside it in X and in Y. */
static enum dse_status check_mesh(const struct timeloop_builder *b, uint32_t l, struct dse_error *err)
{
    const struct architecture *arch = b->arch;
    const struct storage_level *outer = &arch->level[l];
    uint64_t x = l == 0 ? arch->mac.mesh_x : arch->level[l - 1].mesh_x;
    uint64_t y = l == 0 ? arch->mac.mesh_y : arch->level[l - 1].mesh_y;

    if (x % outer->mesh_x != 0 || y % outer->mesh_y != 0)
        return yaml_fail(b->doc, b->level_node[l], err,
                         "%s has a mesh of %llu x %llu (meshX x meshY), which does "
                         "not divide the %llu x %llu of %s inside it",
                         outer->name, (unsigned long long)outer->mesh_x, (unsigned long long)outer->mesh_y,
                         (unsigned long long)x, (unsigned long long)y,
                         l == 0 ? arch->mac.name : arch->level[l - 1].name);
    if (isnan(outer->read_energy_j) || isnan(outer->write_energy_j) || isnan(outer->update_energy_j))
        return yaml_fail(b->doc, b->level_node[l], err,
                         "%s has neither vector-access-energy nor read and write in "
                         "an ERT, and the default energy needs a size (entries, depth or sizeKB)",
                         outer->name);
    return DSE_OK;
}

/* As written in v4, only `spatial` says how many there are. */
static size_t drop_mesh(const char **name, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!timeloop_is_mesh(name[i]))
            name[kept++] = name[i];
    return kept;
}

static enum dse_status check_override(const struct timeloop_builder *b, const char *path,
                                      struct dse_error *err)
{
    enum { ATTRIBUTE_MAX = 64 };
    const char *known[ARCH_LEVEL_MAX + 2 * TIMELOOP_NODE_MAX + ATTRIBUTE_MAX];
    const char *dot = strrchr(path, '.');
    const struct architecture *arch = b->arch;
    char name[2 * ARCH_NAME_MAX], what[3 * ARCH_NAME_MAX];
    size_t n_known = 0;

    snprintf(name, sizeof name, "%.*s", dot == NULL ? (int)sizeof name : (int)(dot - path), path);
    bool is_mac = strcmp(name, arch->mac.name) == 0;
    bool is_level = architecture_find_level(arch, name) >= 0;
    if (is_mac || is_level)
        n_known = timeloop_attribute_names(
            is_level ? TIMELOOP_STORAGE : TIMELOOP_MAC | (b->v4 ? TIMELOOP_MAC_V4 : 0), known, ATTRIBUTE_MAX);
    if (b->is_nodes)
        n_known = drop_mesh(known, n_known);
    for (uint32_t i = 0; i < b->n_node && (b->is_nodes || n_known == 0); i++)
        if (strcmp(name, b->node_name[i]) == 0) {
            known[n_known++] = b->is_nodes ? "meshX" : "count";
            if (b->is_nodes)
                known[n_known++] = "meshY";
        }
    if (n_known > 0) {
        for (size_t i = 0; i < n_known && dot != NULL; i++)
            if (timeloop_same_name(known[i], dot + 1))
                return DSE_OK;
        snprintf(what, sizeof what, "attribute of %s", name);
        return timeloop_unknown(b->doc, 0, err, what, dot == NULL ? "" : dot + 1, known, n_known);
    }
    for (uint32_t i = 0; i < arch->n_level; i++)
        known[n_known++] = arch->level[i].name;
    known[n_known++] = arch->mac.name;
    for (uint32_t i = 0; i < b->n_node; i++)
        known[n_known++] = b->node_name[i];
    return timeloop_unknown(b->doc, 0, err, "component in the path of a quantity", name, known, n_known);
}

static enum dse_status read_components(struct timeloop_builder *b, struct dse_error *err)
{
    const struct ynode *top = find_architecture(b->doc);
    const struct ynode *nodes = yaml_find(top, "nodes");
    const size_t n_fault = dse_faults_count(b->doc->faults);

    DSE_NOTE(b->doc->faults, timeloop_check_root(b->doc, TIMELOOP_MACHINE, err));
    if (top == NULL)
        return yaml_fail(b->doc, b->doc->root, err, "no `architecture` in this file");
    if (yaml_find(b->doc->root, "architecture") != NULL && yaml_find(b->doc->root, "arch") != NULL)
        return yaml_fail(b->doc, yaml_find(b->doc->root, "arch"), err,
                         "both `architecture` and `arch` in one file");
    b->is_nodes = nodes != NULL;
    if (nodes != NULL)
        DSE_TRY(timeloop_read_nodes(b, top, err));
    else if (yaml_find(top, "subtree") != NULL)
        DSE_TRY(read_tree(b, top, err));
    else
        DSE_TRY(read_flat(b, top, err));
    if (dse_faults_count(b->doc->faults) > n_fault)
        return DSE_OK;
    if (b->mac_node == NULL)
        return yaml_fail(b->doc, top, err,
                         "the architecture has no compute component (class mac, intmac, fpmac or compute)");
    if (b->arch->n_level == 0)
        return yaml_fail(b->doc, top, err, "the architecture has no storage level");
    if (b->arch->level[0].is_fanout)
        return yaml_fail(b->doc, b->level_node[0], err,
                         "%s is the outermost level and holds nothing: a memory must lie outside of it",
                         b->arch->level[0].name);
    turn_round(b);
    return DSE_OK;
}

/* The components, and the constraints of the file as rules of the machine. */
static enum dse_status read_with_rules(struct timeloop_builder *b, struct dse_error *err)
{
    struct text_buffer text;
    const struct timeloop_rules r = {.doc = b->doc, .text = &text};
    size_t begin;
    text_init(&text);
    b->rules = &text;
    machine_rules_begin(&text, b->doc->path);
    begin = text.length;
    enum dse_status status = read_components(b, err);
    if (status == DSE_OK)
        status = timeloop_rules_lists(&r, err);
    if (status == DSE_OK)
        status = text_check(&text, "the constraints of a machine", err);
    if (status == DSE_OK && text.length >= ARCH_RULES_BYTE)
        status = dse_fail_at(err, DSE_LIMIT, b->doc->path, 0,
                             "constraints of %zu bytes in our words, at most %d are supported", text.length,
                             (int)ARCH_RULES_BYTE - 1);
    if (status == DSE_OK && text.length > begin)
        text_copy(b->arch->rules, sizeof b->arch->rules, text.data);
    text_free(&text);
    return status;
}

static void start(struct timeloop_builder *b, const struct yaml_doc *doc, struct architecture *arch)
{
    const char *slash = strrchr(doc->path, '/');
    char *dot;

    memset(b, 0, sizeof *b);
    memset(arch, 0, sizeof *arch);
    b->doc = doc;
    b->arch = arch;
    b->v4 = timeloop_is_v4(doc);
    text_copy(arch->name, sizeof arch->name, slash != NULL ? slash + 1 : doc->path);
    dot = strrchr(arch->name, '.');
    if (dot != NULL && dot != arch->name)
        *dot = '\0';
    arch->clock_hz = 1e9;
    arch->link_transfers = true;
}

/* `word`, ERT or ART, of the file or of a file of its own; `*table` NULL: there is none. */
static enum dse_status find_table(const struct timeloop_builder *b, const char *word,
                                  const struct yaml_doc **doc, const struct ynode **table,
                                  struct dse_error *err)
{
    const struct ynode *inside = yaml_find(b->doc->root, word);
    char what[16];
    if (*doc != NULL) {
        snprintf(what, sizeof what, "an %s file", word);
        DSE_TRY(timeloop_check_root(*doc, TIMELOOP_ERT, err));
        DSE_TRY(yaml_require(*doc, (*doc)->root, what, word, table, err));
        if (inside != NULL)
            return yaml_fail(*doc, *table, err, "a second %s: the architecture file holds one on line %d",
                             word, inside->line);
        return DSE_OK;
    }
    *doc = b->doc;
    *table = inside;
    return DSE_OK;
}

/* Components whose file gives an energy keep it. */
static enum dse_status apply_tables(const struct timeloop_builder *b, const struct yaml_doc *ert_doc,
                                    const struct yaml_doc *art_doc, struct dse_error *err)
{
    const struct ynode *ert, *art;
    DSE_TRY(find_table(b, "ERT", &ert_doc, &ert, err));
    DSE_TRY(find_table(b, "ART", &art_doc, &art, err));
    if (ert != NULL)
        DSE_TRY(timeloop_ert_apply(ert_doc, ert, b->fixed_energy, b->mac_fixed_energy, b->v4, b->arch, err));
    return art != NULL ? timeloop_art_apply(art_doc, art, b->arch, err) : DSE_OK;
}

enum dse_status timeloop_architecture_build(const struct yaml_doc *doc, const struct yaml_doc *ert_doc,
                                            const struct yaml_doc *art_doc,
                                            const struct arch_override *override, size_t n_override,
                                            struct architecture *arch, struct dse_error *err)
{
    struct timeloop_builder b;
    struct dse_error inner;
    start(&b, doc, arch);
    b.override = override;
    b.n_override = n_override;
    b.has_ert = ert_doc != NULL || yaml_find(doc->root, "ERT") != NULL;
    const size_t n_fault = dse_faults_count(doc->faults);
    DSE_TRY(read_with_rules(&b, err));
    if (dse_faults_count(doc->faults) > n_fault)
        return DSE_OK;
    for (size_t i = 0; i < n_override; i++)
        DSE_TRY(check_override(&b, override[i].path, err));
    DSE_TRY(apply_tables(&b, ert_doc, art_doc, err));
    for (uint32_t l = 0; l < arch->n_level; l++)
        DSE_NOTE(doc->faults, check_mesh(&b, l, err));
    if (dse_faults_count(doc->faults) > n_fault)
        return DSE_OK;
    if (architecture_check(arch, &inner) != DSE_OK)
        return dse_fail_at(err, inner.status, doc->path, 0, "%s", inner.text);
    return DSE_OK;
}

enum dse_status timeloop_architecture_check_path(const struct yaml_doc *doc, const char *path,
                                                 struct dse_error *err)
{
    struct architecture arch;
    struct timeloop_builder b;

    start(&b, doc, &arch);
    b.has_ert = true; /* only the paths matter */
    DSE_TRY(read_with_rules(&b, err));
    return check_override(&b, path, err);
}
