/* Rows and the sentence below them, from the prices that the search knows. */
#include "dse/optimise/optimise_report.h"

#include <stdlib.h>

#include "base/text.h"
#include "costmodel/interstellar/dataflow.h"
#include "costmodel/interstellar/points.h"

static const struct cell_column answer_column[] = {
    {"network", "network", LOOK_TEXT, 0, NULL, 0},
    {"hierarchy", "hierarchy", LOOK_TEXT, 0, NULL, 0},
    {"onchip_byte", "on chip", LOOK_BYTE, 0, NULL, 0},
    {"area_mm2", "mm2", LOOK_DIGITS, 4, NULL, 0},
    {"energy_j", "energy", LOOK_UNIT, 0, "J", 0},
    {"tops_per_w", "TOPs/W", LOOK_FIXED, 3, NULL, 0},
    {"utilization", "utilization", LOOK_PERCENT, 0, NULL, 0},
    {"latency_s", "latency", LOOK_UNIT, 0, "s", 0},
    {"hierarchies", NULL, LOOK_COUNT, 0, NULL, 0},
    {"hierarchies_priced", NULL, LOOK_COUNT, 0, NULL, 0},
};

static const struct cell_column mapping_column[] = {
    {"network", "network", LOOK_TEXT, 0, NULL, 0},  {"hierarchy", NULL, LOOK_TEXT, 0, NULL, 0},
    {"layer", "layer", LOOK_TEXT, 0, NULL, 0},      {"count", "count", LOOK_COUNT, 0, NULL, 0},
    {"energy_j", "energy", LOOK_UNIT, 0, "J", 0},   {"utilization", "utilization", LOOK_PERCENT, 0, NULL, 0},
    {"latency_s", "latency", LOOK_UNIT, 0, "s", 0}, {"dataflow", "dataflow", LOOK_TEXT, 0, NULL, 0},
    {"mapping", "mapping", LOOK_TEXT, 0, NULL, 0},
};

/* Energy, operations per joule, use and time of network w on a hierarchy. */
static void fill_network(const struct optimise_report *r, uint32_t w, uint32_t h, double *total,
                         struct cells *cells)
{
    const struct optimise *o = r->optimise;
    const struct architecture *arch = &r->optimise->all->list[h].arch;
    double energy_j = 0, cycles = 0, macs = 0;
    for (uint32_t p = 0; p < o->n_problem; p++) {
        const struct layer_price *price = &o->price[(size_t)h * o->n_problem + p];
        const double count = r->pool->weight[(size_t)w * o->n_problem + p];
        if (count > 0) {
            energy_j += count * price->energy_j;
            cycles += count * (double)price->latency_cycle;
            macs += count * (double)problem_macs(o->problem[p]);
        }
    }
    total[0] += energy_j;
    total[1] += cycles;
    total[2] += macs;
    if (!cells)
        return;
    cells_real(cells, total[0]);
    cells_real(cells, 2 * total[2] / total[0] / 1e12);
    cells_real(cells, total[2] / (total[1] * (double)arch->mac.instances));
    cells_real(cells, total[1] / arch->clock_hz);
}

static void fill_row(const struct optimise_report *r, const char *name, int64_t only, uint32_t h,
                     uint32_t n_priced, struct cells *cells)
{
    const struct hierarchy *one = &r->optimise->all->list[h];
    struct text_buffer sizes;
    double total[3] = {0, 0, 0};
    text_init(&sizes);
    hierarchy_print(r->optimise->all, h, &sizes);
    cells_text(cells, name);
    cells_text(cells, sizes.data);
    cells_real(cells, one->onchip_byte);
    cells_real(cells, architecture_area_mm2(&one->arch));
    if (only >= 0)
        fill_network(r, (uint32_t)only, h, total, cells);
    for (uint32_t w = 0; w < r->pool->n_network && only < 0; w++)
        fill_network(r, w, h, total, w + 1 == r->pool->n_network ? cells : NULL);
    cells_count(cells, r->optimise->all->n);
    cells_count(cells, n_priced);
    text_free(&sizes);
}

