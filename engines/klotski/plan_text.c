/* The text form of a schedule of uops, and back. */
#include <stdio.h>
#include <string.h>

#include "base/name_table.h"
#include "base/yaml.h"
#include "engines/klotski/uop_plan.h"

enum { LINE_MAX_BYTE = 110, NAME_MAX_BYTE = 160 };

/* ---- write ---- */

static void write_core(const struct uop_graph *graph, const struct uop_schedule *schedule, uint32_t c,
                       struct text_buffer *out)
{
    char name[NAME_MAX_BYTE];
    size_t column = 3;
    text_append(out, "- [");
    for (uint32_t i = schedule->first[c]; i < schedule->first[c + 1]; i++) {
        const int length = uop_name_print(graph, schedule->order[i], name, sizeof name);
        const char *between = i == schedule->first[c]                       ? ""
                              : column + (size_t)length + 2 > LINE_MAX_BYTE ? ",\n   "
                                                                            : ", ";
        column = (between[0] && between[1] == '\n' ? 3 : column + strlen(between)) + (size_t)length;
        text_append(out, "%s%s", between, name);
    }
    text_append(out, "]\n");
}

void uop_plan_write(const struct uop_graph *graph, const struct uop_plan *plan, struct text_buffer *out)
{
    const struct uop_network *network = graph->network;
    text_append(out, "uops: 1\n");
    network_write_name(network->network, out);
    text_append(out, "options: {sums: %s, sram: %s, memory: %s, transport: %s, firing: %s%s%s}\npartition:\n",
                uop_sums_name[plan->sums], uop_sram_name[plan->sram], uop_memory_name[plan->memory],
                uop_transport_name[plan->transport], uop_firing_name[plan->schedule.firing],
                network->vector ? ", vector: " : "", network->vector ? uop_vector_name[network->vector] : "");
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct uop_cut cut = graph->layer[l].cut;
        text_append(out, "- {layer: %s, h: %u, w: %u, ic: %u, oc: %u}\n",
                    network->network->layer[network->layer[l].of].name, cut.h, cut.w, cut.ic, cut.oc);
    }
    text_append(out, "cores:\n");
    for (uint32_t c = 0; c < plan->schedule.n_core; c++)
        write_core(graph, &plan->schedule, c, out);
}

/* ---- read ---- */

struct reader {
    struct yaml_doc doc;
    const struct uop_network *network;
    uint32_t batch;
    struct arena *arena;
    struct name_table name; /* of layers */
    struct uop_plan *plan;
    struct uop_cut_layer *layer; /* (n_all) */
    int *cut_line;               /* (n_layer) */
    bool *seen;                  /* (all uops) */
    uint32_t per_sample;
    enum uop_vector vector; /* as the text says; the network is made for it */
};

static const char *layer_name(const struct reader *r, uint32_t l)
{
    return r->network->network->layer[r->network->layer[l].of].name;
}

static enum dse_status read_options(struct reader *r, struct dse_error *err)
{
    static const char *const key[] = {"sums", "sram", "memory", "transport", "firing", "vector"};
    const struct {
        const char *const *choice;
        size_t n;
    } of[] = {{uop_sums_name, 3},      {uop_sram_name, 4},   {uop_memory_name, 2},
              {uop_transport_name, 3}, {uop_firing_name, 3}, {uop_vector_name, 3}};
    const struct ynode *options = yaml_find(r->doc.root, "options");
    size_t value[6] = {0};
    if (options)
        DSE_TRY(yaml_check_keys(&r->doc, options, "options", key, 6, err));
    for (size_t i = 0; options && i < 6; i++) {
        const struct ynode *node = yaml_find(options, key[i]);
        if (node)
            DSE_TRY(yaml_choice(&r->doc, node, key[i], of[i].choice, of[i].n, &value[i], err));
    }
    r->plan->sums = (enum uop_sums)value[0];
    r->plan->sram = (enum uop_sram)value[1];
    r->plan->memory = (enum uop_memory)value[2];
    r->plan->transport = (enum uop_transport)value[3];
    r->plan->schedule.firing = (enum uop_firing)value[4];
    r->vector = (enum uop_vector)value[5];
    return DSE_OK;
}

