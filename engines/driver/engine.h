/* Engines: constant structs that find a mapping for a layer (mapper) or a schedule for a network (scheduler).
 * An engine advances in batches (`step`); the one driver, engine_solve, owns budget, clock, trace, the
 * independent check and the choice of the best. Adding an engine = one folder, one line in registry.c, one
 * page of documentation. */
#ifndef ENGINES_DRIVER_ENGINE_H
#define ENGINES_DRIVER_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/report.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/accounting/evaluator.h"
#include "engines/driver/engine_schedule.h"
#include "engines/driver/objective.h"

struct core_cache;           /* costmodel/fused/core_cache.h */
struct engine_question;      /* engines/driver/engine_fit.h */
struct known_bounds;         /* engines/driver/known_bounds.h */
struct mapspace;             /* engines/mapspace/mapspace.h */
struct mapspace_constraints; /* engines/mapspace/mapspace_constraints.h */
struct network;              /* costmodel/model/network.h */
struct unrolling;            /* costmodel/interstellar/unrolling.h */

enum engine_kind { ENGINE_MAPPER, ENGINE_SCHEDULER };

/* Why a search ended. */
#define ENGINE_STOP_LIST(X)                                                                                  \
    X(STOP_RUNNING, "running")                                                                               \
    X(STOP_OPTIMAL, "optimal")                 /* proved: no mapping of the space is better */               \
    X(STOP_CONVERGED, "converged")             /* the engine's own rule, e.g. its victory condition */       \
    X(STOP_MAX_EVALUATIONS, "max_evaluations") /* budget */                                                  \
    X(STOP_MAX_SECONDS, "max_seconds")         /* budget */                                                  \
    X(STOP_INTERRUPTED, "interrupted")         /* the cancel flag */                                         \
    X(STOP_SOLVER_LIMIT, "solver_limit")       /* the limit of an engine's inner solver, e.g. its nodes */

enum engine_stop {
#define ENGINE_STOP_ENUM(code, text) code,
    ENGINE_STOP_LIST(ENGINE_STOP_ENUM)
#undef ENGINE_STOP_ENUM
};

const char *engine_stop_text(enum engine_stop stop);

/* One option of an engine. Values are doubles: integers up to 2^53, booleans 0/1, choices by index, files by
 * the id of struct engine_file, up to 2^53 (0: none). */
enum option_kind { OPTION_INTEGER, OPTION_REAL, OPTION_BOOL, OPTION_CHOICE, OPTION_FILE };

struct engine_option {
    const char *name;
    const char *sentence; /* what it does, for help, docs and HDF5 attributes */
    const char *unit;     /* "" when it has none */
    enum option_kind kind;
    double standard;           /* the default */
    double lowest, highest;    /* inclusive */
    const char *const *choice; /* (highest + 1) names for OPTION_CHOICE, else NULL */
};

/* A file that an option names, as its engine has read it. The option's value is the id: what is in the file
 * identifies a search, where it lies does not. */
struct engine_file {
    double id;           /* engine_file_id of its bytes */
    const void *content; /* as engine->read_file made it; const, shared by threads */
};

/* The low 53 bits of the XXH3-64 of the bytes, or 1 where they are 0. */
double engine_file_id(const void *bytes, size_t n_byte);

/* How much an engine may spend on one task. 0 means no limit. `cancel` (may be NULL) is polled between
 * batches; the first batch is made however long init has taken. */
struct engine_budget {
    uint64_t max_evaluations;
    double max_seconds;
    const atomic_int *cancel;
};

/* A price that is too slow for every mapping of a search: it chooses among the best ones. */
struct engine_slow_price {
    uint32_t n; /* mappings that get it at most, of different costs; at least 1 */
    void *self; /* handed to the hooks */
    /* What `cycles` will be about, in microseconds: by it the search tells which are the best ones. 0: it
     * will have none. NULL: the cycles of the evaluation. */
    double (*guess)(void *self, const struct problem *problem, const struct mapping *mapping);
    /* The cycles of one execution of a mapping; 0: it has none. DSE_INTERRUPTED soon after the task was
     * cancelled; DSE_NO_MEMORY, DSE_INTERNAL. */
    enum dse_status (*cycles)(void *self, const struct problem *problem, const struct mapping *mapping,
                              uint64_t *cycle, struct dse_error *err);
};

