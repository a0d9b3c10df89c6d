/* Operands to structs: looks a name up, reads the file, applies --set, and says how a layer of a network
 * is written where one is needed. */
#include "dse/inputs/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "costmodel/interstellar/hint.h"
#include "costmodel/interstellar_json/interstellar_json.h"
#include "costmodel/model/network.h"
#include "costmodel/onnx/onnx.h"
#include "costmodel/timeloop/timeloop.h"
#include "dse/inputs/network_names.h"
#include "dse/inputs/resolve.h"

#define NETWORK_PREFIX "network."
enum { PREFIX_LENGTH = sizeof NETWORK_PREFIX - 1 };

enum dse_status input_split_set(const char *option, const char *text, char *path, size_t size,
                                const char **value, struct dse_error *err)
{
    char shown[96];
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length == 0 || length >= size)
        return dse_fail(
            err, DSE_BAD_USAGE, "--%s %s: write %s", option, text_excerpt(text, shown, sizeof shown),
            strcmp(option, "set") == 0
                ? "KEY=VALUE, for instance GlobalBuffer.capacity='128 KiB'"
                : "NAME=VALUE, for instance search_size=1000; `dse list engine NAME` has the names");
    memcpy(path, text, length);
    path[length] = '\0';
    *value = equals + 1 + strspn(equals + 1, " ");
    if (!**value)
        return dse_fail(err, DSE_BAD_USAGE, "--%s %s: the value is missing", option,
                        text_excerpt(text, shown, sizeof shown));
    return DSE_OK;
}

/* A --set of a network's parameter, or of the architecture. */
static bool is_set(const struct cli_args *args, size_t i, bool of_network)
{
    return strcmp(args->value[i].option->name, "set") == 0 &&
           (strncmp(args->value[i].text, NETWORK_PREFIX, PREFIX_LENGTH) == 0) == of_network;
}

enum dse_status input_overrides_read(const struct cli_args *args, struct input_overrides *overrides,
                                     struct dse_error *err)
{
    overrides->n = 0;
    overrides->ert = overrides->art = NULL;
    for (size_t i = 0; i < args->n_value; i++) {
        if (strcmp(args->value[i].option->name, "ert") == 0)
            overrides->ert = args->value[i].text;
        if (strcmp(args->value[i].option->name, "art") == 0)
            overrides->art = args->value[i].text;
        if (!is_set(args, i, false))
            continue;
        if (overrides->n == INPUT_SET_MAX)
            return dse_fail(err, DSE_LIMIT, "more than %d --set options", INPUT_SET_MAX);
        DSE_TRY(input_split_set("set", args->value[i].text, overrides->path[overrides->n], INPUT_SET_TEXT_MAX,
                                &overrides->value[overrides->n], err));
        overrides->n++;
    }
    return DSE_OK;
}

/* A file beside the architecture's; NULL: none. */
struct table_file {
    const char *path;
    struct yaml_doc doc;
    bool read;
};

static enum dse_status read_table(struct table_file *table, struct dse_error *err)
{
    if (!table->path)
        return DSE_OK;
    DSE_TRY(yaml_read(&table->doc, table->path, err));
    table->read = true;
    return DSE_OK;
}

enum dse_status input_architecture(const char *name, const struct input_overrides *overrides,
                                   struct architecture *arch, struct dse_error *err)
{
    char path[RESOLVE_PATH_MAX];
    struct arch_override list[INPUT_SET_MAX];
    struct yaml_doc doc;
    DSE_TRY(resolve_name(RESOLVE_ARCHITECTURE, name, NULL, path, sizeof path, err));
    if (!overrides || (overrides->n == 0 && !overrides->ert && !overrides->art))
        return architecture_read(path, arch, err);
    for (size_t i = 0; i < overrides->n; i++)
        list[i] = (struct arch_override){overrides->path[i], overrides->value[i]};
    struct table_file ert = {.path = overrides->ert}, art = {.path = overrides->art};
    DSE_TRY(yaml_read(&doc, path, err));
    enum dse_status status = read_table(&ert, err);
    if (status == DSE_OK)
        status = read_table(&art, err);
    if (status == DSE_OK)
        status = architecture_build_with_tables(&doc, ert.read ? &ert.doc : NULL, art.read ? &art.doc : NULL,
                                                list, overrides->n, arch, err);
    if (ert.read)
        yaml_doc_free(&ert.doc);
    if (art.read)
        yaml_doc_free(&art.doc);
    yaml_doc_free(&doc);
    return status;
}

