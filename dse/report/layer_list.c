/* One row a layer; above them, for people, the parameters that the network was read with. */
#include "dse/report/layer_list.h"

#include "base/report.h"
#include "dse/console/table.h"

static const struct cell_column columns[] = {
    CELL_COLUMN("layer", "layer", LOOK_TEXT),
    CELL_COLUMN("type", "type", LOOK_TEXT),
    CELL_COLUMN("count", "count", LOOK_COUNT),
    {.name = "mac", .title = "per sample", .look = LOOK_UNIT, .unit = "MAC"},
    {.name = "weight_word", .title = "weights", .look = LOOK_UNIT, .unit = "words"},
    CELL_COLUMN("C", NULL, LOOK_COUNT),
    CELL_COLUMN("K", NULL, LOOK_COUNT),
    CELL_COLUMN("P", NULL, LOOK_COUNT),
    CELL_COLUMN("Q", NULL, LOOK_COUNT),
    CELL_COLUMN("R", NULL, LOOK_COUNT),
    CELL_COLUMN("S", NULL, LOOK_COUNT),
    CELL_COLUMN("H", NULL, LOOK_COUNT),
    CELL_COLUMN("W", NULL, LOOK_COUNT),
    CELL_COLUMN("groups", NULL, LOOK_COUNT),
    CELL_COLUMN("operands", NULL, LOOK_COUNT),
};

/* What can be set of it. */
static void add_parameters(const struct network *network, struct text_buffer *out)
{
    static const char *const header[] = {"parameter", "value", "accepted"};
    struct table table;
    if (network->n_parameter == 0)
        return;
    table_init(&table, header, 3, 1 | 2 | 4);
    for (uint32_t i = 0; i < network->n_parameter; i++) {
        table_cell(&table, "network.%s", network->parameter[i].name);
        table_cell(&table, "%s", network->parameter[i].value);
        table_cell(&table, "%s", network->parameter[i].accepted);
    }
    table_print(&table, out);
    table_free(&table);
}

/* Sizes that an einsum does not have are missing, and so is work that a layer does not do. */
static void add_layer(const struct layer *layer, struct cells *rows)
{
    const uint32_t size[] = {layer->c, layer->k, layer->p, layer->q,      layer->r,
                             layer->s, layer->h, layer->w, layer->groups, layer->n_operand};
    const uint64_t weights = layer_weight_words(layer);
    cells_text(rows, layer->name);
    cells_text(rows, layer_type_text(layer->type));
    cells_count(rows, layer->count);
    cells_count(rows, layer_has_macs(layer) ? layer_macs(layer, 1) : UINT64_MAX);
    cells_count(rows, weights ? weights : UINT64_MAX);
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        cells_count(rows, size[i] && layer->type != LAYER_EINSUM ? size[i] : UINT64_MAX);
}

enum dse_status layer_list(const struct network *network, enum report_format format, struct text_buffer *out,
                           struct dse_error *err)
{
    struct report report;
    report_init(&report, "layers");
    add_parameters(network, &report.head);
    cells_list_text(&report.about, "network", network->name);
    for (uint32_t i = 0; i < network->n_parameter; i++)
        cells_list_text(&report.about, network->parameter[i].name, network->parameter[i].value);
    cells_init(&report.rows, columns, sizeof columns / sizeof columns[0]);
    for (uint32_t i = 0; i < network->n_layer; i++)
        add_layer(&network->layer[i], &report.rows);
    enum dse_status status = report_print(&report, format, out, err);
    report_free(&report);
    return status;
}
