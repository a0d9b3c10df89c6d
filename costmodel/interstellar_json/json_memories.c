/* The memories of an architecture file of Interstellar's authors: one a level, or several side by side, and
 * which tensors lie in them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/interstellar_json/json_parts.h"
#include "costmodel/model/problem.h"

enum { WHAT_MAX = 64 };

/* Their order of tensors in memory_partitions. */
static const enum tensor_role role_of[] = {TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_WEIGHT};
static const char *const tensor_of[] = {"inputs", "outputs", "weights"};

static enum dse_status check_row(const struct json_reader *r, const struct ynode *row, const char *what)
{
    DSE_TRY(yaml_is_sequence(r->doc, row, what, r->err));
    if (row->n_item != 3)
        return yaml_fail(r->doc, row, r->err,
                         "%s has %zu entries; write three: the memory of the inputs, of the outputs and of "
                         "the weights, null where one is not stored",
                         what, row->n_item);
    return DSE_OK;
}

/* The default has three rows, and a further level would cost nothing. */
enum dse_status json_read_partitions(struct json_reader *r)
{
    r->partition = yaml_find(r->doc->root, "memory_partitions");
    if (!r->partition && r->n <= 3)
        return DSE_OK;
    if (!r->partition)
        return yaml_fail(
            r->doc, r->doc->root, r->err,
            "memory_partitions is missing: the default has 3 rows, so that the authors' program "
            "charges nothing for the levels beyond; mem_levels is %u, write %u rows: [[0, 0, 0], "
            "...]",
            r->n, r->n);
    DSE_TRY(yaml_is_sequence(r->doc, r->partition, "memory_partitions", r->err));
    if (r->partition->n_item != r->n)
        return yaml_fail(
            r->doc, r->partition, r->err,
            "memory_partitions has %zu rows, but mem_levels is %u%s; write a row for each level, "
            "such as [0, 0, 0]",
            r->partition->n_item, r->n,
            r->partition->n_item < r->n ? ", and the authors' program charges nothing for levels without one"
                                        : "");
    for (uint32_t v = 0; v < r->n; v++) {
        const struct ynode *row = r->partition->item[v];
        char what[WHAT_MAX];
        snprintf(what, sizeof what, "memory_partitions[%u]", v);
        JSON_NOTE(r, check_row(r, row, what));
    }
    return DSE_OK;
}

static enum dse_status put_energy_node(const struct json_reader *r, struct arch_item *item, int field,
                                       const struct ynode *node, const char *what)
{
    double pj;
    DSE_TRY(yaml_double(r->doc, node, what, 0, 1e12, &pj, r->err));
    return json_put_energy(r, item, field, node, what, pj);
}

static enum dse_status put_capacity(const struct json_reader *r, struct arch_item *item, int field,
                                    const struct ynode *node, const char *what)
{
    double byte;
    DSE_TRY(yaml_double(r->doc, node, what, 1, 0x1p50, &byte, r->err));
    json_put_number(item, field, node, byte);
    return DSE_OK;
}

/* The memory of tensor `t` (their order) at a level of `n_memory`; -1: it is not stored there. */
static enum dse_status memory_of(const struct json_reader *r, uint32_t v, size_t t, size_t n_memory,
                                 int *memory)
{
    const struct ynode *row = r->partition ? r->partition->item[v] : NULL;
    char what[WHAT_MAX];
    uint64_t number;
    *memory = 0;
    if (!row)
        return DSE_OK;
    snprintf(what, sizeof what, "memory_partitions[%u][%zu]", v, t);
    if (row->item[t]->kind == YNODE_SCALAR && !row->item[t]->quoted &&
        strcmp(row->item[t]->text, "null") == 0) {
        *memory = -1;
        if (v + 1 == r->n)
            return yaml_fail(
                r->doc, row->item[t], r->err,
                "%s is null, but the outermost level holds the %s too, and reads them at a cost; "
                "write the number of a memory, such as 0",
                what, tensor_of[t]);
        return DSE_OK;
    }
    DSE_TRY(yaml_u64(r->doc, row->item[t], what, 0, n_memory - 1, &number, r->err));
    *memory = (int)number;
    return DSE_OK;
}

/* A level of one memory, given as a number; a list of one is as good as that in the outermost, where the
 * rules for lists (docs/interstellar.md) do not matter. */
