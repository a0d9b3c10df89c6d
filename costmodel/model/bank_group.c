/* Groups of storages that share banks: are they put together well, and do tiles fit them? */
#include "costmodel/model/bank_group.h"

static uint32_t count_members(const struct architecture *arch, uint32_t g)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < arch->n_level; l++)
        n += arch->level[l].bank_group == g;
    return n;
}

uint64_t bank_group_size_word(const struct architecture *arch, const struct storage_level *level)
{
    uint32_t others = count_members(arch, level->bank_group) - 1;
    uint32_t banks = arch->group[level->bank_group - 1].banks;
    return banks > others ? (uint64_t)(banks - others) * level->bank_word : 0;
}

/* The members stand next to each other: no array and no other storage between them. */
static enum dse_status check_place(const struct architecture *arch, uint32_t l, struct dse_error *err)
{
    const struct storage_level *level = &arch->level[l];
    if (level->bank_group > arch->n_group)
        return dse_fail(err, DSE_BAD_INPUT, "%s shares the banks of group %u, there are %u groups",
                        level->name, level->bank_group, arch->n_group);
    const struct bank_group *group = &arch->group[level->bank_group - 1];
    if (l + 1 == arch->n_level)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "%s is the outermost storage, which holds everything; it cannot share the banks of %s",
            level->name, group->name);
    for (uint32_t k = 0; k < l; k++) {
        if (arch->level[k].bank_group != level->bank_group)
            continue;
        if (arch->level[k].instances != level->instances)
            return dse_fail(err, DSE_BAD_INPUT,
                            "%s and %s share the banks of %s, but there are %llu of the one and %llu of the "
                            "other; no array can lie between them",
                            level->name, arch->level[k].name, group->name,
                            (unsigned long long)level->instances,
                            (unsigned long long)arch->level[k].instances);
    }
    return DSE_OK;
}

static enum dse_status check_member(const struct architecture *arch, uint32_t l, struct dse_error *err)
{
    const struct storage_level *level = &arch->level[l];
    if (level->bank_word < 1)
        return dse_fail(err, DSE_BAD_INPUT, "%s: a bank of %s holds no word", level->name,
                        arch->group[level->bank_group - 1].name);
    if (level->n_part > 0 || level->multiple_buffering != 1 || level->min_utilization != 0)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s shares the banks of %s; memories side by side, multiple_buffering and "
                        "min_utilization are not for such a storage",
                        level->name, arch->group[level->bank_group - 1].name);
    if (level->size_word != bank_group_size_word(arch, level))
        return dse_fail(err, DSE_BAD_INPUT, "%s has %llu words, which is not what %s leaves it", level->name,
                        (unsigned long long)level->size_word, arch->group[level->bank_group - 1].name);
    return DSE_OK;
}

enum dse_status bank_group_check(const struct architecture *arch, struct dse_error *err)
{
    if (arch->n_group > ARCH_GROUP_MAX)
        return dse_fail(err, DSE_LIMIT, "%u groups of banks, at most %d are supported", arch->n_group,
                        ARCH_GROUP_MAX);
    for (uint32_t g = 1; g <= arch->n_group; g++) {
        const struct bank_group *group = &arch->group[g - 1];
        uint32_t n = count_members(arch, g);
        if (n == 0)
            return dse_fail(err, DSE_BAD_INPUT, "no storage shares the banks of %s; write group: %s there",
                            group->name, group->name);
        if (n > group->banks)
            return dse_fail(err, DSE_BAD_INPUT, "%s has %u banks for %u storages; each needs at least one",
                            group->name, group->banks, n);
    }
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (arch->level[l].bank_group)
            DSE_TRY(check_place(arch, l, err));
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (arch->level[l].bank_group)
            DSE_TRY(check_member(arch, l, err));
    return DSE_OK;
}

uint64_t bank_group_needed(const struct architecture *arch, uint32_t g, const uint64_t *words)
{
    uint64_t banks = 0;
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (arch->level[l].bank_group == g)
            banks += bank_group_need(words[l], arch->level[l].bank_word);
    return banks;
}

bool bank_groups_fit(const struct architecture *arch, const uint64_t *words, struct misfit_info *fit)
{
    for (uint32_t g = 1; g <= arch->n_group; g++) {
        uint64_t needed = bank_group_needed(arch, g, words), most = 0;
        if (needed <= arch->group[g - 1].banks)
            continue;
        if (!fit)
            return false;
        *fit = (struct misfit_info){
            .what = MISFIT_BANKS, .dim = -1, .needed = needed, .available = arch->group[g - 1].banks};
        for (uint32_t l = 0; l < arch->n_level; l++)
            if (arch->level[l].bank_group == g &&
                bank_group_need(words[l], arch->level[l].bank_word) > most) {
                most = bank_group_need(words[l], arch->level[l].bank_word);
                fit->level = (int)l;
            }
        return false;
    }
    return true;
}
