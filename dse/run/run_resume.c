/* What the journal holds already when a run begins. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hdf5/hdf5_guard.h"
#include "dse/exchange/exchange.h"
#include "dse/run/run_restore.h"
#include "dse/run/run_state.h"
#include "dse/spec/keys.h"
#include "dse/spec/spec_diff.h"
#include "results/cube/cube_origin.h"
#include "results/cube/cube_read.h"
#include "results/cube/merge.h"
#include "results/record/csv_line.h"

/* While the journal is read. */
struct resume {
    struct run *run;
    struct machine machine;
    size_t at_reason;           /* column of the reason */
    bool retry;                 /* failed and timed-out points are computed again */
    uint64_t n_kept, n_foreign; /* rows of points of this sweep; rows of anything else */
    bool drops;                 /* rows go on purpose */
    uint64_t n_cube, origin;    /* points that OUT.h5 holds, and what it was built from; 0: not known */
    bool restoring;
    struct run_restore restore; /* while `restoring` */
};

/* The number of the row's point when the row is what this sweep would compute, else SIZE_MAX. */
static enum dse_status find_point(struct resume *resume, const struct journal_row *row, size_t *number,
                                  struct dse_error *err)
{
    const struct sweep *sweep = resume->run->sweep;
    struct sweep_point point;
    struct point_keys keys;
    size_t p = row->cell == JOURNAL_NO_CELL ? SIZE_MAX : sweep_point_at(sweep, row->cell);
    *number = SIZE_MAX;
    if (p == SIZE_MAX)
        return DSE_OK;
    sweep_point(sweep, p, &point);
    if (!keys_of_point(&resume->machine, &point, &keys))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the key of a point");
    if (keys.point != row->key)
        return DSE_OK;
    *number = p;
    if (row->seconds > 0)
        search_time_learn_point(resume->run->search_time, point.index, row->seconds);
    return DSE_OK;
}

/* The lines of `text`, indented. */
static void print_lines(const struct text_buffer *text, FILE *out)
{
    for (const char *at = text->data; at && *at;) {
        int length = (int)strcspn(at, "\n");
        fprintf(out, "  %.*s\n", length, at);
        at += length + (at[length] == '\n');
    }
}

/* Print `heading` and what the result file that is there differs by from this sweep; false, and nothing, when
 * results do not differ or that cannot be told: no cube, or none that can be read. */
static bool tell_differences(const struct run *run, const char *heading)
{
    struct text_buffer text;
    struct spec_changes changes = {0};
    text_init(&text);
    bool known = spec_diff(run->options->out, run->sweep, &text, &changes, NULL) == DSE_OK &&
                 text.length > 0 && changes.n_result + changes.n_axis > 0;
    if (known) {
        fprintf(run->options->err, "dse: %s:\n", heading);
        print_lines(&text, run->options->err);
    }
    text_free(&text);
    return known;
}

static bool tell_conflict(const struct run *run)
{
    char heading[4200];
    snprintf(heading, sizeof heading, "the specification differs from that of %s", run->options->out);
    return tell_differences(run, heading);
}

/* OUT.h5 was built from rows that are not there any more. Computing them anew must not go unnoticed. */
static enum dse_status refuse_loss(const struct resume *resume, struct dse_error *err)
{
    char path[4096];
    const struct run *run = resume->run;
    uint64_t n = resume->n_kept + resume->n_foreign;
    if (!result_path(path, sizeof path, run->options->out, ".csv"))
        path[0] = '\0';
    if (run->options->repair)
        return dse_fail_at(
            err, DSE_BAD_INPUT, path, 0,
            "holds %" PRIu64 " points, %s beside it %" PRIu64
            ", but of another specification or version of dse, so that they cannot be taken from "
            "there; restore the table from a copy, or move %s away to go on without it",
            n, run->options->out, resume->n_cube, run->options->out);
    return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                       "holds %" PRIu64 " whole points, %s beside it %" PRIu64
                       " (was the table emptied or cut?); --repair takes the missing ones from there; else "
                       "restore the table from a copy, or use --fresh to compute all anew",
                       n, run->options->out, resume->n_cube);
}

/* Rows of another specification: nothing is mixed, nothing thrown away unasked. */
static enum dse_status refuse(const struct resume *resume, struct dse_error *err)
{
    char path[4096];
    const struct run *run = resume->run;
    if (!result_path(path, sizeof path, run->options->out, ".csv"))
        path[0] = '\0';
    if (!tell_conflict(run))
        fprintf(run->options->err,
                "dse: some points that are there are of another specification or version of dse\n");
    return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                       "%" PRIu64 " of its %" PRIu64 " points are not of this specification; --update keeps "
                       "what both have and moves the others to OUT.dropped.csv, --fresh throws all away, -o "
                       "writes elsewhere",
                       resume->n_foreign, resume->n_foreign + resume->n_kept);
}

/* The last chance to refuse. A cube of rows that are about to go would later seem to be of rows that were
 * lost. */
