/* Reads the parts of a specification file and applies --set to them, with the line of each value for later
 * errors; nothing is looked up yet. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "dse/inputs/inputs.h"
#include "dse/inputs/resolve.h"
#include "dse/spec/spec.h"

/* Beside the axes that are keys as well. */
static const char *const top_keys[] = {"experiment",  "title", "source",  "layers",    "options", "limits",
                                       "constraints", "set",   "axes",    "zip",       "points",  "skip",
                                       "only",        "plot",  "measure", "isolation", "exchange"};

enum { N_TOP_KEY = sizeof top_keys / sizeof top_keys[0] };

const char *const spec_limit_key[] = {"max_evaluations",   "point_max_evaluations", "max_seconds",
                                      "point_max_seconds", "grace_seconds",         "max_memory"};

enum dse_status spec_fail(const struct sweep_spec *spec, const struct spec_text *text, struct dse_error *err,
                          const char *format, ...)
{
    char words[DSE_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (text->line == 0)
        return dse_fail(err, DSE_BAD_INPUT, "--set: %s", words);
    return dse_fail_at(err, DSE_BAD_INPUT, spec->path, text->line, "%s", words);
}

enum dse_status spec_blame(const struct sweep_spec *spec, const struct spec_text *text,
                           const struct dse_error *inner, struct dse_error *err)
{
    /* The architecture reader does not know where its overrides come from and says so; here it is known. */
    const char *remark = strstr(inner->text, " (set by an axis or --set");
    int length = remark ? (int)(remark - inner->text) : (int)strlen(inner->text);
    if (inner->file[0] && inner->line > 0)
        return spec_fail(spec, text, err, "%.*s (%s:%d)", length, inner->text, inner->file, inner->line);
    if (inner->file[0])
        return spec_fail(spec, text, err, "%s: %.*s", inner->file, length, inner->text);
    return spec_fail(spec, text, err, "%.*s", length, inner->text);
}

/* yaml_check_keys, which with faults goes on to the next key. */
static enum dse_status check_keys(struct sweep_spec *spec, const struct ynode *node, const char *what,
                                  const char *const *allowed, size_t n_allowed, struct dse_error *err)
{
    if (!spec->faults || node->kind != YNODE_MAPPING)
        return yaml_check_keys(&spec->doc, node, what, allowed, n_allowed, err);
    for (size_t i = 0; i < node->n_item; i++) {
        struct ynode one = *node;
        one.n_item = 1;
        one.item = node->item + i;
        one.key = node->key + i;
        one.key_line = node->key_line + i;
        DSE_NOTE(spec->faults, yaml_check_keys(&spec->doc, &one, what, allowed, n_allowed, err));
    }
    return DSE_OK;
}

static enum dse_status read_scalar(const struct sweep_spec *spec, const char *key, struct spec_text *out,
                                   struct dse_error *err)
{
    const struct ynode *node = yaml_find(spec->doc.root, key);
    if (!node)
        return DSE_OK;
    if (node->kind == YNODE_SEQUENCE)
        return yaml_fail(&spec->doc, node, err,
                         "%s is one value here; to sweep over several, list them under axes", key);
    DSE_TRY(yaml_text(&spec->doc, node, key, &out->text, err));
    out->line = node->line;
    return DSE_OK;
}

static enum dse_status read_name(struct sweep_spec *spec, struct dse_error *err)
{
    const struct ynode *node;
    struct spec_text title = {NULL, 0};
    DSE_TRY(yaml_require(&spec->doc, spec->doc.root, "a sweep specification", "experiment", &node, err));
    DSE_TRY(yaml_text(&spec->doc, node, "experiment", &spec->name, err));
    static const char accepted[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (spec->name[0] == '\0' || spec->name[0] == '.' || strspn(spec->name, accepted) != strlen(spec->name) ||
        strlen(spec->name) >= SPEC_NAME_MAX)
        return yaml_fail(
            &spec->doc, node, err,
            "experiment: \"%.60s\" becomes a file name; use letters, digits, _ - and . (at most %d)",
            spec->name, SPEC_NAME_MAX - 1);
    DSE_TRY(read_scalar(spec, "title", &title, err));
    spec->title = title.text ? title.text : spec->name;
    return DSE_OK;
}

static enum dse_status read_layers(struct sweep_spec *spec, struct dse_error *err)
{
    const struct ynode *node = yaml_find(spec->doc.root, "layers");
    if (!node)
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(&spec->doc, node, "layers", err));
    if (node->n_item == 0)
        return yaml_fail(&spec->doc, node, err, "layers is empty; leave it out to take all layers");
    struct spec_text *list = arena_alloc(&spec->arena, node->n_item, sizeof *list);
    DSE_TRY(arena_check(&spec->arena, "a specification", err));
    for (size_t i = 0; i < node->n_item; i++) {
        DSE_TRY(yaml_text(&spec->doc, node->item[i], "a layer", &list[i].text, err));
        list[i].line = node->item[i]->line;
        for (size_t k = 0; k < i; k++)
            if (strcmp(list[i].text, list[k].text) == 0)
                return yaml_fail(&spec->doc, node->item[i], err, "layers: %s is listed twice", list[i].text);
    }
    spec->layer = list;
    spec->n_layer = node->n_item;
    return DSE_OK;
}

static enum dse_status add_option(struct sweep_spec *spec, const char *engine, const char *name,
                                  const struct ynode *node, struct dse_error *err)
{
    struct spec_option *option = &spec->option[spec->n_option];
    option->engine = engine;
    option->name = name;
    DSE_TRY(yaml_text(&spec->doc, node, name, &option->value.text, err));
    option->value.line = node->line;
    spec->n_option++;
    return DSE_OK;
}

/* options: {NAME: VALUE, ENGINE: {NAME: VALUE}} */
static enum dse_status read_options(struct sweep_spec *spec, size_t n_set, struct dse_error *err)
{
    const struct ynode *node = yaml_find(spec->doc.root, "options");
    size_t n = n_set;
    if (node) {
        DSE_TRY(yaml_is_mapping(&spec->doc, node, "options", err));
        for (size_t i = 0; i < node->n_item; i++)
            n += node->item[i]->kind == YNODE_MAPPING ? node->item[i]->n_item : 1;
    }
    spec->option = arena_alloc(&spec->arena, n ? n : 1, sizeof *spec->option);
    DSE_TRY(arena_check(&spec->arena, "a specification", err));
    for (size_t i = 0; node && i < node->n_item; i++) {
        const struct ynode *item = node->item[i];
        if (item->kind != YNODE_MAPPING)
            DSE_NOTE(spec->faults, add_option(spec, NULL, node->key[i], item, err));
        else
            for (size_t k = 0; k < item->n_item; k++)
                DSE_NOTE(spec->faults, add_option(spec, node->key[i], item->key[k], item->item[k], err));
    }
    return DSE_OK;
}

static enum dse_status read_override(struct sweep_spec *spec, const char *path, int line,
                                     const struct ynode *node, struct dse_error *err)
{
    const struct axis_kind *kind = axis_kind_of(path);
    const bool is_parameter = kind->target == SPEC_PARAMETER;
    struct spec_override *o =
        is_parameter ? &spec->parameter[spec->n_parameter] : &spec->override[spec->n_override];
    if (kind->target != SPEC_QUANTITY && !is_parameter)
        return dse_fail_at(err, DSE_BAD_INPUT, spec->path, line,
                           "set: %s is no quantity of the architecture; write it %s", path,
                           kind->target == SPEC_OPTION ? "under options" : "at the top of the file");
    *o = (struct spec_override){.path = is_parameter ? axis_kind_rest(kind, path) : path,
                                .value.line = node->line};
    DSE_TRY(yaml_text(&spec->doc, node, path, &o->value.text, err));
    spec->n_override += !is_parameter;
    spec->n_parameter += is_parameter;
    return DSE_OK;
}

static enum dse_status read_overrides(struct sweep_spec *spec, size_t n_set, struct dse_error *err)
{
    const struct ynode *node = yaml_find(spec->doc.root, "set");
    if (node)
        DSE_TRY(yaml_is_mapping(&spec->doc, node, "set", err));
    const size_t n_most = (node ? node->n_item : 0) + n_set + 1;
    spec->override = arena_alloc(&spec->arena, n_most, sizeof *spec->override);
    spec->parameter = arena_alloc(&spec->arena, n_most, sizeof *spec->parameter);
    DSE_TRY(arena_check(&spec->arena, "a specification", err));
    for (size_t i = 0; node && i < node->n_item; i++)
        DSE_NOTE(spec->faults, read_override(spec, node->key[i], node->key_line[i], node->item[i], err));
    return DSE_OK;
}

static enum dse_status read_limit(struct sweep_spec *spec, size_t i, const struct ynode *node,
                                  struct dse_error *err)
{
    char name[40];
    const char *text;
    uint64_t count;
    double seconds;
    snprintf(name, sizeof name, "limits.%s", spec_limit_key[i]);
    if (i == SPEC_EVALUATIONS || i == SPEC_POINT_EVALUATIONS)
        DSE_TRY(yaml_u64(&spec->doc, node, name, 0, UINT64_MAX / 2, &count, err));
    else if (i != SPEC_MEMORY)
        DSE_TRY(yaml_double(&spec->doc, node, name, 0, 1e9, &seconds, err));
    else
        DSE_TRY(yaml_text(&spec->doc, node, name, &text, err));
    spec->limit[i] = (struct spec_text){node->text, node->line};
    return DSE_OK;
}

static enum dse_status read_limits(struct sweep_spec *spec, struct dse_error *err)
{
    const struct ynode *limits = yaml_find(spec->doc.root, "limits");
    if (!limits)
        return DSE_OK;
    DSE_TRY(check_keys(spec, limits, "limits", spec_limit_key, SPEC_LIMIT_COUNT, err));
    for (size_t i = 0; i < SPEC_LIMIT_COUNT; i++) {
        const struct ynode *node = yaml_find(limits, spec_limit_key[i]);
        if (node)
            DSE_NOTE(spec->faults, read_limit(spec, i, node, err));
    }
    return DSE_OK;
}

static enum dse_status read_lists(struct sweep_spec *spec, struct dse_error *err)
{
    static const char *const keys[] = {"constraints", "skip", "only"};
    const struct ynode **out[] = {&spec->constraints, &spec->skip, &spec->only};
    static const char *const plot_keys[] = {"x",     "y",     "metric",   "kind",
                                            "title", "color", "relative", "winner"};
    for (size_t i = 0; i < 3; i++) {
        *out[i] = yaml_find(spec->doc.root, keys[i]);
        if (*out[i])
            DSE_TRY(yaml_is_sequence(&spec->doc, *out[i], keys[i], err));
        if (*out[i] && (*out[i])->n_item == 0)
            return yaml_fail(&spec->doc, *out[i], err, "%s is empty; leave it out", keys[i]);
    }
    spec->plot = yaml_find(spec->doc.root, "plot");
    if (!spec->plot)
        return DSE_OK;
    DSE_TRY(yaml_check_keys(&spec->doc, spec->plot, "plot", plot_keys, sizeof plot_keys / sizeof *plot_keys,
                            err));
    for (size_t i = 0; i < spec->plot->n_item; i++) {
        const char *text;
        DSE_TRY(yaml_text(&spec->doc, spec->plot->item[i], spec->plot->key[i], &text, err));
    }
    return DSE_OK;
}

static enum dse_status add_measure(struct sweep_spec *spec, const char *word, int line, struct dse_error *err)
{
    struct dse_error inner = {0};
    enum dse_status status = measure_add(&spec->measure, word, &inner);
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, spec->path, line, "%s", inner.text);
}

