/* What the page says in words and tables: what was varied and what was not, failures, where the files come
 * from. And how the parts name places. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/yaml.h"
#include "results/page/page_html.h"
#include "results/page/page_parts.h"

enum { VALUE_MAX = 40, VALUES_SHOWN = 12, FLOW_MAX = 2000 };

static const char *axis_words(const struct result_coordinate *c)
{
    return c->long_name && c->long_name[0] ? c->long_name : c->name;
}

/* ---------------------------------------- places */

bool page_is_single(const struct page_data *data)
{
    return data->n_x * data->n_y * data->n_panel == 1;
}

bool page_is_varied(const struct page_data *data, size_t axis)
{
    return !data->plot.is_fixed[axis] && data->plot.schema.axis[axis].n_value > 1;
}

size_t page_place_titles(const struct page_data *data, const char **title)
{
    size_t n = 0;
    for (size_t a = 0; a < data->plot.schema.n_axis; a++)
        if (page_is_varied(data, a))
            title[n++] = axis_words(&data->plot.schema.axis[a].coordinate[0]);
    return n;
}

void page_place_cells(const struct page_data *data, size_t cell, struct text_buffer *out)
{
    char label[PLOT_LABEL_MAX];
    for (size_t a = 0; a < data->plot.schema.n_axis; a++)
        if (page_is_varied(data, a))
            html_element(out, "td",
                         coordinate_label(&data->plot.schema.axis[a].coordinate[0],
                                          plot_position(&data->plot, cell, a), label, sizeof label));
}

void page_group_text(const struct page_data *data, size_t group, struct text_buffer *text)
{
    static const char *const work[] = {"network", "batch"};
    char label[PLOT_LABEL_MAX];
    for (size_t a = 0; a < data->plot.schema.n_axis && data->n_group > 1; a++)
        for (size_t k = 0; k < data->plot.schema.axis[a].n_coordinate && page_is_varied(data, a); k++) {
            const struct result_coordinate *c = &data->plot.schema.axis[a].coordinate[k];
            if (strcmp(c->name, work[0]) != 0 && strcmp(c->name, work[1]) != 0)
                continue;
            coordinate_label(c, plot_position(&data->plot, data->group_cell[group], a), label, sizeof label);
            text_append(text, "%s%s ", text->length ? ", " : "", c->name);
            text_append_string(text, label);
        }
}

/* ---------------------------------------- what was varied */

static void put_values(const struct result_coordinate *c, size_t n, struct text_buffer *out)
{
    char label[PLOT_LABEL_MAX];
    const bool all = n <= VALUE_MAX;
    for (size_t i = 0; i < (all ? n : VALUES_SHOWN); i++) {
        text_append_string(out, i ? ", <span>" : "<span>");
        html_text(out, coordinate_label(c, i, label, sizeof label));
        text_append_string(out, "</span>");
    }
    if (all)
        return;
    text_append_string(out, ", ... <span>");
    html_text(out, coordinate_label(c, n - 1, label, sizeof label));
    text_append_string(out, "</span>");
}

static void put_axes(const struct page_data *data, struct text_buffer *out)
{
    static const char *const title[] = {"Axis", "Values", "How many"};
    const struct result_schema *schema = &data->plot.schema;
    html_table(out, NULL, title, 3, 2);
    for (size_t a = 0; a < schema->n_axis; a++)
        for (size_t k = 0; k < schema->axis[a].n_coordinate; k++) {
            const struct result_coordinate *c = &schema->axis[a].coordinate[k];
            char label[PLOT_LABEL_MAX];
            text_append_string(out, "<tr><td>");
            html_text(out, axis_words(c));
            if (strcmp(axis_words(c), c->name) != 0) {
                text_append_string(out, "<br><code>");
                html_text(out, c->name);
                text_append_string(out, "</code>");
            }
            text_append_string(out, k ? ", linked with the axis above</td><td>" : "</td><td>");
            if (data->plot.is_fixed[a] && schema->axis[a].n_value > 1) {
                text_append_string(out, "only ");
                html_text(out, coordinate_label(c, data->plot.fixed[a], label, sizeof label));
            } else {
                put_values(c, schema->axis[a].n_value, out);
            }
            text_append(out, "</td><td class=\"r\">%zu</td></tr>\n", schema->axis[a].n_value);
        }
    html_table_end(out);
}

/* A value of the specification on one line, as YAML's flow style has it but without quotes. */
static void flow(const struct ynode *node, struct text_buffer *text)
{
    if (text->length > FLOW_MAX)
        return;
    if (node->kind == YNODE_SCALAR) {
        text_append_string(text, node->text);
        return;
    }
    text_append_string(text, node->kind == YNODE_SEQUENCE ? "[" : "{");
    for (size_t i = 0; i < node->n_item; i++) {
        text_append_string(text, i ? ", " : "");
        if (node->kind == YNODE_MAPPING) {
            text_append_string(text, node->key[i]);
            text_append_string(text, ": ");
        }
        flow(node->item[i], text);
    }
    text_append_string(text, node->kind == YNODE_SEQUENCE ? "]" : "}");
}

/* Keys that are not about what was computed, or are in the table of axes. */
static bool is_elsewhere(const char *key)
{
    static const char *const elsewhere[] = {"experiment", "name", "title", "axes", "zip", "points", "plot"};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(key, elsewhere[i]) == 0)
            return true;
    return false;
}

