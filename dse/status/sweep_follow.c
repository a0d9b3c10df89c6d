/* A poll looks at lock, cube and table; it reads on where it stopped, or begins anew when a file is
 * another one, and judges state, rate and remaining time. */
#include "dse/status/sweep_follow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/text.h"
#include "dse/console/not_ok.h"
#include "results/cube/cube_read.h"
#include "results/journal/journal_header.h"

enum { READ_BUFFER = 1 << 17, RATE_POINT_MIN = 10 };

static const double rate_window_s = 0.9; /* shorter ones say little */
static const double sample_s = 0.9;      /* samples are no closer */

const char *follow_state_text(enum follow_state state)
{
    static const char *const word[] = {"not there", "running", "complete", "stopped", "killed"};
    return word[state];
}

/* ---------------------------------------- rate */

double follow_rate(const struct follow_sample *sample, size_t n, double running_s, uint64_t n_begin)
{
    if (n == 0)
        return NAN;
    const struct follow_sample *last = &sample[n - 1];
    double window_s = last->at_s - sample[0].at_s;
    double grown = last->n_point > sample[0].n_point ? (double)(last->n_point - sample[0].n_point) : 0;
    if (window_s >= rate_window_s && grown >= RATE_POINT_MIN)
        return grown / window_s;
    if (n_begin != UINT64_MAX && last->n_point > n_begin && running_s > 0)
        return (double)(last->n_point - n_begin) / running_s;
    return window_s >= rate_window_s && grown > 0 ? grown / window_s : NAN;
}

static void take_sample(struct follow *f)
{
    double now_s = clock_wall_s();
    size_t last = (f->first_sample + f->n_sample + FOLLOW_SAMPLE_MAX - 1) % FOLLOW_SAMPLE_MAX;
    if (f->n_sample > 1 && now_s - f->sample[last].at_s < sample_s) {
        f->sample[last].n_point = f->n_point;
        f->sample[last].at_s = now_s;
        return;
    }
    size_t at = (f->first_sample + f->n_sample) % FOLLOW_SAMPLE_MAX;
    f->sample[at] = (struct follow_sample){now_s, f->n_point};
    if (f->n_sample < FOLLOW_SAMPLE_MAX)
        f->n_sample++;
    else
        f->first_sample = (f->first_sample + 1) % FOLLOW_SAMPLE_MAX;
}

