#include "dse/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum dse_status queue_init(struct queue *queue, const struct sweep *sweep, const struct bits *mine,
                           const struct bits *done, struct dse_error *err)
{
    size_t n = 0;
    memset(queue, 0, sizeof *queue);
    queue->sweep = sweep;
    for (size_t p = 0; p < sweep->n_point; p++)
        n += bits_has(mine, p) && !bits_has(done, p);
    queue->entry = malloc((n + 1) * sizeof *queue->entry);
    if (!queue->entry)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a queue of %zu points", n);
    for (size_t p = 0; p < sweep->n_point; p++)
        if (bits_has(mine, p) && !bits_has(done, p))
            queue->entry[queue->n++] = (struct queue_entry){(uint32_t)p, 0};
    return DSE_OK;
}

static int by_expectation(const void *a, const void *b)
{
    const struct queue_entry *x = a, *y = b;
    if (x->expected_s > y->expected_s || x->expected_s < y->expected_s)
        return x->expected_s > y->expected_s ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

float queue_expected_s(const struct cost_model *model, const uint32_t *index)
{
    static const double least_s = 2e-3; /* no order can gain more than that */
    double seconds = cost_model_predict_index(model, index);
    int exponent;
    if (!(seconds >= least_s))
        return 0;
    double fraction = frexp(seconds, &exponent); /* 0.5 to 1 */
    return (float)ldexp(floor(16 * fraction), exponent - 4);
}

void queue_sort(struct queue *queue, const struct cost_model *model)
{
    for (size_t i = queue->next; i < queue->n; i++) {
        uint32_t index[SPEC_VARIABLE_MAX];
        sweep_index(queue->sweep, queue->entry[i].point, index);
        queue->entry[i].expected_s = queue_expected_s(model, index);
    }
    if (queue->n > queue->next)
        qsort(queue->entry + queue->next, queue->n - queue->next, sizeof *queue->entry, by_expectation);
}

size_t queue_take(struct queue *queue, size_t link_max, const struct queue_entry **entry)
{
    size_t n = 0, links = 0;
    *entry = queue->entry + queue->next;
    while (queue->next < queue->n) {
        struct sweep_point point;
        sweep_point(queue->sweep, queue->entry[queue->next].point, &point);
        links += sweep_point_n_task(&point);
        if (n > 0 && links > link_max)
            break;
        queue->next++;
        n++;
    }
    return n;
}

void queue_free(struct queue *queue)
{
    free(queue->entry);
    memset(queue, 0, sizeof *queue);
}
