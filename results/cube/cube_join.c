/* Merges the axes of the files, then maps the cells of each file to those of the whole. */
#include "results/cube/cube_join.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "results/cube/cube_read.h"

enum { LABEL_MAX = 256 };

struct cube_part {
    struct cube_file file;
    struct result_schema schema; /* its own */
    size_t n_cell;
    size_t own[RESULT_AXIS_MAX]; /* by axis of the whole: its own axis; n_axis: it has one value there */
    uint32_t *position[RESULT_AXIS_MAX]; /* likewise: (values of its own) where they are in the whole */
    size_t *cell;                        /* (n_cell) in the whole */
    bool *counts;                        /* (n_cell) the cell's values are taken from here */
    const char *const *status;           /* (n_cell) */
};

/* A value of an axis: position `at` of these coordinates. */
struct spot {
    const struct result_coordinate *coordinate;
    size_t at;
};

static const struct cube_fixed *fixed_of(const struct cube_part *part, const char *name)
{
    for (size_t i = 0; i < part->file.n_fixed; i++)
        if (strcmp(part->file.fixed[i].name, name) == 0)
            return &part->file.fixed[i];
    return NULL;
}

/* The axis of a file whose first coordinate has the name; n_axis: none. */
static size_t axis_named(const struct result_schema *schema, const char *name)
{
    size_t a = 0;
    while (a < schema->n_axis && strcmp(schema->axis[a].coordinate[0].name, name) != 0)
        a++;
    return a;
}

static bool same_coordinates(const struct result_axis *one, const struct result_axis *other)
{
    if (one->n_coordinate != other->n_coordinate)
        return false;
    for (size_t k = 0; k < one->n_coordinate; k++)
        if (strcmp(one->coordinate[k].name, other->coordinate[k].name) != 0 ||
            !one->coordinate[k].number != !other->coordinate[k].number)
            return false;
    return true;
}

static bool same_spot(const struct spot *one, const struct spot *other, size_t n_coordinate)
{
    for (size_t k = 0; k < n_coordinate; k++) {
        const struct result_coordinate *a = &one->coordinate[k], *b = &other->coordinate[k];
        if (a->number ? a->number[one->at] != b->number[other->at]
                      : strcmp(a->text[one->at], b->text[other->at]) != 0)
            return false;
    }
    return true;
}

/* ---------------------------------------- axes */

static enum dse_status no_axis(const struct cube_part *part, const char *name, const struct cube_part *other,
                               struct dse_error *err)
{
    return dse_fail_at(err, DSE_BAD_INPUT, part->file.path, 0,
                       "it has no axis %s, which %s has; files that are looked at together are of one sweep",
                       name, other->file.path);
}

/* The one value of a file without the axis, as coordinates. */
static enum dse_status fixed_spot(const struct cube_part *part, const struct cube_part *with,
                                  const struct result_axis *axis, struct arena *arena, struct spot *spot,
                                  struct dse_error *err)
{
    const struct result_coordinate *c = &axis->coordinate[0];
    const struct cube_fixed *fixed = fixed_of(part, c->name);
    double number = 0;
    if (!fixed || axis->n_coordinate > 1 || (c->number && !text_parse_double(fixed->text, &number)))
        return no_axis(part, c->name, with, err);
    struct result_coordinate *made = arena_alloc(arena, 1, sizeof *made);
    const char **text = arena_alloc(arena, 1, sizeof *text);
    double *value = arena_alloc(arena, 1, sizeof *value);
    DSE_TRY(arena_check(arena, "the axes", err));
    *made = *c;
    made->label = NULL;
    *text = fixed->text;
    *value = number;
    made->text = c->number ? NULL : text;
    made->number = c->number ? value : NULL;
    *spot = (struct spot){made, 0};
    return DSE_OK;
}

