/* Rows of layers from mappers: energies by level, effort, outcome, and their sums over the network, each
 * layer as often as it occurs. Of a front the rows are those of the point of the least edp. */
#include "dse/solve/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "dse/solve/record_front.h"

enum { PADDING_TEXT_MAX = 512 };

/* Where a level of the machine stands among the columns, or n_level. */
static size_t column_of(const struct record_source *source, uint32_t l)
{
    size_t i = 0;
    while (i < source->n_level && strcmp(source->level[i], source->arch->level[l].name) != 0)
        i++;
    return i;
}

static struct level_values *empty_levels(const struct record_source *source, struct arena *arena)
{
    struct level_values *values = arena_alloc(arena, source->n_level ? source->n_level : 1, sizeof *values);
    for (size_t i = 0; values && i < source->n_level; i++)
        values[i] = (struct level_values)LEVEL_VALUES_NONE;
    return values;
}

/* Of all instances; NaN: it is not known. */
static double level_area_mm2(const struct architecture *arch, uint32_t l)
{
    const double area_mm2 = (double)arch->level[l].instances * architecture_level_area_mm2(arch, l);
    return area_mm2 > 0 ? area_mm2 : NAN;
}

void record_schema_add(struct result_schema *schema, const struct architecture *arch)
{
    bool tables = arch->mac.source != NULL;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        tables |= arch->level[l].source != NULL;
        schema->areas |= architecture_level_area_mm2(arch, l) > 0;
    }
    schema->areas |= tables;
    schema->leaks |= tables || architecture_all_leakage_w(arch) > 0;
}

char *record_mapping_line(const struct mapping *mapping, const struct problem *problem,
                          const struct architecture *arch, struct arena *arena)
{
    struct text_buffer line;
    text_init(&line);
    mapping_write_line(mapping, problem, arch, &line);
    return text_keep(&line, arena);
}

char *record_trace_line(const struct engine_result *found, struct arena *arena)
{
    struct text_buffer line;
    char number[TEXT_DOUBLE_MAX];
    text_init(&line);
    for (uint32_t i = 0; i < found->n_trace; i++) {
        if (i)
            text_append_bytes(&line, " ", 1);
        text_append_u64(&line, found->trace[i].evaluation);
        text_append_bytes(&line, ":", 1);
        text_append_bytes(&line, number, text_double_bytes(found->trace[i].cost, 0, number));
    }
    return text_keep(&line, arena);
}

char *record_trace_seconds(const struct engine_result *found, struct arena *arena)
{
    struct text_buffer line;
    text_init(&line);
    for (uint32_t i = 0; i < found->n_trace; i++)
        text_append(&line, "%s%.4g", i ? " " : "", found->trace[i].seconds);
    return text_keep(&line, arena);
}

/* "P 53->54", or nothing. */
static char *padding_text(const struct record_source *source, uint32_t p, struct arena *arena)
{
    char text[PADDING_TEXT_MAX];
    engine_result_padding_text(&source->result[p]->found, &source->workload->problem[p], text, sizeof text);
    return arena_copy_text(arena, text, strlen(text));
}

/* What the row of layer i is about: the answer, or a point of its front (NULL: none). */
static const struct solve_result *answer_of(const struct record_source *source,
                                            const struct network_front *front, uint32_t i)
{
    const struct solve_result *result = source->result[source->workload->problem_of[i]];
    return front ? &result->front[front->point[front->best].choice[i]] : result;
}

static enum dse_status fill_layer(const struct record_source *source, const struct network_front *front,
                                  uint32_t i, struct arena *arena, struct layer_record *row,
                                  struct dse_error *err)
{
    const uint32_t p = source->workload->problem_of[i];
    const struct solve_result *result = answer_of(source, front, i), *search = source->result[p];
    const struct evaluation *e = &result->found.evaluation;
    row->outcome = result->outcome;
    if (result->outcome != RESULT_FAILED) {
        row->evaluations = search->found.n_evaluation;
        row->draws = search->found.n_draw;
        row->seconds = search->found.seconds;
        row->stop = engine_stop_text(search->found.stop);
    }
    row->reason = result->reason[0] ? result->reason : NULL;
    if (result->outcome != RESULT_OK)
        return DSE_OK;
    evaluation_metrics(e, source->arch, architecture_area_mm2(source->arch), &row->metrics);
    if (source->measure->what)
        memcpy(row->extra, result->measured.value, sizeof result->measured.value);
    if (result->bounded) {
        row->bound_latency_ratio = e->latency_s / result->bound.latency_s;
        row->bound_energy_ratio = e->energy_j / result->bound.energy_j;
        row->bound_edp_ratio = e->edp_js / result->bound.edp_js;
        row->bound_kind = bound_kind_text(result->found.bound_kind);
    }
    struct level_values *levels = empty_levels(source, arena);
    for (uint32_t l = 0; levels && l < source->arch->n_level; l++) {
        size_t c = column_of(source, l);
        if (c < source->n_level)
            levels[c] = (struct level_values){e->level_energy_j[l], e->network_energy_j[l], e->level_byte[l],
                                              level_area_mm2(source->arch, l)};
    }
    row->level = levels;
    if (source->texts) {
        row->mapping =
            record_mapping_line(&result->found.mapping, &source->workload->problem[p], source->arch, arena);
        row->trace = record_trace_line(&search->found, arena);
        row->trace_seconds = record_trace_seconds(&search->found, arena);
    }
    row->padded = padding_text(source, p, arena);
    if (!levels || !row->padded || (source->texts && (!row->mapping || !row->trace || !row->trace_seconds)))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the rows of a point");
    return DSE_OK;
}

