/* From finished searches to the rows of a point. */
#include "dse/point_rows.h"
#include "dse/run_state.h"

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

/* Under the lock. */
static enum dse_status append(struct worker *worker, struct plan *plan, struct plan_point *planned,
                              const struct point_record *record, struct dse_error *err)
{
    struct run *run = worker->run;
    DSE_TRY(run->status);
    DSE_TRY(journal_append(run->journal, &worker->lines, err));
    count_point(run, record->outcome);
    if (run->options->observer && run->options->observer->point)
        run->options->observer->point(run->options->observer->user, planned->number, record, false);
    plan_release(plan, planned);
    plan->n_unwritten--;
    return DSE_OK;
}

enum dse_status run_write_point(struct worker *worker, struct plan *plan, struct plan_point *planned,
                                struct dse_error *err)
{
    struct run *run = worker->run;
    struct point_record record;
    arena_reset(&worker->row_arena);
    sweep_point(run->sweep, planned->number, &worker->point);
    DSE_TRY(make_record(worker, plan, planned, &record, err));
    DSE_TRY(
        journal_format(&run->schema, &record, worker->layer, (size_t)record.n_layer, &worker->lines, err));
    pthread_mutex_lock(&run->lock);
    enum dse_status status = append(worker, plan, planned, &record, err);
    pthread_mutex_unlock(&run->lock);
    return status;
}
