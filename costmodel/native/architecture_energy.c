/* The energies of one storage of a native file: as written, scaled by a rule, or from a table. */
#include <math.h>

#include "costmodel/native/storage_parts.h"

/* The energy under `field`, unless it is the file's and access_energy was overridden: then that holds for
 * all. */
static bool own_energy(const struct arch_item *item, int field)
{
    return arch_is_set(item, field) &&
           (arch_is_override(item, field) || !arch_is_override(item, STORAGE_ACCESS_ENERGY));
}

static enum dse_status set_written(const struct arch_spec *spec, const struct arch_item *item,
                                   struct storage_level *level, struct dse_error *err)
{
    bool has_read = own_energy(item, STORAGE_READ_ENERGY), has_write = own_energy(item, STORAGE_WRITE_ENERGY);
    bool has_update = own_energy(item, STORAGE_UPDATE_ENERGY);
    double access = item->value[STORAGE_ACCESS_ENERGY].number;
    if (!arch_is_set(item, STORAGE_ACCESS_ENERGY) && !(has_read && has_write))
        return arch_spec_fail(
            spec, item, -1, err,
            "storage %s lacks the energy of %s; write \"access_energy: 0.8 pJ\", or read_energy and "
            "write_energy, or energy_rule: {table: interstellar}",
            item->name,
            has_read    ? "a write"
            : has_write ? "a read"
                        : "an access");
    level->read_energy_j = has_read ? item->value[STORAGE_READ_ENERGY].number : access;
    level->write_energy_j = has_write ? item->value[STORAGE_WRITE_ENERGY].number : access;
    level->update_energy_j = has_update ? item->value[STORAGE_UPDATE_ENERGY].number : level->write_energy_j;
    return DSE_OK;
}

/* Exactly one of the two forms of energy_rule, complete. `*has_rule` is false when there is none. */
static enum dse_status check_rule(const struct arch_spec *spec, const struct arch_item *item, bool *has_rule,
                                  struct dse_error *err)
{
    bool power = arch_is_set(item, STORAGE_RULE_EXPONENT) || arch_is_set(item, STORAGE_RULE_FIXED);
    bool step = arch_is_set(item, STORAGE_RULE_STEP) || arch_is_set(item, STORAGE_RULE_FACTOR);
    const char *name = item->name;
    *has_rule = power || step || arch_is_set(item, STORAGE_RULE_REFERENCE);
    if (!*has_rule)
        return DSE_OK;
    int blame = arch_is_set(item, STORAGE_RULE_REFERENCE)  ? STORAGE_RULE_REFERENCE
                : arch_is_set(item, STORAGE_RULE_EXPONENT) ? STORAGE_RULE_EXPONENT
                                                           : -1;
    if (!arch_is_set(item, STORAGE_RULE_REFERENCE))
        return arch_spec_fail(
            spec, item, blame, err,
            "%s.energy_rule lacks the required key \"reference\", the capacity at which the energies hold",
            name);
    if (power && step)
        return arch_spec_fail(spec, item, blame, err,
                              "%s.energy_rule mixes exponent/fixed with step/factor; give one form", name);
    if (step ? !arch_is_set(item, STORAGE_RULE_STEP) || !arch_is_set(item, STORAGE_RULE_FACTOR)
             : !arch_is_set(item, STORAGE_RULE_EXPONENT))
        return arch_spec_fail(spec, item, blame, err,
                              "%s.energy_rule needs \"exponent\", or both \"step\" and \"factor\"", name);
    return DSE_OK;
}

/* fixed + (1 - fixed) * (c/c0)^exponent, or factor^(floor(c/step) - floor(c0/step)). 1 at the reference
 * capacity. */
static double rule_scale(const struct arch_item *item, uint32_t word_bit)
{
    double capacity = storage_bytes_of(&item->value[STORAGE_CAPACITY], word_bit);
    double reference = storage_bytes_of(&item->value[STORAGE_RULE_REFERENCE], word_bit);
    if (capacity == reference)
        return 1;
    if (arch_is_set(item, STORAGE_RULE_STEP)) {
        double step = storage_bytes_of(&item->value[STORAGE_RULE_STEP], word_bit);
        return pow(item->value[STORAGE_RULE_FACTOR].number, floor(capacity / step) - floor(reference / step));
    }
    double fixed = arch_number_or(item, STORAGE_RULE_FIXED, 0);
    return fixed + (1 - fixed) * pow(capacity / reference, item->value[STORAGE_RULE_EXPONENT].number);
}

static enum dse_status apply_rule(const struct arch_spec *spec, const struct arch_item *item,
                                  struct storage_level *level, struct dse_error *err)
{
    bool has_rule = false;
    DSE_TRY(check_rule(spec, item, &has_rule, err));
    if (!has_rule)
        return DSE_OK;
    if (level->size_word == ARCH_UNLIMITED)
        return arch_spec_fail(spec, item, STORAGE_RULE_REFERENCE, err,
                              "%s.energy_rule scales with the capacity, but the capacity is unlimited",
                              item->name);
    double scale = rule_scale(item, level->word_bit);
    if (!isfinite(scale))
        return arch_spec_fail(spec, item, STORAGE_CAPACITY, err, "%s.energy_rule overflows at this capacity",
                              item->name);
    level->read_energy_j *= scale;
    level->write_energy_j *= scale;
    level->update_energy_j *= scale;
    return DSE_OK;
}

