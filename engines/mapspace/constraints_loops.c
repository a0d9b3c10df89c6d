/* What an entry says of loops: factors, permutation, split, axes, in each spelling that Timeloop has. Entries
 * of one list that contradict each other are refused with both lines. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engines/mapspace/constraints_entry.h"

enum { WORD_MAX = PROBLEM_NAME_MAX };

static enum dse_status find_dim(const struct constraint_entry *e, const struct ynode *node, const char *word,
                                uint32_t *dim)
{
    const char *known[PROBLEM_DIM_MAX];
    int found = problem_find_dim(e->problem, word);
    if (found < 0 &&
        e->list == LIST_MACHINE) /* output channels: M in Timeloop's examples, K in its cnn-layer */
        found = problem_find_dim(e->problem, strcmp(word, "M") == 0   ? "K"
                                             : strcmp(word, "K") == 0 ? "M"
                                                                      : word);
    for (uint32_t d = 0; d < e->problem->n_dim; d++)
        known[d] = e->problem->dim_name[d];
    if (found < 0)
        return constraint_unknown(e, node, "dimension", word, known, e->problem->n_dim);
    *dim = (uint32_t)found;
    return DSE_OK;
}

/* ---------------------------------------- what was said before */

/* Forget at `said` what an earlier list said: the later one replaces it. */
static void replace(const struct constraint_entry *e, struct said *said, uint32_t *value)
{
    if (constraint_holds(e, said))
        return;
    *said = (struct said){0, 0};
    *value = 0;
}

/* Where it was said: what the machine's file says stays said there. */
static void note_said(const struct constraint_entry *e, struct said *said, const struct ynode *node)
{
    if (!said->line || said->list != LIST_MACHINE)
        *said = (struct said){node->line, e->list};
}

static enum dse_status contradicts(const struct constraint_entry *e, const struct ynode *node,
                                   const struct said *said, const char *what, const char *here,
                                   const char *there)
{
    char line[SAID_MAX] = "the same line";
    if (said->line != node->line || said->list != e->list)
        said_print(said, e->list, e->machine_path, line, sizeof line);
    return yaml_fail(e->doc, node, e->err, "%s: %s %s contradicts %s on %s", e->level_name, what, here, there,
                     line);
}

/* ---------------------------------------- factors */

/* "C=4" (exactly) or "C<=4" (at most), which every list says once or says the same; of several limits the
 * smallest holds. */
static enum dse_status set_factor(const struct constraint_entry *e, const struct ynode *node,
                                  enum loop_kind kind, uint32_t d, bool limit, uint32_t value)
{
    struct loop_constraints *loops = kind == LOOP_SPATIAL ? &e->level->spatial : &e->level->temporal;
    struct loops_said *said = &e->said->loops[kind];
    const char *name = e->problem->dim_name[d], *what = loop_kind_name[kind];
    char here[WORD_MAX + 16], there[WORD_MAX + 16];
    replace(e, &said->fixed[d], &loops->fixed[d]);
    replace(e, &said->highest[d], &loops->highest[d]);
    uint32_t fixed = loops->fixed[d], highest = loops->highest[d];
    snprintf(here, sizeof here, "%s%s%u", name, limit ? "<=" : "=", value);
    if (fixed && (limit ? fixed > value : fixed != value)) {
        snprintf(there, sizeof there, "%s=%u", name, fixed);
        return contradicts(e, node, &said->fixed[d], what, here, there);
    }
    if (!limit && highest && value > highest) {
        snprintf(there, sizeof there, "%s<=%u", name, highest);
        return contradicts(e, node, &said->highest[d], what, here, there);
    }
    if (limit && highest && highest <= value)
        return DSE_OK;
    *(limit ? &loops->highest[d] : &loops->fixed[d]) = value;
    note_said(e, limit ? &said->highest[d] : &said->fixed[d], node);
    return DSE_OK;
}

