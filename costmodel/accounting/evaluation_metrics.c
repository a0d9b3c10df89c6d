/* From the totals of an evaluation to the metrics that all results share. */
#include "costmodel/accounting/evaluator.h"

void evaluation_metrics(const struct evaluation *e, const struct architecture *arch, double area_mm2,
                        struct metrics *out)
{
    metrics_init(out);
    out->latency_s = e->latency_s;
    out->latency_cycle = e->latency_cycle;
    out->energy_j = e->energy_j;
    out->edp_js = e->edp_js;
    out->utilization = e->utilization;
    out->area_mm2 = area_mm2;
    out->n_mac = (uint64_t)e->n_compute;
    out->energy_mac_j = e->energy_mac_j;
    out->energy_leakage_j = e->energy_leakage_j;
    out->energy_buffer_j = out->energy_noc_j = out->energy_dram_j = 0;
    out->dram_byte = out->onchip_byte = 0;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        out->energy_noc_j += e->network_energy_j[l];
        if (arch->level[l].is_dram) {
            out->energy_dram_j += e->level_energy_j[l];
            out->dram_byte += e->level_byte[l];
        } else {
            out->energy_buffer_j += e->level_energy_j[l];
            out->onchip_byte += e->level_byte[l];
        }
    }
}