/* How much may be spent on the lower bounds of a mapping that was found. */
#define BOUND_EFFORT_LIST(X)                                                                                 \
    X(BOUND_AUTO, "auto")          /* a tenth of the search, in evaluations */                               \
    X(BOUND_EFFORT_QUICK, "quick") /* nothing: the accounting's own */                                       \
    X(BOUND_STRONG, "strong")      /* what it takes, up to BOUND_STRONG_EVALUATIONS */

/* What the lower bound of the objective is, the weakest first. */
#define BOUND_KIND_LIST(X)                                                                                   \
    X(BOUND_QUICK, "quick")     /* the accounting's own: one for all spatial factors */                      \
    X(BOUND_SPREADS, "spreads") /* the least over all spatial factors */                                     \
    X(BOUND_TILES, "tiles")     /* of those that come first, over all tiles as well */                       \
    X(BOUND_PROOF, "proof")     /* no mapping is better */

#define BOUND_ENUM(code, text) code,
enum bound_effort { BOUND_EFFORT_LIST(BOUND_ENUM) BOUND_EFFORT_COUNT };
enum bound_kind { BOUND_KIND_LIST(BOUND_ENUM) BOUND_KIND_COUNT };
#undef BOUND_ENUM

enum { BOUND_STRONG_EVALUATIONS = 5000000 };

const char *bound_kind_text(enum bound_kind kind);

/* The effort of a word. DSE_BAD_INPUT with what is accepted. */
DSE_MUST_CHECK enum dse_status bound_effort_parse(const char *word, enum bound_effort *effort,
                                                  struct dse_error *err);

/* A mapping whose lower bounds are asked for: the loop nest and machine, and what it costs. */
struct bound_question {
    const struct problem *problem;
    const struct architecture *arch;
    const struct mapspace_constraints *constraints; /* NULL: none */
    const struct mapspace *space;                   /* of these, the mapping's */
    struct objective objective;                     /* the first to be bounded */
    double energy_j, latency_s;
    uint64_t work;            /* in tenths of an evaluation */
    const atomic_int *cancel; /* may be NULL; then the bounds do not matter any more */
};

/* What is to be solved. All pointers are borrowed and const for the whole search. */
struct engine_task {
    const struct evaluator *evaluator; /* mapper: problem + architecture, compiled */
    struct eval_workspace *workspace;  /* mapper: scratch for it; NULL: the driver's own */
    /* mapper: evaluator_bound of the same; NULL: the driver computes it */
    const struct lower_bound *bound;
    /* mapper: chooses at the end, by the objective with its cycles for the delay; the lower bound does not
     * end the search then, and half of the budget's seconds is for it. NULL: the best cost counts */
    const struct engine_slow_price *slow;
    const struct mapspace_constraints *constraints; /* mapper: may be NULL (none) */
    const struct network *network;                  /* scheduler: the whole network; NULL for a mapper */
    const struct architecture *architecture;        /* always set */
    uint32_t batch;
    struct objective objective;
    bool front;                     /* mapper: one of the searches that make a front */
    uint64_t cycle_limit;           /* mapper: no mapping counts that takes more cycles; 0: no limit */
    const struct mapping *start;    /* mapper: one that is within the limit, to begin with; NULL: none */
    const double *option;           /* (engine->n_option) values in table order */
    const struct engine_file *file; /* (n_file) among them those that options name */
    size_t n_file;
    uint64_t seed;
    uint64_t key; /* content hash of the task: with the seed it makes the random streams */
    struct engine_budget budget;
    enum bound_effort bound_effort; /* mapper: for the lower bounds of what is found */
    /* mapper: of earlier tasks, shared by threads; NULL: none. Never changes what is found or counted */
    struct known_bounds *known;
    /* scheduler: costs of tiles, shared by tasks and threads; NULL: the engine's own */
    struct core_cache *core_cache;
    /* scheduler: threads it may use for independent starts; 0 counts as 1. Never changes what is found */
    int n_thread;
};

