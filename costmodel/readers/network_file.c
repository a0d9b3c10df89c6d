/* Networks of any format: native files, Timeloop's problem files, one of which is a list of one layer, the
 * layers of Interstellar's authors, and ONNX. All but the first are put into words as a native file: there is
 * one reader. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/interstellar_json/interstellar_json.h"
#include "costmodel/native/network_native.h"
#include "costmodel/onnx/onnx.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"

enum { PATH_SIZE = 4096 };

/* Where the problems of the network `name` come from. */
struct source {
    const char *name;
    const struct network_files *files;
    const struct yaml_doc *own; /* the file itself, when it is the problem; else NULL */
};

/* Paths are relative to the folder of the file that names them, as far as it has one. */
static enum dse_status path_beside(const char *name, const char *path, char *joined, struct dse_error *err)
{
    const char *slash = path[0] == '/' ? NULL : strrchr(name, '/');
    int n = snprintf(joined, PATH_SIZE, "%.*s%s", slash ? (int)(slash - name + 1) : 0, name, path);
    if (n < 0 || n >= PATH_SIZE)
        return dse_fail_at(err, DSE_LIMIT, name, 0, "the path of a problem is longer than %d bytes",
                           PATH_SIZE - 1);
    return DSE_OK;
}

static enum dse_status read_problem(void *user, const char *path, struct problem *problem,
                                    struct dse_error *err)
{
    const struct source *source = user;
    const char *bytes;
    size_t length;
    char joined[PATH_SIZE];
    struct yaml_doc doc;
    if (source->own)
        return problem_build(source->own, problem, err);
    DSE_TRY(path_beside(source->name, path, joined, err));
    DSE_TRY(source->files->get(source->files->user, joined, &bytes, &length, err));
    DSE_TRY(yaml_parse(&doc, joined, bytes, length, err));
    doc.faults = source->files->faults;
    enum dse_status status =
        yaml_find(doc.root, "network")
            ? yaml_fail(&doc, doc.root, err,
                        "this is a network; a list of problems takes Timeloop's problem files")
            : problem_build(&doc, problem, err);
    yaml_doc_free(&doc);
    return status;
}

/* The document of a list that holds `doc` alone. */
static enum dse_status list_one(const struct yaml_doc *doc, struct yaml_doc *list, struct dse_error *err)
{
    char name[PROBLEM_NAME_MAX];
    struct text_buffer text;
    text_init(&text);
    network_name_of(doc->path, name);
    text_append(&text, "network: \"%s\"\nproblems: [{file: \"%s\", name: \"%s\"}]\n", name, name, name);
    enum dse_status status = text_check(&text, "a network", err);
    if (status == DSE_OK)
        status = yaml_parse(list, doc->path, text.data, text.length, err);
    text_free(&text);
    return status;
}

/* A network in words. */
static enum dse_status build_text(const char *path, const struct text_buffer *text,
                                  const struct network_settings *settings, struct network *network,
                                  struct dse_error *err)
{
    struct yaml_doc doc;
    DSE_TRY(yaml_parse(&doc, path, text->data, text->length, err));
    enum dse_status status = network_native_build(&doc, NULL, settings, network, err);
    yaml_doc_free(&doc);
    return status;
}

static enum dse_status build_json_layer(const struct yaml_doc *doc, const struct network_settings *settings,
                                        struct network *network, struct dse_error *err)
{
    struct text_buffer text;
    text_init(&text);
    enum dse_status status = interstellar_layer_text(doc, &text, err);
    if (status == DSE_OK)
        status = build_text(doc->path, &text, settings, network, err);
    text_free(&text);
    return status;
}

static enum dse_status build_table(const char *name, const char *bytes, size_t length,
                                   const struct network_settings *settings, struct network *network,
                                   struct dse_error *err)
{
    struct text_buffer text;
    text_init(&text);
    enum dse_status status = interstellar_table_text(name, bytes, length, &text, err);
    if (status == DSE_OK)
        status = build_text(name, &text, settings, network, err);
    text_free(&text);
    return status;
}