static int is_worse(enum result_status a, enum result_status b)
{
    static const int weight[] = {
        [RESULT_OK] = 0, [RESULT_INFEASIBLE] = 1, [RESULT_TIMEOUT] = 2, [RESULT_FAILED] = 3};
    return weight[a] > weight[b];
}

/* Of a point that is ok: the layer whose mapping is beaten most. */
static void fill_note(const struct record_source *source, const struct layer_record *layer, char *reason,
                      size_t size, struct point_record *point)
{
    double most = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < source->workload->n_layer; i++) {
        double beaten = source->result[source->workload->problem_of[i]]->beaten;
        n += beaten > 0;
        if (beaten <= most)
            continue;
        most = beaten;
        snprintf(reason, size, "layer %s: %s", layer[i].layer, layer[i].reason);
        point->reason = reason;
    }
    size_t used = n > 1 ? strlen(reason) : 0;
    if (n > 1)
        snprintf(reason + used, size - used, " (%u of %u layers)", n, source->workload->n_layer);
}

/* The first of the worst outcomes, with the name of its layer. */
static void fill_outcome(const struct record_source *source, const struct layer_record *layer, char *reason,
                         size_t size, struct point_record *point)
{
    point->outcome = RESULT_OK;
    for (uint32_t i = 0; i < source->workload->n_layer; i++)
        if (is_worse(layer[i].outcome, point->outcome)) {
            point->outcome = layer[i].outcome;
            snprintf(reason, size, "layer %s: %s", layer[i].layer, layer[i].reason);
            point->reason = reason;
        }
}

/* Distinct loop nests count once: that is what was searched. */
static void fill_effort(const struct record_source *source, struct point_record *point)
{
    static const enum engine_stop order[] = {STOP_MAX_SECONDS, STOP_MAX_EVALUATIONS, STOP_SOLVER_LIMIT,
                                             STOP_CONVERGED, STOP_OPTIMAL};
    size_t weakest = sizeof order / sizeof order[0] - 1;
    point->evaluations = point->draws = 0;
    point->seconds = 0;
    for (uint32_t p = 0; p < source->workload->n_problem; p++) {
        const struct solve_result *result = source->result[p];
        if (result->outcome == RESULT_FAILED)
            continue;
        point->evaluations += result->found.n_evaluation;
        point->draws += result->found.n_draw;
        point->seconds += result->found.seconds;
        for (size_t i = 0; i < weakest; i++)
            if (result->found.stop == order[i])
                weakest = i;
    }
    if (point->outcome != RESULT_FAILED)
        point->stop = engine_stop_text(order[weakest]);
}

static void add_levels(struct level_values *sum, const struct level_values *one, size_t n, double count)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(one[i].energy_j))
            continue;
        if (isnan(sum[i].energy_j))
            sum[i] = (struct level_values){0, 0, 0, one[i].area_mm2};
        sum[i].energy_j += count * one[i].energy_j;
        sum[i].noc_energy_j += count * one[i].noc_energy_j;
        sum[i].byte += count * one[i].byte;
    }
}

/* Begin the sums over layers, or (row) add one of them: the shared metrics and what was measured, as far as
 * layers make up a network. */
static void fold(const struct record_source *source, struct point_record *point,
                 const struct layer_record *row)
{
    const struct metric *measured[MEASURE_VALUE_MAX];
    size_t at = 0;
    if (row)
        metrics_fold(&point->metrics, &row->metrics, row->count);
    else
        metrics_fold_begin(&point->metrics);
    size_t n = source->measure->what ? measure_columns(source->measure, false, measured) : 0;
    for (size_t i = 0; i < n; i++) {
        if (measured[i]->fold == METRIC_NONE)
            continue;
        if (row)
            metric_fold(measured[i], &point->extra[at++], &row->extra[i], row->count);
        else
            metric_fold_begin(measured[i], &point->extra[at++]);
    }
}