const char *input_leak_note(const struct architecture *arch, const char *ert, const char *path, char *buffer)
{
    if (!arch->unread_leak_line)
        return NULL;
    snprintf(
        buffer, INPUT_NOTE_MAX,
        "%.700s:%u: leak is not counted, as in Timeloop v3; if it is the energy of a cycle, as in v4, give "
        "an action arguments: {global_cycle_seconds: 1e-9}",
        ert ? ert : path, arch->unread_leak_line);
    return buffer;
}

void input_note_leak(const struct architecture *arch, const struct cli_args *args,
                     const struct console *console)
{
    char text[INPUT_NOTE_MAX];
    if (input_leak_note(arch, cli_value(args, "ert"), args->operand[0], text))
        fprintf(console->err, "dse: note: %s\n", text);
}

static bool is_network(void *user, const char *name)
{
    char path[RESOLVE_PATH_MAX];
    struct dse_error unknown;
    (void)user;
    return resolve_name(RESOLVE_NETWORK, name, NULL, path, sizeof path, &unknown) == DSE_OK &&
           access(path, F_OK) == 0;
}

enum dse_status input_network_settings(const struct cli_args *args, struct arena *arena,
                                       struct network_settings *settings, struct dse_error *err)
{
    const size_t n_most = args ? args->n_value : 0;
    struct network_set *set = arena_alloc(arena, n_most, sizeof *set);
    *settings = (struct network_settings){.set = set};
    DSE_TRY(arena_check(arena, "the parameters of a network", err));
    for (size_t i = 0; i < n_most; i++) {
        char name[INPUT_SET_TEXT_MAX];
        const char *value;
        size_t k = 0;
        if (!is_set(args, i, true))
            continue;
        DSE_TRY(input_split_set("set", args->value[i].text, name, sizeof name, &value, err));
        while (k < settings->n && strcmp(set[k].name, name + PREFIX_LENGTH) != 0)
            k++;
        set[k] = (struct network_set){
            .name = arena_copy_text(arena, name + PREFIX_LENGTH, strlen(name + PREFIX_LENGTH)),
            .value = value};
        settings->n += k == settings->n;
        DSE_TRY(arena_check(arena, "the parameters of a network", err));
    }
    return DSE_OK;
}

enum dse_status input_no_network_set(const struct cli_args *args, const char *what, struct dse_error *err)
{
    char shown[96];
    for (size_t i = 0; args && i < args->n_value; i++)
        if (is_set(args, i, true))
            return dse_fail(err, DSE_BAD_USAGE, "--set %s: %s has no parameters of a network",
                            text_excerpt(args->value[i].text, shown, sizeof shown), what);
    return DSE_OK;
}

static enum dse_status read_network(const char *name, const struct network_settings *settings,
                                    struct network *network, struct dse_error *err)
{
    char path[RESOLVE_PATH_MAX];
    DSE_TRY(resolve_name(RESOLVE_NETWORK, name, NULL, path, sizeof path, err));
    return network_read_with(path, settings, NULL, network, err);
}

/* Reads several and joins them; memory of `arena`. */
static enum dse_status read_networks(const char *const *name, size_t n, struct network_settings settings,
                                     struct arena *arena, struct network *network, struct dse_error *err)
{
    struct network *part = arena_alloc(arena, n, sizeof *part);
    size_t n_read = 0;
    settings.may_lack = true;
    enum dse_status status = arena_check(arena, "joined networks", err);
    while (status == DSE_OK && n_read < n)
        if ((status = read_network(name[n_read], &settings, &part[n_read], err)) == DSE_OK)
            n_read++;
    if (status == DSE_OK)
        status = network_join(part, (uint32_t)n, network, err);
    for (size_t i = 0; i < n_read; i++)
        network_free(&part[i]);
    if (status == DSE_OK && (status = network_has_parameters(network, &settings, err)) != DSE_OK)
        network_free(network);
    return status;
}

