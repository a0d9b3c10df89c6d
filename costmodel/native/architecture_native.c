/* Reading the entries of a native architecture file: keys, values, overrides. */
#include "costmodel/native/architecture_native.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHAT_MAX = 2 * ARCH_NAME_MAX, PREFIX_MAX = 24 };

enum dse_status arch_spec_fail(const struct arch_spec *spec, const struct arch_item *item, int field,
                               struct dse_error *err, const char *format, ...)
{
    char text[DSE_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct arch_value *value = field >= 0 ? &item->value[field] : NULL;
    if (value && value->origin == ARCH_FROM_OVERRIDE)
        return dse_fail(err, DSE_BAD_INPUT, "%s (set by an axis or --set, not by %s)", text, spec->path);
    int line = value && value->origin == ARCH_FROM_FILE ? value->line : item->line;
    return dse_fail_at(err, DSE_BAD_INPUT, spec->path, line, "%s", text);
}

/* "GlobalBuffer.capacity", or "clock" at the top. */
static void path_of(const struct arch_item *item, int field, char *buffer, size_t size)
{
    const char *key = architecture_schema()[field].key;
    if (item->section == ARCH_TOP)
        snprintf(buffer, size, "%s", key);
    else
        snprintf(buffer, size, "%s.%s", item->name, key);
}

/* A name becomes a path and a column: letters, digits, "_" and "-", not beginning with a digit or "-". */
static enum dse_status check_name(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                  const char **name, struct dse_error *err)
{
    static const char letter[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char other[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    DSE_TRY(yaml_text(doc, node, what, name, err));
    size_t length = strlen(*name);
    if (length >= ARCH_NAME_MAX)
        return yaml_fail(doc, node, err, "%s: a name has at most %d letters, this one has %zu", what,
                         ARCH_NAME_MAX - 1, length);
    if (strspn(*name, letter) == 0 || strspn(*name, other) != length)
        return yaml_fail(doc, node, err,
                         "%s: \"%s\" is no name; use letters, digits, _ and -, beginning with a letter", what,
                         *name);
    return DSE_OK;
}

/* Roles and shapes come as a YAML list; join it, so that the file and an override are read by the same
 * code. */
static enum dse_status join_list(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                 char *buffer, size_t size, struct dse_error *err)
{
    size_t used = 0;
    buffer[0] = '\0';
    DSE_TRY(yaml_is_sequence(doc, node, what, err));
    for (size_t i = 0; i < node->n_item; i++) {
        const char *word = NULL;
        DSE_TRY(yaml_text(doc, node->item[i], what, &word, err));
        int n = snprintf(buffer + used, size - used, "%s,", word);
        if (n < 0 || (size_t)n >= size - used)
            return yaml_fail(doc, node, err, "%s is too long for a list", what);
        used += (size_t)n;
    }
    return DSE_OK;
}

static enum dse_status read_value(const struct yaml_doc *doc, const struct ynode *node, int field,
                                  struct arch_item *item, struct dse_error *err)
{
    const struct arch_field *row = &architecture_schema()[field];
    struct arch_value *value = &item->value[field];
    struct dse_error inner;
    const char *text = NULL;
    char what[WHAT_MAX], list[128];
    path_of(item, field, what, sizeof what);
    if (row->kind == ARCH_VALUE_NAME || row->kind == ARCH_VALUE_PART) {
        if (row->kind == ARCH_VALUE_NAME)
            DSE_TRY(yaml_text(doc, node, what, &value->text, err));
    } else {
        if (row->kind == ARCH_VALUE_ROLES || row->kind == ARCH_VALUE_TENSORS ||
            row->kind == ARCH_VALUE_SHAPE) {
            DSE_TRY(join_list(doc, node, what, list, sizeof list, err));
            text = list;
        } else {
            DSE_TRY(yaml_text(doc, node, what, &text, err));
        }
        if (arch_value_parse(row, what, text, value, &inner) != DSE_OK)
            return yaml_fail(doc, node, err, "%s", inner.text);
        if (row->kind == ARCH_VALUE_TENSORS) { /* `text` does not last, the tree does */
            value->list = node;
            value->words = NULL;
        }
    }
    value->origin = ARCH_FROM_FILE;
    value->line = node->line;
    return DSE_OK;
}

/* The nested parts. */
static const char *const part_name[] = {"gpu",      "fused",    "noc",     "energy_rule",
                                        "memory_1", "memory_2", "memory_3"};

static const char *part_of(const char *key)
{
    for (size_t i = 0; i < sizeof part_name / sizeof part_name[0]; i++) {
        size_t length = strlen(part_name[i]);
        if (strncmp(key, part_name[i], length) == 0 && key[length] == '.')
            return part_name[i];
    }
    return NULL;
}

/* The keys of a section under `prefix` ("", "energy_rule." or "gpu."), without it; a nested part once, by its
 * own name. */
static size_t section_keys(enum arch_section section, const char *prefix, const char **key)
{
    const struct arch_field *schema = architecture_schema();
    size_t n_key = 0, length = strlen(prefix);
    for (int f = 0; f < architecture_n_field(); f++) {
        if (schema[f].section != section || strncmp(schema[f].key, prefix, length) != 0)
            continue;
        const char *rest = schema[f].key + length, *part = part_of(rest);
        size_t k = 0;
        while (part && k < n_key && key[k] != part)
            k++;
        if (!part || k == n_key)
            key[n_key++] = part ? part : rest;
    }
    return n_key;
}

static bool part_of_section(const char *const *allowed, size_t n_allowed, const char *key)
{
    for (size_t i = 0; i < n_allowed; i++)
        if (strcmp(allowed[i], key) == 0)
            return true;
    return false;
}

static enum dse_status read_keys(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                 const char *prefix, struct arch_item *item, struct dse_error *err);

static enum dse_status read_part(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                 const char *prefix, struct arch_item *item, struct dse_error *err)
{
    DSE_TRY(read_keys(doc, node, what, prefix, item, err));
    if (node->n_item == 0)
        return yaml_fail(doc, node, err, "%s is empty; leave it out or fill it in", what);
    return DSE_OK;
}

/* Read every key of one mapping, `prefix` being the part it stands for. */
static enum dse_status read_keys(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                 const char *prefix, struct arch_item *item, struct dse_error *err)
{
    const char *allowed[ARCH_FIELD_MAX];
    size_t n_allowed = section_keys(item->section, prefix, allowed);
    DSE_TRY(yaml_check_keys(doc, node, what, allowed, n_allowed, err));
    for (size_t i = 0; i < node->n_item; i++) {
        char key[ARCH_NAME_MAX];
        snprintf(key, sizeof key, "%s%s", prefix, node->key[i]);
        int field = architecture_schema_find(item->section, key);
        if (field >= 0) {
            DSE_NOTE(doc->faults, read_value(doc, node->item[i], field, item, err));
            continue;
        }
        if (!part_of_section(allowed, n_allowed, node->key[i]))
            continue; /* noted */
        char part[WHAT_MAX], nested[PREFIX_MAX];
        if (item->section == ARCH_TOP)
            snprintf(part, sizeof part, "%s", node->key[i]);
        else
            snprintf(part, sizeof part, "%s.%s", item->name, node->key[i]);
        snprintf(nested, sizeof nested, "%.20s.", node->key[i]);
        DSE_NOTE(doc->faults, read_part(doc, node->item[i], part, nested, item, err));
    }
    return DSE_OK;
}

static enum dse_status check_required(const struct yaml_doc *doc, const struct ynode *node,
                                      const struct arch_item *item, const char *what, struct dse_error *err)
{
    const struct arch_field *schema = architecture_schema();
    const struct ynode *value = NULL;
    for (int f = 0; f < architecture_n_field(); f++)
        if (schema[f].section == item->section && schema[f].property & ARCH_REQUIRED &&
            !yaml_is_misspelt(doc, node, schema[f].key))
            DSE_NOTE(doc->faults, yaml_require(doc, node, what, schema[f].key, &value, err));
    return DSE_OK;
}

/* Which of the three kinds an entry of the hierarchy is: the one whose word it has as a key. */
static enum dse_status entry_section(const struct yaml_doc *doc, const struct ynode *node,
                                     enum arch_section *section, struct dse_error *err)
{
    static const char *const word[] = {"storage", "array", "macs"};
    int n_found = 0;
    DSE_TRY(yaml_is_mapping(doc, node, "an entry of the hierarchy", err));
    for (int s = ARCH_STORAGE; s <= ARCH_MACS; s++) {
        if (!yaml_find(node, architecture_section_word((enum arch_section)s)))
            continue;
        *section = (enum arch_section)s;
        n_found++;
    }
    if (n_found == 1)
        return DSE_OK;
    if (n_found > 1)
        return yaml_fail(
            doc, node, err,
            "this entry of the hierarchy is more than one of storage, array and macs; begin a new "
            "entry with \"- \" for each");
    const char *near = node->n_item > 0 ? text_nearest(node->key[0], word, 3) : NULL;
    return yaml_fail(doc, node, err,
                     "this entry of the hierarchy begins with \"%s\"; it must be a storage, an array "
                     "or macs%s%s%s",
                     node->n_item > 0 ? node->key[0] : "", near ? "; did you mean \"" : "", near ? near : "",
                     near ? "\"?" : "");
}

/* An entry of another name than those before. */
static enum dse_status check_new_name(const struct yaml_doc *doc, const struct ynode *node,
                                      const struct arch_item *item, const struct arch_item *const *before,
                                      size_t n_before, struct dse_error *err)
{
    for (size_t i = 0; i < n_before; i++)
        if (strcmp(before[i]->name, item->name) == 0)
            return yaml_fail(doc, node, err, "%s \"%s\" has the name of the %s in line %d; names must differ",
                             architecture_section_word(item->section), item->name,
                             architecture_section_word(before[i]->section), before[i]->line);
    return DSE_OK;
}

/* One entry of the hierarchy, or of the groups, of which it takes the next place. */
static enum dse_status read_entry(const struct yaml_doc *doc, const struct ynode *node,
                                  struct arch_file *file, bool is_group, struct dse_error *err)
{
    struct arch_spec *spec = &file->spec;
    struct arch_item *item = is_group ? &file->group[spec->n_group] : &file->item[spec->n_item];
    char what[WHAT_MAX];
    memset(item, 0, sizeof *item);
    item->line = node->line;
    item->section = ARCH_GROUP;
    if (!is_group)
        DSE_TRY(entry_section(doc, node, &item->section, err));
    const char *word = architecture_section_word(item->section);
    const struct ynode *name = yaml_find(node, word);
    if (!name)
        return yaml_fail(doc, node, err, "an entry of groups lacks its \"group\", the name of the group");
    DSE_TRY(check_name(doc, name, word, &item->name, err));
    DSE_TRY(check_new_name(doc, node, item, spec->item, spec->n_item, err));
    DSE_TRY(check_new_name(doc, node, item, spec->group, spec->n_group, err));
    if (is_group)
        spec->group[spec->n_group++] = item;
    else
        spec->item[spec->n_item++] = item;
    snprintf(what, sizeof what, "%s %s", word, item->name);
    const size_t n_fault = dse_faults_count(doc->faults);
    DSE_NOTE(doc->faults, read_keys(doc, node, what, "", item, err));
    DSE_TRY(check_required(doc, node, item, what, err));
    item->is_bad = dse_faults_count(doc->faults) > n_fault;
    return DSE_OK;
}

/* storage first, macs last and only there, no array above an array. */
static enum dse_status check_order(const struct arch_spec *spec, struct dse_error *err)
{
    const struct arch_item *first = spec->item[0], *last = spec->item[spec->n_item - 1];
    if (first->section != ARCH_STORAGE)
        return arch_spec_fail(
            spec, first, -1, err,
            "the hierarchy begins with the %s \"%s\"; the outermost entry must be a storage (such as a DRAM)",
            architecture_section_word(first->section), first->name);
    for (size_t i = 0; i + 1 < spec->n_item; i++) {
        const struct arch_item *item = spec->item[i], *below = spec->item[i + 1];
        if (item->section == ARCH_MACS)
            return arch_spec_fail(spec, item, -1, err, "macs \"%s\" must be the last entry of the hierarchy",
                                  item->name);
        if (item->section == ARCH_ARRAY && below->section == ARCH_ARRAY)
            return arch_spec_fail(
                spec, below, -1, err,
                "array \"%s\" lies directly below array \"%s\"; merge them into one mesh or put a "
                "storage between",
                below->name, item->name);
    }
    if (last->section != ARCH_MACS)
        return arch_spec_fail(spec, last, -1, err,
                              "the hierarchy ends with the %s \"%s\"; the innermost entry must be macs",
                              architecture_section_word(last->section), last->name);
    return DSE_OK;
}

static enum dse_status read_hierarchy(const struct yaml_doc *doc, const struct ynode *list,
                                      struct arch_file *file, struct dse_error *err)
{
    struct arch_spec *spec = &file->spec;
    DSE_TRY(yaml_is_sequence(doc, list, "hierarchy", err));
    if (list->n_item == 0)
        return yaml_fail(doc, list, err, "hierarchy is empty; list a storage first and macs last");
    size_t n_storage = 0;
    for (size_t i = 0; i < list->n_item; i++) {
        n_storage += yaml_find(list->item[i], "storage") != NULL;
        if (n_storage > ARCH_LEVEL_MAX)
            return dse_fail_at(err, DSE_LIMIT, spec->path, list->item[i]->line,
                               "more than %d storage levels are not supported", ARCH_LEVEL_MAX);
        if (spec->n_item == ARCH_ITEM_MAX)
            return dse_fail_at(err, DSE_LIMIT, spec->path, list->item[i]->line,
                               "more than %d entries in the hierarchy are not supported", ARCH_ITEM_MAX);
        DSE_NOTE(doc->faults, read_entry(doc, list->item[i], file, false, err));
    }
    if (spec->n_item < list->n_item)
        return DSE_OK; /* what is wrong was noted */
    DSE_TRY(check_order(spec, err));
    spec->is_whole = true;
    return DSE_OK;
}

static enum dse_status read_groups(const struct yaml_doc *doc, const struct ynode *list,
                                   struct arch_file *file, struct dse_error *err)
{
    DSE_TRY(yaml_is_sequence(doc, list, "groups", err));
    if (list->n_item == 0)
        return yaml_fail(doc, list, err, "groups is empty; leave it out or list a group");
    for (size_t i = 0; i < list->n_item; i++) {
        if (file->spec.n_group == ARCH_GROUP_MAX)
            return dse_fail_at(err, DSE_LIMIT, file->spec.path, list->item[i]->line,
                               "more than %d groups are not supported", ARCH_GROUP_MAX);
        DSE_TRY(yaml_is_mapping(doc, list->item[i], "an entry of groups", err));
        DSE_NOTE(doc->faults, read_entry(doc, list->item[i], file, true, err));
    }
    return DSE_OK;
}

void arch_file_init(struct arch_file *file, const char *path)
{
    memset(&file->spec, 0, sizeof file->spec); /* entries are cleared when they are read */
    memset(&file->top, 0, sizeof file->top);
    file->spec.path = path;
    file->spec.top = &file->top;
    file->spec.placed = &file->placed;
    architecture_schema_placed(&file->placed);
    file->top.section = ARCH_TOP;
}

enum dse_status arch_file_read(const struct yaml_doc *doc, struct arch_file *file, struct dse_error *err)
{
    arch_file_init(file, doc->path);
    file->top.line = doc->root->line;
    DSE_TRY(yaml_is_mapping(doc, doc->root, "an architecture file", err));
    const struct ynode *name = yaml_find(doc->root, "architecture"), *groups = yaml_find(doc->root, "groups"),
                       *list = yaml_find(doc->root, "hierarchy");
    DSE_NOTE(doc->faults, read_keys(doc, doc->root, "the architecture file", "", &file->top, err));
    DSE_TRY(check_required(doc, doc->root, &file->top, "the architecture file", err));
    if (name)
        DSE_NOTE(doc->faults, check_name(doc, name, "architecture", &file->top.name, err));
    if (groups)
        DSE_NOTE(doc->faults, read_groups(doc, groups, file, err));
    return list ? read_hierarchy(doc, list, file, err) : DSE_OK;
}

/* Can a value of this row be replaced by a path? */
static bool row_is_open(const struct arch_field *row)
{
    return (row->kind != ARCH_VALUE_NAME || row->property & ARCH_OPEN) && row->kind != ARCH_VALUE_PART;
}

/* Entries that a path can name: the hierarchy's, the groups, the top last. */
static size_t n_entry(const struct arch_spec *spec)
{
    return spec->n_item + spec->n_group + 1;
}

static const struct arch_item *entry_at(const struct arch_spec *spec, size_t i)
{
    if (i < spec->n_item)
        return spec->item[i];
    return i < spec->n_item + spec->n_group ? spec->group[i - spec->n_item] : spec->top;
}

/* All paths of the file, for "did you mean"; NULL when out of memory. */
static const char **list_paths(const struct arch_spec *spec, struct arena *arena, size_t *n_path)
{
    const struct arch_field *schema = architecture_schema();
    const char **path = arena_alloc(arena, n_entry(spec) * ARCH_FIELD_MAX, sizeof *path);
    *n_path = 0;
    if (!path)
        return NULL;
    for (size_t i = 0; i < n_entry(spec); i++) {
        const struct arch_item *item = entry_at(spec, i);
        for (int f = 0; f < architecture_n_field(); f++) {
            char text[WHAT_MAX];
            if (schema[f].section != item->section || !row_is_open(&schema[f]))
                continue;
            path_of(item, f, text, sizeof text);
            path[*n_path] = arena_copy_text(arena, text, strlen(text));
            if (!path[*n_path])
                return NULL;
            (*n_path)++;
        }
    }
    return path;
}

static enum dse_status fail_path(const struct arch_spec *spec, const char *path, struct dse_error *err)
{
    struct arena arena;
    size_t n_path = 0;
    arena_init(&arena);
    const char **known = list_paths(spec, &arena, &n_path);
    const char *near = known ? text_nearest(path, known, n_path) : NULL;
    enum dse_status status;
    if (near)
        status = dse_fail(err, DSE_BAD_INPUT, "%s has no quantity \"%.80s\"; did you mean \"%s\"?",
                          spec->path, path, near);
    else
        status =
            dse_fail(err, DSE_BAD_INPUT,
                     "%s has no quantity \"%.80s\"; a path is an entry of its hierarchy and a key, such as "
                     "\"%s.access_energy\" or \"%s.bandwidth\"",
                     spec->path, path, spec->item[0]->name, spec->item[0]->name);
    arena_free(&arena);
    return status;
}

/* The entry and row a path names ("GlobalBuffer.capacity", "clock"); *entry is as of entry_at. DSE_BAD_INPUT
 * with the nearest path when there is none. */
static enum dse_status find_path(const struct arch_spec *spec, const char *path, size_t *entry, int *field,
                                 struct dse_error *err)
{
    const char *dot = strchr(path, '.');
    size_t length = dot ? (size_t)(dot - path) : 0;
    *entry = n_entry(spec) - 1;
    *field = dot ? -1 : architecture_schema_find(ARCH_TOP, path);
    for (size_t i = 0; dot && i + 1 < n_entry(spec); i++) {
        const struct arch_item *item = entry_at(spec, i);
        if (strncmp(item->name, path, length) == 0 && item->name[length] == '\0') {
            *entry = i;
            *field = architecture_schema_find(item->section, dot + 1);
        }
    }
    if (*field < 0) { /* "gpu.threads_per_block" */
        *entry = n_entry(spec) - 1;
        *field = architecture_schema_find(ARCH_TOP, path);
    }
    if (*field < 0 || !row_is_open(&architecture_schema()[*field]))
        return fail_path(spec, path, err);
    return DSE_OK;
}

enum dse_status arch_spec_override(struct arch_spec *spec, const struct arch_override *override,
                                   size_t n_override, struct arch_item *copy, struct dse_error *err)
{
    struct arch_item *mine[ARCH_ITEM_MAX + ARCH_GROUP_MAX + 1] = {0};
    for (size_t i = 0; i < n_override; i++) {
        struct arch_value value;
        struct dse_error inner;
        size_t entry = 0;
        int field = -1;
        DSE_TRY(find_path(spec, override[i].path, &entry, &field, err));
        if (arch_value_parse(&architecture_schema()[field], override[i].path, override[i].value, &value,
                             &inner) != DSE_OK)
            return dse_fail(err, inner.status, "%s (set by an axis or --set, not by %s)", inner.text,
                            spec->path);
        value.origin = ARCH_FROM_OVERRIDE;
        const struct arch_item **place = entry < spec->n_item        ? &spec->item[entry]
                                         : entry + 1 < n_entry(spec) ? &spec->group[entry - spec->n_item]
                                                                     : &spec->top;
        if (!mine[entry]) {
            mine[entry] = copy++;
            *mine[entry] = **place;
            *place = mine[entry];
        }
        mine[entry]->value[field] = value;
    }
    return DSE_OK;
}

enum dse_status arch_spec_path_unit(const struct arch_spec *spec, const char *path, int *unit,
                                    struct dse_error *err)
{
    size_t entry = 0;
    int field = -1;
    DSE_TRY(find_path(spec, path, &entry, &field, err));
    *unit = architecture_schema()[field].unit;
    return DSE_OK;
}
