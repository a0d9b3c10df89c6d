/* Counts what each layer needs at least (tile_fewest); layers that are alike are counted once. */
#include "engines/klotski/klotski_fit.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "costmodel/uop/node_machine.h"
#include "engines/driver/engine_fit.h"
#include "engines/klotski/baseline_offer.h"

/* Of what a graph can have, the rest is for sums and pools, which max_uops does not count. */
enum { GROWN_MAX = UOP_MAX / 50 * 49 };

/* The fewest uops of a network, a sample. */
struct fewest {
    uint64_t n;
    struct uop_cut *cut; /* (n_layer) */
    uint32_t misfit;     /* the first layer of which no tile fits; n_layer: there is none */
    uint32_t most;       /* the layer that needs the most, and how many */
    uint64_t n_most;
};

static enum dse_status find_fewest(const struct uop_network *network, const struct kc_machine *machine,
                                   enum uop_sram sram, struct arena *arena, struct fewest *out,
                                   struct dse_error *err)
{
    *out = (struct fewest){.misfit = network->n_layer,
                           .cut = arena_alloc(arena, network->n_layer, sizeof *out->cut)};
    uint64_t *n = arena_alloc(arena, network->n_layer, sizeof *n);
    DSE_TRY(arena_check(arena, "the uops of layers", err));
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct kc_tile *whole = &network->layer[l].whole;
        uint32_t like = 0;
        while (memcmp(&network->layer[like].whole, whole, sizeof *whole) != 0)
            like++;
        n[l] = like < l ? n[like] : tile_fewest(whole, machine, sram, &out->cut[l]);
        out->cut[l] = out->cut[like];
        if (n[l] == 0 && out->misfit == network->n_layer)
            out->misfit = l;
        if (n[l] > out->n_most) {
            out->n_most = n[l];
            out->most = l;
        }
        out->n += n[l];
    }
    return DSE_OK;
}

/* May sums that leave a block be uops of their own (UOP_BLOCKS)? */
static bool has_blocks(const struct network *network, enum uop_vector vector)
{
    return network->n_repeat != 0 && !network->unroll && vector != UOP_VECTOR;
}

/* ---- before a search ---- */

static bool has_option(const struct engine *engine, const char *name)
{
    for (size_t i = 0; i < engine->n_option; i++)
        if (strcmp(engine->option[i].name, name) == 0)
            return true;
    return false;
}

/* `standard`: of an engine without the option, which is tangram. */
static double option_or(const struct engine_question *question, const char *name, double standard)
{
    return has_option(question->engine, name) ? engine_question_option(question, name) : standard;
}

static enum uop_sram sram_of(const struct engine_question *question)
{
    return (enum uop_sram)option_or(question, "sram", UOP_SRAM_ALL);
}

static double max_uops_of(const struct engine_question *question)
{
    return option_or(question, "max_uops", KLOTSKI_MAX_UOPS_STANDARD);
}

static const char *name_of(const struct uop_network *network, uint32_t l)
{
    return network->network->layer[network->layer[l].of].name;
}

static enum dse_status check_fewest(const struct engine_question *question, const struct uop_network *network,
                                    const struct kc_machine *machine, uint32_t n_sample,
                                    const struct fewest *fewest, struct dse_error *err)
{
    const double max_uops = max_uops_of(question);
    const int most = max_uops == KLOTSKI_MAX_UOPS_STANDARD ? GROWN_MAX : UOP_MAX;
    if (fewest->misfit < network->n_layer)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s: no tile of layer %s fits the %" PRIu64
                        " words of an accelerator's memory, not even one output pixel with one fold of "
                        "channels; take sram=output or a larger memory",
                        network->network->name, name_of(network, fewest->misfit), machine->sram_word);
    if (max_uops != KLOTSKI_MAX_UOPS_STANDARD && (double)fewest->n > max_uops)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s: for the accelerators' memories its %u layers with MACs need %" PRIu64
                        " uops at least (layer %s %" PRIu64 "), and max_uops = %.0f; set a larger max_uops",
                        network->network->name, network->n_layer, fewest->n, name_of(network, fewest->most),
                        fewest->n_most, max_uops);
    if (fewest->n > (uint64_t)most / n_sample)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s: for the accelerators' memories its %u layers with MACs need %" PRIu64
                        " uops at least for each of %u samples (layer %s %" PRIu64
                        "), more than %d; take %slarger memories",
                        network->network->name, network->n_layer, fewest->n, n_sample,
                        name_of(network, fewest->most), fewest->n_most, most,
                        n_sample > 1 ? "a smaller batch or " : "");
    return DSE_OK;
}

