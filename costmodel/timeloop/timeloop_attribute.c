/* One table of rules for attributes, and their look-up as text, count or number; what is not in the table
 * is an error with the nearest name. */
#include <stdio.h>
#include <string.h>

#include "costmodel/timeloop/timeloop_parts.h"

enum effect { COUNTS, NO_EFFECT, REFUSED, REFUSED_ON /* unless its value is false */ };

struct attribute_rule {
    const char *name;
    int kinds; /* of enum timeloop_kind, added up */
    enum effect effect;
    const char *reason; /* of a refusal */
};

enum { STORE = TIMELOOP_STORAGE, MAC = TIMELOOP_MAC, BOTH = STORE | MAC, ALL = BOTH | TIMELOOP_NODE };

#define NETWORK_REASON "only the networks Timeloop infers itself are modelled"
#define SPARSE_REASON "sparsity is not supported: the cost model is dense"
#define OVERBOOK_REASON "overbooking is not supported"

/* Documented in docs/timeloop.md; a test compares the two. */
static const struct attribute_rule rules[] = {
    {"word-bits", BOTH, COUNTS, NULL},
    {"word_width", BOTH, COUNTS, NULL},
    {"datawidth", BOTH, COUNTS, NULL},
    {"block-size", STORE, COUNTS, NULL},
    {"block_size", STORE, COUNTS, NULL},
    {"n_words", STORE, COUNTS, NULL},
    {"cluster-size", STORE, COUNTS, NULL},
    {"width", STORE, COUNTS, NULL},
    {"memory_width", STORE, COUNTS, NULL},
    {"data_storage_width", STORE, COUNTS, NULL},
    {"entries", STORE, COUNTS, NULL},
    {"depth", STORE, COUNTS, NULL},
    {"memory_depth", STORE, COUNTS, NULL},
    {"data_storage_depth", STORE, COUNTS, NULL},
    {"sizeKB", STORE, COUNTS, NULL},
    {"width", TIMELOOP_MAC_V4, COUNTS, NULL},
    {"multiplier_width", TIMELOOP_MAC_V4, COUNTS, NULL},
    {"multiple-buffering", STORE, COUNTS, NULL},
    {"min-utilization", STORE, COUNTS, NULL},
    {"instances", BOTH, COUNTS, NULL},
    {"meshX", BOTH, COUNTS, NULL},
    {"meshY", BOTH, COUNTS, NULL},
    {"read_bandwidth", STORE, COUNTS, NULL},
    {"write_bandwidth", STORE, COUNTS, NULL},
    {"shared_bandwidth", STORE, COUNTS, NULL},
    {"bandwidth", STORE, COUNTS, NULL},
    {"reduction_supported", STORE, COUNTS, NULL},
    {"vector-access-energy", STORE, COUNTS, NULL},
    {"addr-gen-energy", STORE, COUNTS, NULL},
    {"energy", MAC, COUNTS, NULL},
    {"technology", STORE, COUNTS, NULL},
    {"network-word-bits", STORE, COUNTS, NULL},
    {"router-energy", STORE, COUNTS, NULL},
    {"wire-energy", STORE, COUNTS, NULL},
    {"tile-width", STORE, COUNTS, NULL},
    {"energy-per-hop", STORE, COUNTS, NULL},
    {"energy-per-ingress", STORE, COUNTS, NULL},
    {"network_fill_latency", STORE, COUNTS, NULL},
    {"network_drain_latency", STORE, COUNTS, NULL},
    {"technology", MAC | TIMELOOP_NODE, NO_EFFECT, NULL},
    {"type", ALL, NO_EFFECT, NULL},
    {"adder_width", ALL, NO_EFFECT, NULL},
    {"width_a", ALL, NO_EFFECT, NULL},
    {"width_b", ALL, NO_EFFECT, NULL},
    {"n_bits", ALL, NO_EFFECT, NULL},
    {"precision", ALL, NO_EFFECT, NULL},
    {"update_fifo_depth", ALL, NO_EFFECT, NULL},
    {"power_gated_at", ALL, NO_EFFECT, NULL},
    {"n_rw_ports", ALL, NO_EFFECT, NULL},
    {"version", TIMELOOP_NODE, NO_EFFECT, NULL},
    {"num-ports", ALL, NO_EFFECT, NULL},
    {"num_ports", ALL, NO_EFFECT, NULL},
    {"n_ports", ALL, NO_EFFECT, NULL},
    {"n_rd_ports", ALL, NO_EFFECT, NULL},
    {"n_wr_ports", ALL, NO_EFFECT, NULL},
    {"n_rdwr_ports", ALL, NO_EFFECT, NULL},
    {"num_rd_ports", ALL, NO_EFFECT, NULL},
    {"num_wr_ports", ALL, NO_EFFECT, NULL},
    {"num_rdwr_ports", ALL, NO_EFFECT, NULL},
    {"num-banks", ALL, NO_EFFECT, NULL},
    {"num_banks", ALL, NO_EFFECT, NULL},
    {"n_banks", ALL, NO_EFFECT, NULL},
    {"cycle_time", ALL, NO_EFFECT, NULL},
    {"global_cycle_seconds", ALL, NO_EFFECT, NULL},
    {"clock_frequency", ALL, NO_EFFECT, NULL},
    {"latency", ALL, NO_EFFECT, NULL},
    {"action_latency_cycles", ALL, NO_EFFECT, NULL},
    {"num_stages", ALL, NO_EFFECT, NULL},
    {"n_stages", ALL, NO_EFFECT, NULL},
    {"num_pipeline_stages", ALL, NO_EFFECT, NULL},
    {"voltage", ALL, NO_EFFECT, NULL},
    {"temperature", ALL, NO_EFFECT, NULL},
    {"area", ALL, NO_EFFECT, NULL},
    {"storage-area", ALL, NO_EFFECT, NULL},
    {"addr-gen-area", ALL, NO_EFFECT, NULL},
    {"addr-gen-bits", ALL, NO_EFFECT, NULL},
    {"network-type", ALL, REFUSED, "distributed multicast is not supported; " NETWORK_REASON},
    {"network_read", ALL, REFUSED, NETWORK_REASON},
    {"network_fill", ALL, REFUSED, NETWORK_REASON},
    {"network_update", ALL, REFUSED, NETWORK_REASON},
    {"network_drain", ALL, REFUSED, NETWORK_REASON},
    {"read_network", ALL, REFUSED, NETWORK_REASON},
    {"fill_network", ALL, REFUSED, NETWORK_REASON},
    {"update_network", ALL, REFUSED, NETWORK_REASON},
    {"drain_network", ALL, REFUSED, NETWORK_REASON},
    {"has_power_gating", ALL, REFUSED_ON, "power gating is not modelled"},
    {"allow_overbooking", ALL, REFUSED_ON, OVERBOOK_REASON},
    {"overbooking", ALL, REFUSED_ON, OVERBOOK_REASON},
    {"max_overbooked_proportion", ALL, REFUSED, OVERBOOK_REASON},
    {"tile_partition_supported", ALL, REFUSED, SPARSE_REASON},
    {"decompression_supported", ALL, REFUSED, SPARSE_REASON},
    {"compression_supported", ALL, REFUSED, SPARSE_REASON},
    {"concordant_compressed_tile_traversal", ALL, REFUSED, SPARSE_REASON},
    {"sparse_optimizations", ALL, REFUSED, SPARSE_REASON},
};