/* What stands behind a word; nothing at all is fine. */
static enum dse_status read_measure_settings(struct sweep_spec *spec, const char *word,
                                             const struct ynode *node, struct dse_error *err)
{
    size_t n;
    char what[64];
    const int i = measure_find(word);
    const struct measure *measure = measure_all(&n)[i];
    if (node->kind == YNODE_SCALAR && node->text[0] == '\0')
        return DSE_OK;
    if (!measure->limit) {
        if (node->kind == YNODE_MAPPING && node->n_item == 0)
            return DSE_OK;
        return yaml_fail(&spec->doc, node, err, "measure: %s has no settings; write {%s: }", word, word);
    }
    snprintf(what, sizeof what, "measure.%s", word);
    const char *const keys[] = {measure->limit, measure->choice};
    DSE_TRY(yaml_check_keys(&spec->doc, node, what, keys, measure->choice ? 2 : 1, err));
    const struct ynode *limit = yaml_find(node, measure->limit);
    const struct ynode *choice = measure->choice ? yaml_find(node, measure->choice) : NULL;
    uint64_t n_choice = 0;
    if (limit)
        DSE_TRY(yaml_u64(&spec->doc, limit, measure->limit, 0, UINT32_MAX, &spec->measure.limit[i], err));
    if (!choice)
        return DSE_OK;
    DSE_TRY(yaml_u64(&spec->doc, choice, measure->choice, 1, measure->choice_highest, &n_choice, err));
    return measure_choose(&spec->measure, i, n_choice, err);
}

