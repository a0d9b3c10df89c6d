/* Mappings of libdse: as rows of numbers, as texts, drawn at random, and why one does not fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/model/mapping_text.h"
#include "costmodel/timeloop/timeloop.h"
#include "dse/library/library.h"
#include "dse/solve/sample.h"

/* The single numbers behind the four lists of a level. */
enum { AT_SPLIT, AT_KEEP, AT_FURTHER, AT_NO_REUSE, AT_NO_LINK, AT_NO_MULTICAST, N_SINGLE };

enum dse_status library_need_width(size_t width, uint32_t needed, const char *of, struct dse_error *err)
{
    return width == needed
               ? DSE_OK
               : dse_fail(err, DSE_BAD_USAGE, "rows of %s have %u numbers, not %zu", of, needed, width);
}

/* ---------------------------------------- rows */

/* The four lists of a level. True when all factors are at least 1, and both orders have every dimension once.
 * No branch depends on the numbers: this is half of what a row costs beside its price. */
static inline bool read_lists(const int32_t *from, uint32_t n_dim, struct mapping_level *level)
{
    const int32_t *const from_spatial = from + n_dim, *const from_temporal_order = from + 2 * n_dim,
                         *const from_spatial_order = from + 3 * n_dim;
    uint32_t seen[2] = {0, 0}, high = 0, low = 0;
    for (uint32_t d = 0; d < n_dim; d++) {
        const uint32_t temporal = (uint32_t)from[d], spatial = (uint32_t)from_spatial[d],
                       temporal_dim = (uint32_t)from_temporal_order[d],
                       spatial_dim = (uint32_t)from_spatial_order[d];
        level->temporal[d] = temporal;
        level->spatial[d] = spatial;
        level->temporal_order[d] = (uint8_t)temporal_dim;
        level->spatial_order[d] = (uint8_t)spatial_dim;
        low |= temporal | (temporal - 1) | spatial | (spatial - 1);
        high |= temporal_dim | spatial_dim;
        seen[0] |= 1u << (temporal_dim & 31);
        seen[1] |= 1u << (spatial_dim & 31);
    }
    return low < 1u << 31 && high < 32 && (seen[0] & seen[1]) == (1u << n_dim) - 1;
}

/* The numbers behind them; `must_keep`: tensors that the level keeps. */
static inline bool read_singles(const int32_t *from, uint32_t n_dim, uint32_t n_tensor, uint32_t must_keep,
                                struct mapping_level *level)
{
    const uint32_t tensors = (1u << n_tensor) - 1, keep = (uint32_t)from[AT_KEEP],
                   split = (uint32_t)from[AT_SPLIT], further = (uint32_t)from[AT_FURTHER],
                   no_reuse = (uint32_t)from[AT_NO_REUSE], no_link = (uint32_t)from[AT_NO_LINK],
                   no_multicast = (uint32_t)from[AT_NO_MULTICAST];
    level->split = (uint8_t)split;
    level->keep = (uint8_t)keep;
    level->further = (uint16_t)further;
    level->no_temporal_reuse = (uint8_t)no_reuse;
    level->no_link_transfer = (uint8_t)no_link;
    level->no_multicast = (uint8_t)no_multicast;
    /* Only positions behind the split begin a further dimension. */
    return split <= n_dim && ((keep | no_reuse | no_link | no_multicast) & ~tensors) == 0 &&
           (must_keep & ~keep) == 0 && further >> n_dim == 0 && (further & ((2u << split) - 1)) == 0;
}

bool library_row_read(const struct dse_layer *layer, const int32_t *row, struct mapping *mapping)
{
    const uint32_t n_dim = layer->shape.n_dim, n_level = layer->shape.n_level;
    bool good = true;
    mapping->n_level = (uint8_t)n_level;
    mapping->n_dim = (uint8_t)n_dim;
    for (uint32_t l = 0; l < n_level; l++, row += 4 * n_dim + N_SINGLE) {
        good &= read_lists(row, n_dim, &mapping->level[l]);
        good &= read_singles(row + 4 * n_dim, n_dim, layer->shape.n_tensor,
                             l + 1 == n_level ? layer->outermost_keeps : 0, &mapping->level[l]);
    }
    return good;
}

void library_row_write(const struct mapping *mapping, int32_t *row)
{
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        for (uint32_t d = 0; d < mapping->n_dim; d++) {
            row[d] = (int32_t)level->temporal[d];
            row[mapping->n_dim + d] = (int32_t)level->spatial[d];
            row[2 * mapping->n_dim + d] = level->temporal_order[d];
            row[3 * mapping->n_dim + d] = level->spatial_order[d];
        }
        row += 4 * mapping->n_dim;
        row[AT_SPLIT] = level->split;
        row[AT_KEEP] = level->keep;
        row[AT_FURTHER] = level->further;
        row[AT_NO_REUSE] = level->no_temporal_reuse;
        row[AT_NO_LINK] = level->no_link_transfer;
        row[AT_NO_MULTICAST] = level->no_multicast;
        row += N_SINGLE;
    }
}

