#include "dse/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static enum dse_status no_memory(const struct plan *plan, struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", plan->n_point);
}

/* The coordinates are part of the key: two cells never share one, even when their results cannot differ. */
static uint64_t point_key(const struct sweep *sweep, const struct sweep_point *point, uint64_t settings_key,
                          uint64_t arch_key)
{
    struct hash_state state;
    if (!hash_begin(&state))
        return 0;
    hash_u64(&state, settings_key);
    hash_u64(&state, arch_key);
    hash_u64(&state,
             solve_is_scheduler(&point->settings) ? point->workload->network_hash : point->workload->hash);
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        for (size_t k = 0; k < sweep->spec->dimension[d].n_variable; k++) {
            size_t v = sweep->spec->dimension[d].variable[k];
            hash_text(&state, sweep->variable[v].column);
            if (sweep->variable[v].numeric)
                hash_double(&state, sweep->variable[v].number[point->index[d]]);
            else
                hash_text(&state, sweep->variable[v].text[point->index[d]]);
        }
    return hash_end(&state);
}

static bool key_point(struct plan *plan, size_t p)
{
    struct sweep_point point;
    struct architecture arch;
    struct plan_point *out = &plan->point[p];
    sweep_point(plan->sweep, p, &point);
    if (sweep_point_build(&point, &arch, NULL) == DSE_OK)
        out->arch_key = solve_arch_key(&arch);
    out->settings_key = solve_settings_key(&point.settings);
    out->key = point_key(plan->sweep, &point, out->settings_key, out->arch_key);
    plan->point_key[p] = out->key;
    return out->settings_key != 0 && out->key != 0;
}

enum dse_status plan_init(struct plan *plan, const struct sweep *sweep, int n_thread, struct dse_error *err)
{
    int good = 1;
    memset(plan, 0, sizeof *plan);
    plan->sweep = sweep;
    plan->n_point = sweep->n_point;
    plan->point = calloc(plan->n_point, sizeof *plan->point);
    plan->point_key = calloc(plan->n_point, sizeof *plan->point_key);
    if (!plan->point || !plan->point_key)
        return no_memory(plan, err);
#pragma omp parallel for schedule(dynamic, 16) num_threads(n_thread)
    for (size_t p = 0; p < plan->n_point; p++)
        if (!key_point(plan, p)) {
#pragma omp atomic write
            good = 0;
        }
    return good ? DSE_OK : no_memory(plan, err);
}

/* An open-addressed table of task numbers by key. */
struct task_table {
    size_t n_slot;  /* a power of two */
    uint32_t *slot; /* task number + 1; 0 is free */
};

static struct plan_task *find_task(struct plan *plan, struct task_table *table, uint64_t key, bool *is_new)
{
    size_t at = (size_t)key & (table->n_slot - 1);
    while (table->slot[at] && plan->task[table->slot[at] - 1].key != key)
        at = (at + 1) & (table->n_slot - 1);
    *is_new = table->slot[at] == 0;
    if (*is_new) {
        plan->task[plan->n_task].key = key;
        table->slot[at] = (uint32_t)++plan->n_task;
    }
    return &plan->task[table->slot[at] - 1];
}

/* A scheduler's evaluations are of whole networks: dearer than all a mapper does for a layer. */
static const double scheduler_effort = 1e6;

/* More prime factors mean a larger space; an estimate is enough to start long points early. */
static double expected_effort(const struct sweep_point *point)
{
    double factors = 1;
    if (solve_is_scheduler(
            &point->settings)) /* a schedule is priced tile by tile, of which there are as many */
        return scheduler_effort * (double)point->workload->network->n_layer * (double)point->workload->batch;
    for (uint32_t i = 0; i < point->workload->n_problem; i++) {
        const struct problem *p = &point->workload->problem[i];
        for (uint32_t d = 0; d < p->n_dim; d++)
            for (uint32_t rest = p->bound[d]; rest > 1; rest /= 2)
                factors++;
    }
    return factors * (double)(point->settings.max_evaluations ? point->settings.max_evaluations : 10000);
}

