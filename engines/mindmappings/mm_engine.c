/* Mind Mappings: gradient search on a trained surrogate (`dse train`). Of several networks the one that did
 * best in the trial at the end of its training is used. */
#include <stdlib.h>

#include "engines/driver/engine_fit.h"
#include "engines/mindmappings/mm_engines.h"
#include "engines/mindmappings/mm_search.h"
#include "engines/mindmappings/mm_walk.h"

enum {
    OPTION_MODE,
    OPTION_MODEL,
    OPTION_PRESET,
    OPTION_STEPS,
    OPTION_EVALUATE,
    OPTION_BEST,
    OPTION_NET,
    OPTION_RATE,
    OPTION_INJECTION,
    OPTION_ACCEPT,
    OPTION_PROJECTION,
    OPTION_GO_ON,
    OPTION_DESCEND,
    N_OPTION
};

enum { PRESET_BEST, PRESET_PAPER, PRESET_CODE, N_PRESET };
enum { EVALUATE_EVERY, EVALUATE_LAST, EVALUATE_BEST, N_EVALUATE };
enum { AS_PRESET, FIRST_WORD, SECOND_WORD, N_WORD }; /* of the choices that a preset makes */

static const char *const preset_words[] = {"best", "paper", "code"};
static const char *const evaluate_words[] = {"every", "last", "best"};
static const char *const accept_words[] = {"preset", "always", "annealed"};
static const char *const projection_words[] = {"preset", "log2", "raw"};
static const char *const go_on_words[] = {"preset", "projection", "point"};
static const char *const descend_words[] = {"preset", "outputs", "objective"};

static const struct engine_option option[N_OPTION] = {
    MM_OPTION_MODE,
    {"model", "the surrogate, a file of `dse train`; the engine does nothing without one", "", OPTION_FILE, 0,
     0, 0x1p53, NULL},
    {"preset",
     "what the options below are unless they are set: what did best here, as in the paper, as in its "
     "authors' program",
     "", OPTION_CHOICE, PRESET_BEST, 0, N_PRESET - 1, preset_words},
    {"steps", "of the surrogate, injections among them; 0: until the budget ends", "step", OPTION_INTEGER,
     1000, 0, 1e15, NULL},
    {"evaluate", "which mappings are priced: of every step, the last one, those of the best predictions", "",
     OPTION_CHOICE, EVALUATE_EVERY, 0, N_EVALUATE - 1, evaluate_words},
    {"best", "evaluate=best: how many", "mapping", OPTION_INTEGER, 100, 1, 10000, NULL},
    {"network", "of the model, the first is 1; 0: the one that did best in the trial of its training", "",
     OPTION_INTEGER, 0, 0, MM_NET_MAX, NULL},
    {"rate", "of a step, in normalised inputs; 0: as the preset", "", OPTION_REAL, 0, 0, 1e6, NULL},
    {"injection", "steps from one random mapping to the next; 0: as the preset", "step", OPTION_INTEGER, 0, 0,
     1e9, NULL},
    {"accept", "whether injections are", "", OPTION_CHOICE, AS_PRESET, 0, N_WORD - 1, accept_words},
    {"projection", "distance of the nearest mapping, in factors or their logarithms", "", OPTION_CHOICE,
     AS_PRESET, 0, N_WORD - 1, projection_words},
    {"go_on", "where the next step starts: at the mapping, or at the real-valued point", "", OPTION_CHOICE,
     AS_PRESET, 0, N_WORD - 1, go_on_words},
    {"descend", "what falls: the sum of all outputs, or the predicted objective", "", OPTION_CHOICE,
     AS_PRESET, 0, N_WORD - 1, descend_words},
};

