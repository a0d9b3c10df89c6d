/* Reads each machine and network once, and puts every question to every engine with its defaults. */
#include "dse/report/engine_matrix.h"

#include <string.h>

#include "dse/inputs/inputs.h"
#include "dse/inputs/resolve.h"
#include "dse/solve/solve.h"

/* Names in the order they are listed. */
struct names {
    struct arena *arena;
    const char **name; /* (n) */
    size_t n, room;
    bool failed;
};

struct machine {
    const char *name;
    struct architecture arch;
};

/* A network, as a mapper and as a scheduler see it. */
struct work {
    const char *name;
    struct network network;
    struct workload mapped, whole;
    struct dse_error unmapped; /* why there is nothing to map; text "" when there is */
};

struct asking {
    struct engine_matrix *matrix;
    struct solve_settings *settings; /* (n_engine) */
    struct dse_error *unpriced;      /* (n_engine) why the accounting is none for the engine; text "" */
    struct machine *machine;         /* (n_machine) */
    struct work *work;               /* (n_work) */
    size_t n_machine, n_work;
    bool alone, together; /* machines are asked about by themselves; networks on each machine */
};

static void add_name(void *user, const char *name, const char *path)
{
    struct names *names = user;
    (void)path;
    if (names->n == names->room) {
        const size_t room = names->room ? 2 * names->room : 64;
        const char **more = arena_alloc(names->arena, room, sizeof *more);
        if (!more) {
            names->failed = true;
            return;
        }
        if (names->n)
            memcpy(more, names->name, names->n * sizeof *more);
        names->name = more;
        names->room = room;
    }
    names->name[names->n++] = arena_copy_text(names->arena, name, strlen(name));
}

/* Those given, or all that are found by name. */
static enum dse_status name_all(enum resolve_kind kind, const char *const *given, size_t n_given,
                                struct names *names, struct dse_error *err)
{
    for (size_t i = 0; i < n_given; i++)
        add_name(names, given[i], NULL);
    if (n_given == 0)
        DSE_TRY(resolve_each(kind, add_name, names, err));
    return names->failed ? dse_fail(err, DSE_NO_MEMORY, "out of memory for names")
                         : arena_check(names->arena, "names", err);
}

static enum dse_status read_machines(struct asking *asking, const struct engine_matrix_request *request,
                                     struct dse_error *err)
{
    struct input_overrides overrides = {0};
    struct names names = {.arena = &asking->matrix->arena};
    DSE_TRY(name_all(RESOLVE_ARCHITECTURE, request->architecture, request->n_architecture, &names, err));
    asking->machine = arena_alloc(names.arena, names.n ? names.n : 1, sizeof *asking->machine);
    DSE_TRY(arena_check(names.arena, "machines", err));
    if (request->set)
        DSE_TRY(input_overrides_read(request->set, &overrides, err));
    for (size_t i = 0; i < names.n; i++) {
        asking->machine[i].name = names.name[i];
        DSE_TRY(input_architecture(names.name[i], &overrides, &asking->machine[i].arch, err));
        asking->n_machine++;
    }
    return DSE_OK;
}

static enum dse_status read_work(struct work *work, const char *name, const struct cli_args *set,
                                 struct dse_error *err)
{
    work->name = name;
    DSE_TRY(input_network(name, set, &work->network, err));
    workload_init_whole(&work->whole, &work->network, 0);
    const enum dse_status status =
        workload_init(&work->mapped, &work->network, 0, NULL, 0, 0, &work->unmapped);
    if (status == DSE_NO_MEMORY)
        return dse_fail(err, status, "%s", work->unmapped.text);
    if (status == DSE_OK)
        work->unmapped.text[0] = '\0';
    return DSE_OK;
}

static enum dse_status read_networks(struct asking *asking, const struct engine_matrix_request *request,
                                     struct dse_error *err)
{
    struct names names = {.arena = &asking->matrix->arena};
    DSE_TRY(name_all(RESOLVE_NETWORK, request->network, request->n_network, &names, err));
    asking->work = arena_alloc(names.arena, names.n ? names.n : 1, sizeof *asking->work);
    DSE_TRY(arena_check(names.arena, "networks", err));
    for (size_t i = 0; i < names.n; i++) {
        asking->n_work++; /* to be released, also half made */
        DSE_TRY(read_work(&asking->work[i], names.name[i], request->set, err));
    }
    return DSE_OK;
}

/* The engines with their defaults and the accounting that is asked for. */
static enum dse_status choose_engines(struct asking *asking, const struct engine_matrix_request *request,
                                      struct dse_error *err)
{
    size_t n;
    const struct engine *const *all = engine_all(&n);
    struct engine_matrix *matrix = asking->matrix;
    struct arena *arena = &matrix->arena;
    matrix->engine = arena_alloc(arena, n, sizeof *matrix->engine);
    asking->settings = arena_alloc(arena, n, sizeof *asking->settings);
    asking->unpriced = arena_alloc(arena, n, sizeof *asking->unpriced);
    DSE_TRY(arena_check(arena, "engines", err));
    for (size_t i = 0; i < n; i++) {
        if (request->engine && all[i] != request->engine)
            continue;
        const size_t e = matrix->n_engine++;
        matrix->engine[e] = all[i];
        DSE_TRY(solve_settings_init(&asking->settings[e], all[i]->name, err));
        asking->settings[e].accounting = request->accounting;
        if (solve_settings_settle(&asking->settings[e], &asking->unpriced[e]) == DSE_OK)
            asking->unpriced[e].text[0] = '\0';
    }
    return DSE_OK;
}

