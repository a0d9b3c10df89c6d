/* Word, size, mesh, bandwidth, network and energy of one component, from whichever of Timeloop's
 * attributes say them; two that contradict each other are an error. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/model/problem.h"
#include "costmodel/timeloop/timeloop_parts.h"

static const double J_PER_PJ = 1e-12;
static const double ENERGY_MAX_PJ = 1e15;
static const uint64_t WORD_MAX = (uint64_t)1 << 53; /* counts stay exact in doubles */

static enum dse_status read_technology(const struct timeloop_component *component, const char *class_name,
                                       bool *is_dram, struct dse_error *err)
{
    struct timeloop_value value;
    const char *technology = "";

    DSE_TRY(timeloop_attribute_find(component, SPELL("technology"), &value, err));
    if (value.node != NULL)
        DSE_TRY(yaml_text(component->doc, value.node, value.what, &technology, err));
    *is_dram = strstr(class_name, "DRAM") != NULL || strcmp(technology, "DRAM") == 0;
    return DSE_OK;
}

static enum dse_status u32_attribute(const struct timeloop_component *component, const char *const *spelling,
                                     uint32_t *value, bool *given, struct dse_error *err)
{
    uint64_t wide = *value;

    DSE_TRY(timeloop_attribute_u64(component, spelling, 1, 1U << 24, &wide, given, err));
    *value = (uint32_t)wide;
    return DSE_OK;
}

/* Word bits, block and cluster size. `width` is the bits of one access: word-bits * block-size *
 * cluster-size, and gives whichever of the last two is missing (docs/timeloop.md, "Attributes that
 * count"). */
static enum dse_status read_word(const struct timeloop_component *component, struct storage_level *level,
                                 struct dse_error *err)
{
    uint64_t width = 0, unit;
    bool block_given, cluster_given, width_given;
    struct timeloop_value value;

    level->word_bit = 16;
    level->block_word = 1;
    level->cluster_size = 1;
    DSE_TRY(
        u32_attribute(component, SPELL("word-bits", "word_width", "datawidth"), &level->word_bit, NULL, err));
    DSE_TRY(u32_attribute(component, SPELL("block-size", "block_size", "n_words"), &level->block_word,
                          &block_given, err));
    DSE_TRY(u32_attribute(component, SPELL("cluster-size"), &level->cluster_size, &cluster_given, err));
    DSE_TRY(timeloop_attribute_u64(component, SPELL("width", "memory_width", "data_storage_width"), 1,
                                   1U << 24, &width, &width_given, err));
    if (!width_given)
        return DSE_OK;
    DSE_TRY(timeloop_attribute_find(component, SPELL("width", "memory_width", "data_storage_width"), &value,
                                    err));
    unit = (uint64_t)level->word_bit * level->block_word * level->cluster_size;
    if (width % unit != 0 || (block_given && cluster_given && width != unit))
        return yaml_fail(component->doc, value.node, err,
                         "%s is %llu bits, but word-bits %u x block-size %u x cluster-size %u makes %llu",
                         value.what, (unsigned long long)width, level->word_bit, level->block_word,
                         level->cluster_size, (unsigned long long)unit);
    if (block_given)
        level->cluster_size *= (uint32_t)(width / unit);
    else
        level->block_word = (uint32_t)(width / unit);
    return DSE_OK;
}

/* One way to give the size: remember it, or check that it says the same as an earlier one. */
static enum dse_status take_size(const struct timeloop_component *component,
                                 const struct timeloop_value *value, uint64_t words, uint64_t *size_word,
                                 struct dse_error *err)
{
    if (words == 0)
        return yaml_fail(component->doc, value->node, err,
                         "%s gives 0 words: a level must hold at least one word (leave the attribute out for "
                         "unlimited, or bypass the level)",
                         value->what);
    if (*size_word != ARCH_UNLIMITED && *size_word != words)
        return yaml_fail(component->doc, value->node, err,
                         "%s gives %llu words, another attribute gives %llu", value->what,
                         (unsigned long long)words, (unsigned long long)*size_word);
    *size_word = words;
    return DSE_OK;
}

/* The size in words by entries, depth (blocks) or sizeKB. When one is overridden the others no longer
 * count. */
static enum dse_status read_size(const struct timeloop_component *component, struct storage_level *level,
                                 struct dse_error *err)
{
    static const char *const entries[] = {"entries", NULL};
    static const char *const depth[] = {"depth", "memory_depth", "data_storage_depth", NULL};
    static const char *const size_kb[] = {"sizeKB", NULL};
    static const char *const *const way[] = {entries, depth, size_kb};
    struct timeloop_value value[3];
    bool overridden = false;