static enum dse_status read_cut(struct reader *r, const struct ynode *node, struct uop_cut *cut, bool *has,
                                struct dse_error *err)
{
    static const char *const key[] = {"layer", "h", "w", "ic", "oc"};
    const struct ynode *name_node, *size;
    const char *name;
    uint64_t value[4];
    size_t l;
    DSE_TRY(yaml_check_keys(&r->doc, node, "a layer's partition", key, 5, err));
    DSE_TRY(yaml_require(&r->doc, node, "a layer's partition", "layer", &name_node, err));
    DSE_TRY(yaml_text(&r->doc, name_node, "layer", &name, err));
    if (!name_table_get(&r->name, name, &l) || l >= r->network->n_layer)
        return yaml_fail(&r->doc, name_node, err, "network %s has no layer \"%.100s\" with MACs",
                         r->network->network->name, name);
    if (has[l])
        return yaml_fail(&r->doc, name_node, err, "layer %s stands here a second time", name);
    has[l] = true;
    r->cut_line[l] = name_node->line;
    for (int i = 0; i < 4; i++) {
        DSE_TRY(yaml_require(&r->doc, node, "a layer's partition", key[i + 1], &size, err));
        DSE_TRY(yaml_u64(&r->doc, size, key[i + 1], 1, UINT32_MAX, &value[i], err));
    }
    const struct uop_cut read = {(uint32_t)value[0], (uint32_t)value[1], (uint32_t)value[2],
                                 (uint32_t)value[3]};
    cut[l] = uop_cut_clip(&r->network->layer[l].whole, read);
    return DSE_OK;
}

static enum dse_status read_partition(struct reader *r, struct dse_error *err)
{
    const uint32_t n_layer = r->network->n_layer;
    const struct ynode *partition;
    struct uop_cut *cut = arena_alloc(r->arena, n_layer, sizeof *cut);
    bool *has = arena_alloc(r->arena, n_layer, sizeof *has);
    r->cut_line = arena_alloc(r->arena, n_layer, sizeof *r->cut_line);
    DSE_TRY(arena_check(r->arena, "a partition", err));
    DSE_TRY(yaml_require(&r->doc, r->doc.root, "a schedule of uops", "partition", &partition, err));
    DSE_TRY(yaml_is_sequence(&r->doc, partition, "partition", err));
    for (size_t i = 0; i < partition->n_item; i++)
        DSE_TRY(read_cut(r, partition->item[i], cut, has, err));
    for (uint32_t l = 0; l < n_layer; l++)
        if (!has[l])
            return yaml_fail(&r->doc, partition, err, "layer %s is missing; every layer with MACs is cut",
                             layer_name(r, l));
    r->plan->cut = cut;
    r->plan->cut_line = r->cut_line;
    return DSE_OK;
}

/* Where the uops of each layer begin. Too many are the fault of the layer that they could not be given. */
static enum dse_status count_uops(struct reader *r, struct dse_error *err)
{
    const struct uop_network *network = r->network;
    struct dse_error why = {0};
    uint64_t n = 0;
    uint32_t i = 0;
    r->layer = arena_alloc(r->arena, network->n_all, sizeof *r->layer);
    DSE_TRY(arena_check(r->arena, "a partition", err));
    if (uop_layout_of(network, r->plan->cut, r->plan->sums, r->batch, r->layer, &n, &why) != DSE_OK) {
        while (r->layer[network->order[i]].n_uop)
            i++;
        const uint32_t l = network->order[i];
        return dse_fail_at(err, DSE_BAD_INPUT, r->doc.path, l < network->n_layer ? r->cut_line[l] : 0, "%s",
                           why.text);
    }
    r->per_sample = (uint32_t)(n / r->batch);
    r->seen = arena_alloc(r->arena, n, sizeof *r->seen);
    return arena_check(r->arena, "uops", err);
}

