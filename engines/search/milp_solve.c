/* The solve with GLPK: branch and cut with presolving, errors caught by a jump at one place, and every
 * answer checked against rows and bounds; one that fails is solved again with stricter settings. */
#include <glpk.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engines/search/milp_private.h"

enum { MESSAGE_MAX = 160 };

/* How far a row may be missed, relative to 1 and the sizes of its terms: ten times what GLPK allows
 * itself. */
#define ROW_TOLERANCE 1e-6
/* What is still an integer in a second solve; GLPK's own value of 1e-5 lets 1e-6 of a switch open a row of
 * 1e6. */
#define CAREFUL_TOLERANCE 1e-9

/* What one solve shares with GLPK's callbacks. Every thread has a GLPK environment of its own (thread-local
 * storage in the library), made at the first call and given back after the solve, so nothing survives and
 * nothing leaks. */
struct solve {
    const struct milp *model;
    const struct milp_limits *limits;
    glp_prob *problem;
    int *index; /* (n_variable + 1) one row */
    double *coefficient;
    double bound; /* of the tree, last seen */
    uint64_t n_node;
    bool timed_out;
    int code; /* of glp_intopt */
    char message[MESSAGE_MAX];
    jmp_buf broken;
};

/* GLPK's terminal: the last line is kept for an error text (not the one that says where in the library),
 * nothing is printed. */
static int swallow(void *info, const char *line)
{
    struct solve *solve = info;
    size_t length = strcspn(line, "\n");
    if (length > 0 && strncmp(line, "Error detected", 14) != 0)
        (void)snprintf(solve->message, sizeof solve->message, "%.*s", (int)length, line);
    return 1;
}

/* GLPK would abort the program after this. */
static void break_off(void *info)
{
    struct solve *solve = info;
    longjmp(solve->broken, 1);
}

static int bounds_kind(double lowest, double highest)
{
    if (isinf(lowest))
        return isinf(highest) ? GLP_FR : GLP_UP;
    if (isinf(highest))
        return GLP_LO;
    return lowest == highest ? GLP_FX : GLP_DB;
}

static void add_bounds(struct solve *solve)
{
    const struct milp *model = solve->model;
    for (uint32_t v = 0; v < model->n_variable; v++) {
        const struct milp_variable *variable = &model->variable[v];
        double lowest = variable->lowest, highest = variable->highest;
        if (variable->kind == MILP_INTEGER) {
            lowest = ceil(lowest - 1e-9);
            highest = floor(highest + 1e-9);
        }
        glp_set_col_bnds(solve->problem, (int)v + 1, bounds_kind(lowest, highest), lowest, highest);
    }
}

static void add_variables(struct solve *solve)
{
    const struct milp *model = solve->model;
    if (model->n_variable == 0)
        return;
    glp_add_cols(solve->problem, (int)model->n_variable);
    for (uint32_t v = 0; v < model->n_variable; v++) {
        glp_set_obj_coef(solve->problem, (int)v + 1, model->variable[v].cost);
        if (model->variable[v].kind == MILP_INTEGER)
            glp_set_col_kind(solve->problem, (int)v + 1, GLP_IV);
    }
    add_bounds(solve);
}

static void add_rows(struct solve *solve)
{
    const struct milp *model = solve->model;
    if (model->n_row == 0)
        return;
    glp_add_rows(solve->problem, (int)model->n_row);
    for (uint32_t r = 0; r < model->n_row; r++) {
        const struct milp_row *row = &model->row[r];
        glp_set_row_bnds(solve->problem, (int)r + 1, bounds_kind(row->lowest, row->highest), row->lowest,
                         row->highest);
        for (uint32_t i = 0; i < row->n_term; i++) {
            solve->index[i + 1] = (int)model->term[row->first + i].variable + 1;
            solve->coefficient[i + 1] = model->term[row->first + i].coefficient;
        }
        glp_set_mat_row(solve->problem, (int)r + 1, (int)row->n_term, solve->index, solve->coefficient);
    }
}

bool milp_is_over(const struct milp_limits *limits)
{
    return (limits->cancel && atomic_load_explicit(limits->cancel, memory_order_relaxed)) ||
           (limits->stop_at_s > 0 && clock_wall_s() >= limits->stop_at_s);
}

/* Called by GLPK at every step of its tree search. */
static void look_at_tree(glp_tree *tree, void *info)
{
    struct solve *solve = info;
    int active, current, total;
    glp_ios_tree_size(tree, &active, &current, &total);
    solve->n_node = (uint64_t)total;
    int best = glp_ios_best_node(tree);
    if (best != 0)
        solve->bound = glp_ios_node_bound(tree, best);
    bool enough = solve->limits->max_nodes && solve->n_node > solve->limits->max_nodes &&
                  glp_ios_reason(tree) == GLP_ISELECT;
    solve->timed_out = solve->timed_out || milp_is_over(solve->limits);
    if (enough || solve->timed_out)
        glp_ios_terminate(tree);
}