enum { RULE_COUNT = sizeof rules / sizeof rules[0] };

size_t timeloop_attribute_names(int kinds, const char **name, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < RULE_COUNT && n < max; i++)
        if ((rules[i].kinds & kinds) != 0 && rules[i].effect == COUNTS)
            name[n++] = rules[i].name;
    return n;
}

bool timeloop_is_mesh(const char *name)
{
    return strcmp(name, "instances") == 0 || strcmp(name, "meshX") == 0 || strcmp(name, "meshY") == 0;
}

bool timeloop_same_name(const char *rule, const char *key)
{
    for (; *rule && (*rule == *key || (*rule == '-' && *key == '_')); rule++, key++)
        continue;
    return *rule == '\0' && *key == '\0';
}

static const struct attribute_rule *find_rule(const char *name, int kind)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if ((rules[i].kinds & kind) != 0 && timeloop_same_name(rules[i].name, name))
            return &rules[i];
    return NULL;
}

static int kinds_of(const struct timeloop_component *component)
{
    return (int)component->kind | (component->v4 && (component->kind & TIMELOOP_MAC) ? TIMELOOP_MAC_V4 : 0);
}

static enum dse_status unknown_attribute(const struct timeloop_component *component, const char *key,
                                         int line, struct dse_error *err)
{
    const char *known[RULE_COUNT];
    size_t n_known = 0;
    char what[ARCH_NAME_MAX + 32];

    for (size_t i = 0; i < RULE_COUNT; i++)
        if ((rules[i].kinds & kinds_of(component)) != 0 && rules[i].effect < REFUSED)
            known[n_known++] = rules[i].name;
    snprintf(what, sizeof what, "attribute of %s", component->name);
    return timeloop_unknown(component->doc, line, err, what, key, known, n_known);
}

/* The i-th attribute. */
static enum dse_status check_attribute(const struct timeloop_component *component, size_t i,
                                       struct dse_error *err)
{
    const char *key = component->attributes->key[i];
    const int line = component->attributes->key_line[i];
    bool on = true;
    const struct attribute_rule *rule = find_rule(key, kinds_of(component));
    if (component->named_inside && strcmp(key, "name") == 0)
        return DSE_OK;
    if (strncmp(key, "metadata", strlen("metadata")) == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, component->doc->path, line, "%s.%s is not supported: %s",
                           component->name, key, SPARSE_REASON);
    if (rule == NULL)
        return unknown_attribute(component, key, line, err);
    if (rule->effect == REFUSED_ON)
        DSE_TRY(yaml_bool(component->doc, component->attributes->item[i], key, &on, err));
    if (rule->effect >= REFUSED && on)
        return dse_fail_at(err, DSE_BAD_INPUT, component->doc->path, line, "%s.%s is not supported: %s",
                           component->name, key, rule->reason);
    return DSE_OK;
}

