/* Fronts as texts of one line: pairs of latency and energy, numbers of choices, mappings with bars. */
#include "dse/solve/record_front.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

bool record_has_fronts(const struct record_source *source)
{
    for (uint32_t p = 0; p < source->workload->n_problem; p++)
        if (source->result[p]->n_front == 0)
            return false;
    return true;
}

static void append_pair(double latency_s, double energy_j, struct text_buffer *line)
{
    char number[TEXT_DOUBLE_MAX];
    text_append(line, "%s", line->length ? " " : "");
    text_append_bytes(line, number, text_double_bytes(latency_s, 0, number));
    text_append(line, ":");
    text_append_bytes(line, number, text_double_bytes(energy_j, 0, number));
}

/* The mappings of layer i's front, or the layer before it that has the same. */
static char *mappings_line(const struct record_source *source, uint32_t i, struct arena *arena)
{
    const struct workload *w = source->workload;
    const struct solve_result *result = source->result[w->problem_of[i]];
    const struct problem *problem = &w->problem[w->problem_of[i]];
    struct text_buffer line;
    uint32_t first = 0;
    text_init(&line);
    while (w->problem_of[first] != w->problem_of[i])
        first++;
    if (first < i)
        text_append(&line, "same_as %s", w->network->layer[w->layer[first]].name);
    for (uint32_t k = 0; first == i && k < result->n_front; k++) {
        text_append(&line, "%s", k ? " | " : "");
        mapping_write_line(&result->front[k].found.mapping, problem, source->arch, &line);
    }
    return text_keep(&line, arena);
}

static char *layer_line(const struct solve_result *result, struct arena *arena)
{
    struct text_buffer line;
    text_init(&line);
    for (uint32_t k = 0; k < result->n_front; k++)
        append_pair(result->front[k].found.evaluation.latency_s, result->front[k].found.evaluation.energy_j,
                    &line);
    return text_keep(&line, arena);
}

static char *choice_line(const struct network_front *front, uint32_t i, struct arena *arena)
{
    struct text_buffer line;
    text_init(&line);
    for (size_t k = 0; k < front->n; k++)
        text_append(&line, "%s%" PRIu32, k ? " " : "", front->point[k].choice[i]);
    return text_keep(&line, arena);
}

enum dse_status record_front(const struct record_source *source, const struct network_front *front,
                             struct arena *arena, struct point_record *point, struct layer_record *layer,
                             struct dse_error *err)
{
    struct text_buffer line;
    text_init(&line);
    for (size_t k = 0; k < front->n; k++)
        append_pair(front->point[k].metrics.latency_s, front->point[k].metrics.energy_j, &line);
    point->n_front = front->n;
    point->front = text_keep(&line, arena);
    bool kept = point->front != NULL;
    for (uint32_t i = 0; i < source->workload->n_layer; i++) {
        layer[i].front_point = front->point[front->best].choice[i];
        layer[i].front = layer_line(source->result[source->workload->problem_of[i]], arena);
        layer[i].front_choice = choice_line(front, i, arena);
        kept = kept && layer[i].front && layer[i].front_choice;
        if (!source->texts)
            continue;
        layer[i].front_mappings = mappings_line(source, i, arena);
        kept = kept && layer[i].front_mappings;
    }
    return kept ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for the fronts of a point");
}
