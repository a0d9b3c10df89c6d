#include "dse/rerun.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "costmodel/core_cache.h"
#include "dse/point_rows.h"
#include "dse/rerun_compare.h"
#include "dse/runner.h"
#include "dse/table.h"
#include "dse/worker_pool.h"
#include "results/cube_read.h"
#include "results/provenance.h"

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
    uint32_t n_task;
    struct solve_result **result; /* (n_task) owned */
};

/* One search: the point's number in the chunk, and which of its tasks. */
struct search {
    uint32_t at, task;
};

/* Seconds beyond its limit after which a contained search is ended. */
static const double grace_s = 10;

struct rerun {
    const struct rerun_options *options;
    FILE *out;
    struct rerun_summary *summary;
    struct result_schema stored;
    struct provenance made_by;
    struct sweep_spec spec;
    struct sweep sweep;
    struct stored_rows *rows;
    struct arena arena;    /* as long as the run: what was read of the file */
    struct arena kept;     /* of the points of a chunk: what the file says */
    struct arena scratch;  /* of one point */
    struct again *again;   /* (CHUNK_MAX) */
    struct search *search; /* (CHUNK_MAX x n_task_most) */
    size_t n_layer_most, n_task_most;
    struct layer_record *layer; /* (n_layer_most) */
    struct solve_shared shared;
    struct worker_pool *pool;
    size_t n_chosen;
    bool is_other_program;
};

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the points");
}

/* ------------------------------------------------------------------------------------------------ the file */

static enum dse_status open_file(struct rerun *r, struct dse_error *err)
{
    const char *h5 = r->options->h5;
    DSE_TRY(cube_read_schema(h5, &r->arena, &r->stored, err));
    DSE_TRY(cube_read_inputs(h5, &r->arena, &r->stored, &r->made_by, err));
    if (r->stored.n_input == 0)
        return dse_fail_at(
            err, DSE_BAD_INPUT, h5, 0,
            "does not hold what it was computed from: the group `inputs`, with the specification and the "
            "architecture and network files, is missing (written by dse %s%s%s%s). Run its specification "
            "anew "
            "(--fresh, or another -o) for a file that can be computed again",
            r->made_by.dse_version[0] ? r->made_by.dse_version : "of unknown version",
            r->made_by.git_revision[0] ? " (" : "", r->made_by.git_revision,
            r->made_by.git_revision[0] ? ")" : "");
    DSE_TRY(spec_replay(&r->spec, &r->stored, h5, err));
    DSE_TRY(sweep_init(&r->sweep, &r->spec, err));
    return stored_rows_open(h5, &r->stored, &r->rows, err);
}

static void note(struct rerun *r, const char *what, const char *was, const char *is)
{
    if (strcmp(was, is) == 0)
        return;
    fprintf(r->out, "note: %s: file %s, this program %s\n", what, was[0] ? was : "does not say", is);
    r->is_other_program = r->is_other_program || was[0];
}

/* What may explain a difference. */
static void note_program(struct rerun *r)
{
    struct provenance here;
    const struct provenance *was = &r->made_by;
    provenance_make(&here);
    note(r, "version", was->dse_version, here.dse_version);
    note(r, "git revision", was->git_revision, here.git_revision);
    note(r, "compiler", was->compiler, here.compiler);
    note(r, "build variant", was->build_variant, here.build_variant);
    note(r, "compiler flags", was->build_flags, here.build_flags);
    note(r, "libraries", was->libraries, here.libraries);
}

/* What the file says about itself must agree: the hash of its specification and inputs, and the axes that they make. */
static enum dse_status check_specification(struct rerun *r, struct dse_error *err)
{
    struct text_buffer lines;
    struct comparison c = {.rows = r->rows, .stored = &r->stored, .now = &r->sweep.schema, .lines = &lines};
    if (r->sweep.schema.specification_hash != r->stored.specification_hash) {
        fprintf(r->out,
                "specification_hash: file %016" PRIx64 ", now %016" PRIx64
                ": the specification or an input in the file is not the one it was computed from\n",
                r->stored.specification_hash, r->sweep.schema.specification_hash);
        r->summary->n_specification++;
    }
    if (strcmp(r->stored.specification, r->spec.text) != 0) {
        fprintf(r->out, "specification: the attribute and the input of that role differ\n");
        r->summary->n_specification++;
    }
    text_init(&lines);
    bool same_shape = compare_axes(&c);
    r->summary->n_specification += c.n_different;
    if (lines.data)
        fputs(lines.data, r->out);
    text_free(&lines);
    if (!same_shape)
        return dse_fail_at(err, DSE_BAD_INPUT, r->options->h5, 0,
                           "its axes are not those of the specification that it holds");
    return DSE_OK;
}

/* Which points the file has rows of: n_layer is a number in each of them. */
static enum dse_status find_rows(struct rerun *r, bool **there, struct dse_error *err)
{
    struct arena arena;
    double *n_layer;
    size_t n;
    *there = calloc(r->sweep.n_point + 1, sizeof **there);
    if (!*there)
        return no_memory(err);
    arena_init(&arena);
    enum dse_status status = cube_read_number(r->options->h5, "n_layer", &arena, &n_layer, &n, err);
    for (size_t p = 0; status == DSE_OK && p < r->sweep.n_point; p++) {
        struct sweep_point point;
        uint64_t cell = 0;
        sweep_point(&r->sweep, p, &point);
        for (size_t d = 0; d < r->stored.n_axis; d++)
            cell = cell * r->stored.axis[d].n_value + point.index[d];
        (*there)[p] = cell < n && !isnan(n_layer[cell]);
    }
    arena_free(&arena);
    return status;
}

