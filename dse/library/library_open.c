/* Version, metrics, machines and networks of libdse; and how its functions hand errors out. */
#include <build_info.h>
#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/metric.h"
#include "base/text.h"
#include "dse/inputs/inputs.h"
#include "dse/library/library.h"

#define NETWORK_PREFIX "network."

_Static_assert((int)DSE_CODE_INPUT == DSE_BAD_INPUT && (int)DSE_CODE_USAGE == DSE_BAD_USAGE &&
                   (int)DSE_CODE_IO == DSE_IO && (int)DSE_CODE_MEMORY == DSE_NO_MEMORY &&
                   (int)DSE_CODE_LIMIT == DSE_LIMIT && (int)DSE_CODE_CANCELLED == DSE_INTERRUPTED &&
                   (int)DSE_CODE_INTERNAL == DSE_INTERNAL,
               "codes are the statuses inside");

/* What main does for the program. */
__attribute__((constructor)) static void library_begin(void)
{
    gsl_set_error_handler_off();
}

int library_return(enum dse_status status, const struct dse_error *err, char *error, size_t size)
{
    if (status != DSE_OK && error && size)
        (void)dse_error_print(err, error, size);
    return (int)status;
}

enum dse_status library_need(const void *pointer, const char *what, struct dse_error *err)
{
    return pointer ? DSE_OK : dse_fail(err, DSE_BAD_USAGE, "the %s is NULL", what);
}

enum dse_status library_need_pairs(const char *const *pair, size_t n, const char *what, struct dse_error *err)
{
    if (n == 0)
        return DSE_OK;
    DSE_TRY(library_need(pair, what, err));
    for (size_t i = 0; i < 2 * n; i++)
        if (!pair[i] || !pair[i][0])
            return dse_fail(err, DSE_BAD_USAGE, "%s: pair %zu has no %s", what, i / 2,
                            i % 2 ? "value" : "name");
    return DSE_OK;
}

const char *dse_version(void)
{
    return DSE_VERSION;
}

const char *dse_metric(size_t i, const char **unit, const char **sentence, int *better)
{
    size_t n;
    const struct metric *metric = metric_all(&n) + i;
    if (i >= n)
        return NULL;
    if (unit)
        *unit = metric->unit;
    if (sentence)
        *sentence = metric->sentence;
    if (better)
        *better = metric_direction(metric);
    return metric->name;
}

/* Two names are no quantities but files, as --ert and --art. */
static enum dse_status read_overrides(const char *const *set, size_t n_set, struct input_overrides *overrides,
                                      struct dse_error *err)
{
    char shown[96];
    *overrides = (struct input_overrides){0};
    if (n_set > INPUT_SET_MAX)
        return dse_fail(err, DSE_LIMIT, "more than %d quantities of a machine are set", INPUT_SET_MAX);
    DSE_TRY(library_need_pairs(set, n_set, "quantities", err));
    for (size_t i = 0; i < n_set; i++) {
        const char *path = set[2 * i], *value = set[2 * i + 1];
        const char **file = strcmp(path, "ert") == 0   ? &overrides->ert
                            : strcmp(path, "art") == 0 ? &overrides->art
                                                       : NULL;
        if (file)
            *file = value;
        else if (!text_copy(overrides->path[overrides->n], INPUT_SET_TEXT_MAX, path))
            return dse_fail(err, DSE_BAD_INPUT, "%s: no quantity has so long a path",
                            text_excerpt(path, shown, sizeof shown));
        else
            overrides->value[overrides->n++] = value;
    }
    return DSE_OK;
}

static enum dse_status open_machine(const char *name, const char *const *set, size_t n_set,
                                    struct dse_machine **machine, struct dse_error *err)
{
    struct input_overrides overrides;
    DSE_TRY(library_need(name, "name of the machine", err));
    DSE_TRY(read_overrides(set, n_set, &overrides, err));
    struct dse_machine *made = malloc(sizeof *made);
    if (!made)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a machine");
    const enum dse_status status = input_architecture(name, &overrides, &made->arch, err);
    if (status == DSE_OK)
        *machine = made;
    else
        free(made);
    return status;
}