/* "layer/tile" or "layer/tile#sample". */
static enum dse_status read_uop(struct reader *r, const struct ynode *node, uint32_t *uop,
                                struct dse_error *err)
{
    const char *text;
    char name[NAME_MAX_BYTE];
    uint64_t tile = 0, sample = 0;
    size_t l;
    DSE_TRY(yaml_text(&r->doc, node, "a uop", &text, err));
    const char *slash = strrchr(text, '/'), *hash = slash ? strchr(slash, '#') : NULL;
    const size_t digits = slash ? (hash ? (size_t)(hash - slash - 1) : strlen(slash + 1)) : 0;
    if (!slash || (size_t)(slash - text) >= sizeof name || digits == 0 || digits > 9)
        return yaml_fail(&r->doc, node, err, "\"%.100s\" is no uop; write LAYER/TILE, or LAYER/TILE#SAMPLE",
                         text);
    memcpy(name, text, (size_t)(slash - text));
    name[slash - text] = '\0';
    if (!name_table_get(&r->name, name, &l))
        return yaml_fail(&r->doc, node, err,
                         "there is no uop %.100s: network %s has no layer \"%.100s\" with MACs", text,
                         r->network->network->name, name);
    memcpy(name, slash + 1, digits);
    name[digits] = '\0';
    if (!text_parse_u64(name, &tile) || tile >= r->layer[l].n_uop)
        return yaml_fail(&r->doc, node, err, "there is no uop %.100s: layer %s has tiles 0 to %u", text,
                         layer_name(r, (uint32_t)l), r->layer[l].n_uop - 1);
    if (hash && (!text_parse_u64(hash + 1, &sample) || sample >= r->batch))
        return yaml_fail(&r->doc, node, err, "there is no uop %.100s: the batch has samples 0 to %u", text,
                         r->batch - 1);
    *uop = (uint32_t)(sample * r->per_sample + r->layer[l].first + tile);
    if (r->seen[*uop])
        return yaml_fail(&r->doc, node, err, "uop %.100s stands here a second time", text);
    r->seen[*uop] = true;
    return DSE_OK;
}

static enum dse_status all_seen(const struct reader *r, const struct ynode *cores, struct dse_error *err)
{
    for (uint32_t s = 0; s < r->batch; s++)
        for (uint32_t l = 0; l < r->network->n_all; l++)
            for (uint32_t t = 0; t < r->layer[l].n_uop; t++)
                if (!r->seen[s * r->per_sample + r->layer[l].first + t])
                    return yaml_fail(&r->doc, cores, err, "uop %s/%u of sample %u is on no core",
                                     layer_name(r, l), t, s);
    return DSE_OK;
}

static enum dse_status read_cores(struct reader *r, struct dse_error *err)
{
    const struct ynode *cores;
    const size_t n_uop = (size_t)r->per_sample * r->batch;
    DSE_TRY(yaml_require(&r->doc, r->doc.root, "a schedule of uops", "cores", &cores, err));
    DSE_TRY(yaml_is_sequence(&r->doc, cores, "cores", err));
    uint32_t *first = arena_alloc(r->arena, cores->n_item + 1, sizeof *first);
    uint32_t *order = arena_alloc(r->arena, n_uop, sizeof *order);
    DSE_TRY(arena_check(r->arena, "a schedule of uops", err));
    uint32_t n = 0;
    for (size_t c = 0; c < cores->n_item; c++) {
        DSE_TRY(yaml_is_sequence(&r->doc, cores->item[c], "a core's list", err));
        first[c] = n;
        for (size_t i = 0; i < cores->item[c]->n_item; i++)
            DSE_TRY(read_uop(r, cores->item[c]->item[i], &order[n < n_uop ? n++ : 0], err));
    }
    first[cores->n_item] = n;
    r->plan->cores_line = cores->line;
    r->plan->schedule.n_core = (uint32_t)cores->n_item;
    r->plan->schedule.first = first;
    r->plan->schedule.order = order;
    return all_seen(r, cores, err);
}

