/* A list of named counts that CSV and JSON print as it is; the table words and groups them for people. */
#include "dse/report/report_noc.h"

#include <inttypes.h>
#include <jansson.h>

#include "dse/console/json_text.h"
#include "dse/console/table.h"

enum { ROW_MAX = 24, NUMBER_MAX = 48 };

struct row {
    const char *key;
    uint64_t value;
};

/* Everything the report says, in the order of the CSV; returns how many. */
static size_t list_rows(const struct noc_report *noc, struct row row[ROW_MAX])
{
    const struct noc_config *config = noc->config;
    const struct noc_latency *latency = noc->latency;
    const struct noc_result *simulated = &latency->simulated;
    const struct row all[] = {
        {"noc_latency_cycles", latency->cycle},
        {"model_cycles", noc->report->detail->total.cycle},
        {"bound_cycles", (uint64_t)latency->bound_cycle},
        {"steps", latency->n_step},
        {"simulated_steps", latency->n_step_simulated},
        {"simulated_cycles", simulated->cycle},
        {"active_cycles", simulated->n_active_cycle},
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
    size_t n = sizeof all / sizeof all[0];
    for (size_t i = 0; i < n; i++)
        row[i] = all[i];
    return n;
}

void report_noc_csv(const struct noc_report *noc, struct text_buffer *out)
{
    struct row row[ROW_MAX];
    size_t n = list_rows(noc, row);
    text_append(out, "key,value\n");
    for (size_t i = 0; i < n; i++)
        text_append(out, "%s,%" PRIu64 "\n", row[i].key, row[i].value);
}

enum dse_status report_noc_json(const struct noc_report *noc, struct text_buffer *out, struct dse_error *err)
{
    struct row row[ROW_MAX];
    size_t n = list_rows(noc, row);
    json_t *root = json_object(), *object = json_object();
    int good = json_object_set_new(root, "report", json_string("noc")) == 0;
    for (size_t i = 0; i < n; i++)
        good = good && json_object_set_new(object, row[i].key, json_integer((json_int_t)row[i].value)) == 0;
    good = json_object_set_new(root, "noc", object) == 0 && good;
    return json_text_append(root, good, out, err);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

void report_noc_table(const struct noc_report *noc, struct text_buffer *out)
{
    const struct mapping_report *r = noc->report;
    const struct noc_config *config = noc->config;
    const struct noc_latency *latency = noc->latency;
    const struct noc_result *simulated = &latency->simulated;
    char a[NUMBER_MAX], b[NUMBER_MAX], c[NUMBER_MAX];
    text_append(out, "%s on %s, network of %u x %u PEs\n", r->problem->name[0] ? r->problem->name : "problem",
                r->arch->name, config->columns, config->pe_rows);
    text_append(out, "  latency    %s cycles (%s in the cost model)\n",
                text_thousands(latency->cycle, a, sizeof a),
                text_thousands(r->detail->total.cycle, b, sizeof b));
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