static int solve_relaxation(struct solve *solve)
{
    glp_smcp control;
    glp_init_smcp(&control);
    control.msg_lev = GLP_MSG_OFF;
    glp_scale_prob(solve->problem, GLP_SF_AUTO);
    glp_adv_basis(solve->problem, 0);
    int code = glp_simplex(solve->problem, &control);
    return code == 0 && glp_get_status(solve->problem) == GLP_OPT ? 0 : GLP_EFAIL;
}

/* `careful`: without presolving and cuts, and stricter on integers. */
static int search(struct solve *solve, bool careful)
{
    glp_iocp control;
    glp_init_iocp(&control);
    control.msg_lev = GLP_MSG_OFF;
    /* Measured on the CoSA models of 150 layers: pseudo-costs with these two cuts are the fastest on average
     * and at worst; preprocessing of nodes, other cuts and other orders of the tree bring nothing. */
    control.presolve = careful ? GLP_OFF : GLP_ON;
    control.pp_tech = GLP_PP_NONE;
    control.br_tech = GLP_BR_PCH;
    control.bt_tech = GLP_BT_BLB;
    control.gmi_cuts = control.mir_cuts = careful ? GLP_OFF : GLP_ON;
    control.mip_gap = solve->limits->relative_gap;
    if (careful)
        control.tol_int = CAREFUL_TOLERANCE;
    control.cb_func = look_at_tree;
    control.cb_info = solve;
    if (careful && solve_relaxation(solve) != 0) /* GLPK starts from its optimum */
        return GLP_EFAIL;
    return glp_intopt(solve->problem, &control);
}

/* How the search ended, from GLPK's code and the state of the solution. */
static enum dse_status judge(struct solve *solve, struct milp_result *result, struct dse_error *err)
{
    int state = glp_mip_status(solve->problem);
    bool found = state == GLP_OPT || state == GLP_FEAS;
    bool limited = false;
    switch (solve->code) {
    case 0:
    case GLP_EMIPGAP:
        break;
    case GLP_ENOPFS:
        result->status = MILP_INFEASIBLE;
        return DSE_OK;
    case GLP_ENODFS:
        result->status = MILP_UNBOUNDED;
        return DSE_OK;
    case GLP_ESTOP:
        limited = true;
        break;
    default:
        return dse_fail(err, DSE_INTERNAL, "the MILP solver failed with code %d: %s", solve->code,
                        solve->message);
    }
    if (found)
        result->status = limited ? MILP_FEASIBLE : MILP_OPTIMAL;
    else
        result->status = limited ? MILP_NOT_SOLVED : MILP_INFEASIBLE;
    return DSE_OK;
}

/* Do the values, integers rounded, keep all rows and bounds? GLPK takes integers within 1e-5 and may lose
 * more in a badly scaled model: nothing that it says is believed unseen. */
static bool keeps_rows(const struct milp *model, const double *value)
{
    for (uint32_t v = 0; v < model->n_variable; v++) {
        const struct milp_variable *variable = &model->variable[v];
        double room = ROW_TOLERANCE * (1 + fabs(value[v]));
        if (!(value[v] >= variable->lowest - room && value[v] <= variable->highest + room))
            return false;
    }
    for (uint32_t r = 0; r < model->n_row; r++) {
        const struct milp_row *row = &model->row[r];
        double sum = 0, size = 1;
        for (uint32_t i = 0; i < row->n_term; i++) {
            const struct milp_term *term = &model->term[row->first + i];
            sum += term->coefficient * value[term->variable];
            size += fabs(term->coefficient * value[term->variable]);
        }
        if (!(sum >= row->lowest - ROW_TOLERANCE * size && sum <= row->highest + ROW_TOLERANCE * size))
            return false;
    }
    return true;
}

static void round_values(const struct solve *solve, double *value)
{
    const struct milp *model = solve->model;
    for (uint32_t v = 0; v < model->n_variable; v++) {
        value[v] = glp_mip_col_val(solve->problem, (int)v + 1);
        if (model->variable[v].kind == MILP_INTEGER)
            value[v] = round(value[v]);
    }
}

/* The best continuous values for these integers. */
static bool refit(struct solve *solve, double *value)
{
    const struct milp *model = solve->model;
    for (uint32_t v = 0; v < model->n_variable; v++)
        if (model->variable[v].kind == MILP_INTEGER)
            glp_set_col_bnds(solve->problem, (int)v + 1, GLP_FX, value[v], value[v]);
    if (solve_relaxation(solve) != 0)
        return false;
    for (uint32_t v = 0; v < model->n_variable; v++)
        if (model->variable[v].kind == MILP_CONTINUOUS)
            value[v] = glp_get_col_prim(solve->problem, (int)v + 1);
    return keeps_rows(model, value);
}

