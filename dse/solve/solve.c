/* Settings and keys of a task, its random stream, the call of the driver, and the outcome that a row
 * shows: ok, infeasible, timeout or failed. */
#include "dse/solve/solve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/text.h"
#include "costmodel/accounting/evaluator.h"
#include "dse/solve/exact_front.h"
#include "dse/solve/measure_choice.h"
#include "dse/solve/option_files.h"
#include "dse/solve/solve_cache.h"
#include "engines/driver/engine_fit.h"

/* Goes up when the same inputs give other results: then old journals are not resumed. */
enum { RESULT_VERSION = 1 };

static enum dse_status unknown_engine(const char *name, struct dse_error *err)
{
    const char *known[64];
    char shown[96];
    size_t n;
    const struct engine *const *engine = engine_all(&n);
    n = n < 64 ? n : 64;
    for (size_t i = 0; i < n; i++)
        known[i] = engine[i]->name;
    const char *nearest = text_nearest(name, known, n);
    text_excerpt(name, shown, sizeof shown);
    if (nearest)
        return dse_fail(err, DSE_BAD_INPUT, "unknown engine \"%s\"; did you mean %s?", shown, nearest);
    struct text_buffer list;
    text_init(&list);
    for (size_t i = 0; i < n; i++)
        text_append(&list, "%s%s", i ? ", " : "", known[i]);
    enum dse_status status = dse_fail(err, DSE_BAD_INPUT, "unknown engine \"%s\"; there are %s", shown,
                                      list.data ? list.data : "none");
    text_free(&list);
    return status;
}

enum dse_status solve_settings_init(struct solve_settings *settings, const char *name, struct dse_error *err)
{
    memset(settings, 0, sizeof *settings);
    settings->engine = engine_find(name);
    if (!settings->engine)
        return unknown_engine(name, err);
    if (settings->engine->n_option > SOLVE_OPTION_MAX)
        return dse_fail(err, DSE_LIMIT, "engine %s has more than %d options", name, SOLVE_OPTION_MAX);
    engine_option_defaults(settings->engine, settings->option);
    return objective_parse("edp", &settings->objective, err);
}

enum dse_status solve_settings_objective(struct solve_settings *settings, const char *text,
                                         struct dse_error *err)
{
    struct dse_error inner = {0};
    settings->front = strcasecmp(text, OBJECTIVE_FRONT) == 0;
    enum dse_status status = objective_parse(settings->front ? "edp" : text, &settings->objective, &inner);
    return status == DSE_OK
               ? status
               : dse_fail(err, status, "%.900s; of engine optimal also " OBJECTIVE_FRONT, inner.text);
}

char *solve_settings_objective_print(const struct solve_settings *settings, char *buffer, size_t size)
{
    if (!settings->front)
        return objective_print(&settings->objective, buffer, size);
    (void)snprintf(buffer, size, "%s", OBJECTIVE_FRONT);
    return buffer;
}

enum dse_status solve_settings_option(struct solve_settings *settings, const char *name, const char *text,
                                      struct dse_error *err)
{
    const struct engine *engine = settings->engine;
    size_t at = 0;
    while (at < engine->n_option && strcmp(engine->option[at].name, name) != 0)
        at++;
    bool is_file = at < engine->n_option && engine->option[at].kind == OPTION_FILE;
    if (is_file && settings->files && strcmp(text, "none") != 0)
        DSE_TRY(option_files_value(settings->files, engine, at, text, &settings->option[at], err));
    else
        DSE_TRY(engine_option_set(engine, name, text, settings->option, err));
    settings->option_set |= UINT64_C(1) << at;
    return DSE_OK;
}

enum dse_status solve_settings_settle(struct solve_settings *settings, struct dse_error *err)
{
    double option[SOLVE_OPTION_MAX];
    if (!settings->accounting)
        return DSE_OK;
    memcpy(option, settings->option, sizeof option);
    DSE_TRY(engine_accounting_choose(settings->engine, settings->accounting, option, err));
    for (size_t i = 0; i < settings->engine->n_option; i++)
        if (!(settings->option_set >> i & 1))
            settings->option[i] = option[i];
    return engine_accounting_check(settings->engine, settings->accounting, settings->option, err);
}

