/* Trying every value before anything is written: machines with each axis value, constraints on each loop
 * nest. */
#include <stdlib.h>
#include <string.h>

#include "dse/console/reason_groups.h"
#include "dse/spec/keys.h"
#include "dse/spec/sweep.h"

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
        const struct spec_variable *variable = &sweep->spec->variable[d->first + k];
        if (variable->kind->target != SPEC_QUANTITY)
            continue;
        list[n++] = (struct arch_override){variable->name, variable->value[i].text};
        if (!blamed)
            blamed = &variable->value[i];
    }
    if (!blamed || architecture_build(doc, list, n, &arch, &inner) == DSE_OK)
        return DSE_OK;
    return spec_blame(sweep->spec, blamed, &inner, err);
}

enum dse_status sweep_check_machines(const struct sweep *sweep, struct dse_error *err)
{
    const struct spec_variable *machines = spec_find_variable(sweep->spec, "architecture");
    struct dse_faults *faults = sweep->spec->faults;
    const bool complete = !machines || machines->n_value == sweep->n_arch;
    if (sweep->spec->n_override + sweep->spec->n_variable > SWEEP_OVERRIDE_MAX)
        return dse_fail_at(err, DSE_LIMIT, sweep->spec->path, 0, "more than %d quantities are set or swept",
                           SWEEP_OVERRIDE_MAX);
    for (size_t a = 0; a < sweep->n_arch; a++) {
        enum dse_status status = try_fixed(sweep, &sweep->arch[a], err);
        DSE_NOTE(faults, status);
        for (size_t d = 0; status == DSE_OK && d < sweep->spec->n_dimension; d++) {
            const struct spec_dimension *dimension = &sweep->spec->dimension[d];
            bool linked = machines && machines->dimension == d;
            if (sweep_is_bad(sweep, dimension) || (linked && !complete))
                continue;
            for (size_t i = 0; i < dimension->n_value; i++)
                if (!linked || i == a)
                    DSE_NOTE(faults, try_position(sweep, &sweep->arch[a], dimension, i, err));
        }
    }
    return DSE_OK;
}

/* The accounting is one of the engine's, and no option says otherwise, at every point: each of them may be an
 * axis. */
static enum dse_status try_accountings(const struct sweep *sweep, struct dse_error *err)
{
    const struct spec_variable *axis = spec_find_variable(sweep->spec, "accounting");
    const struct spec_text *fixed = spec_fixed(sweep->spec, "accounting");
    for (size_t p = 0; (axis || fixed->text) && p < sweep->n_point; p++) {
        struct sweep_point point;
        struct dse_error inner = {0};
        sweep_point(sweep, p, &point);
        if (solve_settings_settle(&point.settings, &inner) != DSE_OK)
            return spec_blame(sweep->spec, axis ? &axis->value[point.index[axis->dimension]] : fixed, &inner,
                              err);
    }
    return DSE_OK;
}

/* The constraints of one point on each of its loop nests. */
static enum dse_status try_constraints(const struct sweep *sweep, const struct sweep_point *point,
                                       struct dse_error *err)
{
    struct mapspace_constraints constraints;
    struct arch_override list[SWEEP_OVERRIDE_MAX];
    struct architecture arch;
    DSE_TRY(architecture_build(point->arch, list, fixed_overrides(sweep, list), &arch, err));
    for (uint32_t p = 0; p < point->workload->n_problem; p++)
        DSE_TRY(solve_constraints(&point->settings, &point->workload->problem[p], &arch, &constraints, err));
    return DSE_OK;
}

/* Constraints name levels, dimensions and tensors: each list once for every file of a machine and every
 * workload that it meets. */
