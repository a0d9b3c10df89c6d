/* Tells architectures, networks and schedules from specifications by their keys; reads them to the end. */
#include "dse/inputs/input_check.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "base/yaml.h"
#include "costmodel/interstellar/hint.h"
#include "costmodel/interstellar/loops.h"
#include "costmodel/interstellar_json/interstellar_json.h"
#include "costmodel/model/network.h"
#include "costmodel/native/network_native.h"
#include "costmodel/onnx/onnx.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "dse/inputs/inputs.h"

/* A specification names layers, a network describes them. */
static bool is_network(const struct yaml_doc *doc)
{
    const struct ynode *root = doc->root;
    const struct ynode *layers = yaml_find(root, "layers");
    bool describes = layers && layers->kind == YNODE_SEQUENCE && layers->n_item > 0 &&
                     layers->item[0]->kind == YNODE_MAPPING;
    return describes || interstellar_is_layer(doc) || yaml_find(root, "problem") ||
           yaml_find(root, "problems") || yaml_find(root, "input") || yaml_find(root, "inputs") ||
           yaml_find(root, "of");
}

static enum dse_status check_architecture(const struct yaml_doc *doc, struct text_buffer *out,
                                          struct dse_error *err)
{
    struct architecture arch;
    struct architecture_template *template = NULL;
    char reason[256], note[INPUT_NOTE_MAX];
    enum dse_status status = architecture_template_new(doc, &template, err);
    if (status == DSE_OK && doc->faults->n == 0)
        status = architecture_template_build(template, NULL, 0, &arch, err);
    if (status == DSE_OK && doc->faults->n == 0)
        text_append(out, "architecture %s: %u storage level%s, %" PRIu64 " MAC units\n", arch.name,
                    arch.n_level, text_plural(arch.n_level), arch.mac.instances);
    if (status == DSE_OK && doc->faults->n == 0 && !architecture_area_fits(&arch, reason, sizeof reason))
        text_append(out, "  nothing runs on it: %s\n", reason);
    if (status == DSE_OK && doc->faults->n == 0 && input_leak_note(&arch, NULL, doc->path, note))
        text_append(out, "  %s\n", note);
    architecture_template_free(template);
    return status;
}

/* The file is read by the reader itself, which knows where problems lie. */
static enum dse_status check_network(const char *path, struct dse_faults *faults, struct text_buffer *out,
                                     struct dse_error *err)
{
    struct network network;
    DSE_TRY(network_read_with(path, NULL, faults, &network, err));
    if (faults->n > 0)
        return DSE_OK;
    text_append(out, "network %s: %u layer%s, %" PRIu64 " multiply-accumulates\n", network.name,
                network.n_layer, text_plural(network.n_layer), network_macs(&network, 1));
    network_free(&network);
    return text_check(out, "the report of a network", err);
}

/* Whether a machine has the levels and arrays shows when there is one. */
static enum dse_status check_schedule(const struct yaml_doc *doc, struct text_buffer *out,
                                      struct dse_error *err)
{
    struct interstellar_hint hint;
    char name[PROBLEM_NAME_MAX];
    DSE_TRY(interstellar_hint_read(doc, doc->root, NULL, NULL, &hint, err));
    if (doc->faults->n > 0)
        return DSE_OK;
    text_append(out, "schedule %s of Interstellar's authors:", network_name_of(doc->path, name));
    for (int l = 0, n = 0; l < LOOP_COUNT; l++)
        if (hint.loop[l].present)
            text_append(out, "%s %s %u at level%u", n++ ? "," : "",
                        interstellar_loop_name((enum interstellar_loop)l), hint.loop[l].partition,
                        hint.loop[l].level);
    text_append(out, "; take it with --constraints, which asks whether the machine has these arrays\n");
    return DSE_OK;
}

enum dse_status input_check(const char *path, struct dse_faults *faults, bool *is_input,
                            struct text_buffer *out, struct dse_error *err)
{
    struct yaml_doc doc;
    enum dse_status status = DSE_OK;
    *is_input = false;
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) /* a pipe can be read but once */
        return DSE_OK;
    if (interstellar_is_table(path, "", 0) || onnx_is_path(path)) {
        *is_input = true;
        return dse_note(faults, check_network(path, faults, out, err), err);
    }
    if (yaml_read(&doc, path, NULL) != DSE_OK)
        return DSE_OK; /* the reader of specifications says why */
    doc.faults = faults;
    if (!yaml_find(doc.root, "experiment")) {
        bool machine = timeloop_is_architecture(&doc) || interstellar_is_architecture(&doc) ||
                       yaml_find(doc.root, "hierarchy");
        const bool schedule = interstellar_is_schedule(doc.root);
        *is_input = machine || schedule || is_network(&doc);
        if (schedule)
            status = check_schedule(&doc, out, err);
        else if (machine)
            status = check_architecture(&doc, out, err);
        else if (*is_input)
            status = check_network(path, faults, out, err);
    }
    yaml_doc_free(&doc);
    return dse_note(faults, status, err);
}
