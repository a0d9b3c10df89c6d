/* Works through the points in chunks: builds them, searches them on all threads (in processes of their own
 * where a search may crash), compares row by row and prints verdicts in order. */
#include "dse/rerun/rerun.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/fused/core_cache.h"
#include "dse/console/table.h"
#include "dse/exchange/exchange_row.h"
#include "dse/isolate/worker_pool.h"
#include "dse/rerun/rerun_file.h"
#include "dse/run/point_rows.h"
#include "dse/run/runner.h"
#include "dse/solve/record.h"
#include "dse/spec/keys.h"
#include "dse/spec/sweep_neighbours.h"
#include "engines/driver/known_bounds.h"

enum { CHUNK_MAX = 64, PLACE_MAX = 1024 };

/* A point that is being computed. */
struct again {
    size_t p;
    struct sweep_point point;
    struct architecture arch;
    bool built;
    bool contained; /* its searches may take the process with them: they run in one of their own */
    struct stored_point was;
    struct dse_error why; /* when it is not built */
    uint64_t key;
    uint32_t n_task;
    struct solve_result **result; /* (n_task) owned */
    /* The row has the schedule of this point's search, which is done likewise, as the last task; SIZE_MAX: it
     * has its own */
    size_t source_p;
    struct sweep_point source;
    struct architecture source_arch;
};

/* One search: the point's number in the chunk, and which of its tasks. */
struct search {
    uint32_t at, task;
};

struct rerun {
    const struct rerun_options *options;
    FILE *out;
    struct rerun_summary *summary;
    struct rerun_file file;
    struct machine machine; /* the last one */
    struct arena kept;      /* of the points of a chunk: what the file says */
    struct arena scratch;   /* of one point */
    struct again *again;    /* (CHUNK_MAX) */
    struct search *search;  /* (CHUNK_MAX x (n_task_most + 1)) */
    size_t n_layer_most, n_task_most;
    struct layer_record *layer; /* (n_layer_most) */
    struct solve_shared shared;
    struct worker_pool *pool;
    size_t n_chosen;
};

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the points");
}

/* ---------------------------------------- the searches */

static void clear(struct again *a)
{
    for (uint32_t t = 0; a->result && t < a->n_task; t++) {
        solve_result_clear(a->result[t]);
        free(a->result[t]);
    }
    free(a->result);
    a->result = NULL;
}

/* What failed when the file was made may have crashed, and may again. */
static bool is_contained(const struct again *a)
{
    return a->was.point.outcome == RESULT_FAILED ||
           engine_is_untrusted(a->point.settings.engine, a->point.settings.option);
}

/* The point's machine and key. */
static enum dse_status build(struct rerun *r, struct again *a, struct dse_error *err)
{
    struct point_keys keys;
    if (!keys_of_point(&r->machine, &a->point, &keys))
        return no_memory(err);
    a->key = keys.point;
    a->built = r->machine.status == DSE_OK;
    if (a->built)
        a->arch = r->machine.arch;
    else
        a->why = r->machine.why;
    return DSE_OK;
}

/* The search whose schedule the row says that it has; none where the file names no such point. */
static enum dse_status prepare_source(struct rerun *r, struct again *a, struct dse_error *err)
{
    const char *place = a->was.point.exchanged_from;
    a->source_p = place && a->built ? sweep_exchange_find(&r->file.sweep, a->p, place) : SIZE_MAX;
    if (a->source_p == SIZE_MAX)
        return DSE_OK;
    sweep_point(&r->file.sweep, a->source_p, &a->source);
    enum dse_status status = machine_of(&r->machine, &a->source);
    if (status == DSE_NO_MEMORY)
        return no_memory(err);
    if (status == DSE_OK)
        a->source_arch = r->machine.arch;
    else
        a->source_p = SIZE_MAX;
    return DSE_OK;
}

