/* fused_evaluate on two tiles, worked out by hand; its faults, and what is no schedule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/fused_schedule.h"

enum { N_TILE = 2, N_TENSOR = 4, N_DRAM = 3, WEIGHT = 0, IFMAP = 1, LOCAL = 2, OFMAP = 3 };

/* Layer 0 has both tiles, 7 and 9 cycles. Weights and an ifmap are loaded, the result of tile 0 stays for
 * tile 1, whose own is stored. 10 bytes per cycle. */
struct fixture {
    struct arena arena;
    struct fused_tile tile[N_TILE];
    struct fused_tensor tensor[N_TENSOR];
    uint32_t order[N_TENSOR];
    struct fused_schedule schedule;
    struct fused_machine machine;
    struct fused_result result;
    struct dse_error err;
};

static int set_up(void **state)
{
    static const struct fused_tensor tensor[N_TENSOR] = {
        [WEIGHT] = {FUSED_WEIGHT, 0, 0, INT32_MIN, 100, 100, -1, 2, -1, 0, 1, -1},
        [IFMAP] = {FUSED_IFMAP, 0, 0, -1, 50, 50, -1, 1, -1, 0, 0, -1},
        [LOCAL] = {FUSED_LOCAL, 0, 0, INT32_MIN, 30, 0, 0, 2, 0, 1, 1, -1},
        [OFMAP] = {FUSED_OFMAP, 0, 1, INT32_MIN, 20, 20, 1, 2, 1, -1, -1, -1},
    };
    static const uint32_t order[N_DRAM] = {WEIGHT, IFMAP, OFMAP};
    struct fixture *f = test_calloc(1, sizeof *f);
    arena_init(&f->arena);
    memcpy(f->tensor, tensor, sizeof tensor);
    memcpy(f->order, order, sizeof order);
    f->tile[0] = (struct fused_tile){.cycle = 7, .energy_j = 3};
    f->tile[1] = (struct fused_tile){.index = 1, .cycle = 9, .energy_j = 4};
    f->schedule = (struct fused_schedule){.n_tile = N_TILE,
                                          .n_tensor = N_TENSOR,
                                          .n_dram = N_DRAM,
                                          .tile = f->tile,
                                          .tensor = f->tensor,
                                          .dram_order = f->order};
    f->machine = (struct fused_machine){.buffer_byte = 180, .dram_rate = {10, 1}, .dram_energy_j = 2};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    arena_free(&f->arena);
    test_free(f);
    return 0;
}

static void evaluate(struct fixture *f, struct fused_trace *trace)
{
    if (fused_evaluate(&f->schedule, &f->machine, &f->arena, trace, &f->result, &f->err) != DSE_OK)
        fail_msg("%s", f->err.text);
}

static void check_fault(struct fixture *f, enum fused_fault fault, uint32_t tensor, int32_t position)
{
    evaluate(f, NULL);
    assert_int_equal(f->result.fault, fault);
    assert_int_equal(f->result.fault_tensor, tensor);
    assert_int_equal(f->result.fault_position, position);
}

/* Weights 0-10, ifmap 10-15, tile 0 15-22, tile 1 22-31, store 31-33. */
static void test_fused_evaluate_gives_times_by_hand(void **state)
{
    struct fixture *f = *state;
    uint64_t stall[N_TILE], finish[N_TILE], moved[N_TENSOR], living[N_TILE + 1];
    struct fused_trace trace = {
        .tile_stall = stall, .tile_finish = finish, .tensor_finish = moved, .living_byte = living};
    evaluate(f, &trace);
    assert_int_equal(f->result.fault, FUSED_OK);
    assert_int_equal(f->result.cycle, 33);
    assert_int_equal(f->result.compute_cycle, 16);
    assert_int_equal(f->result.dram_cycle, 17);
    assert_int_equal(f->result.stall_cycle, 15);
    assert_int_equal(stall[0], 15);
    assert_int_equal(stall[1], 0);
    assert_int_equal(finish[0], 22);
    assert_int_equal(finish[1], 31);
    assert_int_equal(moved[WEIGHT], 10);
    assert_int_equal(moved[IFMAP], 15);
    assert_int_equal(moved[LOCAL], 0);
    assert_int_equal(moved[OFMAP], 33);
    assert_int_equal(living[0], 150); /* weights, ifmap */
    assert_int_equal(living[1], 180); /* and the local tensor */
    assert_int_equal(living[2], 150); /* weights, local, ofmap */
}

/* Of the 20 bytes of the ofmap 8 are stored: its store takes 1 cycle, 31-32; the room it takes is as
 * before. */
static void test_fused_evaluate_moves_dram_bytes_and_holds_bytes(void **state)
{
    struct fixture *f = *state;
    f->tensor[OFMAP].dram_byte = 8;
    evaluate(f, NULL);
    assert_int_equal(f->result.fault, FUSED_OK);
    assert_int_equal(f->result.cycle, 32);
    assert_int_equal(f->result.dram_cycle, 16);
    assert_int_equal(f->result.dram_byte, 158);
    assert_true(f->result.dram_energy_j == 316);
    assert_int_equal(f->result.buffer_max_byte, 180);
}

