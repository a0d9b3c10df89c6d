/* A report as data: cells in rows and columns that are described once, and printed as aligned text for
 * people, as CSV or as JSON (dse/console/report_print.h). */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* How people see the numbers of a column. Programs get all their digits. */
enum cell_look {
    LOOK_TEXT,    /* to the left */
    LOOK_COUNT,   /* 1,234,567 */
    LOOK_UNIT,    /* 4.56 mJ */
    LOOK_BYTE,    /* 1.5 KiB */
    LOOK_PERCENT, /* of 1: 12.3 % */
    LOOK_FIXED,   /* so many decimals */
    LOOK_DIGITS,  /* at most so many digits */
};

struct cell_column {
    const char *name;  /* in CSV and JSON; NULL: only people see the column */
    const char *title; /* for people; NULL: only programs see it */
    enum cell_look look;
    int digit;        /* of LOOK_FIXED and LOOK_DIGITS */
    const char *unit; /* of LOOK_UNIT */
    int json_only;    /* texts of many lines */
};

/* A column that needs no more; of energies in joules. */
#define CELL_COLUMN(NAME, TITLE, LOOK)                                                                       \
    {                                                                                                        \
        .name = (NAME), .title = (TITLE), .look = (LOOK)                                                     \
    }
#define CELL_ENERGY(NAME, TITLE)                                                                             \
    {                                                                                                        \
        .name = (NAME), .title = (TITLE), .look = LOOK_UNIT, .unit = "J"                                     \
    }

enum cell_kind { CELL_NONE, CELL_TEXT, CELL_WHOLE, CELL_REAL, CELL_SWITCH };

struct cell {
    enum cell_kind kind;
    union {
        size_t text; /* where it begins in cells.text */
        int64_t whole;
        double real;
    };
};

/* Rows of cells, filled one cell after the other. */
struct cells {
    const struct cell_column *column; /* (n_column) borrowed */
    size_t n_column, n_cell;
    struct text_buffer cell; /* (n_cell) struct cell */
    struct text_buffer text;
};

/* Column of a list: `key` and `value`. In JSON its rows are the members of an object; people do not see it.
 * */
enum { REPORT_LIST_COLUMNS = 2 };
extern const struct cell_column report_list_column[REPORT_LIST_COLUMNS];

/* Begin with no rows. Out of memory makes report_failed true, and printing needs no other check. */
void cells_init(struct cells *cells, const struct cell_column *column, size_t n_column);
void cells_free(struct cells *cells);

/* Append the next cell. `count`: UINT64_MAX is a missing value. `real`: NaN is. `text`: as it is; NULL is
 * missing. `on`: true and false in JSON, 1 and 0 in CSV. */
void cells_none(struct cells *cells);
void cells_text(struct cells *cells, const char *text);
void cells_format(struct cells *cells, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cells_whole(struct cells *cells, int64_t value);
void cells_count(struct cells *cells, uint64_t value);
void cells_real(struct cells *cells, double value);
void cells_switch(struct cells *cells, int on);
void cells_copy(struct cells *cells, const struct cells *from, size_t i);

/* Append a row of a list. */
void cells_list_text(struct cells *cells, const char *key, const char *value);
void cells_list_count(struct cells *cells, const char *key, uint64_t value);
void cells_list_real(struct cells *cells, const char *key, double value);

/* Cell number i of those there are, and its text; "" when it is none. */
const struct cell *cells_at(const struct cells *cells, size_t i);
const char *cells_text_at(const struct cells *cells, const struct cell *cell);

/* One report. People see head, rows (of a list: none), parts and foot; CSV has the rows; JSON is an object
 * of the report's name, the members of `about`, and the rows as an array, or of a list as an object. */
struct report {
    const char *name;
    const char *rows_name;    /* in JSON; NULL: "rows", of a list the report's name */
    int has_total;            /* the last row is the sum of the others; JSON has it beside them, as "total" */
    struct text_buffer head;  /* lines for people above the rows, and below */
    struct cells about, rows; /* about: a list */
    struct cells parts;       /* for people besides */
    struct text_buffer foot;
};

/* Begin with empty lists. Release with report_free. */
void report_init(struct report *report, const char *name);
void report_free(struct report *report);

/* Whether something did not get the memory it needed. */
int report_failed(const struct report *report);

#endif