/* One improvement of the best: after so many evaluations and seconds of processor time, this cost. */
struct trace_point {
    uint64_t evaluation;
    double cost, seconds;
};

enum { ENGINE_REASON_MAX = 256, ENGINE_TRACE_MAX = 256 };

/* What was found. */
struct engine_result {
    bool feasible;
    /* mapper; valid when feasible; its factors multiply to `padded_bound` when padded */
    struct mapping mapping;
    struct evaluation evaluation; /* of that mapping; see engine_context_pad for what it counts when padded */
    /* scheduler; valid when feasible; its text is in the arena of engine_solve */
    struct engine_schedule schedule;
    double cost;
    double bound;                   /* a lower bound on the cost over the whole space; 0 when none is known */
    struct lower_bound lower_bound; /* mapper: of the problem searched, hence of the padded one when padded */
    enum bound_kind bound_kind;     /* mapper: what the one of the objective is */
    bool padded;                    /* a problem with larger bounds was searched */
    uint32_t padded_bound[PROBLEM_DIM_MAX]; /* (n_dim) the bounds searched; set when padded */
    enum engine_stop stop;
    uint64_t n_evaluation;          /* cost-model calls; schedules that were priced */
    uint64_t n_draw;                /* candidates looked at, valid or not */
    uint64_t slow_cycle;            /* of that mapping, by the task's slow price; 0: it has none */
    uint64_t n_slow;                /* mappings that got the slow price */
    double seconds;                 /* wall time; never part of any decision except max_seconds */
    char reason[ENGINE_REASON_MAX]; /* why nothing was found, e.g. the most frequent misfit with one sample */
    uint32_t n_trace;
    /* (n_trace) thinned so that first and last stay; the rest is unset */
    struct trace_point trace[ENGINE_TRACE_MAX];
};

/* What a search is expected to take before any has been seen, in processor seconds at about 3 GHz: of a loop
 * nest of usual size (mapper), or per layer and sample (scheduler). Mappers were measured by `dse run` on
 * conv2_0_b and conv4_0_c of ResNet-50, simba, edp, default options; schedulers on ResNet-50, soma_edge, 1
 * and 4 samples. Only the order of work and the cutting of shards depend on it. */
struct engine_effort {
    double fixed_s;        /* per search; 0: the engine says nothing, that of its kind is used */
    double evaluations;    /* until the engine ends by itself */
    double evaluation_s;   /* of one */
    const char *option[2]; /* the evaluations are in proportion to these, or NULL */
    const char *seconds;   /* an option that adds so many seconds, or NULL */
};

/* Columns of mappings that only one engine has. */
struct mapping_columns {
    const struct cell_column *column; /* (n) */
    size_t n;                         /* at most MAPPING_COLUMN_MAX */
    /* Append the n cells of a mapping. */
    void (*add)(const struct problem *problem, const struct architecture *arch, const struct mapping *mapping,
                const struct evaluation *evaluation, struct cells *row);
};

enum { MAPPING_COLUMN_MAX = 8 };

/* The dataflows that a task's array can have at all; `list` is in the caller's arena. */
struct engine_dataflows {
    uint32_t level; /* the one outside the array */
    size_t n;
    struct unrolling *list; /* (n) as constraints take them: mapspace_constraints_unroll */
};

struct engine_context; /* what the driver lends to a running engine: engines/driver/driver.h */

/* One way in which an engine can be priced, and the option value that is the same choice. */
struct engine_accounting {
    const struct accounting *accounting;
    const char *option; /* NULL: none */
    double value;
};

