/* Lists the offset of every child, sorts children by it, and cuts the list into groups of equal offset;
 * those that a neighbour serves can be left out. */
#include "costmodel/loopnest/plain.h"

#include <stdlib.h>
#include <string.h>

static uint32_t at_least(uint64_t physical, uint64_t logical)
{
    return (uint32_t)(physical > logical ? physical : logical);
}

/* qsort has no context argument in C11: sort packed (offset, number) pairs instead of indices. */
struct child_key {
    int64_t offset;
    uint32_t number;
};

static int compare_child_keys(const void *a, const void *b)
{
    const struct child_key *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static enum dse_status sort_children(struct child_mesh *mesh, struct arena *arena, struct dse_error *err)
{
    mesh->order = arena_alloc(arena, mesh->n_child, sizeof *mesh->order);
    bool sorted = mesh->order != NULL;
    for (uint32_t q = 0; q < mesh->n_child && sorted; q++) {
        mesh->order[q] = q;
        sorted = q == 0 || mesh->offset[q - 1] <= mesh->offset[q];
    }
    if (sorted) /* most are: loops of one dimension, and those that do not move the tensor */
        return DSE_OK;
    struct child_key *key = arena_alloc(arena, mesh->n_child, sizeof *key);
    DSE_TRY(arena_check(arena, "spatial children", err));
    for (uint32_t q = 0; q < mesh->n_child; q++)
        key[q] = (struct child_key){.offset = mesh->offset[q], .number = q};
    qsort(key, mesh->n_child, sizeof *key, compare_child_keys);
    for (uint32_t q = 0; q < mesh->n_child; q++)
        mesh->order[q] = key[q].number;
    return DSE_OK;
}

void child_mesh_place(struct child_mesh *mesh)
{
    uint32_t column = 0, row = 0;
    for (uint32_t q = 0; q < mesh->n_child; q++) {
        mesh->column[q] = column;
        mesh->row[q] = row;
        if (++column == mesh->width) {
            column = 0;
            row++;
        }
    }
}

enum dse_status child_mesh_make(const struct compiled *evaluator, const struct nest *nest, uint32_t l,
                                uint32_t t, bool alone, struct arena *arena, struct child_mesh *mesh,
                                struct dse_error *err)
{
    uint64_t n_child = 1, x = 1, y = 1;
    for (uint32_t k = nest->spatial_begin[l]; k < nest->temporal_begin[l]; k++) {
        n_child *= nest->loop[k].bound;
        if (nest->loop[k].kind == LOOP_SPATIAL_X)
            x *= nest->loop[k].bound;
        else
            y *= nest->loop[k].bound;
    }
    mesh->n_child = (uint32_t)n_child;
    mesh->width = at_least(evaluator->fan_x[l], x);
    mesh->height = at_least(evaluator->fan_y[l], y);
    mesh->alone = alone;
    mesh->skip_hops = false;
    mesh->offset = arena_alloc(arena, n_child, sizeof *mesh->offset);
    mesh->served = arena_alloc(arena, n_child, sizeof *mesh->served);
    mesh->column = arena_alloc(arena, n_child, sizeof *mesh->column);
    mesh->row = arena_alloc(arena, n_child, sizeof *mesh->row);
    mesh->column_low = arena_alloc(arena, mesh->width, sizeof *mesh->column_low);
    mesh->column_high = arena_alloc(arena, mesh->width, sizeof *mesh->column_high);
    DSE_TRY(arena_check(arena, "spatial children", err));
    uint32_t filled = 1;
    for (uint32_t k = nest->spatial_begin[l]; k < nest->temporal_begin[l]; k++) {
        const struct nest_loop *loop = &nest->loop[k];
        int64_t move = evaluator->code[t].dim[loop->dim] * (int64_t)loop->stride;
        for (uint32_t step = 1; step < loop->bound; step++)
            for (uint32_t q = 0; q < filled; q++)
                mesh->offset[step * filled + q] = mesh->offset[q] + (int64_t)step * move;
        filled *= loop->bound;
    }
    child_mesh_place(mesh);
    return sort_children(mesh, arena, err);
}

enum dse_status group_list_make(const struct child_mesh *mesh, struct arena *arena, struct group_list *list,
                                struct dse_error *err)
{
    list->n_group = list->n_class = 0;
    list->class_ = arena_alloc(arena, mesh->n_child, sizeof *list->class_);
    return arena_check(arena, "multicast groups", err);
}

uint32_t child_mesh_mark_served(struct child_mesh *mesh, int64_t move)
{
    uint32_t n_served = 0;
    for (uint32_t q = 0; q < mesh->n_child; q++) {
        const uint32_t column = mesh->column[q], row = mesh->row[q];
        int64_t wanted = mesh->offset[q] + move;
        mesh->served[q] =
            (row > 0 && mesh->offset[q - mesh->width] == wanted) ||
            (row + 1 < mesh->height && q + mesh->width < mesh->n_child &&
             mesh->offset[q + mesh->width] == wanted) ||
            (column > 0 && mesh->offset[q - 1] == wanted) ||
            (column + 1 < mesh->width && q + 1 < mesh->n_child && mesh->offset[q + 1] == wanted);
        n_served += mesh->served[q];
    }
    return n_served;
}

void child_mesh_clear_served(struct child_mesh *mesh)
{
    memset(mesh->served, 0, mesh->n_child * sizeof *mesh->served);
}

/* Hops to reach all members of a group: along the row to the furthest column, then up and down each used
 * column from the middle of the mesh, (height - 1) / 2 (docs/cost-model.md, "Energy of networks"). */
static double group_hops(const struct child_mesh *mesh, const uint32_t *member, uint32_t n_member)
{
    double centre = (mesh->height - 1) / 2.0, hops;
    uint32_t furthest = 0;
    for (uint32_t k = 0; k < n_member; k++)
        mesh->column_low[mesh->column[member[k]]] = UINT32_MAX;
    for (uint32_t k = 0; k < n_member; k++) {
        const uint32_t column = mesh->column[member[k]], row = mesh->row[member[k]];
        if (mesh->column_low[column] == UINT32_MAX)
            mesh->column_low[column] = mesh->column_high[column] = row;
        if (row < mesh->column_low[column])
            mesh->column_low[column] = row;
        if (row > mesh->column_high[column])
            mesh->column_high[column] = row;
        if (column > furthest)
            furthest = column;
    }
    hops = furthest;
    for (uint32_t k = 0; k < n_member; k++) {
        const uint32_t column = mesh->column[member[k]];
        if (mesh->column_low[column] == UINT32_MAX)
            continue; /* this column is already counted */
        if (mesh->column_low[column] < centre)
            hops += centre - mesh->column_low[column];
        if (mesh->column_high[column] > centre)
            hops += mesh->column_high[column] - centre;
        mesh->column_low[column] = UINT32_MAX;
    }
    return hops;
}

static void add_group(const struct child_mesh *mesh, const uint32_t *member, uint32_t n_member,
                      struct group_list *list)
{
    uint32_t c = 0;
    while (c < list->n_class && list->class_[c].size != n_member)
        c++;
    if (c == list->n_class)
        list->class_[list->n_class++] = (struct group_class){.size = n_member};
    list->class_[c].count++;
    if (!mesh->skip_hops)
        list->class_[c].hops += group_hops(mesh, member, n_member);
    list->n_group++;
}

void child_mesh_group(struct child_mesh *mesh, struct group_list *list)
{
    list->n_group = list->n_class = 0;
    uint32_t begin = 0;
    while (begin < mesh->n_child) {
        int64_t offset = mesh->offset[mesh->order[begin]];
        uint32_t end = begin, n_member = 0;
        while (end < mesh->n_child && mesh->offset[mesh->order[end]] == offset &&
               !(mesh->alone && end > begin))
            end++;
        /* Move the unserved to the front of their run; the order inside a run carries no meaning. */
        for (uint32_t k = begin; k < end; k++)
            if (!mesh->served[mesh->order[k]]) {
                uint32_t child = mesh->order[k];
                mesh->order[k] = mesh->order[begin + n_member];
                mesh->order[begin + n_member++] = child;
            }
        if (n_member)
            add_group(mesh, &mesh->order[begin], n_member, list);
        begin = end;
    }
}
