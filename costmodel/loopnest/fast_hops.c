/* Hops as a product of sums over loops where every loop steps along one direction of the mesh; where one
 * wraps around rows that are not full, child by child. */
#include "costmodel/loopnest/mesh_hops.h"

#include <math.h>
#include <string.h>

#include "costmodel/loopnest/fast.h"

/* A loop that steps along one direction of the mesh. */
struct mesh_loop {
    uint64_t bound, stride;
    bool between; /* its iterations are different groups (else members of one) */
};

enum { MESH_LOOP_MAX = 2 * PROBLEM_DIM_MAX };

struct mesh_loops {
    uint32_t n_column, n_row;
    struct mesh_loop column[MESH_LOOP_MAX], row[MESH_LOOP_MAX];
};

/* Children are numbered as the loops run and laid row by row: a loop steps along columns while the numbers
 * inside it are fewer than the width, then along rows; one that crosses over is cut in two if the cut is
 * even. */
static bool separate(const struct spatial_loop *loop, uint32_t n, uint64_t width, struct mesh_loops *out)
{
    uint64_t inside = 1;
    out->n_column = out->n_row = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t bound = loop[k].bound, along = 1;
        bool between = loop[k].between;
        if (inside < width) {
            along = inside * bound <= width ? bound : width / inside;
            if (inside * bound > width && (width % inside != 0 || bound % along != 0))
                return false;
            out->column[out->n_column++] = (struct mesh_loop){along, inside, between};
            bound /= along;
            inside *= along;
        }
        if (bound > 1) {
            if (inside % width != 0)
                return false;
            out->row[out->n_row++] = (struct mesh_loop){bound, inside / width, between};
            inside *= bound;
        }
    }
    return true;
}

/* Sum over groups of |row distances from the middle|: for the lowest and the highest member. `base` is the
 * row that the loops from `k` on have reached, `reach` the rows from a group's lowest to its highest
 * member. */
static double row_hops(const struct mesh_loops *loops, uint32_t k, double base, double reach, double centre)
{
    while (k < loops->n_row && !loops->row[k].between)
        k++;
    if (k == loops->n_row)
        return fmax(0, centre - base) + fmax(0, base + reach - centre);
    double sum = 0;
    for (uint64_t i = 0; i < loops->row[k].bound; i++)
        sum += row_hops(loops, k + 1, base + (double)(i * loops->row[k].stride), reach, centre);
    return sum;
}

/* Numbers of the children that the loops of one sort span (those between groups or those within),
 * ascending. */
static uint32_t child_numbers(const struct spatial_loop *loop, uint32_t n_loop, bool between,
                              uint32_t *number)
{
    uint32_t n = 1, stride = 1;
    number[0] = 0;
    for (uint32_t k = 0; k < n_loop; k++) {
        uint32_t bound = loop[k].bound;
        if (loop[k].between == between) {
            for (uint32_t step = 1; step < bound; step++)
                for (uint32_t q = 0; q < n; q++)
                    number[step * n + q] = number[q] + step * stride;
            n *= bound;
        }
        stride *= bound;
    }
    return n;
}

/* The same child by child, for rows that are not full. A group's members come in ascending order, so in one
 * column each further one lies below the last. */
static double count_hops(const struct spatial_loop *loop, uint32_t n_loop, uint32_t width, double centre,
                         const struct hop_scratch *scratch)
{
    uint32_t *base = scratch->base, *member = scratch->member, *down = scratch->down, *seen = scratch->seen,
             *low = scratch->low;
    uint32_t n_group = child_numbers(loop, n_loop, true, base);
    uint32_t n_member = child_numbers(loop, n_loop, false, member);
    double hops = 0;
    memset(seen, 0, width * sizeof *seen);
    for (uint32_t m = 0; m < n_member; m++) { /* column and row of each, to add without dividing */
        down[m] = member[m] / width;
        member[m] %= width;
    }
    for (uint32_t g = 0; g < n_group; g++) {
        uint32_t base_row = base[g] / width, base_column = base[g] % width, furthest = 0;
        for (uint32_t m = 0; m < n_member; m++) {
            uint32_t column = base_column + member[m], row = base_row + down[m];
            if (column >= width) {
                column -= width;
                row++;
            }
            furthest = column > furthest ? column : furthest;
            double below = row > centre ? row - centre : 0;
            if (seen[column] == g + 1) {
                hops += below - (low[column] > centre ? low[column] - centre : 0);
            } else {
                seen[column] = g + 1;
                hops += row > centre ? below : centre - row;
            }
            low[column] = row;
        }
        hops += furthest;
    }
    return hops;
}

double mesh_hops(const struct spatial_loop *spatial, uint32_t n, uint64_t width, uint64_t height,
                 const struct hop_scratch *scratch)
{
    struct mesh_loops loops;
    double centre = ((double)height - 1) / 2;
    if (!separate(spatial, n, width, &loops))
        return count_hops(spatial, n, (uint32_t)width, centre, scratch);
    /* A group spans the columns base .. base + span; its furthest column is the sum of both. Averages are
     * exact: indices of loops between groups are uniform. */
    double n_column_group = 1, n_row_group = 1, used_column = 1, furthest = 0, reach = 0;
    for (uint32_t k = 0; k < loops.n_column; k++) {
        const struct mesh_loop *loop = &loops.column[k];
        double last = (double)((loop->bound - 1) * loop->stride);
        furthest += loop->between ? last / 2 : last;
        if (loop->between)
            n_column_group *= (double)loop->bound;
        else
            used_column *= (double)loop->bound;
    }
    for (uint32_t k = 0; k < loops.n_row; k++) {
        const struct mesh_loop *loop = &loops.row[k];
        if (loop->between)
            n_row_group *= (double)loop->bound;
        else
            reach += (double)((loop->bound - 1) * loop->stride);
    }
    return n_row_group * n_column_group * furthest +
           n_column_group * used_column * row_hops(&loops, 0, 0, reach, centre);
}

void fast_even_hops(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l, uint32_t t,
                    bool alone, struct fast_mesh *mesh)
{
    const struct hop_scratch scratch = {mesh->group, mesh->mesh.order, mesh->mesh.column_high,
                                        mesh->group_size, mesh->mesh.column_low};
    struct spatial_loop loop[MESH_LOOP_MAX];
    uint32_t n = 0;
    for (uint32_t k = nest->spatial_begin[l]; k < nest->spatial_begin[l + 1]; k++)
        loop[n++] = (struct spatial_loop){
            nest->spatial_bound[k], alone || (evaluator->code[t].relevant >> nest->spatial_dim[k] & 1u)};
    mesh->all.class_[0].hops = mesh_hops(loop, n, fast_mesh_width(evaluator, nest, l),
                                         fast_mesh_height(evaluator, nest, l), &scratch);
}