static bool ascends(const struct result_coordinate *c, size_t n)
{
    for (size_t i = 1; c->number && i < n; i++)
        if (!(c->number[i - 1] < c->number[i]))
            return false;
    return c->number != NULL;
}

/* Put a value where it belongs unless it is there. */
static void insert(struct spot *spot, size_t *n, const struct spot *added, size_t n_coordinate, bool sorted)
{
    size_t at = 0;
    while (at < *n && !same_spot(&spot[at], added, n_coordinate))
        at++;
    if (at < *n)
        return;
    while (sorted && at > 0 &&
           spot[at - 1].coordinate[0].number[spot[at - 1].at] > added->coordinate[0].number[added->at]) {
        spot[at] = spot[at - 1];
        at--;
    }
    spot[at] = *added;
    ++*n;
}

/* The values of an axis in one file; of one that lacks it the value it lies at. */
static enum dse_status spots_of(const struct cube_part *part, const struct cube_part *with,
                                const struct result_axis *axis, struct arena *arena, struct spot **spot,
                                size_t *n, struct dse_error *err)
{
    const size_t own = axis_named(&part->schema, axis->coordinate[0].name);
    const bool has = own < part->schema.n_axis;
    if (has && !same_coordinates(&part->schema.axis[own], axis))
        return dse_fail_at(err, DSE_BAD_INPUT, part->file.path, 0,
                           "its axis %s is not that of %s: other columns are linked with it",
                           axis->coordinate[0].name, with->file.path);
    *n = has ? part->schema.axis[own].n_value : 1;
    *spot = arena_alloc(arena, *n, sizeof **spot);
    DSE_TRY(arena_check(arena, "the axes", err));
    if (!has)
        return fixed_spot(part, with, axis, arena, *spot, err);
    for (size_t i = 0; i < *n; i++)
        (*spot)[i] = (struct spot){part->schema.axis[own].coordinate, i};
    return DSE_OK;
}

static enum dse_status fill_coordinates(const struct spot *spot, size_t n, size_t n_coordinate,
                                        struct arena *arena, struct result_axis *axis, struct dse_error *err)
{
    struct result_coordinate *made = arena_alloc(arena, n_coordinate, sizeof *made);
    DSE_TRY(arena_check(arena, "the axes", err));
    for (size_t k = 0; k < n_coordinate; k++) {
        const char **text = arena_alloc(arena, n, sizeof *text),
                   **label = arena_alloc(arena, n, sizeof *label);
        double *number = arena_alloc(arena, n, sizeof *number);
        DSE_TRY(arena_check(arena, "the axes", err));
        made[k] = spot[0].coordinate[k];
        for (size_t i = 0; i < n; i++) {
            const struct result_coordinate *c = &spot[i].coordinate[k];
            char buffer[LABEL_MAX];
            if (c->number)
                number[i] = c->number[spot[i].at];
            else
                text[i] = c->text[spot[i].at];
            coordinate_label(c, spot[i].at, buffer, sizeof buffer);
            label[i] = c->label ? c->label[spot[i].at] : arena_copy_text(arena, buffer, strlen(buffer));
        }
        made[k].number = made[k].number ? number : NULL;
        made[k].text = made[k].number ? NULL : text;
        made[k].label = label;
    }
    *axis = (struct result_axis){n, n_coordinate, made};
    return arena_check(arena, "the axes", err);
}