/* The first number of a level that is wrong, where one is. */
static uint32_t wrong_number(const int32_t *from, uint32_t n_dim, uint32_t n_tensor, uint32_t must_keep)
{
    const uint32_t tensors = (1u << n_tensor) - 1;
    const uint32_t most[N_SINGLE] = {n_dim, tensors, (1u << n_dim) - 1, tensors, tensors, tensors};
    const uint32_t *single = (const uint32_t *)from + 4 * n_dim;
    uint32_t n = 0, seen[2] = {0, 0};
    for (; n < 2 * n_dim; n++)
        if (from[n] < 1)
            return n;
    for (; n < 4 * n_dim; n++) {
        const uint32_t d = (uint32_t)from[n], k = n >= 3 * n_dim;
        if (d >= n_dim || seen[k] >> d & 1u)
            return n;
        seen[k] |= 1u << d;
    }
    for (uint32_t i = 0; i < N_SINGLE; i++)
        if (single[i] > most[i] || (i == AT_KEEP && must_keep & ~single[i]) ||
            (i == AT_FURTHER && single[i] & ((2u << single[AT_SPLIT]) - 1)))
            return n + i;
    return n + N_SINGLE;
}

/* What is wrong with a row that is no mapping. */
static void explain_row(const struct dse_layer *layer, const int32_t *row, char *reason, size_t size)
{
    static const char *const list[] = {"temporal factor", "spatial factor", "temporal order",
                                       "spatial order"};
    static const char *const single[N_SINGLE] = {
        "split", "keep", "further", "no_temporal_reuse", "no_link_transfer", "no_multicast"};
    const struct dse_shape *shape = &layer->shape;
    const uint32_t n_dim = shape->n_dim, n_of_level = 4 * n_dim + N_SINGLE;
    uint32_t l = 0, n;
    while ((n = wrong_number(row + l * n_of_level, n_dim, shape->n_tensor,
                             l + 1 == shape->n_level ? layer->outermost_keeps : 0)) == n_of_level)
        l++;
    const uint32_t column = l * n_of_level + n;
    const int value = row[column];
    if (n < 2 * n_dim)
        snprintf(reason, size, "column %u: %s of %s at %s is %d, less than 1", column, list[n / n_dim],
                 shape->dim[n % n_dim], shape->level[l], value);
    else if (n < 4 * n_dim)
        snprintf(reason, size,
                 "column %u: %s at %s: %d is not a dimension that is left; each number from 0 to %u stands "
                 "there once",
                 column, list[n / n_dim], shape->level[l], value, n_dim - 1);
    else
        snprintf(reason, size,
                 "column %u: %s at %s is %d, which cannot be with %u dimensions and %u tensors%s", column,
                 single[n - 4 * n_dim], shape->level[l], value, n_dim, shape->n_tensor,
                 n == 4 * n_dim + AT_KEEP && l + 1 == shape->n_level ? ", all of which are kept here" : "");
}

/* What most functions here ask for. */
static enum dse_status need_row(const struct dse_layer *layer, const void *row, size_t width,
                                struct dse_error *err)
{
    DSE_TRY(library_need(layer, "layer", err));
    DSE_TRY(library_need(row, "row", err));
    return library_need_width(width, layer->shape.width, layer->shape.name, err);
}

static enum dse_status explain(const struct dse_layer *layer, const int32_t *row, char *reason, size_t size,
                               struct dse_error *err)
{
    struct mapping mapping;
    struct evaluation evaluation;
    struct eval_workspace *workspace;
    if (!library_row_read(layer, row, &mapping)) {
        explain_row(layer, row, reason, size);
        return DSE_OK;
    }
    DSE_TRY(eval_workspace_new(layer->evaluator, &workspace, err));
    reason[0] = '\0';
    if (!evaluator_run(layer->evaluator, workspace, &mapping, &evaluation))
        misfit_print(&evaluation.fit, evaluator_problem(layer->evaluator),
                     evaluator_architecture(layer->evaluator), reason, size);
    eval_workspace_delete(workspace);
    return DSE_OK;
}

int dse_explain(const struct dse_layer *layer, const int32_t *row, size_t width, char *reason,
                size_t reason_size, char *error, size_t error_size)
{
    struct dse_error err = {0};
    enum dse_status status = need_row(layer, row, width, &err);
    if (status == DSE_OK)
        status = library_need(reason_size ? reason : NULL, "place for the reason", &err);
    if (status == DSE_OK)
        status = explain(layer, row, reason, reason_size, &err);
    return library_return(status, &err, error, error_size);
}

/* ---------------------------------------- texts */

static enum dse_status read_text(const struct dse_layer *layer, const char *text, size_t length, int32_t *row,
                                 struct dse_error *err)
{
    struct yaml_doc doc;
    struct mapping mapping;
    DSE_TRY(yaml_parse(&doc, "the mapping", text, length, err));
    const enum dse_status status = mapping_build(&doc, evaluator_problem(layer->evaluator),
                                                 evaluator_architecture(layer->evaluator), &mapping, err);
    yaml_doc_free(&doc);
    if (status == DSE_OK)
        library_row_write(&mapping, row);
    return status;
}

