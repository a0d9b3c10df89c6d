/* What a cube was built from: another row, specification, axis value or program makes another number. */
#include "tests/results/files.h"

#include "results/cube/cube_origin.h"
#include "tests/results/sample.h"

static void test_cube_origin_sees_what_a_cube_follows_from(void **state)
{
    (void)state;
    struct provenance program, other;
    struct result_schema schema = sample_schema;
    provenance_make(&program);
    uint64_t origin = cube_origin(&schema, &program, 7);
    assert_int_not_equal(origin, 0);
    other = program;
    other.n_thread = program.n_thread + 1; /* who built it, and when, does not count */
    strcpy(other.command, "dse merge");
    strcpy(other.end_time, "later");
    assert_true(cube_origin(&schema, &other, 7) == origin);
    assert_true(cube_origin(&schema, &program, 0) == 0);
    assert_true(cube_origin(&schema, &program, 8) != origin);
    strcpy(other.git_revision, "another");
    assert_true(cube_origin(&schema, &other, 7) != origin);
    schema.title = "another";
    assert_true(cube_origin(&schema, &program, 7) != origin);
    schema = sample_schema;
    schema.n_point_shard = 5;
    assert_true(cube_origin(&schema, &program, 7) != origin);
    schema = sample_schema;
    const struct result_input input = {.name = "simba", .role = "architecture", .content = "x"};
    schema.input = &input;
    schema.n_input = 1;
    assert_true(cube_origin(&schema, &program, 7) != origin);
    static const double buffer[SAMPLE_BUFFER] = {65536, 131072, 262145};
    struct result_axis axis[3];
    struct result_coordinate moved = sample_coordinate[0];
    moved.number = buffer;
    memcpy(axis, sample_axis, sizeof axis);
    axis[0].coordinate = &moved;
    schema = sample_schema;
    schema.axis = axis;
    assert_true(cube_origin(&schema, &program, 7) != origin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube_origin_sees_what_a_cube_follows_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