static enum dse_status read_named(const char *name, const struct network_settings *settings,
                                  struct arena *arena, struct network *network, struct dse_error *err)
{
    const char *const *part;
    size_t n;
    DSE_TRY(network_names(name, is_network, NULL, arena, &part, &n, err));
    return n == 1 ? read_network(name, settings, network, err)
                  : read_networks(part, n, *settings, arena, network, err);
}

enum dse_status input_network_with(const char *name, const struct network_settings *settings,
                                   struct network *network, struct dse_error *err)
{
    struct arena arena;
    arena_init(&arena);
    const enum dse_status status = read_named(name, settings, &arena, network, err);
    arena_free(&arena);
    return status;
}

enum dse_status input_network(const char *name, const struct cli_args *args, struct network *network,
                              struct dse_error *err)
{
    struct arena arena;
    struct network_settings settings;
    arena_init(&arena);
    enum dse_status status = input_network_settings(args, &arena, &settings, err);
    if (status == DSE_OK)
        status = input_network_with(name, &settings, network, err);
    arena_free(&arena);
    return status;
}

/* With the parameters that a schedule says and that are not given. */
static enum dse_status add_said(const struct yaml_doc *doc, const struct ynode *said, struct arena *arena,
                                struct network_settings *settings, struct dse_error *err)
{
    struct network_set *set = arena_alloc(arena, settings->n + said->n_item, sizeof *set);
    size_t n = settings->n;
    DSE_TRY(arena_check(arena, "the parameters of a network", err));
    for (size_t i = 0; i < settings->n; i++)
        set[i] = settings->set[i];
    for (size_t i = 0; i < said->n_item; i++) {
        bool given = false;
        const char *value;
        DSE_TRY(yaml_text(doc, said->item[i], said->key[i], &value, err));
        for (size_t k = 0; k < settings->n; k++)
            given = given || strcmp(set[k].name, said->key[i]) == 0;
        if (!given)
            set[n++] = (struct network_set){
                .name = said->key[i], .value = value, .file = doc->path, .line = said->item[i]->line};
    }
    settings->set = set;
    settings->n = n;
    return DSE_OK;
}

/* Every parameter has the value that the schedule says, and others their file's own. */
static enum dse_status check_said(const struct yaml_doc *doc, const struct ynode *said,
                                  const struct network *network, struct dse_error *err)
{
    for (uint32_t i = 0; i < network->n_parameter; i++) {
        const struct network_parameter *have = &network->parameter[i];
        const struct ynode *value = said ? yaml_find(said, have->name) : NULL;
        if (value && strcmp(value->text, have->value) != 0)
            return yaml_fail(doc, value, err, "the schedule is for network.%s=%.60s, not %.60s", have->name,
                             value->text, have->value);
        if (!value && !have->is_default)
            return yaml_fail(doc, said ? said : doc->root, err,
                             "the schedule is for the %s that network %s has by its file, not %.60s; one for "
                             "that says \"parameters: {%s: %.60s}\"",
                             have->name, network->name, have->value, have->name, have->value);
    }
    return DSE_OK;
}

static enum dse_status check_network_name(const struct network *network, const struct yaml_doc *doc,
                                          struct dse_error *err)
{
    const struct ynode *said = yaml_find(doc->root, "network");
    const char *text;
    if (!said)
        return DSE_OK;
    DSE_TRY(yaml_text(doc, said, "network", &text, err));
    return strcmp(text, network->name) == 0
               ? DSE_OK
               : yaml_fail(doc, said, err, "the schedule is for network \"%.100s\", not %s", text,
                           network->name);
}

/* Before its parameters: another network may not have them. One that cannot be read without them says so
 * when they are set. */
static enum dse_status check_bare_name(const char *name, const struct yaml_doc *doc, struct arena *arena,
                                       struct dse_error *err)
{
    const struct network_settings none = {0};
    struct network network;
    struct dse_error unused;
    if (!yaml_find(doc->root, "network") || read_named(name, &none, arena, &network, &unused) != DSE_OK)
        return DSE_OK;
    const enum dse_status status = check_network_name(&network, doc, err);
    network_free(&network);
    return status;
}