/* measure: [noc, cosa], or {noc: {max_steps: N, simulations: N}, cosa: } where something is to be said about
 * one of them. */
static enum dse_status read_measure(struct sweep_spec *spec, struct dse_error *err)
{
    const struct ynode *node = yaml_find(spec->doc.root, "measure");
    if (!node)
        return DSE_OK;
    spec->measure_line = node->line;
    if (node->kind == YNODE_SCALAR)
        return yaml_fail(&spec->doc, node, err, "measure: a list is expected, as in measure: [noc]");
    for (size_t i = 0; i < node->n_item; i++) {
        const char *word;
        if (node->kind == YNODE_SEQUENCE) {
            DSE_TRY(yaml_text(&spec->doc, node->item[i], "measure", &word, err));
            DSE_TRY(add_measure(spec, word, node->item[i]->line, err));
        } else {
            DSE_TRY(add_measure(spec, node->key[i], node->key_line[i], err));
            DSE_TRY(read_measure_settings(spec, node->key[i], node->item[i], err));
        }
    }
    return DSE_OK;
}

/* The setting of that name, or NULL. */
static struct spec_text *setting(struct sweep_spec *spec, const char *key)
{
    if (strcmp(key, "isolation") == 0)
        return &spec->isolation;
    if (strcmp(key, "exchange") == 0)
        return &spec->exchange;
    for (size_t i = 0; i < SPEC_LIMIT_COUNT; i++)
        if (strncmp(key, "limits.", 7) == 0 && strcmp(key + 7, spec_limit_key[i]) == 0)
            return &spec->limit[i];
    size_t n;
    const struct axis_kind *kind = axis_kind_of(key);
    return kind->is_key ? &spec->fixed[kind - axis_kind_all(&n)] : NULL;
}