static enum dse_status build_onnx(const char *name, const char *bytes, size_t length,
                                  const struct network_settings *settings, struct network *network,
                                  struct dse_error *err)
{
    const struct onnx_options options = {.settings = settings};
    struct text_buffer text;
    text_init(&text);
    enum dse_status status = onnx_network_text(name, bytes, length, &options, &text, err);
    if (status == DSE_OK)
        status = build_text(name, &text, settings, network, err);
    text_free(&text);
    return status;
}

/* ---- a network that is another one with parameters set: {network: NAME, of: FILE, set: {...}} ---- */

enum { OF_DEPTH_MAX = 8 };

/* What `set` of the file says, then what is set from outside. */
struct of_settings {
    struct network_set *set; /* (n) owned */
    size_t n;
};

static enum dse_status join_settings(const struct yaml_doc *doc, const struct network_settings *outer,
                                     struct of_settings *out, struct dse_error *err)
{
    const struct ynode *list = yaml_find(doc->root, "set");
    if (list)
        DSE_TRY(yaml_is_mapping(doc, list, "set", err));
    const size_t n_own = list ? list->n_item : 0;
    out->set = calloc(n_own + outer->n + 1, sizeof *out->set);
    if (!out->set)
        return dse_fail_at(err, DSE_NO_MEMORY, doc->path, 0, "out of memory while reading the network");
    for (size_t i = 0; i < n_own; i++) {
        struct network_set *set = &out->set[out->n++];
        *set = (struct network_set){list->key[i], NULL, doc->path, list->key_line[i], true};
        DSE_TRY(yaml_text(doc, list->item[i], set->name, &set->value, err));
    }
    for (size_t k = 0; k < outer->n; k++) {
        const struct network_set *set = &outer->set[k];
        const struct ynode *own = yaml_find(list, set->name);
        if (!own)
            out->set[out->n++] = *set;
        else if (!outer->may_lack)
            return set->file ? dse_fail_at(err, DSE_BAD_INPUT, set->file, set->line,
                                           "network.%s: the network sets it itself (%s:%d)", set->name,
                                           doc->path, own->line)
                             : dse_fail(err, DSE_BAD_INPUT, "network.%s: the network sets it itself (%s:%d)",
                                        set->name, doc->path, own->line);
    }
    return DSE_OK;
}

/* The file of `of`: beside this one, with .yaml where no ending is given. */
static enum dse_status of_path(const struct yaml_doc *doc, char *path, struct dse_error *err)
{
    static const char *const allowed[] = {"network", "of", "set", "title", "source"};
    const struct ynode *of = yaml_find(doc->root, "of"), *name;
    char word[PATH_SIZE];
    const char *text;
    DSE_TRY(yaml_check_keys(doc, doc->root, "a network that is another one", allowed, 5, err));
    DSE_TRY(yaml_require(doc, doc->root, "a network file", "network", &name, err));
    DSE_TRY(yaml_text(doc, of, "of", &text, err));
    const char *slash = strrchr(text, '/');
    const int n = snprintf(word, sizeof word, "%s%s", text, strchr(slash ? slash : text, '.') ? "" : ".yaml");
    if (n < 0 || n >= (int)sizeof word || text[0] == '\0')
        return yaml_fail(doc, of, err, "of: the name of a network file beside this one is expected");
    return path_beside(doc->path, word, path, err);
}

static enum dse_status build(const struct yaml_doc *doc, const struct network_files *files, int depth,
                             struct network *network, struct dse_error *err);

static enum dse_status build_base(const struct yaml_doc *doc, const char *path,
                                  const struct network_files *files, int depth, struct network *network,
                                  struct dse_error *err)
{
    const char *bytes;
    size_t length;
    struct yaml_doc base;
    struct dse_error inner = {0};
    if (depth == OF_DEPTH_MAX)
        return yaml_fail(doc, yaml_find(doc->root, "of"), err, "of: networks of networks, more than %d deep",
                         OF_DEPTH_MAX);
    if (files->get(files->user, path, &bytes, &length, &inner) != DSE_OK)
        return yaml_fail(doc, yaml_find(doc->root, "of"), err, "of: %s cannot be read (%s)", path,
                         inner.text);
    if (onnx_is_text(bytes, length))
        return build_onnx(path, bytes, length, &files->settings, network, err);
    DSE_TRY(yaml_parse(&base, path, bytes, length, err));
    base.faults = files->faults;
    enum dse_status status = build(&base, files, depth + 1, network, err);
    yaml_doc_free(&base);
    return status;
}