/* Keys, network, partition. */
static enum dse_status read_head(struct reader *r, struct dse_error *err)
{
    static const char *const key[] = {"uops",  "network",   "options", "partition",
                                      "cores", "parameters" /* of the network, which is read with them */};
    const struct ynode *root = r->doc.root, *node;
    const char *name;
    uint64_t version;
    DSE_TRY(yaml_check_keys(&r->doc, root, "a schedule of uops", key, sizeof key / sizeof key[0], err));
    DSE_TRY(yaml_require(&r->doc, root, "a schedule of uops", "uops", &node, err));
    DSE_TRY(yaml_u64(&r->doc, node, "uops", 1, 1, &version, err));
    DSE_TRY(yaml_require(&r->doc, root, "a schedule of uops", "network", &node, err));
    DSE_TRY(yaml_text(&r->doc, node, "network", &name, err));
    if (strcmp(name, r->network->network->name) != 0)
        return yaml_fail(&r->doc, node, err, "the schedule is for network \"%.100s\", not %s", name,
                         r->network->network->name);
    for (uint32_t l = 0; l < r->network->n_all; l++)
        if (!name_table_put(&r->name, layer_name(r, l), l))
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for the names of layers");
    return read_partition(r, err);
}

static enum dse_status read_plan(struct reader *r, struct dse_error *err)
{
    DSE_TRY(read_head(r, err));
    DSE_TRY(read_options(r, err));
    DSE_TRY(count_uops(r, err));
    return read_cores(r, err);
}

static enum dse_status read_text(struct reader *r, const char *path, const char *text, size_t length,
                                 enum dse_status (*read)(struct reader *, struct dse_error *),
                                 struct dse_error *err)
{
    DSE_TRY(yaml_parse(&r->doc, path, text, length, err));
    name_table_init(&r->name);
    const enum dse_status status = read(r, err);
    name_table_free(&r->name);
    yaml_doc_free(&r->doc);
    return status;
}

enum dse_status uop_plan_read(const char *path, const char *text, size_t length,
                              const struct uop_network *network, uint32_t batch, struct arena *arena,
                              struct uop_plan *plan, struct dse_error *err)
{
    struct reader r = {.network = network, .batch = batch, .arena = arena, .plan = plan};
    *plan = (struct uop_plan){.batch = batch};
    return read_text(&r, path, text, length, read_plan, err);
}

enum dse_status uop_partition_read(const char *path, const char *text, size_t length,
                                   const struct uop_network *network, struct arena *arena,
                                   const struct uop_cut **cut, struct dse_error *err)
{
    struct uop_plan plan = {.batch = 1};
    struct reader r = {.network = network, .batch = 1, .arena = arena, .plan = &plan};
    DSE_TRY(read_text(&r, path, text, length, read_head, err));
    *cut = plan.cut;
    return DSE_OK;
}

enum dse_status uop_vector_read(const char *path, const char *text, size_t length, enum uop_vector *vector,
                                struct dse_error *err)
{
    enum uop_sram sram;
    return uop_options_read(path, text, length, vector, &sram, err);
}

enum dse_status uop_options_read(const char *path, const char *text, size_t length, enum uop_vector *vector,
                                 enum uop_sram *sram, struct dse_error *err)
{
    struct uop_plan plan = {.batch = 1};
    struct reader r = {.plan = &plan};
    DSE_TRY(read_text(&r, path, text, length, read_options, err));
    *vector = r.vector;
    *sram = plan.sram;
    return DSE_OK;
}
