/* The text form of a scheme, and back (docs/soma.md). */
#include <string.h>

#include "base/name_table.h"
#include "costmodel/model/network_cut.h"
#include "engines/soma/notation/notation.h"

enum { RUN_PERIOD_MAX = 8, RUN_TIMES_MIN = 3 };

struct reader {
    const struct yaml_doc *doc;
    const struct network *network;
    struct arena *arena;
    struct name_table name;
    bool *seen; /* (n_layer, later n_tensor) */
    uint32_t n_seen;
};

static const char *const tensor_text[] = {"ifmap", "weights", "ofmap", "local"};

/* ---- write ---- */

static void write_groups(const struct network *network, const struct soma_lfa *lfa, struct text_buffer *out)
{
    text_append(out, "groups:\n");
    for (uint32_t g = 0; g < lfa->n_flc; g++) {
        uint32_t stop = soma_group_stop(lfa, g);
        text_append(out, "- {%stiles: %u, layers: [", lfa->dram_cut[g] ? "cut: true, " : "", lfa->tiling[g]);
        for (uint32_t at = lfa->flc[g]; at < stop; at++)
            text_append(out, "%s%s", at > lfa->flc[g] ? ", " : "", network->layer[lfa->order[at]].name);
        text_append(out, "]}\n");
    }
}

static void write_tensor(const struct network *network, const struct soma_dlsa *dlsa,
                         const struct fused_tensor *tensor, uint32_t id, struct text_buffer *out)
{
    text_append(out, "- [%u, %d, %d] # %s %s", id, dlsa->start[id], dlsa->end[id], tensor_text[tensor->kind],
                network->layer[tensor->layer].name);
    if (tensor->kind != FUSED_WEIGHT || tensor->streamed)
        text_append(out, " %u", tensor->index);
    if (tensor->kind == FUSED_IFMAP)
        text_append(out, " from %s",
                    tensor->source < 0 ? network->input[-1 - tensor->source].name
                                       : network->layer[tensor->source].name);
    text_append(out, "\n");
}

/* ---- runs ---- */

/* `period` tensors that come `times` times in a row, each time with their numbers and positions moved on by
 * the same. */
struct run {
    uint32_t period, times;
};

/* What the tensor at place i is moved on by to become the one at place i + period. */
struct run_step {
    int64_t id, start, end;
};

static struct run_step step_of(const struct soma_dlsa *dlsa, uint32_t i, uint32_t period)
{
    const uint32_t from = dlsa->order[i], to = dlsa->order[i + period];
    return (struct run_step){(int64_t)to - from, (int64_t)dlsa->start[to] - dlsa->start[from],
                             (int64_t)dlsa->end[to] - dlsa->end[from]};
}

/* How often the `period` tensors from place i come. */
static uint32_t run_times(const struct soma_dlsa *dlsa, uint32_t i, uint32_t period)
{
    uint32_t at = i;
    for (; (uint64_t)at + period < dlsa->n_dram; at++) {
        const struct run_step now = step_of(dlsa, at, period);
        if (now.start != now.end)
            break;
        if (at < i + period)
            continue;
        const struct run_step first = step_of(dlsa, i + (at - i) % period, period);
        if (now.id != first.id || now.start != first.start)
            break;
    }
    return (at - i) / period + 1;
}

/* The run from place i that says the most. */
static struct run find_run(const struct soma_dlsa *dlsa, uint32_t i)
{
    struct run best = {1, 1};
    uint64_t most = 1;
    for (uint32_t period = 1; period <= RUN_PERIOD_MAX && period < dlsa->n_dram - i; period++) {
        const uint32_t times = run_times(dlsa, i, period);
        if (times < RUN_TIMES_MIN || (uint64_t)times * period <= most)
            continue;
        best = (struct run){period, times};
        most = (uint64_t)times * period;
    }
    return best;
}

static void write_run(const struct soma_dlsa *dlsa, uint32_t i, struct run run, struct text_buffer *out)
{
    text_append(out, "- {times: %u, of: [", run.times);
    for (uint32_t k = 0; k < run.period; k++) {
        const uint32_t id = dlsa->order[i + k];
        const struct run_step step = step_of(dlsa, i + k, run.period);
        text_append(out, "%s[%u, %d, %d, %d, %d]", k > 0 ? ", " : "", id, dlsa->start[id], dlsa->end[id],
                    (int)step.id, (int)step.start);
    }
    text_append(out, "]}\n");
}

