/* An architecture file of Interstellar's authors as the entries of a native one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/interstellar_json/json_parts.h"
#include "costmodel/model/problem.h"
#include "costmodel/native/network_native.h"

enum { WHAT_MAX = 64, QUANTITY_MAX = 64 };

static const char *const keys[] = {"mem_levels",
                                   "capacity",
                                   "access_cost",
                                   "static_cost",
                                   "parallel_count",
                                   "mac_capacity",
                                   "parallel_mode",
                                   "parallel_cost",
                                   "array_dim",
                                   "precision",
                                   "replication",
                                   "utilization_threshold",
                                   "explore_points",
                                   "memory_partitions",
                                   "capacity_scale",
                                   "access_cost_scale",
                                   "invalid_underutilized"};
enum { N_KEY = sizeof keys / sizeof keys[0] };

bool interstellar_is_architecture(const struct yaml_doc *doc)
{
    static const char *const own[] = {"mem_levels", "access_cost", "parallel_count", "parallel_cost",
                                      "memory_partitions"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (yaml_find(doc->root, own[i]))
            return !yaml_find(doc->root, "architecture");
    return false;
}

/* ---------------------------------------- numbers of levels */

/* The list under `key`, with an entry for each level; NULL where it is missing or wrong. */
static enum dse_status find_list(const struct json_reader *r, const char *key, bool required,
                                 const struct ynode **list)
{
    const struct ynode *found = yaml_find(r->doc->root, key);
    *list = NULL;
    if (!found && required && !yaml_is_misspelt(r->doc, r->doc->root, key))
        DSE_TRY(yaml_require(r->doc, r->doc->root, "the architecture", key, &found, r->err));
    if (!found)
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(r->doc, found, key, r->err));
    if (found->n_item != r->n)
        return yaml_fail(
            r->doc, found, r->err,
            "%s has %zu entries, but mem_levels is %u; write one for each level, innermost first", key,
            found->n_item, r->n);
    *list = found;
    return DSE_OK;
}

/* The array of the instances of level `v`; `mode`, `dim`: lists, or NULL. */
static enum dse_status read_count(struct json_reader *r, const struct ynode *mode, const struct ynode *dim,
                                  uint32_t v)
{
    char what[WHAT_MAX];
    snprintf(what, sizeof what, "parallel_count[%u]", v);
    DSE_TRY(yaml_u64(r->doc, r->parallel->item[v], what, 1, 1 << 20, &r->count[v], r->err));
    r->mode[v] = r->count[v] != 1;
    r->dim[v] = r->count[v] != 1 ? 2 : 1;
    snprintf(what, sizeof what, "parallel_mode[%u]", v);
    if (mode)
        DSE_TRY(yaml_u64(r->doc, mode->item[v], what, 0, 2, &r->mode[v], r->err));
    snprintf(what, sizeof what, "array_dim[%u]", v);
    if (dim)
        DSE_TRY(yaml_u64(r->doc, dim->item[v], what, 1, 2, &r->dim[v], r->err));
    if (v + 1 == r->n && (r->mode[v] != 0 || r->count[v] != 1))
        return yaml_fail(r->doc, (r->count[v] != 1 ? r->parallel : mode)->item[v], r->err,
                         "the outermost level is an array itself, and nothing outside feeds it; "
                         "parallel_count[%u] must be 1 and parallel_mode[%u] 0, or add a level with an "
                         "access_cost of 0 outside it",
                         v, v);
    if (r->mode[v] == 0 && r->count[v] != 1)
        return yaml_fail(r->doc, mode->item[v], r->err,
                         "parallel_mode[%u] is 0, but parallel_count[%u] is %llu: no loops would be spread "
                         "over that array; write 1 (links between neighbours) or 2 (a bus), where hops "
                         "are free with a parallel_cost of 0",
                         v, v, (unsigned long long)r->count[v]);
    return DSE_OK;
}

static enum dse_status read_counts(struct json_reader *r)
{
    const struct ynode *mode, *dim;
    JSON_NOTE(r, find_list(r, "parallel_count", true, &r->parallel));
    JSON_NOTE(r, find_list(r, "parallel_mode", false, &mode));
    JSON_NOTE(r, find_list(r, "array_dim", false, &dim));
    for (uint32_t v = 0; v < r->n && r->parallel; v++)
        JSON_NOTE(r, read_count(r, mode, dim, v));
    return DSE_OK;
}