/* Axis `a` of the whole; `axis` comes with its coordinates as `with` has them, and leaves with all values. */
static enum dse_status join_axis(struct cube_join *join, size_t a, const struct cube_part *with,
                                 struct result_axis *axis, struct arena *arena, struct dse_error *err)
{
    struct spot **spot = arena_alloc(arena, join->n_part, sizeof *spot);
    size_t *n = arena_alloc(arena, join->n_part, sizeof *n), n_all = 0, n_most = 0;
    bool sorted = true;
    DSE_TRY(arena_check(arena, "the axes", err));
    for (size_t p = 0; p < join->n_part; p++) {
        struct cube_part *part = &join->part[p];
        part->own[a] = axis_named(&part->schema, axis->coordinate[0].name);
        DSE_TRY(spots_of(part, with, axis, arena, &spot[p], &n[p], err));
        n_most += n[p];
        sorted = sorted && ascends(spot[p]->coordinate, n[p]);
    }
    struct spot *all = arena_alloc(arena, n_most, sizeof *all);
    DSE_TRY(arena_check(arena, "the axes", err));
    for (size_t p = 0; p < join->n_part; p++)
        for (size_t i = 0; i < n[p]; i++)
            if (i >= n_all || !same_spot(&all[i], &spot[p][i], axis->n_coordinate)) /* mostly the same */
                insert(all, &n_all, &spot[p][i], axis->n_coordinate, sorted);
    for (size_t p = 0; p < join->n_part; p++) {
        uint32_t *position = arena_alloc(arena, n[p], sizeof *position);
        DSE_TRY(arena_check(arena, "the axes", err));
        for (size_t i = 0; i < n[p]; i++) {
            size_t at = i;
            if (at >= n_all || !same_spot(&all[at], &spot[p][i], axis->n_coordinate))
                for (at = 0; !same_spot(&all[at], &spot[p][i], axis->n_coordinate);)
                    at++;
            position[i] = (uint32_t)at;
        }
        join->part[p].position[a] = position;
    }
    return fill_coordinates(all, n_all, axis->n_coordinate, arena, axis, err);
}

/* A name that files fix at different texts, and no file has as an axis: number i of these. */
static const char *differing(const struct cube_join *join, size_t i)
{
    const struct cube_part *first = &join->part[0];
    for (size_t f = 0; f < first->file.n_fixed; f++) {
        const struct cube_fixed *fixed = &first->file.fixed[f];
        bool differs = false, everywhere = true;
        for (size_t p = 0; p < join->n_part; p++) {
            const struct cube_fixed *other = fixed_of(&join->part[p], fixed->name);
            everywhere = everywhere && other &&
                         axis_named(&join->part[p].schema, fixed->name) == join->part[p].schema.n_axis;
            differs = differs || (other && strcmp(other->text, fixed->text) != 0);
        }
        if (differs && everywhere && i-- == 0)
            return fixed->name;
    }
    return NULL;
}

static enum dse_status join_axes(struct cube_join *join, struct arena *arena, struct dse_error *err)
{
    struct result_axis *axis = arena_alloc(arena, RESULT_AXIS_MAX, sizeof *axis);
    size_t n = 0;
    const char *name;
    DSE_TRY(arena_check(arena, "the axes", err));
    for (size_t p = 0; p < join->n_part; p++) {
        const struct cube_part *part = &join->part[p];
        for (size_t a = 0; a < part->schema.n_axis; a++) {
            const struct result_schema all = {.n_axis = n, .axis = axis};
            if (axis_named(&all, part->schema.axis[a].coordinate[0].name) < n)
                continue;
            if (n == RESULT_AXIS_MAX)
                return dse_fail(err, DSE_LIMIT, "more than %d axes", RESULT_AXIS_MAX);
            axis[n] = part->schema.axis[a];
            DSE_TRY(join_axis(join, n, part, &axis[n], arena, err));
            n++;
        }
    }
    for (size_t i = 0; (name = differing(join, i)) && n < RESULT_AXIS_MAX; i++) {
        struct result_coordinate *c = arena_alloc(arena, 1, sizeof *c);
        DSE_TRY(arena_check(arena, "the axes", err));
        *c = (struct result_coordinate){.name = name, .unit = "", .long_name = name};
        axis[n] = (struct result_axis){1, 1, c};
        DSE_TRY(join_axis(join, n, &join->part[0], &axis[n], arena, err));
        n++;
    }
    join->schema.axis = axis;
    join->schema.n_axis = n;
    return DSE_OK;
}

