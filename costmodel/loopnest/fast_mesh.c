/* Children with equal offsets are counted through a small hash table of offsets instead of by sorting;
 * groups of equal size become one class. */
#include "costmodel/loopnest/fast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/model/divisor.h"

enum dse_status fast_mesh_init(struct fast_mesh *fast, uint64_t max_children, struct dse_error *err)
{
    memset(fast, 0, sizeof *fast);
    fast->n_slot = 16;
    while (fast->n_slot < 2 * max_children)
        fast->n_slot *= 2;
    fast->mesh.offset = calloc(max_children, sizeof *fast->mesh.offset);
    fast->mesh.order = calloc(max_children, sizeof *fast->mesh.order);
    fast->mesh.column = calloc(max_children, sizeof *fast->mesh.column);
    fast->mesh.row = calloc(max_children, sizeof *fast->mesh.row);
    fast->mesh.served = calloc(max_children, sizeof *fast->mesh.served);
    fast->mesh.column_low = calloc(max_children, sizeof *fast->mesh.column_low);
    fast->mesh.column_high = calloc(max_children, sizeof *fast->mesh.column_high);
    fast->all.class_ = calloc(max_children, sizeof *fast->all.class_);
    fast->reduced.class_ = calloc(max_children, sizeof *fast->reduced.class_);
    fast->group = calloc(max_children, sizeof *fast->group);
    fast->group_size = calloc(max_children + 1, sizeof *fast->group_size);
    fast->slot_offset = calloc(fast->n_slot, sizeof *fast->slot_offset);
    fast->slot_group = calloc(fast->n_slot, sizeof *fast->slot_group);
    /* Sizes in one list differ and add up to at most max_children, so there are at most sqrt(2 n) of them;
     * one list for plain visits and one for each distinct move of at most 52 loops. */
    fast->record_capacity = 54 * (2 + (uint32_t)sqrt(2.0 * (double)max_children));
    fast->record = calloc(fast->record_capacity, sizeof *fast->record);
    fast->n_note = max_children > MESH_LARGE ? MESH_NOTE_LARGE : MESH_NOTE_SMALL;
    fast->note = calloc(fast->n_note, sizeof *fast->note);
    if (!fast->mesh.offset || !fast->mesh.order || !fast->mesh.column || !fast->mesh.row ||
        !fast->mesh.served || !fast->mesh.column_low || !fast->mesh.column_high || !fast->all.class_ ||
        !fast->reduced.class_ || !fast->group || !fast->group_size || !fast->slot_offset ||
        !fast->slot_group || !fast->record || !fast->note) {
        fast_mesh_free(fast);
        return dse_fail(err, DSE_NO_MEMORY, "no memory for a mesh of %llu children",
                        (unsigned long long)max_children);
    }
    return DSE_OK;
}

void fast_mesh_free(struct fast_mesh *fast)
{
    free(fast->mesh.offset);
    free(fast->mesh.order);
    free(fast->mesh.column);
    free(fast->mesh.row);
    free(fast->mesh.served);
    free(fast->mesh.column_low);
    free(fast->mesh.column_high);
    free(fast->all.class_);
    free(fast->reduced.class_);
    free(fast->group);
    free(fast->group_size);
    free(fast->slot_offset);
    free(fast->slot_group);
    free(fast->record);
    free(fast->note);
    memset(fast, 0, sizeof *fast);
}

/* Offsets of the children that the loops in `relevant` (a dimension mask) span; returns how many. */
static uint32_t fill_offsets(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                             uint32_t t, uint32_t relevant, int64_t *offset)
{
    uint32_t filled = 1;
    offset[0] = 0;
    for (uint32_t k = nest->spatial_begin[l]; k < nest->spatial_begin[l + 1]; k++) {
        uint32_t d = nest->spatial_dim[k];
        if (!(relevant >> d & 1u))
            continue;
        int64_t move = evaluator->code[t].dim[d] * (int64_t)nest->spatial_stride[k];
        for (uint32_t step = 1; step < nest->spatial_bound[k]; step++)
            for (uint32_t q = 0; q < filled; q++)
                offset[step * filled + q] = offset[q] + (int64_t)step * move;
        filled *= nest->spatial_bound[k];
    }
    return filled;
}

