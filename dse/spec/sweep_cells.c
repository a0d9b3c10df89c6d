/* From dimensions and the lists `skip` and `only` to the points. Which cells agree with an entry of a list:
 * one walk over the cells, dimension by dimension, that carries along the entries that can still agree, so
 * that thousands of entries over a million cells take no time. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dse/spec/sweep.h"

/* The positions that an entry accepts on one dimension; `value` NULL: any. */
struct choice {
    uint32_t n;
    uint32_t *value; /* (n) */
};

struct filter {
    struct choice *choice; /* (n_dimension) */
    size_t n_open;         /* dimensions in the walk's order up to its last choice */
};

/* A walk over the cells. */
struct walk {
    const struct sweep *sweep;
    size_t n_filter;
    struct filter *filter;              /* (n_filter) */
    size_t order[SPEC_VARIABLE_MAX];    /* (n_dimension) the most chosen dimension first */
    uint32_t stride[SPEC_VARIABLE_MAX]; /* (n_dimension) cells from one position of dimension d to the next */
    unsigned char *mark;                /* (n_cell) */
    unsigned char bit;                  /* what to set in it */
};

/* ---------------------------------------- reading */

static enum dse_status find_variable(const struct sweep *sweep, const struct ynode *entry, size_t k,
                                     size_t *v, struct dse_error *err)
{
    const char *known[SPEC_VARIABLE_MAX];
    for (size_t i = 0; i < sweep->spec->n_variable; i++) {
        known[i] = sweep->spec->variable[i].name;
        if (strcmp(known[i], entry->key[k]) == 0) {
            *v = i;
            return DSE_OK;
        }
    }
    const char *nearest = text_nearest(entry->key[k], known, sweep->spec->n_variable);
    return dse_fail_at(err, DSE_BAD_INPUT, sweep->spec->path, entry->key_line[k],
                       "%.80s is no axis of this sweep%s%s%s", entry->key[k],
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static enum dse_status read_value(struct sweep *sweep, size_t v, const struct ynode *node, bool *accepted,
                                  struct dse_error *err)
{
    const char *text;
    DSE_TRY(yaml_text(&sweep->spec->doc, node, sweep->spec->variable[v].name, &text, err));
    long i = sweep_find_value(sweep, v, text);
    if (i < 0)
        return yaml_fail(&sweep->spec->doc, node, err, "%.80s is no value of axis %s", text,
                         sweep->spec->variable[v].name);
    accepted[i] = true;
    return DSE_OK;
}

/* Narrow `choice` to the positions in `accepted`; linked axes narrow the same one. */
static void narrow(struct sweep *sweep, struct choice *choice, const bool *accepted, size_t n)
{
    size_t n_kept = 0;
    if (!choice->value) {
        for (size_t i = 0; i < n; i++)
            choice->n += accepted[i];
        choice->value = arena_alloc(&sweep->arena, choice->n + 1, sizeof *choice->value);
        for (size_t i = 0; choice->value && i < n; i++)
            if (accepted[i])
                choice->value[n_kept++] = (uint32_t)i;
        return;
    }
    for (size_t i = 0; i < choice->n; i++)
        if (accepted[choice->value[i]])
            choice->value[n_kept++] = choice->value[i];
    choice->n = (uint32_t)n_kept;
}

static enum dse_status read_filter(struct sweep *sweep, const char *what, const struct ynode *entry,
                                   bool *accepted, struct filter *filter, struct dse_error *err)
{
    DSE_TRY(yaml_is_mapping(&sweep->spec->doc, entry, what, err));
    if (entry->n_item == 0)
        return yaml_fail(&sweep->spec->doc, entry, err, "%s: an empty entry would match every cell", what);
    filter->choice = arena_alloc(&sweep->arena, sweep->spec->n_dimension + 1, sizeof *filter->choice);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    for (size_t k = 0; k < entry->n_item; k++) {
        size_t v = 0;
        const struct ynode *node = entry->item[k];
        DSE_TRY(find_variable(sweep, entry, k, &v, err));
        size_t d = sweep->spec->variable[v].dimension, n = sweep->spec->dimension[d].n_value;
        memset(accepted, 0, n * sizeof *accepted);
        if (node->kind != YNODE_SEQUENCE)
            DSE_TRY(read_value(sweep, v, node, accepted, err));
        else
            for (size_t i = 0; i < node->n_item; i++)
                DSE_TRY(read_value(sweep, v, node->item[i], accepted, err));
        narrow(sweep, &filter->choice[d], accepted, n);
    }
    return arena_check(&sweep->arena, "a sweep", err);
}

/* ---------------------------------------- walking */

static void set_order(struct walk *walk)
{
    size_t n_chosen[SPEC_VARIABLE_MAX] = {0}, n_dimension = walk->sweep->spec->n_dimension;
    uint32_t stride = 1;
    for (size_t d = n_dimension; d-- > 0;) {
        walk->stride[d] = stride;
        stride *= (uint32_t)walk->sweep->spec->dimension[d].n_value;
        for (size_t f = 0; f < walk->n_filter; f++)
            n_chosen[d] += walk->filter[f].choice[d].value != NULL;
    }
    for (size_t d = 0; d < n_dimension; d++) {
        size_t at = d;
        for (; at > 0 && n_chosen[walk->order[at - 1]] < n_chosen[d]; at--)
            walk->order[at] = walk->order[at - 1];
        walk->order[at] = d;
    }
    for (size_t f = 0; f < walk->n_filter; f++)
        for (size_t i = 0; i < n_dimension; i++)
            if (walk->filter[f].choice[walk->order[i]].value)
                walk->filter[f].n_open = i + 1;
}

static void mark_all(const struct walk *walk, size_t depth, uint32_t cell)
{
    if (depth == walk->sweep->spec->n_dimension) {
        walk->mark[cell] |= walk->bit;
        return;
    }
    size_t d = walk->order[depth];
    for (uint32_t i = 0; i < walk->sweep->spec->dimension[d].n_value; i++)
        mark_all(walk, depth + 1, cell + i * walk->stride[d]);
}

/* The filters of a list by the positions that they accept on one dimension. */
struct sorted {
    size_t *first; /* (n_value + 1) */
    uint32_t *by;  /* those of position i: by[first[i] ... first[i + 1]] */
    /* room for the list of any position; it begins with the filters that accept every position */
    uint32_t *child;
    size_t n_any;
};

static bool sort_filters(const struct walk *walk, size_t d, const uint32_t *list, size_t n,
                         struct sorted *out)
{
    size_t n_value = walk->sweep->spec->dimension[d].n_value, total = 0;
    *out = (struct sorted){calloc(n_value + 2, sizeof *out->first), NULL,
                           malloc((n + 1) * sizeof *out->child), 0};
    for (size_t k = 0; out->first && k < n; k++) {
        const struct choice *choice = &walk->filter[list[k]].choice[d];
        for (size_t i = 0; choice->value && i < choice->n; i++, total++)
            out->first[choice->value[i] + 2]++;
    }
    out->by = malloc((total + 1) * sizeof *out->by);
    if (!out->first || !out->by || !out->child)
        return false;
    for (size_t i = 2; i <= n_value; i++)
        out->first[i + 1] += out->first[i];
    for (size_t k = 0; k < n; k++) {
        const struct choice *choice = &walk->filter[list[k]].choice[d];
        if (!choice->value)
            out->child[out->n_any++] = list[k];
        else
            for (size_t i = 0; i < choice->n; i++)
                out->by[out->first[choice->value[i] + 1]++] = list[k];
    }
    return true;
}

/* Mark the cells below `cell` (its positions on the dimensions before `depth` are set) that agree with a
 * filter of the list, all of which agree so far. Returns false when out of memory. */
static bool mark_cells(const struct walk *walk, size_t depth, uint32_t cell, const uint32_t *list, size_t n)
{
    struct sorted sorted;
    for (size_t k = 0; k < n; k++)
        if (walk->filter[list[k]].n_open <= depth) {
            mark_all(walk, depth, cell);
            return true;
        }
    if (n == 0)
        return true;
    size_t d = walk->order[depth];
    bool good = sort_filters(walk, d, list, n, &sorted);
    for (uint32_t i = 0; good && i < walk->sweep->spec->dimension[d].n_value; i++) {
        size_t n_here = sorted.first[i + 1] - sorted.first[i];
        memcpy(sorted.child + sorted.n_any, sorted.by + sorted.first[i], n_here * sizeof *sorted.child);
        good = mark_cells(walk, depth + 1, cell + i * walk->stride[d], sorted.child, sorted.n_any + n_here);
    }
    free(sorted.first);
    free(sorted.by);
    free(sorted.child);
    return good;
}

/* Set `bit` in mark (n_cell) for the cells that agree with an entry of `list`, which is called `what` in the
 * file. */
static enum dse_status mark_list(struct sweep *sweep, const char *what, const struct ynode *list,
                                 unsigned char bit, unsigned char *mark, struct dse_error *err)
{
    struct walk walk = {.sweep = sweep, .n_filter = list->n_item, .mark = mark, .bit = bit};
    bool *accepted = arena_alloc(&sweep->arena, SPEC_VALUE_MAX, sizeof *accepted);
    uint32_t *all = arena_alloc(&sweep->arena, list->n_item + 1, sizeof *all);
    walk.filter = arena_alloc(&sweep->arena, list->n_item + 1, sizeof *walk.filter);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    for (size_t f = 0; f < list->n_item; f++) {
        DSE_NOTE(sweep->spec->faults,
                 read_filter(sweep, what, list->item[f], accepted, &walk.filter[f], err));
        all[f] = (uint32_t)f;
    }
    if (sweep_n_fault(sweep) > 0)
        return DSE_OK;
    set_order(&walk);
    return mark_cells(&walk, 0, 0, all, list->n_item) ? DSE_OK : sweep_no_memory(sweep, err);
}

/* ---------------------------------------- the cells that are left */

static enum dse_status count_cells(struct sweep *sweep, struct dse_error *err)
{
    sweep->n_cell = 1;
    for (size_t d = 0; d < sweep->spec->n_dimension; d++) {
        sweep->n_cell *= sweep->spec->dimension[d].n_value;
        if (sweep->n_cell > SWEEP_CELL_MAX)
            return dse_fail_at(
                err, DSE_LIMIT, sweep->spec->path,
                sweep->spec->variable[sweep->spec->dimension[d].first].line,
                "the axes make more than %d cells; split the sweep into several specifications",
                SWEEP_CELL_MAX);
    }
    return DSE_OK;
}

/* The cells whose mark is `wanted`. */
static enum dse_status keep_cells(struct sweep *sweep, const unsigned char *mark, unsigned char wanted,
                                  struct dse_error *err)
{
    for (uint32_t cell = 0; cell < sweep->n_cell; cell++)
        sweep->n_point += mark[cell] == wanted;
    sweep->cell = malloc((sweep->n_point + 1) * sizeof *sweep->cell);
    if (!sweep->cell)
        return sweep_no_memory(sweep, err);
    for (uint32_t cell = 0, p = 0; cell < sweep->n_cell; cell++)
        if (mark[cell] == wanted)
            sweep->cell[p++] = cell;
    return DSE_OK;
}

enum dse_status sweep_cells(struct sweep *sweep, struct dse_error *err)
{
    enum { ONLY = 1, SKIP = 2 };
    const struct sweep_spec *spec = sweep->spec;
    enum dse_status status = DSE_OK;
    DSE_TRY(count_cells(sweep, err));
    if (!spec->skip && !spec->only) {
        sweep->n_point = (size_t)sweep->n_cell;
        return DSE_OK;
    }
    unsigned char *mark = calloc((size_t)sweep->n_cell, 1);
    if (!mark)
        return sweep_no_memory(sweep, err);
    if (spec->skip)
        status = mark_list(sweep, "skip", spec->skip, SKIP, mark, err);
    if (status == DSE_OK && spec->only)
        status = mark_list(sweep, "only", spec->only, ONLY, mark, err);
    if (status == DSE_OK)
        status = keep_cells(sweep, mark, spec->only ? ONLY : 0, err);
    free(mark);
    DSE_TRY(status);
    if (sweep_n_fault(sweep) == 0 && sweep->n_point == 0)
        return yaml_fail(&spec->doc, spec->skip ? spec->skip : spec->only, err,
                         "skip and only leave no cell");
    return DSE_OK;
}
