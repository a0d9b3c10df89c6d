/* What a machine takes at rest: the power of all its instances, or of those in use. */
#include <math.h>
#include <stdio.h>

#include "costmodel/model/architecture.h"

double architecture_leakage_w(const struct architecture *arch, const double *used, double mac_used)
{
    double sum_w = (arch->power_gating ? mac_used : (double)arch->mac.instances) * arch->mac.leakage_w;
    for (uint32_t l = 0; l < arch->n_level; l++)
        sum_w += (arch->power_gating ? used[l] : (double)arch->level[l].instances) * arch->level[l].leakage_w;
    return sum_w;
}

double architecture_all_leakage_w(const struct architecture *arch)
{
    double used[ARCH_LEVEL_MAX];
    for (uint32_t l = 0; l < arch->n_level; l++)
        used[l] = (double)arch->level[l].instances;
    return architecture_leakage_w(arch, used, (double)arch->mac.instances);
}

double architecture_all_leakage_j(const struct architecture *arch, double cycles)
{
    return architecture_all_leakage_w(arch) * cycles / arch->clock_hz;
}

bool architecture_leaks_always(const struct architecture *arch, char *reason, size_t size)
{
    if (!arch->power_gating || architecture_all_leakage_w(arch) <= 0)
        return true;
    snprintf(
        reason, size,
        "it gates the power of what is not in use, and how much of it a schedule of a whole network uses "
        "when is not known; set power_gating to off, or in a Timeloop file leave the ERT's leak away");
    return false;
}

void architecture_stop_leakage(struct architecture *arch)
{
    arch->mac.leakage_w = 0;
    for (uint32_t l = 0; l < arch->n_level; l++)
        arch->level[l].leakage_w = 0;
}

double architecture_least_leakage_j(const struct architecture *arch, double macs, double cycles)
{
    const double all = (double)arch->mac.instances;
    double sum = 0; /* of watts times cycles */
    if (!arch->power_gating)
        return architecture_all_leakage_j(arch, cycles);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        /* only strict machines hold a level to what lies inside it */
        const double most = arch->strict_fanout ? all / (double)arch->level[l].instances : all;
        sum += fmax(cycles, macs / most) * arch->level[l].leakage_w;
    }
    return (sum + fmax(cycles, macs) * arch->mac.leakage_w) / arch->clock_hz;
}
