/* From coordinates to cells on an axis of many values, against the position that each was written from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/record/axis_places.h"
#include "results/record/csv_line.h"

/* 10,000 numbers, with a second coordinate that needs quotes: each is found, none that is not there. */
static void test_axis_places_finds_every_value_of_a_long_axis(void **state)
{
    (void)state;
    enum { N_VALUE = 10000 };
    double *number = malloc(N_VALUE * sizeof *number);
    const char **text = malloc(N_VALUE * sizeof *text);
    char(*store)[32] = malloc(N_VALUE * sizeof *store);
    assert_true(number && text && store);
    for (unsigned i = 0; i < N_VALUE; i++) {
        number[i] = 0.1 * i;
        snprintf(store[i], sizeof store[i], "part \"%u\", new", i / 3);
        text[i] = store[i];
    }
    const struct result_coordinate coordinate[] = {{"a", "1", "a", number, NULL, NULL},
                                                   {"b", "", "b", NULL, text, NULL},
                                                   {"c", "1", "c", number, NULL, NULL}};
    const struct result_axis axis[] = {{N_VALUE, 2, coordinate}, {7, 1, &coordinate[2]}};
    struct result_schema schema = {.n_axis = 2, .axis = axis};
    struct axis_places *places;
    struct text_buffer line;
    struct csv_row row;
    struct dse_error err;
    uint32_t index[2];
    uint64_t cell;
    text_init(&line);
    csv_row_init(&row);
    assert_int_equal(axis_places_new(&schema, &places, &err), DSE_OK);
    for (unsigned i = 0; i < N_VALUE; i++) {
        char buffer[40];
        text_clear(&line);
        csv_add_text(&line, text_double(number[i], buffer, sizeof buffer));
        csv_add_text(&line, text[i]);
        csv_add_text(&line, text_double(number[i % 7], buffer, sizeof buffer));
        text_append(&line, "ok");
        assert_int_equal(csv_split(line.data, line.length, &row, &err), DSE_OK);
        assert_true(axis_places_find(places, &row, index, &cell));
        assert_int_equal(index[0], i);
        assert_int_equal(index[1], i % 7);
        assert_int_equal(cell, 7 * i + i % 7);
    }
    static const char *const absent[] = {"0.1,\"part \"\"1\"\", new\",0,x",
                                         "0.05,\"part \"\"0\"\", new\",0,x",
                                         "0.1,part,0,x",
                                         "0.1,\"part \"\"0\"\", new\",0.7,x",
                                         "0.1,2",
                                         ""};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        assert_int_equal(csv_split(absent[i], strlen(absent[i]), &row, &err), DSE_OK);
        assert_false(axis_places_find(places, &row, index, &cell));
    }
    axis_places_free(places);
    csv_row_free(&row);
    text_free(&line);
    free(number);
    free(text);
    free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis_places_finds_every_value_of_a_long_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