/* parallel_cost has an entry for each level with a mode. */
static enum dse_status read_hops(struct json_reader *r)
{
    const struct ynode *list = yaml_find(r->doc->root, "parallel_cost");
    uint32_t n_array = 0, i = 0;
    for (uint32_t v = 0; v < r->n; v++)
        n_array += r->mode[v] != 0;
    if (!list && (n_array == 0 || yaml_is_misspelt(r->doc, r->doc->root, "parallel_cost")))
        return DSE_OK;
    DSE_TRY(yaml_require(r->doc, r->doc->root, "the architecture", "parallel_cost", &list, r->err));
    DSE_TRY(yaml_is_sequence(r->doc, list, "parallel_cost", r->err));
    if (list->n_item != n_array)
        return yaml_fail(
            r->doc, list, r->err,
            "parallel_cost has %zu entries, but %u levels are arrays (parallel_mode not 0); write "
            "the pJ of a hop for each of them",
            list->n_item, n_array);
    for (uint32_t v = 0; v < r->n; v++)
        if (r->mode[v] != 0) {
            char what[WHAT_MAX];
            snprintf(what, sizeof what, "parallel_cost[%u]", i);
            JSON_NOTE(r, yaml_double(r->doc, list->item[i++], what, 0, 1e12, &r->hop_pj[v], r->err));
        }
    return DSE_OK;
}

/* ---------------------------------------- values of entries */

struct arch_value *json_put(struct arch_item *item, int field, const struct ynode *node)
{
    struct arch_value *value = &item->value[field];
    value->origin = ARCH_FROM_FILE;
    value->line = node->line;
    value->unit = architecture_schema()[field].unit;
    return value;
}

void json_put_number(struct arch_item *item, int field, const struct ynode *node, double number)
{
    json_put(item, field, node)->number = number;
}

enum dse_status json_put_energy(const struct json_reader *r, struct arch_item *item, int field,
                                const struct ynode *node, const char *what, double pj)
{
    char text[QUANTITY_MAX], number[QUANTITY_MAX / 2];
    struct dse_error inner;
    snprintf(text, sizeof text, "%s pJ", text_double(pj, number, sizeof number));
    struct arch_value *value = json_put(item, field, node);
    if (arch_value_parse(&architecture_schema()[field], what, text, value, &inner) != DSE_OK)
        return yaml_fail(r->doc, node, r->err, "%s", inner.text);
    json_put(item, field, node);
    return DSE_OK;
}

static struct arch_item *add_item(struct json_reader *r, enum arch_section section, const char *name,
                                  int line)
{
    struct arch_spec *spec = &r->file->spec;
    struct arch_item *item = &r->file->item[spec->n_item];
    memset(item, 0, sizeof *item);
    item->section = section;
    item->name = name;
    item->line = line;
    spec->item[spec->n_item++] = item;
    return item;
}

/* ---------------------------------------- the hierarchy */

/* Inside the outermost array RF, outside it SRAM, outermost DRAM; numbered where there are several. */
static const char *level_name(const struct json_reader *r, uint32_t v)
{
    static const char *const rf[] = {"RF",  "RF1",  "RF2",  "RF3",  "RF4",  "RF5",  "RF6",  "RF7", "RF8",
                                     "RF9", "RF10", "RF11", "RF12", "RF13", "RF14", "RF15", "RF16"};
    static const char *const sram[] = {"SRAM",   "SRAM1",  "SRAM2",  "SRAM3",  "SRAM4",  "SRAM5",
                                       "SRAM6",  "SRAM7",  "SRAM8",  "SRAM9",  "SRAM10", "SRAM11",
                                       "SRAM12", "SRAM13", "SRAM14", "SRAM15", "SRAM16"};
    uint32_t n_inside = 1;
    for (uint32_t i = 0; i < r->n; i++)
        n_inside = r->mode[i] ? i + 1 : n_inside;
    if (v + 1 == r->n)
        return "DRAM";
    if (v < n_inside)
        return rf[n_inside > 1 ? v + 1 : 0];
    return sram[r->n - 1 - n_inside > 1 ? v - n_inside + 1 : 0];
}

