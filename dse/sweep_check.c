/* Trying every value before anything is written: machines with each axis value, constraints on each loop nest. */
#include <string.h>

#include "dse/sweep.h"
#include "engines/mapspace_constraints.h"

static size_t fixed_overrides(const struct sweep *sweep, struct arch_override *list)
{
    for (size_t i = 0; i < sweep->spec->n_override; i++)
        list[i] = (struct arch_override){sweep->spec->override[i].path, sweep->spec->override[i].value.text};
    return sweep->spec->n_override;
}

/* The fixed quantities one after the other, so that the blame falls on the right one. */
static enum dse_status try_fixed(const struct sweep *sweep, const struct yaml_doc *doc, struct dse_error *err)
{
    struct arch_override list[SWEEP_OVERRIDE_MAX];
    size_t n = fixed_overrides(sweep, list);
    for (size_t i = 0; i < n; i++) {
        struct architecture arch;
        struct dse_error inner = {0};
        if (architecture_build(doc, list, i + 1, &arch, &inner) != DSE_OK)
            return spec_blame(sweep->spec, &sweep->spec->override[i].value, &inner, err);
    }
    return DSE_OK;
}

/* Position i of dimension d on one machine, all its linked quantities together. */
static enum dse_status try_position(const struct sweep *sweep, const struct yaml_doc *doc,
                                    const struct spec_dimension *d, size_t i, struct dse_error *err)
{
    struct arch_override list[SWEEP_OVERRIDE_MAX];
    struct architecture arch;
    struct dse_error inner = {0};
    const struct spec_text *blamed = NULL;
    size_t n = fixed_overrides(sweep, list);
    for (size_t k = 0; k < d->n_variable; k++) {
        const struct spec_variable *variable = &sweep->spec->variable[d->variable[k]];
        if (variable->target != SPEC_QUANTITY)
            continue;
        list[n++] = (struct arch_override){variable->name, variable->value[i].text};
        if (!blamed)
            blamed = &variable->value[i];
    }
    if (!blamed || architecture_build(doc, list, n, &arch, &inner) == DSE_OK)
        return DSE_OK;
    return spec_blame(sweep->spec, blamed, &inner, err);
}

/* The dimension that chooses the machine, or NULL. */
static const struct spec_dimension *machine_dimension(const struct sweep *sweep)
{
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        for (size_t k = 0; k < sweep->spec->dimension[d].n_variable; k++)
            if (sweep->spec->variable[sweep->spec->dimension[d].variable[k]].target == SPEC_ARCHITECTURE)
                return &sweep->spec->dimension[d];
    return NULL;
}

static enum dse_status try_machines(const struct sweep *sweep, struct dse_error *err)
{
    const struct spec_dimension *machines = machine_dimension(sweep);
    if (sweep->spec->n_override + sweep->spec->n_variable > SWEEP_OVERRIDE_MAX)
        return dse_fail_at(err, DSE_LIMIT, sweep->spec->path, 0, "more than %d quantities are set or swept",
                           SWEEP_OVERRIDE_MAX);
    for (size_t a = 0; a < sweep->n_arch; a++) {
        DSE_TRY(try_fixed(sweep, &sweep->arch[a], err));
        for (size_t d = 0; d < sweep->spec->n_dimension; d++)
            for (size_t i = 0; i < sweep->spec->dimension[d].n_value; i++)
                if (&sweep->spec->dimension[d] != machines || i == a)
                    DSE_TRY(try_position(sweep, &sweep->arch[a], &sweep->spec->dimension[d], i, err));
    }
    return DSE_OK;
}

static enum dse_status try_constraints(const struct sweep *sweep, struct dse_error *err)
{
    struct mapspace_constraints constraints;
    struct architecture arch;
    if (!sweep->spec->constraints)
        return DSE_OK;
    for (size_t a = 0; a < sweep->n_arch; a++) {
        struct arch_override list[SWEEP_OVERRIDE_MAX];
        DSE_TRY(architecture_build(&sweep->arch[a], list, fixed_overrides(sweep, list), &arch, err));
        for (size_t w = 0; w < sweep->n_network * sweep->n_batch; w++)
            for (uint32_t p = 0; p < sweep->workload[w].n_problem; p++) {
                const struct problem *problem = &sweep->workload[w].problem[p];
                mapspace_constraints_init(&constraints, problem, &arch);
                DSE_TRY(mapspace_constraints_read(&sweep->spec->doc, sweep->spec->constraints, problem, &arch,
                                                  &constraints, err));
            }
    }
    return DSE_OK;
}

enum dse_status sweep_check(struct sweep *sweep, struct dse_error *err)
{
    DSE_TRY(try_machines(sweep, err));
    return try_constraints(sweep, err);
}