/* More than people read. */
static void write_runs(const struct soma_dlsa *dlsa, struct text_buffer *out)
{
    struct run run;
    for (uint32_t i = 0; i < dlsa->n_dram; i += run.period * run.times) {
        const uint32_t id = dlsa->order[i];
        run = find_run(dlsa, i);
        if (run.times > 1)
            write_run(dlsa, i, run, out);
        else
            text_append(out, "- [%u, %d, %d]\n", id, dlsa->start[id], dlsa->end[id]);
    }
}

static void write_cut(const struct network_cut *cut, bool first, struct text_buffer *out)
{
    text_append(out, "%s- {layer: %s", first ? "cuts:\n" : "", cut->layer);
    if (cut->k > 1)
        text_append(out, ", outputs: %u", cut->k);
    if (cut->c > 1)
        text_append(out, ", inputs: %u", cut->c);
    text_append(out, "%s}\n", cut->joined ? ", joined: true" : "");
}

void soma_write(const struct network *network, bool compat, const struct soma_lfa *lfa,
                const struct soma_dlsa *dlsa, const struct fused_schedule *schedule, uint32_t n_named,
                struct text_buffer *out)
{
    text_append(out, "soma: 1\n");
    network_write_name(network, out);
    text_append(out, "%s", compat ? "compat: true\n" : "");
    for (uint32_t i = 0; i < network->n_cut; i++)
        write_cut(&network->cut[i], i == 0, out);
    write_groups(network, lfa, out);
    if (dlsa == NULL)
        return;
    const bool named = dlsa->n_dram <= n_named;
    text_append(out, "tensors: %u\ndram: # tensor, start, end%s\n", dlsa->n_tensor,
                named ? "" : "; of runs also what the tensor, and the positions, are moved on by each time");
    if (!named)
        write_runs(dlsa, out);
    for (uint32_t i = 0; named && i < dlsa->n_dram; i++)
        write_tensor(network, dlsa, &schedule->tensor[dlsa->order[i]], dlsa->order[i], out);
}

/* ---- read ---- */

static enum dse_status out_of_memory(const struct reader *r, struct dse_error *err)
{
    return dse_fail_at(err, DSE_NO_MEMORY, r->doc->path, 0, "out of memory while reading a SoMa scheme");
}

static enum dse_status read_layer(struct reader *r, const struct ynode *node, struct soma_lfa *lfa,
                                  struct dse_error *err)
{
    const char *name = NULL;
    size_t l = 0;
    DSE_TRY(yaml_text(r->doc, node, "layers", &name, err));
    if (!name_table_get(&r->name, name, &l))
        return yaml_fail(r->doc, node, err, "network %s has no layer \"%.100s\"", r->network->name, name);
    if (r->seen[l])
        return yaml_fail(r->doc, node, err, "layer %s stands here a second time", name);
    r->seen[l] = true;
    lfa->order[r->n_seen++] = (uint32_t)l;
    return DSE_OK;
}

static enum dse_status read_group(struct reader *r, const struct ynode *node, struct soma_lfa *lfa,
                                  uint32_t g, struct dse_error *err)
{
    static const char *const key[] = {"cut", "tiles", "layers"};
    const struct ynode *tiles = NULL, *layers = NULL, *cut = yaml_find(node, "cut");
    uint64_t n_tile = 0;
    DSE_TRY(yaml_check_keys(r->doc, node, "a group", key, sizeof(key) / sizeof(*key), err));
    DSE_TRY(yaml_require(r->doc, node, "a group", "tiles", &tiles, err));
    DSE_TRY(yaml_require(r->doc, node, "a group", "layers", &layers, err));
    DSE_TRY(yaml_u64(r->doc, tiles, "tiles", 1, SOMA_TILE_MAX, &n_tile, err));
    DSE_TRY(yaml_is_sequence(r->doc, layers, "layers", err));
    if (cut != NULL)
        DSE_TRY(yaml_bool(r->doc, cut, "cut", &lfa->dram_cut[g], err));
    if (g == 0 && !lfa->dram_cut[0])
        return yaml_fail(r->doc, node, err, "the first group must have cut: true");
    if (layers->n_item == 0)
        return yaml_fail(r->doc, layers, err, "a group without layers");
    lfa->flc[g] = r->n_seen;
    lfa->tiling[g] = (uint32_t)n_tile;
    for (size_t i = 0; i < layers->n_item; i++)
        DSE_TRY(read_layer(r, layers->item[i], lfa, err));
    return DSE_OK;
}