static enum dse_status apply_set(struct sweep_spec *spec, const char *text, struct dse_error *err)
{
    char key[INPUT_SET_TEXT_MAX];
    const char *value;
    DSE_TRY(input_split_set("set", text, key, sizeof key, &value, err));
    char *name = arena_copy_text(&spec->arena, key, strlen(key));
    char *copy = arena_copy_text(&spec->arena, value, strlen(value));
    DSE_TRY(arena_check(&spec->arena, "a specification", err));
    if (spec_find_variable(spec, name))
        return dse_fail(err, DSE_BAD_USAGE, "--set %s: it is an axis of %s; --set is for what is not swept",
                        name, spec->path);
    struct spec_text *where = setting(spec, name);
    if (where) {
        *where = (struct spec_text){copy, 0};
    } else if (axis_kind_of(name)->target == SPEC_OPTION) {
        spec->option[spec->n_option++] =
            (struct spec_option){NULL, axis_kind_rest(axis_kind_of(name), name), {copy, 0}};
    } else if (axis_kind_of(name)->target == SPEC_PARAMETER) {
        spec->parameter[spec->n_parameter++] =
            (struct spec_override){axis_kind_rest(axis_kind_of(name), name), {copy, 0}};
    } else {
        spec->override[spec->n_override++] = (struct spec_override){name, {copy, 0}};
    }
    return DSE_OK;
}

static enum dse_status keep_set(struct sweep_spec *spec, const char *const *set, size_t n_set,
                                struct dse_error *err)
{
    spec->set = arena_alloc(&spec->arena, n_set + 1, sizeof *spec->set);
    DSE_TRY(arena_check(&spec->arena, "a specification", err));
    for (size_t i = 0; i < n_set; i++)
        spec->set[i] = arena_copy_text(&spec->arena, set[i], strlen(set[i]));
    spec->n_set = n_set;
    return arena_check(&spec->arena, "a specification", err);
}

