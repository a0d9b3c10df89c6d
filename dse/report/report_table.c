/* The form for people: energies with SI prefixes, shares in percent, and what the simulator measured. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dse/console/table.h"
#include "dse/report/mapping_report.h"

enum { NETWORK_NAME_MAX = 2 * ARCH_NAME_MAX + 8, CELL_MAX = 64 };

static void count_cell(struct table *table, uint64_t value)
{
    char buffer[CELL_MAX];
    table_cell(table, "%s", text_thousands(value, buffer, sizeof buffer));
}

static void energy_cell(struct table *table, double energy_j)
{
    char buffer[CELL_MAX];
    table_cell(table, "%s", text_si(energy_j, "J", buffer, sizeof buffer));
}

static void share_cell(struct table *table, double part, double whole)
{
    if (whole > 0)
        table_cell(table, "%.1f %%", 100 * part / whole);
    else
        table_cell(table, "-");
}

static void levels_table(const struct mapping_report *r, struct text_buffer *out)
{
    static const char *const header[] = {"level", "tensor", "instances", "tile words", "of usable",
                                         "reads", "fills",  "updates",   "energy",     "of total"};
    struct table table;
    double total = r->detail->total.energy_j;
    table_init(&table, header, sizeof header / sizeof header[0], 3);
    for (uint32_t l = r->arch->n_level; l-- > 0;) {
        uint64_t usable = architecture_usable_words(&r->arch->level[l]);
        for (uint32_t t = 0; t < r->problem->n_tensor; t++) {
            const struct tensor_counts *c = &r->detail->level[l].tensor[t];
            if (!c->keep)
                continue;
            table_cell(&table, "%s", r->arch->level[l].name);
            table_cell(&table, "%s", r->problem->tensor[t].name);
            count_cell(&table, c->instances_used);
            count_cell(&table, c->capacity_word);
            share_cell(&table, (double)c->capacity_word, usable == ARCH_UNLIMITED ? 0 : (double)usable);
            count_cell(&table, c->reads);
            count_cell(&table, c->fills);
            count_cell(&table, c->updates);
            energy_cell(&table, c->access_energy_j + c->address_energy_j);
            share_cell(&table, c->access_energy_j + c->address_energy_j, total);
        }
    }
    table_print(&table, out);
    table_free(&table);
    text_append(out,
                "Reads, fills and updates are words per instance; energies are of all instances together.\n");
}

static void networks_table(const struct mapping_report *r, struct text_buffer *out)
{
    static const char *const header[] = {
        "network", "tensor", "fan-out", "multicast", "words sent", "link transfers", "spatial reductions",
        "hops",    "energy", "of total"};
    struct table table;
    char name[NETWORK_NAME_MAX];
    table_init(&table, header, sizeof header / sizeof header[0], 3);
    for (uint32_t l = r->arch->n_level; l-- > 0;)
        for (uint32_t t = 0; t < r->problem->n_tensor; t++) {
            const struct network_counts *n = &r->detail->level[l].network[t];
            if (n->ingresses == 0 && n->link_transfers == 0 && n->spatial_reductions == 0)
                continue;
            table_cell(&table, "%s", report_network_name(r->arch, l, name, sizeof name));
            table_cell(&table, "%s", r->problem->tensor[t].name);
            count_cell(&table, n->fanout);
            count_cell(&table, n->max_multicast);
            count_cell(&table, (uint64_t)(n->ingresses + 0.5));
            count_cell(&table, n->link_transfers);
            count_cell(&table, n->spatial_reductions);
            table_cell(&table, "%.2f", n->average_hops);
            energy_cell(&table, n->energy_j + n->link_energy_j);
            share_cell(&table, n->energy_j + n->link_energy_j, r->detail->total.energy_j);
        }
    table_print(&table, out);
    table_free(&table);
    text_append(
        out, "Words, transfers and reductions are per instance of the outer level; energies are of all.\n");
}

static void energy_row(struct table *table, const char *name, double energy_j, const struct evaluation *total)
{
    table_cell(table, "%s", name);
    energy_cell(table, energy_j);
    share_cell(table, energy_j, total->energy_j);
}

static void print_measured(const struct mapping_report *r, int label, struct text_buffer *out)
{
    char a[CELL_MAX];
    for (size_t i = 0; i < r->n_measured; i++) {
        double value = r->measured_value[i];
        text_append(out, "  %-*s  ", label, r->measured[i]->name);
        if (isnan(value))
            text_append(out, "-\n");
        else if (r->measured[i]->type == METRIC_U64)
            text_append(out, "%s\n", text_thousands((uint64_t)value, a, sizeof a));
        else
            text_append(out, "%.3f\n", value);
    }
}

static void summary_table(const struct mapping_report *r, struct text_buffer *out)
{
    static const char *const header[] = {"part", "energy", "of total", "cycles", "slowdown", "traffic"};
    const struct evaluation *total = &r->detail->total;
    struct table table;
    char a[CELL_MAX], b[CELL_MAX], name[NETWORK_NAME_MAX];
    int label = (int)strlen("utilization");
    for (size_t i = 0; i < r->n_measured; i++)
        if ((int)strlen(r->measured[i]->name) > label)
            label = (int)strlen(r->measured[i]->name);
    text_append(out, "%s on %s\n", r->problem->name[0] ? r->problem->name : "problem", r->arch->name);
    text_append(out, "  %-*s  %s (%s cycles, %s of them computing)\n", label, "latency",
                text_si(total->latency_s, "s", a, sizeof a), text_thousands(total->cycle, b, sizeof b),
                text_thousands(total->compute_cycle, name, sizeof name));
    text_append(out, "  %-*s  %s\n", label, "energy", text_si(total->energy_j, "J", a, sizeof a));
    text_append(out, "  %-*s  %s\n", label, "edp", text_si(total->edp_js, "J s", a, sizeof a));
    text_append(out, "  %-*s  %.1f %% of %s MACs (%s in use)\n", label, "utilization",
                100 * total->utilization, text_thousands(r->arch->mac.instances, a, sizeof a),
                text_thousands(total->n_mac_used, b, sizeof b));
    text_append(out, "  %-*s  %s\n", label, "operations",
                text_thousands((uint64_t)total->n_compute, a, sizeof a));
    print_measured(r, label, out);
    text_append(out, "\n");
    table_init(&table, header, sizeof header / sizeof header[0], 1);
    for (uint32_t l = r->arch->n_level; l-- > 0;) {
        energy_row(&table, r->arch->level[l].name, total->level_energy_j[l], total);
        count_cell(&table, r->detail->level[l].cycle);
        table_cell(&table, "%.2f", r->detail->level[l].slowdown);
        table_cell(&table, "%s", text_bytes(total->level_byte[l], a, sizeof a));
        if (total->network_energy_j[l] > 0) {
            energy_row(&table, report_network_name(r->arch, l, name, sizeof name), total->network_energy_j[l],
                       total);
            for (int i = 0; i < 3; i++)
                table_cell(&table, "%s", "");
        }
    }
    energy_row(&table, r->arch->mac.name, total->mac_energy_j, total);
    count_cell(&table, total->compute_cycle);
    for (int i = 0; i < 2; i++)
        table_cell(&table, "%s", "");
    table_print(&table, out);
    table_free(&table);
    text_append(
        out,
        "Slowdown 0.50: the bandwidth of the level lets the machine run at half its speed; 1.00: it does "
        "not hold it up.\n");
}

void report_table(const struct mapping_report *report, enum report_kind kind, struct text_buffer *out)
{
    switch (kind) {
    case REPORT_LEVELS:
        levels_table(report, out);
        break;
    case REPORT_NETWORKS:
        networks_table(report, out);
        break;
    case REPORT_SUMMARY:
        summary_table(report, out);
        break;
    }
}