    level->size_word = ARCH_UNLIMITED;
    for (size_t i = 0; i < 3; i++) {
        DSE_TRY(timeloop_attribute_find(component, way[i], &value[i], err));
        overridden = overridden || value[i].overridden;
    }
    for (size_t i = 0; i < 3; i++) {
        uint64_t number = 0;
        uint64_t unit = i == 0 ? 1 : i == 1 ? level->block_word : 1024 * 8;

        if (value[i].node == NULL || (overridden && !value[i].overridden))
            continue;
        DSE_TRY(yaml_u64(component->doc, value[i].node, value[i].what, 0, WORD_MAX / unit, &number, err));
        DSE_TRY(take_size(component, &value[i], number * unit / (i == 2 ? level->word_bit : 1),
                          &level->size_word, err));
    }
    return DSE_OK;
}

static enum dse_status read_usage(const struct timeloop_component *component, struct storage_level *level,
                                  struct dse_error *err)
{
    bool given;

    level->multiple_buffering = 1.0;
    level->min_utilization = 0.0;
    DSE_TRY(
        timeloop_attribute_positive(component, SPELL("multiple-buffering"), &level->multiple_buffering, err));
    DSE_TRY(timeloop_attribute_double(component, SPELL("min-utilization"), 1.0, &level->min_utilization,
                                      &given, err));
    if (given && level->min_utilization > 0.0 && level->size_word == ARCH_UNLIMITED)
        return yaml_fail(component->doc, component->node, err,
                         "%s has min-utilization but no size (entries, depth or sizeKB) to take it of",
                         component->name);
    return DSE_OK;
}

/* instances = mesh_x * mesh_y; meshX alone or meshY alone gives the other, neither puts all on X
 * (docs/timeloop.md, "Attributes that count"). */
static enum dse_status read_mesh(const struct timeloop_component *component, uint64_t *instances,
                                 uint64_t *mesh_x, uint64_t *mesh_y, struct dse_error *err)
{
    bool given, x_given, y_given;

    if (component->mesh_x > 0) {
        *instances = component->count;
        *mesh_x = component->mesh_x;
        *mesh_y = component->mesh_y;
        return DSE_OK;
    }
    *instances = component->count;
    DSE_TRY(timeloop_attribute_u64(component, SPELL("instances"), 1, UINT32_MAX, instances, &given, err));
    if (*instances == 0)
        return yaml_fail(component->doc, component->node, err,
                         "%s needs `instances`: the flat format has no tree to count them by",
                         component->name);
    *mesh_x = *instances;
    *mesh_y = 1;
    DSE_TRY(timeloop_attribute_u64(component, SPELL("meshX"), 1, UINT32_MAX, mesh_x, &x_given, err));
    DSE_TRY(timeloop_attribute_u64(component, SPELL("meshY"), 1, UINT32_MAX, mesh_y, &y_given, err));
    if (x_given && !y_given && *instances % *mesh_x == 0)
        *mesh_y = *instances / *mesh_x;
    if (y_given && !x_given && *instances % *mesh_y == 0)
        *mesh_x = *instances / *mesh_y;
    if (*mesh_x * *mesh_y == *instances)
        return DSE_OK;
    if (x_given && y_given)
        return yaml_fail(component->doc, component->node, err,
                         "%s has %llu instances, but meshX %llu x meshY %llu makes %llu", component->name,
                         (unsigned long long)*instances, (unsigned long long)*mesh_x,
                         (unsigned long long)*mesh_y, (unsigned long long)(*mesh_x * *mesh_y));
    return yaml_fail(component->doc, component->node, err,
                     "%s has %llu instances, which %s %llu does not divide", component->name,
                     (unsigned long long)*instances, x_given ? "meshX" : "meshY",
                     (unsigned long long)(x_given ? *mesh_x : *mesh_y));
}

/* Words per cycle of one instance. The old `bandwidth` is half for reads and half for writes. */
static enum dse_status read_bandwidth(const struct timeloop_component *component, struct storage_level *level,
                                      struct dse_error *err)
{
    double both = INFINITY;

    level->shared_bandwidth_word_per_cycle = INFINITY;
    DSE_NOTE(component->doc->faults, timeloop_attribute_positive(component, SPELL("bandwidth"), &both, err));
    level->read_bandwidth_word_per_cycle = both / 2;
    level->write_bandwidth_word_per_cycle = both / 2;
    DSE_NOTE(component->doc->faults, timeloop_attribute_positive(component, SPELL("read_bandwidth"),
                                                                 &level->read_bandwidth_word_per_cycle, err));
    DSE_NOTE(component->doc->faults,
             timeloop_attribute_positive(component, SPELL("write_bandwidth"),
                                         &level->write_bandwidth_word_per_cycle, err));
    return timeloop_attribute_positive(component, SPELL("shared_bandwidth"),
                                       &level->shared_bandwidth_word_per_cycle, err);
}

/* The network below the level: docs/cost-model.md, "Energy of networks". Energies per hop come directly or
 * from wires. */