static enum dse_status read_all(struct sweep_spec *spec, const char *const *set, size_t n_set,
                                struct dse_error *err)
{
    const char *keys[N_TOP_KEY + AXIS_KIND_MAX];
    size_t n_key = N_TOP_KEY, n_kind;
    const struct axis_kind *kind = axis_kind_all(&n_kind);
    memcpy(keys, top_keys, sizeof top_keys);
    for (size_t i = 0; i < n_kind; i++)
        if (kind[i].is_key)
            keys[n_key++] = kind[i].name;
    struct dse_faults *faults = spec->faults;
    DSE_TRY(check_keys(spec, spec->doc.root, "a sweep specification", keys, n_key, err));
    DSE_TRY(yaml_is_mapping(&spec->doc, spec->doc.root, "a sweep specification", err));
    DSE_NOTE(faults, read_name(spec, err));
    for (size_t i = N_TOP_KEY; i < n_key; i++)
        DSE_NOTE(faults, read_scalar(spec, keys[i], setting(spec, keys[i]), err));
    DSE_NOTE(faults, read_scalar(spec, "isolation", &spec->isolation, err));
    DSE_NOTE(faults, read_scalar(spec, "exchange", &spec->exchange, err));
    DSE_NOTE(faults, read_layers(spec, err));
    DSE_NOTE(faults, read_options(spec, n_set, err));
    DSE_NOTE(faults, read_overrides(spec, n_set, err));
    DSE_NOTE(faults, read_limits(spec, err));
    DSE_NOTE(faults, read_lists(spec, err));
    DSE_NOTE(faults, read_measure(spec, err));
    DSE_NOTE(faults, spec_read_axes(spec, err));
    for (size_t i = 0; i < n_set; i++)
        DSE_NOTE(faults, apply_set(spec, set[i], err));
    return DSE_OK;
}

/* The text of `file` into the parts of the specification. */
static enum dse_status read_text(struct sweep_spec *spec, const struct result_input *file,
                                 const char *const *set, size_t n_set, struct dse_error *err)
{
    char dir[RESOLVE_PATH_MAX];
    DSE_TRY(yaml_parse(&spec->doc, file->path, file->content, file->n_byte, err));
    spec->path = file->path;
    spec->text = file->content;
    resolve_folder_of(file->path, dir, sizeof dir);
    spec->base_dir = arena_copy_text(&spec->arena, dir, strlen(dir));
    DSE_TRY(arena_check(&spec->arena, "a specification", err));
    DSE_TRY(keep_set(spec, set, n_set, err));
    return read_all(spec, set, n_set, err);
}

enum dse_status spec_read_all(struct sweep_spec *spec, const char *path, const char *const *set, size_t n_set,
                              struct dse_faults *faults, struct dse_error *err)
{
    struct result_input file;
    memset(spec, 0, sizeof *spec);
    spec->faults = faults;
    arena_init(&spec->arena);
    DSE_TRY(input_store_new(&spec->inputs, err));
    DSE_TRY(input_store_get(spec->inputs, RESOLVE_EXPERIMENT, path, NULL, &file, err));
    return dse_while_reading(file.path, read_text(spec, &file, set, n_set, err), err);
}

enum dse_status spec_read(struct sweep_spec *spec, const char *path, const char *const *set, size_t n_set,
                          struct dse_error *err)
{
    return spec_read_all(spec, path, set, n_set, NULL, err);
}

enum dse_status spec_replay(struct sweep_spec *spec, const struct result_schema *kept, const char *source,
                            struct dse_error *err)
{
    struct result_input file = {.role = NULL};
    memset(spec, 0, sizeof *spec);
    arena_init(&spec->arena);
    DSE_TRY(input_store_replay(kept->input, kept->n_input, source, &spec->inputs, err));
    for (size_t i = 0; i < kept->n_input && !file.role; i++)
        if (strcmp(kept->input[i].role, INPUT_ROLE_SPECIFICATION) == 0)
            file = kept->input[i];
    if (!file.role)
        return dse_fail_at(err, DSE_BAD_INPUT, source, 0, "holds no input of the role %s",
                           INPUT_ROLE_SPECIFICATION);
    return dse_while_reading(file.path, read_text(spec, &file, kept->set, kept->n_set, err), err);
}

void spec_free(struct sweep_spec *spec)
{
    yaml_doc_free(&spec->doc);
    input_store_free(spec->inputs);
    spec->inputs = NULL;
    arena_free(&spec->arena);
}
