/* Quantities with units, as users write them: "128 KiB", "16 GB/s", "0.8 pJ", "1 GHz", "24 bit", "30 um".
 * Values come out in SI (bytes and bits as counts). A missing or foreign unit, trailing junk, nan, inf or a
 * negative number is an error whose text names the value and what is accepted. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* What a quantity measures. */
enum unit_kind {
    UNIT_BYTE,           /* B, KiB MiB GiB TiB (1024) and kB MB GB TB (1000); value in byte */
    UNIT_BIT,            /* bit, Kibit, kbit ...; value in bit */
    UNIT_BYTE_PER_S,     /* B/s, KiB/s ... GB/s, TB/s, and bit/s forms Mbit/s Gbit/s; value in byte/s */
    UNIT_JOULE,          /* fJ pJ nJ uJ mJ J; value in joule */
    UNIT_HERTZ,          /* Hz kHz MHz GHz; value in hertz */
    UNIT_SECOND,         /* ns us ms s min h; value in second */
    UNIT_METRE,          /* nm um mm m; value in metre */
    UNIT_WATT,           /* nW uW mW W; value in watt */
    UNIT_CYCLE,          /* "12 cycle" or "12 cycles"; value in cycles */
    UNIT_WORD,           /* "8 word" or "8 words"; value in words */
    UNIT_WORD_PER_CYCLE, /* "16 word/cycle"; value in words per cycle */
    UNIT_JOULE_PER_BIT,  /* pJ/bit fJ/bit; value in joule per bit */
    UNIT_MM2             /* um2 mm2; value in square millimetres */
};

/* Parse `text` into `*value` (SI). `what` is named in the error text ("GlobalBuffer.capacity"). `err` gets no
 * file or line; the caller adds them. DSE_BAD_INPUT when the text is not such a quantity. */
DSE_MUST_CHECK enum dse_status quantity_parse(const char *text, enum unit_kind kind, const char *what,
                                              double *value, struct dse_error *err);

/* A unit by its parts, for exact arithmetic: value in SI = number x 10^ten x 2^two x times. */
struct unit_scale {
    enum unit_kind kind;
    const char *name; /* static */
    int ten, two, times;
};

/* The unit of that name, whatever it measures (no name has two meanings). False when there is none. */
bool unit_find(const char *name, struct unit_scale *scale);

/* A short text for people: the shortest of all units that keep the number >= 1 (pJ: >= 0.01), the larger unit
 * when two are equally short: 131072 byte -> "128 KiB", 1.6e10 byte/s -> "16 GB/s", 8e-13 J -> "0.8 pJ". It
 * parses back to the same double for every finite value >= 0. 48 bytes hold any result. Returns `buffer`. */
char *quantity_print(double value, enum unit_kind kind, char *buffer, size_t size);

/* The SI symbol of a kind's value, for column names and attributes: "byte", "byte/s", "J", ... */
const char *unit_symbol(enum unit_kind kind);

#endif