static enum dse_status read_groups(struct reader *r, struct soma_lfa *lfa, struct dse_error *err)
{
    const struct ynode *groups = NULL;
    uint32_t n_layer = r->network->n_layer;
    DSE_TRY(yaml_require(r->doc, r->doc->root, "a SoMa scheme", "groups", &groups, err));
    DSE_TRY(yaml_is_sequence(r->doc, groups, "groups", err));
    if (groups->n_item == 0 || groups->n_item > n_layer)
        return yaml_fail(r->doc, groups, err, "%zu groups; network %s can have 1 to %u", groups->n_item,
                         r->network->name, n_layer);
    lfa->n_layer = n_layer;
    lfa->n_flc = (uint32_t)groups->n_item;
    lfa->order = arena_alloc(r->arena, n_layer, sizeof(*lfa->order));
    lfa->flc = arena_alloc(r->arena, groups->n_item, sizeof(*lfa->flc));
    lfa->tiling = arena_alloc(r->arena, groups->n_item, sizeof(*lfa->tiling));
    lfa->dram_cut = arena_alloc(r->arena, groups->n_item, sizeof(*lfa->dram_cut));
    r->seen = arena_alloc(r->arena, n_layer, sizeof(*r->seen));
    DSE_TRY(arena_check(r->arena, "a scheme", err));
    for (uint32_t g = 0; g < lfa->n_flc; g++)
        DSE_TRY(read_group(r, groups->item[g], lfa, g, err));
    for (uint32_t l = 0; l < n_layer; l++)
        if (!r->seen[l])
            return yaml_fail(r->doc, groups, err, "layer %s is in no group; every layer must be in one",
                             r->network->layer[l].name);
    return DSE_OK;
}

static enum dse_status read_position(const struct reader *r, const struct ynode *node, const char *what,
                                     int32_t *value, struct dse_error *err)
{
    const char *text = NULL;
    int64_t number = 0;
    DSE_TRY(yaml_text(r->doc, node, what, &text, err));
    if (!text_parse_i64(text, &number) || number < -1 || number > SOMA_TILE_MAX)
        return yaml_fail(r->doc, node, err, "%s is \"%.100s\"; it must be a position from -1 to %d", what,
                         text, SOMA_TILE_MAX);
    *value = (int32_t)number;
    return DSE_OK;
}

static enum dse_status read_step(const struct reader *r, const struct ynode *node, int64_t *value,
                                 struct dse_error *err)
{
    const char *text = NULL;
    DSE_TRY(yaml_text(r->doc, node, "a step", &text, err));
    if (!text_parse_i64(text, value) || *value < -SOMA_TENSOR_MAX || *value > SOMA_TENSOR_MAX)
        return yaml_fail(r->doc, node, err, "a step is \"%.100s\"; it must be a whole number from -%d to %d",
                         text, SOMA_TENSOR_MAX, SOMA_TENSOR_MAX);
    return DSE_OK;
}

/* The next place of the DRAM order is this tensor's. */
static enum dse_status put_tensor(struct reader *r, const struct ynode *node, uint32_t id, int32_t start,
                                  int32_t end, struct soma_dlsa *dlsa, struct dse_error *err)
{
    if (r->seen[id])
        return yaml_fail(r->doc, node, err, "tensor %u stands here a second time", (unsigned)id);
    if (end <= start)
        return yaml_fail(r->doc, node, err, "the end, %d, must lie behind the start, %d", end, start);
    r->seen[id] = true;
    dlsa->order[dlsa->n_dram++] = id;
    dlsa->start[id] = start;
    dlsa->end[id] = end;
    return DSE_OK;
}