static enum dse_status settle(struct resume *resume, struct dse_error *err)
{
    const struct run *run = resume->run;
    if (resume->n_foreign > 0 && !run->options->update)
        return refuse(resume, err);
    if (resume->n_kept + resume->n_foreign < resume->n_cube)
        return refuse_loss(resume, err);
    if ((resume->drops || run->options->fresh) && board_restarts(run->board) == 0)
        unlink(run->options->out);
    if (resume->n_kept > 0 && resume->n_foreign == 0)
        (void)tell_differences(run, "the specification has changed; all points that are there are kept");
    return DSE_OK;
}

static void tell(const struct resume *resume, const struct journal_row *row, size_t number)
{
    struct point_record record;
    point_record_init(&record);
    record.index = row->index;
    record.key = row->key;
    record.outcome = row->outcome;
    record.seconds = row->seconds;
    record.reason = resume->at_reason < row->split->n ? row->split->field[resume->at_reason] : "";
    run_tell_point(resume->run, number, &record, true);
}

bool run_exchanges(const struct run *run)
{
    return exchange_is_wanted(run->sweep) && run->options->n_shard <= 1;
}

/* An exchanged row, which follows from those of searches: it stays where these are all there before it, and
 * nothing else is. */
static enum dse_status visit_exchanged(struct resume *resume, const struct journal_row *row,
                                       enum journal_verdict *verdict, struct dse_error *err)
{
    const struct run *run = resume->run;
    struct journal_row same = *row;
    size_t p = SIZE_MAX;
    same.seconds = 0; /* those are the search's, and known */
    if (run_exchanges(run) && resume->n_kept == run->sweep->n_point && resume->n_foreign == 0 &&
        !resume->drops)
        DSE_TRY(find_point(resume, &same, &p, err));
    *verdict = p == SIZE_MAX ? JOURNAL_FORGET : JOURNAL_KEEP;
    return DSE_OK;
}

static enum dse_status visit(void *user, const struct journal_row *row, enum journal_verdict *verdict,
                             struct dse_error *err)
{
    struct resume *resume = user;
    struct run *run = resume->run;
    size_t p;
    if (atomic_load(&run->watch.cancel))
        return dse_fail(
            err, DSE_INTERRUPTED,
            "interrupted while what is there was read; nothing was changed, the same command resumes");
    if (!row)
        return settle(resume, err);
    if (row->exchanged)
        return visit_exchanged(resume, row, verdict, err);
    DSE_TRY(find_point(resume, row, &p, err));
    if (p == SIZE_MAX) {
        resume->n_foreign++;
        *verdict = run->options->update ? JOURNAL_DROP : JOURNAL_KEEP;
        resume->drops |= run->options->update;
        return DSE_OK;
    }
    resume->n_kept++;
    if (resume->retry && (row->outcome == RESULT_FAILED || row->outcome == RESULT_TIMEOUT)) {
        *verdict = JOURNAL_DROP;
        resume->drops = true;
        return DSE_OK;
    }
    bits_set(&run->done, p);
    tell(resume, row, p);
    return DSE_OK;
}

/* One more point that the table has lost and OUT.h5 holds. Those that would only be computed again are left
 * out, as those that have another's schedule are: what their own searches found is not there. */
static enum dse_status restore_point(void *user, const struct cell_set *seen, struct journal_lines *lines,
                                     bool *more, struct dse_error *err)
{
    struct resume *resume = user;
    struct run_restore *restore = &resume->restore;
    struct run *run = resume->run;
    size_t p = SIZE_MAX;
    *more = resume->n_kept + resume->n_foreign < resume->n_cube;
    if (*more && !resume->restoring) {
        resume->restoring = true;
        DSE_TRY(run_restore_open(restore, run->options->out, &run->schema, err));
    }
    while (*more && p == SIZE_MAX) {
        DSE_TRY(run_restore_next(restore, seen, more, err));
        if (!*more)
            return DSE_OK;
        struct point_record *point = &restore->point.point;
        const struct journal_row row = {.cell = restore->cell, .key = point->key, .seconds = point->seconds};
        bool again = point->exchanged_from ||
                     (resume->retry && (point->outcome == RESULT_FAILED || point->outcome == RESULT_TIMEOUT));
        DSE_TRY(find_point(resume, &row, &p, err));
        resume->n_kept++;
        resume->drops |= again;
        p = again ? SIZE_MAX : p;
    }
    if (!*more)
        return DSE_OK;
    DSE_TRY(run_restore_lines(restore, lines, err));
    bits_set(&run->done, p);
    run_tell_point(run, p, &restore->point.point, true);
    return DSE_OK;
}

