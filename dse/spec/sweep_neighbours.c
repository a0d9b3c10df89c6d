/* Sorts the points by all that must be the same, then by capacities and bandwidths; so points that may be
 * neighbours stand together, and whatever has at least as much of everything stands behind. */
#include "dse/spec/sweep_neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The words of our own files, and Timeloop's. */
static const char *const word[] = {
    "capacity", "bandwidth",    "read_bandwidth",     "write_bandwidth", "shared_bandwidth",
    "entries",  "memory_depth", "data_storage_depth", "depth",           "sizeKB"};

bool sweep_exchanges(const struct sweep *sweep, size_t v)
{
    const struct spec_variable *variable = &sweep->spec->variable[v];
    const char *dot = strrchr(variable->name, '.');
    for (size_t i = 0; dot && variable->kind->target == SPEC_QUANTITY && i < sizeof word / sizeof *word; i++)
        if (strcmp(dot + 1, word[i]) == 0)
            return sweep->variable[v].numeric;
    return false;
}

/* What a variable is to the exchange. */
enum role {
    ROLE_SAME,  /* neighbours agree in it */
    ROLE_ORDER, /* a capacity or bandwidth */
    ROLE_NONE   /* another quantity that is linked with one, or the number of an explicit point */
};

static enum role role_of(const struct sweep *sweep, size_t v)
{
    const struct sweep_spec *spec = sweep->spec;
    const struct spec_variable *variable = &spec->variable[v];
    const struct spec_dimension *d = &spec->dimension[variable->dimension];
    bool linked = false, explicit = false;
    if (sweep_exchanges(sweep, v))
        return ROLE_ORDER;
    for (size_t k = d->first; k < d->first + d->n_variable; k++) {
        linked = linked || sweep_exchanges(sweep, k);
        explicit = explicit || spec->variable[k].kind->target == SPEC_POINT;
    }
    if (variable->kind->target == SPEC_POINT)
        return ROLE_NONE;
    return linked && !explicit && variable->kind->target == SPEC_QUANTITY ? ROLE_NONE : ROLE_SAME;
}

/* The points with what they are compared by. */
struct points {
    const struct sweep *sweep;
    enum role role[SPEC_VARIABLE_MAX];
    size_t n, n_order;
    uint32_t *number; /* (n) */
};

static int compare_values(const struct sweep_variable *variable, uint32_t i, uint32_t k)
{
    if (variable->numeric)
        return (variable->number[i] > variable->number[k]) - (variable->number[i] < variable->number[k]);
    return strcmp(variable->text[i], variable->text[k]);
}

static int compare_role(const struct points *points, enum role role, const uint32_t *a, const uint32_t *b)
{
    const struct sweep_spec *spec = points->sweep->spec;
    for (size_t v = 0; v < spec->n_variable; v++) {
        size_t d = spec->variable[v].dimension;
        if (points->role[v] != role || a[d] == b[d])
            continue;
        int order = compare_values(&points->sweep->variable[v], a[d], b[d]);
        if (order != 0)
            return order;
    }
    return 0;
}

static int by_place(const void *a, const void *b, void *user)
{
    const struct points *points = user;
    const uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    uint32_t one[SPEC_VARIABLE_MAX], two[SPEC_VARIABLE_MAX];
    sweep_index(points->sweep, p, one);
    sweep_index(points->sweep, q, two);
    int order = compare_role(points, ROLE_SAME, one, two);
    if (order == 0)
        order = compare_role(points, ROLE_ORDER, one, two);
    return order ? order : (p > q) - (p < q);
}

/* Whether b has at least a's of every capacity and bandwidth. */
static bool is_below(const struct points *points, const uint32_t *a, const uint32_t *b)
{
    const struct sweep_spec *spec = points->sweep->spec;
    for (size_t v = 0; v < spec->n_variable; v++) {
        size_t d = spec->variable[v].dimension;
        if (points->role[v] == ROLE_ORDER && compare_values(&points->sweep->variable[v], a[d], b[d]) > 0)
            return false;
    }
    return true;
}

/* Pairs of neighbours, each both ways. */
struct pairs {
    struct pair {
        uint32_t point, other;
    } * pair; /* (n) owned */
    size_t n, capacity;
};

static enum dse_status no_memory(const struct sweep *sweep, struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the neighbours of %zu points", sweep->n_point);
}

static bool add_pair(struct pairs *pairs, uint32_t p, uint32_t q)
{
    struct pair *grown = array_grow(pairs->pair, pairs->n + 2, &pairs->capacity, sizeof *grown);
    if (!grown)
        return false;
    pairs->pair = grown;
    grown[pairs->n++] = (struct pair){p, q};
    grown[pairs->n++] = (struct pair){q, p};
    return true;
}

/* The neighbours of the last of points number[0 .. n] that stand before it, which all agree in what must be
 * the same. From the last on: whoever is below one that has been found is no neighbour, and no later one is
 * above an earlier. */
static bool find_below(const struct points *points, const uint32_t *number, size_t n, struct pairs *pairs)
{
    uint32_t at[SPEC_VARIABLE_MAX], index[SPEC_VARIABLE_MAX], between[SPEC_VARIABLE_MAX];
    const size_t begin = pairs->n;
    sweep_index(points->sweep, number[n], at);
    for (size_t i = n; i-- > 0;) {
        sweep_index(points->sweep, number[i], index);
        bool is = is_below(points, index, at);
        for (size_t k = begin; is && k < pairs->n; k += 2) {
            sweep_index(points->sweep, pairs->pair[k].point, between);
            is = !is_below(points, index, between);
        }
        if (is && !add_pair(pairs, number[i], number[n]))
            return false;
    }
    return true;
}