static enum dse_status prepare(struct rerun *r, struct again *a, size_t p, struct dse_error *err)
{
    a->p = p;
    a->why = (struct dse_error){0};
    sweep_point(&r->file.sweep, p, &a->point);
    DSE_TRY(stored_rows_read(r->file.rows, a->point.index, &r->kept, &a->was, err));
    a->contained = is_contained(a);
    DSE_TRY(build(r, a, err));
    DSE_TRY(prepare_source(r, a, err));
    a->n_task = a->built ? sweep_point_n_task(&a->point) + (a->source_p != SIZE_MAX) : 0;
    a->result = calloc(a->n_task + 1, sizeof *a->result);
    for (uint32_t t = 0; a->result && t < a->n_task; t++) {
        a->result[t] = calloc(1, sizeof **a->result);
        if (!a->result[t])
            return no_memory(err);
    }
    return a->result ? DSE_OK : no_memory(err);
}

static enum dse_status search_one(struct rerun *r, const struct search *search, struct arena *arena,
                                  struct dse_error *err)
{
    struct again *a = &r->again[search->at];
    struct solve_result *result = a->result[search->task];
    static const atomic_int never = 0;
    arena_reset(arena);
    const bool is_source = a->source_p != SIZE_MAX && search->task + 1 == a->n_task;
    const struct sweep_point *point = is_source ? &a->source : &a->point;
    const uint32_t task = is_source ? 0 : search->task;
    const struct worker_job job = {is_source ? a->source_p : a->p, task, 1, point->settings.max_seconds};
    if (a->contained)
        return worker_pool_solve(r->pool, (size_t)omp_get_thread_num(), &job, &never, result, err);
    return sweep_point_solve(point, task, is_source ? &a->source_arch : &a->arch, &r->shared, &never, arena,
                             result);
}

/* All searches of the chunk; the first failure, which only memory or a lack of processes can be, is kept. */
static enum dse_status search_all(struct rerun *r, size_t n_search, struct dse_error *err)
{
    int n_thread = r->options->n_thread;
    int n_worker = (size_t)n_thread < n_search ? n_thread : (int)n_search;
    enum dse_status status = DSE_OK;
    struct dse_error first = {.text = "a search could not be done"};
    if (n_search == 0)
        return DSE_OK;
    r->shared.n_thread = n_thread / n_worker;
    if (r->shared.n_thread > 1)
        omp_set_max_active_levels(2);
#pragma omp parallel num_threads(n_worker)
    {
        struct arena arena;
        arena_init(&arena);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < n_search; i++) {
            struct dse_error why = {.text = "a search could not be done"};
            enum dse_status one = search_one(r, &r->search[i], &arena, &why);
            if (one != DSE_OK) {
#pragma omp critical
                {
                    status = one;
                    first = why;
                }
            }
        }
        arena_free(&arena);
    }
    return status == DSE_OK ? DSE_OK : dse_fail(err, status, "%s", first.text);
}

/* ---------------------------------------- the verdicts */

/* The schedule of the other point on this point's machine, where it is one for it. */
static enum dse_status exchange(struct rerun *r, struct again *a, struct point_record *record,
                                struct dse_error *err)
{
    const struct solve_result *source = a->result[a->n_task - 1];
    struct solve_priced priced;
    struct text_buffer place;
    char *mapping;
    if (source->outcome != RESULT_OK || record->outcome == RESULT_FAILED)
        return DSE_OK;
    DSE_TRY(record_schedule_line(source->found.schedule.text, source->found.schedule.text_length, &r->scratch,
                                 &mapping, err));
    DSE_TRY(solve_price(&a->point.settings, a->point.workload, &a->arch, &r->shared, NULL, mapping,
                        &r->scratch, &priced, err));
    text_init(&place);
    sweep_exchange_place(&r->file.sweep, a->source_p, &place);
    const struct exchange_answer answer = {&priced.schedule, mapping, text_keep(&place, &r->scratch)};
    if (!answer.from)
        return no_memory(err);
    if (priced.fits)
        exchange_row(&r->file.sweep.schema, &a->point.settings, a->point.workload, &answer, record, r->layer);
    return DSE_OK;
}