static enum dse_status read_said(const char *name, const struct cli_args *args, const struct yaml_doc *doc,
                                 struct arena *arena, struct network *network, struct dse_error *err)
{
    const struct ynode *said = yaml_find(doc->root, "parameters");
    struct network_settings settings;
    DSE_TRY(check_bare_name(name, doc, arena, err));
    if (said)
        DSE_TRY(yaml_is_mapping(doc, said, "parameters", err));
    DSE_TRY(input_network_settings(args, arena, &settings, err));
    if (said)
        DSE_TRY(add_said(doc, said, arena, &settings, err));
    DSE_TRY(read_named(name, &settings, arena, network, err));
    enum dse_status status = check_network_name(network, doc, err);
    if (status == DSE_OK)
        status = check_said(doc, said, network, err);
    if (status != DSE_OK)
        network_free(network);
    return status;
}

enum dse_status input_schedule_network(const char *name, const struct cli_args *args, const char *path,
                                       const char *text, size_t length, struct network *network,
                                       struct dse_error *err)
{
    struct arena arena;
    struct yaml_doc doc;
    DSE_TRY(yaml_parse(&doc, path, text, length, err));
    arena_init(&arena);
    const enum dse_status status = read_said(name, args, &doc, &arena, network, err);
    arena_free(&arena);
    yaml_doc_free(&doc);
    return status;
}

enum dse_status input_problems(const char *const *name, size_t n, const struct cli_args *args,
                               struct network *network, struct dse_error *err)
{
    char *bytes;
    size_t length;
    if (n == 1)
        return input_network(name[0], args, network, err);
    DSE_TRY(input_no_network_set(args, "a list of problem files", err));
    DSE_TRY(network_list_problems("problems", name, n, &bytes, &length, err));
    enum dse_status status = network_parse("the problems", bytes, length, network, err);
    free(bytes);
    return status;
}

static enum dse_status unknown_layer(const struct network *network, const char *name, struct dse_error *err)
{
    char shown[96];
    const char **known = malloc((network->n_layer ? network->n_layer : 1) * sizeof *known);
    if (!known)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the layer names");
    for (uint32_t i = 0; i < network->n_layer; i++)
        known[i] = network->layer[i].name;
    const char *nearest = text_nearest(name, known, network->n_layer);
    for (uint32_t i = 0; !nearest && name[0] && i < network->n_layer; i++)
        if (strncmp(known[i], name, strlen(name)) == 0) /* "conv2" of "conv2_0_a" */
            nearest = known[i];
    free(known);
    text_excerpt(name, shown, sizeof shown);
    if (nearest)
        return dse_fail(err, DSE_BAD_INPUT, "network %s has no layer \"%s\"; did you mean %s?", network->name,
                        shown, nearest);
    return dse_fail(err, DSE_BAD_INPUT, "network %s has no layer \"%s\"; its first is %s", network->name,
                    shown, network->n_layer ? network->layer[0].name : "missing");
}

enum dse_status input_layer(const struct network *network, const char *name, uint32_t *index,
                            struct dse_error *err)
{
    int i = network_find_layer(network, name);
    if (i < 0)
        return unknown_layer(network, name, err);
    if (!layer_has_macs(&network->layer[i]))
        return dse_fail(err, DSE_BAD_INPUT,
                        "layer %s of %s is of type %s, without multiply-accumulates to map", name,
                        network->name, layer_type_text(network->layer[i].type));
    *index = (uint32_t)i;
    return DSE_OK;
}

static enum dse_status layer_of(const char *name, const char *colon, const struct cli_args *args,
                                uint32_t batch, struct problem *problem, struct dse_error *err)
{
    char network_name[RESOLVE_PATH_MAX];
    struct network network;
    uint32_t index;
    snprintf(network_name, sizeof network_name, "%.*s", (int)(colon - name), name);
    DSE_TRY(input_network(network_name, args, &network, err));
    enum dse_status status = input_layer(&network, colon + 1, &index, err);
    if (status == DSE_OK)
        status = layer_problem(&network.layer[index], batch, problem, err);
    network_free(&network);
    return status;
}

/* A whole network where one layer is needed: say how one is written. */
static enum dse_status needs_layer(const char *name, const struct cli_args *args, struct dse_error *err)
{
    struct network network;
    uint32_t i = 0;
    DSE_TRY(input_network(name, args, &network, err));
    while (i + 1 < network.n_layer && !layer_has_macs(&network.layer[i]))
        i++;
    enum dse_status status = dse_fail(err, DSE_BAD_INPUT,
                                      "%s is a whole network, which needs a fused schedule that can be read; "
                                      "for a mapping write NETWORK:LAYER, for instance %s:%s",
                                      name, name, network.n_layer ? network.layer[i].name : "conv1");
    network_free(&network);
    return status;
}

