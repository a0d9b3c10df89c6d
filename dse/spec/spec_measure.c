/* The key `measure`: [noc, cosa], or {noc: {max_steps: N}, cosa: } where something is to be said about one of
 * them. */
#include <stdio.h>

#include "dse/spec/spec.h"

static enum dse_status add_word(struct sweep_spec *spec, const char *word, int line, struct dse_error *err)
{
    struct dse_error inner = {0};
    enum dse_status status = measure_add(&spec->measure, word, &inner);
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, spec->path, line, "%s", inner.text);
}

/* What stands behind a word; nothing at all is fine. */
static enum dse_status read_settings(struct sweep_spec *spec, const char *word, const struct ynode *node,
                                     struct dse_error *err)
{
    size_t n;
    char what[64];
    const int i = measure_find(word);
    const struct measure *measure = measure_all(&n)[i];
    if (node->kind == YNODE_SCALAR && node->text[0] == '\0')
        return DSE_OK;
    if (!measure->limit) {
        if (node->kind == YNODE_MAPPING && node->n_item == 0)
            return DSE_OK;
        return yaml_fail(&spec->doc, node, err, "measure: %s has no settings; write {%s: }", word, word);
    }
    snprintf(what, sizeof what, "measure.%s", word);
    DSE_TRY(yaml_check_keys(&spec->doc, node, what, &measure->limit, 1, err));
    const struct ynode *limit = yaml_find(node, measure->limit);
    return limit ? yaml_u64(&spec->doc, limit, measure->limit, 0, UINT32_MAX, &spec->measure.limit[i], err)
                 : DSE_OK;
}

enum dse_status spec_read_measure(struct sweep_spec *spec, struct dse_error *err)
{
    const struct ynode *node = yaml_find(spec->doc.root, "measure");
    if (!node)
        return DSE_OK;
    spec->measure_line = node->line;
    if (node->kind == YNODE_SCALAR)
        return yaml_fail(&spec->doc, node, err, "measure: a list is expected, as in measure: [noc]");
    for (size_t i = 0; i < node->n_item; i++) {
        const char *word;
        if (node->kind == YNODE_SEQUENCE) {
            DSE_TRY(yaml_text(&spec->doc, node->item[i], "measure", &word, err));
            DSE_TRY(add_word(spec, word, node->item[i]->line, err));
        } else {
            DSE_TRY(add_word(spec, node->key[i], node->key_line[i], err));
            DSE_TRY(read_settings(spec, node->key[i], node->item[i], err));
        }
    }
    return DSE_OK;
}
