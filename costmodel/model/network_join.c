/* Several networks side by side as one: layers of all, one network after the other, under names that say
 * whose they are. */
#include <stdio.h>
#include <string.h>

#include "costmodel/model/network.h"

/* What is copied; `arena` is that of the joined network. */
struct joiner {
    const struct network *from;
    const struct network_part *part;
    uint32_t first_input;
    struct arena *arena;
};

static bool is_taken(const struct network_part *part, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(part[i].name, name) == 0)
            return true;
    return false;
}

/* The network's name, of a second one of that name with -2, and so on. */
static const char *part_name(const struct network_part *part, uint32_t n, const char *name,
                             struct arena *arena)
{
    char text[2 * PROBLEM_NAME_MAX];
    (void)snprintf(text, sizeof text, "%.120s", name);
    for (uint32_t i = 2; is_taken(part, n, text); i++)
        (void)snprintf(text, sizeof text, "%.120s-%u", name, i);
    return arena_copy_text(arena, text, strlen(text));
}

static int32_t joined_producer(const struct joiner *j, int32_t producer)
{
    if (producer == LAYER_NO_PRODUCER)
        return producer;
    return producer >= 0 ? producer + (int32_t)j->part->first_layer : producer - (int32_t)j->first_input;
}

static enum dse_status joined_name(const struct joiner *j, const char *name, const char **out,
                                   struct dse_error *err)
{
    char text[PROBLEM_NAME_MAX];
    const int n = snprintf(text, sizeof text, "%s.%s", j->part->name, name);
    if (n < 0 || (size_t)n >= sizeof text)
        return dse_fail(err, DSE_LIMIT,
                        "layer %s of network %s cannot be joined to others: %s.%s is longer than %d bytes",
                        name, j->from->name, j->part->name, name, PROBLEM_NAME_MAX - 1);
    *out = arena_copy_text(j->arena, text, (size_t)n);
    return DSE_OK;
}

static enum dse_status copy_layer(const struct joiner *j, const struct layer *from, struct layer *to,
                                  struct dse_error *err)
{
    int32_t *producer = arena_alloc(j->arena, from->n_producer, sizeof *producer);
    struct problem *einsum = from->einsum ? arena_alloc(j->arena, 1, sizeof *einsum) : NULL;
    *to = *from;
    DSE_TRY(joined_name(j, from->name, &to->name, err));
    DSE_TRY(arena_check(j->arena, "joined networks", err));
    for (uint32_t i = 0; i < from->n_producer; i++)
        producer[i] = joined_producer(j, from->producer[i]);
    to->producer = producer;
    to->weight_producer = joined_producer(j, from->weight_producer);
    if (einsum)
        *einsum = *from->einsum;
    to->einsum = einsum;
    return DSE_OK;
}

/* The name of the whole, "resnet50+googlenet". */
static const char *whole_name(const struct network *part, uint32_t n, struct arena *arena)
{
    size_t length = 0;
    for (uint32_t i = 0; i < n; i++)
        length += strlen(part[i].name) + 1;
    char *name = arena_alloc(arena, length, 1), *at = name;
    for (uint32_t i = 0; name && i < n; i++)
        at += snprintf(at, length - (size_t)(at - name), "%s%s", i ? "+" : "", part[i].name);
    return name;
}

/* Number of blocks that repeat in all networks. */
static uint32_t count_repeats(const struct network *part, uint32_t n)
{
    uint32_t n_repeat = 0;
    for (uint32_t i = 0; i < n; i++)
        n_repeat += part[i].n_repeat;
    return n_repeat;
}

static enum dse_status copy_repeats(const struct joiner *j, struct network_repeat *to, struct dse_error *err)
{
    for (uint32_t i = 0; i < j->from->n_repeat; i++) {
        to[i] = j->from->repeat[i];
        to[i].first_layer += j->part->first_layer;
        DSE_TRY(joined_name(j, to[i].name, &to[i].name, err));
    }
    return DSE_OK;
}

static uint32_t count_parameters(const struct network *part, uint32_t n)
{
    uint32_t n_parameter = 0;
    for (uint32_t i = 0; i < n; i++)
        n_parameter += part[i].n_parameter;
    return n_parameter;
}

static struct network_parameter *copy_parameters(const struct network *part, uint32_t n, struct arena *arena)
{
    struct network_parameter *list = arena_alloc(arena, count_parameters(part, n), sizeof *list), *at = list;
    for (uint32_t i = 0; list && i < n; i++)
        for (uint32_t k = 0; k < part[i].n_parameter; k++, at++) {
            const struct network_parameter *from = &part[i].parameter[k];
            at->name = arena_copy_text(arena, from->name, strlen(from->name));
            at->value = arena_copy_text(arena, from->value, strlen(from->value));
            at->accepted = arena_copy_text(arena, from->accepted, strlen(from->accepted));
            at->is_default = from->is_default;
        }
    return list;
}