/* The layer of a file that holds just one. */
static enum dse_status only_layer(const char *name, const struct cli_args *args, uint32_t batch,
                                  struct problem *problem, struct dse_error *err)
{
    struct network network;
    DSE_TRY(input_network(name, args, &network, err));
    enum dse_status status = layer_problem(network.layer, batch, problem, err);
    network_free(&network);
    return status;
}

enum file_kind { FILE_PROBLEM, FILE_NETWORK, FILE_LAYER };

/* What lies there; a folder holds several problems. */
static enum file_kind kind_of_file(const char *path)
{
    struct yaml_doc doc;
    struct stat info;
    if ((stat(path, &info) == 0 && S_ISDIR(info.st_mode)) || interstellar_is_table(path, "", 0) ||
        onnx_is_path(path))
        return FILE_NETWORK;
    if (yaml_read(&doc, path, NULL) != DSE_OK)
        return FILE_PROBLEM; /* its reader says what is wrong */
    enum file_kind kind = interstellar_is_layer(&doc)                                         ? FILE_LAYER
                          : yaml_find(doc.root, "network") && !yaml_find(doc.root, "problem") ? FILE_NETWORK
                                                                                              : FILE_PROBLEM;
    yaml_doc_free(&doc);
    return kind;
}

/* PROBLEM without a layer's name: a file of one, or a network by mistake. */
static enum dse_status whole_problem(const char *name, const struct cli_args *args, uint32_t batch,
                                     struct problem *problem, struct dse_error *err)
{
    char path[RESOLVE_PATH_MAX];
    struct dse_error inner = {0};
    if (access(name, F_OK) == 0) {
        enum file_kind kind = kind_of_file(name);
        if (kind == FILE_PROBLEM)
            DSE_TRY(input_no_network_set(args, name, err));
        return kind == FILE_NETWORK ? needs_layer(name, args, err)
               : kind == FILE_LAYER ? only_layer(name, args, batch, problem, err)
                                    : problem_read(name, problem, err);
    }
    if (strpbrk(name, "/."))
        return problem_read(name, problem, err);
    if (resolve_name(RESOLVE_NETWORK, name, NULL, path, sizeof path, &inner) == DSE_OK)
        return needs_layer(name, args, err);
    return dse_fail(err, DSE_BAD_INPUT,
                    "%.60s is neither a problem file nor NETWORK:LAYER, such as resnet50:conv1 (%.300s)",
                    name, inner.text);
}

enum dse_status input_problem(const char *name, const struct cli_args *args, uint32_t batch,
                              struct problem *problem, struct dse_error *err)
{
    const char *colon = strrchr(name, ':');
    char network[RESOLVE_PATH_MAX];
    if (colon && colon != name && colon[1] && !strchr(colon, '/'))
        return layer_of(name, colon, args, batch, problem, err);
    if (!colon || colon == name || colon[1])
        return whole_problem(name, args, batch, problem, err);
    snprintf(network, sizeof network, "%.*s", (int)(colon - name), name); /* the layer is missing */
    return whole_problem(network, args, batch, problem, err);
}

enum dse_status input_constraints(const char *path, struct yaml_doc *doc, const struct ynode **list,
                                  struct dse_error *err)
{
    DSE_TRY(yaml_read(doc, path, err));
    if (timeloop_is_constraints(doc)) {
        struct yaml_doc theirs = *doc;
        memset(doc, 0, sizeof *doc);
        enum dse_status status = timeloop_constraints_read(&theirs, doc, err);
        yaml_doc_free(&theirs);
        *list = doc->root;
        return status;
    }
    const struct ynode *found = yaml_find(doc->root, "constraints");
    *list = found ? found : doc->root;
    if (interstellar_is_schedule(*list))
        return DSE_OK;
    if (!found && doc->root->kind == YNODE_MAPPING)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                           "a list of constraints is expected, or a key \"constraints\" that has one, or a "
                           "Timeloop file with architecture_constraints or mapspace_constraints");
    return yaml_is_sequence(doc, *list, "constraints", err);
}