const struct accounting *solve_accounting(const struct solve_settings *settings,
                                          const struct architecture *arch)
{
    return settings->accounting ? settings->accounting
                                : engine_accounting(settings->engine, settings->option, arch);
}

enum dse_status solve_accepts(const struct solve_settings *settings, const struct architecture *arch,
                              struct dse_error *err)
{
    const struct accounting *accounting = solve_accounting(settings, arch);
    return accounting ? accounting_accepts(accounting, arch, err) : DSE_OK;
}

bool solve_is_scheduler(const struct solve_settings *settings)
{
    return settings->engine->kind == ENGINE_SCHEDULER;
}

void solve_settings_share(struct solve_settings *settings, uint64_t point_max_evaluations,
                          double point_max_seconds, uint32_t n_search)
{
    uint64_t evaluations = point_max_evaluations / n_search;
    double seconds = point_max_seconds / (double)n_search;
    evaluations = evaluations ? evaluations : 1;
    if (point_max_evaluations && (settings->max_evaluations == 0 || evaluations < settings->max_evaluations))
        settings->max_evaluations = evaluations;
    if (point_max_seconds > 0 && (settings->max_seconds <= 0 || seconds < settings->max_seconds)) {
        settings->max_seconds = seconds;
        settings->point_max_seconds = point_max_seconds;
    }
}

static void hash_node(struct hash_state *state, const struct ynode *node)
{
    hash_u64(state, node->kind);
    hash_text(state, node->text);
    hash_u64(state, node->n_item);
    for (size_t i = 0; i < node->n_item; i++) {
        if (node->key)
            hash_text(state, node->key[i]);
        hash_node(state, node->item[i]);
    }
}

static double known_as(const struct solve_settings *s, size_t option, const struct architecture *arch)
{
    const struct accounting *accounting = arch && s->engine->known_as ? solve_accounting(s, arch) : NULL;
    if (!accounting)
        return s->option[option];
    const struct engine_task task = {
        .architecture = arch, .batch = 1, .objective = s->objective, .option = s->option};
    return s->engine->known_as(&(const struct engine_question){s->engine, &task, accounting}, option);
}

static void hash_settings(const struct solve_settings *s, const struct architecture *arch,
                          struct hash_state *state)
{
    hash_u64(state, RESULT_VERSION);
    hash_text(state, s->engine->name);
    for (size_t i = 0; i < s->engine->n_option; i++) {
        hash_text(state, s->engine->option[i].name);
        hash_double(state, known_as(s, i, arch));
    }
    hash_double(state, s->objective.energy_exponent);
    hash_double(state, s->objective.delay_exponent);
    if (s->front)
        hash_text(state, OBJECTIVE_FRONT);
    if (s->accounting && s->accounting->kind == ACCOUNTING_MAPPING) /* one of schedules is an option */
        hash_text(state, s->accounting->name);
    hash_u64(state, s->seed);
    hash_u64(state, s->max_evaluations);
    hash_double(state, s->max_seconds);
    if (s->point_max_seconds > 0) /* the reason of a timeout names it */
        hash_double(state, s->point_max_seconds);
    hash_u64(state, s->constraints != NULL);
    if (s->constraints)
        hash_node(state, s->constraints);
    if (s->further)
        hash_node(state, s->further);
    if (s->bound_effort != BOUND_AUTO)
        hash_u64(state, s->bound_effort);
    measure_hash(&s->measure, state);
}

uint64_t solve_settings_key(const struct solve_settings *settings, const struct architecture *arch)
{
    struct hash_state state;
    hash_begin(&state);
    hash_settings(settings, arch, &state);
    return hash_end(&state);
}

uint64_t solve_arch_key(const struct architecture *arch)
{
    struct hash_state state;
    hash_begin(&state);
    hash_u64(&state, architecture_hash(arch));
    for (uint32_t l = 0; l < arch->n_level; l++)
        hash_text(&state, arch->level[l].name);
    return hash_end(&state);
}

