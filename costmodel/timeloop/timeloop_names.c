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

bool timeloop_is_empty(const struct ynode *node)
{
    return timeloop_is_null(node) || (node->kind != YNODE_SCALAR && node->n_item == 0);
}

bool timeloop_is_v4(const struct yaml_doc *doc)
{
    const struct ynode *dumped = yaml_find(doc->root, "dumped_by_timeloop_front_end");
    const struct ynode *top = yaml_find(doc->root, "architecture");
    return dumped != NULL || yaml_find(top != NULL ? top : yaml_find(doc->root, "arch"), "nodes") != NULL;
}

enum dse_status timeloop_no_expression(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                       struct dse_error *err)
{
    char excerpt[64];
    double number;
    if (!timeloop_is_v4(doc) || node->kind != YNODE_SCALAR || text_parse_double(node->text, &number))
        return DSE_OK;
    return yaml_fail(
        doc, node, err,
        "%s is \"%s\": expressions, variables and references are not computed; write the number, "
        "or give the file that Timeloop's front end dumps (docs/timeloop.md)",
        what, text_excerpt(node->text, excerpt, sizeof excerpt));
}

enum dse_status timeloop_check_tag(const struct yaml_doc *doc, const struct ynode *node,
                                   struct dse_error *err)
{
    char excerpt[64];

    if (node->tag == NULL || node->tag[0] != '!')
        return DSE_OK;
    return yaml_fail(doc, node, err,
                     "the tag %s belongs to Timeloop v4, to a list `architecture.nodes`; this is a subtree "
                     "of v0.2 to v0.4",
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
    static const char fanout[] = "dummy_storage"; /* of v4's front end */
    static const char *const known[N_KNOWN] = {"DRAM", "SRAM",   "regfile", "smartbuffer", "storage",
                                               "mac",  "intmac", "fpmac",   "compute"};
    static const char *const network[N_NETWORK] = {"NoC",    "Multicast", "ReductionTree",
                                                   "Legacy", "Network",   "network"};
    if (strcmp(class_name, fanout) == 0) {
        *kind = TIMELOOP_FANOUT;
        return DSE_OK;
    }
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

/* Top-level keys of Timeloop files that mean nothing here, and why. Those that a file of v4 may have say
 * nothing of costs: what they would change is refused where it is used. */
static const struct {
    const char *key;
    bool in_v4;
    const char *reason;
} refused_root[] = {
    {"mapper", true,
     "it steers Timeloop's search; take it out of this file and choose an engine (`dse map --engine`)"},
    {"sparse_optimizations", false, "sparsity is not supported: the cost model is dense"},
    {"compound_components", true,
     "it needs Accelergy; run it and put the ERT it makes into the architecture file"},
    {"components", true,
     "it belongs to Timeloop v4 or Accelergy; write the architecture as a v0.4 tree with an ERT"},
    {"variables", true, "variables are not substituted; write the numbers in"},
    {"globals", true, "globals are not substituted; write the numbers in"},
    {"layout", false, "data layouts are not supported"},
    {"crypto", false, "crypto engines are not supported"},
};

enum { REFUSED_ROOT_COUNT = sizeof refused_root / sizeof refused_root[0] };

/* Keys that templates and references of v4's front end leave in a file. */
static enum dse_status check_front_end(const struct yaml_doc *doc, const char *key, int line,
                                       struct dse_error *err)
{
    if (key[0] != '$' && strncmp(key, "<<<", 3) != 0)
        return DSE_OK;
    return dse_fail_at(
        err, DSE_BAD_INPUT, doc->path, line,
        "\"%.40s\" is not read: references and templates are resolved by Timeloop's front end; "
        "give the file that it dumps (docs/timeloop.md)",
        key);
}

/* Every key and text below `node` of a file of v4, as far as `left` goes: aliases may stand for far more
 * nodes than a file has. What is not seen here is an unknown key where it is used. */
static enum dse_status check_references(const struct yaml_doc *doc, const struct ynode *node, int depth,
                                        size_t *left, struct dse_error *err)
{
    enum { DEPTH_MAX = 64 };
    for (size_t i = 0; node->kind != YNODE_SCALAR && depth < DEPTH_MAX && i<node->n_item && * left> 0; i++) {
        (*left)--;
        if (node->kind == YNODE_MAPPING)
            DSE_TRY(check_front_end(doc, node->key[i], node->key_line[i], err));
        if (node->item[i]->kind == YNODE_SCALAR)
            DSE_TRY(check_front_end(doc, node->item[i]->text, node->item[i]->line, err));
        else
            DSE_TRY(check_references(doc, node->item[i], depth + 1, left, err));
    }
    return DSE_OK;
}

enum dse_status timeloop_check_root(const struct yaml_doc *doc, enum timeloop_part part,
                                    struct dse_error *err)
{
    static const char *const always[] = {"architecture",
                                         "arch",
                                         "ERT",
                                         "ART",
                                         "problem",
                                         "mapping",
                                         "architecture_constraints",
                                         "arch_constraints",
                                         "mapspace_constraints",
                                         "constraints",
                                         "mapspace",
                                         "dumped_by_timeloop_front_end"};
    enum { ALWAYS_COUNT = sizeof always / sizeof always[0] };
    const struct ynode *root = doc->root;
    const char *allowed[ALWAYS_COUNT + REFUSED_ROOT_COUNT];
    size_t n_allowed = 0, left = 100000;
    DSE_TRY(yaml_is_mapping(doc, root, "a Timeloop file", err));
    const bool v4 = timeloop_is_v4(doc);
    for (; n_allowed < ALWAYS_COUNT; n_allowed++)
        allowed[n_allowed] = always[n_allowed];
    for (size_t k = 0; k < REFUSED_ROOT_COUNT; k++) {
        const struct ynode *value = yaml_find(root, refused_root[k].key);
        if (value && !(v4 && (refused_root[k].in_v4 || timeloop_is_empty(value))))
            for (size_t i = 0; i < root->n_item; i++)
                if (root->item[i] == value && strcmp(root->key[i], refused_root[k].key) == 0)
                    return dse_fail_at(err, DSE_BAD_INPUT, doc->path, root->key_line[i],
                                       "\"%s\" is not read: %s", root->key[i], refused_root[k].reason);
        if (value)
            allowed[n_allowed++] = refused_root[k].key;
    }
    if (v4)
        DSE_TRY(check_references(doc, root, 0, &left, err));
    if ((part == TIMELOOP_PROBLEM || part == TIMELOOP_MAPPING) && !yaml_find(root, "architecture") &&
        !yaml_find(root, "arch") && timeloop_has_rules(doc))
        return dse_fail_at(err, DSE_BAD_INPUT, doc->path, 1,
                           "constraints beside a %s are not read: put them into the machine's file, or give "
                           "them with --constraints",
                           part == TIMELOOP_PROBLEM ? "problem" : "mapping");
    return yaml_check_keys(doc, root, "a Timeloop file", allowed, n_allowed, err);
}