/* Weights and the ofmap go past the buffer, stores at 5 bytes per cycle: 31-35. Of the buffer only ifmap and
 * local tensor take room. */
static void stream(struct fixture *f)
{
    f->machine.differs = true;
    f->machine.store_rate = (struct byte_rate){5, 1};
    for (int way = 0; way < FUSED_N_WAY; way++)
        f->machine.way_energy_j[way] = 2 + way;
    f->tensor[WEIGHT].streamed = f->tensor[OFMAP].streamed = 1;
    f->tensor[WEIGHT].byte = f->tensor[OFMAP].byte = 0;
    f->tensor[WEIGHT].limit = -1;
    f->tensor[OFMAP].limit = N_TILE;
}

static void test_fused_evaluate_streams_by_hand(void **state)
{
    struct fixture *f = *state;
    stream(f);
    evaluate(f, NULL);
    assert_int_equal(f->result.fault, FUSED_OK);
    assert_int_equal(f->result.cycle, 35);
    assert_int_equal(f->result.dram_cycle, 19);
    assert_int_equal(f->result.dram_byte, 170);
    assert_int_equal(f->result.stream_byte, 120);
    assert_int_equal(f->result.buffer_max_byte, 80);
    assert_true(f->result.dram_energy_j == 50 * 2 + 100 * 4 + 20 * 5);
    f->tensor[OFMAP].limit = N_TILE - 1;
    check_fault(f, FUSED_LIFETIME, OFMAP, 0);
    f->tensor[WEIGHT].limit = 0;
    check_fault(f, FUSED_LIFETIME, WEIGHT, 0);
}

/* A DRAM without a limit takes no time: tiles 0-7 and 7-16. */
static void test_fused_evaluate_knows_an_unlimited_dram(void **state)
{
    struct fixture *f = *state;
    stream(f);
    f->machine.store_rate = (struct byte_rate){1, 0};
    evaluate(f, NULL);
    assert_int_equal(f->result.cycle, 31);
    f->machine.dram_rate = (struct byte_rate){1, 0};
    evaluate(f, NULL);
    assert_int_equal(f->result.cycle, 16);
    assert_int_equal(f->result.dram_cycle, 0);
}

static void test_fused_evaluate_gives_sums_by_hand(void **state)
{
    struct fixture *f = *state;
    evaluate(f, NULL);
    assert_int_equal(f->result.dram_byte, 170);
    assert_true(f->result.dram_energy_j == 340 && f->result.core_energy_j == 7 && f->result.energy_j == 347);
    assert_int_equal(f->result.buffer_max_byte, 180);
    assert_true(f->result.buffer_average_byte == (180.0 * 22 + 150.0 * 11) / 33);
    assert_true(f->result.buffer_average_compat_byte == (180.0 * 15 + 150.0 * 7) / 33);
    assert_true(f->result.buffer_average_compute_byte == (180.0 * 7 + 150.0 * 9) / 16);
}

static void test_fused_evaluate_names_the_position_that_overflows(void **state)
{
    struct fixture *f = *state;
    f->machine.buffer_byte = 179;
    check_fault(f, FUSED_BUFFER, 0, 0);
    assert_int_equal(f->result.cycle, 33); /* given all the same */
    f->machine.buffer_byte = 149;
    check_fault(f, FUSED_BUFFER, 0, -1);
}

static void test_fused_evaluate_finds_tensors_that_are_not_alive(void **state)
{
    struct fixture *f = *state;
    f->tensor[IFMAP].start = 1; /* tile 0 reads it */
    check_fault(f, FUSED_LIFETIME, IFMAP, 0);
    f->tensor[IFMAP].start = -1;
    f->tensor[LOCAL].end = 1; /* tile 1 reads it */
    check_fault(f, FUSED_LIFETIME, LOCAL, 0);
    assert_int_equal(f->result.cycle, 33);
    f->tensor[LOCAL].end = 3; /* behind the last position */
    check_fault(f, FUSED_LIFETIME, LOCAL, 0);
    f->tensor[LOCAL].end = 2;
    f->tensor[OFMAP].start = 2; /* tile 1 makes it */
    check_fault(f, FUSED_LIFETIME, OFMAP, 0);
    f->tensor[OFMAP].start = 1;
    f->tensor[WEIGHT].start = -2;
    check_fault(f, FUSED_LIFETIME, WEIGHT, 0);
}

static void test_fused_evaluate_finds_loads_of_what_is_not_stored(void **state)
{
    struct fixture *f = *state;
    f->tensor[IFMAP].source = 0; /* stored after it */
    check_fault(f, FUSED_ORDER, IFMAP, 0);
    f->tensor[IFMAP].source = 5; /* never stored */
    check_fault(f, FUSED_ORDER, IFMAP, 0);
}

