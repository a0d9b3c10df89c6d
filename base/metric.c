/* The table of the shared metrics, and what loops do with a value by its row. */
#include "base/metric.h"

#include <math.h>
#include <string.h>

static const struct metric shared[] = {METRIC_LIST(METRIC_ROW, metrics)};

const struct metric *metric_all(size_t *n)
{
    *n = sizeof shared / sizeof shared[0];
    return shared;
}

void metrics_init(struct metrics *metrics)
{
    memset(metrics, 0xff, sizeof *metrics); /* missing as a number of either kind */
}

void metric_clear(const struct metric *metric, void *place)
{
    if (metric->type == METRIC_F64)
        *(double *)place = NAN;
    else if (metric->type == METRIC_U64)
        *(uint64_t *)place = METRIC_U64_MISSING;
    else
        *(const char **)place = NULL;
}

void metric_fold_begin(const struct metric *metric, void *place)
{
    if (metric->fold == METRIC_NONE)
        metric_clear(metric, place);
    else if (metric->type == METRIC_F64)
        *(double *)place = 0;
    else
        *(uint64_t *)place = 0;
}

static double more(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

void metric_fold(const struct metric *metric, void *place, const void *one, uint64_t count)
{
    if (metric->fold == METRIC_NONE)
        return;
    const bool sum = metric->fold == METRIC_SUM;
    if (metric->type == METRIC_F64) {
        double *total = place, value = *(const double *)one;
        *total = sum ? *total + (double)count * value : more(*total, value);
        return;
    }
    uint64_t *total = place, value = *(const uint64_t *)one;
    if (value == METRIC_U64_MISSING || *total == METRIC_U64_MISSING)
        *total = METRIC_U64_MISSING;
    else if (sum)
        *total += count * value;
    else if (value > *total)
        *total = value;
}

void metrics_fold_begin(struct metrics *total)
{
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        metric_fold_begin(&shared[i], (char *)total + shared[i].offset);
}

void metrics_fold(struct metrics *total, const struct metrics *one, uint64_t count)
{
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        metric_fold(&shared[i], (char *)total + shared[i].offset, (const char *)one + shared[i].offset,
                    count);
}

double metric_number(const struct metric *metric, const void *place)
{
    if (metric->type == METRIC_F64)
        return *(const double *)place;
    if (metric->type == METRIC_TEXT || *(const uint64_t *)place == METRIC_U64_MISSING)
        return NAN;
    return (double)*(const uint64_t *)place;
}

bool metric_is_sound(const struct metric *metric, const void *place)
{
    double value = metric_number(metric, place);
    return isnan(value) || (isfinite(value) && value >= 0);
}

int metric_direction(const struct metric *metric)
{
    return metric->better == METRIC_LESS ? -1 : metric->better == METRIC_MORE;
}