static enum dse_status read_tensor(struct reader *r, const struct ynode *node, struct soma_dlsa *dlsa,
                                   struct dse_error *err)
{
    uint64_t id = 0;
    int32_t start = 0, end = 0;
    if (node->kind != YNODE_SEQUENCE || node->n_item != 3)
        return yaml_fail(r->doc, node, err, "dram needs [tensor, start, end] for each tensor");
    DSE_TRY(yaml_u64(r->doc, node->item[0], "tensor", 0, dlsa->n_tensor - 1, &id, err));
    DSE_TRY(read_position(r, node->item[1], "start", &start, err));
    DSE_TRY(read_position(r, node->item[2], "end", &end, err));
    return put_tensor(r, node, (uint32_t)id, start, end, dlsa, err);
}

/* One tensor of a run, the time-th time. */
static enum dse_status read_moved(struct reader *r, const struct ynode *node, int64_t time,
                                  struct soma_dlsa *dlsa, struct dse_error *err)
{
    uint64_t first = 0;
    int32_t start = 0, end = 0;
    int64_t id_step = 0, position_step = 0;
    if (node->kind != YNODE_SEQUENCE || node->n_item != 5)
        return yaml_fail(r->doc, node, err,
                         "a run needs [tensor, start, end, step of the tensor, step of start and end] for "
                         "each tensor");
    DSE_TRY(yaml_u64(r->doc, node->item[0], "tensor", 0, dlsa->n_tensor - 1, &first, err));
    DSE_TRY(read_position(r, node->item[1], "start", &start, err));
    DSE_TRY(read_position(r, node->item[2], "end", &end, err));
    DSE_TRY(read_step(r, node->item[3], &id_step, err));
    DSE_TRY(read_step(r, node->item[4], &position_step, err));
    const int64_t id = (int64_t)first + time * id_step, from = start + time * position_step,
                  to = end + time * position_step;
    if (id < 0 || id >= dlsa->n_tensor || from < -1 || to > SOMA_TILE_MAX)
        return yaml_fail(r->doc, node, err,
                         "time %lld this is tensor %lld from %lld to %lld; there are %u tensors, and "
                         "positions from -1 to %d",
                         (long long)time + 1, (long long)id, (long long)from, (long long)to, dlsa->n_tensor,
                         SOMA_TILE_MAX);
    return put_tensor(r, node, (uint32_t)id, (int32_t)from, (int32_t)to, dlsa, err);
}

static enum dse_status read_run(struct reader *r, const struct ynode *node, struct soma_dlsa *dlsa,
                                struct dse_error *err)
{
    static const char *const key[] = {"times", "of"};
    const struct ynode *times_node = NULL, *of = NULL;
    uint64_t times = 0;
    DSE_TRY(yaml_check_keys(r->doc, node, "a run", key, sizeof(key) / sizeof(*key), err));
    DSE_TRY(yaml_require(r->doc, node, "a run", "times", &times_node, err));
    DSE_TRY(yaml_require(r->doc, node, "a run", "of", &of, err));
    DSE_TRY(yaml_u64(r->doc, times_node, "times", 1, SOMA_TENSOR_MAX, &times, err));
    DSE_TRY(yaml_is_sequence(r->doc, of, "of", err));
    if (of->n_item * times > dlsa->n_tensor) /* both are below 2^32 */
        return yaml_fail(r->doc, node, err, "the run has %zu tensors %llu times; there are %u", of->n_item,
                         (unsigned long long)times, dlsa->n_tensor);
    for (uint64_t t = 0; t < times; t++)
        for (size_t i = 0; i < of->n_item; i++)
            DSE_TRY(read_moved(r, of->item[i], (int64_t)t, dlsa, err));
    return DSE_OK;
}

