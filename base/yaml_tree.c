/* libyaml events to the tree of base/yaml.h. Aliases share nodes; merge keys are expanded as each mapping
 * closes. */
#include "base/yaml_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/array.h"
#include "base/name_table.h"
#include "base/text.h"

/* A child of a collection still open. */
struct entry {
    const char *key; /* NULL in a sequence */
    int key_line;
    bool merge; /* the pair is "<<: ..." */
    const struct ynode *node;
};

struct anchor {
    const char *name;
    const struct ynode *node; /* NULL while the anchored collection is open */
    int line;
};

struct builder {
    yaml_parser_t parser;
    struct yaml_doc *doc;
    struct dse_error *err;
    const char *bytes; /* (n_byte) the whole text */
    size_t n_byte;
    struct entry *entry; /* (n_entry) stack of children of all open collections; owned */
    size_t n_entry;
    size_t entry_capacity;
    struct anchor *anchor; /* (n_anchor) owned */
    size_t n_anchor;
    size_t anchor_capacity;
    struct name_table anchor_name; /* the latest anchor of each name */
    struct name_table key_name;    /* keys of the mapping being closed */
    size_t n_merged;
};

enum { NO_ANCHOR = -1 };

static int line_of(const yaml_mark_t *mark)
{
    return (int)mark->line + 1;
}

static enum dse_status fail_line(const struct builder *b, int line, const char *text)
{
    return dse_fail_at(b->err, DSE_BAD_INPUT, b->doc->path, line, "%s", text);
}

static enum dse_status fail_memory(const struct builder *b)
{
    return dse_fail_at(b->err, DSE_NO_MEMORY, b->doc->path, 0, "out of memory while reading");
}

/* The line of a byte: libyaml decodes ahead, so its own mark is behind the byte that it refuses. */
static int line_of_byte(const struct builder *b, size_t offset)
{
    int line = 1;
    for (size_t i = 0; i < offset && i < b->n_byte; i++)
        line += b->bytes[i] == '\n';
    return line;
}

/* Where a line (from 0) begins. */
static const char *begin_of_line(const struct builder *b, size_t number)
{
    const char *line = b->bytes, *end = b->bytes + b->n_byte;
    for (size_t i = 0; i < number && line < end; i++) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        line = next ? next + 1 : end;
    }
    return line;
}

/* Has the line (from 0) the beginning of a template's "{{ ... }}", "{% ... %}" or "{# ... #}"? */
static bool is_template(const struct builder *b, size_t number)
{
    const char *end = b->bytes + b->n_byte;
    for (const char *p = begin_of_line(b, number); p < end && *p != '\n'; p++)
        if (*p == '{' && p + 1 < end && strchr("{%#", p[1]))
            return true;
    return false;
}

static const char template_words[] =
    "a template ({{ }}, {% %}), which is not filled in; give the file that it makes";

/* Has the line that the parser stumbled over more than one "key: "? */
static bool has_two_colons(const struct builder *b)
{
    const char *line = begin_of_line(b, b->parser.problem_mark.line), *end = b->bytes + b->n_byte;
    int n = 0;
    for (; line < end && *line != '\n'; line++)
        n += *line == ':' && (line + 1 == end || strchr(" \t\r\n", line[1]));
    return n > 1;
}

/* A title with a colon in it is the usual reason for "mapping values are not allowed". */
static const char *colon_hint(const struct builder *b)
{
    if (has_two_colons(b))
        return "; a text with \": \" in it must be in quotes, as in title: \"SRAM: small and large\"";
    return "; either this line is indented too deep, or it goes on with a text, which must be in quotes when "
           "\": \" is in it";
}

/* What libyaml says, with the line it blames and the line where the construct began. */
static enum dse_status fail_syntax(const struct builder *b)
{
    const yaml_parser_t *parser = &b->parser;
    const char *problem = parser->problem ? parser->problem : "unknown problem";
    /* libyaml leaves the error unset when it runs out of memory in some places. */
    if (parser->error == YAML_MEMORY_ERROR || parser->error == YAML_NO_ERROR)
        return fail_memory(b);
    int line = line_of(&parser->problem_mark);
    if (parser->error == YAML_READER_ERROR)
        return dse_fail_at(b->err, DSE_BAD_INPUT, b->doc->path, line_of_byte(b, parser->problem_offset),
                           "not YAML text: %s (byte %zu of the file); save it as UTF-8", problem,
                           parser->problem_offset);
    if (is_template(b, parser->problem_mark.line))
        return fail_line(b, line, template_words);
    if (!parser->context)
        return dse_fail_at(b->err, DSE_BAD_INPUT, b->doc->path, line, "not valid YAML: %s%s", problem,
                           strstr(problem, "mapping values") ? colon_hint(b) : "");
    if (strstr(parser->context, "quoted scalar") && strstr(problem, "end of stream"))
        return fail_line(b, line_of(&parser->context_mark),
                         "not valid YAML: the quote opened here is never closed");
    const char *hint = "";
    if (strstr(problem, "cannot start any token"))
        hint = "; tabs cannot indent YAML, and a value starting with @, ` or % must be quoted";
    return dse_fail_at(b->err, DSE_BAD_INPUT, b->doc->path, line, "not valid YAML: %s %s (from line %d)%s",
                       problem, parser->context, line_of(&parser->context_mark), hint);
}