struct engine {
    const char *name;
    const char *summary; /* one sentence */
    enum engine_kind kind;
    /* The default first, ended by one without an accounting. NULL: a mapper by any accounting of mappings, a
     * scheduler by rules of its own that have no name to choose. */
    const struct engine_accounting *accounting;
    const struct engine_option *option; /* (n_option) */
    size_t n_option;
    /* Whose random streams it draws, by name, so that it finds what that engine finds; NULL: its own. */
    const char *streams_of;
    struct engine_effort effort;
    /* The name of an engine that starts from this one's answer and is never worse, and the evaluations that
     * tell whether it pays; NULL: none */
    const char *better;
    uint64_t better_evaluations;
    /* The name of an engine that is cheap beside this one, and the evaluations after which it should have
     * found nothing better: what sweeps try, to point to `better`; NULL: none */
    const char *probe;
    uint64_t probe_evaluations;
    /* scheduler: what only its schedules have (engine_schedule.own); NULL: nothing */
    const struct metric_group *group;
    /* scheduler: what they say of the search, as lines of the table for people; may be NULL */
    void (*remark)(const struct engine_schedule *found, struct text_buffer *out);
    /* mapper: what a table of its mappings has besides (`dse map`); NULL: nothing */
    const struct mapping_columns *columns;
    /* mapper: lists them by the task's options, in a fixed order (`dse map --each-dataflow`); NULL: it
     * cannot */
    enum dse_status (*dataflows)(const struct engine_task *task, struct arena *arena,
                                 struct engine_dataflows *out, struct dse_error *err);
    /* mapper: it heeds a task's cycle limit and proves what it finds, so that its searches make a front: the
     * objective pareto (dse/solve/exact_front.h) */
    bool proves_front;
    bool takes_hint; /* mapper: heeds constraints->hint; others get it as factors */
    /* The machines, networks and problems that it takes, in words for help. NULL: any that its accounting
     * prices; required with one of the hooks below */
    const char *takes_only;
    /* Does it take the machine, with the options and the accounting (engine_fit.h)? Pure, cheap and without a
     * search; asked before init, which need not ask again. DSE_BAD_INPUT, DSE_BAD_USAGE: one sentence with
     * level and reason. NULL: what the accounting prices */
    enum dse_status (*takes_machine)(const struct engine_question *question, struct dse_error *err);
    /* On such a machine, does it take the network (scheduler) or the evaluator's loop nest (mapper), with
     * batch, objective and constraints? As above; the sentence about a network names its layer. NULL: any */
    enum dse_status (*takes_task)(const struct engine_question *question, struct dse_error *err);
    /* The value of an option by which results are known: where two come to the same on the machine, one of
     * them. NULL: each as it is */
    double (*known_as)(const struct engine_question *question, size_t option);
    /* REQUIRED where an option is a file: make of its bytes what searches use, in `arena`, which outlives
     * them. DSE_BAD_INPUT: it is none of ours, or damaged; `path` is for the message. */
    enum dse_status (*read_file)(size_t option, const char *path, const void *bytes, size_t n_byte,
                                 struct arena *arena, const void **content, struct dse_error *err);
    /* mapper: raises the lower bounds of any mapper's answer by what it knows, by one of its accountings.
     * Changes nothing where it does not take machine or problem. Deterministic. NULL: it cannot */
    enum dse_status (*strengthen)(const struct bound_question *question, struct arena *arena,
                                  struct lower_bound *bound, enum bound_kind *kind, struct dse_error *err);
    size_t state_byte; /* private state, zeroed, from the arena */
    /* Prepare for a task that the hooks above take. */
    enum dse_status (*init)(void *state, struct engine_context *context, struct dse_error *err);
    /* Do one batch (a few thousand evaluations at most) through the context. Sets *stop to end the search. */
    enum dse_status (*step)(void *state, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err);
    /* The search is over, for whatever reason (budget, cancel, done): offer what is worth it and has not been
     * offered. May be NULL. Not called after a failure. */
    enum dse_status (*finish)(void *state, struct engine_context *context, struct dse_error *err);
    /* Scheduler, required: read the text of `found` back and evaluate it by a way of its own, by the search's
     * accounting (NULL: it has none); `again` needs no text. DSE_INTERNAL when it cannot be read or is not
     * valid; DSE_INTERRUPTED soon after the task was cancelled. The driver compares cycles, energies and
     * bytes; what the search has left missing of the engine's own metrics is taken from `again`. */
    enum dse_status (*verify)(const struct engine_task *task, const struct accounting *accounting,
                              const struct engine_schedule *found, struct arena *arena,
                              struct engine_schedule *again, struct dse_error *err);
    /* Release what the arena does not own; may be NULL. Called also after a failed init. */
    void (*free)(void *state);
    /* May a task with these options (n_option) end, hang or exhaust the process? Then it is run in one of its
     * own. NULL: never. */
    bool (*untrusted)(const double *option);
};

