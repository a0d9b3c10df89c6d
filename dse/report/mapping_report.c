/* Levels, networks, summary and simulated network of one mapping, as cells. */
#include "dse/report/mapping_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NETWORK_NAME_MAX = 2 * ARCH_NAME_MAX + 8, SHOWN_MAX = 64 };

static const char not_counted[] = "not counted: its ERT does not say how long a cycle is";

const char *const mapping_report_name[MAPPING_N_REPORT] = {"levels", "networks", "summary", "noc"};
const char *const mapping_report_sentence[MAPPING_N_REPORT] = {
    "words that each level reads, writes and holds of each tensor, with their energies",
    "words that the network between two levels carries of each tensor",
    "latency, energy and utilization, and each level's part",
    "the network between global buffer, DRAM and PEs simulated cycle by cycle",
};

/* "OUTER <==> INNER" of the network below level l. */
static char *network_name(const struct architecture *arch, uint32_t l, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s <==> %s", arch->level[l].name,
             l > 0 ? arch->level[l - 1].name : arch->mac.name);
    return buffer;
}

/* The levels in the order of their network names "OUTER <==> INNER" (byte order): order (n_level). */
static void mapping_report_network_order(const struct architecture *arch, uint32_t *order)
{
    for (uint32_t i = 0; i < arch->n_level; i++) {
        char name[NETWORK_NAME_MAX], other[NETWORK_NAME_MAX];
        uint32_t k = i;
        network_name(arch, i, name, sizeof name);
        for (; k > 0 && strcmp(network_name(arch, order[k - 1], other, sizeof other), name) > 0; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static void counts(struct cells *rows, const uint64_t *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cells_count(rows, value[i]);
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* ---- levels ---- */

static const struct cell_column level_column[] = {
    CELL_COLUMN("level", "level", LOOK_TEXT),
    CELL_COLUMN("dataspace", "tensor", LOOK_TEXT),
    CELL_COLUMN("keep", NULL, LOOK_COUNT),
    CELL_COLUMN("instances_used", "instances", LOOK_COUNT),
    CELL_COLUMN("clusters_used", NULL, LOOK_COUNT),
    CELL_COLUMN("capacity_words", "tile words", LOOK_COUNT),
    CELL_COLUMN(NULL, "of usable", LOOK_PERCENT),
    CELL_COLUMN("partition_words", NULL, LOOK_COUNT),
    CELL_COLUMN("reads_per_instance", "reads", LOOK_COUNT),
    CELL_COLUMN("fills_per_instance", "fills", LOOK_COUNT),
    CELL_COLUMN("updates_per_instance", "updates", LOOK_COUNT),
    CELL_COLUMN("temporal_reductions_per_instance", NULL, LOOK_COUNT),
    CELL_COLUMN("address_generations_per_cluster", NULL, LOOK_COUNT),
    CELL_COLUMN("access_energy_j", NULL, LOOK_UNIT),
    CELL_COLUMN("addr_gen_energy_j", NULL, LOOK_UNIT),
    CELL_ENERGY(NULL, "energy"),
    CELL_COLUMN(NULL, "of total", LOOK_PERCENT),
};

static void level_row(const struct mapping_report *r, uint32_t l, uint32_t t, struct cells *rows)
{
    const struct tensor_counts *c = &r->detail->level[l].tensor[t];
    uint64_t usable = architecture_usable_words(&r->arch->level[l]);
    double energy_j = c->access_energy_j + c->address_energy_j;
    cells_text(rows, r->arch->level[l].name);
    cells_text(rows, r->problem->tensor[t].name);
    cells_switch(rows, c->keep);
    counts(rows, (const uint64_t[]){c->instances_used, c->clusters_used, c->capacity_word}, 3);
    cells_real(rows, share((double)c->capacity_word, usable == ARCH_UNLIMITED ? 0 : (double)usable));
    counts(rows,
           (const uint64_t[]){c->partition_word, c->reads, c->fills, c->updates, c->temporal_reductions,
                              c->address_generations},
           6);
    cells_real(rows, c->access_energy_j);
    cells_real(rows, c->address_energy_j);
    cells_real(rows, energy_j);
    cells_real(rows, share(energy_j, r->detail->total.energy_j));
}

static void fill_levels(const struct mapping_report *r, bool people, struct report *report)
{
    uint32_t n = r->arch->n_level;
    cells_init(&report->rows, level_column, sizeof level_column / sizeof level_column[0]);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t t = 0, l = people ? n - 1 - i : i; t < r->problem->n_tensor; t++)
            if (!people || r->detail->level[l].tensor[t].keep)
                level_row(r, l, t, &report->rows);
    text_append(&report->foot,
                "Reads, fills and updates are words per instance; energies are of all instances together.\n");
}

/* ---- networks ---- */

static const struct cell_column network_column[] = {
    CELL_COLUMN("network", "network", LOOK_TEXT),
    CELL_COLUMN("dataspace", "tensor", LOOK_TEXT),
    CELL_COLUMN("fanout", "fan-out", LOOK_COUNT),
    CELL_COLUMN("max_multicast", "multicast", LOOK_COUNT),
    CELL_COLUMN("ingresses", "words sent", LOOK_COUNT),
    CELL_COLUMN("ingress_signature", NULL, LOOK_TEXT),
    CELL_COLUMN("link_transfers", "link transfers", LOOK_COUNT),
    CELL_COLUMN("spatial_reductions", "spatial reductions", LOOK_COUNT),
    {.name = "avg_hops", .title = "hops", .look = LOOK_FIXED, .digit = 2},
    CELL_COLUMN("energy_j", NULL, LOOK_UNIT),
    CELL_COLUMN("link_energy_j", NULL, LOOK_UNIT),
    CELL_ENERGY(NULL, "energy"),
    CELL_COLUMN(NULL, "of total", LOOK_PERCENT),
};

/* "4x2:1376256.00|4x4:55050240.00" */
static void add_signature(const struct network_counts *n, struct cells *rows)
{
    struct text_buffer text;
    text_init(&text);
    for (uint32_t k = 0; k < n->n_record; k++)
        text_append(&text, "%s%" PRIu64 "x%" PRIu64 ":%.2f", k ? "|" : "", n->record[k].multicast,
                    n->record[k].scatter, n->record[k].ingresses);
    rows->text.failed |= text.failed;
    cells_text(rows, text.data ? text.data : "");
    text_free(&text);
}

static void network_row(const struct mapping_report *r, uint32_t l, uint32_t t, struct cells *rows)
{
    const struct network_counts *n = &r->detail->level[l].network[t];
    char name[NETWORK_NAME_MAX];
    cells_text(rows, network_name(r->arch, l, name, sizeof name));
    cells_text(rows, r->problem->tensor[t].name);
    cells_count(rows, n->fanout);
    cells_count(rows, n->max_multicast);
    cells_real(rows, n->ingresses);
    add_signature(n, rows);
    cells_count(rows, n->link_transfers);
    cells_count(rows, n->spatial_reductions);
    cells_real(rows, n->average_hops);
    cells_real(rows, n->energy_j);
    cells_real(rows, n->link_energy_j);
    cells_real(rows, n->energy_j + n->link_energy_j);
    cells_real(rows, share(n->energy_j + n->link_energy_j, r->detail->total.energy_j));
}

static void fill_networks(const struct mapping_report *r, bool people, struct report *report)
{
    uint32_t order[ARCH_LEVEL_MAX], n_level = r->arch->n_level;
    mapping_report_network_order(r->arch, order);
    cells_init(&report->rows, network_column, sizeof network_column / sizeof network_column[0]);
    for (uint32_t i = 0; i < n_level; i++)
        for (uint32_t t = 0, l = people ? n_level - 1 - i : order[i]; t < r->problem->n_tensor; t++) {
            const struct network_counts *n = &r->detail->level[l].network[t];
            if (!people || n->ingresses > 0 || n->link_transfers > 0 || n->spatial_reductions > 0)
                network_row(r, l, t, &report->rows);
        }
    text_append(&report->foot,
                "Words, transfers and reductions are per instance of the outer level; energies "
                "are of all.\n");
}

/* ---- summary ---- */

static void list_real(struct cells *rows, const char *key, const char *of, double value)
{
    cells_format(rows, of ? "%s:%s" : "%s", key, of);
    cells_real(rows, value);
}

static void list_summary(const struct mapping_report *r, struct cells *rows)
{
    const struct evaluation *total = &r->detail->total;
    const struct architecture *arch = r->arch;
    char name[NETWORK_NAME_MAX];
    uint32_t order[ARCH_LEVEL_MAX];
    mapping_report_network_order(arch, order);
    cells_list_count(rows, "latency_cycle", total->latency_cycle);
    cells_list_count(rows, "compute_cycle", total->compute_cycle);
    list_real(rows, "utilization", NULL, total->utilization);
    cells_list_count(rows, "n_mac", (uint64_t)total->n_compute);
    cells_list_count(rows, "n_mac_used", total->n_mac_used);
    list_real(rows, "energy_j", NULL, total->energy_j);
    list_real(rows, "energy_j", arch->mac.name, total->energy_mac_j);
    for (uint32_t l = 0; l < arch->n_level; l++)
        list_real(rows, "energy_j", arch->level[l].name, total->level_energy_j[l]);
    for (uint32_t i = 0; i < arch->n_level; i++)
        list_real(rows, "energy_j", network_name(arch, order[i], name, sizeof name),
                  total->network_energy_j[order[i]]);
    if (total->energy_leakage_j > 0)
        list_real(rows, "energy_leakage_j", NULL, total->energy_leakage_j);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        cells_format(rows, "level_cycle:%s", arch->level[l].name);
        cells_count(rows, r->detail->level[l].cycle);
    }
    for (uint32_t l = 0; l < arch->n_level; l++)
        list_real(rows, "level_slowdown", arch->level[l].name, r->detail->level[l].slowdown);
    list_real(rows, "latency_s", NULL, total->latency_s);
    list_real(rows, "edp_js", NULL, total->edp_js);
    for (uint32_t l = 0; l < arch->n_level; l++)
        list_real(rows, "level_byte", arch->level[l].name, total->level_byte[l]);
    if (!isnan(architecture_area_mm2(arch)))
        list_real(rows, "area_mm2", NULL, architecture_area_mm2(arch));
    if (r->arch->unread_leak_line)
        cells_list_text(rows, "leakage", not_counted);
    if (r->constraints)
        cells_list_text(rows, "constraints", r->constraints);
    for (size_t i = 0; r->measured && i < r->measured->n_cell; i++)
        cells_copy(rows, r->measured, i);
}

static void head_of_measured(const struct cells *measured, int label, struct text_buffer *out)
{
    char a[SHOWN_MAX];
    for (size_t i = 0; i + 1 < measured->n_cell; i += 2) {
        const struct cell *value = cells_at(measured, i + 1);
        text_append(out, "  %-*s  ", label, cells_text_at(measured, cells_at(measured, i)));
        if (value->kind == CELL_WHOLE)
            text_append(out, "%s\n", text_thousands((uint64_t)value->whole, a, sizeof a));
        else if (value->kind == CELL_REAL)
            text_append(out, "%.3f\n", value->real);
        else
            text_append(out, "-\n");
    }
}

static void head_of_summary(const struct mapping_report *r, struct text_buffer *out)
{
    const struct evaluation *total = &r->detail->total;
    char a[SHOWN_MAX], b[SHOWN_MAX], c[SHOWN_MAX];
    int label = (int)strlen("utilization");
    for (size_t i = 0; r->measured && i < r->measured->n_cell; i += 2) {
        int length = (int)strlen(cells_text_at(r->measured, cells_at(r->measured, i)));
        label = length > label ? length : label;
    }
    text_append(out, "%s on %s\n", r->problem->name[0] ? r->problem->name : "problem", r->arch->name);
    text_append(out, "  %-*s  %s (%s cycles, %s of them computing)\n", label, "latency",
                text_si(total->latency_s, "s", a, sizeof a),
                text_thousands(total->latency_cycle, b, sizeof b),
                text_thousands(total->compute_cycle, c, sizeof c));
    text_append(out, "  %-*s  %s\n", label, "energy", text_si(total->energy_j, "J", a, sizeof a));
    text_append(out, "  %-*s  %s\n", label, "edp", text_si(total->edp_js, "J s", a, sizeof a));
    text_append(out, "  %-*s  %.1f %% of %s MACs (%s in use)\n", label, "utilization",
                100 * total->utilization, text_thousands(r->arch->mac.instances, a, sizeof a),
                text_thousands(total->n_mac_used, b, sizeof b));
    text_append(out, "  %-*s  %s\n", label, "operations",
                text_thousands((uint64_t)total->n_compute, a, sizeof a));
    if (r->arch->unread_leak_line)
        text_append(out, "  %-*s  %s\n", label, "leakage", not_counted);
    if (r->constraints)
        text_append(out, "  %-*s  %s\n", label, "constraints", r->constraints);
    if (r->measured)
        head_of_measured(r->measured, label, out);
}

static void part_row(struct cells *parts, const char *name, double energy_j, const struct evaluation *total)
{
    cells_text(parts, name);
    cells_real(parts, energy_j);
    cells_real(parts, share(energy_j, total->energy_j));
}

static void blanks(struct cells *parts, int n)
{
    for (int i = 0; i < n; i++)
        cells_text(parts, "");
}

static const struct cell_column part_column[] = {
    CELL_COLUMN(NULL, "part", LOOK_TEXT),
    CELL_ENERGY(NULL, "energy"),
    CELL_COLUMN(NULL, "of total", LOOK_PERCENT),
    CELL_COLUMN(NULL, "cycles", LOOK_COUNT),
    {.title = "slowdown", .look = LOOK_FIXED, .digit = 2},
    CELL_COLUMN(NULL, "traffic", LOOK_BYTE),
};

static void fill_parts(const struct mapping_report *r, struct cells *parts)
{
    const struct evaluation *total = &r->detail->total;
    char name[NETWORK_NAME_MAX];
    cells_init(parts, part_column, sizeof part_column / sizeof part_column[0]);
    for (uint32_t l = r->arch->n_level; l-- > 0;) {
        part_row(parts, r->arch->level[l].name, total->level_energy_j[l], total);
        cells_count(parts, r->detail->level[l].cycle);
        cells_real(parts, r->detail->level[l].slowdown);
        cells_real(parts, total->level_byte[l]);
        if (total->network_energy_j[l] > 0) {
            part_row(parts, network_name(r->arch, l, name, sizeof name), total->network_energy_j[l], total);
            blanks(parts, 3);
        }
    }
    part_row(parts, r->arch->mac.name, total->energy_mac_j, total);
    cells_count(parts, total->compute_cycle);
    blanks(parts, 2);
    if (total->energy_leakage_j > 0) {
        part_row(parts, "(leakage)", total->energy_leakage_j, total);
        blanks(parts, 3);
    }
}

static void fill_summary(const struct mapping_report *r, struct report *report)
{
    list_summary(r, &report->rows);
    head_of_summary(r, &report->head);
    fill_parts(r, &report->parts);
    text_append(&report->foot, "Slowdown 0.50: the bandwidth of the level lets the machine run at half its "
                               "speed; 1.00: it does not hold it up.\n");
}

/* ---- the simulated network ---- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void head_of_noc(const struct mapping_report *r, struct text_buffer *out)
{
    const struct noc_latency *latency = r->noc_latency;
    const struct noc_result *simulated = &latency->simulated;
    char a[SHOWN_MAX], b[SHOWN_MAX], c[SHOWN_MAX];
    text_append(out, "%s on %s, network of %u x %u PEs\n", r->problem->name[0] ? r->problem->name : "problem",
                r->arch->name, r->noc->columns, r->noc->pe_rows);
    text_append(out, "  latency    %s cycles (%s in the cost model)\n",
                text_thousands(latency->cycle, a, sizeof a),
                text_thousands(r->detail->total.latency_cycle, b, sizeof b));
    text_append(out, "  bound      %s cycles: the busiest port or PE without any waiting\n",
                text_thousands((uint64_t)latency->bound_cycle, a, sizeof a));
    text_append(out, "  steps      %s", text_thousands(latency->n_step, a, sizeof a));
    if (latency->n_step_simulated == latency->n_step)
        text_append(out, ", all simulated\n");
    else
        text_append(out, ", %s of them simulated, the latency extrapolated; below is what was simulated\n",
                    text_thousands(latency->n_step_simulated, a, sizeof a));
    text_append(out, "  simulated  %s cycles, %.1f %% of them with a flit on the move\n",
                text_thousands(simulated->cycle, a, sizeof a),
                percent(simulated->n_active_cycle, simulated->cycle));
    text_append(out, "  flits      %s sent, %s received, %s hops between routers\n",
                text_thousands(simulated->flits_sent, a, sizeof a),
                text_thousands(simulated->flits_received, b, sizeof b),
                text_thousands(simulated->flit_hops, c, sizeof c));
    text_append(out, "  DRAM link  %s flits in (%.1f %% of the cycles), %s out (%.1f %%)\n",
                text_thousands(simulated->dram_link_flits_in, a, sizeof a),
                percent(simulated->dram_link_flits_in, simulated->cycle),
                text_thousands(simulated->dram_link_flits_out, b, sizeof b),
                percent(simulated->dram_link_flits_out, simulated->cycle));
    text_append(out, "  DRAM       %s reads, %s writes, %s row misses\n",
                text_thousands(simulated->dram_reads, a, sizeof a),
                text_thousands(simulated->dram_writes, b, sizeof b),
                text_thousands(simulated->dram_row_misses, c, sizeof c));
}

static void fill_noc(const struct mapping_report *r, struct report *report)
{
    const struct noc_config *config = r->noc;
    const struct noc_latency *latency = r->noc_latency;
    const struct noc_result *simulated = &latency->simulated;
    const struct {
        const char *key;
        uint64_t value;
    } row[] = {
        {"noc_latency_cycle", latency->cycle},
        {"latency_cycle", r->detail->total.latency_cycle},
        {"noc_bound_cycle", (uint64_t)latency->bound_cycle},
        {"n_step", latency->n_step},
        {"n_step_simulated", latency->n_step_simulated},
        {"simulated_cycle", simulated->cycle},
        {"active_cycle", simulated->n_active_cycle},
        {"flits_sent", simulated->flits_sent},
        {"flits_received", simulated->flits_received},
        {"flit_hops", simulated->flit_hops},
        {"dram_link_flits_in", simulated->dram_link_flits_in},
        {"dram_link_flits_out", simulated->dram_link_flits_out},
        {"dram_reads", simulated->dram_reads},
        {"dram_writes", simulated->dram_writes},
        {"dram_row_misses", simulated->dram_row_misses},
        {"columns", config->columns},
        {"rows", config->rows},
        {"pe_rows", config->pe_rows},
        {"buffer_port", config->buffer_port},
        {"dram_port", config->dram_port},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        cells_list_count(&report->rows, row[i].key, row[i].value);
    head_of_noc(r, &report->head);
}

void mapping_report_fill(const struct mapping_report *of, enum mapping_report_kind kind, bool people,
                         struct report *report)
{
    switch (kind) {
    case MAPPING_LEVELS:
        fill_levels(of, people, report);
        break;
    case MAPPING_NETWORKS:
        fill_networks(of, people, report);
        break;
    case MAPPING_SUMMARY:
        fill_summary(of, report);
        break;
    case MAPPING_NOC:
    case MAPPING_N_REPORT:
        fill_noc(of, report);
        break;
    }
}