static enum dse_status next_event(struct builder *b, yaml_event_t *event)
{
    if (!yaml_parser_parse(&b->parser, event))
        return fail_syntax(b);
    return DSE_OK;
}

static enum dse_status push_entry(struct builder *b, struct entry entry)
{
    struct entry *grown = array_grow(b->entry, b->n_entry + 1, &b->entry_capacity, sizeof entry);
    if (!grown)
        return fail_memory(b);
    b->entry = grown;
    b->entry[b->n_entry++] = entry;
    return DSE_OK;
}

static const char *copy_text(struct builder *b, const yaml_char_t *text)
{
    const char *plain = (const char *)text;
    return arena_copy_text(&b->doc->arena, plain, strlen(plain));
}

/* Note an anchor before its node is built, so that an alias inside it is seen to be cyclic. */
static enum dse_status open_anchor(struct builder *b, const yaml_char_t *name, int line, long *index)
{
    *index = NO_ANCHOR;
    if (!name)
        return DSE_OK;
    struct anchor *grown = array_grow(b->anchor, b->n_anchor + 1, &b->anchor_capacity, sizeof *grown);
    if (grown)
        b->anchor = grown;
    const char *copy = copy_text(b, name);
    if (!grown || !copy || !name_table_put(&b->anchor_name, copy, b->n_anchor))
        return fail_memory(b);
    *index = (long)b->n_anchor;
    b->anchor[b->n_anchor++] = (struct anchor){copy, NULL, line};
    return DSE_OK;
}

static enum dse_status resolve_alias(struct builder *b, const yaml_event_t *event, const struct ynode **node)
{
    char name[64];
    text_excerpt((const char *)event->data.alias.anchor, name, sizeof name);
    int line = line_of(&event->start_mark);
    size_t index = 0;
    if (!name_table_get(&b->anchor_name, (const char *)event->data.alias.anchor, &index))
        return dse_fail_at(b->err, DSE_BAD_INPUT, b->doc->path, line,
                           "alias *%s has no anchor &%s before it (quote the text if no alias is meant)",
                           name, name);
    *node = b->anchor[index].node;
    if (!*node)
        return dse_fail_at(b->err, DSE_BAD_INPUT, b->doc->path, line,
                           "alias *%s is cyclic: it stands inside its own anchor &%s of line %d", name, name,
                           b->anchor[index].line);
    return DSE_OK;
}

static enum dse_status new_node(struct builder *b, enum ynode_kind kind, const yaml_event_t *event,
                                const yaml_char_t *tag, struct ynode **node)
{
    *node = arena_alloc(&b->doc->arena, 1, sizeof **node);
    if (!*node)
        return fail_memory(b);
    (*node)->kind = kind;
    (*node)->line = line_of(&event->start_mark);
    if (tag)
        (*node)->tag = copy_text(b, tag); /* looked at when the tree is whole */
    return DSE_OK;
}

static enum dse_status scalar_node(struct builder *b, const yaml_event_t *event, const struct ynode **made)
{
    struct ynode *node = NULL;
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    DSE_TRY(new_node(b, YNODE_SCALAR, event, event->data.scalar.tag, &node));
    if (strlen(text) != length)
        return fail_line(b, node->line, "a text with a zero byte (\\0) in it is not allowed");
    node->text = arena_copy_text(&b->doc->arena, text, length);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!node->text)
        return fail_memory(b);
    *made = node;
    return DSE_OK;
}

/* Copy the children from `first` on into the node and pop them. */
static enum dse_status close_sequence(struct builder *b, struct ynode *node, size_t first)
{
    size_t n = b->n_entry - first;
    const struct ynode **item = arena_alloc(&b->doc->arena, n, sizeof *item);
    if (!item)
        return fail_memory(b);
    for (size_t i = 0; i < n; i++)
        item[i] = b->entry[first + i].node;
    node->n_item = n;
    node->item = item;
    b->n_entry = first;
    return DSE_OK;
}