/* Seconds since "2026-01-31 12:00:00 UTC"; NaN when it is no time. */
static double seconds_since(const char *text)
{
    struct tm utc = {0};
    struct timespec now;
    if (!strptime(text, "%Y-%m-%d %H:%M:%S UTC", &utc) || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return NAN;
    double past_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - (double)timegm(&utc);
    return past_s > 0 ? past_s : 0;
}

static void judge_rate(struct follow *f)
{
    struct follow_sample sample[FOLLOW_SAMPLE_MAX];
    f->rate = f->eta_s = f->running_s = NAN;
    if (f->state != FOLLOW_RUNNING) {
        f->n_sample = f->first_sample = 0;
        return;
    }
    take_sample(f);
    for (size_t i = 0; i < f->n_sample; i++)
        sample[i] = f->sample[(f->first_sample + i) % FOLLOW_SAMPLE_MAX];
    f->running_s = seconds_since(f->owner.since);
    f->rate = follow_rate(sample, f->n_sample, f->running_s, f->owner.n_point);
    if (f->n_expected > 0 && f->n_point >= f->n_expected) {
        f->eta_s = 0; /* the cube is being built */
        f->rate = NAN;
    } else if (f->n_expected > 0 && f->rate > 0) {
        f->eta_s = (double)(f->n_expected - f->n_point) / f->rate;
    }
}

/* ---------------------------------------- schema */

static void forget_schema(struct follow *f)
{
    axis_places_free(f->places);
    arena_free(&f->arena);
    arena_init(&f->arena);
    f->places = NULL;
    f->known = f->about = false;
    f->n_expected = 0;
    memset(&f->schema, 0, sizeof f->schema);
}

/* How many points this output is to have. */
static void judge_expected(struct follow *f)
{
    const struct result_schema *schema = &f->schema;
    f->about = schema->n_shard > 1 && schema->n_point_shard == 0;
    f->n_expected = f->about              ? schema->n_point / schema->n_shard
                    : schema->n_shard > 1 ? schema->n_point_shard
                                          : schema->n_point;
}

/* Read OUT.h5 when it is another than the one that was read; `*changed` when what it says of the axes is not
 * what it said before. One that cannot be read, as there is none or an odd one, changes nothing. */
static enum dse_status refresh_schema(struct follow *f, bool *changed, struct dse_error *err)
{
    struct stat info;
    struct arena arena;
    struct result_schema schema;
    if (stat(f->h5_path, &info) != 0 ||
        (f->h5_inode == info.st_ino && f->h5_time.tv_sec == info.st_mtim.tv_sec &&
         f->h5_time.tv_nsec == info.st_mtim.tv_nsec))
        return DSE_OK;
    f->h5_inode = info.st_ino;
    f->h5_time = info.st_mtim;
    arena_init(&arena);
    if (cube_read_schema(f->h5_path, &arena, &schema, NULL) != DSE_OK ||
        cube_read_inputs(f->h5_path, &arena, &schema, NULL, NULL) != DSE_OK ||
        (f->known && schema.specification_hash == f->schema.specification_hash &&
         schema.n_point == f->schema.n_point && schema.n_point_shard == f->schema.n_point_shard)) {
        arena_free(&arena);
        return DSE_OK;
    }
    forget_schema(f);
    f->arena = arena;
    f->schema = schema;
    f->known = *changed = true;
    judge_expected(f);
    return axis_places_new(&f->schema, &f->places, err);
}

/* Do the first columns of the table stand for the axes of OUT.h5? Not when a run with another specification
 * has begun anew and its first OUT.h5 is still to come. */
static bool header_fits(const struct follow *f)
{
    size_t n = 0;
    for (size_t a = 0; a < f->schema.n_axis; a++)
        for (size_t k = 0; k < f->schema.axis[a].n_coordinate; k++, n++)
            if (n >= f->at_status || strcmp(f->header.field[n], f->schema.axis[a].coordinate[k].name) != 0)
                return false;
    return n == f->at_status;
}

/* ---------------------------------------- rows */

static void forget_exchanged(struct follow *f)
{
    if (f->has_exchanged)
        cell_set_free(&f->exchanged);
    f->has_exchanged = false;
}

static void forget_rows(struct follow *f)
{
    f->again = false;
    f->begun = false;
    f->next = 0;
    f->number = 0;
    f->header.n = 0;
    f->n_point = f->n_foreign = f->n_bad_line = f->first_bad_line = f->evaluations = 0;
    memset(f->n_status, 0, sizeof f->n_status);
    f->seconds = 0;
    f->n_sample = f->first_sample = 0;
}

/* Look whether OUT.csv is there and how long it is; `*changed` when it is no longer the one that was being
 * read. */
static enum dse_status refresh_table(struct follow *f, bool *changed, struct dse_error *err)
{
    struct stat info;
    bool there = stat(f->csv_path, &info) == 0;
    f->modified_s = there ? (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec : 0;
    if (f->begun &&
        (!there || info.st_ino != f->inode || info.st_dev != f->device || (uint64_t)info.st_size < f->next)) {
        forget_rows(f);
        *changed = true;
    }
    if (there && !S_ISREG(info.st_mode))
        return dse_fail_at(err, DSE_BAD_INPUT, f->csv_path, 0, "not a file");
    if (there) {
        f->begun = true;
        f->device = info.st_dev;
        f->inode = info.st_ino;
        f->size = (uint64_t)info.st_size;
    }
    return DSE_OK;
}

/* Open OUT.csv where reading ended; false when there is nothing to read: no more than before, or another file
 * now, as the next look will find. */
static bool open_table(struct follow *f, enum dse_status *status, struct dse_error *err)
{
    struct stat info;
    *status = DSE_OK;
    if (!f->begun || f->size <= f->next)
        return false;
    *status = line_reader_open(&f->reader, f->csv_path, err);
    if (*status != DSE_OK || !f->reader.file || fstat(fileno(f->reader.file), &info) != 0 ||
        info.st_ino != f->inode || info.st_dev != f->device)
        return false;
    (void)setvbuf(f->reader.file, NULL, _IOFBF, READ_BUFFER);
    *status = line_reader_seek(&f->reader, f->next, f->number + 1, err);
    return *status == DSE_OK;
}

static enum dse_status take_header(struct follow *f, struct follow_set *set, struct dse_error *err)
{
    if (!journal_header_is_one(&f->reader))
        return dse_fail_at(err, DSE_BAD_INPUT, f->csv_path, 1, "not a journal of dse");
    DSE_TRY(csv_split(f->reader.line, f->reader.length, &f->header, err));
    f->at_status = csv_column_find(&f->header, "status");
    f->at_reason = csv_column_find(&f->header, "reason");
    f->at_seconds = csv_column_find(&f->header, "seconds");
    f->at_evaluations = csv_column_find(&f->header, "evaluations");
    f->at_exchanged = csv_column_find(&f->header, "exchanged_from"); /* not everywhere */
    if (f->at_status == f->header.n || f->at_reason == f->header.n || f->at_seconds == f->header.n ||
        f->at_evaluations == f->header.n)
        return dse_fail_at(err, DSE_BAD_INPUT, f->csv_path, 1, "not a journal of dse");
    const struct followed_row source = {&f->header, f->at_status,
                                        f->known && header_fits(f) ? &f->schema : NULL};
    if (set->front)
        DSE_TRY(front_points_bind(set->front, &source, err));
    return set->best ? best_slices_bind(set->best, &f->header, f->at_status, err) : DSE_OK;
}

static void add_reason(struct follow *f, struct reason_groups *reasons, enum result_status outcome,
                       uint64_t order, const uint32_t *index)
{
    struct text_buffer place;
    struct reason_group *group = reason_groups_add(reasons, outcome, f->split.field[f->at_reason], order);
    if (!group)
        return;
    text_init(&place);
    if (index)
        not_ok_place_of(&f->schema, index, &place);
    for (size_t c = 0; !index && c < f->at_status; c++)
        text_append(&place, "%s%s=%s", c ? " " : "", f->header.field[c], f->split.field[c]);
    reason_group_place(group, place.data ? place.data : "");
    text_free(&place);
}

/* Whether the current row counts: where a cell has two, it is the exchanged one. Without a schema cells are
 * not known, and the other one counts. */
static enum dse_status counts(struct follow *f, bool fits, uint64_t cell, bool *out, struct dse_error *err)
{
    const bool exchanged = f->at_exchanged < f->split.n && f->split.field[f->at_exchanged][0];
    bool is_new;
    *out = exchanged ? fits : !f->has_exchanged || !fits || !cell_set_has(&f->exchanged, cell);
    if (!exchanged || !fits)
        return DSE_OK;
    if (!f->has_exchanged)
        DSE_TRY(cell_set_init(&f->exchanged, schema_n_cell(&f->schema), err));
    f->has_exchanged = true;
    DSE_TRY(cell_set_add(&f->exchanged, cell, &is_new, err));
    f->again |= is_new;
    return DSE_OK;
}

/* The current line, which is whole. */
static enum dse_status take_row(struct follow *f, struct follow_set *set, bool fits, struct dse_error *err)
{
    uint32_t index[RESULT_AXIS_MAX];
    uint64_t order = (uint64_t)f->reader.number, evaluations;
    enum result_status outcome;
    double seconds;
    if (line_reader_split(&f->reader, &f->split, NULL) != DSE_OK || f->split.n != f->header.n ||
        !result_status_find(f->split.field[f->at_status], &outcome)) {
        if (f->n_bad_line++ == 0)
            f->first_bad_line = (uint64_t)f->reader.number;
        return DSE_OK;
    }
    if (fits && !axis_places_find(f->places, &f->split, index, &order)) {
        f->n_foreign++;
        return DSE_OK;
    }
    bool counted;
    DSE_TRY(counts(f, fits, order, &counted, err));
    if (!counted)
        return DSE_OK;
    f->n_point++;
    f->n_status[outcome]++;
    if (text_parse_u64(f->split.field[f->at_evaluations], &evaluations))
        f->evaluations += evaluations;
    if (text_parse_double(f->split.field[f->at_seconds], &seconds))
        f->seconds += seconds;
    if (outcome != RESULT_OK || f->split.field[f->at_reason][0])
        add_reason(f, set->reasons, outcome, order, fits ? index : NULL);
    const struct followed_row source = {&f->header, f->at_status, fits ? &f->schema : NULL};
    if (set->front && outcome == RESULT_OK)
        DSE_TRY(front_points_add(set->front, &source, &f->split, index, order, err));
    if (!set->best)
        return DSE_OK;
    return best_slices_add(set->best, &source, &f->split, outcome == RESULT_OK, index, err);
}

/* All whole lines that are there now; the table is open. */
static enum dse_status read_lines(struct follow *f, struct follow_set *set, struct dse_error *err)
{
    bool more = true, fits = f->header.n > 0 && f->known && header_fits(f);
    for (;;) {
        DSE_TRY(line_reader_next(&f->reader, &more, err));
        if (!more)
            return DSE_OK;
        if (f->header.n > 0) {
            DSE_TRY(take_row(f, set, fits, err));
            continue;
        }
        DSE_TRY(take_header(f, set, err));
        fits = f->known && header_fits(f);
    }
}

static enum dse_status read_rows(struct follow *f, struct follow_set *set, struct dse_error *err)
{
    enum dse_status status;
    if (open_table(f, &status, err)) {
        status = read_lines(f, set, err);
        f->next = f->reader.next;
        f->number = f->reader.number;
    }
    line_reader_close(&f->reader);
    return status;
}

/* ---------------------------------------- all */

static enum dse_status follow_init(struct follow *f, const char *out, struct dse_error *err)
{
    f->out = out;
    arena_init(&f->arena);
    csv_row_init(&f->header);
    csv_row_init(&f->split);
    f->rate = f->eta_s = f->running_s = NAN;
    if (!result_path(f->csv_path, sizeof f->csv_path, out, ".csv") ||
        !result_path(f->h5_path, sizeof f->h5_path, out, ".h5"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    return DSE_OK;
}

enum dse_status follow_set_open(struct follow_set *set, char *const *out, size_t n, struct best_slices *best,
                                struct front_points *front, struct dse_error *err)
{
    memset(set, 0, sizeof *set);
    set->best = best;
    set->front = front;
    set->each = calloc(n, sizeof *set->each);
    set->reasons = calloc(1, sizeof *set->reasons);
    if (!set->each || !set->reasons)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu outputs", n);
    for (; set->n < n; set->n++)
        DSE_TRY(follow_init(&set->each[set->n], out[set->n], err));
    return DSE_OK;
}

void follow_set_close(struct follow_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        struct follow *f = &set->each[i];
        line_reader_close(&f->reader);
        csv_row_free(&f->header);
        csv_row_free(&f->split);
        forget_exchanged(f);
        forget_schema(f);
    }
    free(set->each);
    free(set->reasons);
    memset(set, 0, sizeof *set);
}

/* The lock is read before the rows: a run that ends in between is then seen to run, and not to be stopped for
 * want of rows. */
static enum dse_status refresh(struct follow *f, bool *changed, struct dse_error *err)
{
    bool locked = lock_read(f->out, &f->owner);
    f->state = !locked ? FOLLOW_STOPPED : f->owner.held ? FOLLOW_RUNNING : FOLLOW_KILLED;
    DSE_TRY(refresh_schema(f, changed, err));
    return refresh_table(f, changed, err);
}

static void judge_state(struct follow *f)
{
    if (f->state == FOLLOW_RUNNING)
        return;
    if (!f->begun)
        f->state = FOLLOW_ABSENT;
    else if (f->n_expected > 0 && f->n_point >= f->n_expected)
        f->state = FOLLOW_COMPLETE;
}

/* Forget all that was counted, to read it again. */
static enum dse_status begin_anew(struct follow_set *set, struct dse_error *err)
{
    bool changed;
    reason_groups_clear(set->reasons);
    if (set->best)
        best_slices_clear(set->best);
    if (set->front)
        front_points_clear(set->front);
    for (size_t i = 0; i < set->n; i++) {
        forget_rows(&set->each[i]);
        DSE_TRY(refresh_table(&set->each[i], &changed, err));
    }
    return DSE_OK;
}

static enum dse_status read_all_rows(struct follow_set *set, bool *again, struct dse_error *err)
{
    *again = false;
    for (size_t i = 0; i < set->n; i++) {
        DSE_TRY(read_rows(&set->each[i], set, err));
        *again |= set->each[i].again;
    }
    return DSE_OK;
}

enum dse_status follow_set_poll(struct follow_set *set, struct dse_error *err)
{
    bool changed = false, again;
    for (size_t i = 0; i < set->n; i++)
        DSE_TRY(refresh(&set->each[i], &changed, err));
    for (size_t i = 0; i < set->n && changed; i++)
        forget_exchanged(&set->each[i]);
    if (changed)
        DSE_TRY(begin_anew(set, err));
    DSE_TRY(read_all_rows(set, &again, err));
    if (again) {
        DSE_TRY(begin_anew(set, err));
        DSE_TRY(read_all_rows(set, &again, err));
    }
    for (size_t i = 0; i < set->n; i++) {
        judge_state(&set->each[i]);
        judge_rate(&set->each[i]);
    }
    return DSE_OK;
}

bool follow_set_any(const struct follow_set *set, enum follow_state state)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->each[i].state == state)
            return true;
    return false;
}