/* Number equal offsets alike (first come, first numbered) and count the members; returns the number of
 * groups. */
static uint32_t number_groups(struct fast_mesh *fast, uint32_t n)
{
    uint32_t n_group = 0, mask = 16;
    while (mask < 2 * n)
        mask *= 2;
    mask -= 1;
    memset(fast->slot_group, 0, (mask + 1) * sizeof *fast->slot_group);
    for (uint32_t q = 0; q < n; q++) {
        int64_t offset = fast->mesh.offset[q];
        uint32_t slot = (uint32_t)(((uint64_t)offset * 0x9e3779b97f4a7c15u) >> 32) & mask;
        while (fast->slot_group[slot] && fast->slot_offset[slot] != offset)
            slot = (slot + 1) & mask;
        if (!fast->slot_group[slot]) {
            fast->slot_group[slot] = ++n_group;
            fast->slot_offset[slot] = offset;
            fast->group_size[n_group - 1] = 0;
        }
        fast->group[q] = fast->slot_group[slot] - 1;
        fast->group_size[fast->group[q]]++;
    }
    return n_group;
}

static void add_class(struct group_list *list, uint32_t size, uint32_t count)
{
    uint32_t c = 0;
    while (c < list->n_class && list->class_[c].size != size)
        c++;
    if (c == list->n_class)
        list->class_[list->n_class++] = (struct group_class){.size = size};
    list->class_[c].count += count;
    list->n_group += count;
}

/* Sizes and counts of fast->all; hops stay 0. Returns the number of children. */
static uint64_t find_groups(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                            uint32_t t, bool alone, struct fast_mesh *fast)
{
    const struct tensor_code *code = &evaluator->code[t];
    uint32_t n_child = 1, n_group = 1, moving = 0, conflict = 0;
    for (uint32_t k = nest->spatial_begin[l]; k < nest->spatial_begin[l + 1]; k++) {
        uint32_t d = nest->spatial_dim[k];
        n_child *= nest->spatial_bound[k];
        if (code->relevant >> d & 1u) {
            n_group *= nest->spatial_bound[k];
            conflict |= code->shares_rank[d] & moving;
            moving |= 1u << d;
        }
    }
    fast->built = false;
    fast->all.n_class = fast->all.n_group = 0;
    if (alone)
        add_class(&fast->all, 1, n_child);
    else if (!conflict)
        add_class(&fast->all, n_child / n_group, n_group);
    else {
        uint32_t shared = n_child / n_group; /* children that differ only in irrelevant dimensions */
        uint32_t distinct =
            number_groups(fast, fill_offsets(evaluator, nest, l, t, moving, fast->mesh.offset));
        for (uint32_t g = 0; g < distinct; g++)
            add_class(&fast->all, fast->group_size[g] * shared, 1);
    }
    return n_child;
}

/* Members of each group next to each other in mesh.order (counting sort by group number). */
static void order_by_group(struct fast_mesh *fast, uint32_t n_child, uint32_t n_group)
{
    uint32_t begin = 0;
    for (uint32_t g = 0; g < n_group; g++) {
        uint32_t size = fast->group_size[g];
        fast->group_size[g] = begin;
        begin += size;
    }
    for (uint32_t q = 0; q < n_child; q++)
        fast->mesh.order[fast->group_size[fast->group[q]]++] = q;
}

void fast_mesh_build(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l, uint32_t t,
                     bool alone, bool hops, struct fast_mesh *fast)
{
    struct child_mesh *mesh = &fast->mesh;
    mesh->width = (uint32_t)fast_mesh_width(evaluator, nest, l);
    mesh->height = (uint32_t)fast_mesh_height(evaluator, nest, l);
    mesh->alone = alone;
    mesh->skip_hops = !hops;
    mesh->n_child = fill_offsets(evaluator, nest, l, t, UINT32_MAX, mesh->offset);
    child_mesh_place(mesh);
    order_by_group(fast, mesh->n_child, number_groups(fast, mesh->n_child));
    if (hops) {
        child_mesh_clear_served(mesh);
        child_mesh_group(mesh, &fast->all);
    }
    fast->built = true;
}