/* What uops take is not asked here. */
static enum dse_status price_nothing(const void *self, const struct kc_tile *tile, struct uop_cost *cost,
                                     struct dse_error *err)
{
    (void)self, (void)tile, (void)err;
    *cost = (struct uop_cost){0};
    return DSE_OK;
}

/* Can memories be planned for the fewest uops? Of n uops a sample there are at most n n / 2 edges. */
static enum dse_status check_plan(const struct engine_question *question, const struct uop_network *network,
                                  const struct kc_machine *machine, uint32_t n_sample,
                                  const struct fewest *fewest, struct arena *arena, struct dse_error *err)
{
    const enum uop_sums sums = (enum uop_sums)option_or(question, "sums", UOP_SUMS_CHAIN);
    struct uop_cut_layer *layer = arena_alloc(arena, network->n_all, sizeof *layer);
    struct kc_machine unpriced = *machine;
    struct uop_graph graph;
    struct uop_needs needs;
    struct dse_error why = {0};
    uint64_t n_uop;
    DSE_TRY(arena_check(arena, "the uops of layers", err));
    unpriced.pricer = (struct uop_pricer){.cost = price_nothing};
    enum dse_status status = uop_layout_of(network, fewest->cut, sums, n_sample, layer, &n_uop, &why);
    if (status == DSE_OK && n_uop / n_sample * (n_uop / 2 + 3) <= UOP_USE_MAX)
        return DSE_OK;
    if (status == DSE_OK)
        status = uop_graph_within(network, &unpriced, fewest->cut, sums, n_sample, UOP_USE_MAX, arena, &graph,
                                  &why);
    if (status == DSE_OK)
        status = uop_needs_of(&graph, machine, sram_of(question), arena, &needs, &why);
    if (status == DSE_LIMIT)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "network %s: for the accelerators' memories its layers need %" PRIu64
            " uops at least for each of %u samples, which read more than the %d tiles that a "
            "plan of memories has (memory=dram, sums=%s); take sums=reduce, %slarger memories or memory=free",
            network->network->name, fewest->n, n_sample, UOP_USE_MAX, uop_sums_name[sums],
            n_sample > 1 ? "a smaller batch, " : "");
    return status == DSE_OK ? DSE_OK : dse_fail(err, status, "%s", why.text);
}

/* Layers as they are with free memories, or as a file or the options h, w, ic and oc say, pass over what
 * memories need. */
static bool is_given(const struct engine_question *question)
{
    if (engine_question_file(question, "partition_from"))
        return true;
    if (!has_option(question->engine, "max_uops"))
        return engine_question_option(question, "memory") != UOP_DRAM;
    return has_option(question->engine, "h") && engine_question_option(question, "partition") == 0;
}

/* A layer with MACs is a uop at least. */
static enum dse_status check_number(const struct uop_network *network, uint32_t n_sample,
                                    struct dse_error *err)
{
    if ((uint64_t)network->n_layer * n_sample <= UOP_MAX)
        return DSE_OK;
    return dse_fail(err, DSE_BAD_USAGE,
                    "network %s has %u layers with MACs, so %llu uops at least for a batch of %u, more than "
                    "%d; take a smaller batch",
                    network->network->name, network->n_layer, (unsigned long long)network->n_layer * n_sample,
                    n_sample, UOP_MAX);
}