static enum dse_status try_all_constraints(const struct sweep *sweep, struct dse_error *err)
{
    const struct spec_variable *lists = spec_find_variable(sweep->spec, "constraints");
    size_t n_list = lists ? lists->n_value : 1, n_workload = sweep->n_network * sweep->n_batch;
    enum dse_status status = DSE_OK;
    if (!sweep->spec->constraints && !lists)
        return DSE_OK;
    bool *tried = calloc(sweep->n_arch * n_workload * n_list, sizeof *tried);
    if (!tried)
        return sweep_no_memory(sweep, err);
    for (size_t p = 0; status == DSE_OK && p < sweep->n_point; p++) {
        struct sweep_point point;
        sweep_point(sweep, p, &point);
        size_t at =
            (size_t)(point.arch - sweep->arch) * n_workload + (size_t)(point.workload - sweep->workload);
        at = at * n_list + (lists ? point.index[lists->dimension] : 0);
        if (!tried[at])
            status = try_constraints(sweep, &point, err);
        tried[at] = true;
    }
    free(tried);
    return status;
}

/* A machine that cannot be measured at all; what an axis takes away from some points is missing there. */
static enum dse_status try_measures(const struct sweep *sweep, struct dse_error *err)
{
    struct spec_text where = {"measure", sweep->spec->measure_line};
    for (size_t a = 0; sweep->spec->measure.what && a < sweep->n_arch; a++) {
        struct arch_override list[SWEEP_OVERRIDE_MAX];
        struct architecture arch;
        struct dse_error inner = {0};
        DSE_TRY(architecture_build(&sweep->arch[a], list, fixed_overrides(sweep, list), &arch, err));
        if (measure_check(&sweep->spec->measure, &arch, &inner) != DSE_OK)
            return spec_fail(sweep->spec, &where, err, "%s", inner.text);
    }
    return DSE_OK;
}

/* The first number of the simulated network on dimension d, or NULL. */
static const struct spec_variable *network_variable(const struct sweep *sweep, size_t d)
{
    const struct spec_variable *variable = sweep->spec->variable;
    for (size_t v = 0; v < sweep->spec->n_variable; v++)
        if (variable[v].dimension == d && strncmp(variable[v].name, "noc.", 4) == 0)
            return &variable[v];
    return NULL;
}

enum network_value { NETWORK_UNTRIED, NETWORK_BAD, NETWORK_GOOD };

/* Whether point p can be measured; *value is its position on dimension d when that is not known to be good
 * yet. */
static enum network_value try_point(const struct sweep *sweep, size_t p, size_t d, const unsigned char *known,
                                    size_t *value, struct dse_error *err)
{
    struct sweep_point point;
    struct architecture arch;
    sweep_point(sweep, p, &point);
    *value = point.index[d];
    if (known[*value] == NETWORK_GOOD)
        return NETWORK_GOOD;
    if (sweep_point_build(&point, &arch, NULL) != DSE_OK)
        return known[*value];
    return measure_check(&sweep->spec->measure, &arch, err) == DSE_OK ? NETWORK_GOOD : NETWORK_BAD;
}

/* Values of the simulated network with which no point can be measured, whatever the other axes say. */
static enum dse_status try_network(const struct sweep *sweep, size_t d, struct dse_error *err)
{
    const struct spec_variable *variable = network_variable(sweep, d);
    size_t i = 0, value;
    if (!variable)
        return DSE_OK;
    unsigned char *known = calloc(variable->n_value, 1);
    if (!known)
        return sweep_no_memory(sweep, err);
    for (size_t p = 0; p < sweep->n_point; p++) {
        enum network_value found = try_point(sweep, p, d, known, &value, NULL);
        known[value] = (unsigned char)found;
    }
    while (i < variable->n_value && known[i] != NETWORK_BAD)
        i++;
    struct dse_error inner = {0};
    for (size_t p = 0; i < variable->n_value && p < sweep->n_point && !inner.text[0]; p++) {
        enum network_value found = try_point(sweep, p, d, known, &value, &inner);
        if (found != NETWORK_BAD || value != i)
            inner.text[0] = '\0';
    }
    free(known);
    return i < variable->n_value ? spec_fail(sweep->spec, &variable->value[i], err, "%s", inner.text)
                                 : DSE_OK;
}

/* ---- what engines take ---- */

