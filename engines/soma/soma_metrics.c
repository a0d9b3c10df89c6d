/* The table of the SoMa family's own metrics, and their place in a schedule. */
#include "engines/soma/soma_metrics.h"

#include <string.h>

enum { LABEL = 12 };

static const struct metric metric[] = {SOMA_METRIC_LIST(METRIC_ROW, soma_metrics)};

const struct metric_group soma_group = {"soma", metric, sizeof metric / sizeof metric[0]};

/* Every member is one value, in the order of the table. */
_Static_assert(sizeof(struct soma_metrics) == sizeof metric / sizeof metric[0] * sizeof(union metric_value) &&
                   sizeof metric / sizeof metric[0] <= METRIC_GROUP_MAX,
               "the metrics fit into a schedule's own values");

void soma_metrics_init(struct soma_metrics *metrics)
{
    memset(metrics, 0xff, sizeof *metrics);
}

void soma_metrics_put(const struct soma_metrics *metrics, struct engine_schedule *schedule)
{
    memcpy(schedule->own, metrics, sizeof *metrics);
}

struct soma_metrics soma_metrics_get(const struct engine_schedule *schedule)
{
    struct soma_metrics metrics;
    memcpy(&metrics, schedule->own, sizeof metrics);
    return metrics;
}

void soma_remark(const struct engine_schedule *found, struct text_buffer *out)
{
    const struct soma_metrics own = soma_metrics_get(found);
    const uint64_t cycle = own.stage1_latency_cycle, repeated = own.n_repeated_layer;
    char shown[48];
    if (cycle > 0 && cycle != METRIC_U64_MISSING)
        text_append(out, "  %-*s  %s cycles with double buffering\n", LABEL, "first stage",
                    text_thousands(cycle, shown, sizeof shown));
    if (repeated > 0 && repeated != METRIC_U64_MISSING)
        text_append(out, "  %-*s  %s layers are scheduled as those of their first block\n", LABEL, "blocks",
                    text_thousands(repeated, shown, sizeof shown));
}