static enum dse_status fill_mapping(const struct optimise_report *r, uint32_t w, uint32_t l, uint32_t h,
                                    struct cells *cells, struct dse_error *err)
{
    const struct workload *workload = &r->pool->workload[w];
    const struct architecture *arch = &r->optimise->all->list[h].arch;
    const uint32_t p = r->pool->place[w][workload->problem_of[l]];
    const struct problem *problem = r->optimise->problem[p];
    struct text_buffer sizes, dataflow, line;
    struct arena arena;
    struct solve_result *result = malloc(sizeof *result);
    if (!result)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a mapping");
    arena_init(&arena);
    text_init(&sizes);
    text_init(&dataflow);
    text_init(&line);
    enum dse_status status = optimise_map(r->optimise, h, p, &arena, result, err);
    if (status == DSE_OK && result->found.feasible) {
        const struct layer *layer = &workload->network->layer[workload->layer[l]];
        const struct evaluation *found = &result->found.evaluation;
        hierarchy_print(r->optimise->all, h, &sizes);
        dataflow_name(&result->found.mapping, problem, arch, &dataflow);
        points_write(&result->found.mapping, problem, arch, &line);
        cells_text(cells, workload->network->name);
        cells_text(cells, sizes.data);
        cells_text(cells, layer->name);
        cells_count(cells, workload->count[l]);
        cells_real(cells, found->energy_j);
        cells_real(cells, found->utilization);
        cells_real(cells, found->latency_s);
        cells_text(cells, dataflow.data ? dataflow.data : "");
        cells_text(cells, line.data);
    }
    text_free(&sizes);
    text_free(&dataflow);
    text_free(&line);
    arena_free(&arena);
    free(result);
    return status;
}

/* Rows of one answer: of all networks together (only < 0) or of one. */
static enum dse_status fill_answer(const struct optimise_report *r, int64_t only,
                                   const struct optimise_answer *answer, struct cells *cells,
                                   struct dse_error *err)
{
    const uint32_t first = only < 0 ? 0 : (uint32_t)only, n = only < 0 ? r->pool->n_network : first + 1;
    const bool many = only < 0 && r->pool->n_network > 1;
    if (answer->best < 0)
        return DSE_OK;
    for (uint32_t w = first; w < n && r->mappings; w++)
        for (uint32_t l = 0; l < r->pool->workload[w].n_layer; l++)
            DSE_TRY(fill_mapping(r, w, l, (uint32_t)answer->best, cells, err));
    if (r->mappings)
        return DSE_OK;
    for (size_t i = 0; i < answer->n_front && r->front; i++)
        fill_row(r, many ? "all" : r->pool->network[first].name, only, (uint32_t)answer->front[i],
                 answer->n_priced, cells);
    for (uint32_t w = first; w < n && !r->front; w++)
        fill_row(r, r->pool->network[w].name, w, (uint32_t)answer->best, answer->n_priced, cells);
    if (many && !r->front)
        fill_row(r, "all", -1, (uint32_t)answer->best, answer->n_priced, cells);
    return DSE_OK;
}

static void describe(const struct optimise_report *r, int64_t only, const struct optimise_answer *answer,
                     struct report *report)
{
    const struct optimise *o = r->optimise;
    const char *whose = only < 0 ? "" : r->pool->network[only].name;
    if (answer->best < 0) {
        text_append(&report->foot, "%s%sno hierarchy has a mapping for every layer\n", whose,
                    only < 0 ? "" : ": ");
        return;
    }
    text_append(&report->foot, "%s%s%u of %u hierarchies priced", whose, only < 0 ? "" : ": ",
                answer->n_priced, r->optimise->all->n);
    if (r->optimise->all->n_refused > 0)
        text_append(&report->foot, "; %u more break a limit", r->optimise->all->n_refused);
    text_append(&report->foot, ". %llu searches of layers so far, %llu of them on relaxed machines%s.\n",
                (unsigned long long)o->n_search, (unsigned long long)o->n_relaxed,
                o->unproved ? "; some ended WITHOUT A PROOF, so others may be better"
                : answer->n_priced == r->optimise->all->n ? ""
                                                          : "; the rest is proved not to be better");
}

void optimise_report_init(const struct optimise_report *r, struct report *report)
{
    report_init(report, "optimise");
    if (r->mappings)
        cells_init(&report->rows, mapping_column, sizeof mapping_column / sizeof mapping_column[0]);
    else
        cells_init(&report->rows, answer_column, sizeof answer_column / sizeof answer_column[0]);
}

enum dse_status optimise_report_add(const struct optimise_report *r, int64_t only,
                                    const struct optimise_answer *answer, struct report *report,
                                    struct dse_error *err)
{
    DSE_TRY(fill_answer(r, only, answer, &report->rows, err));
    describe(r, only, answer, report);
    return DSE_OK;
}
