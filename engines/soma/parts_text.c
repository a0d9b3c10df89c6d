/* The key `cuts` of a schedule's text. */
#include "engines/soma/parts.h"

#include "costmodel/model/network_cut.h"

static enum dse_status read_cut(const struct yaml_doc *doc, const struct ynode *node,
                                const struct network *network, struct network_cut *cut, struct dse_error *err)
{
    static const char *const key[] = {"layer", "outputs", "inputs", "joined"};
    const struct ynode *layer = NULL, *outputs = yaml_find(node, "outputs"),
                       *inputs = yaml_find(node, "inputs"), *joined = yaml_find(node, "joined");
    uint64_t k = 1, c = 1;
    struct dse_error inner = {0};
    DSE_TRY(yaml_check_keys(doc, node, "a cut", key, sizeof key / sizeof *key, err));
    DSE_TRY(yaml_require(doc, node, "a cut", "layer", &layer, err));
    DSE_TRY(yaml_text(doc, layer, "layer", &cut->layer, err));
    if (outputs)
        DSE_TRY(yaml_u64(doc, outputs, "outputs", 1, NETWORK_DIM_MAX, &k, err));
    if (inputs)
        DSE_TRY(yaml_u64(doc, inputs, "inputs", 1, NETWORK_DIM_MAX, &c, err));
    cut->joined = false;
    if (joined)
        DSE_TRY(yaml_bool(doc, joined, "joined", &cut->joined, err));
    cut->k = (uint32_t)k;
    cut->c = (uint32_t)c;
    return network_cut_check(network, cut, &inner) == DSE_OK
               ? DSE_OK
               : yaml_fail(doc, node, err, "%.700s", inner.text);
}

enum dse_status soma_parts_read(const struct yaml_doc *doc, const struct soma_scheduled *given,
                                struct arena *arena, struct soma_scheduled *out, struct dse_error *err)
{
    const struct ynode *cuts = yaml_find(doc->root, "cuts");
    struct dse_error inner = {0};
    *out = *given;
    if (!cuts)
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(doc, cuts, "cuts", err));
    struct network_cut *cut = arena_alloc(arena, cuts->n_item, sizeof *cut);
    struct network *made = arena_alloc(arena, 1, sizeof *made);
    DSE_TRY(arena_check(arena, "the cuts of a schedule", err));
    for (size_t i = 0; i < cuts->n_item; i++)
        DSE_TRY(read_cut(doc, cuts->item[i], given->network, &cut[i], err));
    const enum dse_status status =
        network_cut(given->network, cut, (uint32_t)cuts->n_item, arena, made, &inner);
    out->network = made;
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, doc->path, cuts->line, "%.700s", inner.text);
}