/* "C=4", "C<=4", "C4": one word of a factor list, whose dimension is added to `named`. */
static enum dse_status read_factor(const struct constraint_entry *e, const struct ynode *node,
                                   const char *word, enum loop_kind kind, uint32_t *named)
{
    char name[WORD_MAX];
    size_t n = strcspn(word, "=<>");
    uint64_t value = 0;
    uint32_t dim = 0;
    if (!word[n]) /* C4: the name ends where the last digits begin */
        while (n > 0 && isdigit((unsigned char)word[n - 1]))
            n--;
    const char *rest = word + n;
    bool limit = rest[0] == '<';
    rest += limit;
    rest += rest[0] == '=';
    const bool all = !limit && strcmp(rest, "all") == 0;
    if (n == 0 || n >= sizeof name || (!all && (!text_parse_u64(rest, &value) || value > UINT32_MAX)))
        return yaml_fail(e->doc, node, e->err,
                         "%s: \"%.80s\" is no factor; accepted: C=4 (exactly), C<=4 (at most), C=all",
                         e->level_name, word);
    memcpy(name, word, n);
    name[n] = '\0';
    DSE_TRY(find_dim(e, node, name, &dim));
    if (all)
        value = e->problem->bound[dim];
    if (value == 0)
        return yaml_fail(
            e->doc, node, e->err,
            "%s: factor %s=0 (\"the rest\") is not supported; for the whole dimension write %s=all",
            e->level_name, name, name);
    if (!limit && e->problem->bound[dim] % value != 0)
        return yaml_fail(e->doc, node, e->err, "%s: factor %s=%u does not divide the bound %u of problem %s",
                         e->level_name, name, (unsigned)value, e->problem->bound[dim], e->problem->name);
    *named |= 1u << dim;
    return set_factor(e, node, kind, dim, limit, (uint32_t)value);
}

/* "C=4 K<=2", or a list of such words. */
static enum dse_status read_factor_list(const struct constraint_entry *e, const struct ynode *node,
                                        enum loop_kind kind, uint32_t *named)
{
    const char *text;
    if (node->kind == YNODE_SEQUENCE) {
        for (size_t i = 0; i < node->n_item; i++) {
            DSE_TRY(yaml_text(e->doc, node->item[i], "factors", &text, e->err));
            DSE_TRY(read_factor(e, node->item[i], text, kind, named));
        }
        return DSE_OK;
    }
    DSE_TRY(yaml_text(e->doc, node, "factors", &text, e->err));
    while (*text) {
        char word[WORD_MAX];
        size_t n = strcspn(text, " ,\t");
        if (n >= sizeof word)
            return yaml_fail(e->doc, node, e->err, "%s: a factor of %zu letters", e->level_name, n);
        memcpy(word, text, n);
        word[n] = '\0';
        if (n)
            DSE_TRY(read_factor(e, node, word, kind, named));
        text += n;
        text += strspn(text, " ,\t");
    }
    return DSE_OK;
}

static enum dse_status set_ones(const struct constraint_entry *e, const struct ynode *node,
                                enum loop_kind kind, uint32_t dims)
{
    for (uint32_t d = 0; d < e->problem->n_dim; d++)
        if (dims >> d & 1u)
            DSE_TRY(set_factor(e, node, kind, d, false, 1));
    return DSE_OK;
}

/* `factors`; `factors_only`, which leaves no loop over what it does not name; and tensors along which there
 * is none. */
static enum dse_status read_factors(const struct constraint_entry *e, enum loop_kind kind)
{
    static const char over[] = "no_iteration_over_dataspaces";
    const struct ynode *all = yaml_find(e->node, "factors"), *only = yaml_find(e->node, "factors_only");
    uint32_t named = 0, tensors = 0, ones = 0;
    if (all)
        DSE_TRY(read_factor_list(e, all, kind, &named));
    named = 0;
    if (only) {
        DSE_TRY(read_factor_list(e, only, kind, &named));
        DSE_TRY(set_ones(e, only, kind, ~named));
    }
    DSE_TRY(constraint_read_tensors(e, over, &tensors));
    for (uint32_t t = 0; t < e->problem->n_tensor; t++)
        ones |= tensors >> t & 1u ? tensor_dims(&e->problem->tensor[t]) : 0;
    return set_ones(e, yaml_find(e->node, over), kind, ones);
}

/* ---------------------------------------- permutation */