int dse_mapping_read(const struct dse_layer *layer, const char *text, size_t length, int32_t *row,
                     size_t width, char *error, size_t error_size)
{
    struct dse_error err = {0};
    enum dse_status status = need_row(layer, row, width, &err);
    if (status == DSE_OK)
        status = library_need(text, "text of the mapping", &err);
    if (status == DSE_OK)
        status = read_text(layer, text, length, row, &err);
    return library_return(status, &err, error, error_size);
}

/* Which of the texts; `*of` NULL: none of the registry. */
static enum dse_status find_form(const char *form, const struct mapping_text **of, struct dse_error *err)
{
    char shown[96];
    size_t n;
    const struct mapping_text *const *all = mapping_text_all(&n);
    *of = NULL;
    if (!form || strcmp(form, "yaml") == 0 || strcmp(form, "line") == 0)
        return DSE_OK;
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i]->name, form) == 0)
            *of = all[i];
    return *of ? DSE_OK
               : dse_fail(err, DSE_BAD_USAGE,
                          "a mapping has no form \"%s\"; yaml, line, nest, gpu and halide are there",
                          text_excerpt(form, shown, sizeof shown));
}

static enum dse_status write_text(const struct dse_layer *layer, const int32_t *row, const char *form,
                                  struct text_buffer *out, struct dse_error *err)
{
    const struct problem *problem = evaluator_problem(layer->evaluator);
    const struct architecture *arch = evaluator_architecture(layer->evaluator);
    const struct mapping_text *of;
    struct mapping mapping;
    char reason[DSE_TEXT_MAX];
    DSE_TRY(find_form(form, &of, err));
    if (of && of->accepts)
        DSE_TRY(of->accepts(problem, arch, err));
    DSE_TRY(explain(layer, row, reason, sizeof reason, err));
    if (reason[0])
        return dse_fail(err, DSE_BAD_INPUT, "the mapping does not fit: %.900s", reason);
    (void)library_row_read(layer, row, &mapping);
    if (of)
        of->write(&mapping, problem, arch, out);
    else
        (form && strcmp(form, "line") == 0 ? mapping_write_line : mapping_write_yaml)(&mapping, problem, arch,
                                                                                      out);
    return text_check(out, "the text of a mapping", err);
}

int dse_mapping_write(const struct dse_layer *layer, const int32_t *row, size_t width, const char *form,
                      char *text, size_t size, size_t *length, char *error, size_t error_size)
{
    struct dse_error err = {0};
    struct text_buffer out;
    text_init(&out);
    enum dse_status status = need_row(layer, row, width, &err);
    if (status == DSE_OK && size)
        status = library_need(text, "place for the text", &err);
    if (status == DSE_OK)
        status = write_text(layer, row, form, &out, &err);
    if (status == DSE_OK && size)
        snprintf(text, size, "%s", out.data);
    if (status == DSE_OK && length)
        *length = out.length;
    text_free(&out);
    return library_return(status, &err, error, error_size);
}

/* ---------------------------------------- draws */

struct drawn {
    size_t n, width;
    int32_t *row;
};

static enum dse_status keep_row(void *user, const struct sample_row *row, struct dse_error *err)
{
    struct drawn *drawn = user;
    (void)err;
    library_row_write(row->mapping, drawn->row + drawn->n++ * drawn->width);
    return DSE_OK;
}

int dse_draw(const struct dse_layer *layer, size_t n, uint64_t seed, int search_bypass,
             const volatile int *cancel, int32_t *row, size_t width, size_t *n_drawn, char *error,
             size_t error_size)
{
    struct dse_error err = {0};
    struct sample_summary summary;
    struct drawn drawn = {.width = width, .row = row};
    enum dse_status status = library_need(layer, "layer", &err);
    if (status == DSE_OK)
        status = library_need(n_drawn, "place for the number of mappings", &err);
    if (status == DSE_OK && n > 0)
        status = need_row(layer, row, width, &err);
    if (status == DSE_OK && n > SAMPLE_MAPPINGS_MAX)
        status = dse_fail(&err, DSE_LIMIT, "at most %d mappings are drawn at once", SAMPLE_MAPPINGS_MAX);
    if (status == DSE_OK && n > 0) {
        const struct sample_settings settings = {.n_valid = n,
                                                 .max_draws = sample_max_draws(n),
                                                 .seed = seed,
                                                 .search_bypass = search_bypass != 0,
                                                 .accounting = evaluator_accounting(layer->evaluator),
                                                 .n_thread = 1,
                                                 .cancel = library_flag(cancel)};
        status = sample_space(evaluator_problem(layer->evaluator), evaluator_architecture(layer->evaluator),
                              &settings, keep_row, &drawn, &summary, &err);
    }
    if (status == DSE_OK)
        *n_drawn = drawn.n;
    return library_return(status, &err, error, error_size);
}