/* Name, title and source of the file in place of those of the other. */
static enum dse_status rename_network(const struct yaml_doc *doc, struct network *network,
                                      struct dse_error *err)
{
    static const char *const key[] = {"network", "title", "source"};
    const char **field[] = {&network->name, &network->title, &network->source};
    for (int i = 0; i < 3; i++) {
        const struct ynode *node = yaml_find(doc->root, key[i]);
        const char *text;
        if (!node)
            continue;
        DSE_TRY(yaml_text(doc, node, key[i], &text, err));
        if (i == 0)
            DSE_TRY(network_check_name(doc, node, "network name", err));
        *field[i] = arena_copy_text(&network->arena, text, strlen(text));
    }
    return arena_check(&network->arena, "a network", err);
}

static enum dse_status build_of(const struct yaml_doc *doc, const struct network_files *files, int depth,
                                struct network *network, struct dse_error *err)
{
    const size_t n_fault = dse_faults_count(doc->faults);
    struct of_settings settings = {0};
    struct network_files with = *files;
    char path[PATH_SIZE];
    DSE_TRY(of_path(doc, path, err));
    enum dse_status status = join_settings(doc, &files->settings, &settings, err);
    with.settings = (struct network_settings){settings.set, settings.n, files->settings.may_lack};
    if (status == DSE_OK)
        status = build_base(doc, path, &with, depth, network, err);
    free(settings.set);
    if (status != DSE_OK || dse_faults_count(doc->faults) > n_fault)
        return status;
    status = rename_network(doc, network, err);
    if (status != DSE_OK)
        network_free(network);
    return status;
}

static enum dse_status build(const struct yaml_doc *doc, const struct network_files *files, int depth,
                             struct network *network, struct dse_error *err)
{
    struct source source = {doc->path, files, NULL};
    const struct network_problems problems = {read_problem, &source};
    struct yaml_doc list;
    if (interstellar_is_layer(doc))
        return build_json_layer(doc, &files->settings, network, err);
    if (yaml_find(doc->root, "of"))
        return build_of(doc, files, depth, network, err);
    if (!yaml_find(doc->root, "problem") || yaml_find(doc->root, "network"))
        return network_native_build(doc, &problems, &files->settings, network, err);
    source.own = doc;
    DSE_TRY(list_one(doc, &list, err));
    list.faults = doc->faults;
    enum dse_status status = network_native_build(&list, &problems, &files->settings, network, err);
    yaml_doc_free(&list);
    return status;
}

enum dse_status network_parse_with(const char *name, const char *bytes, size_t length,
                                   const struct network_files *files, struct network *network,
                                   struct dse_error *err)
{
    struct yaml_doc doc;
    if (interstellar_is_table(name, bytes, length))
        return build_table(name, bytes, length, &files->settings, network, err);
    if (onnx_is_text(bytes, length))
        return build_onnx(name, bytes, length, &files->settings, network, err);
    DSE_TRY(yaml_parse(&doc, name, bytes, length, err));
    doc.faults = files->faults;
    enum dse_status status = build(&doc, files, 0, network, err);
    yaml_doc_free(&doc);
    return status;
}

/* Files of the disk, one at a time. */
static enum dse_status get_from_disk(void *user, const char *path, const char **bytes, size_t *length,
                                     struct dse_error *err)
{
    char **held = user;
    free(*held);
    *held = NULL;
    DSE_TRY((onnx_is_path(path) ? onnx_load : yaml_load)(path, held, length, err));
    *bytes = *held;
    return DSE_OK;
}