static enum dse_status add_storage(struct json_reader *r, uint32_t v, uint64_t word_bit)
{
    const bool is_last = v + 1 == r->n;
    const struct ynode *node = r->capacity->item[v];
    struct arch_item *item = add_item(r, ARCH_STORAGE, level_name(r, v), node->line);
    json_put_number(item, STORAGE_WORD, node, (double)word_bit);
    json_put_number(item, STORAGE_KIND, node,
                    is_last                       ? ARCH_KIND_DRAM
                    : strncmp(item->name, "R", 1) ? ARCH_KIND_SRAM
                                                  : ARCH_KIND_REGISTER);
    if (r->half_full && !is_last)
        json_put_number(item, STORAGE_MIN_UTILIZATION, node, 0.5);
    return json_set_memories(r, v, item);
}

/* The whole number whose square is n or next below it. */
static uint64_t root_of(uint64_t n)
{
    uint64_t side = (uint64_t)sqrt((double)n);
    return side * side > n ? side - 1 : side;
}

/* The array of the instances of level `v`. */
static enum dse_status add_array(struct json_reader *r, uint32_t v)
{
    static const char *const name[] = {"PE",  "PE1",  "PE2",  "PE3",  "PE4",  "PE5",  "PE6",  "PE7", "PE8",
                                       "PE9", "PE10", "PE11", "PE12", "PE13", "PE14", "PE15", "PE16"};
    const struct ynode *node = r->parallel->item[v];
    uint32_t n_array = 0, place = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        n_array += r->mode[i] != 0;
        place += r->mode[i] != 0 && i <= v;
    }
    struct arch_item *item = add_item(r, ARCH_ARRAY, name[n_array > 1 ? place : 0], node->line);
    struct arch_value *mesh = json_put(item, ARRAY_MESH, node);
    mesh->x = r->count[v];
    mesh->y = 1;
    if (r->dim[v] == 2) {
        const uint64_t side = root_of(r->count[v]);
        if (side * side != r->count[v])
            return yaml_fail(
                r->doc, node, r->err,
                "parallel_count[%u] is %llu, which is no square, and an array of two dimensions is "
                "one; write %llu or %llu, or array_dim 1 at that level",
                v, (unsigned long long)r->count[v], (unsigned long long)(side * side),
                (unsigned long long)((side + 1) * (side + 1)));
        mesh->x = mesh->y = side;
    }
    json_put_number(item, architecture_schema_find(ARCH_ARRAY, "link"), node,
                    r->mode[v] == 2 ? ARRAY_BROADCAST : ARRAY_SYSTOLIC);
    return json_put_energy(r, item, architecture_schema_find(ARCH_ARRAY, "hop_energy"), node, "parallel_cost",
                           r->hop_pj[v]);
}

static enum dse_status add_macs(struct json_reader *r, uint64_t word_bit)
{
    const struct ynode *root = r->doc->root, *capacity = yaml_find(root, "mac_capacity");
    struct arch_item *item = add_item(r, ARCH_MACS, "MAC", root->line);
    uint64_t number = 0;
    json_put_number(item, MACS_WORD, root, (double)word_bit);
    if (capacity)
        JSON_NOTE(r, yaml_u64(r->doc, capacity, "mac_capacity", 0, 1, &number, r->err));
    json_put_number(item, architecture_schema_find(ARCH_MACS, "capacity"), capacity ? capacity : root,
                    (double)number);
    /* Table 3 of the paper; the files have no energy of a MAC */
    return json_put_energy(r, item, architecture_schema_find(ARCH_MACS, "energy"), root, "MAC.energy", 0.075);
}

/* ---------------------------------------- the file */

static enum dse_status read_word(const struct json_reader *r, uint64_t *word_bit)
{
    const struct ynode *node;
    if (yaml_is_misspelt(r->doc, r->doc->root, "precision"))
        return DSE_OK;
    DSE_TRY(yaml_require(r->doc, r->doc->root, "the architecture", "precision", &node, r->err));
    DSE_TRY(yaml_u64(r->doc, node, "precision", 8, 512, word_bit, r->err));
    if (*word_bit % 8 != 0)
        return yaml_fail(r->doc, node, r->err,
                         "precision is %llu bit; a word is whole bytes in these files: write a multiple of 8",
                         (unsigned long long)*word_bit);
    return DSE_OK;
}