static enum dse_status find_pairs(const struct points *points, struct pairs *pairs, struct dse_error *err)
{
    uint32_t first[SPEC_VARIABLE_MAX], index[SPEC_VARIABLE_MAX];
    size_t begin = 0;
    for (size_t i = 0; i < points->n; i++) {
        sweep_index(points->sweep, points->number[begin], first);
        sweep_index(points->sweep, points->number[i], index);
        if (compare_role(points, ROLE_SAME, first, index) != 0)
            begin = i;
        if (!find_below(points, points->number + begin, i - begin, pairs))
            return no_memory(points->sweep, err);
    }
    return DSE_OK;
}

static int by_number(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

/* From the pairs to the list. */
static enum dse_status list_pairs(struct sweep_neighbours *out, const struct sweep *sweep,
                                  struct pairs *pairs, struct dse_error *err)
{
    out->point = calloc(pairs->n + 1, sizeof *out->point);
    out->first = calloc(pairs->n + 1, sizeof *out->first);
    out->other = calloc(pairs->n + 1, sizeof *out->other);
    if (!out->point || !out->first || !out->other)
        return no_memory(sweep, err);
    if (pairs->n > 0)
        qsort(pairs->pair, pairs->n, sizeof *pairs->pair, by_number);
    for (size_t i = 0; i < pairs->n; i++)
        if (i == 0 || pairs->pair[i].point != pairs->pair[i - 1].point) {
            out->point[out->n] = pairs->pair[i].point;
            out->first[out->n++] = i;
        }
    out->first[out->n] = pairs->n;
    for (size_t i = 0; i < pairs->n; i++)
        out->other[i] = (uint32_t)sweep_neighbours_find(out, pairs->pair[i].other);
    return DSE_OK;
}

/* The points of schedulers. */
static enum dse_status gather(struct points *points, struct dse_error *err)
{
    const struct sweep *sweep = points->sweep;
    struct sweep_point *point = malloc(sizeof *point);
    points->number = malloc(sweep->n_point * sizeof *points->number);
    if (!point || !points->number) {
        free(point);
        return no_memory(sweep, err);
    }
    for (size_t p = 0; p < sweep->n_point; p++) {
        sweep_point(sweep, p, point);
        if (solve_is_scheduler(&point->settings))
            points->number[points->n++] = (uint32_t)p;
    }
    free(point);
    return DSE_OK;
}

enum dse_status sweep_neighbours_init(struct sweep_neighbours *neighbours, const struct sweep *sweep,
                                      struct dse_error *err)
{
    struct points points = {.sweep = sweep};
    struct pairs pairs = {0};
    enum dse_status status = DSE_OK;
    *neighbours = (struct sweep_neighbours){0};
    for (size_t v = 0; v < sweep->spec->n_variable; v++) {
        points.role[v] = role_of(sweep, v);
        points.n_order += points.role[v] == ROLE_ORDER;
    }
    if (sweep->exchange && points.n_order > 0 && sweep->n_scheduler > 0)
        status = gather(&points, err);
    if (points.n > 0) {
        qsort_r(points.number, points.n, sizeof *points.number, by_place, &points);
        status = find_pairs(&points, &pairs, err);
    }
    if (status == DSE_OK)
        status = list_pairs(neighbours, sweep, &pairs, err);
    free(points.number);
    free(pairs.pair);
    return status;
}

void sweep_neighbours_free(struct sweep_neighbours *neighbours)
{
    free(neighbours->point);
    free(neighbours->first);
    free(neighbours->other);
    *neighbours = (struct sweep_neighbours){0};
}

size_t sweep_neighbours_find(const struct sweep_neighbours *neighbours, size_t p)
{
    size_t low = 0, high = neighbours->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (neighbours->point[middle] < p)
            low = middle + 1;
        else
            high = middle;
    }
    return low < neighbours->n && neighbours->point[low] == p ? low : SIZE_MAX;
}

static bool dimension_exchanges(const struct sweep *sweep, size_t d)
{
    const struct spec_dimension *dimension = &sweep->spec->dimension[d];
    for (size_t v = dimension->first; v < dimension->first + dimension->n_variable; v++)
        if (sweep_exchanges(sweep, v))
            return true;
    return false;
}

void sweep_exchange_place(const struct sweep *sweep, size_t p, struct text_buffer *out)
{
    uint32_t index[SPEC_VARIABLE_MAX];
    size_t n = 0;
    char value[40];
    sweep_index(sweep, p, index);
    for (size_t d = 0; d < sweep->spec->n_dimension; d++) {
        const struct result_axis *axis = &sweep->schema.axis[d];
        for (size_t k = 0; k < axis->n_coordinate && dimension_exchanges(sweep, d); k++)
            text_append(out, "%s%s=%s", n++ ? " " : "", axis->coordinate[k].name,
                        coordinate_text(&axis->coordinate[k], index[d], value, sizeof value));
    }
}

size_t sweep_exchange_find(const struct sweep *sweep, size_t p, const char *place)
{
    uint32_t own[SPEC_VARIABLE_MAX], index[SPEC_VARIABLE_MAX];
    struct text_buffer text;
    size_t found = SIZE_MAX;
    sweep_index(sweep, p, own);
    text_init(&text);
    for (size_t q = 0; q < sweep->n_point && found == SIZE_MAX; q++) {
        bool same = true;
        sweep_index(sweep, q, index);
        for (size_t d = 0; d < sweep->spec->n_dimension && same; d++)
            same = index[d] == own[d] || dimension_exchanges(sweep, d);
        if (!same)
            continue;
        text_clear(&text);
        sweep_exchange_place(sweep, q, &text);
        if (text.data && !text.failed && strcmp(text.data, place) == 0)
            found = q;
    }
    text_free(&text);
    return found;
}
