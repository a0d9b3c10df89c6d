/* Groups of banks of a native architecture file: which storages share them, and what that leaves each. */
#include <string.h>

#include "base/text.h"
#include "costmodel/model/bank_group.h"
#include "costmodel/native/storage_parts.h"

void arch_begin_groups(const struct arch_spec *spec, struct architecture *arch)
{
    arch->n_group = (uint32_t)spec->n_group;
    for (uint32_t g = 0; g < arch->n_group; g++) {
        text_copy(arch->group[g].name, sizeof arch->group[g].name, spec->group[g]->name);
        arch->group[g].banks = (uint32_t)spec->group[g]->value[GROUP_BANKS].number;
    }
}

/* What a storage with a capacity of its own may say. */
static enum dse_status check_alone(const struct arch_spec *spec, const struct arch_item *item,
                                   struct dse_error *err)
{
    static const int own[] = {STORAGE_CAPACITY,       STORAGE_MULTIPLE_BUFFERING, STORAGE_MIN_UTILIZATION,
                              STORAGE_RULE_REFERENCE, STORAGE_RULE_EXPONENT,      STORAGE_RULE_STEP,
                              STORAGE_RULE_TABLE};
    const char *group = item->value[STORAGE_GROUP].text;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (arch_is_set(item, own[i]))
            return arch_spec_fail(spec, item, own[i], err,
                                  "%s.%s is for a storage of its own; the size of this one is what %s has in "
                                  "banks (%s.banks, %s.bank)",
                                  item->name, architecture_schema()[own[i]].key, group, group, group);
    return DSE_OK;
}

static enum dse_status find_group(const struct arch_spec *spec, const struct arch_item *item, uint32_t *found,
                                  struct dse_error *err)
{
    const char *name = item->value[STORAGE_GROUP].text, *known[ARCH_GROUP_MAX];
    for (*found = 0; *found < spec->n_group; ++*found) {
        known[*found] = spec->group[*found]->name;
        if (strcmp(known[*found], name) == 0)
            return DSE_OK;
    }
    const char *near = text_nearest(name, known, spec->n_group);
    return arch_spec_fail(spec, item, STORAGE_GROUP, err,
                          "%s.group: there is no group \"%.60s\"%s%s%s; list it under groups: {group: %.60s, "
                          "banks: 16, bank: 32 KiB}",
                          item->name, name, near ? ", did you mean \"" : "", near ? near : "",
                          near ? "\"" : "", name);
}

enum dse_status storage_join_group(const struct arch_spec *spec, const struct arch_item *item,
                                   const struct architecture *arch, struct storage_level *level,
                                   struct dse_error *err)
{
    uint32_t g;
    DSE_TRY(find_group(spec, item, &g, err));
    DSE_TRY(check_alone(spec, item, err));
    if (level->n_part)
        return arch_spec_fail(spec, item, STORAGE_GROUP, err,
                              "%s has memories side by side; they cannot share the banks of %s", item->name,
                              arch->group[g].name);
    if (spec->group[g]->is_bad)
        return DSE_OK; /* said where it was read */
    double words = storage_words_of(&spec->group[g]->value[GROUP_BANK], level->word_bit);
    if (words < level->block_word)
        return arch_spec_fail(spec, spec->group[g], GROUP_BANK, err,
                              "%s.bank holds %.0f words of %s, less than one block of %u words",
                              arch->group[g].name, words, item->name, level->block_word);
    if (words > UINT32_MAX)
        return arch_spec_fail(spec, spec->group[g], GROUP_BANK, err,
                              "%s.bank holds %.0f words of %s, more than 2^32 - 1 are not supported",
                              arch->group[g].name, words, item->name);
    level->bank_group = (uint8_t)(g + 1);
    level->bank_word = (uint32_t)words;
    return DSE_OK;
}

/* The storages of group g, counted from 1, one after the other in the hierarchy. */
static enum dse_status check_group(const struct arch_spec *spec, const struct architecture *arch, uint32_t g,
                                   struct dse_error *err)
{
    const struct arch_item *group = spec->group[g - 1];
    uint32_t n = 0, l = arch->n_level;
    uint64_t instances = 0;
    for (size_t i = 0; i < spec->n_item; i++) {
        if (spec->item[i]->section != ARCH_STORAGE || arch->level[--l].bank_group != g)
            continue;
        if (l + 1 == arch->n_level)
            return arch_spec_fail(
                spec, spec->item[i], STORAGE_GROUP, err,
                "%s is the outermost storage, which holds everything; it cannot share banks",
                spec->item[i]->name);
        if (n++ > 0 && arch->level[l].instances != instances)
            return arch_spec_fail(spec, spec->item[i], STORAGE_GROUP, err,
                                  "%s shares the banks of %s with storages on the other side of an array",
                                  spec->item[i]->name, group->name);
        instances = arch->level[l].instances;
    }
    if (n == 0)
        return arch_spec_fail(
            spec, group, -1, err,
            "no storage shares the banks of %s; write group: %s there in place of a capacity", group->name,
            group->name);
    if (n > arch->group[g - 1].banks)
        return arch_spec_fail(spec, group, GROUP_BANKS, err,
                              "%s.banks is %u, for %u storages that need at least one each", group->name,
                              arch->group[g - 1].banks, n);
    return DSE_OK;
}

enum dse_status arch_set_groups(const struct arch_spec *spec, struct architecture *arch,
                                struct dse_error *err)
{
    for (uint32_t g = 1; g <= arch->n_group; g++)
        DSE_TRY(check_group(spec, arch, g, err));
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (arch->level[l].bank_group)
            arch->level[l].size_word = bank_group_size_word(arch, &arch->level[l]);
    return DSE_OK;
}