static enum dse_status check_duplicates(struct builder *b, size_t first)
{
    name_table_clear(&b->key_name);
    for (size_t i = first; i < b->n_entry; i++) {
        const struct entry *entry = &b->entry[i];
        size_t earlier = 0;
        if (name_table_get(&b->key_name, entry->key, &earlier)) {
            char key[64];
            return dse_fail_at(b->err, DSE_BAD_INPUT, b->doc->path, entry->key_line,
                               "duplicate key \"%s\"; it is already on line %d",
                               text_excerpt(entry->key, key, sizeof key), b->entry[earlier].key_line);
        }
        if (!name_table_put(&b->key_name, entry->key, i))
            return fail_memory(b);
    }
    return DSE_OK;
}

/* Push the pairs of `from` whose keys are not there yet. */
static enum dse_status merge_mapping(struct builder *b, const struct ynode *from, int line)
{
    if (from->kind != YNODE_MAPPING)
        return fail_line(b, line, "merge key << takes a mapping or a list of mappings, such as <<: *name");
    b->n_merged += from->n_item;
    if (b->n_merged > YAML_MERGED_MAX)
        return dse_fail_at(b->err, DSE_LIMIT, b->doc->path, line, "merge keys expand to more than %d entries",
                           (int)YAML_MERGED_MAX);
    for (size_t i = 0; i < from->n_item; i++) {
        size_t index = 0;
        if (name_table_get(&b->key_name, from->key[i], &index))
            continue;
        if (!name_table_put(&b->key_name, from->key[i], b->n_entry))
            return fail_memory(b);
        struct entry entry = {from->key[i], from->key_line[i], false, from->item[i]};
        DSE_TRY(push_entry(b, entry));
    }
    return DSE_OK;
}

/* Append to the open mapping what its merge key brings in; b->key_name holds its own keys. */
static enum dse_status expand_merge(struct builder *b, struct entry merge)
{
    const struct ynode *from = merge.node;
    if (from->kind != YNODE_SEQUENCE)
        return merge_mapping(b, from, merge.key_line);
    for (size_t i = 0; i < from->n_item; i++)
        DSE_TRY(merge_mapping(b, from->item[i], merge.key_line));
    return DSE_OK;
}

/* Copy the pairs from `first` on into the node, merged ones first as if they had been written at the top; pop
 * them. */
static enum dse_status close_mapping(struct builder *b, struct ynode *node, size_t first)
{
    DSE_TRY(check_duplicates(b, first));
    size_t own_end = b->n_entry;
    size_t n_merge_key = 0;
    for (size_t i = first; i < own_end; i++) {
        if (!b->entry[i].merge)
            continue;
        n_merge_key++;
        DSE_TRY(expand_merge(b, b->entry[i]));
    }
    size_t n = b->n_entry - first - n_merge_key;
    struct arena *arena = &b->doc->arena;
    const struct ynode **item = arena_alloc(arena, n, sizeof *item);
    const char **key = arena_alloc(arena, n, sizeof *key);
    int *key_line = arena_alloc(arena, n, sizeof *key_line);
    if (arena->failed)
        return fail_memory(b);
    size_t n_brought = b->n_entry - own_end;
    size_t at = 0;
    for (size_t k = 0; k < b->n_entry - first; k++) {
        const struct entry *entry = &b->entry[k < n_brought ? own_end + k : first + k - n_brought];
        if (entry->merge)
            continue;
        item[at] = entry->node;
        key[at] = entry->key;
        key_line[at] = entry->key_line;
        at++;
    }
    node->n_item = n;
    node->item = item;
    node->key = key;
    node->key_line = key_line;
    b->n_entry = first;
    return DSE_OK;
}

static enum dse_status build_node(struct builder *b, const yaml_event_t *event, int depth,
                                  const struct ynode **made);

static enum dse_status build_sequence(struct builder *b, struct ynode *node, int depth)
{
    size_t first = b->n_entry;
    for (;;) {
        yaml_event_t event;
        struct entry entry = {NULL, 0, false, NULL};
        DSE_TRY(next_event(b, &event));
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        enum dse_status status = end ? DSE_OK : build_node(b, &event, depth + 1, &entry.node);
        yaml_event_delete(&event);
        DSE_TRY(status);
        if (end)
            return close_sequence(b, node, first);
        DSE_TRY(push_entry(b, entry));
    }
}

static enum dse_status build_key(struct builder *b, const yaml_event_t *event, struct entry *entry)
{
    const struct ynode *key = NULL;
    int line = line_of(&event->start_mark);
    if (event->type == YAML_MAPPING_START_EVENT && is_template(b, event->start_mark.line))
        return fail_line(b, line, template_words);
    if (event->type != YAML_SCALAR_EVENT && event->type != YAML_ALIAS_EVENT)
        return fail_line(b, line,
                         "a key must be plain text, not a list or mapping (quote it if it holds [ ] { })");
    DSE_TRY(build_node(b, event, 0, &key));
    if (key->kind != YNODE_SCALAR)
        return fail_line(b, line, "a key must be plain text, not an alias of a list or mapping");
    if (key->text[0] == '\0')
        return fail_line(b, line, "empty key before \":\"");
    entry->key = key->text;
    entry->key_line = line;
    entry->merge = !key->quoted && strcmp(key->text, "<<") == 0;
    return DSE_OK;
}

