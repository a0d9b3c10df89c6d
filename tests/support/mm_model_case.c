/* Tables that are easy to follow: means 1, deviations 2. */
#include "tests/support/mm_model_case.h"

#include <stdlib.h>

#include "costmodel/model/architecture.h"

enum { N_NET = 2, N_EPOCH = 3, HIDDEN = 20 };

static void must(enum dse_status status)
{
    if (status != DSE_OK)
        abort();
}

static void draw_net(const struct mm_algorithm *algorithm, uint64_t seed, struct arena *arena,
                     struct mm_net *net)
{
    struct random_stream stream = random_stream_make(seed, 0, RANDOM_INIT);
    *net = (struct mm_net){.seed = seed,
                           .n_epoch = N_EPOCH,
                           .train_loss = arena_alloc(arena, N_EPOCH, sizeof(double)),
                           .test_loss = arena_alloc(arena, N_EPOCH, sizeof(double)),
                           .quality = {0.5, 0.25, 0.125, 2, 9}};
    must(arena_check(arena, "a test", NULL));
    for (int i = 0; i < N_EPOCH; i++) {
        net->train_loss[i] = 1.0 / (i + 1);
        net->test_loss[i] = 2.0 / (i + 1);
    }
    must(mlp_new((uint32_t[]){algorithm->n_value, HIDDEN, algorithm->n_cost}, 2, arena, &net->mlp, NULL));
    mlp_draw(&net->mlp, &stream);
    must(mlp_freeze(&net->mlp, arena, &net->frozen, NULL));
}

void mm_model_case(const struct mm_machine *machine, enum mm_mode mode, struct arena *arena,
                   struct mm_model *model)
{
    *model = (struct mm_model){
        .encoding = {.algorithm = machine->algorithm, .input = MM_INPUT_LOG2, .output = MM_OUTPUT_LOG},
        .mode = mode,
        .machine = architecture_hash(machine->arch),
        .architecture = machine->arch->name,
        .problems = machine->algorithm->name,
        .options = "none",
        .core = "Haswell",
        .data = 17,
        .n_sample = 1000,
        .n_net = N_NET,
        .net = arena_alloc(arena, N_NET, sizeof *model->net),
    };
    must(arena_check(arena, "a test", NULL));
    for (uint32_t i = 0; i < MM_VALUE_MAX; i++) {
        model->encoding.input_mean[i] = 1;
        model->encoding.input_deviation[i] = 2;
    }
    for (uint32_t i = 0; i < MM_COST_MAX; i++) {
        model->encoding.output_mean[i] = 1;
        model->encoding.output_deviation[i] = 2;
    }
    for (uint32_t i = 0; i < N_NET; i++)
        draw_net(machine->algorithm, i + 1, arena, &model->net[i]);
}