/* Registry (engines/registry.c): every engine, in the order help shows them; find by name (NULL if none). */
const struct engine *const *engine_all(size_t *n);
const struct engine *engine_find(const char *name);

/* By which accounting a search with these options (n_option) is priced unless another is chosen: the
 * engine's first that goes with the options and takes the machine; when none takes it, or `arch` is NULL,
 * the first that goes with the options. NULL: a scheduler by rules of its own. */
const struct accounting *engine_accounting(const struct engine *engine, const double *option,
                                           const struct architecture *arch);

/* Choose an accounting: sets the option value that goes with it, if any. DSE_BAD_INPUT: the engine cannot be
 * priced by it; the message has those by which it can. */
DSE_MUST_CHECK enum dse_status engine_accounting_choose(const struct engine *engine,
                                                        const struct accounting *accounting, double *option,
                                                        struct dse_error *err);

/* Can the engine with these options be priced by the accounting? DSE_BAD_INPUT as above, or names the option
 * that contradicts it. */
DSE_MUST_CHECK enum dse_status engine_accounting_check(const struct engine *engine,
                                                       const struct accounting *accounting,
                                                       const double *option, struct dse_error *err);

/* Must a task with these options (n_option) run in a process of its own? */
bool engine_is_untrusted(const struct engine *engine, const double *option);

/* Fill `value` (engine->n_option) with the defaults. */
void engine_option_defaults(const struct engine *engine, double *value);

/* Set one option from text; checks kind and range. DSE_BAD_INPUT names the option, the accepted range, the
 * nearest name. A file is not opened here but by who keeps what was read (dse/solve/option_files.h). */
DSE_MUST_CHECK enum dse_status engine_option_set(const struct engine *engine, const char *name,
                                                 const char *text, double *value, struct dse_error *err);

/* The same in the options (n_option) of `owner`, "engine random". */
DSE_MUST_CHECK enum dse_status option_set(const char *owner, const struct engine_option *option,
                                          size_t n_option, const char *name, const char *text, double *value,
                                          struct dse_error *err);

/* The canonical text of an option's value; reads back to the same. Returns `buffer`. */
char *engine_option_print(const struct engine_option *option, double value, char *buffer, size_t size);

/* What was padded, "P 53->54, Q 53->54", or "" when nothing was; `problem` is the task's own. Returns
 * `buffer` (at least 1 byte; cut when too small). */
char *engine_result_padding_text(const struct engine_result *result, const struct problem *problem,
                                 char *buffer, size_t size);

/* Nothing found yet: everything zero, but for the room for the trace, which is left as it is. */
void engine_result_init(struct engine_result *result);

/* Run an engine on a task within its budget. The best mapping is re-checked by the independent checker and
 * re-evaluated by the plain cost model before it counts, the best schedule is read back from its text and
 * evaluated again (DSE_INTERNAL when they disagree). Memory from `arena`. Deterministic unless max_seconds or
 * cancel ends the search. */
DSE_MUST_CHECK enum dse_status engine_solve(const struct engine *engine, const struct engine_task *task,
                                            struct arena *arena, struct engine_result *result,
                                            struct dse_error *err);

/* What the schedule that `text` says comes to on a scheduler's task, without a search: `priced` has no text,
 * and not what only a search knows. Memory from `arena`. Where it is no schedule for this task:
 * DSE_BAD_INPUT, DSE_BAD_USAGE (the engine does not take the task), DSE_LIMIT, DSE_INTERNAL (it breaks a
 * rule, or does not fit). DSE_NO_MEMORY; DSE_INTERRUPTED. */
DSE_MUST_CHECK enum dse_status engine_price(const struct engine *engine, const struct engine_task *task,
                                            const char *text, struct arena *arena,
                                            struct engine_schedule *priced, struct dse_error *err);

#endif