/* ---------------------------------------- cells */

/* Where cell `i` of a part lies on its axes. */
static void index_of(const struct cube_part *part, size_t i, uint32_t index[RESULT_AXIS_MAX])
{
    for (size_t a = part->schema.n_axis; a-- > 0;) {
        index[a] = (uint32_t)(i % part->schema.axis[a].n_value);
        i /= part->schema.axis[a].n_value;
    }
}

/* The cell of the whole that is cell `i` of a part. */
static size_t cell_of(const struct cube_join *join, const struct cube_part *part, size_t i)
{
    uint32_t index[RESULT_AXIS_MAX];
    size_t cell = 0;
    index_of(part, i, index);
    for (size_t a = 0; a < join->schema.n_axis; a++) {
        const size_t own = part->own[a] < part->schema.n_axis ? index[part->own[a]] : 0;
        cell = cell * join->schema.axis[a].n_value + part->position[a][own];
    }
    return cell;
}

/* Which file a cell's values come from: the first in which it is ok, else the first that has it. */
static enum dse_status place_cells(struct cube_join *join, struct arena *arena, struct dse_error *err)
{
    const struct cube_part **from = arena_alloc(arena, join->n_cell, sizeof *from);
    const char **status = arena_alloc(arena, join->n_cell, sizeof *status);
    size_t *place = arena_alloc(arena, join->n_cell, sizeof *place);
    DSE_TRY(arena_check(arena, "the cells", err));
    for (size_t i = 0; i < join->n_cell; i++)
        status[i] = "";
    for (size_t p = 0; p < join->n_part; p++) {
        struct cube_part *part = &join->part[p];
        part->cell = arena_alloc(arena, part->n_cell, sizeof *part->cell);
        part->counts = arena_alloc(arena, part->n_cell, sizeof *part->counts);
        DSE_TRY(arena_check(arena, "the cells", err));
        for (size_t i = 0; i < part->n_cell; i++) {
            const size_t cell = part->cell[i] = cell_of(join, part, i);
            if (!part->status[i][0] ||
                (from[cell] && (strcmp(status[cell], "ok") == 0 || strcmp(part->status[i], "ok") != 0)))
                continue;
            if (from[cell])
                from[cell]->counts[place[cell]] = false;
            part->counts[i] = true;
            from[cell] = part;
            place[cell] = i;
            status[cell] = part->status[i];
        }
    }
    join->status = status;
    return DSE_OK;
}

enum dse_status cube_join_open(struct cube_join *join, const struct cube_file *file, size_t n,
                               struct arena *arena, struct dse_error *err)
{
    *join = (struct cube_join){.n_part = n, .part = arena_alloc(arena, n, sizeof *join->part)};
    DSE_TRY(arena_check(arena, "the cells", err));
    for (size_t p = 0; p < n; p++) {
        struct cube_part *part = &join->part[p];
        size_t n_status;
        part->file = file[p];
        DSE_TRY(cube_read_schema(file[p].path, arena, &part->schema, err));
        DSE_TRY(cube_read_text(file[p].path, "status", arena, &part->status, &n_status, err));
        part->n_cell = schema_n_cell(&part->schema);
        if (n_status != part->n_cell)
            return dse_fail_at(err, DSE_BAD_INPUT, file[p].path, 0,
                               "the datasets do not have the shape of the axes");
    }
    join->schema = join->part[0].schema;
    join->n_cell = join->part[0].n_cell;
    join->status = join->part[0].status;
    if (n == 1)
        return DSE_OK;
    DSE_TRY(join_axes(join, arena, err));
    join->n_cell = schema_n_cell(&join->schema);
    return place_cells(join, arena, err);
}

/* ---------------------------------------- values */