static enum dse_status make_rows(struct rerun *r, struct again *a, struct point_record *record,
                                 struct dse_error *err)
{
    if (!a->built)
        return point_rows_unbuilt(&a->point, &a->why, a->key, &r->scratch, record, err);
    DSE_TRY(point_rows_make(&r->file.sweep, &a->point, &a->arch,
                            (const struct solve_result *const *)a->result, a->key, &r->scratch, record,
                            r->layer, err));
    return a->source_p != SIZE_MAX ? exchange(r, a, record, err) : DSE_OK;
}

/* Lines of `text`, indented. */
static void print_indented(FILE *out, const char *text)
{
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        fprintf(out, "    %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* Did the clock, or the memory that there was, end a search on either side? */
static bool is_timed(const struct rerun *r, const struct again *a, const struct point_record *record)
{
    const struct stored_point *was = &a->was;
    const char *const reason[] = {was->point.reason, record->reason};
    for (size_t i = 0; i < 2; i++)
        if (reason[i] && (strstr(reason[i], "max_memory") || strstr(reason[i], "did not stop")))
            return true;
    if (a->source_p != SIZE_MAX && a->result[a->n_task - 1]->found.stop == STOP_MAX_SECONDS)
        return true;
    return compare_is_timed(&was->point, was->layer, was->layer_status, r->file.stored.n_layer) ||
           compare_is_timed(record, r->layer, NULL, (size_t)record->n_layer);
}

static enum dse_status judge(struct rerun *r, struct again *a, struct dse_error *err)
{
    const struct stored_point *was = &a->was;
    struct point_record record;
    struct text_buffer lines;
    char place[PLACE_MAX];
    struct comparison c = {.rows = r->file.rows,
                           .stored = &r->file.stored,
                           .now = &r->file.sweep.schema,
                           .lines = &lines,
                           .keys = r->summary->n_specification == 0};
    arena_reset(&r->scratch);
    DSE_TRY(make_rows(r, a, &record, err));
    text_init(&lines);
    compare_point(&c, was, &record, r->layer, (size_t)record.n_layer);
    bool timed = is_timed(r, a, &record);
    size_t *count = c.n_different == 0 ? &r->summary->n_equal
                    : timed            ? &r->summary->n_timed
                                       : &r->summary->n_different;
    ++*count;
    if (c.n_different || r->n_chosen <= RERUN_LIST_MAX)
        fprintf(r->out, "%6zu  %s: ", a->p + 1, sweep_point_print(&r->file.sweep, a->p, place, sizeof place));
    if (c.n_different == 0 && r->n_chosen <= RERUN_LIST_MAX)
        fprintf(r->out, "equal (%zu values)\n", c.n_compared);
    else if (c.n_different && timed)
        fprintf(r->out,
                "cannot repeat: a search was ended by max_seconds, and what it found by then depends on "
                "the computer\n");
    else if (c.n_different)
        fprintf(r->out, "DIFFERS in %zu of %zu values\n", c.n_different, c.n_compared);
    if (c.n_different && !timed)
        print_indented(r->out, lines.data);
    bool failed = lines.failed;
    text_free(&lines);
    return failed ? no_memory(err) : DSE_OK;
}

static enum dse_status run_chunk(struct rerun *r, const size_t *list, size_t n, struct dse_error *err)
{
    size_t n_search = 0;
    enum dse_status status = DSE_OK;
    memset(r->again, 0, CHUNK_MAX * sizeof *r->again);
    arena_reset(&r->kept);
    for (size_t i = 0; i < n && status == DSE_OK; i++) {
        status = prepare(r, &r->again[i], list[i], err);
        for (uint32_t t = 0; status == DSE_OK && t < r->again[i].n_task; t++)
            r->search[n_search++] = (struct search){(uint32_t)i, t};
    }
    if (status == DSE_OK)
        status = search_all(r, n_search, err);
    for (size_t i = 0; i < n; i++) {
        if (status == DSE_OK)
            status = judge(r, &r->again[i], err);
        clear(&r->again[i]);
    }
    fflush(r->out);
    return status;
}

static enum dse_status run_points(struct rerun *r, const size_t *list, struct dse_error *err)
{
    machine_init(&r->machine, &r->file.sweep);
    point_rows_most(&r->file.sweep, &r->n_layer_most, &r->n_task_most);
    r->layer = calloc(r->n_layer_most, sizeof *r->layer);
    r->again = calloc(CHUNK_MAX, sizeof *r->again);
    r->search = calloc(CHUNK_MAX * (r->n_task_most + 1), sizeof *r->search);
    if (!r->layer || !r->again || !r->search)
        return no_memory(err);
    if (r->file.sweep.n_scheduler)
        DSE_TRY(core_cache_new(RUN_CORE_COST_MAX, &r->shared.core_cache, err));
    DSE_TRY(known_bounds_new(KNOWN_BOUNDS_MAX, &r->shared.known, err));
    const struct worker_limits limits = {r->file.sweep.max_memory_byte, r->file.sweep.grace_s};
    DSE_TRY(worker_pool_new(&r->file.sweep, (size_t)r->options->n_thread, &limits, &r->pool, err));
    for (size_t i = 0; i < r->n_chosen; i += CHUNK_MAX) {
        size_t n = r->n_chosen - i < CHUNK_MAX ? r->n_chosen - i : CHUNK_MAX;
        DSE_TRY(run_chunk(r, list + i, n, err));
    }
    return DSE_OK;
}

static void print_summary(const struct rerun *r, size_t n_there)
{
    const struct rerun_summary *s = r->summary;
    fprintf(r->out, "%zu of %zu point%s computed again: %zu equal", r->n_chosen, n_there,
            text_plural(n_there), s->n_equal);
    if (s->n_different)
        fprintf(r->out, ", %zu different", s->n_different);
    if (s->n_timed)
        fprintf(r->out, ", %zu that depend%s on the computer's speed", s->n_timed,
                s->n_timed == 1 ? "s" : "");
    fputs("\n", r->out);
    if (s->n_different && r->file.is_other_program)
        fprintf(r->out, "The file was made by another program (notes above): suspect that first.\n");
}

static enum dse_status rerun_open(struct rerun *r, struct dse_error *err)
{
    bool *there;
    size_t *list, n_there = 0;
    DSE_TRY(rerun_file_open(r->options->h5, &r->file, err));
    rerun_file_note(&r->file, r->out);
    DSE_TRY(rerun_file_check(&r->file, r->out, &r->summary->n_specification, err));
    DSE_TRY(rerun_file_points(&r->file, &there, err));
    for (size_t p = 0; p < r->file.sweep.n_point; p++)
        n_there += there[p];
    enum dse_status status = rerun_select(&r->file.sweep, r->options, there, &list, &r->n_chosen, err);
    free(there);
    DSE_TRY(status);
    const struct rerun_options *o = r->options;
    if (!o->all && !o->n_point && !o->n_random && r->n_chosen < n_there)
        fprintf(r->out, "a sample of %zu points, spread over the %zu in the file; --all takes all\n",
                r->n_chosen, n_there);
    status = run_points(r, list, err);
    free(list);
    if (status == DSE_OK)
        print_summary(r, n_there);
    return status;
}

enum dse_status rerun(const struct rerun_options *options, FILE *out, struct rerun_summary *summary,
                      struct dse_error *err)
{
    struct rerun *r = calloc(1, sizeof *r);
    memset(summary, 0, sizeof *summary);
    if (!r)
        return no_memory(err);
    r->options = options;
    r->out = out;
    r->summary = summary;
    arena_init(&r->kept);
    arena_init(&r->scratch);
    enum dse_status status = rerun_open(r, err);
    worker_pool_free(r->pool);
    core_cache_free(r->shared.core_cache);
    known_bounds_free(r->shared.known);
    rerun_file_close(&r->file);
    arena_free(&r->kept);
    arena_free(&r->scratch);
    free(r->layer);
    free(r->again);
    free(r->search);
    free(r);
    return status;
}
