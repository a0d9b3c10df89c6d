/* From finished searches to the rows of a point. */
#include <string.h>

#include "dse/run/point_rows.h"
#include "dse/run/run_state.h"

enum { WAITING_BYTE = 65536 }; /* of lines: then they go to the journal */

/* How long the searches took. Under the lock. */
static void learn(struct worker *worker)
{
    for (size_t i = 0; i < worker->n_job; i++) {
        uint32_t index[SPEC_VARIABLE_MAX];
        struct run_job *job = &worker->job[i];
        if (!job->done)
            continue;
        job->done = false;
        sweep_index(worker->run->sweep, job->number, index);
        search_time_learn(worker->run->search_time, index, job->problem, job->seconds);
    }
}

void run_tell_point(const struct run *run, size_t number, const struct point_record *record, bool reused)
{
    for (const struct run_observer *who = run->options->observer; who; who = who->next)
        if (who->point)
            who->point(who->user, number, record, reused);
}

static void count_point(struct run *run, enum result_status outcome)
{
    run->summary->n_status[outcome]++;
    atomic_fetch_add(&run->progress.point_done, 1);
    if (outcome != RESULT_OK)
        atomic_fetch_add(&run->progress.not_ok, 1);
}

/* Fill `record` and worker->layer. */
static enum dse_status make_record(struct worker *worker, const struct plan *plan,
                                   const struct plan_point *planned, struct point_record *record,
                                   struct dse_error *err)
{
    const struct sweep_point *point = &worker->point;
    if (machine_of(&worker->machine, point) != DSE_OK)
        return point_rows_unbuilt(point, &worker->machine.why, planned->key, &worker->row_arena, record, err);
    for (uint32_t t = 0; t < planned->n_task; t++)
        worker->result[t] = plan->task[plan->task_of[planned->first_task + t]].result;
    return point_rows_make(worker->run->sweep, point, &worker->machine.arch, worker->result, planned->key,
                           &worker->row_arena, record, worker->layer, err);
}

enum dse_status run_add_row(struct worker *worker, struct plan *plan, struct plan_point *planned,
                            struct dse_error *err)
{
    struct run *run = worker->run;
    if (worker->n_row == RUN_BATCH_MAX || worker->lines.layers.length > WAITING_BYTE)
        DSE_TRY(run_write_rows(worker, err));
    struct run_row *row = &worker->row[worker->n_row];
    sweep_point(run->sweep, planned->number, &worker->point);
    DSE_TRY(make_record(worker, plan, planned, &row->record, err));
    DSE_TRY(journal_format(&run->schema, &row->record, worker->layer, (size_t)row->record.n_layer,
                           &worker->lines, err));
    row->plan = plan;
    row->point = planned;
    memcpy(row->index, worker->point.index, sizeof row->index);
    row->record.index = row->index;
    worker->n_row++;
    return DSE_OK;
}

/* Under the lock. */
static enum dse_status append(struct worker *worker, struct dse_error *err)
{
    struct run *run = worker->run;
    DSE_TRY(run->status);
    DSE_TRY(journal_append(run->journal, &worker->lines, err));
    for (size_t i = 0; i < worker->n_row; i++) {
        struct run_row *row = &worker->row[i];
        count_point(run, row->record.outcome);
        run_tell_point(run, row->point->number, &row->record, false);
        plan_release(row->plan, row->point);
        row->plan->n_unwritten--;
    }
    return DSE_OK;
}

enum dse_status run_write_rows(struct worker *worker, struct dse_error *err)
{
    struct run *run = worker->run;
    enum dse_status status = DSE_OK;
    pthread_mutex_lock(&run->lock);
    learn(worker);
    if (worker->n_row > 0)
        status = append(worker, err);
    pthread_mutex_unlock(&run->lock);
    worker->n_row = 0;
    journal_lines_clear(&worker->lines);
    arena_reset(&worker->row_arena);
    return status;
}
