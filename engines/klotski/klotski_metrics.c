/* The table of Klotski's own metrics, and what a plan's outcome is as a schedule. */
#include "engines/klotski/klotski_metrics.h"

#include <inttypes.h>
#include <string.h>

#include "engines/klotski/node_pricer.h"

enum { LABEL = 12 };

static const struct metric metric[] = {KLOTSKI_METRIC_LIST(METRIC_ROW, klotski_metrics)};

const struct metric_group klotski_group = {"klotski", metric, sizeof metric / sizeof metric[0]};

/* Every member is one value, in the order of the table. */
_Static_assert(sizeof(struct klotski_metrics) ==
                       sizeof metric / sizeof metric[0] * sizeof(union metric_value) &&
                   sizeof metric / sizeof metric[0] <= METRIC_GROUP_MAX,
               "the metrics fit into a schedule's own values");

static void put_networks(const struct uop_outcome *o, struct klotski_metrics *own)
{
    const uint32_t n = uop_part_count(&o->graph);
    own->first_network_cycle = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t finish = uop_part_of(&o->graph, &o->times, i).finish_cycle;
        own->first_network_cycle = finish < own->first_network_cycle ? finish : own->first_network_cycle;
        own->mean_network_cycle += (double)finish / n;
    }
}

void klotski_metrics_put(const struct uop_outcome *o, const struct uop_plan *plan,
                         const struct kc_machine *machine, struct engine_schedule *schedule)
{
    struct klotski_metrics own = {
        .n_uop = o->graph.n_uop,
        .n_repeated_uop = METRIC_U64_MISSING, /* a search's own */
        .n_edge = o->graph.first_producer[o->graph.n_uop],
        .work_cycle = o->work_cycle,
        .critical_path_cycle = o->path_cycle,
        .bound_cycle = o->bound_cycle,
        .partition_bound_cycle = o->partition_bound_cycle,
        .core_busy = o->busy_share,
        .n_message = o->n_message,
        .n_hop = o->n_hop,
        .byte_hop = o->byte_hop,
        .n_program = METRIC_U64_MISSING,
        .n_program_proved = METRIC_U64_MISSING,
        .n_program_large = METRIC_U64_MISSING,
        .n_window = METRIC_U64_MISSING,
        .n_window_proved = METRIC_U64_MISSING,
        .dram_read_byte = o->dram_read_byte,
        .dram_written_byte = o->dram_written_byte,
        .spilled_byte = o->spilled_byte,
    };
    put_networks(o, &own);
    for (uint32_t c = 0; c < plan->schedule.n_core; c++)
        own.n_core_used += plan->schedule.first[c + 1] > plan->schedule.first[c];
    engine_schedule_init(schedule);
    schedule->latency_cycle = o->times.cycle;
    schedule->latency_s = (double)o->times.cycle / machine->clock_hz;
    schedule->energy_mac_j = o->mac_energy_j;
    schedule->energy_buffer_j = o->buffer_energy_j;
    schedule->energy_noc_j = o->noc_energy_j;
    schedule->energy_dram_j = o->dram_energy_j;
    schedule->energy_leakage_j = o->leakage_energy_j;
    schedule->energy_j = o->energy_j;
    schedule->utilization = o->mac_share;
    schedule->dram_byte = (double)o->dram_read_byte + (double)o->dram_written_byte;
    schedule->onchip_byte = o->sram_byte;
    schedule->n_mac = o->n_mac;
    schedule->bound_latency_ratio = (double)o->times.cycle / (double)o->bound_cycle;
    schedule->accounting = node_accounting(machine);
    memcpy(schedule->own, &own, sizeof own);
}

const struct klotski_programs klotski_no_programs = {
    METRIC_U64_MISSING, METRIC_U64_MISSING, METRIC_U64_MISSING, METRIC_U64_MISSING, METRIC_U64_MISSING};

void klotski_metrics_programs(const struct klotski_programs *programs, struct engine_schedule *schedule)
{
    struct klotski_metrics own;
    memcpy(&own, schedule->own, sizeof own);
    own.n_program = programs->n_program;
    own.n_program_proved = programs->n_program_proved;
    own.n_program_large = programs->n_program_large;
    own.n_window = programs->n_window;
    own.n_window_proved = programs->n_window_proved;
    memcpy(schedule->own, &own, sizeof own);
}

void klotski_metrics_repeated(const struct block_fold *fold, const struct uop_graph *graph,
                              struct engine_schedule *schedule)
{
    struct klotski_metrics own;
    memcpy(&own, schedule->own, sizeof own);
    own.n_repeated_uop = fold ? block_fold_repeated(fold, graph) : 0;
    memcpy(schedule->own, &own, sizeof own);
}

void klotski_remark(const struct engine_schedule *found, struct text_buffer *out)
{
    struct klotski_metrics own;
    memcpy(&own, found->own, sizeof own);
    if (own.n_repeated_uop != METRIC_U64_MISSING && own.n_repeated_uop > 0)
        text_append(out, "  %-*s  %" PRIu64 " uops are repetitions of others, which alone were searched\n",
                    LABEL, "blocks", own.n_repeated_uop);
    if (own.n_program != METRIC_U64_MISSING)
        text_append(out,
                    "  %-*s  %" PRIu64 " segments above their bound: %" PRIu64 " programs solved, %" PRIu64
                    " ended by a limit, %" PRIu64 " too large\n",
                    LABEL, "order", own.n_program, own.n_program_proved,
                    own.n_program - own.n_program_proved - own.n_program_large, own.n_program_large);
    if (own.n_window != METRIC_U64_MISSING)
        text_append(out, "  %-*s  %" PRIu64 " windows, %" PRIu64 " programs solved\n", LABEL, "cores",
                    own.n_window, own.n_window_proved);
}