static bool is_proved(const struct record_source *source)
{
    for (uint32_t p = 0; p < source->workload->n_problem; p++)
        if (source->result[p]->found.stop != STOP_OPTIMAL)
            return false;
    return true;
}

static enum dse_status fill_totals(const struct record_source *source, const struct network_front *front,
                                   const struct layer_record *layer, struct arena *arena,
                                   struct point_record *point, struct dse_error *err)
{
    double bound_latency_s = 0, bound_energy_j = 0, bound_root = 0;
    bool bounded = true;
    enum bound_kind weakest = BOUND_PROOF;
    struct level_values *levels = empty_levels(source, arena);
    DSE_TRY(arena_check(arena, "the totals of a point", err));
    fold(source, point, NULL);
    for (uint32_t i = 0; i < source->workload->n_layer; i++) {
        const struct solve_result *result = answer_of(source, front, i);
        fold(source, point, &layer[i]);
        add_levels(levels, layer[i].level, source->n_level, (double)layer[i].count);
        bound_latency_s += (double)layer[i].count * result->bound.latency_s;
        bound_energy_j += (double)layer[i].count * result->bound.energy_j;
        bound_root += (double)layer[i].count * sqrt(result->bound.edp_js);
        bounded = bounded && result->bounded;
        weakest = result->found.bound_kind < weakest ? result->found.bound_kind : weakest;
    }
    point->level = levels;
    point->edp_js = point->energy_j * point->latency_s;
    point->area_mm2 = architecture_area_mm2(source->arch);
    point->utilization =
        (double)point->n_mac / ((double)source->arch->mac.instances * (double)point->latency_cycle);
    if (bounded) {
        /* sum(E) sum(L) >= sum(sqrt(E L))^2 (Cauchy and Schwarz), so the layers' own EDP bounds count as
         * well */
        double bound_edp_js = fmax(bound_energy_j * bound_latency_s, bound_root * bound_root);
        if (front && is_proved(source)) /* it is the least of the exact front */
            bound_edp_js = point->edp_js;
        point->bound_latency_ratio = point->latency_s / bound_latency_s;
        point->bound_energy_ratio = point->energy_j / bound_energy_j;
        point->bound_edp_ratio = point->edp_js / bound_edp_js;
        point->bound_kind = bound_kind_text(weakest);
    }
    return DSE_OK;
}

enum dse_status record_make(const struct record_source *source, struct arena *arena,
                            struct point_record *point, struct layer_record *layer, struct dse_error *err)
{
    const struct workload *w = source->workload;
    const uint32_t *index = point->index;
    uint64_t key = point->key, n_mapped = 0;
    point_record_init(point);
    point->index = index;
    point->key = key;
    char *reason = arena_alloc(arena, SOLVE_REASON_MAX + 128, 1);
    struct network_front all;
    struct dse_error too_long;
    enum dse_status made = DSE_OK;
    DSE_TRY(arena_check(arena, "the rows of a point", err));
    if (record_has_fronts(source))
        made = network_front_make(w, source->result, source->arch, arena, &all, &too_long);
    if (made == DSE_NO_MEMORY)
        return dse_fail(err, made, "%s", too_long.text);
    const struct network_front *front = record_has_fronts(source) && made == DSE_OK ? &all : NULL;
    for (uint32_t i = 0; i < w->n_layer; i++) {
        const struct layer *from = &w->network->layer[w->layer[i]];
        layer_record_init(&layer[i]);
        layer[i].layer = from->name;
        layer[i].count = w->count[i];
        DSE_TRY(fill_layer(source, front, i, arena, &layer[i], err));
        n_mapped += layer[i].outcome == RESULT_OK ? w->count[i] : 0;
    }
    fill_outcome(source, layer, reason, SOLVE_REASON_MAX + 128, point);
    fill_effort(source, point);
    point->n_layer_mapped = n_mapped;
    point->n_layer = w->n_layer;
    point->accounting = source->accounting;
    if (point->outcome == RESULT_OK)
        fill_note(source, layer, reason, SOLVE_REASON_MAX + 128, point);
    if (made != DSE_OK) {
        point->outcome = RESULT_FAILED;
        snprintf(reason, SOLVE_REASON_MAX, "%.500s", too_long.text);
        point->reason = reason;
    }
    if (point->outcome == RESULT_OK)
        DSE_TRY(fill_totals(source, front, layer, arena, point, err));
    return front ? record_front(source, front, arena, point, layer, err) : DSE_OK;
}
