/* Makes the tasks of a window: equal keys become one search with a list of the points that use it; then
 * the order in which threads take them. */
#include "dse/run/plan.h"

#include <stdlib.h>
#include <string.h>

#include "dse/spec/keys.h"

static enum dse_status no_memory(size_t n, struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for a window of %zu points", n);
}

/* An open-addressed table of search numbers by key. */
struct task_table {
    size_t n_slot;  /* a power of two */
    uint32_t *slot; /* number + 1; 0 is free */
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

static bool link_point(struct plan *plan, struct task_table *table, struct machine *machine, uint32_t i)
{
    struct sweep_point point;
    struct point_keys keys;
    struct plan_point *out = &plan->point[i];
    sweep_point(plan->sweep, out->number, &point);
    if (!keys_of_point(machine, &point, &keys))
        return false;
    out->key = keys.point;
    out->first_task = (uint32_t)plan->n_link;
    out->n_task = keys.arch ? sweep_point_n_task(&point) : 0;
    atomic_init(&out->n_left, out->n_task);
    for (uint32_t t = 0; t < out->n_task; t++) {
        bool is_new;
        uint64_t key = keys_of_task(&keys, &point, t);
        if (key == 0)
            return false;
        struct plan_task *task = find_task(plan, table, key, &is_new);
        if (is_new) {
            task->point = i;
            task->problem = t;
        }
        task->n_user_all++;
        plan->task_of[plan->n_link++] = (uint32_t)(task - plan->task);
    }
    return true;
}

/* The points of each search, in order. */
static void link_users(struct plan *plan)
{
    uint32_t at = 0;
    for (size_t t = 0; t < plan->n_task; t++) {
        plan->task[t].first_user = at;
        at += plan->task[t].n_user_all;
    }
    for (uint32_t i = 0; i < plan->n_point; i++)
        for (uint32_t t = 0; t < plan->point[i].n_task; t++) {
            struct plan_task *task = &plan->task[plan->task_of[plan->point[i].first_task + t]];
            plan->user_of[task->first_user + task->n_user++] = i;
        }
}

/* What plan_sort compares. */
struct sort_key {
    float expected_s;
    uint32_t point, problem, task;
};

static int by_expectation(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    if (x->expected_s > y->expected_s || x->expected_s < y->expected_s)
        return x->expected_s > y->expected_s ? -1 : 1;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return x->problem < y->problem ? -1 : x->problem > y->problem;
}

/* Where the searches of the point end that is being handed out: it is finished first, whatever is dearer
 * now. */
static size_t end_of_point(const struct plan *plan)
{
    size_t at = plan->next;
    while (at > 0 && at < plan->n_task &&
           plan->task[plan->order[at]].point == plan->task[plan->order[at - 1]].point)
        at++;
    return at;
}

void plan_sort(struct plan *plan)
{
    size_t first = end_of_point(plan), n = plan->n_task - first;
    struct sort_key *key = malloc((n + 1) * sizeof *key);
    if (!key)
        return; /* the order is a matter of speed alone */
    for (size_t i = 0; i < n; i++) {
        uint32_t t = plan->order[first + i];
        uint32_t point = plan->task[t].point;
        key[i] = (struct sort_key){plan->point[point].expected_s, point, plan->task[t].problem, t};
    }
    qsort(key, n, sizeof *key, by_expectation);
    for (size_t i = 0; i < n; i++)
        plan->order[first + i] = key[i].task;
    free(key);
}

static enum dse_status fill(struct plan *plan, const struct queue_entry *entry, struct machine *machine,
                            struct dse_error *err)
{
    struct task_table table = {16, NULL};
    size_t n_most = queue_count_links(plan->sweep, entry, plan->n_point);
    if (n_most > UINT32_MAX / 2)
        return dse_fail(err, DSE_LIMIT, "a point with more than %u searches", UINT32_MAX / 2);
    while (table.n_slot < 2 * n_most)
        table.n_slot *= 2;
    table.slot = arena_alloc(&plan->arena, table.n_slot, sizeof *table.slot);
    plan->point = arena_alloc(&plan->arena, plan->n_point, sizeof *plan->point);
    plan->task = arena_alloc(&plan->arena, n_most + 1, sizeof *plan->task);
    plan->order = arena_alloc(&plan->arena, n_most + 1, sizeof *plan->order);
    plan->task_of = arena_alloc(&plan->arena, n_most + 1, sizeof *plan->task_of);
    plan->user_of = arena_alloc(&plan->arena, n_most + 1, sizeof *plan->user_of);
    DSE_TRY(arena_check(&plan->arena, "a window of points", err));
    for (uint32_t i = 0; i < plan->n_point; i++) {
        plan->point[i].number = entry[i].point;
        plan->point[i].expected_s = entry[i].expected_s;
        plan->point[i].next_ready = PLAN_NONE;
        if (!link_point(plan, &table, machine, i))
            return no_memory(plan->n_point, err);
    }
    link_users(plan);
    for (uint32_t t = 0; t < plan->n_task; t++)
        plan->order[t] = t;
    plan_sort(plan);
    return DSE_OK;
}

enum dse_status plan_new(const struct sweep *sweep, const struct queue_entry *entry, size_t n,
                         struct machine *machine, struct plan **out, struct dse_error *err)
{
    *out = NULL;
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return no_memory(n, err);
    plan->sweep = sweep;
    plan->n_point = plan->n_unwritten = n;
    enum dse_status status = fill(plan, entry, machine, err);
    if (status == DSE_OK)
        *out = plan;
    else
        plan_free(plan);
    return status;
}

void plan_release(struct plan *plan, const struct plan_point *point)
{
    for (uint32_t t = 0; t < point->n_task; t++) {
        struct plan_task *task = &plan->task[plan->task_of[point->first_task + t]];
        if (--task->n_user > 0)
            continue;
        solve_result_clear(task->result);
        free(task->result);
        task->result = NULL;
    }
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    for (size_t t = 0; t < plan->n_task; t++) {
        solve_result_clear(plan->task[t].result);
        free(plan->task[t].result);
    }
    arena_free(&plan->arena);
    free(plan);
}