static void set_objective(const struct solve *solve, const double *value, struct milp_result *result)
{
    const struct milp *model = solve->model;
    result->objective = 0;
    for (uint32_t v = 0; v < model->n_variable; v++)
        result->objective += model->variable[v].cost * value[v];
    result->value = value;
    bool closed = result->status == MILP_OPTIMAL && solve->code == 0;
    result->bound = closed ? result->objective : fmin(solve->bound, result->objective);
    result->gap = (result->objective - result->bound) / fmax(fabs(result->objective), 1e-12);
}

static bool has_values(const struct milp_result *result)
{
    return result->status == MILP_OPTIMAL || result->status == MILP_FEASIBLE;
}

/* All calls of the library, so that one place catches its errors. False: it broke down (solve->message says
 * how). */
static bool run_library(struct solve *solve, double *value, struct milp_result *result, struct dse_error *err,
                        enum dse_status *status)
{
    if (setjmp(solve->broken) != 0)
        return false;
    glp_term_hook(swallow, solve);
    glp_error_hook(break_off, solve);
    solve->problem = glp_create_prob();
    glp_set_obj_dir(solve->problem, GLP_MIN);
    add_variables(solve);
    add_rows(solve);
    for (int careful = 0; careful < 2; careful++) {
        solve->bound = -INFINITY;
        solve->code = search(solve, careful == 1);
        *status = judge(solve, result, err);
        bool limited = solve->code == GLP_ESTOP;
        if (*status == DSE_OK && !has_values(result) && careful && !limited)
            break; /* after values of a kind "infeasible" is not to be believed */
        if (*status != DSE_OK || !has_values(result)) {
            result->bound = limited ? solve->bound : result->bound;
            return true;
        }
        round_values(solve, value);
        if (keeps_rows(solve->model, value) || refit(solve, value)) {
            set_objective(solve, value, result);
            return true;
        }
        add_bounds(solve);
    }
    *status = dse_fail(err, DSE_INTERNAL, "the MILP solver's values break a row of the model");
    return true;
}

static enum dse_status check_model(const struct milp *model, struct dse_error *err)
{
    for (uint32_t r = 0; r < model->n_row; r++)
        for (uint32_t i = 0; i < model->row[r].n_term; i++)
            if (model->term[model->row[r].first + i].variable >= model->n_variable)
                return dse_fail(err, DSE_INTERNAL, "row %u (%s) of a MILP names variable %u of %u", r,
                                model->row[r].name, model->term[model->row[r].first + i].variable,
                                model->n_variable);
    return DSE_OK;
}

/* Bounds that cross are an error for GLPK; for us they are an infeasible model. */
static bool bounds_cross(const struct milp *model)
{
    for (uint32_t v = 0; v < model->n_variable; v++) {
        const struct milp_variable *variable = &model->variable[v];
        bool integer = variable->kind == MILP_INTEGER;
        if ((integer ? ceil(variable->lowest - 1e-9) : variable->lowest) >
            (integer ? floor(variable->highest + 1e-9) : variable->highest))
            return true;
    }
    for (uint32_t r = 0; r < model->n_row; r++)
        if (model->row[r].lowest > model->row[r].highest)
            return true;
    return false;
}

enum dse_status milp_solve(const struct milp *model, const struct milp_limits *limits, struct arena *arena,
                           struct milp_result *result, struct dse_error *err)
{
    double start_s = clock_thread_s();
    *result = (struct milp_result){.status = MILP_INFEASIBLE, .bound = -INFINITY, .gap = INFINITY};
    DSE_TRY(arena_check(model->arena, "a MILP model", err));
    DSE_TRY(check_model(model, err));
    if (bounds_cross(model))
        return DSE_OK;
    if (milp_is_over(limits)) {
        result->status = MILP_NOT_SOLVED;
        result->timed_out = true;
        return DSE_OK;
    }
    size_t room = (size_t)model->n_variable + 1;
    struct solve *solve = arena_alloc(arena, 1, sizeof *solve);
    double *value = arena_alloc(arena, room, sizeof *value);
    int *index = arena_alloc(arena, room, sizeof *index);
    double *coefficient = arena_alloc(arena, room, sizeof *coefficient);
    DSE_TRY(arena_check(arena, "a MILP solve", err));
    *solve = (struct solve){
        .model = model, .limits = limits, .bound = -INFINITY, .index = index, .coefficient = coefficient};
    enum dse_status status = DSE_OK;
    if (!run_library(solve, value, result, err, &status))
        status = dse_fail(err, DSE_INTERNAL, "the MILP solver broke down: %s", solve->message);
    (void)glp_free_env();
    result->n_node = solve->n_node;
    result->timed_out = solve->timed_out;
    result->cpu_s = clock_thread_s() - start_s;
    return status;
}