static bool link_point(struct plan *plan, struct task_table *table, size_t p)
{
    struct sweep_point point;
    struct plan_point *out = &plan->point[p];
    out->first_task = plan->n_link;
    if (out->done || out->arch_key == 0)
        return true;
    sweep_point(plan->sweep, p, &point);
    double effort = expected_effort(&point);
    uint32_t n_task = sweep_point_n_task(&point);
    for (uint32_t i = 0; i < n_task; i++) {
        bool is_new;
        uint64_t key = solve_key(out->settings_key, sweep_point_task_hash(&point, i), out->arch_key);
        if (key == 0)
            return false;
        struct plan_task *task = find_task(plan, table, key, &is_new);
        if (is_new) {
            task->point = (uint32_t)p;
            task->problem = i;
            task->effort = effort;
        }
        task->n_user_all++;
        plan->task_of[plan->n_link++] = (uint32_t)(task - plan->task);
    }
    out->n_left = n_task;
    return true;
}

static size_t most_links(const struct plan *plan)
{
    size_t n = 0;
    for (size_t p = 0; p < plan->n_point; p++) {
        struct sweep_point point;
        if (plan->point[p].done)
            continue;
        sweep_point(plan->sweep, p, &point);
        n += sweep_point_n_task(&point);
    }
    return n;
}

/* The tasks of a point stay together, so that points are finished, and safe in the journal, one after the other. */
static int by_effort(const void *a, const void *b)
{
    const struct plan_task *x = a, *y = b;
    if (x->effort > y->effort || x->effort < y->effort)
        return x->effort > y->effort ? -1 : 1;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return x->problem < y->problem ? -1 : x->problem > y->problem;
}

/* Sort the tasks and renumber the links to them. */
static bool sort_tasks(struct plan *plan)
{
    uint32_t *moved = malloc((plan->n_task + 1) * sizeof *moved);
    if (!moved)
        return false;
    for (size_t t = 0; t < plan->n_task; t++)
        plan->task[t].n_user = (uint32_t)t; /* the old number travels along */
    if (plan->n_task)
        qsort(plan->task, plan->n_task, sizeof *plan->task, by_effort);
    for (size_t t = 0; t < plan->n_task; t++) {
        moved[plan->task[t].n_user] = (uint32_t)t;
        plan->task[t].n_user = 0;
    }
    for (size_t i = 0; i < plan->n_link; i++)
        plan->task_of[i] = moved[plan->task_of[i]];
    free(moved);
    return true;
}

/* The points of each task, in order. */
static void link_users(struct plan *plan)
{
    size_t at = 0;
    for (size_t t = 0; t < plan->n_task; t++) {
        plan->task[t].first_user = at;
        at += plan->task[t].n_user_all;
    }
    for (size_t p = 0; p < plan->n_point; p++)
        for (uint32_t i = 0; i < plan->point[p].n_left; i++) {
            struct plan_task *task = &plan->task[plan->task_of[plan->point[p].first_task + i]];
            plan->user_of[task->first_user + task->n_user++] = (uint32_t)p;
        }
}

enum dse_status plan_tasks(struct plan *plan, struct dse_error *err)
{
    struct task_table table = {16, NULL};
    size_t n_most = most_links(plan);
    bool good = true;
    if (n_most > UINT32_MAX / 2)
        return dse_fail(err, DSE_LIMIT, "the sweep has %zu searches; split it into several", n_most);
    while (table.n_slot < 2 * n_most)
        table.n_slot *= 2;
    table.slot = calloc(table.n_slot, sizeof *table.slot);
    plan->task = calloc(n_most + 1, sizeof *plan->task);
    plan->task_of = calloc(n_most + 1, sizeof *plan->task_of);
    plan->user_of = calloc(n_most + 1, sizeof *plan->user_of);
    good = table.slot && plan->task && plan->task_of && plan->user_of;
    for (size_t p = 0; good && p < plan->n_point; p++)
        good = link_point(plan, &table, p);
    free(table.slot);
    if (!good || !sort_tasks(plan))
        return no_memory(plan, err);
    link_users(plan);
    return DSE_OK;
}

void plan_free(struct plan *plan)
{
    for (size_t t = 0; t < plan->n_task; t++) {
        solve_result_clear(plan->task[t].result);
        free(plan->task[t].result);
    }
    free(plan->point);
    free(plan->point_key);
    free(plan->task);
    free(plan->task_of);
    free(plan->user_of);
    memset(plan, 0, sizeof *plan);
}