uint64_t solve_key(uint64_t settings_key, uint64_t problem_key, uint64_t arch_key)
{
    struct hash_state state;
    hash_begin(&state);
    hash_u64(&state, settings_key);
    hash_u64(&state, problem_key);
    hash_u64(&state, arch_key);
    return hash_end(&state);
}

static void give_up(struct solve_result *result, const struct dse_error *err)
{
    char text[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    result->outcome = RESULT_FAILED;
    snprintf(result->reason, sizeof result->reason, "%.*s", SOLVE_REASON_MAX - 1,
             dse_error_print(err, text, sizeof text));
}

/* Why nothing was found: timeout or infeasible. */
static void judge_nothing(const struct solve_settings *settings, struct solve_result *result)
{
    char whole[64] = "", n_draw[48];
    const struct engine_result *found = &result->found;
    bool scheduler = solve_is_scheduler(settings);
    result->outcome = found->stop == STOP_MAX_SECONDS ? RESULT_TIMEOUT : RESULT_INFEASIBLE;
    const char *reason = found->reason[0] ? found->reason
                         : scheduler      ? "no schedule was found"
                                          : "no mapping was found";
    if (settings->point_max_seconds > 0)
        snprintf(whole, sizeof whole, ", its share of point_max_seconds = %.6g", settings->point_max_seconds);
    if (result->outcome == RESULT_TIMEOUT)
        snprintf(result->reason, sizeof result->reason, "nothing found within %s%.6g s%s: %s",
                 whole[0] ? "" : "max_seconds = ", settings->max_seconds, whole, reason);
    else if (found->n_draw > 0 && !scheduler) /* else the space was proved empty before the search */
        snprintf(result->reason, sizeof result->reason,
                 "nothing found in %s candidate%s; the most frequent misfit: %s",
                 text_thousands(found->n_draw, n_draw, sizeof n_draw), found->n_draw == 1 ? "" : "s", reason);
    else
        snprintf(result->reason, sizeof result->reason, "%s", reason);
}

static void judge(const struct solve_settings *settings, const struct solve_compiled *compiled,
                  struct solve_result *result)
{
    const struct engine_result *found = &result->found;
    if (!found->feasible) {
        judge_nothing(settings, result);
        return;
    }
    result->outcome = RESULT_OK;
    result->reason[0] = '\0';
    result->bound = found->lower_bound;
    result->bounded = evaluator_bound_applies(compiled->evaluator, &found->mapping);
}

/* Measure the mapping found, on the loop nest that was searched. */
static enum dse_status measure(const struct solve_settings *settings, const struct problem *problem,
                               const struct architecture *arch, const atomic_int *cancel, struct arena *arena,
                               struct solve_result *result, struct dse_error *err)
{
    struct problem searched = *problem;
    if (result->found.padded)
        memcpy(searched.bound, result->found.padded_bound, sizeof searched.bound);
    const struct measure_choice choice = {result->found.slow_cycle, result->found.n_slow};
    return measure_mapping(&settings->measure, &searched, arch, &result->found.mapping, &choice, cancel,
                           arena, &result->measured, err);
}

/* Streams depend on the loop nest (or network and batch) and the engine, not on the machine: neighbouring
 * points of a sweep are searched with common random numbers, so that their difference is that of the machines
 * and not of luck. */
static uint64_t stream_key(const struct engine *engine, uint64_t content)
{
    const char *name = engine->streams_of ? engine->streams_of : engine->name;
    return content ^ hash_of_bytes(name, strlen(name));
}

enum dse_status solve_constraints(const struct solve_settings *s, const struct problem *problem,
                                  const struct architecture *arch, struct mapspace_constraints *constraints,
                                  struct dse_error *err)
{
    DSE_TRY(mapspace_constraints_read(s->doc, s->constraints, s->further, problem, arch, constraints, err));
    return s->engine->takes_hint || !s->doc
               ? DSE_OK
               : mapspace_constraints_fix_hint(constraints, problem, arch, s->doc->path, err);
}

/* Constraints in `arena`, NULL when there are none. */
static enum dse_status make_constraints(const struct solve_settings *s, const struct problem *problem,
                                        const struct architecture *arch, struct arena *arena,
                                        const struct mapspace_constraints **out, struct dse_error *err)
{
    *out = NULL;
    if (!s->constraints && !s->further && !s->dataflow && !mapspace_constraints_of_machine(arch))
        return DSE_OK;
    struct mapspace_constraints *constraints = arena_alloc(arena, 1, sizeof *constraints);
    DSE_TRY(arena_check(arena, "the constraints", err));
    DSE_TRY(solve_constraints(s, problem, arch, constraints, err));
    *out = constraints;
    return s->dataflow ? mapspace_constraints_unroll(&constraints->level[s->dataflow_level], s->dataflow, err)
                       : DSE_OK;
}

static enum dse_status make_task(const struct solve_settings *s, const struct solve_compiled *compiled,
                                 const struct architecture *arch, const atomic_int *cancel,
                                 struct arena *arena, struct engine_task *task, struct dse_error *err)
{
    *task = (struct engine_task){
        .evaluator = compiled->evaluator,
        .workspace = compiled->workspace,
        .bound = &compiled->bound,
        .architecture = evaluator_architecture(compiled->evaluator),
        .batch = 1,
        .objective = s->objective,
        .option = s->option,
        .seed = s->seed,
        .key = stream_key(s->engine, compiled->problem_key),
        .budget = {s->max_evaluations, s->max_seconds, cancel},
        .bound_effort = s->bound_effort,
        .front = s->front,
        .cycle_limit = s->cycle_limit,
        .start = s->start,
    };
    task->file = option_files_all(s->files, &task->n_file);
    return make_constraints(s, compiled->problem, arch, arena, &task->constraints, err);
}

static enum dse_status search(const struct solve_settings *s, const struct solve_compiled *compiled,
                              const struct architecture *arch, const struct solve_shared *shared,
                              const atomic_int *cancel, struct arena *arena, struct engine_result *found,
                              struct dse_error *err)
{
    struct engine_task task;
    struct measure_chooser chooser;
    DSE_TRY(make_task(s, compiled, arch, cancel, arena, &task, err));
    task.known = shared->known;
    task.slow = measure_chooser_init(&chooser, &s->measure, task.architecture, cancel);
    enum dse_status status = engine_solve(s->engine, &task, arena, found, err);
    measure_chooser_free(&chooser);
    return status;
}

enum dse_status solve_dataflows(const struct solve_settings *settings, const struct problem *problem,
                                const struct architecture *arch, struct arena *arena,
                                struct engine_dataflows *out, struct dse_error *err)
{
    struct solve_compiled compiled = {0};
    struct engine_task task;
    if (!settings->engine->dataflows)
        return dse_fail(err, DSE_BAD_USAGE, "engine %s does not list dataflows; interstellar does",
                        settings->engine->name);
    enum dse_status status = solve_compile(solve_accounting(settings, arch), problem, arch, &compiled, err);
    if (status == DSE_OK)
        status = make_task(settings, &compiled, arch, NULL, arena, &task, err);
    if (status == DSE_OK)
        status = settings->engine->dataflows(&task, arena, out, err);
    solve_compiled_free(&compiled);
    return status;
}

static struct engine_task network_task(const struct solve_settings *s, const struct workload *workload,
                                       const struct architecture *arch)
{
    struct engine_task task = {
        .network = workload->network,
        .architecture = arch,
        .batch = workload->batch,
        .objective = s->objective,
        .front = s->front,
        .option = s->option,
        .seed = s->seed,
        .key = stream_key(s->engine, workload->network_hash),
        .budget = {.max_evaluations = s->max_evaluations, .max_seconds = s->max_seconds},
    };
    task.file = option_files_all(s->files, &task.n_file);
    return task;
}

enum dse_status solve_takes_machine(const struct solve_settings *s, const struct architecture *arch,
                                    struct dse_error *err)
{
    struct engine_task task = {
        .architecture = arch, .batch = 1, .objective = s->objective, .option = s->option};
    const struct engine_question question = {s->engine, &task, solve_accounting(s, arch)};
    task.file = option_files_all(s->files, &task.n_file);
    return engine_takes_machine(&question, err);
}

/* The layers that are loop nest `p`. */
static enum dse_status takes_problem(const struct solve_settings *s, const struct workload *workload,
                                     uint32_t p, const struct architecture *arch, struct arena *arena,
                                     struct dse_error *err)
{
    struct solve_compiled compiled = {.problem = &workload->problem[p]};
    const struct accounting *accounting = solve_accounting(s, arch);
    struct engine_task task;
    struct dse_error why = {0};
    char shown[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    uint32_t first = 0;
    enum dse_status status = evaluator_new(accounting, compiled.problem, arch, &compiled.evaluator, &why);
    if (status == DSE_OK)
        status = make_task(s, &compiled, arch, NULL, arena, &task, &why);
    const struct engine_question question = {s->engine, &task, accounting};
    if (status == DSE_OK)
        status = engine_takes(&question, &why);
    evaluator_delete(compiled.evaluator);
    if (status == DSE_OK)
        return DSE_OK;
    while (workload->problem_of[first] != p)
        first++;
    return dse_fail(err, status, "layer %s: %.900s", workload->network->layer[workload->layer[first]].name,
                    dse_error_print(&why, shown, sizeof shown));
}

enum dse_status solve_takes(const struct solve_settings *s, const struct workload *workload,
                            const struct architecture *arch, const atomic_int *cancel, struct dse_error *err)
{
    enum dse_status status = solve_takes_machine(s, arch, err);
    if (status == DSE_OK && solve_is_scheduler(s)) {
        const struct engine_task task = network_task(s, workload, arch);
        return engine_takes(&(struct engine_question){s->engine, &task, solve_accounting(s, arch)}, err);
    }
    struct arena arena;
    arena_init(&arena);
    for (uint32_t p = 0; status == DSE_OK && p < workload->n_problem; p++) {
        arena_reset(&arena);
        status = cancel && atomic_load_explicit(cancel, memory_order_relaxed)
                     ? dse_fail(err, DSE_INTERRUPTED, "interrupted")
                     : takes_problem(s, workload, p, arch, &arena, err);
    }
    arena_free(&arena);
    return status;
}

/* A result that says nothing yet. Most of it is room that few searches use: it is left unset. */
static void result_init(struct solve_result *result)
{
    result->outcome = RESULT_OK;
    result->reason[0] = '\0';
    result->beaten = 0;
    engine_result_init(&result->found);
    memset(&result->bound, 0, sizeof result->bound);
    result->bounded = false;
    measure_values_init(&result->measured);
    result->schedule = NULL;
    result->front = NULL;
    result->n_front = 0;
}

/* Whether the machine is one that may be built; else the result says so. */
static bool begin_result(const struct architecture *arch, struct solve_result *result)
{
    result_init(result);
    if (architecture_area_fits(arch, result->reason, sizeof result->reason))
        return true;
    result->outcome = RESULT_INFEASIBLE;
    result->found.stop = STOP_CONVERGED;
    return false;
}

enum dse_status solve_task(const struct solve_settings *settings, const struct problem *problem,
                           const struct architecture *arch, const atomic_int *cancel, struct arena *arena,
                           struct solve_result *result)
{
    const struct solve_shared none = {.n_thread = 1};
    return solve_task_shared(settings, problem, arch, &none, cancel, arena, result);
}

enum dse_status solve_task_shared(const struct solve_settings *settings, const struct problem *problem,
                                  const struct architecture *arch, const struct solve_shared *shared,
                                  const atomic_int *cancel, struct arena *arena, struct solve_result *result)
{
    return (settings->front ? exact_front_solve : solve_single)(settings, problem, arch, shared, cancel,
                                                                arena, result);
}

enum dse_status solve_single(const struct solve_settings *settings, const struct problem *problem,
                             const struct architecture *arch, const struct solve_shared *shared,
                             const atomic_int *cancel, struct arena *arena, struct solve_result *result)
{
    struct dse_error err;
    struct solve_compiled own = {0};
    const struct solve_compiled *compiled = &own;
    const struct accounting *accounting = solve_accounting(settings, arch);
    if (!begin_result(arch, result))
        return DSE_OK;
    enum dse_status status = shared->cache
                                 ? solve_cache_get(shared->cache, accounting, problem, arch, &compiled, &err)
                                 : solve_compile(accounting, problem, arch, &own, &err);
    if (status == DSE_OK)
        status = search(settings, compiled, arch, shared, cancel, arena, &result->found, &err);
    bool interrupted = status == DSE_OK && result->found.stop == STOP_INTERRUPTED;
    if (status == DSE_OK && !interrupted)
        judge(settings, compiled, result);
    solve_compiled_free(&own);
    if (interrupted)
        return DSE_INTERRUPTED;
    if (status == DSE_OK && result->outcome == RESULT_OK && settings->measure.what)
        status = measure(settings, problem, arch, cancel, arena, result, &err);
    if (status == DSE_INTERRUPTED)
        return status;
    if (status != DSE_OK)
        give_up(result, &err);
    return DSE_OK;
}

/* Keep the text of the schedule found beyond the arena. */
static enum dse_status keep_schedule(struct solve_result *result, struct dse_error *err)
{
    struct engine_schedule *schedule = &result->found.schedule;
    result->schedule = malloc(schedule->text_length + 1);
    if (!result->schedule)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a schedule of %zu bytes",
                        schedule->text_length);
    memcpy(result->schedule, schedule->text, schedule->text_length + 1);
    schedule->text = result->schedule;
    result->outcome = RESULT_OK;
    return DSE_OK;
}

enum dse_status solve_network(const struct solve_settings *s, const struct workload *workload,
                              const struct architecture *arch, const struct solve_shared *shared,
                              const atomic_int *cancel, struct arena *arena, struct solve_result *result)
{
    struct dse_error err;
    if (!begin_result(arch, result))
        return DSE_OK;
    struct engine_task task = network_task(s, workload, arch);
    task.budget.cancel = cancel;
    task.core_cache = shared->core_cache;
    task.n_thread = shared->n_thread;
    enum dse_status status = solve_accepts(s, arch, &err);
    if (status == DSE_OK)
        status = engine_solve(s->engine, &task, arena, &result->found, &err);
    if (status == DSE_INTERRUPTED || (status == DSE_OK && result->found.stop == STOP_INTERRUPTED))
        return DSE_INTERRUPTED;
    if (status == DSE_OK && result->found.feasible)
        status = keep_schedule(result, &err);
    else if (status == DSE_OK)
        judge_nothing(s, result);
    if (status != DSE_OK)
        give_up(result, &err);
    return DSE_OK;
}

enum dse_status solve_price(const struct solve_settings *s, const struct workload *workload,
                            const struct architecture *arch, const struct solve_shared *shared,
                            const atomic_int *cancel, const char *text, struct arena *arena,
                            struct solve_priced *priced, struct dse_error *err)
{
    char reason[SOLVE_REASON_MAX];
    struct dse_error why = {0};
    struct engine_schedule *schedule = &priced->schedule;
    priced->fits = false;
    if (!architecture_area_fits(arch, reason, sizeof reason) || solve_accepts(s, arch, &why) != DSE_OK)
        return DSE_OK;
    struct engine_task task = network_task(s, workload, arch);
    task.budget = (struct engine_budget){.cancel = cancel};
    task.core_cache = shared->core_cache;
    task.n_thread = shared->n_thread;
    enum dse_status status = engine_price(s->engine, &task, text, arena, schedule, &why);
    if (status == DSE_NO_MEMORY || status == DSE_INTERRUPTED)
        return dse_fail(err, status, "%s", why.text);
    priced->fits = status == DSE_OK;
    priced->cost = objective_cost_of(&s->objective, schedule->energy_j, schedule->latency_s);
    schedule->area_mm2 = architecture_area_mm2(arch);
    return DSE_OK;
}

void solve_result_clear(struct solve_result *result)
{
    if (!result)
        return;
    free(result->schedule);
    free(result->front);
    result->schedule = NULL;
    result->front = NULL;
    result->n_front = 0;
}
