/* The CSV form, column for column that of the reference tables under tests/known: energies in pJ, networks
 * in Timeloop's order. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dse/report/mapping_report.h"

enum { NETWORK_NAME_MAX = 2 * ARCH_NAME_MAX + 8, NUMBER_MAX = 40 };

static const double pj = 1e12;

char *report_number(double value, char *buffer, size_t size)
{
    text_double(value, buffer, size);
    size_t length = strlen(buffer);
    if (!strpbrk(buffer, ".eni") && length + 3 <= size)
        memcpy(buffer + length, ".0", 3);
    return buffer;
}

char *report_network_name(const struct architecture *arch, uint32_t l, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s <==> %s", arch->level[l].name,
             l > 0 ? arch->level[l - 1].name : arch->mac.name);
    return buffer;
}

/* The levels in the order of their network names "OUTER <==> INNER" (byte order): order (n_level). */
static void order_networks(const struct architecture *arch, uint32_t *order)
{
    for (uint32_t i = 0; i < arch->n_level; i++) {
        char name[NETWORK_NAME_MAX], other[NETWORK_NAME_MAX];
        uint32_t k = i;
        report_network_name(arch, i, name, sizeof name);
        for (; k > 0 && strcmp(report_network_name(arch, order[k - 1], other, sizeof other), name) > 0; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

/* "4x2:1376256.00|4x4:55050240.00". */
static void append_signature(const struct network_counts *network, struct text_buffer *out)
{
    for (uint32_t k = 0; k < network->n_record; k++)
        text_append(out, "%s%" PRIu64 "x%" PRIu64 ":%.2f", k ? "|" : "", network->record[k].multicast,
                    network->record[k].scatter, network->record[k].ingresses);
}

static void append_number(struct text_buffer *out, const char *before, double value)
{
    char buffer[NUMBER_MAX];
    text_append(out, "%s%s", before, report_number(value, buffer, sizeof buffer));
}

static void levels_csv(const struct mapping_report *r, struct text_buffer *out)
{
    text_append(out,
                "level,dataspace,keep,instances_used,clusters_used,capacity_words,partition_words,"
                "reads_per_instance,fills_per_instance,updates_per_instance,temporal_reductions_per_instance,"
                "address_generations_per_cluster,access_energy_total_pJ,addr_gen_energy_total_pJ\n");
    for (uint32_t l = 0; l < r->arch->n_level; l++)
        for (uint32_t t = 0; t < r->problem->n_tensor; t++) {
            const struct tensor_counts *c = &r->detail->level[l].tensor[t];
            text_append(out, "%s,%s,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                        r->arch->level[l].name, r->problem->tensor[t].name, c->keep, c->instances_used,
                        c->clusters_used, c->capacity_word, c->partition_word, c->reads, c->fills);
            text_append(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, c->updates, c->temporal_reductions,
                        c->address_generations);
            append_number(out, ",", c->access_energy_j * pj);
            append_number(out, ",", c->address_energy_j * pj);
            text_append(out, "\n");
        }
}

static void network_row(const struct mapping_report *r, uint32_t l, uint32_t t, struct text_buffer *out)
{
    char name[NETWORK_NAME_MAX];
    const struct network_counts *n = &r->detail->level[l].network[t];
    text_append(out, "%s,%s,%" PRIu64 ",%" PRIu64 ",%.2f,",
                report_network_name(r->arch, l, name, sizeof name), r->problem->tensor[t].name, n->fanout,
                n->max_multicast, n->ingresses);
    append_signature(n, out);
    text_append(out, ",%" PRIu64 ",%" PRIu64, n->link_transfers, n->spatial_reductions);
    append_number(out, ",", n->average_hops);
    append_number(out, ",", n->energy_j * pj);
    append_number(out, ",", n->link_energy_j * pj);
    text_append(out, "\n");
}

static void networks_csv(const struct mapping_report *r, struct text_buffer *out)
{
    uint32_t order[ARCH_LEVEL_MAX];
    order_networks(r->arch, order);
    text_append(out, "network,dataspace,fanout,max_multicast,ingresses,ingress_signature,link_transfers,"
                     "spatial_reductions,avg_hops,energy_total_pJ,link_energy_total_pJ\n");
    for (uint32_t i = 0; i < r->arch->n_level; i++)
        for (uint32_t t = 0; t < r->problem->n_tensor; t++)
            network_row(r, order[i], t, out);
}

static void summary_csv(const struct mapping_report *r, struct text_buffer *out)
{
    const struct evaluation *total = &r->detail->total;
    char name[NETWORK_NAME_MAX];
    uint32_t order[ARCH_LEVEL_MAX];
    order_networks(r->arch, order);
    text_append(out, "key,value\ncycles,%" PRIu64 "\ncompute_cycles,%" PRIu64, total->cycle,
                total->compute_cycle);
    append_number(out, "\nutilization,", total->utilization);
    text_append(out, "\ncomputes,%" PRIu64 "\nmacs_used,%" PRIu64, (uint64_t)total->n_compute,
                total->n_mac_used);
    append_number(out, "\nenergy_total_pJ,", total->energy_j * pj);
    text_append(out, "\nenergy_pJ:%s", r->arch->mac.name);
    append_number(out, ",", total->mac_energy_j * pj);
    for (uint32_t l = 0; l < r->arch->n_level; l++) {
        text_append(out, "\nenergy_pJ:%s", r->arch->level[l].name);
        append_number(out, ",", total->level_energy_j[l] * pj);
    }
    for (uint32_t i = 0; i < r->arch->n_level; i++) {
        text_append(out, "\nenergy_pJ:%s", report_network_name(r->arch, order[i], name, sizeof name));
        append_number(out, ",", total->network_energy_j[order[i]] * pj);
    }
    for (uint32_t l = 0; l < r->arch->n_level; l++)
        text_append(out, "\nlevel_cycles:%s,%" PRIu64, r->arch->level[l].name, r->detail->level[l].cycle);
    for (uint32_t l = 0; l < r->arch->n_level; l++) {
        text_append(out, "\nlevel_slowdown:%s", r->arch->level[l].name);
        append_number(out, ",", r->detail->level[l].slowdown);
    }
    for (size_t i = 0; i < r->n_measured; i++) {
        text_append(out, "\n%s,", r->measured[i]->name);
        if (isnan(r->measured_value[i]))
            continue;
        if (r->measured[i]->type == METRIC_U64)
            text_append(out, "%" PRIu64, (uint64_t)r->measured_value[i]);
        else
            append_number(out, "", r->measured_value[i]);
    }
    text_append(out, "\n");
}

void report_csv(const struct mapping_report *report, enum report_kind kind, struct text_buffer *out)
{
    switch (kind) {
    case REPORT_LEVELS:
        levels_csv(report, out);
        break;
    case REPORT_NETWORKS:
        networks_csv(report, out);
        break;
    case REPORT_SUMMARY:
        summary_csv(report, out);
        break;
    }
}