static enum dse_status check_kinds(const struct network *part, uint32_t n, uint32_t *n_layer,
                                   uint32_t *n_input, struct dse_error *err)
{
    *n_layer = *n_input = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (part[i].is_graph != part[0].is_graph)
            return dse_fail(err, DSE_BAD_INPUT,
                            "networks %s and %s cannot be joined: one is a graph, the other a list of layers",
                            part[0].name, part[i].name);
        *n_layer += part[i].n_layer;
        *n_input += part[i].n_input;
        if (*n_layer > NETWORK_LAYER_MAX)
            return dse_fail(err, DSE_LIMIT, "joined networks with more than %d layers", NETWORK_LAYER_MAX);
    }
    return DSE_OK;
}

static enum dse_status join(const struct network *part, uint32_t n, uint32_t n_layer, uint32_t n_input,
                            struct network *out, struct dse_error *err)
{
    struct arena *arena = &out->arena;
    struct layer *layer = arena_alloc(arena, n_layer, sizeof *layer);
    struct network_input *input = arena_alloc(arena, n_input, sizeof *input);
    uint32_t *order = arena_alloc(arena, n_layer, sizeof *order);
    struct network_part *of = arena_alloc(arena, n, sizeof *of);
    struct network_repeat *repeat = arena_alloc(arena, count_repeats(part, n), sizeof *repeat);
    const struct network_parameter *parameter = copy_parameters(part, n, arena);
    const char *name = whole_name(part, n, arena), *not_graph = "";
    for (uint32_t i = n; i-- > 0;)
        if (part[i].not_graph && *part[i].not_graph)
            not_graph = arena_copy_text(arena, part[i].not_graph, strlen(part[i].not_graph));
    DSE_TRY(arena_check(arena, "joined networks", err));
    *out = (struct network){.name = name,
                            .title = "",
                            .source = "",
                            .path = name,
                            .is_graph = part[0].is_graph,
                            .not_graph = not_graph,
                            .published_batch = part[0].published_batch,
                            .n_input = n_input,
                            .input = input,
                            .n_layer = n_layer,
                            .layer = layer,
                            .order = order,
                            .n_part = n,
                            .part = of,
                            .n_repeat = count_repeats(part, n),
                            .repeat = repeat,
                            .n_parameter = count_parameters(part, n),
                            .parameter = parameter,
                            .arena = *arena};
    uint32_t at = 0, in = 0, r = 0;
    for (uint32_t i = 0; i < n; i++) {
        of[i] = (struct network_part){part_name(of, i, part[i].name, &out->arena), at, part[i].n_layer};
        DSE_TRY(arena_check(&out->arena, "joined networks", err));
        const struct joiner j = {&part[i], &of[i], in, &out->arena};
        if (part[i].published_batch != out->published_batch)
            out->published_batch = 0;
        for (uint32_t k = 0; k < part[i].n_input; k++, in++) {
            input[in] = part[i].input[k];
            DSE_TRY(joined_name(&j, input[in].name, &input[in].name, err));
        }
        for (uint32_t l = 0; l < part[i].n_layer; l++, at++) {
            DSE_TRY(copy_layer(&j, &part[i].layer[l], &layer[at], err));
            order[at] = part[i].order[l] + of[i].first_layer;
        }
        DSE_TRY(copy_repeats(&j, repeat + r, err));
        r += part[i].n_repeat;
        out->unroll |= part[i].unroll;
    }
    return arena_check(&out->arena, "joined networks", err);
}

enum dse_status network_join(const struct network *part, uint32_t n, struct network *out,
                             struct dse_error *err)
{
    uint32_t n_layer, n_input;
    *out = (struct network){.name = ""};
    arena_init(&out->arena);
    enum dse_status status = check_kinds(part, n, &n_layer, &n_input, err);
    if (status == DSE_OK)
        status = join(part, n, n_layer, n_input, out, err);
    if (status != DSE_OK)
        network_free(out);
    return status;
}

enum dse_status network_has_parameters(const struct network *network, const struct network_settings *settings,
                                       struct dse_error *err)
{
    for (size_t i = 0; i < settings->n; i++) {
        const struct network_set *set = &settings->set[i];
        uint32_t k = 0;
        while (k < network->n_parameter && strcmp(network->parameter[k].name, set->name) != 0)
            k++;
        if (k < network->n_parameter)
            continue;
        return set->file ? dse_fail_at(err, DSE_BAD_INPUT, set->file, set->line,
                                       "no network of %.100s has a parameter %.60s", network->name, set->name)
                         : dse_fail(err, DSE_BAD_INPUT, "no network of %.100s has a parameter %.60s",
                                    network->name, set->name);
    }
    return DSE_OK;
}