static enum dse_status read_network(const struct timeloop_component *component, struct storage_level *level,
                                    struct dse_error *err)
{
    double hop = 0.0, wire = 0.0, tile_um = 0.0, router = 0.0, ingress = 0.0;
    uint32_t word_bit = level->word_bit;
    bool hop_given = false, tile_given = false;
    struct timeloop_value reduction;

    DSE_NOTE(component->doc->faults, timeloop_attribute_double(component, SPELL("energy-per-hop"),
                                                               ENERGY_MAX_PJ, &hop, &hop_given, err));
    DSE_NOTE(component->doc->faults,
             timeloop_attribute_double(component, SPELL("wire-energy"), ENERGY_MAX_PJ, &wire, NULL, err));
    DSE_NOTE(component->doc->faults,
             timeloop_attribute_double(component, SPELL("tile-width"), 1e9, &tile_um, &tile_given, err));
    DSE_NOTE(component->doc->faults,
             timeloop_attribute_double(component, SPELL("router-energy"), ENERGY_MAX_PJ, &router, NULL, err));
    DSE_NOTE(component->doc->faults, timeloop_attribute_double(component, SPELL("energy-per-ingress"),
                                                               ENERGY_MAX_PJ, &ingress, NULL, err));
    DSE_NOTE(component->doc->faults,
             u32_attribute(component, SPELL("network-word-bits"), &word_bit, NULL, err));
    DSE_NOTE(component->doc->faults,
             timeloop_attribute_u64(component, SPELL("network_fill_latency"), 0, UINT32_MAX,
                                    &level->fill_latency_cycle, NULL, err));
    DSE_NOTE(component->doc->faults,
             timeloop_attribute_u64(component, SPELL("network_drain_latency"), 0, UINT32_MAX,
                                    &level->drain_latency_cycle, NULL, err));
    if (!hop_given && wire > 0.0 && !tile_given)
        return yaml_fail(component->doc, component->node, err,
                         "%s has wire-energy but no tile-width (um), the length of one hop", component->name);
    if (!hop_given)
        hop = word_bit * (tile_um / 1000) * wire;
    level->hop_energy_j = hop * J_PER_PJ;
    level->router_energy_j = router * J_PER_PJ;
    level->ingress_energy_j = ingress * J_PER_PJ;
    level->reduces = !level->is_dram || component->v4; /* v4's front end writes true for all */
    DSE_NOTE(component->doc->faults,
             timeloop_attribute_find(component, SPELL("reduction_supported"), &reduction, err));
    if (reduction.node != NULL)
        DSE_NOTE(component->doc->faults,
                 yaml_bool(component->doc, reduction.node, reduction.what, &level->reduces, err));
    return DSE_OK;
}

/* Timeloop's public table (docs/timeloop.md, "Attributes that count"), in pJ per access. */
static void default_energy(struct storage_level *level)
{
    double pj;

    if (level->is_dram) {
        pj = 200.0 * ((double)level->word_bit * level->block_word) / 16;
    } else {
        double width = (double)level->word_bit * level->block_word * level->cluster_size;
        double height = (double)((level->size_word + level->block_word - 1) / level->block_word);
        double kib = width * height / (8 * 1024);
        double per_word = (6.0 - 1.0) / (100.0 - 0.5) * (kib - 0.5) + 1.0;

        pj = per_word * width / 16 / level->cluster_size;
    }
    level->read_energy_j = level->write_energy_j = level->update_energy_j = pj * J_PER_PJ;
}

static enum dse_status read_energy(const struct timeloop_component *component, struct storage_level *level,
                                   bool *fixed_energy, struct dse_error *err)
{
    double access = 0.0, address = 0.0;

    DSE_NOTE(component->doc->faults, timeloop_attribute_double(component, SPELL("vector-access-energy"),
                                                               ENERGY_MAX_PJ, &access, fixed_energy, err));
    DSE_NOTE(component->doc->faults, timeloop_attribute_double(component, SPELL("addr-gen-energy"),
                                                               ENERGY_MAX_PJ, &address, NULL, err));
    level->address_energy_j = address * J_PER_PJ;
    if (*fixed_energy)
        level->read_energy_j = level->write_energy_j = level->update_energy_j = access * J_PER_PJ;
    else if (level->is_dram || level->size_word != ARCH_UNLIMITED)
        default_energy(level);
    else
        level->read_energy_j = level->write_energy_j = level->update_energy_j =
            NAN; /* an ERT must give them */
    return DSE_OK;
}