static enum dse_status put_settings(const struct page_data *data, const struct page_words *words,
                                    struct text_buffer *out, struct dse_error *err)
{
    const struct result_schema *kept = &data->source[0].schema;
    const char *source = data->plot.schema.specification;
    struct yaml_doc doc = {0};
    enum dse_status status = yaml_parse(&doc, "specification", source, strlen(source), err);
    if (status == DSE_NO_MEMORY)
        return status;
    html_table(out, "The same everywhere", (const char *const[]){"Setting", "Value"}, 2, 2);
    for (size_t i = 0; status == DSE_OK && doc.root->kind == YNODE_MAPPING && i < doc.root->n_item; i++) {
        struct text_buffer text;
        if (is_elsewhere(doc.root->key[i]))
            continue;
        text_init(&text);
        flow(doc.root->item[i], &text);
        text_append_string(out, "<tr>");
        html_element(out, "td", doc.root->key[i]);
        html_element(out, "td", text.data ? text.data : "");
        text_append_string(out, "</tr>\n");
        text_free(&text);
    }
    if (words->objective && (status != DSE_OK || !yaml_find(doc.root, "objective"))) {
        text_append_string(out, "<tr><td>objective</td>");
        html_element(out, "td", words->objective);
        text_append_string(out, "</tr>\n");
    }
    for (size_t i = 0; i < kept->n_set; i++) {
        text_append_string(out, "<tr><td>on the command line</td><td><code>--set ");
        html_text(out, kept->set[i]);
        text_append_string(out, "</code></td></tr>\n");
    }
    html_table_end(out);
    if (status == DSE_OK)
        yaml_doc_free(&doc);
    return DSE_OK;
}

enum dse_status page_varied(struct page_data *data, const struct page_words *words, struct text_buffer *out,
                            struct dse_error *err)
{
    const struct result_schema *schema = &data->plot.schema;
    text_append_string(out, "<section id=\"varied\">\n<h2>What was varied</h2>\n");
    if (schema->n_axis > 0)
        put_axes(data, out);
    else
        text_append_string(out, "<p>Nothing: it is a single point.</p>\n");
    DSE_TRY(put_settings(data, words, out, err));
    text_append_string(out, "<details><summary>The whole specification</summary><pre>");
    html_text(out, schema->specification);
    text_append_string(out, "</pre></details>\n</section>\n");
    return DSE_OK;
}

/* ---------------------------------------- failures */

void page_failures(const struct page_data *data, const struct page_words *words, struct text_buffer *out)
{
    static const char *const title[] = {"Status", "Reason", "One of them", "Points"};
    (void)data;
    text_append_string(out, "<section id=\"failures\">\n<h2>Points that are not ok, and notes</h2>\n");
    if (words->n_reason == 0) {
        text_append_string(out, "<p>All points are ok.</p></section>\n");
        return;
    }
    text_append_string(out, "<p>A * stands for what differs between the points of a line.</p>\n");
    html_table(out, NULL, title, 4, 3);
    for (size_t i = 0; i < words->n_reason; i++) {
        text_append_string(out, "<tr>");
        html_element(out, "td", words->reason[i].status);
        html_element(out, "td", words->reason[i].reason);
        html_element(out, "td", words->reason[i].example);
        text_append(out, "<td class=\"r\">%" PRIu64 "</td></tr>\n", words->reason[i].n);
    }
    html_table_end(out);
    if (words->n_other)
        text_append(out, "<p>%" PRIu64 " more have other reasons.</p>\n", words->n_other);
    text_append_string(out, "</section>\n");
}

/* ---------------------------------------- origin */

static void put_origin(const char *what, const char *text, struct text_buffer *out)
{
    if (!text[0])
        return;
    text_append_string(out, "<tr>");
    html_element(out, "td", what);
    html_element(out, "td", text);
    text_append_string(out, "</tr>\n");
}

static void put_source(const struct page_source *source, const char *name, struct text_buffer *out)
{
    const struct provenance *from = &source->provenance;
    char text[512];
    html_table(out, name, (const char *const[]){"What", "Value"}, 2, 2);
    snprintf(text, sizeof text, "dse %s (%s)", from->dse_version, from->git_revision);
    put_origin("Program", text, out);
    put_origin("Compiler", from->compiler, out);
    put_origin("Libraries", from->libraries, out);
    put_origin("Host", from->host, out);
    put_origin("Begun", from->start_time, out);
    put_origin("Ended", from->end_time, out);
    put_origin("Command", from->command, out);
    if (source->schema.n_shard > 1) {
        snprintf(text, sizeof text, "%" PRIu32 " of %" PRIu32, source->schema.shard, source->schema.n_shard);
        put_origin("Shard", text, out);
    }
    html_table_end(out);
}

void page_origin(const struct page_data *data, const struct page_words *words, struct text_buffer *out)
{
    const struct result_schema *kept = &data->source[0].schema;
    text_append_string(out,
                       "<section id=\"origin\">\n<h2>Where it comes from, and how to repeat it</h2>\n<pre>");
    html_text(out, words->command);
    text_append_string(out,
                       "</pre>\n<p>computes the sweep anew. From the result file alone, and compared with "
                       "it:</p>\n<pre>");
    html_text(out, words->rerun);
    text_append_string(out, "</pre>\n");
    for (size_t i = 0; i < data->n_source; i++)
        put_source(&data->source[i], words->name[i], out);
    if (kept->n_input > 0) {
        html_table(out, "Inputs, which the result file holds", (const char *const[]){"What", "Name", "Bytes"},
                   3, 2);
        for (size_t i = 0; i < kept->n_input; i++) {
            text_append_string(out, "<tr>");
            html_element(out, "td", kept->input[i].role);
            html_element(out, "td", kept->input[i].name);
            text_append(out, "<td class=\"r\">%zu</td></tr>\n", kept->input[i].n_byte);
        }
        html_table_end(out);
    }
    text_append_string(out, "</section>\n");
}
