/* The JSON form: rows of levels and networks under the CSV's column names, the summary as one object. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "dse/console/json_text.h"
#include "dse/report/mapping_report.h"
enum { NETWORK_NAME_MAX = 2 * ARCH_NAME_MAX + 8 };

static const double pj = 1e12;

/* jansson's "new" setters take NULL (out of memory) and fail; `good` collects that. */
static void put(json_t *object, const char *key, json_t *value, int *good)
{
    if (json_object_set_new(object, key, value) != 0)
        *good = 0;
}

static void put_count(json_t *object, const char *key, uint64_t value, int *good)
{
    put(object, key, value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value), good);
}

static json_t *level_row(const struct mapping_report *r, uint32_t l, uint32_t t, int *good)
{
    json_t *row = json_object();
    const struct tensor_counts *c = &r->detail->level[l].tensor[t];
    put(row, "level", json_string(r->arch->level[l].name), good);
    put(row, "dataspace", json_string(r->problem->tensor[t].name), good);
    put(row, "keep", json_boolean(c->keep), good);
    put_count(row, "instances_used", c->instances_used, good);
    put_count(row, "clusters_used", c->clusters_used, good);
    put_count(row, "capacity_words", c->capacity_word, good);
    put_count(row, "partition_words", c->partition_word, good);
    put_count(row, "reads_per_instance", c->reads, good);
    put_count(row, "fills_per_instance", c->fills, good);
    put_count(row, "updates_per_instance", c->updates, good);
    put_count(row, "temporal_reductions_per_instance", c->temporal_reductions, good);
    put_count(row, "address_generations_per_cluster", c->address_generations, good);
    put(row, "access_energy_total_pJ", json_real(c->access_energy_j * pj), good);
    put(row, "addr_gen_energy_total_pJ", json_real(c->address_energy_j * pj), good);
    return row;
}

static json_t *network_row(const struct mapping_report *r, uint32_t l, uint32_t t, int *good)
{
    char name[NETWORK_NAME_MAX];
    json_t *row = json_object(), *record = json_array();
    const struct network_counts *n = &r->detail->level[l].network[t];
    for (uint32_t k = 0; k < n->n_record; k++)
        if (json_array_append_new(record, json_pack("{s:I, s:I, s:f}", "multicast",
                                                    (json_int_t)n->record[k].multicast, "scatter",
                                                    (json_int_t)n->record[k].scatter, "ingresses",
                                                    n->record[k].ingresses)) != 0)
            *good = 0;
    put(row, "network", json_string(report_network_name(r->arch, l, name, sizeof name)), good);
    put(row, "dataspace", json_string(r->problem->tensor[t].name), good);
    put_count(row, "fanout", n->fanout, good);
    put_count(row, "max_multicast", n->max_multicast, good);
    put(row, "ingresses", json_real(n->ingresses), good);
    put(row, "records", record, good);
    put_count(row, "link_transfers", n->link_transfers, good);
    put_count(row, "spatial_reductions", n->spatial_reductions, good);
    put(row, "avg_hops", json_real(n->average_hops), good);
    put(row, "energy_total_pJ", json_real(n->energy_j * pj), good);
    put(row, "link_energy_total_pJ", json_real(n->link_energy_j * pj), good);
    return row;
}

static json_t *summary_object(const struct mapping_report *r, int *good)
{
    const struct evaluation *total = &r->detail->total;
    json_t *object = json_object(), *energy = json_object(), *levels = json_array();
    char name[NETWORK_NAME_MAX];
    put_count(object, "cycles", total->cycle, good);
    put_count(object, "compute_cycles", total->compute_cycle, good);
    put(object, "latency_s", json_real(total->latency_s), good);
    put(object, "utilization", json_real(total->utilization), good);
    put_count(object, "computes", (uint64_t)total->n_compute, good);
    put_count(object, "macs_used", total->n_mac_used, good);
    put(object, "energy_total_pJ", json_real(total->energy_j * pj), good);
    put(object, "edp_js", json_real(total->edp_js), good);
    put(energy, r->arch->mac.name, json_real(total->mac_energy_j * pj), good);
    for (uint32_t l = 0; l < r->arch->n_level; l++) {
        put(energy, r->arch->level[l].name, json_real(total->level_energy_j[l] * pj), good);
        put(energy, report_network_name(r->arch, l, name, sizeof name),
            json_real(total->network_energy_j[l] * pj), good);
        if (json_array_append_new(levels, json_pack("{s:s, s:I, s:f, s:f}", "level", r->arch->level[l].name,
                                                    "cycles", (json_int_t)r->detail->level[l].cycle,
                                                    "slowdown", r->detail->level[l].slowdown, "bytes",
                                                    total->level_byte[l])) != 0)
            *good = 0;
    }
    put(object, "energy_pJ", energy, good);
    put(object, "levels", levels, good);
    for (size_t i = 0; i < r->n_measured; i++)
        put(object, r->measured[i]->name,
            isnan(r->measured_value[i]) ? json_null() : json_real(r->measured_value[i]), good);
    return object;
}

static json_t *all_rows(const struct mapping_report *r, enum report_kind kind, int *good)
{
    json_t *rows = json_array();
    for (uint32_t l = 0; l < r->arch->n_level; l++)
        for (uint32_t t = 0; t < r->problem->n_tensor; t++)
            if (json_array_append_new(rows, kind == REPORT_LEVELS ? level_row(r, l, t, good)
                                                                  : network_row(r, l, t, good)) != 0)
                *good = 0;
    return rows;
}

enum dse_status report_json(const struct mapping_report *report, enum report_kind kind,
                            struct text_buffer *out, struct dse_error *err)
{
    static const char *const word[] = {"levels", "networks", "summary"};
    int good = 1;
    json_t *root = json_object();
    put(root, "report", json_string(word[kind]), &good);
    if (kind == REPORT_SUMMARY)
        put(root, "summary", summary_object(report, &good), &good);
    else
        put(root, "rows", all_rows(report, kind, &good), &good);
    return json_text_append(root, good, out, err);
}