static enum dse_status differ(const struct cube_join *join, const struct cube_part *part, size_t cell,
                              const char *dataset, double one, double other, struct dse_error *err)
{
    struct text_buffer place;
    size_t step = join->n_cell;
    text_init(&place);
    for (size_t a = 0; a < join->schema.n_axis; a++) {
        const struct result_axis *axis = &join->schema.axis[a];
        char label[LABEL_MAX];
        step /= axis->n_value;
        coordinate_label(&axis->coordinate[0], cell / step % axis->n_value, label, sizeof label);
        text_append(&place, "%s%s=%s", a ? " " : "", axis->coordinate[0].name, label);
    }
    const enum dse_status status =
        dse_fail_at(err, DSE_BAD_INPUT, part->file.path, 0,
                    "%s of the point %s is %.9g here, %.9g in a file before it: are they of one sweep?",
                    dataset, place.data ? place.data : "", one, other);
    text_free(&place);
    return status;
}

static enum dse_status wrong_shape(const struct cube_part *part, const char *dataset, struct dse_error *err)
{
    return dse_fail_at(err, DSE_BAD_INPUT, part->file.path, 0, "%s does not have the shape of the axes",
                       dataset);
}

enum dse_status cube_join_number(const struct cube_join *join, const char *dataset, struct arena *arena,
                                 double **value, struct dse_error *err)
{
    const bool is_time = result_column_is_time(dataset);
    double *all = NULL;
    if (join->n_part > 1) {
        all = arena_alloc(arena, join->n_cell, sizeof *all);
        DSE_TRY(arena_check(arena, "the values", err));
        for (size_t i = 0; i < join->n_cell; i++)
            all[i] = NAN;
    }
    for (size_t p = 0; p < join->n_part; p++) {
        const struct cube_part *part = &join->part[p];
        double *own;
        size_t n;
        DSE_TRY(cube_read_number(part->file.path, dataset, arena, &own, &n, err));
        if (n != part->n_cell)
            return wrong_shape(part, dataset, err);
        if (!all) {
            *value = own;
            return DSE_OK;
        }
        for (size_t i = 0; i < n; i++) {
            double *here = &all[part->cell[i]];
            if (part->counts[i])
                *here = own[i];
            else if (!is_time && !isnan(own[i]) && !isnan(*here) && own[i] != *here &&
                     strcmp(part->status[i], "ok") == 0)
                return differ(join, part, part->cell[i], dataset, own[i], *here, err);
        }
    }
    *value = all;
    return DSE_OK;
}

enum dse_status cube_join_text(const struct cube_join *join, const char *dataset, struct arena *arena,
                               const char *const **value, struct dse_error *err)
{
    const char **all = arena_alloc(arena, join->n_cell, sizeof *all);
    DSE_TRY(arena_check(arena, "the values", err));
    for (size_t i = 0; i < join->n_cell; i++)
        all[i] = "";
    for (size_t p = 0; p < join->n_part; p++) {
        const struct cube_part *part = &join->part[p];
        const char *const *own;
        size_t n;
        DSE_TRY(cube_read_text(part->file.path, dataset, arena, &own, &n, err));
        if (n != part->n_cell)
            return wrong_shape(part, dataset, err);
        for (size_t i = 0; i < n; i++)
            if (join->n_part == 1 || part->counts[i])
                all[join->n_part == 1 ? i : part->cell[i]] = own[i];
    }
    *value = all;
    return DSE_OK;
}

void cube_join_place(const struct cube_join *join, size_t cell, size_t *part, uint32_t index[RESULT_AXIS_MAX])
{
    size_t at = join->n_part > 1 ? 0 : cell;
    *part = 0;
    for (size_t p = 0; join->n_part > 1 && p < join->n_part; p++)
        for (size_t i = 0; i < join->part[p].n_cell; i++)
            if (join->part[p].counts[i] && join->part[p].cell[i] == cell) {
                *part = p;
                at = i;
            }
    index_of(&join->part[*part], at, index);
}