static enum dse_status check_task(const struct engine_question *question, struct arena *arena,
                                  struct dse_error *err)
{
    struct kc_machine machine;
    struct core_split node;
    struct uop_network network;
    struct fewest fewest;
    uint32_t n_sample;
    const enum uop_vector vector = (enum uop_vector)engine_question_option(question, "vector");
    DSE_TRY(uop_network_for(question->task->network, question->task->batch, vector, arena, &network,
                            &n_sample, err));
    DSE_TRY(check_number(&network, n_sample, err));
    if (is_given(question))
        return DSE_OK;
    DSE_TRY(node_machine_of(question->task->architecture, &machine, &node, err));
    const enum uop_sram sram = sram_of(question);
    DSE_TRY(find_fewest(&network, &machine, sram, arena, &fewest, err));
    DSE_TRY(check_fewest(question, &network, &machine, n_sample, &fewest, err));
    if (engine_question_option(question, "memory") != UOP_DRAM)
        return DSE_OK;
    if (has_option(question->engine, "max_uops") && has_blocks(question->task->network, vector) &&
        (double)fewest.n > max_uops_of(question)) {
        DSE_TRY(uop_network_for(question->task->network, question->task->batch, UOP_BLOCKS, arena, &network,
                                &n_sample, err));
        DSE_TRY(find_fewest(&network, &machine, sram, arena, &fewest, err));
    }
    return check_plan(question, &network, &machine, n_sample, &fewest, arena, err);
}

enum dse_status klotski_takes_task(const struct engine_question *question, struct dse_error *err)
{
    const struct uop_setting setting = {
        .transport = (enum uop_transport)engine_question_option(question, "transport"),
        .memory = (enum uop_memory)engine_question_option(question, "memory")};
    struct arena arena;
    DSE_TRY(uop_setting_check(&setting, (enum uop_firing)engine_question_option(question, "firing"), err));
    arena_init(&arena);
    const enum dse_status status = check_task(question, &arena, err);
    arena_free(&arena);
    return status;
}

/* ---- in a search ---- */

bool klotski_more_uops(struct tile_rules *rules)
{
    if (!rules->grows || rules->max_uops >= GROWN_MAX)
        return false;
    rules->max_uops = 2 * rules->max_uops < GROWN_MAX ? 2 * rules->max_uops : GROWN_MAX;
    return true;
}

enum dse_status klotski_fewest_cut(const struct klotski_task *task, const struct tile_rules *rules,
                                   struct arena *arena, const struct uop_cut **cut, struct dse_error *err)
{
    struct fewest fewest;
    *cut = NULL;
    DSE_TRY(find_fewest(&task->network, &task->machine, rules->sram, arena, &fewest, err));
    *cut = fewest.misfit == task->network.n_layer ? fewest.cut : NULL;
    return DSE_OK;
}

enum dse_status klotski_offer_fewest(struct engine_context *context, const struct klotski_task *task,
                                     const struct tile_rules *rules, struct uop_plan *plan,
                                     struct arena *scratch, struct dse_error *err)
{
    struct uop_graph graph;
    if (engine_context_best_cost(context) < INFINITY || plan->memory == UOP_FREE)
        return DSE_OK;
    DSE_TRY(klotski_fewest_cut(task, rules, scratch, &plan->cut, err));
    if (!plan->cut)
        return DSE_OK;
    DSE_TRY(uop_graph_of(&task->network, &task->machine, plan->cut, plan->sums, plan->batch, scratch, &graph,
                         err));
    return baseline_offer_atomic(context, task, &graph, plan, scratch, err);
}

enum dse_status klotski_search_of(const struct engine_context *context, size_t first, bool folds, bool given,
                                  struct arena *arena, struct klotski_task *task, struct tile_rules *rules,
                                  struct dse_error *err)
{
    const struct engine_task *asked = engine_context_task(context);
    const struct network *network = asked->network;
    const enum uop_vector vector = klotski_vector(context, first + KLOTSKI_VECTOR);
    struct fewest fewest;
    DSE_TRY(klotski_task_of(asked, vector, arena, task, err));
    *rules = klotski_rules(context, first, task);
    DSE_TRY(find_fewest(&task->network, &task->machine, rules->sram, arena, &fewest, err));
    const bool is_enough = fewest.n * task->batch <= rules->max_uops;
    while (fewest.n * task->batch > rules->max_uops && klotski_more_uops(rules))
        ;
    if (is_enough || given || !has_blocks(network, vector))
        return DSE_OK;
    klotski_task_free(task);
    DSE_TRY(klotski_task_of(asked, UOP_BLOCKS, arena, task, err));
    if (folds)
        DSE_TRY(block_fold_new(network, arena, &task->fold, err));
    if (task->fold) {
        task->network = task->fold->once;
        rules->times = task->fold->times;
        rules->usual = (uint32_t)((uint64_t)rules->usual * task->fold->whole.n_layer / task->network.n_layer);
    }
    return DSE_OK;
}