static enum dse_status set_single(const struct json_reader *r, uint32_t v, struct arch_item *item)
{
    const struct ynode *size = r->capacity->item[v], *cost = r->cost->item[v];
    char what[WHAT_MAX];
    uint32_t roles = 0;
    for (size_t t = 0; t < 3; t++) {
        int memory;
        JSON_NOTE(r, memory_of(r, v, t, 1, &memory));
        roles |= memory < 0 ? 0 : 1u << role_of[t];
    }
    if (roles == 0)
        return yaml_fail(r->doc, r->partition->item[v], r->err,
                         "memory_partitions[%u]: nothing is stored at this level; leave the level out", v);
    if (roles != (1u << TENSOR_ROLE_COUNT) - 1)
        json_put(item, STORAGE_KEEPS, r->partition->item[v])->x = roles;
    snprintf(what, sizeof what, "capacity[%u]", v);
    if (size->kind == YNODE_SEQUENCE)
        size = size->item[0];
    JSON_NOTE(r, put_capacity(r, item, STORAGE_CAPACITY, size, what));
    snprintf(what, sizeof what, "access_cost[%u]", v);
    if (cost->kind == YNODE_SEQUENCE)
        cost = cost->item[0];
    return put_energy_node(r, item, STORAGE_ACCESS_ENERGY, cost, what);
}

static enum dse_status check_lists(const struct json_reader *r, uint32_t v)
{
    const struct ynode *size = r->capacity->item[v], *cost = r->cost->item[v];
    if (size->n_item != cost->n_item || size->n_item < 1 || size->n_item > TENSOR_ROLE_COUNT)
        return yaml_fail(
            r->doc, cost, r->err,
            "capacity[%u] lists %zu memories and access_cost[%u] %zu; write as many in both, one to "
            "three",
            v, size->n_item, v, cost->n_item);
    return DSE_OK;
}

/* A level of several memories, given as lists. */
static enum dse_status set_several(const struct json_reader *r, uint32_t v, struct arch_item *item)
{
    const struct ynode *size = r->capacity->item[v], *cost = r->cost->item[v];
    const size_t n_fault = dse_faults_count(r->doc->faults);
    uint32_t roles[TENSOR_ROLE_COUNT] = {0};
    for (size_t t = 0; t < 3; t++) {
        int memory;
        JSON_NOTE(r, memory_of(r, v, t, size->n_item, &memory));
        if (memory >= 0)
            roles[memory] |= 1u << role_of[t];
    }
    const bool placed = dse_faults_count(r->doc->faults) == n_fault;
    for (size_t i = 0; i < size->n_item; i++) {
        const int row = STORAGE_MEMORIES + (int)i * ARCH_MEMORY_ROWS;
        char what[WHAT_MAX];
        if (roles[i] == 0 && placed)
            return yaml_fail(r->doc, r->partition ? r->partition->item[v] : size, r->err,
                             "memory_partitions[%u] puts nothing into memory %zu of that level; name it, or "
                             "leave it out of capacity[%u] and access_cost[%u]",
                             v, i, v, v);
        json_put(item, row + ARCH_MEMORY_KEEPS, size)->x = roles[i];
        snprintf(what, sizeof what, "capacity[%u][%zu]", v, i);
        JSON_NOTE(r, put_capacity(r, item, row + ARCH_MEMORY_CAPACITY, size->item[i], what));
        snprintf(what, sizeof what, "access_cost[%u][%zu]", v, i);
        JSON_NOTE(r, put_energy_node(r, item, row + ARCH_MEMORY_ENERGY, cost->item[i], what));
    }
    return DSE_OK;
}

enum dse_status json_set_memories(const struct json_reader *r, uint32_t v, struct arch_item *item)
{
    const struct ynode *node = r->capacity->item[v];
    const bool is_last = v + 1 == r->n, is_list = node->kind == YNODE_SEQUENCE;
    if (is_list != (r->cost->item[v]->kind == YNODE_SEQUENCE))
        return yaml_fail(
            r->doc, r->cost->item[v], r->err,
            "capacity[%u] and access_cost[%u] must both be a number, or both a list with an entry "
            "for each memory",
            v, v);
    if (is_list)
        DSE_TRY(check_lists(r, v));
    const bool is_single = !is_list || (is_last && node->n_item == 1);
    DSE_TRY((is_single ? set_single : set_several)(r, v, item));
    if (is_last && is_single) /* its capacity is never tested */
        json_put_number(item, STORAGE_CAPACITY, node, INFINITY);
    return DSE_OK;
}
