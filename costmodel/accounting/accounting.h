/* Accountings: constant structs that say what a mapping or a schedule costs. One for mappings of loop
 * nests is compiled once for a loop nest and a machine and then prices many mappings; callers see it
 * through costmodel/accounting/evaluator.h. One for schedules of whole networks is compiled once for a
 * network and a machine and then prices schedules; callers see it through costmodel/fused/schedule_pricer.h.
 * Adding an accounting = one folder, one line in costmodel/accounting_registry.c. */
#ifndef COSTMODEL_ACCOUNTING_ACCOUNTING_H
#define COSTMODEL_ACCOUNTING_ACCOUNTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

struct cells;               /* base/report.h */
struct cell_column;         /* the same */
struct evaluation;          /* costmodel/accounting/evaluator.h */
struct evaluation_detail;   /* the same */
struct schedule_accounting; /* costmodel/fused/schedule_pricer.h */

enum accounting_kind { ACCOUNTING_MAPPING, ACCOUNTING_SCHEDULE };

/* What no valid mapping of a loop nest on a machine can be below. All 0: nothing is known. */
struct lower_bound {
    double latency_s;
    double energy_j;
    double edp_js; /* at least latency_s * energy_j */
};

/* What every accounting's compiled form begins with. The accounting's own struct follows (evaluator_byte). */
struct evaluator {
    const struct accounting *accounting;
    struct problem problem;
    struct architecture arch;
};

/* The same for the scratch memory of one thread. */
struct eval_workspace {
    const struct accounting *accounting;
};

/* One report of mappings in an accounting's own text form. */
struct point_report {
    const char *name;     /* `dse eval --report NAME` */
    const char *sentence; /* what it has */
    const struct cell_column *column;
    size_t n_column;
    /* Append the rows of one mapping, from line `line` of its file, which `fits` or is priced all the same.
     * */
    void (*rows)(const struct evaluator *evaluator, const struct mapping *mapping, int line, bool fits,
                 struct cells *rows);
};

/* A text form of mappings, one a line, that an accounting has beside the mapping files of all. */
struct point_format {
    const char *name; /* what messages call such a line */
    /* Is this the text of a file of such lines? */
    bool (*is)(const char *text, size_t length);
    /* Read a line without its end. DSE_BAD_INPUT with path, line and column. */
    enum dse_status (*read)(const char *text, size_t length, const char *path, int line,
                            const struct problem *problem, const struct architecture *arch,
                            struct mapping *mapping, struct dse_error *err);
    /* What such lines call the problem's dimensions. */
    void (*name_dims)(const struct problem *problem, const char *name[PROBLEM_DIM_MAX]);
    const struct point_report *report; /* (n_report), the first for want of a choice */
    size_t n_report;
};

/* A list of problems in a CSV file, each of which is priced by itself (`dse eval ARCH LIST.csv`). */
struct list_format {
    const char *name; /* what messages call a row: "uop" */
    /* (n_column) the columns that are read, of whole numbers from 1 to 2^32 - 1; those after the first
     * n_required may be missing, and are 1 then */
    const char *const *column;
    size_t n_column, n_required;
    const struct cell_column *out; /* (n_out) of the report, behind its first: `row`, counted from 0 */
    size_t n_out;
    /* Does it price rows on this machine, which the accounting accepts? DSE_BAD_INPUT with the reason. */
    enum dse_status (*accepts)(const struct architecture *arch, struct dse_error *err);
    /* Append the n_out cells of one row on such a machine, with `value` (n_column). Errors of values that
     * cannot be priced, without a place. */
    enum dse_status (*row)(const struct architecture *arch, const uint32_t *value, struct cells *cells,
                           struct dse_error *err);
};

/* The members behind `schedule` are those of ACCOUNTING_MAPPING, all required but where NULL is said; their
 * contracts are those of the functions of evaluator.h that call them. */
struct accounting {
    const char *name;    /* as in the results' column `accounting` */
    const char *summary; /* one sentence */
    enum accounting_kind kind;
    /* Does it price this machine, which passes architecture_check? DSE_BAD_INPUT with the reason. NULL: it
     * prices every one. */
    enum dse_status (*accepts)(const struct architecture *arch, struct dse_error *err);

    const struct list_format *list; /* NULL: it has none */
    /* of ACCOUNTING_SCHEDULE where schedules are fused ones (schedule_pricer.h); else NULL */
    const struct schedule_accounting *schedule;

    size_t evaluator_byte;
    /* Compile a zeroed evaluator whose accounting and problem are set; sets its machine. */
    enum dse_status (*compile)(struct evaluator *evaluator, const struct architecture *arch,
                               struct dse_error *err);
    /* Compile for another machine; on failure the evaluator stays what it was. */
    enum dse_status (*move)(struct evaluator *evaluator, const struct architecture *arch,
                            struct dse_error *err);
    /* The accounting of a workspace is set by the caller. */
    enum dse_status (*workspace_new)(const struct evaluator *evaluator, struct eval_workspace **out,
                                     struct dse_error *err);
    bool (*workspace_fits)(const struct eval_workspace *workspace, const struct evaluator *evaluator);
    void (*workspace_delete)(struct eval_workspace *workspace);
    bool (*run)(const struct evaluator *evaluator, struct eval_workspace *workspace,
                const struct mapping *mapping, struct evaluation *out);
    enum dse_status (*detail)(const struct evaluator *evaluator, const struct mapping *mapping,
                              struct arena *arena, struct evaluation_detail *out, struct dse_error *err);
    /* What evaluator_tensor_energy says; NULL: it cannot. */
    double (*tensor_energy)(const struct evaluator *evaluator, const struct eval_workspace *workspace,
                            uint32_t level, uint32_t tensor);
    /* The independent checker: may the mapping be priced at all? On false `reason` (size bytes) says why
     * not. It shares no code with `run` and `detail`. */
    bool (*check)(const struct problem *problem, const struct architecture *arch,
                  const struct mapping *mapping, char *reason, unsigned long size);
    /* NULL: no bound is known. */
    void (*bound)(const struct problem *problem, const struct architecture *arch, struct lower_bound *out);
    /* Does the bound hold for this mapping? Required with a bound. */
    bool (*bound_applies)(const struct problem *problem, const struct architecture *arch,
                          const struct mapping *mapping);
    const struct point_format *points; /* NULL: it has none */
    /* The place of a loop of one iteration in a level's temporal order counts, where the level's copies are
     * spread over it. */
    bool orders_spatial;
};

/* Registry (costmodel/accounting_registry.c): every accounting, in the order help shows them; find by name
 * (NULL if none). */
const struct accounting *const *accounting_all(size_t *n);
const struct accounting *accounting_find(const char *name);

/* accounting_find for a name that a user wrote: DSE_BAD_INPUT when there is none, with the nearest. */
DSE_MUST_CHECK enum dse_status accounting_named(const char *name, const struct accounting **out,
                                                struct dse_error *err);

/* The one for want of a choice: the first of its kind that prices this machine; when none does, the first. */
const struct accounting *accounting_standard(enum accounting_kind kind, const struct architecture *arch);

/* Does it price this machine? DSE_BAD_INPUT names accounting and reason. */
DSE_MUST_CHECK enum dse_status accounting_accepts(const struct accounting *accounting,
                                                  const struct architecture *arch, struct dse_error *err);

#endif