static size_t n_asked(const struct sweep *sweep)
{
    return sweep->n_point < SWEEP_ASKED_MAX ? sweep->n_point : SWEEP_ASKED_MAX;
}

/* Asked point i with its machine, but for what cannot be built or is too large, which says so itself. */
static bool ask(const struct sweep *sweep, size_t i, struct machine *machine, struct sweep_point *point,
                size_t *p)
{
    char area[SOLVE_REASON_MAX];
    *p = (size_t)((uint64_t)i * sweep->n_point / n_asked(sweep));
    sweep_point(sweep, *p, point);
    return machine_of(machine, point) == DSE_OK &&
           architecture_area_fits(&machine->arch, area, sizeof area); /* else the point is infeasible */
}

/* The number of an option of an engine of the sweep; n_option: it is not for this engine. */
static size_t option_of(const struct spec_option *given, const struct engine *engine)
{
    size_t i = given->engine && strcmp(given->engine, engine->name) != 0 ? engine->n_option : 0;
    while (i < engine->n_option && strcmp(engine->option[i].name, given->name) != 0)
        i++;
    return i;
}

/* An option with which an engine takes no point, though without it it takes some. */
static enum dse_status try_option(const struct sweep *sweep, const struct spec_option *given,
                                  struct dse_error *err)
{
    struct machine machine;
    struct dse_error blamed = {0}, other = {0};
    machine_init(&machine, sweep);
    for (size_t i = 0; i < n_asked(sweep); i++) {
        struct sweep_point point;
        struct dse_error why = {0};
        size_t p;
        const bool is_there = ask(sweep, i, &machine, &point, &p);
        const size_t o = option_of(given, point.settings.engine);
        if (!is_there || o == point.settings.engine->n_option)
            continue;
        if (solve_takes(&point.settings, point.workload, &machine.arch, NULL, &why) == DSE_OK)
            return DSE_OK;
        point.settings.option[o] = point.settings.engine->option[o].standard;
        point.settings.option_set &= ~(UINT64_C(1) << o);
        if (!blamed.text[0] &&
            solve_takes(&point.settings, point.workload, &machine.arch, NULL, &other) == DSE_OK)
            blamed = why;
    }
    return blamed.text[0] ? spec_fail(sweep->spec, &given->value, err, "%s: %s", given->name, blamed.text)
                          : DSE_OK;
}

enum dse_status sweep_check(struct sweep *sweep, struct dse_error *err)
{
    struct dse_faults *faults = sweep->spec->faults;
    DSE_TRY(sweep_check_machines(sweep, err));
    if (sweep_n_fault(sweep) > 0)
        return DSE_OK; /* the rest builds points */
    DSE_NOTE(faults, try_accountings(sweep, err));
    DSE_NOTE(faults, try_all_constraints(sweep, err));
    DSE_NOTE(faults, try_measures(sweep, err));
    for (size_t o = 0; o < sweep->spec->n_option && sweep_n_fault(sweep) == 0; o++)
        DSE_NOTE(faults, try_option(sweep, &sweep->spec->option[o], err));
    for (size_t d = 0; sweep->spec->measure.what && d < sweep->spec->n_dimension; d++)
        DSE_NOTE(faults, try_network(sweep, d, err));
    return DSE_OK;
}

static void add_reason(const struct sweep *sweep, size_t p, const char *why, struct reason_groups *groups)
{
    char place[REASON_PLACE_MAX];
    struct reason_group *group = reason_groups_add(groups, RESULT_FAILED, why, p);
    if (group)
        reason_group_place(group, sweep_point_print(sweep, p, place, sizeof place));
}

void sweep_refused(const struct sweep *sweep, struct reason_groups *groups)
{
    struct machine machine;
    machine_init(&machine, sweep);
    for (size_t i = 0; i < n_asked(sweep); i++) {
        struct sweep_point point;
        struct dse_error why = {0};
        size_t p;
        if (ask(sweep, i, &machine, &point, &p) &&
            solve_takes(&point.settings, point.workload, &machine.arch, NULL, &why) != DSE_OK)
            add_reason(sweep, p, why.text, groups);
    }
}