static enum dse_status add_to_order(const struct constraint_entry *e, const struct ynode *node,
                                    const char *word, struct loop_constraints *loops)
{
    uint32_t dim = 0;
    DSE_TRY(find_dim(e, node, word, &dim));
    for (uint32_t i = 0; i < loops->n_order; i++)
        if (loops->order[i] == dim)
            return yaml_fail(e->doc, node, e->err, "%s: dimension %s is twice in the permutation",
                             e->level_name, word);
    loops->order[loops->n_order++] = (uint8_t)dim;
    return DSE_OK;
}

/* "CKR", "C,K,R", "C K R" or a list: the innermost loops, innermost first. Letters run together when every
 * dimension of the problem has a name of one letter. */
static enum dse_status read_words(const struct constraint_entry *e, const struct ynode *node,
                                  struct loop_constraints *loops)
{
    const char *text;
    if (node->kind == YNODE_SEQUENCE) {
        for (size_t i = 0; i < node->n_item; i++) {
            DSE_TRY(yaml_text(e->doc, node->item[i], "permutation", &text, e->err));
            DSE_TRY(add_to_order(e, node->item[i], text, loops));
        }
        return DSE_OK;
    }
    DSE_TRY(yaml_text(e->doc, node, "permutation", &text, e->err));
    bool letters = true;
    for (uint32_t d = 0; d < e->problem->n_dim; d++)
        letters = letters && e->problem->dim_name[d][1] == '\0';
    while (*text) {
        char word[WORD_MAX];
        size_t n = letters ? strcspn(text, " ,") > 0 : strcspn(text, " ,");
        if (n >= sizeof word)
            return yaml_fail(e->doc, node, e->err, "%s: a dimension of %zu letters", e->level_name, n);
        memcpy(word, text, n);
        word[n] = '\0';
        if (n)
            DSE_TRY(add_to_order(e, node, word, loops));
        text += n;
        text += strspn(text, " ,");
    }
    return DSE_OK;
}

/* "CKR", or "C,K,R" where names have several letters. */
static const char *print_order(const struct problem *problem, const struct loop_constraints *loops,
                               char *buffer, size_t size)
{
    bool letters = true;
    size_t used = 0;
    buffer[0] = '\0';
    for (uint32_t d = 0; d < problem->n_dim; d++)
        letters = letters && problem->dim_name[d][1] == '\0';
    for (uint32_t i = 0; i < loops->n_order && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i && !letters ? "," : "",
                                 problem->dim_name[loops->order[i]]);
    return buffer;
}

/* Of two orders of one list the longer one holds, where it begins with the other. */
static enum dse_status read_order(const struct constraint_entry *e, enum loop_kind kind)
{
    const struct ynode *node = yaml_find(e->node, "permutation");
    struct loop_constraints *loops = kind == LOOP_SPATIAL ? &e->level->spatial : &e->level->temporal;
    struct loop_constraints read = {.n_order = 0};
    struct said *said = &e->said->loops[kind].order;
    char here[DSE_ERROR_TEXT_MAX / 4], there[DSE_ERROR_TEXT_MAX / 4];
    if (!node)
        return DSE_OK;
    DSE_TRY(read_words(e, node, &read));
    uint32_t before = constraint_holds(e, said) ? loops->n_order : 0;
    for (uint32_t i = 0; i < before && i < read.n_order; i++)
        if (loops->order[i] != read.order[i])
            return contradicts(e, node, said, "permutation",
                               print_order(e->problem, &read, here, sizeof here),
                               print_order(e->problem, loops, there, sizeof there));
    if (read.n_order < before)
        return DSE_OK;
    loops->n_order = read.n_order;
    memcpy(loops->order, read.order, sizeof loops->order);
    note_said(e, said, node);
    return DSE_OK;
}

