/* What a machine takes of a chip. */
#include <math.h>
#include <stdio.h>

#include "costmodel/model/architecture.h"

/* Words of one instance; of a group of storages that share banks each has an equal share. */
static double level_words(const struct architecture *arch, const struct storage_level *level)
{
    uint32_t n = 0;
    if (!level->bank_group)
        return (double)level->size_word;
    for (uint32_t v = 0; v < arch->n_level; v++)
        n += arch->level[v].bank_group == level->bank_group;
    return (double)arch->group[level->bank_group - 1].banks * (double)level->bank_word / n;
}

double architecture_level_area_mm2(const struct architecture *arch, uint32_t l)
{
    const struct storage_level *level = &arch->level[l];
    if (level->size_word == ARCH_UNLIMITED)
        return level->area_mm2;
    return level->area_mm2 + level->byte_area_mm2 * level_words(arch, level) * level->word_bit / 8;
}

double architecture_area_mm2(const struct architecture *arch)
{
    double sum = (double)arch->mac.instances * arch->mac.area_mm2;
    for (uint32_t v = 0; v < arch->n_level; v++) {
        const struct storage_level *level = &arch->level[v];
        const uint64_t inside = v > 0 ? arch->level[v - 1].instances : arch->mac.instances;
        sum += (double)level->instances * architecture_level_area_mm2(arch, v) +
               (double)inside * level->hop_area_mm2;
    }
    return sum > 0 ? sum : NAN;
}

bool architecture_area_fits(const struct architecture *arch, char *reason, size_t size)
{
    const double area_mm2 = architecture_area_mm2(arch);
    if (arch->max_area_mm2 <= 0 || !(area_mm2 > arch->max_area_mm2))
        return true;
    snprintf(reason, size, "the machine takes %.6g mm2, max_area is %.6g mm2", area_mm2, arch->max_area_mm2);
    return false;
}