enum dse_status timeloop_attribute_check(const struct timeloop_component *component, struct dse_error *err)
{
    const struct ynode *attributes = component->attributes;
    for (size_t i = 0; attributes != NULL && i < attributes->n_item; i++)
        DSE_NOTE(component->doc->faults, check_attribute(component, i, err));
    return DSE_OK;
}

/* The text that overrides COMPONENT.name (the last one wins), or NULL. */
static const char *find_override(const struct timeloop_component *component, const char *name)
{
    size_t length = strlen(component->name);

    for (size_t i = component->n_override; i-- > 0;) {
        const char *path = component->override[i].path;

        if (strncmp(path, component->name, length) == 0 && path[length] == '.' &&
            timeloop_same_name(name, path + length + 1))
            return component->override[i].value;
    }
    return NULL;
}

/* The value of one of `attributes`, and the key that it stands under; NULL: it is not there. */
static const struct ynode *find_key(const struct ynode *attributes, const char *name, const char **key)
{
    for (size_t i = 0; attributes && i < attributes->n_item; i++)
        if (timeloop_same_name(name, attributes->key[i])) {
            *key = attributes->key[i];
            return attributes->item[i];
        }
    return NULL;
}

/* The same under each of the spellings, which must not differ. */
static enum dse_status find_in(const struct timeloop_component *component, const struct ynode *attributes,
                               const char *const *spelling, struct timeloop_value *value,
                               struct dse_error *err)
{
    for (size_t i = 0; spelling[i] != NULL; i++) {
        const char *key = NULL;
        const struct ynode *found = find_key(attributes, spelling[i], &key);
        if (found == NULL || (component->v4 && timeloop_is_null(found)))
            continue;
        if (value->node != NULL && (found->kind != YNODE_SCALAR || value->node->kind != YNODE_SCALAR ||
                                    strcmp(found->text, value->node->text) != 0))
            return yaml_fail(component->doc, found, err,
                             "%s has both %s and %s, which are two spellings of one thing, and they differ",
                             component->name, value->spelling, key);
        value->node = found;
        value->spelling = key;
        snprintf(value->what, sizeof value->what, "%s.%s", component->name, key);
    }
    return DSE_OK;
}

enum dse_status timeloop_attribute_find(const struct timeloop_component *component,
                                        const char *const *spelling, struct timeloop_value *value,
                                        struct dse_error *err)
{
    memset(value, 0, sizeof *value);
    for (size_t i = 0; spelling[i] != NULL; i++) {
        const char *text = find_override(component, spelling[i]);

        if (text != NULL) {
            value->scratch = (struct ynode){.kind = YNODE_SCALAR, .text = text};
            value->node = &value->scratch;
            value->spelling = spelling[i];
            value->overridden = true;
            snprintf(value->what, sizeof value->what, "%s.%s", component->name, spelling[i]);
            return DSE_OK;
        }
    }
    DSE_TRY(find_in(component, component->attributes, spelling, value, err));
    for (size_t i = component->n_outer; i-- > 0 && value->node == NULL;)
        DSE_TRY(find_in(component, component->outer[i], spelling, value, err));
    return DSE_OK;
}

enum dse_status timeloop_attribute_u64(const struct timeloop_component *component,
                                       const char *const *spelling, uint64_t lowest, uint64_t highest,
                                       uint64_t *value, bool *given, struct dse_error *err)
{
    struct timeloop_value found;

    DSE_TRY(timeloop_attribute_find(component, spelling, &found, err));
    if (given != NULL)
        *given = found.node != NULL;
    if (found.node == NULL)
        return DSE_OK;
    DSE_TRY(timeloop_no_expression(component->doc, found.node, found.what, err));
    return yaml_u64(component->doc, found.node, found.what, lowest, highest, value, err);
}

enum dse_status timeloop_attribute_double(const struct timeloop_component *component,
                                          const char *const *spelling, double highest, double *value,
                                          bool *given, struct dse_error *err)
{
    struct timeloop_value found;

    DSE_TRY(timeloop_attribute_find(component, spelling, &found, err));
    if (given != NULL)
        *given = found.node != NULL;
    if (found.node == NULL)
        return DSE_OK;
    DSE_TRY(timeloop_no_expression(component->doc, found.node, found.what, err));
    return yaml_double(component->doc, found.node, found.what, 0.0, highest, value, err);
}

enum dse_status timeloop_attribute_positive(const struct timeloop_component *component,
                                            const char *const *spelling, double *value, struct dse_error *err)
{
    struct timeloop_value found;
    DSE_TRY(timeloop_attribute_double(component, spelling, 1e15, value, NULL, err));
    DSE_TRY(timeloop_attribute_find(component, spelling, &found, err));
    if (found.node != NULL && *value <= 0.0)
        return yaml_fail(component->doc, found.node, err, "%s is 0: it must be greater than 0", found.what);
    return DSE_OK;
}