/* The paper's appendix A; FACTS of the authors' program where it differs, by algorithm. */
static struct mm_walk_options preset_options(int preset, const struct mm_algorithm *algorithm)
{
    const bool cnn = algorithm == mm_algorithm(MM_CNN);
    switch (preset) {
    case PRESET_PAPER:
        return (struct mm_walk_options){.rate = 1,
                                        .injection = 10,
                                        .annealed = true,
                                        .distance = MM_DISTANCE_RAW,
                                        .from_projection = true};
    case PRESET_CODE:
        return (struct mm_walk_options){.rate = 1,
                                        .doubles = true,
                                        .halves = !cnn,
                                        .injection = cnn ? 10 : 25,
                                        .distance = MM_DISTANCE_RAW,
                                        .from_projection = !cnn,
                                        .outputs = true};
    default:
        return mm_walk_standard();
    }
}

/* A choice of the user's, or what the preset has. */
static bool chosen(const struct engine_context *context, size_t index, bool preset)
{
    int word = (int)engine_context_option(context, index);
    return word == AS_PRESET ? preset : word == FIRST_WORD;
}

static struct mm_walk_options walk_options(const struct engine_context *context,
                                           const struct mm_algorithm *algorithm)
{
    struct mm_walk_options o = preset_options((int)engine_context_option(context, OPTION_PRESET), algorithm);
    const double rate = engine_context_option(context, OPTION_RATE);
    const double injection = engine_context_option(context, OPTION_INJECTION);
    o.rate = rate > 0 ? rate : o.rate;
    o.injection = injection > 0 ? (uint32_t)injection : o.injection;
    o.annealed = !chosen(context, OPTION_ACCEPT, !o.annealed);
    o.distance = chosen(context, OPTION_PROJECTION, o.distance == MM_DISTANCE_LOG2) ? MM_DISTANCE_LOG2
                                                                                    : MM_DISTANCE_RAW;
    o.from_projection = chosen(context, OPTION_GO_ON, o.from_projection);
    o.outputs = chosen(context, OPTION_DESCEND, o.outputs);
    return o;
}

/* A mapping that is priced at the end. */
struct candidate {
    struct mm_mapping mapping;
    double predicted;
};

struct state {
    struct mm_search search;
    struct mm_walk *walk;
    uint64_t n_step;
    struct candidate *best; /* (n_best) of the best predictions, a heap with the worst one first */
    uint32_t n_best, n_best_max;
    struct candidate last;
};

/* A surrogate for the machine, with the network that is asked for. */
static enum dse_status takes_task(const struct engine_question *question, struct dse_error *err)
{
    const double *value = question->task->option;
    const struct mm_model *model = engine_question_file(question, "model");
    const uint32_t number = (uint32_t)value[OPTION_NET];
    struct mm_machine machine;
    DSE_TRY(mm_takes_task(question, err));
    if (!model)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "engine mindmappings needs a surrogate: option model=FILE, a file that `dse train` made");
    DSE_TRY(mm_machine_of(question->task->architecture, &machine, err));
    DSE_TRY(mm_model_check(model, "the option model", &machine, (enum mm_mode)value[OPTION_MODE], err));
    return number > model->n_net
               ? dse_fail(err, DSE_BAD_USAGE, "engine mindmappings: network %u of a model with %u", number,
                          model->n_net)
               : DSE_OK;
}

/* The network that is asked for. */
static const struct mm_net *choose_net(const struct engine_context *context, const struct mm_model *model)
{
    const uint32_t number = (uint32_t)engine_context_option(context, OPTION_NET);
    const struct mm_net *net = &model->net[number ? number - 1 : 0];
    for (uint32_t i = 0; number == 0 && i < model->n_net; i++)
        if (model->net[i].quality.trial < net->quality.trial)
            net = &model->net[i];
    return net;
}

/* ---------------------------------------- what is priced at the end */

static void swap(struct candidate *a, struct candidate *b)
{
    struct candidate kept = *a;
    *a = *b;
    *b = kept;
}

