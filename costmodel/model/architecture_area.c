/* What a machine takes of a chip. */
#include <math.h>
#include <stdio.h>

#include "costmodel/model/architecture.h"

double architecture_area_mm2(const struct architecture *arch)
{
    double sum = (double)arch->mac.instances * arch->mac.area_mm2;
    for (uint32_t v = 0; v < arch->n_level; v++) {
        const struct storage_level *level = &arch->level[v];
        const uint64_t inside = v > 0 ? arch->level[v - 1].instances : arch->mac.instances;
        double own = level->area_mm2;
        if (level->size_word != ARCH_UNLIMITED)
            own += level->byte_area_mm2 * (double)level->size_word * level->word_bit / 8;
        sum += (double)level->instances * own + (double)inside * level->hop_area_mm2;
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