/* All that groups and hops depend on; returns how many words, 0 when they are too many. */
static uint32_t make_key(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                         uint32_t t, bool alone, bool hops, uint64_t *key)
{
    const struct tensor_code *code = &evaluator->code[t];
    uint64_t unit = 0;
    uint32_t n = 3, moving = 0, conflict = 0;
    if (2 * (nest->spatial_begin[l + 1] - nest->spatial_begin[l]) + n > MESH_KEY_MAX)
        return 0;
    for (uint32_t k = nest->spatial_begin[l]; k < nest->spatial_begin[l + 1]; k++) {
        const uint32_t d = nest->spatial_dim[k];
        key[n++] = nest->spatial_bound[k];
        key[n++] = (uint64_t)code->dim[d] * nest->spatial_stride[k];
        unit = greatest_common_divisor(key[n - 1], unit);
        if (code->relevant >> d & 1u) {
            conflict |= code->shares_rank[d] & moving;
            moving |= 1u << d;
        }
    }
    for (uint32_t i = 4; unit > 1 && i < n; i += 2)
        key[i] /= unit;
    key[0] = fast_mesh_width(evaluator, nest, l);
    key[1] = fast_mesh_height(evaluator, nest, l);
    key[2] = (uint64_t)alone | (uint64_t)hops << 1 | (uint64_t)(conflict != 0) << 2 |
             (uint64_t)(nest->uneven[l] >> t & 1u) << 3;
    return n;
}

static struct mesh_note *note_of(const struct fast_mesh *fast, const uint64_t *key, uint32_t n)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    return &fast->note[hash % fast->n_note];
}

uint64_t fast_mesh_classes(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                           uint32_t t, bool alone, bool hops, struct fast_mesh *fast)
{
    const bool uneven = nest->uneven[l] >> t & 1u;
    uint64_t key[MESH_KEY_MAX];
    const uint32_t n = hops ? make_key(evaluator, nest, l, t, alone, hops, key) : 0;
    struct mesh_note *note = n ? note_of(fast, key, n) : NULL;
    if (note && note->n_key == n && memcmp(note->key, key, n * sizeof *key) == 0) {
        fast->built = false;
        fast->all.n_group = note->n_group;
        fast->all.n_class = note->n_class;
        memcpy(fast->all.class_, note->class_, note->n_class * sizeof *note->class_);
        return nest->loop_x[l] * nest->loop_y[l];
    }
    const uint64_t n_child = find_groups(evaluator, nest, l, t, alone, fast);
    if (hops && uneven)
        fast_mesh_build(evaluator, nest, l, t, alone, true, fast);
    else if (hops)
        fast_even_hops(evaluator, nest, l, t, alone, fast);
    if (note && fast->all.n_class <= MESH_NOTE_CLASS_MAX) {
        note->n_key = n;
        note->n_group = fast->all.n_group;
        note->n_class = fast->all.n_class;
        memcpy(note->key, key, n * sizeof *key);
        memcpy(note->class_, fast->all.class_, note->n_class * sizeof *note->class_);
    }
    return n_child;
}

/* Differences between horizontal neighbours: child q and q + 1 differ by "loop k steps, all inner ones go
 * back". Vertical neighbours differ by the same with inner loops left out, when whole rows are full;
 * otherwise every difference is looked at by the caller (we answer yes). */
bool fast_mesh_may_link(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                        uint32_t t, int64_t move)
{
    const struct tensor_code *code = &evaluator->code[t];
    uint64_t width = fast_mesh_width(evaluator, nest, l), n_child = nest->loop_x[l] * nest->loop_y[l],
             n_inner = 1;
    int64_t right = 0, down = 0; /* what all inner loops together took */
    bool aligned = n_child <= width;
    for (uint32_t k = nest->spatial_begin[l]; k < nest->spatial_begin[l + 1]; k++) {
        int64_t step = code->dim[nest->spatial_dim[k]] * (int64_t)nest->spatial_stride[k];
        int64_t difference = step - right;
        if (difference == move || difference == -move)
            return true;
        right += step * (int64_t)(nest->spatial_bound[k] - 1);
        if (n_inner == width) {
            aligned = true;
            down = 0;
        }
        if (n_inner >= width) {
            difference = step - down;
            if (difference == move || difference == -move)
                return true;
            down += step * (int64_t)(nest->spatial_bound[k] - 1);
        }
        n_inner *= nest->spatial_bound[k];
    }
    return !aligned;
}
