/* Keeps every improvement until the list is full; then every second one goes. */
#include "engines/driver/trace.h"

void trace_add(struct engine_result *result, uint64_t evaluation, double cost)
{
    if (result->n_trace == ENGINE_TRACE_MAX) {
        uint32_t n = 1;
        for (uint32_t i = 2; i < ENGINE_TRACE_MAX; i += 2)
            result->trace[n++] = result->trace[i];
        result->n_trace = n;
    }
    result->trace[result->n_trace++] = (struct trace_point){evaluation, cost};
}