int dse_machine_open(const char *name, const char *const *set, size_t n_set, struct dse_machine **machine,
                     char *error, size_t error_size)
{
    struct dse_error err = {0};
    enum dse_status status = library_need(machine, "place for the machine", &err);
    if (status == DSE_OK) {
        *machine = NULL;
        status = open_machine(name, set, n_set, machine, &err);
    }
    return library_return(status, &err, error, error_size);
}

void dse_machine_free(struct dse_machine *machine)
{
    free(machine);
}

static const char *bare_name(const char *name)
{
    const size_t n = sizeof NETWORK_PREFIX - 1;
    return strncmp(name, NETWORK_PREFIX, n) == 0 ? name + n : name;
}

/* The last of each name counts, as on a command line. */
static enum dse_status read_settings(const char *const *set, size_t n_set, struct arena *arena,
                                     struct network_settings *settings, struct dse_error *err)
{
    DSE_TRY(library_need_pairs(set, n_set, "parameters", err));
    struct network_set *all = arena_alloc(arena, n_set, sizeof *all);
    DSE_TRY(arena_check(arena, "the parameters of a network", err));
    *settings = (struct network_settings){.set = all};
    for (size_t i = 0; i < n_set; i++) {
        const char *name = bare_name(set[2 * i]);
        size_t k = 0;
        while (k < settings->n && strcmp(all[k].name, name) != 0)
            k++;
        all[k] = (struct network_set){.name = name, .value = set[2 * i + 1]};
        settings->n += k == settings->n;
    }
    return DSE_OK;
}

/* What is to be read: a file, or a text. */
struct network_source {
    const char *name;
    const char *const *set;
    size_t n_set;
    const char *text;
    size_t length;
};

static enum dse_status read_network(const struct network_source *from, struct network *network,
                                    struct dse_error *err)
{
    struct network_settings settings;
    struct arena arena;
    if (from->text)
        return network_parse("the network", from->text, from->length, network, err);
    arena_init(&arena);
    enum dse_status status = library_need(from->name, "name of the network", err);
    if (status == DSE_OK)
        status = read_settings(from->set, from->n_set, &arena, &settings, err);
    if (status == DSE_OK)
        status = input_network_with(from->name, &settings, network, err);
    arena_free(&arena);
    return status;
}

static int open_network(const struct network_source *from, struct dse_network **network, char *error,
                        size_t error_size)
{
    struct dse_error err = {0};
    struct dse_network *made = NULL;
    enum dse_status status = library_need(network, "place for the network", &err);
    if (status == DSE_OK) {
        *network = NULL;
        made = malloc(sizeof *made);
        status = made ? read_network(from, &made->network, &err)
                      : dse_fail(&err, DSE_NO_MEMORY, "out of memory for a network");
    }
    if (status == DSE_OK)
        *network = made;
    else
        free(made);
    return library_return(status, &err, error, error_size);
}

int dse_network_open(const char *name, const char *const *set, size_t n_set, struct dse_network **network,
                     char *error, size_t error_size)
{
    const struct network_source from = {.name = name, .set = set, .n_set = n_set};
    return open_network(&from, network, error, error_size);
}

int dse_network_parse(const char *text, size_t length, struct dse_network **network, char *error,
                      size_t error_size)
{
    struct dse_error err = {0};
    const struct network_source from = {.text = text, .length = length};
    const enum dse_status status = library_need(text, "text of the network", &err);
    return status == DSE_OK ? open_network(&from, network, error, error_size)
                            : library_return(status, &err, error, error_size);
}

void dse_network_free(struct dse_network *network)
{
    if (network)
        network_free(&network->network);
    free(network);
}

const char *dse_network_layer(const struct dse_network *network, size_t i, const char **type, uint64_t *count,
                              uint64_t *mac)
{
    if (!network || i >= network->network.n_layer)
        return NULL;
    const struct layer *layer = &network->network.layer[i];
    if (type)
        *type = layer_type_text(layer->type);
    if (count)
        *count = layer->count;
    if (mac)
        *mac = layer_macs(layer, layer->batch ? layer->batch : 1);
    return layer->name;
}