/* What the run before left, and what became of it. */
static void note_recovery(const struct run *run, const struct journal_report *report)
{
    FILE *err = run->options->err;
    if (report->stale.pid > 0 && board_restarts(run->board) == 0)
        fprintf(
            err,
            "dse: note: the run of process %ld on %s, begun %s, was cut short; going on from what it wrote\n",
            report->stale.pid, report->stale.host, report->stale.since);
    if (report->widened)
        fprintf(
            err,
            "dse: note: the tables lacked columns that this version or specification has; their rows stay as "
            "they were computed, blank in these (--fresh computes all anew)\n");
    if (report->mended)
        fprintf(err, "dse: note: the tables had another header or other line ends; they have been mended\n");
    if (report->n_restored > 0)
        fprintf(err, "dse: note: %" PRIu64 " point%s that the tables had lost taken from %s\n",
                report->n_restored, report->n_restored == 1 ? "" : "s", run->options->out);
    if (report->n_damaged + report->n_cut > 0 && report->n_restored > 0)
        fprintf(err,
                "dse: note: damaged lines of the tables, or such without layers: %" PRIu64 ", moved to %s\n",
                report->n_damaged + report->n_cut, report->damaged_path);
    else if (report->n_damaged + report->n_cut > 0)
        fprintf(err,
                "dse: note: %" PRIu64
                " line%s of the tables, damaged or without layers: moved to %s, and computed again\n",
                report->n_damaged + report->n_cut, report->n_damaged + report->n_cut == 1 ? "" : "s",
                report->damaged_path);
    else if (report->torn && report->n_restored == 0)
        fprintf(err, "dse: note: the last line of the tables was not whole; its point is computed again\n");
}

/* What OUT.h5 holds, as far as it can be trusted. */
static void look_at_cube(struct resume *resume)
{
    const struct run *run = resume->run;
    const char *out = run->options->out;
    if (run->options->fresh || board_restarts(run->board) > 0 || access(out, F_OK) != 0)
        return;
    resume->origin = hdf5_origin(out);
    if (resume->origin != 0 || hdf5_check(out, "", NULL) == DSE_OK)
        resume->n_cube = cube_read_count(out);
}

/* A cube without its table may be all that is left of a sweep. */
static enum dse_status guard_cube(const struct resume *resume, struct dse_error *err)
{
    char csv[4096];
    const struct run *run = resume->run;
    const char *out = run->options->out;
    uint64_t n = resume->n_cube;
    if (n == 0 || run->options->repair || !result_path(csv, sizeof csv, out, ".csv") ||
        access(csv, F_OK) == 0)
        return DSE_OK;
    return dse_fail_at(err, DSE_BAD_INPUT, out, 0,
                       "holds %" PRIu64
                       " point%s, but its table %s is gone; --repair makes it anew from here; else restore "
                       "that file from a copy, or use --fresh to throw the points away and start anew, or -o "
                       "to write elsewhere",
                       n, n == 1 ? "" : "s", csv);
}

enum dse_status run_resume(struct run *run, struct dse_error *err)
{
    bool first =
        board_restarts(run->board) == 0; /* else what is to go has gone, and what is there is of this run */
    struct resume resume = {
        .run = run, .at_reason = csv_coordinates(&run->schema) + 1, .retry = run->options->retry && first};
    struct journal_options how = {
        .fresh = run->options->fresh && first,
        .repair = run->options->repair,
        .sync_s = RUN_SYNC_S,
        .command = run->options->command,
        .visit = visit,
        .restore = restore_point,
        .user = &resume,
    };
    bool finished;
    machine_init(&resume.machine, run->sweep);
    DSE_TRY(
        merge_finish(run->options->out, &finished, err)); /* a merge that was killed between its renames */
    look_at_cube(&resume);
    DSE_TRY(guard_cube(&resume, err));
    enum dse_status status = journal_open(run->options->out, &run->schema, how, &run->journal, err);
    if (resume.restoring)
        run_restore_free(&resume.restore);
    if (status == DSE_BAD_INPUT && resume.n_foreign == 0)
        (void)tell_conflict(run); /* as when other axes make other columns */
    DSE_TRY(status);
    const struct journal_report *report = journal_report(run->journal);
    note_recovery(run, report);
    run->summary->n_dropped = (size_t)report->n_dropped;
    memcpy(run->summary->dropped_path, report->dropped_path, sizeof run->summary->dropped_path);
    for (size_t p = 0; p < run->sweep->n_point; p++) {
        bool mine = bits_has(&run->mine, p);
        run->summary->n_point += mine;
        run->summary->n_reused += mine && bits_has(&run->done, p);
    }
    run->schema.n_point_shard = run->summary->n_point;
    run->schema.exchanged = run_exchanges(run) && run->summary->n_reused == run->summary->n_point;
    run->cube_is_current =
        resume.origin != 0 && resume.origin == cube_origin(&run->schema, &run->provenance, report->digest);
    run->schema.exchanged = run->schema.exchanged && run->cube_is_current;
    for (const struct run_observer *who = run->options->observer; who; who = who->next)
        if (who->begun)
            who->begun(who->user, run->summary->n_point, run->summary->n_reused, run->options->n_thread);
    return DSE_OK;
}