static void test_fused_evaluate_finds_deadlocks(void **state)
{
    struct fixture *f = *state;
    uint64_t start[N_TILE], moved[N_TENSOR];
    struct fused_trace trace = {.tile_start = start, .tensor_finish = moved};
    f->order[1] = OFMAP; /* of tile 1, before what tile 0 reads */
    f->order[2] = IFMAP;
    evaluate(f, &trace);
    assert_int_equal(f->result.fault, FUSED_DEADLOCK);
    assert_int_equal(f->result.fault_tensor, OFMAP);
    assert_true(f->result.cycle == FUSED_NEVER && start[0] == FUSED_NEVER && moved[OFMAP] == FUSED_NEVER);
    assert_int_equal(moved[WEIGHT], 10);
    assert_int_equal(f->result.dram_byte, 170);
}

/* Tile 0 makes 30 bytes that are stored, before tile 1 (end 1); what tile 1 reads may be loaded from then on
 * (start 1). When the load comes first, at 17, both are there until 22: 100 + 50 + 30 bytes, while the
 * positions hold 130 and 170. Weights 0-10, tile 0 10-17, load 17-22, store 22-25, tile 1 25-34, store 34-36;
 * or store 17-20 and load 20-25. */
static void test_fused_evaluate_finds_loads_into_room_that_is_taken(void **state)
{
    struct fixture *f = *state;
    f->schedule.n_dram = N_TENSOR;
    f->machine.buffer_byte = 170;
    f->tensor[LOCAL] = (struct fused_tensor){FUSED_OFMAP, 0, 0, INT32_MIN, 30, 30, 0, 1, 0, -1, -1, -1, 0, 0};
    f->tensor[IFMAP].start = f->tensor[IFMAP].first_use = f->tensor[IFMAP].last_use = 1;
    f->tensor[IFMAP].end = 2;
    f->order[1] = IFMAP;
    f->order[2] = LOCAL;
    f->order[3] = OFMAP;
    check_fault(f, FUSED_OVERLAP, IFMAP, 0);
    assert_int_equal(f->result.cycle, 36);
    assert_int_equal(f->result.buffer_max_byte, 170);
    f->order[1] = LOCAL;
    f->order[2] = IFMAP;
    check_fault(f, FUSED_OK, 0, 0);
    assert_int_equal(f->result.cycle, 36);
}

static void check_refused(struct fixture *f, const char *why)
{
    assert_int_equal(fused_evaluate(&f->schedule, &f->machine, &f->arena, NULL, &f->result, &f->err),
                     DSE_BAD_INPUT);
    if (!strstr(f->err.text, why))
        fail_msg("\"%s\" does not say \"%s\"", f->err.text, why);
}

static void test_fused_evaluate_refuses_what_is_no_schedule(void **state)
{
    struct fixture *f = *state;
    f->order[2] = IFMAP;
    check_refused(f, "place 2: tensor 1 stands there twice");
    f->order[2] = LOCAL;
    check_refused(f, "place 2: tensor 2 stays in the buffer");
    f->order[2] = 9;
    check_refused(f, "place 2: tensor 9 does not exist");
    f->order[2] = OFMAP;
    f->schedule.n_dram = 2;
    check_refused(f, "the DRAM order has 2 tensors; 3 are loaded or stored");
    f->schedule.n_dram = N_DRAM;
    f->tensor[OFMAP].producer_tile = -1;
    check_refused(f, "tensor 3: producer tile -1");
    f->tensor[OFMAP].producer_tile = N_TILE;
    check_refused(f, "tensor 3: producer tile 2");
    f->tensor[OFMAP].producer_tile = 1;
    f->tensor[WEIGHT].last_use = N_TILE;
    check_refused(f, "tensor 0: used by tiles 0 to 2; there are 2 tiles");
    f->tensor[WEIGHT].last_use = 1;
    f->machine.dram_rate.byte = 0;
    check_refused(f, "0 bytes in 1 cycles");
}

static void test_fused_evaluate_takes_an_empty_schedule(void **state)
{
    struct fixture *f = *state;
    f->schedule.n_tile = f->schedule.n_tensor = f->schedule.n_dram = 0;
    check_fault(f, FUSED_OK, 0, 0);
    assert_int_equal(f->result.cycle, 0);
}

#define FUSED_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FUSED_TEST(test_fused_evaluate_gives_times_by_hand),
        FUSED_TEST(test_fused_evaluate_gives_sums_by_hand),
        FUSED_TEST(test_fused_evaluate_moves_dram_bytes_and_holds_bytes),
        FUSED_TEST(test_fused_evaluate_streams_by_hand),
        FUSED_TEST(test_fused_evaluate_knows_an_unlimited_dram),
        FUSED_TEST(test_fused_evaluate_names_the_position_that_overflows),
        FUSED_TEST(test_fused_evaluate_finds_tensors_that_are_not_alive),
        FUSED_TEST(test_fused_evaluate_finds_loads_of_what_is_not_stored),
        FUSED_TEST(test_fused_evaluate_finds_deadlocks),
        FUSED_TEST(test_fused_evaluate_finds_loads_into_room_that_is_taken),
        FUSED_TEST(test_fused_evaluate_refuses_what_is_no_schedule),
        FUSED_TEST(test_fused_evaluate_takes_an_empty_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