/* What holds for the whole machine. */
static enum dse_status read_top(struct json_reader *r)
{
    const struct ynode *root = r->doc->root, *share = yaml_find(root, "utilization_threshold");
    const struct ynode *replication = yaml_find(root, "replication");
    const struct ynode *half_full = yaml_find(root, "invalid_underutilized");
    struct arch_item *top = &r->file->top;
    double number = 0;
    bool on = true;
    r->half_full = true;
    if (half_full)
        JSON_NOTE(r, yaml_bool(r->doc, half_full, "invalid_underutilized", &r->half_full, r->err));
    if (replication) {
        JSON_NOTE(r, yaml_bool(r->doc, replication, "replication", &on, r->err));
        json_put_number(top, TOP_REPLICATION, replication, on);
    }
    if (share) {
        JSON_NOTE(r, yaml_double(r->doc, share, "utilization_threshold", 0, 1, &number, r->err));
        json_put_number(top, architecture_schema_find(ARCH_TOP, "utilization_threshold"), share, number);
    }
    json_put_number(top, TOP_CLOCK, root, 400e6); /* the paper's, section 5 */
    return DSE_OK;
}

/* How many levels: r->n. */
static enum dse_status read_number(struct json_reader *r)
{
    const struct ynode *levels;
    uint64_t number = 0;
    if (yaml_is_misspelt(r->doc, r->doc->root, "mem_levels"))
        return DSE_OK;
    DSE_TRY(yaml_require(r->doc, r->doc->root, "the architecture", "mem_levels", &levels, r->err));
    DSE_TRY(yaml_u64(r->doc, levels, "mem_levels", 1, ARCH_LEVEL_MAX, &number, r->err));
    r->n = (uint32_t)number;
    return DSE_OK;
}

/* Whether something has been wrong since so many errors were noted. */
static bool is_bad_since(const struct json_reader *r, size_t n_fault)
{
    return dse_faults_count(r->doc->faults) > n_fault;
}

/* What stands in lists by level; what needs a list that is wrong is not looked at. */
static enum dse_status read_levels(struct json_reader *r, uint64_t word_bit)
{
    const struct ynode *ignored;
    struct interstellar_explore explore;
    JSON_NOTE(r, find_list(r, "capacity", true, &r->capacity));
    JSON_NOTE(r, find_list(r, "access_cost", true, &r->cost));
    JSON_NOTE(r, find_list(r, "static_cost", false, &ignored));
    const size_t before_arrays = dse_faults_count(r->doc->faults);
    DSE_TRY(read_counts(r));
    const bool counted = r->parallel && !is_bad_since(r, before_arrays);
    if (counted)
        JSON_NOTE(r, read_hops(r));
    const bool arrays = counted && !is_bad_since(r, before_arrays);
    const size_t before_rows = dse_faults_count(r->doc->faults);
    JSON_NOTE(r, json_read_partitions(r));
    const bool storage = r->capacity && r->cost && !is_bad_since(r, before_rows);
    JSON_NOTE(r, interstellar_explore_read(r->doc, &explore, r->err));
    for (uint32_t v = r->n; v-- > 0;) {
        if (storage)
            JSON_NOTE(r, add_storage(r, v, word_bit));
        if (arrays && v > 0 && r->mode[v - 1] != 0)
            JSON_NOTE(r, add_array(r, v - 1));
    }
    return DSE_OK;
}

/* The machine's name: that of the file. */
static void set_name(struct arch_file *file, const char *path)
{
    char name[PROBLEM_NAME_MAX];
    text_copy(file->name, sizeof file->name, network_name_of(path, name));
    file->top.name = file->name;
}

enum dse_status interstellar_arch_file_read(const struct yaml_doc *doc, struct arch_file *file,
                                            struct dse_error *err)
{
    struct json_reader r = {.doc = doc, .file = file, .err = err};
    arch_file_init(file, doc->path);
    set_name(file, doc->path);
    file->top.line = doc->root->line;
    const size_t n_fault = dse_faults_count(doc->faults);
    uint64_t word_bit = 0;
    DSE_TRY(yaml_check_keys(doc, doc->root, "an architecture of Interstellar's authors", keys, N_KEY, err));
    DSE_TRY(read_top(&r));
    DSE_NOTE(doc->faults, read_word(&r, &word_bit));
    DSE_NOTE(doc->faults, read_number(&r));
    if (r.n > 0)
        DSE_TRY(read_levels(&r, word_bit));
    DSE_TRY(add_macs(&r, word_bit));
    file->spec.is_whole = !is_bad_since(&r, n_fault);
    return DSE_OK;
}
