/* Uniform draws of each size, all over again until the problem is on the wanted side of the hash. */
#include "engines/mindmappings/training/mm_problems.h"

#include <string.h>

#include "base/hash.h"

enum { UNSEEN_OF = 32 };

/* N C K R S P Q of a convolution. */
static void draw_cnn(struct random_stream *stream, uint32_t *size)
{
    uint32_t channels = random_below(stream, 16), plane;
    size[1] = channels ? 32 * channels : 3;
    size[0] = 1U << random_below(stream, 5);
    size[2] = 32 + 32 * random_below(stream, 15);
    size[3] = size[4] = 1 + 2 * random_below(stream, 4);
    plane = 7 + random_below(stream, 217);
    size[5] = size[6] = plane;
}

static void draw_mttkrp(const struct mm_algorithm *algorithm, struct random_stream *stream, uint32_t *size)
{
    for (uint32_t d = 0; d < algorithm->n_dim; d++)
        size[d] = 128 + 128 * random_below(stream, 31);
}

void mm_problem_draw(const struct mm_problems *problems, bool unseen, struct random_stream *stream,
                     uint32_t *size)
{
    const struct mm_algorithm *algorithm = problems->algorithm;
    bool is_unseen;
    if (problems->n_given > 0) {
        memcpy(size, problems->given[random_below(stream, problems->n_given)],
               algorithm->n_dim * sizeof *size);
        return;
    }
    do {
        if (algorithm == mm_algorithm(MM_CNN))
            draw_cnn(stream, size);
        else
            draw_mttkrp(algorithm, stream, size);
        is_unseen = hash_of_bytes(size, algorithm->n_dim * sizeof *size) % UNSEEN_OF == 0;
    } while (is_unseen != unseen);
}

static bool is_among(const struct mm_problems *problems, const uint32_t *size)
{
    for (uint32_t i = 0; i < problems->n_given; i++)
        if (memcmp(problems->given[i], size, problems->algorithm->n_dim * sizeof *size) == 0)
            return true;
    return false;
}

enum dse_status mm_problems_of_network(const struct network *network, const struct mm_algorithm *algorithm,
                                       struct arena *arena, struct mm_problems *problems, uint32_t *n_other,
                                       struct dse_error *err)
{
    struct problem problem;
    struct dse_error why = {0};
    *problems = (struct mm_problems){.algorithm = algorithm,
                                     .given = arena_alloc(arena, network->n_layer, sizeof *problems->given)};
    *n_other = 0;
    DSE_TRY(arena_check(arena, "the problems of a network", err));
    for (uint32_t i = 0; i < network->n_layer; i++) {
        uint32_t size[MM_DIM_MAX];
        if (!layer_has_macs(&network->layer[i]))
            continue;
        DSE_TRY(layer_problem(&network->layer[i], 0, &problem, err));
        if (mm_problem_sizes(algorithm, &problem, size, &why) != DSE_OK)
            ++*n_other;
        else if (!is_among(problems, size))
            memcpy(problems->given[problems->n_given++], size, algorithm->n_dim * sizeof *size);
    }
    if (problems->n_given > 0)
        return DSE_OK;
    return dse_fail(err, DSE_BAD_INPUT, "network %s has no layer that is a problem of algorithm %s%s%s",
                    network->name, algorithm->name, why.text[0] ? "; the last one: " : "", why.text);
}