/* Applied when all entries are read: the permutation that it splits may be in a later one. */
static enum dse_status read_split(const struct constraint_entry *e)
{
    const struct ynode *whole = yaml_find(e->node, "split_all"), *ones = yaml_find(e->node, "ones_first");
    const struct ynode *node = whole ? whole : yaml_find(e->node, "split");
    char here[32], there[32];
    uint64_t split = 0;
    if (!node)
        return DSE_OK;
    DSE_TRY(yaml_u64(e->doc, node, whole ? "split_all" : "split", 0, whole ? UINT32_MAX : e->problem->n_dim,
                     &split, e->err));
    snprintf(here, sizeof here, "%u", (unsigned)split);
    snprintf(there, sizeof there, "%u", (unsigned)e->said->split_value);
    if (constraint_holds(e, &e->said->split) && split != e->said->split_value)
        return contradicts(e, node, &e->said->split, "split", here, there);
    if (constraint_holds(e, &e->said->split))
        return DSE_OK;
    if (ones)
        DSE_TRY(yaml_bool(e->doc, ones, "ones_first", &e->said->ones_first, e->err));
    e->said->split_all = whole != NULL;
    e->said->split_value = (uint32_t)split;
    e->said->split = (struct said){node->line, e->list};
    return DSE_OK;
}

/* A list of dimensions under `key`: the bits of `mask` that stay. What an earlier list said is replaced; two
 * entries of one list leave what both allow, and must allow something together. */
static enum dse_status read_dims(const struct constraint_entry *e, const char *key, struct said *said,
                                 uint32_t *mask)
{
    const struct ynode *node = yaml_find(e->node, key);
    const char *text;
    uint32_t dim = 0, read = 0;
    if (!node)
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(e->doc, node, key, e->err));
    for (size_t i = 0; i < node->n_item; i++) {
        DSE_TRY(yaml_text(e->doc, node->item[i], key, &text, e->err));
        DSE_TRY(find_dim(e, node->item[i], text, &dim));
        read |= 1u << dim;
    }
    bool again = constraint_holds(e, said);
    char place[SAID_MAX];
    if (again && read && *mask && !(read & *mask))
        return yaml_fail(e->doc, node, e->err, "%s: %s contradicts that of %s: no dimension is in both lists",
                         e->level_name, key, said_print(said, e->list, e->machine_path, place, sizeof place));
    *mask = again ? *mask & read : read;
    note_said(e, said, node);
    return DSE_OK;
}

/* "C|K": permutation, split, dims_x and dims_y at once. The fan-out may be an axis, so it is not looked
 * at. */
static enum dse_status read_dataflow(const struct constraint_entry *e)
{
    static const char *const other[] = {"permutation", "split", "dims_x", "dims_y"};
    const struct ynode *node = yaml_find(e->node, "dataflow");
    struct level_said *said = e->said;
    struct said *const says[] = {&said->dataflow, &said->loops[LOOP_SPATIAL].order, &said->split,
                                 &said->dims_x, &said->dims_y};
    struct unrolling dataflow;
    struct dse_error inner;
    const char *text;
    if (!node)
        return DSE_OK;
    DSE_TRY(yaml_text(e->doc, node, "dataflow", &text, e->err));
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (yaml_find(e->node, other[i]))
            return yaml_fail(e->doc, node, e->err, "%s: dataflow says what %s says; leave one out",
                             e->level_name, other[i]);
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        if (constraint_holds(e, says[i]))
            return contradicts(e, node, says[i], "dataflow", text, "what is said of the array's sides");
    if (unrolling_parse(text, e->problem, &dataflow, &inner) != DSE_OK ||
        mapspace_constraints_unroll(e->level, &dataflow, &inner) != DSE_OK)
        return yaml_fail(e->doc, node, e->err, "%s: %s", e->level_name, inner.text);
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        *says[i] = (struct said){node->line, e->list};
    said->split = (struct said){0, 0};
    return DSE_OK;
}

enum dse_status constraint_read_temporal(const struct constraint_entry *e)
{
    DSE_TRY(read_factors(e, LOOP_TEMPORAL));
    return read_order(e, LOOP_TEMPORAL);
}

enum dse_status constraint_read_spatial(const struct constraint_entry *e)
{
    DSE_TRY(read_factors(e, LOOP_SPATIAL));
    DSE_TRY(read_order(e, LOOP_SPATIAL));
    DSE_TRY(read_dataflow(e));
    DSE_TRY(read_dims(e, "dims_x", &e->said->dims_x, &e->level->dims_x));
    DSE_TRY(read_dims(e, "dims_y", &e->said->dims_y, &e->level->dims_y));
    return read_split(e);
}
