/* Feeds everything to one hash, texts with their lengths. */
#include "results/cube/cube_origin.h"

#include "base/hash.h"
#include "base/text.h"
#include "results/record/csv_line.h"

static void add_program(struct hash_state *state, const struct provenance *provenance)
{
    hash_text(state, provenance->dse_version);
    hash_text(state, provenance->git_revision);
    hash_text(state, provenance->compiler);
    hash_text(state, provenance->build_variant);
    hash_text(state, provenance->build_flags);
    hash_text(state, provenance->libraries);
    hash_text(state, provenance->hdf5_version);
}

static void add_axes(struct hash_state *state, const struct result_schema *schema)
{
    char number[40];
    for (size_t a = 0; a < schema->n_axis; a++) {
        const struct result_axis *axis = &schema->axis[a];
        hash_u64(state, axis->n_value);
        for (size_t k = 0; k < axis->n_coordinate; k++) {
            const struct result_coordinate *c = &axis->coordinate[k];
            hash_text(state, c->unit);
            hash_text(state, c->long_name);
            for (size_t i = 0; i < axis->n_value; i++) {
                hash_text(state, coordinate_text(c, i, number, sizeof number));
                hash_text(state, c->label ? c->label[i] : "");
            }
        }
    }
}

static void add_texts(struct hash_state *state, const char *const *text, size_t n)
{
    hash_u64(state, n);
    for (size_t i = 0; i < n; i++)
        hash_text(state, text[i]);
}

static void add_specification(struct hash_state *state, const struct result_schema *schema)
{
    hash_text(state, schema->name);
    hash_text(state, schema->title);
    hash_text(state, schema->specification);
    hash_u64(state, schema->specification_hash);
    hash_text(state, schema->measures);
    hash_u64(state, schema->n_point);
    hash_u64(state, schema->n_shard ? schema->shard : 1);
    hash_u64(state, schema->n_shard ? schema->n_shard : 1);
    hash_u64(state, schema->n_point_shard ? schema->n_point_shard : schema->n_point);
    if (schema->exchanged)
        hash_text(state, "exchanged");
    add_texts(state, schema->set, schema->n_set);
    add_texts(state, schema->layer, schema->n_layer);
    add_texts(state, schema->level, schema->n_level);
    hash_u64(state, schema->n_input);
    for (size_t i = 0; i < schema->n_input; i++) {
        const struct result_input *input = &schema->input[i];
        hash_text(state, input->name);
        hash_text(state, input->role);
        hash_text(state, input->path);
        hash_text(state, input->content);
    }
}

uint64_t cube_origin(const struct result_schema *schema, const struct provenance *provenance, uint64_t digest)
{
    struct hash_state state;
    struct text_buffer header;
    if (digest == 0)
        return 0;
    text_init(&header);
    csv_point_header(&header, schema);
    csv_layer_header(&header, schema);
    bool fine = !header.failed;
    hash_begin(&state);
    hash_u64(&state, digest);
    hash_text(&state, header.data);
    text_free(&header);
    add_program(&state, provenance);
    add_specification(&state, schema);
    add_axes(&state, schema);
    uint64_t origin = hash_end(&state);
    return fine ? origin : 0;
}