/* A heap with the worst prediction on top, which a better one takes the place of. */
static void keep_best(struct state *state, const struct candidate *found)
{
    uint32_t at;
    if (state->n_best < state->n_best_max) {
        at = state->n_best++;
        state->best[at] = *found;
        for (; at > 0 && state->best[(at - 1) / 2].predicted < state->best[at].predicted; at = (at - 1) / 2)
            swap(&state->best[(at - 1) / 2], &state->best[at]);
        return;
    }
    if (!(found->predicted < state->best[0].predicted))
        return;
    state->best[0] = *found;
    for (at = 0; 2 * at + 1 < state->n_best;) {
        uint32_t child = 2 * at + 1;
        child += child + 1 < state->n_best && state->best[child + 1].predicted > state->best[child].predicted;
        if (!(state->best[child].predicted > state->best[at].predicted))
            return;
        swap(&state->best[child], &state->best[at]);
        at = child;
    }
}

static int by_prediction(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

/* ---------------------------------------- the search */

static enum dse_status surrogate_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    const struct mm_model *model = engine_context_file(context, OPTION_MODEL);
    const enum mm_mode mode = (enum mm_mode)engine_context_option(context, OPTION_MODE);
    DSE_TRY(mm_search_init(&state->search, context, mode, err));
    const struct mm_walk_options options = walk_options(context, model->encoding.algorithm);
    const struct mm_net *net = choose_net(context, model);
    DSE_TRY(mm_walk_new(state->search.space, model, net, &engine_context_task(context)->objective, &options,
                        engine_context_stream(context, RANDOM_INIT), arena, &state->walk, err));
    state->n_best_max = (uint32_t)engine_context_option(context, OPTION_BEST);
    state->best = arena_alloc(arena, state->n_best_max, sizeof *state->best);
    return arena_check(arena, "the best predictions", err);
}

/* One mapping. False when there is nothing more to price. */
static bool make_step(struct state *state, const struct engine_context *context)
{
    double cost;
    (void)mm_walk_next(state->walk, &state->last.mapping, &state->last.predicted);
    state->n_step++;
    switch ((int)engine_context_option(context, OPTION_EVALUATE)) {
    case EVALUATE_EVERY:
        return mm_search_price(&state->search, &state->last.mapping, &cost) != SEARCH_OVER;
    case EVALUATE_BEST:
        keep_best(state, &state->last);
        return true;
    default:
        return true;
    }
}

/* What a step costs is some 50 evaluations. */
enum { STEP_BATCH = 20 };

static enum dse_status surrogate_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                     struct dse_error *err)
{
    struct state *state = memory;
    const double steps = engine_context_option(context, OPTION_STEPS);
    (void)err;
    for (int i = 0; i < STEP_BATCH; i++) {
        if (steps > 0 && (double)state->n_step >= steps) {
            *stop = STOP_CONVERGED;
            break;
        }
        if (!make_step(state, context))
            break;
    }
    return DSE_OK;
}

static enum dse_status surrogate_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    double cost;
    (void)err;
    if (engine_context_option(context, OPTION_EVALUATE) == EVALUATE_LAST && state->n_step > 0)
        (void)mm_search_price(&state->search, &state->last.mapping, &cost);
    qsort(state->best, state->n_best, sizeof *state->best, by_prediction);
    for (uint32_t i = 0; i < state->n_best; i++)
        if (mm_search_price(&state->search, &state->best[i].mapping, &cost) == SEARCH_OVER)
            break;
    return DSE_OK;
}

static enum dse_status surrogate_read(size_t index, const char *path, const void *bytes, size_t n_byte,
                                      struct arena *arena, const void **content, struct dse_error *err)
{
    const struct mm_model *model;
    (void)index;
    DSE_TRY(mm_model_read(path, bytes, n_byte, arena, &model, err));
    *content = model;
    return DSE_OK;
}

const struct engine engine_mindmappings = {
    .name = "mindmappings",
    .summary = "Mind Mappings: gradient search on a surrogate that was trained before",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 1e-3, .evaluations = 1000, .evaluation_s = 6e-5, .option = {"steps"}},
    .takes_only = MM_TAKES_ONLY,
    .takes_machine = mm_takes_machine,
    .takes_task = takes_task,
    .read_file = surrogate_read,
    .state_byte = sizeof(struct state),
    .init = surrogate_init,
    .step = surrogate_run,
    .finish = surrogate_finish,
};