/* --------------------------------------------------------------------------------------------- the searches */

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

static enum dse_status prepare(struct rerun *r, struct again *a, size_t p, struct dse_error *err)
{
    a->p = p;
    a->why = (struct dse_error){0};
    sweep_point(&r->sweep, p, &a->point);
    DSE_TRY(stored_rows_read(r->rows, a->point.index, &r->kept, &a->was, err));
    a->contained = is_contained(a);
    a->built = sweep_point_build(&a->point, &a->arch, &a->why) == DSE_OK;
    a->n_task = a->built ? sweep_point_n_task(&a->point) : 0;
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
    if (a->contained)
        return worker_pool_solve(r->pool, (size_t)omp_get_thread_num(), a->p, search->task,
                                 a->point.settings.max_seconds, &never, result, err);
    return sweep_point_solve(&a->point, search->task, &a->arch, &r->shared, &never, arena, result);
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

/* --------------------------------------------------------------------------------------------- the verdicts */

static enum dse_status make_rows(struct rerun *r, struct again *a, struct point_record *record,
                                 struct dse_error *err)
{
    if (!a->built)
        return point_rows_unbuilt(&a->point, &a->why, 0, &r->scratch, record, err);
    return point_rows_make(&r->sweep, &a->point, &a->arch, (const struct solve_result *const *)a->result, 0,
                           &r->scratch, record, r->layer, err);
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
static bool is_timed(const struct rerun *r, const struct stored_point *was, const struct point_record *record)
{
    const char *const reason[] = {was->point.reason, record->reason};
    for (size_t i = 0; i < 2; i++)
        if (reason[i] && (strstr(reason[i], "max_memory") || strstr(reason[i], "did not stop")))
            return true;
    return compare_is_timed(&was->point, was->layer, was->layer_status, r->stored.n_layer) ||
           compare_is_timed(record, r->layer, NULL, (size_t)record->n_layer);
}

static enum dse_status judge(struct rerun *r, struct again *a, struct dse_error *err)
{
    const struct stored_point *was = &a->was;
    struct point_record record;
    struct text_buffer lines;
    char place[PLACE_MAX];
    struct comparison c = {.rows = r->rows, .stored = &r->stored, .now = &r->sweep.schema, .lines = &lines};
    arena_reset(&r->scratch);
    DSE_TRY(make_rows(r, a, &record, err));
    text_init(&lines);
    compare_point(&c, was, &record, r->layer, (size_t)record.n_layer);
    bool timed = is_timed(r, was, &record);
    size_t *count = c.n_different == 0 ? &r->summary->n_equal
                    : timed            ? &r->summary->n_timed
                                       : &r->summary->n_different;
    ++*count;
    if (c.n_different || r->n_chosen <= RERUN_LIST_MAX)
        fprintf(r->out, "%6zu  %s: ", a->p + 1, sweep_point_print(&r->sweep, a->p, place, sizeof place));
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
    point_rows_most(&r->sweep, &r->n_layer_most, &r->n_task_most);
    r->layer = calloc(r->n_layer_most, sizeof *r->layer);
    r->again = calloc(CHUNK_MAX, sizeof *r->again);
    r->search = calloc(CHUNK_MAX * r->n_task_most, sizeof *r->search);
    if (!r->layer || !r->again || !r->search)
        return no_memory(err);
    if (r->sweep.n_scheduler)
        DSE_TRY(core_cache_new(RUN_CORE_COST_MAX, &r->shared.core_cache, err));
    const struct worker_limits limits = {0, grace_s};
    DSE_TRY(worker_pool_new(&r->sweep, (size_t)r->options->n_thread, &limits, &r->pool, err));
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
            table_plural(n_there), s->n_equal);
    if (s->n_different)
        fprintf(r->out, ", %zu different", s->n_different);
    if (s->n_timed)
        fprintf(r->out, ", %zu that depend%s on the computer's speed", s->n_timed,
                s->n_timed == 1 ? "s" : "");
    fputs("\n", r->out);
    if (s->n_different && r->is_other_program)
        fprintf(r->out, "The file was made by another program (notes above): suspect that first.\n");
}

static enum dse_status rerun_open(struct rerun *r, struct dse_error *err)
{
    bool *there;
    size_t *list, n_there = 0;
    DSE_TRY(open_file(r, err));
    note_program(r);
    DSE_TRY(check_specification(r, err));
    DSE_TRY(find_rows(r, &there, err));
    for (size_t p = 0; p < r->sweep.n_point; p++)
        n_there += there[p];
    enum dse_status status = rerun_select(&r->sweep, r->options, there, &list, &r->n_chosen, err);
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
    arena_init(&r->arena);
    arena_init(&r->kept);
    arena_init(&r->scratch);
    enum dse_status status = rerun_open(r, err);
    worker_pool_free(r->pool);
    stored_rows_close(r->rows);
    core_cache_free(r->shared.core_cache);
    sweep_free(&r->sweep);
    spec_free(&r->spec);
    arena_free(&r->kept);
    arena_free(&r->scratch);
    arena_free(&r->arena);
    free(r->layer);
    free(r->again);
    free(r->search);
    free(r);
    return status;
}
