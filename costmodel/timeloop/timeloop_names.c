/* What all Timeloop readers share: names with counts ("PE[0..15]"), tags, unknown words, and top-level
 * keys with the reason why they are refused. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "costmodel/timeloop/timeloop_parts.h"

bool timeloop_is_null(const struct ynode *node)
{
    if (node == NULL)
        return true;
    if (node->kind != YNODE_SCALAR || node->quoted)
        return false;
    return node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcasecmp(node->text, "null") == 0;
}

enum dse_status timeloop_check_tag(const struct yaml_doc *doc, const struct ynode *node,
                                   struct dse_error *err)
{
    char excerpt[64];

    if (node->tag == NULL || node->tag[0] != '!')
        return DSE_OK;
    return yaml_fail(
        doc, node, err,
        "the tag %s belongs to Timeloop v4, which is not read; write the hierarchy as subtrees (v0.2 "
        "to v0.4)",
        text_excerpt(node->tag, excerpt, sizeof excerpt));
}

enum dse_status timeloop_unknown(const struct yaml_doc *doc, int line, struct dse_error *err,
                                 const char *what, const char *word, const char *const *known, size_t n_known)
{
    enum { LISTED = 20, LIST_BYTE = 400 };
    const char *nearest = text_nearest(word, known, n_known);
    char list[LIST_BYTE] = "", excerpt[80];
    size_t used = 0;

    for (size_t i = 0; i < n_known && n_known <= LISTED && used < sizeof list; i++) {
        int n = snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", known[i]);

        used += n > 0 ? (size_t)n : 0;
    }
    if (used >= sizeof list)
        list[0] = '\0';
    return dse_fail_at(err, DSE_BAD_INPUT, doc->path, line, "unknown %s \"%s\"%s%s%s%s%s%s", what,
                       text_excerpt(word, excerpt, sizeof excerpt),
                       nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "\"?" : "", list[0] != '\0' ? " (there are: " : "", list,
                       list[0] != '\0' ? ")" : "");
}

enum dse_status timeloop_unknown_dim(const struct yaml_doc *doc, int line, struct dse_error *err,
                                     const char *what, const char *name, const struct problem *problem)
{
    const char *known[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < problem->n_dim; d++)
        known[d] = problem->dim_name[d];
    return timeloop_unknown(doc, line, err, what, name, known, problem->n_dim);
}

enum dse_status timeloop_name(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                              char *name, size_t size, uint64_t *count, struct dse_error *err)
{
    const char *text = NULL;
    const char *bracket, *dots, *end;
    char number[24];
    uint64_t first, last;

    DSE_TRY(yaml_text(doc, node, what, &text, err));
    *count = 1;
    bracket = strchr(text, '[');
    end = text + strlen(text);
    if (bracket != NULL) {
        dots = strstr(bracket, "..");
        if (dots == NULL || end[-1] != ']' || (size_t)(dots - bracket) > sizeof number ||
            (size_t)(end - dots) > sizeof number)
            return yaml_fail(doc, node, err, "%s \"%s\": the range must be NAME[0..n-1] in plain numbers",
                             what, text);
        snprintf(number, sizeof number, "%.*s", (int)(dots - bracket - 1), bracket + 1);
        bool bad = !text_parse_u64(number, &first);
        snprintf(number, sizeof number, "%.*s", (int)(end - dots - 3), dots + 2);
        if (bad || !text_parse_u64(number, &last) || last < first || last - first >= UINT32_MAX)
            return yaml_fail(doc, node, err, "%s \"%s\": the range must be NAME[0..n-1] in plain numbers",
                             what, text);
        *count = last - first + 1;
        end = bracket;
    }
    if (end == text)
        return yaml_fail(doc, node, err, "%s has no name", what);
    if ((size_t)(end - text) >= size)
        return yaml_fail(doc, node, err, "%s \"%s\": the name is longer than %zu letters", what, text,
                         size - 1);
    memcpy(name, text, (size_t)(end - text));
    name[end - text] = '\0';
    if (!text_is_name(name))
        return yaml_fail(doc, node, err,
                         "%s \"%s\" is no name; use letters, digits and _ . + / -, beginning with a letter",
                         what, name);
    return DSE_OK;
}

static bool contains_any(const char *text, const char *const *word, size_t n_word)
{
    for (size_t i = 0; i < n_word; i++)
        if (strstr(text, word[i]) != NULL)
            return true;
    return false;
}

enum dse_status timeloop_classify(const struct yaml_doc *doc, const struct ynode *node, const char *name,
                                  const char *class_name, enum timeloop_kind *kind, struct dse_error *err)
{
    enum { N_STORAGE = 5, N_KNOWN = 9, N_NETWORK = 6 };
    static const char *const known[N_KNOWN] = {"DRAM", "SRAM",   "regfile", "smartbuffer", "storage",
                                               "mac",  "intmac", "fpmac",   "compute"};
    static const char *const network[N_NETWORK] = {"NoC",    "Multicast", "ReductionTree",
                                                   "Legacy", "Network",   "network"};
    if (contains_any(class_name, known, N_STORAGE)) {
        *kind = TIMELOOP_STORAGE;
        return DSE_OK;
    }
    if (contains_any(class_name, network, N_NETWORK))
        return yaml_fail(doc, node, err,
                         "%s is a user-defined network (class %s), which is not supported: only "
                         "the networks Timeloop infers itself are modelled",
                         name, class_name);
    if (contains_any(class_name, known + N_STORAGE, N_KNOWN - N_STORAGE)) {
        *kind = TIMELOOP_MAC;
        return DSE_OK;
    }
    const char *nearest = text_nearest(class_name, known, N_KNOWN);
    return yaml_fail(
        doc, node, err,
        "%s has class \"%s\", which is no storage (DRAM, SRAM, regfile, smartbuffer, "
        "storage) and no compute (mac, intmac, fpmac, compute)%s%s%s; other classes need Accelergy, whose "
        "ERT can be given instead",
        name, class_name, nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
        nearest != NULL ? "\"?" : "");
}

/* Top-level keys of Timeloop files that mean nothing here, and why. */
static const struct {
    const char *key;
    const char *reason;
} refused_root[] = {
    {"mapper",
     "it steers Timeloop's search; take it out of this file and choose an engine (`dse map --engine`)"},
    {"mapspace",
     "it restricts a search; take it out of this file (`dse map --constraints` has our own form)"},
    {"mapspace_constraints", "it restricts a search; take it out of this file"},
    {"architecture_constraints", "it restricts a search; take it out of this file"},
    {"arch_constraints", "it restricts a search; take it out of this file"},
    {"constraints", "it restricts a search; take it out of this file"},
    {"sparse_optimizations", "sparsity is not supported: the cost model is dense"},
    {"compound_components", "it needs Accelergy; run it and put the ERT it makes into the architecture file"},
    {"components",
     "it belongs to Timeloop v4 or Accelergy; write the architecture as a v0.4 tree with an ERT"},
    {"variables", "variables are not substituted; write the numbers in"},
    {"globals", "globals are not substituted; write the numbers in"},
    {"layout", "data layouts are not supported"},
    {"crypto", "crypto engines are not supported"},
};

enum dse_status timeloop_check_root(const struct yaml_doc *doc, struct dse_error *err)
{
    static const char *const allowed[] = {"architecture", "arch", "ERT", "ART", "problem", "mapping"};
    const struct ynode *root = doc->root;

    DSE_TRY(yaml_is_mapping(doc, root, "a Timeloop file", err));
    for (size_t i = 0; i < root->n_item; i++)
        for (size_t k = 0; k < sizeof refused_root / sizeof refused_root[0]; k++)
            if (strcmp(root->key[i], refused_root[k].key) == 0)
                return dse_fail_at(err, DSE_BAD_INPUT, doc->path, root->key_line[i], "\"%s\" is not read: %s",
                                   root->key[i], refused_root[k].reason);
    return yaml_check_keys(doc, root, "a Timeloop file", allowed, sizeof allowed / sizeof allowed[0], err);
}