enum dse_status timeloop_storage_build(const struct timeloop_component *component, const char *class_name,
                                       struct storage_level *level, bool *fixed_energy, struct dse_error *err)
{
    struct dse_faults *const faults = component->doc->faults;
    const size_t n_fault = dse_faults_count(faults);
    memset(level, 0, sizeof *level);
    text_copy(level->name, sizeof level->name, component->name);
    level->keep_role = (1U << TENSOR_ROLE_COUNT) - 1;
    DSE_NOTE(faults, timeloop_attribute_check(component, err));
    DSE_NOTE(faults, read_technology(component, class_name, &level->is_dram, err));
    DSE_NOTE(faults, read_word(component, level, err));
    DSE_NOTE(faults, read_size(component, level, err));
    if (dse_faults_count(faults) == n_fault)
        DSE_NOTE(faults, read_usage(component, level, err));
    DSE_NOTE(faults, read_mesh(component, &level->instances, &level->mesh_x, &level->mesh_y, err));
    DSE_NOTE(faults, read_bandwidth(component, level, err));
    DSE_NOTE(faults, read_network(component, level, err));
    DSE_NOTE(faults, read_energy(component, level, fixed_energy, err));
    if (dse_faults_count(faults) > n_fault)
        return DSE_OK;
    if (level->is_dram && level->cluster_size != 1)
        return yaml_fail(component->doc, component->node, err,
                         "%s is a DRAM, whose cluster-size must be 1, not %u", level->name,
                         level->cluster_size);
    if (level->cluster_size > level->instances)
        return yaml_fail(component->doc, component->node, err,
                         "%s has cluster-size %u but only %llu instances", level->name, level->cluster_size,
                         (unsigned long long)level->instances);
    return DSE_OK;
}

enum dse_status timeloop_fanout_build(const struct timeloop_component *component, struct storage_level *level,
                                      struct dse_error *err)
{
    memset(level, 0, sizeof *level);
    text_copy(level->name, sizeof level->name, component->name);
    level->is_fanout = true;
    level->reduces = true;
    level->word_bit = level->block_word = level->cluster_size = 1;
    level->size_word = ARCH_UNLIMITED;
    level->multiple_buffering = 1.0;
    level->read_bandwidth_word_per_cycle = level->write_bandwidth_word_per_cycle =
        level->shared_bandwidth_word_per_cycle = INFINITY;
    return read_mesh(component, &level->instances, &level->mesh_x, &level->mesh_y, err);
}

/* Timeloop takes whole pJ only here ("bad conversion"); a fraction must come by an ERT. */
static enum dse_status mac_energy(const struct timeloop_component *component,
                                  const struct timeloop_value *value, double *pj, struct dse_error *err)
{
    uint64_t whole = 0;

    DSE_TRY(yaml_double(component->doc, value->node, value->what, 0.0, ENERGY_MAX_PJ, pj, err));
    if (!text_parse_u64(value->node->text, &whole))
        return yaml_fail(
            component->doc, value->node, err,
            "%s is %s, but Timeloop reads only whole pJ here; give a fraction in an ERT table for %s "
            "(action compute)",
            value->what, value->node->text, component->name);
    return DSE_OK;
}

/* In v4 also by the widths of Accelergy's classes, where the component itself does not say word bits. */
static enum dse_status mac_word(const struct timeloop_component *component, struct mac_array *mac,
                                struct dse_error *err)
{
    const char *const *const word = SPELL("word-bits", "word_width", "datawidth");
    struct timeloop_component own = *component;
    bool given;
    DSE_TRY(u32_attribute(component, word, &mac->word_bit, NULL, err));
    own.n_outer = 0;
    DSE_TRY(u32_attribute(&own, word, &mac->word_bit, &given, err));
    if (!component->v4 || given)
        return DSE_OK;
    DSE_TRY(u32_attribute(&own, SPELL("multiplier_width"), &mac->word_bit, NULL, err));
    return u32_attribute(&own, SPELL("width"), &mac->word_bit, NULL, err);
}

enum dse_status timeloop_mac_build(const struct timeloop_component *component, struct mac_array *mac,
                                   bool *fixed_energy, struct dse_error *err)
{
    struct timeloop_value energy;
    double pj;

    memset(mac, 0, sizeof *mac);
    text_copy(mac->name, sizeof mac->name, component->name);
    mac->word_bit = 16;
    DSE_NOTE(component->doc->faults, timeloop_attribute_check(component, err));
    DSE_NOTE(component->doc->faults, mac_word(component, mac, err));
    DSE_NOTE(component->doc->faults, read_mesh(component, &mac->instances, &mac->mesh_x, &mac->mesh_y, err));
    DSE_NOTE(component->doc->faults, timeloop_attribute_find(component, SPELL("energy"), &energy, err));
    pj = (mac->word_bit / 16.0) * (mac->word_bit / 16.0);
    if (energy.node != NULL)
        DSE_NOTE(component->doc->faults, mac_energy(component, &energy, &pj, err));
    *fixed_energy = energy.overridden;
    mac->energy_j = pj * J_PER_PJ;
    return DSE_OK;
}