static enum dse_status build_mapping(struct builder *b, struct ynode *node, int depth)
{
    size_t first = b->n_entry;
    for (;;) {
        yaml_event_t event;
        struct entry entry = {NULL, 0, false, NULL};
        DSE_TRY(next_event(b, &event));
        bool end = event.type == YAML_MAPPING_END_EVENT;
        enum dse_status status = end ? DSE_OK : build_key(b, &event, &entry);
        yaml_event_delete(&event);
        DSE_TRY(status);
        if (end)
            return close_mapping(b, node, first);
        DSE_TRY(next_event(b, &event));
        status = build_node(b, &event, depth + 1, &entry.node);
        yaml_event_delete(&event);
        DSE_TRY(status);
        DSE_TRY(push_entry(b, entry));
    }
}

/* The node that `event` begins, with all below it; the caller deletes the event. */
static enum dse_status build_node(struct builder *b, const yaml_event_t *event, int depth,
                                  const struct ynode **made)
{
    int line = line_of(&event->start_mark);
    struct ynode *node = NULL;
    long anchor = NO_ANCHOR;
    if (depth >= YAML_NESTING_MAX)
        return dse_fail_at(b->err, DSE_LIMIT, b->doc->path, line, "nested deeper than %d levels",
                           (int)YAML_NESTING_MAX);
    if (event->type == YAML_ALIAS_EVENT)
        return resolve_alias(b, event, made);
    if (event->type == YAML_SCALAR_EVENT) {
        DSE_TRY(open_anchor(b, event->data.scalar.anchor, line, &anchor));
        DSE_TRY(scalar_node(b, event, made));
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        DSE_TRY(open_anchor(b, event->data.sequence_start.anchor, line, &anchor));
        DSE_TRY(new_node(b, YNODE_SEQUENCE, event, event->data.sequence_start.tag, &node));
        DSE_TRY(build_sequence(b, node, depth));
        *made = node;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        DSE_TRY(open_anchor(b, event->data.mapping_start.anchor, line, &anchor));
        DSE_TRY(new_node(b, YNODE_MAPPING, event, event->data.mapping_start.tag, &node));
        DSE_TRY(build_mapping(b, node, depth));
        *made = node;
    } else {
        return dse_fail_at(b->err, DSE_INTERNAL, b->doc->path, line, "unexpected YAML event %d",
                           (int)event->type);
    }
    if (anchor != NO_ANCHOR)
        b->anchor[anchor].node = *made;
    return DSE_OK;
}

/* STREAM-START, one document, STREAM-END. */
static enum dse_status build_stream(struct builder *b)
{
    for (;;) {
        yaml_event_t event;
        enum dse_status status = DSE_OK;
        DSE_TRY(next_event(b, &event));
        int line = line_of(&event.start_mark);
        bool end = event.type == YAML_STREAM_END_EVENT;
        switch (event.type) {
        case YAML_NO_EVENT:
        case YAML_STREAM_START_EVENT:
        case YAML_STREAM_END_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (b->doc->root)
                status = fail_line(b, line, "a second YAML document begins here (---); one per file is read");
            break;
        default:
            status = build_node(b, &event, 0, &b->doc->root);
            break;
        }
        yaml_event_delete(&event);
        DSE_TRY(status);
        if (end)
            return DSE_OK;
    }
}

enum dse_status yaml_tree_build(struct yaml_doc *doc, const char *bytes, size_t length, struct dse_error *err)
{
    struct builder b = {.doc = doc, .err = err, .bytes = bytes, .n_byte = length};
    doc->root = NULL;
    if (!yaml_parser_initialize(&b.parser))
        return fail_memory(&b);
    name_table_init(&b.anchor_name);
    name_table_init(&b.key_name);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)bytes, length);
    enum dse_status status = build_stream(&b);
    if (status == DSE_OK && doc->arena.failed)
        status = fail_memory(&b);
    const struct ynode *root = doc->root;
    if (status == DSE_OK && (!root || (root->kind == YNODE_SCALAR && !root->quoted && root->text[0] == '\0')))
        status = dse_fail_at(err, DSE_BAD_INPUT, doc->path, 0, "the file is empty (or holds comments only)");
    name_table_free(&b.anchor_name);
    name_table_free(&b.key_name);
    free(b.anchor);
    free(b.entry);
    yaml_parser_delete(&b.parser);
    return status;
}