static enum dse_status parse_from_disk(const char *name, const char *bytes, size_t length,
                                       const struct network_settings *settings, struct dse_faults *faults,
                                       struct network *network, struct dse_error *err)
{
    char *held = NULL;
    const struct network_files disk = {get_from_disk, &held, faults,
                                       settings ? *settings : (struct network_settings){NULL, 0, false}};
    enum dse_status status = network_parse_with(name, bytes, length, &disk, network, err);
    free(held);
    return status;
}

enum dse_status network_parse(const char *name, const char *bytes, size_t length, struct network *network,
                              struct dse_error *err)
{
    return parse_from_disk(name, bytes, length, NULL, NULL, network, err);
}

enum dse_status network_read_with(const char *path, const struct network_settings *settings,
                                  struct dse_faults *faults, struct network *network, struct dse_error *err)
{
    char *bytes;
    size_t length;
    DSE_TRY(network_load(path, &bytes, &length, err));
    enum dse_status status = parse_from_disk(path, bytes, length, settings, faults, network, err);
    free(bytes);
    return status;
}

enum dse_status network_read(const char *path, struct network *network, struct dse_error *err)
{
    return network_read_with(path, NULL, NULL, network, err);
}

/* ---- several files as one ---- */

/* In double quotes, as YAML has it. */
static void append_quoted(struct text_buffer *text, const char *word)
{
    text_append(text, "\"");
    for (const char *at = word; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 127)
            text_append(text, "\\x%02x", (unsigned char)*at);
        else
            text_append(text, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    }
    text_append(text, "\"");
}

/* Whether the files can be told by their last parts. */
static bool are_distinct(const char *const *path, size_t n)
{
    char name[PROBLEM_NAME_MAX];
    struct name_table table;
    struct arena arena;
    size_t first, i = 0;
    name_table_init(&table);
    arena_init(&arena);
    for (; i < n && !name_table_get(&table, network_name_of(path[i], name), &first); i++) {
        const char *kept = arena_copy_text(&arena, name, strlen(name));
        if (!kept || !name_table_put(&table, kept, i))
            break;
    }
    name_table_free(&table);
    arena_free(&arena);
    return i == n;
}

enum dse_status network_list_problems(const char *name, const char *const *path, size_t n, char **bytes,
                                      size_t *length, struct dse_error *err)
{
    struct text_buffer text;
    char word[PROBLEM_NAME_MAX];
    bool distinct = are_distinct(path, n);
    text_init(&text);
    text_append(&text, "network: \"%s\"\nproblems:\n", network_name_of(name, word));
    for (size_t i = 0; i < n; i++) {
        text_append(&text, "- {file: ");
        append_quoted(&text, path[i]);
        if (!distinct) /* as a/problem.yaml and b/problem.yaml are not */
            text_append(&text, ", name: \"%zu-%.80s\"", i + 1, network_name_of(path[i], word));
        text_append(&text, "}\n");
    }
    enum dse_status status = text_check(&text, "a list of problems", err);
    if (status != DSE_OK) {
        text_free(&text);
        return status;
    }
    *length = text.length;
    *bytes = text.data; /* the caller's from here on */
    return DSE_OK;
}

static int is_problem_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

enum dse_status network_load(const char *path, char **bytes, size_t *length, struct dse_error *err)
{
    struct dirent **entry;
    if (onnx_is_path(path))
        return onnx_load(path, bytes, length, err);
    if (path[0] == '\0' || path[strlen(path) - 1] != '/')
        return yaml_load(path, bytes, length, err);
    int n = scandir(path, &entry, is_problem_file, versionsort);
    if (n < 0)
        return dse_fail_at(err, DSE_IO, path, 0, "the folder cannot be read");
    const char **name = calloc((size_t)n + 1, sizeof *name);
    for (int i = 0; name && i < n; i++)
        name[i] = entry[i]->d_name;
    enum dse_status status = !name    ? dse_fail_at(err, DSE_NO_MEMORY, path, 0, "out of memory")
                             : n == 0 ? dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                                                    "the folder holds no problem files (.yaml or .yml)")
                                      : network_list_problems(path, name, (size_t)n, bytes, length, err);
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    free(name);
    return status;
}
