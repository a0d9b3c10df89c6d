/* What a native file leaves to a technology: energies and areas of storages and MACs that give no energy. */
#include <math.h>

#include "costmodel/native/storage_parts.h"
#include "costmodel/technology/technology.h"

static double node_nm(const struct arch_spec *spec)
{
    return round(spec->top->value[TOP_TECHNOLOGY].number * 1e15) / 1e6;
}

/* The keys that only mean something to a table must not be written for nothing. */
static enum dse_status check_unused(const struct arch_spec *spec, const struct arch_item *item,
                                    struct dse_error *err)
{
    static const int of_table[] = {STORAGE_PORTS, STORAGE_BANKS, STORAGE_CELL, STORAGE_DRAM};
    for (size_t i = 0; i < sizeof of_table / sizeof of_table[0]; i++) {
        if (!arch_is_set(item, of_table[i]))
            continue;
        return arch_spec_fail(spec, item, of_table[i], err,
                              "%s.%s says how a table makes the energies, but %s", item->name,
                              architecture_schema()[of_table[i]].key,
                              arch_is_set(spec->top, TOP_TECHNOLOGY)
                                  ? "these are given; leave one out"
                                  : "the file names no technology; write \"technology: 45 nm\" at its top");
    }
    return DSE_OK;
}

/* A rule scales energies that a file gives. */
static enum dse_status check_rule(const struct arch_spec *spec, const struct arch_item *item,
                                  struct dse_error *err)
{
    for (int f = STORAGE_RULE_REFERENCE; f <= STORAGE_RULE_FACTOR; f++)
        if (arch_is_set(item, f))
            return arch_spec_fail(spec, item, f, err,
                                  "%s.%s scales energies that the file gives; by technology they follow the "
                                  "capacity without it",
                                  item->name, architecture_schema()[f].key);
    return DSE_OK;
}

static bool gives_energy(const struct arch_item *item)
{
    return arch_is_set(item, STORAGE_ACCESS_ENERGY) || arch_is_set(item, STORAGE_READ_ENERGY) ||
           arch_is_set(item, STORAGE_WRITE_ENERGY) || arch_is_set(item, STORAGE_UPDATE_ENERGY) ||
           arch_is_set(item, STORAGE_RULE_TABLE);
}

static enum dse_status price_dram(const struct arch_spec *spec, const struct arch_item *item,
                                  const struct storage_level *level, struct technology_cost *cost,
                                  struct dse_error *err)
{
    static const int of_sram[] = {STORAGE_PORTS, STORAGE_BANKS, STORAGE_CELL};
    for (size_t i = 0; i < sizeof of_sram / sizeof of_sram[0]; i++)
        if (arch_is_set(item, of_sram[i]))
            return arch_spec_fail(spec, item, of_sram[i], err,
                                  "%s.%s is of memories on the chip, not of a dram", item->name,
                                  architecture_schema()[of_sram[i]].key);
    if (!arch_is_set(item, STORAGE_DRAM))
        return arch_spec_fail(
            spec, item, -1, err,
            "storage %s lacks its energies; say which DRAM it is, such as \"dram: lpddr4\", "
            "or write \"access_energy: 512 pJ\"",
            item->name);
    technology_dram_cost((enum technology_dram)item->value[STORAGE_DRAM].number,
                         (double)level->block_word * level->word_bit, cost);
    return DSE_OK;
}

static enum dse_status price_memory(const struct arch_spec *spec, const struct arch_item *item,
                                    const struct storage_level *level, struct technology_cost *cost,
                                    struct dse_error *err)
{
    const struct technology_memory memory = {
        .byte = storage_bytes_of(&item->value[STORAGE_CAPACITY], level->word_bit),
        .bit = (double)level->block_word * level->word_bit,
        .ports = arch_number_or(item, STORAGE_PORTS, 1),
        .banks = arch_number_or(item, STORAGE_BANKS, 1),
        .cell = (enum technology_cell)arch_number_or(item, STORAGE_CELL, TECHNOLOGY_LSTP),
    };
    struct dse_error inner;
    if (arch_is_set(item, STORAGE_DRAM))
        return arch_spec_fail(spec, item, STORAGE_DRAM, err, "%s.dram is of a storage of kind dram",
                              item->name);
    if (level->bank_group || level->size_word == ARCH_UNLIMITED)
        return arch_spec_fail(
            spec, item, -1, err,
            "storage %s lacks its energies, which no table says of a memory %s; write "
            "\"access_energy: 0.8 pJ\"",
            item->name, level->bank_group ? "that shares its banks with others" : "of unlimited capacity");
    if (technology_memory_cost(node_nm(spec), &memory, cost, &inner) == DSE_OK)
        return DSE_OK;
    return arch_spec_fail(spec, item, -1, err, "storage %s lacks its energies, and %s", item->name,
                          inner.text);
}

enum dse_status storage_set_technology(const struct arch_spec *spec, const struct arch_item *item,
                                       struct storage_level *level, bool *done, struct dse_error *err)
{
    struct technology_cost cost;
    *done = arch_is_set(spec->top, TOP_TECHNOLOGY) && !gives_energy(item) && level->n_part == 0;
    if (!*done)
        return check_unused(spec, item, err);
    DSE_TRY(check_rule(spec, item, err));
    DSE_TRY((level->is_dram ? price_dram : price_memory)(spec, item, level, &cost, err));
    level->read_energy_j = cost.read_j;
    level->write_energy_j = level->update_energy_j = cost.write_j;
    level->source = cost.source;
    if (!arch_is_set(item, STORAGE_AREA) && !arch_is_set(item, STORAGE_AREA_PER_BYTE))
        level->area_mm2 = cost.area_mm2;
    if (!arch_is_set(item, STORAGE_LEAKAGE))
        level->leakage_w = cost.leakage_w;
    return DSE_OK;
}

enum dse_status arch_set_macs(const struct arch_spec *spec, const struct arch_item *item,
                              struct mac_array *mac, struct dse_error *err)
{
    struct technology_cost cost;
    struct dse_error inner;
    arch_set_numbers(spec, item, mac);
    if (arch_is_set(item, MACS_ENERGY))
        return DSE_OK;
    if (!arch_is_set(spec->top, TOP_TECHNOLOGY))
        return arch_spec_fail(spec, item, -1, err,
                              "macs %s lacks the required key \"energy\"; write \"energy: 0.2 pJ\", or "
                              "\"technology: 45 nm\" at the top of the file",
                              item->name);
    if (technology_mac_cost(node_nm(spec), mac->word_bit, &cost, &inner) != DSE_OK)
        return arch_spec_fail(spec, item, -1, err, "macs %s lacks its \"energy\", and %s", item->name,
                              inner.text);
    mac->energy_j = cost.read_j;
    mac->source = cost.source;
    if (!arch_is_set(item, MACS_AREA))
        mac->area_mm2 = cost.area_mm2;
    return DSE_OK;
}
