/* Seconds that searches took and were estimated to take, added up by engine and workload. */
#include "dse/run/search_time.h"

#include <math.h>
#include <stdlib.h>

#include "dse/run/search_time_prior.h"

struct tally {
    double took_s, estimate_s;
};

struct search_time {
    const struct sweep *sweep;
    struct time_prior prior;
    size_t n_workload;
    struct tally all;
    struct tally *engine;   /* (n_engine) owned, */
    struct tally *workload; /* (n_engine, n_workload) behind it */
};

enum dse_status search_time_new(const struct sweep *sweep, struct search_time **out, struct dse_error *err)
{
    struct search_time *time = calloc(1, sizeof *time);
    size_t n_workload = sweep->n_network * sweep->n_batch;
    if (time)
        time->engine = calloc(sweep->n_engine * (1 + n_workload), sizeof *time->engine);
    enum dse_status status = time && time->engine
                                 ? time_prior_init(&time->prior, sweep, err)
                                 : dse_fail(err, DSE_NO_MEMORY, "out of memory for search times");
    if (status != DSE_OK) {
        search_time_free(time);
        return status;
    }
    time->sweep = sweep;
    time->n_workload = n_workload;
    time->workload = time->engine + sweep->n_engine;
    *out = time;
    return DSE_OK;
}

void search_time_free(struct search_time *time)
{
    if (!time)
        return;
    time_prior_free(&time->prior);
    free(time->engine);
    free(time);
}

static const struct time_class *class_of(const struct search_time *time, const uint32_t *index)
{
    return &time->prior.class[time_prior_class_of_index(&time->prior, index)];
}

static struct tally *tally_of(const struct search_time *time, const struct time_class *class)
{
    return &time->workload[class->engine * time->n_workload + class->workload];
}

double search_time_of_point(const struct search_time *time, const uint32_t *index)
{
    const struct time_class *class = class_of(time, index);
    const struct tally *tally = tally_of(time, class);
    if (!(tally->estimate_s > 0))
        tally = &time->engine[class->engine];
    if (!(tally->estimate_s > 0))
        tally = &time->all;
    double ratio = tally->estimate_s > 0 ? tally->took_s / tally->estimate_s : 1;
    return fmin(class->point_s * ratio, class->limit_s * class->n_task);
}

static void add(struct search_time *time, const struct time_class *class, double estimate_s, double took_s)
{
    if (!(took_s >= 0) || !isfinite(took_s))
        return;
    struct tally *tally[] = {&time->all, &time->engine[class->engine], tally_of(time, class)};
    for (size_t i = 0; i < sizeof tally / sizeof tally[0]; i++) {
        tally[i]->took_s += took_s;
        tally[i]->estimate_s += estimate_s;
    }
}

void search_time_learn(struct search_time *time, const uint32_t *index, uint32_t task, double seconds)
{
    const struct time_class *class = class_of(time, index);
    const struct workload *workload = &time->sweep->workload[class->workload];
    if (task < class->n_task)
        add(time, class, time_class_task_s(class, workload, task), seconds);
}

void search_time_learn_point(struct search_time *time, const uint32_t *index, double seconds)
{
    const struct time_class *class = class_of(time, index);
    add(time, class, class->point_s, seconds);
}