/* Is the machine taken (`work` NULL), or the network on it? `why` says why not. */
static bool takes(const struct asking *asking, size_t e, const struct machine *machine,
                  const struct work *work, struct dse_error *why)
{
    const struct solve_settings *settings = &asking->settings[e];
    const bool mapper = !solve_is_scheduler(settings);
    *why = asking->unpriced[e];
    if (why->text[0])
        return false;
    if (!work)
        return solve_takes_machine(settings, &machine->arch, why) == DSE_OK;
    if (mapper && work->unmapped.text[0])
        *why = work->unmapped;
    else if (solve_takes(settings, mapper ? &work->mapped : &work->whole, &machine->arch, NULL, why) ==
             DSE_OK)
        return true;
    return false;
}

static const char *keep(const struct asking *asking, const struct dse_error *why)
{
    return arena_copy_text(&asking->matrix->arena, why->text, strlen(why->text));
}

/* On the first machine that takes it; else the reason is that of the first machine that is taken by itself,
 * or of the first. */
static void ask_anywhere(const struct asking *asking, size_t e, const struct work *work,
                         struct engine_matrix_answer *answer)
{
    struct dse_error why, ignored;
    bool is_taken = false; /* the machine of the answer */
    *answer = (struct engine_matrix_answer){NULL, NULL};
    for (size_t m = 0; m < asking->n_machine; m++) {
        const struct machine *machine = &asking->machine[m];
        if (takes(asking, e, machine, work, &why)) {
            *answer = (struct engine_matrix_answer){machine->name, NULL};
            return;
        }
        const bool takes_it = !is_taken && takes(asking, e, machine, NULL, &ignored);
        if (m == 0 || takes_it)
            *answer = (struct engine_matrix_answer){machine->name, keep(asking, &why)};
        is_taken = is_taken || takes_it;
    }
}

static void ask(const struct asking *asking, size_t e, const struct machine *machine, const struct work *work,
                struct engine_matrix_answer *answer)
{
    struct dse_error why;
    *answer = (struct engine_matrix_answer){.architecture = machine->name};
    if (!takes(asking, e, machine, work, &why))
        answer->reason = keep(asking, &why);
}

static enum dse_status ask_all(struct asking *asking, struct dse_error *err)
{
    struct engine_matrix *matrix = asking->matrix;
    const size_t n_alone = asking->alone ? asking->n_machine : 0;
    const size_t n_on = asking->together ? asking->n_machine : 1; /* machines for each network */
    matrix->n_case = n_alone + n_on * asking->n_work;
    matrix->question = arena_alloc(&matrix->arena, matrix->n_case + 1, sizeof *matrix->question);
    matrix->answer =
        arena_alloc(&matrix->arena, matrix->n_engine * matrix->n_case + 1, sizeof *matrix->answer);
    DSE_TRY(arena_check(&matrix->arena, "answers", err));
    for (size_t c = 0; c < matrix->n_case; c++) {
        const size_t i = c < n_alone ? c : c - n_alone;
        const struct work *work = c < n_alone ? NULL : &asking->work[i % asking->n_work];
        const struct machine *machine = &asking->machine[c < n_alone ? i : i / asking->n_work];
        const bool anywhere = work && !asking->together;
        matrix->question[c].architecture = anywhere ? NULL : machine->name;
        matrix->question[c].network = work ? work->name : NULL;
        for (size_t e = 0; e < matrix->n_engine; e++) {
            struct engine_matrix_answer *answer = &matrix->answer[e * matrix->n_case + c];
            if (anywhere)
                ask_anywhere(asking, e, work, answer);
            else
                ask(asking, e, machine, work, answer);
        }
    }
    return arena_check(&matrix->arena, "answers", err);
}

enum dse_status engine_matrix_init(struct engine_matrix *matrix, const struct engine_matrix_request *request,
                                   struct dse_error *err)
{
    const bool overview = request->n_architecture == 0 && request->n_network == 0;
    struct asking asking = {.matrix = matrix, .alone = overview, .together = !overview};
    memset(matrix, 0, sizeof *matrix);
    arena_init(&matrix->arena);
    enum dse_status status = choose_engines(&asking, request, err);
    if (status == DSE_OK)
        status = read_machines(&asking, request, err);
    if (status == DSE_OK)
        status = read_networks(&asking, request, err);
    if (status == DSE_OK)
        status = ask_all(&asking, err);
    for (size_t i = 0; i < asking.n_work; i++) {
        workload_free(&asking.work[i].mapped);
        workload_free(&asking.work[i].whole);
        network_free(&asking.work[i].network);
    }
    return status;
}

void engine_matrix_free(struct engine_matrix *matrix)
{
    arena_free(&matrix->arena);
}
