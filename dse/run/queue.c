/* Numbers of points with the seconds they are expected to take; what is still open is sorted again when
 * more is known, and windows are taken from the front. */
#include "dse/run/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void find_networks(struct queue *queue)
{
    const struct sweep_spec *spec = queue->sweep->spec;
    uint32_t stride = 1;
    queue->n_network = queue->stride = 1;
    for (size_t d = spec->n_dimension; d-- > 0; stride *= (uint32_t)spec->dimension[d].n_value)
        if (spec->dimension[d].n_variable == 1 &&
            spec->variable[spec->dimension[d].first].kind->target == SPEC_NETWORK) {
            queue->n_network = (uint32_t)spec->dimension[d].n_value;
            queue->at_network = (uint32_t)d;
            queue->stride = stride;
        }
}

/* The point's cell in the sweep without networks. */
static uint32_t place_of(const struct queue *queue, uint32_t point)
{
    uint32_t cell = queue->sweep->cell ? queue->sweep->cell[point] : point;
    return cell / queue->stride / queue->n_network * queue->stride + cell % queue->stride;
}

static int by_expectation(const void *a, const void *b, void *user)
{
    const struct queue_entry *x = a, *y = b;
    const struct queue *queue = user;
    if (x->expected_s > y->expected_s || x->expected_s < y->expected_s)
        return x->expected_s > y->expected_s ? -1 : 1;
    if (queue->n_network > 1) {
        uint32_t x_place = place_of(queue, x->point), y_place = place_of(queue, y->point);
        if (x_place != y_place)
            return x_place < y_place ? -1 : 1;
    }
    return (x->point > y->point) - (x->point < y->point);
}

static void sort_open(struct queue *queue)
{
    if (queue->n > queue->next)
        qsort_r(queue->entry + queue->next, queue->n - queue->next, sizeof *queue->entry, by_expectation,
                queue);
}

enum dse_status queue_init(struct queue *queue, const struct sweep *sweep, const struct bits *mine,
                           const struct bits *done, struct dse_error *err)
{
    size_t n = 0;
    memset(queue, 0, sizeof *queue);
    queue->sweep = sweep;
    find_networks(queue);
    for (size_t p = 0; p < sweep->n_point; p++)
        n += bits_has(mine, p) && !bits_has(done, p);
    queue->entry = malloc((n + 1) * sizeof *queue->entry);
    if (!queue->entry)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a queue of %zu points", n);
    for (size_t p = 0; p < sweep->n_point; p++)
        if (bits_has(mine, p) && !bits_has(done, p))
            queue->entry[queue->n++] = (struct queue_entry){(uint32_t)p, 0};
    if (queue->n_network > 1)
        sort_open(queue);
    return DSE_OK;
}

static double most_expected_s(const struct queue *queue, const struct search_time *time, uint32_t *index)
{
    double most_s = 0;
    if (queue->n_network == 1)
        return search_time_of_point(time, index);
    for (uint32_t i = 0; i < queue->n_network; i++) {
        index[queue->at_network] = i;
        double expected_s = search_time_of_point(time, index);
        most_s = expected_s > most_s ? expected_s : most_s;
    }
    return most_s;
}

float queue_expected_s(const struct queue *queue, const struct search_time *time, uint32_t point)
{
    static const double least_s = 2e-3; /* no order can gain more than that */
    uint32_t index[SPEC_VARIABLE_MAX];
    int exponent;
    sweep_index(queue->sweep, point, index);
    double seconds = most_expected_s(queue, time, index);
    if (!(seconds >= least_s))
        return 0;
    double fraction = frexp(seconds, &exponent); /* 0.5 to 1 */
    return (float)ldexp(floor(16 * fraction), exponent - 4);
}

void queue_sort(struct queue *queue, const struct search_time *time)
{
    for (size_t i = queue->next; i < queue->n; i++)
        queue->entry[i].expected_s = queue_expected_s(queue, time, queue->entry[i].point);
    sort_open(queue);
}

size_t queue_count_links(const struct sweep *sweep, const struct queue_entry *entry, size_t n)
{
    size_t links = 0;
    for (size_t i = 0; i < n; i++) {
        struct sweep_point point;
        sweep_point(sweep, entry[i].point, &point);
        links += sweep_point_n_task(&point);
    }
    return links;
}

size_t queue_take(struct queue *queue, size_t link_max, const struct queue_entry **entry)
{
    size_t n = 0, links = 0;
    *entry = queue->entry + queue->next;
    while (queue->next < queue->n) {
        links += queue_count_links(queue->sweep, &queue->entry[queue->next], 1);
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