/* ---------------------------------------- by table */

double arch_table_energy_j(enum arch_energy_table table, enum arch_storage_kind kind, double byte,
                           double access_bit)
{
    double pj = 200, divisor = 1e12; /* both exact, so that their quotient is the nearest number there is */
    if (kind == ARCH_KIND_REGISTER) {
        pj = 3 * byte;
        divisor = 1600e12;
    } else if (kind == ARCH_KIND_SRAM) {
        double doublings = log2(byte / 32768) + (table == ARCH_TABLE_INTERSTELLAR_SHIFTED);
        pj = 6 * pow(1.5, doublings);
    }
    return pj / divisor * (access_bit / 16);
}

/* Does the table say the energies? An axis over the one takes over from what the file says of the other. */
static enum dse_status find_table(const struct arch_spec *spec, const struct arch_item *item, bool *by_table,
                                  struct dse_error *err)
{
    static const int written[] = {STORAGE_ACCESS_ENERGY, STORAGE_READ_ENERGY, STORAGE_WRITE_ENERGY,
                                  STORAGE_UPDATE_ENERGY, STORAGE_RULE_REFERENCE};
    *by_table = arch_is_set(item, STORAGE_RULE_TABLE);
    for (size_t i = 0; *by_table && i < sizeof written / sizeof written[0]; i++) {
        const int f = written[i];
        if (!arch_is_set(item, f) ||
            (arch_is_override(item, STORAGE_RULE_TABLE) && !arch_is_override(item, f)))
            continue;
        if (arch_is_override(item, f) && !arch_is_override(item, STORAGE_RULE_TABLE) &&
            f == STORAGE_ACCESS_ENERGY) {
            *by_table = false;
            continue;
        }
        return arch_spec_fail(spec, item, f, err,
                              "%s has \"%s\" and energy_rule.table, which says all energies; leave one out",
                              item->name, architecture_schema()[f].key);
    }
    return DSE_OK;
}

static double from_table(const struct arch_item *item, const struct storage_level *level, int capacity)
{
    const double table = item->value[STORAGE_RULE_TABLE].number, kind = item->value[STORAGE_KIND].number;
    return arch_table_energy_j((enum arch_energy_table)table, (enum arch_storage_kind)kind,
                               storage_bytes_of(&item->value[capacity], level->word_bit),
                               (double)level->block_word * level->word_bit);
}

/* Of each memory; the level has the dearest one's, for those who look no closer. */
static enum dse_status set_of_memories(const struct arch_spec *spec, const struct arch_item *item,
                                       bool by_table, struct storage_level *level, struct dse_error *err)
{
    for (uint32_t i = 0; i < level->n_part; i++) {
        const int own = storage_memory_row(i, ARCH_MEMORY_ENERGY);
        const bool is_own =
            arch_is_set(item, own) &&
            (!by_table || arch_is_override(item, own) >= arch_is_override(item, STORAGE_RULE_TABLE));
        double *energy_j = &level->part[i].access_energy_j;
        if (!is_own && !by_table)
            return arch_spec_fail(spec, item, -1, err,
                                  "%s.memory_%u lacks its \"access_energy\"; write 0.06 pJ, or "
                                  "energy_rule: {table: interstellar}",
                                  item->name, i + 1);
        *energy_j = is_own ? item->value[own].number
                           : from_table(item, level, storage_memory_row(i, ARCH_MEMORY_CAPACITY));
        level->read_energy_j = fmax(level->read_energy_j, *energy_j);
    }
    level->write_energy_j = level->update_energy_j = level->read_energy_j;
    return DSE_OK;
}

enum dse_status storage_set_energies(const struct arch_spec *spec, const struct arch_item *item,
                                     struct storage_level *level, struct dse_error *err)
{
    bool by_table, done;
    DSE_TRY(find_table(spec, item, &by_table, err));
    DSE_TRY(storage_set_technology(spec, item, level, &done, err));
    if (done)
        return DSE_OK;
    if (level->n_part)
        return set_of_memories(spec, item, by_table, level, err);
    if (!by_table) {
        DSE_TRY(set_written(spec, item, level, err));
        return apply_rule(spec, item, level, err);
    }
    if (level->size_word == ARCH_UNLIMITED && !level->is_dram)
        return arch_spec_fail(spec, item, STORAGE_RULE_TABLE, err,
                              "%s.energy_rule.table goes by the capacity, but the capacity is unlimited",
                              item->name);
    level->read_energy_j = from_table(item, level, STORAGE_CAPACITY);
    level->write_energy_j = level->update_energy_j = level->read_energy_j;
    return DSE_OK;
}