static enum dse_status read_dlsa(struct reader *r, struct soma_dlsa *dlsa, struct dse_error *err)
{
    const struct ynode *tensors = NULL, *dram = NULL;
    uint64_t n_tensor = 0;
    DSE_TRY(yaml_require(r->doc, r->doc->root, "a SoMa scheme with dram", "tensors", &tensors, err));
    DSE_TRY(yaml_require(r->doc, r->doc->root, "a SoMa scheme with tensors", "dram", &dram, err));
    DSE_TRY(yaml_u64(r->doc, tensors, "tensors", 1, SOMA_TENSOR_MAX, &n_tensor, err));
    DSE_TRY(yaml_is_sequence(r->doc, dram, "dram", err));
    if (dram->n_item > n_tensor)
        return yaml_fail(r->doc, dram, err, "dram has %zu tensors, more than there are (tensors: %u)",
                         dram->n_item, (unsigned)n_tensor);
    dlsa->n_tensor = (uint32_t)n_tensor;
    dlsa->n_dram = 0;
    dlsa->order = arena_alloc(r->arena, n_tensor, sizeof(*dlsa->order));
    dlsa->start = arena_alloc(r->arena, n_tensor, sizeof(*dlsa->start));
    dlsa->end = arena_alloc(r->arena, n_tensor, sizeof(*dlsa->end));
    r->seen = arena_alloc(r->arena, n_tensor, sizeof(*r->seen));
    DSE_TRY(arena_check(r->arena, "a scheme", err));
    for (size_t i = 0; i < dram->n_item; i++)
        DSE_TRY((dram->item[i]->kind == YNODE_MAPPING ? read_run : read_tensor)(r, dram->item[i], dlsa, err));
    return DSE_OK;
}

enum dse_status soma_read_rules(const struct yaml_doc *doc, enum soma_rules *rules, struct dse_error *err)
{
    const struct ynode *node = yaml_find(doc->root, "compat");
    bool compat = false;
    *rules = SOMA_RULES_UNSAID;
    if (node == NULL)
        return DSE_OK;
    DSE_TRY(yaml_bool(doc, node, "compat", &compat, err));
    *rules = compat ? SOMA_RULES_COMPAT : SOMA_RULES_DEFAULT;
    return DSE_OK;
}

static enum dse_status read_scheme(struct reader *r, struct soma_lfa *lfa, struct soma_dlsa *dlsa,
                                   bool *has_dlsa, struct dse_error *err)
{
    static const char *const key[] = {
        "soma",       "network", "compat", "groups",
        "tensors",    "dram",    "core",   "core_evaluations", /* soma_core_read */
        "cuts",                                                /* soma_parts_read */
        "parameters",                                          /* of the network, which is read with them */
    };
    const struct ynode *root = r->doc->root, *version = NULL, *name_node = NULL;
    uint64_t number = 0;
    const char *name = NULL;
    enum soma_rules rules;
    DSE_TRY(yaml_check_keys(r->doc, root, "a SoMa scheme", key, sizeof(key) / sizeof(*key), err));
    DSE_TRY(yaml_require(r->doc, root, "a SoMa scheme", "soma", &version, err));
    DSE_TRY(yaml_u64(r->doc, version, "soma", 1, 1, &number, err));
    DSE_TRY(yaml_require(r->doc, root, "a SoMa scheme", "network", &name_node, err));
    DSE_TRY(yaml_text(r->doc, name_node, "network", &name, err));
    if (strcmp(name, r->network->name) != 0)
        return yaml_fail(r->doc, name_node, err, "the schedule is for network \"%.100s\", not %s", name,
                         r->network->name);
    DSE_TRY(soma_read_rules(r->doc, &rules, err));
    for (uint32_t l = 0; l < r->network->n_layer; l++)
        if (!name_table_put(&r->name, r->network->layer[l].name, l))
            return out_of_memory(r, err);
    DSE_TRY(read_groups(r, lfa, err));
    *has_dlsa = yaml_find(root, "tensors") != NULL || yaml_find(root, "dram") != NULL;
    return *has_dlsa ? read_dlsa(r, dlsa, err) : DSE_OK;
}

enum dse_status soma_read(const struct yaml_doc *doc, const struct network *network, struct arena *arena,
                          struct soma_lfa *lfa, struct soma_dlsa *dlsa, bool *has_dlsa, struct dse_error *err)
{
    struct reader r = {.doc = doc, .network = network, .arena = arena};
    *lfa = (struct soma_lfa){0};
    *dlsa = (struct soma_dlsa){0};
    *has_dlsa = false;
    name_table_init(&r.name);
    enum dse_status status = read_scheme(&r, lfa, dlsa, has_dlsa, err);
    name_table_free(&r.name);
    return status;
}
