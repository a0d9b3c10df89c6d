/* The bound as a small linear program, solved by the simplex method; its answer is scaled until it is surely
 * a bound, whatever the arithmetic did. */
#include "dse/optimise/energy_cuts.h"

#include <math.h>
#include <string.h>

enum { ENERGY_KINDS = 4, ROW_MAX = ENERGY_KINDS * ARCH_LEVEL_MAX + 1, PIVOT_MOST = 200 };

/* Maximise gain * x over x >= 0 with row[r] * x <= 1 for each r. */
struct packing {
    uint32_t n, n_row;
    double gain[ENERGY_CUT_MAX];
    double row[ROW_MAX][ENERGY_CUT_MAX];
};

static double energy_of(const struct storage_level *level, int kind)
{
    const double energy[ENERGY_KINDS] = {level->read_energy_j, level->write_energy_j, level->update_energy_j,
                                         level->address_energy_j};
    return energy[kind];
}

bool machine_holds(const struct architecture *large, const struct architecture *small)
{
    bool holds = large->n_level == small->n_level;
    for (uint32_t v = 0; v < small->n_level && holds; v++)
        holds = strcmp(large->level[v].name, small->level[v].name) == 0 &&
                architecture_usable_words(&large->level[v]) >= architecture_usable_words(&small->level[v]) &&
                large->level[v].min_utilization <= small->level[v].min_utilization;
    return holds;
}

/* The least factor from one machine's energies of the innermost level to the other's. */
static double innermost_scale(const struct architecture *from, const struct architecture *to)
{
    double least = INFINITY;
    for (int kind = 0; kind < ENERGY_KINDS; kind++) {
        const double before = energy_of(&from->level[0], kind);
        if (before > 0)
            least = fmin(least, energy_of(&to->level[0], kind) / before);
    }
    return isfinite(least) ? least : 0;
}

/* Rows: for each energy that differs between the machines, and one for all that do not. */
static void compile(const struct architecture *arch, const struct energy_cut *cut, uint32_t n, bool apart,
                    struct packing *out)
{
    out->n = n;
    out->n_row = 1;
    for (uint32_t i = 0; i < n; i++) {
        out->gain[i] = cut[i].least_j - cut[i].fixed_j - cut[i].innermost_j;
        out->row[0][i] = 1;
    }
    for (uint32_t v = apart; v < arch->n_level; v++)
        for (int kind = 0; kind < ENERGY_KINDS; kind++) {
            const double own = energy_of(&arch->level[v], kind);
            double *row = out->row[out->n_row];
            bool differs = false;
            for (uint32_t i = 0; i < n; i++) {
                const double its = energy_of(&cut[i].arch->level[v], kind);
                row[i] = its == own ? 1 : own > 0 ? its / own : INFINITY;
                differs = differs || its != own;
            }
            out->n_row += differs;
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t r = 0; r < out->n_row; r++)
            if (!isfinite(out->row[r][i]) || !(out->gain[i] > 0)) {
                out->gain[i] = 0;
                for (uint32_t k = 0; k < out->n_row; k++)
                    out->row[k][i] = 0;
            }
}

/* One step of the simplex method by Bland's rule; false at the end. `table` (n_row + 1, n + n_row + 1): the
 * last row has minus the gains, the last column the right sides. */
static bool pivot(double table[][ENERGY_CUT_MAX + ROW_MAX + 1], uint32_t n_row, uint32_t n_column,
                  uint32_t *basis)
{
    uint32_t column = 0, row = n_row;
    while (column < n_column && table[n_row][column] >= -1e-12)
        column++;
    if (column == n_column)
        return false;
    for (uint32_t r = 0; r < n_row; r++) {
        if (table[r][column] <= 1e-12)
            continue;
        const double ratio = table[r][n_column] / table[r][column];
        const double best = row < n_row ? table[row][n_column] / table[row][column] : INFINITY;
        if (ratio < best || (ratio == best && basis[r] < basis[row]))
            row = r;
    }
    if (row == n_row)
        return false;
    const double by = table[row][column];
    for (uint32_t c = 0; c <= n_column; c++)
        table[row][c] /= by;
    for (uint32_t r = 0; r <= n_row; r++) {
        const double times = table[r][column];
        for (uint32_t c = 0; c <= n_column && r != row && times != 0; c++)
            table[r][c] -= times * table[row][c];
    }
    basis[row] = column;
    return true;
}

static double solve(const struct packing *p)
{
    double table[ROW_MAX + 1][ENERGY_CUT_MAX + ROW_MAX + 1];
    uint32_t basis[ROW_MAX];
    double x[ENERGY_CUT_MAX] = {0}, most_gain = 0, most_use = 1, sum = 0;
    const uint32_t n_column = p->n + p->n_row;
    for (uint32_t i = 0; i < p->n; i++)
        most_gain = fmax(most_gain, p->gain[i]);
    for (uint32_t r = 0; r <= p->n_row; r++)
        memset(table[r], 0, (n_column + 1) * sizeof table[r][0]);
    for (uint32_t r = 0; r < p->n_row; r++) {
        memcpy(table[r], p->row[r], p->n * sizeof table[r][0]);
        table[r][p->n + r] = table[r][n_column] = 1;
        basis[r] = p->n + r;
    }
    for (uint32_t i = 0; i < p->n && most_gain > 0; i++)
        table[p->n_row][i] = -p->gain[i] / most_gain;
    for (int k = 0; k < PIVOT_MOST && pivot(table, p->n_row, n_column, basis); k++)
        ;
    for (uint32_t r = 0; r < p->n_row; r++)
        if (basis[r] < p->n)
            x[basis[r]] = fmax(table[r][n_column], 0);
    for (uint32_t r = 0; r < p->n_row; r++) {
        double use = 0;
        for (uint32_t i = 0; i < p->n; i++)
            use += p->row[r][i] * x[i];
        most_use = fmax(most_use, use);
    }
    for (uint32_t i = 0; i < p->n; i++)
        sum += p->gain[i] * x[i] / most_use;
    return sum;
}

double energy_cuts_bound(const struct architecture *arch, const struct energy_cut *cut, uint32_t n)
{
    struct packing packing;
    double fixed = 0, innermost = 0;
    bool apart = n > 0;
    for (uint32_t i = 0; i < n; i++) {
        if (isinf(cut[i].least_j)) /* nothing fits more memory, either */
            return INFINITY;
        apart = apart && cut[i].innermost_j > 0;
        fixed = fmax(fixed, cut[i].fixed_j);
        innermost = fmax(innermost, cut[i].innermost_j * innermost_scale(cut[i].arch, arch));
    }
    compile(arch, cut, n, apart, &packing);
    return fixed + (apart ? innermost : 0) + solve(&packing);
}
