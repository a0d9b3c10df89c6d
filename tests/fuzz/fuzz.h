/* What every fuzz target uses: the entry point's prototype, a check that stops the fuzzer, and what each
 * error must be. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

/* libFuzzer calls this for every input; returns 0. Leaks and undefined behaviour are caught by the
 * sanitizers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken promise: say which and stop, so that libFuzzer keeps the input. */
#define FUZZ_REQUIRE(condition, ...)                                                                         \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: broken: %s: ", __FILE__, __LINE__, #condition);                          \
            fprintf(stderr, __VA_ARGS__);                                                                    \
            fputc('\n', stderr);                                                                             \
            __builtin_trap();                                                                                \
        }                                                                                                    \
    } while (0)

/* A text for people: not empty, and nothing that could play with a terminal. */
static inline void fuzz_check_text(const char *text)
{
    FUZZ_REQUIRE(text[0] != '\0', "an empty message");
    for (const char *at = text; *at; at++)
        FUZZ_REQUIRE((unsigned char)*at >= 0x20 && *at != 0x7f, "control character 0x%02x in '%s'",
                     (unsigned)(unsigned char)*at, text);
}

/* Returns whether the call succeeded; a failure must be one that an input can cause, and say so in words. */
static inline bool fuzz_ok(enum dse_status status, const struct dse_error *err)
{
    if (status == DSE_OK)
        return true;
    FUZZ_REQUIRE(status == DSE_BAD_INPUT || status == DSE_BAD_USAGE || status == DSE_LIMIT, "status '%s': %s",
                 dse_status_text(status), err->text);
    FUZZ_REQUIRE(err->status == status, "returned '%s', wrote '%s'", dse_status_text(status),
                 dse_status_text(err->status));
    FUZZ_REQUIRE(err->line >= 0, "line %d", err->line);
    fuzz_check_text(err->text);
    return false;
}

/* A result: finite and not negative. */
static inline void fuzz_check_number(double value, const char *what)
{
    FUZZ_REQUIRE(isfinite(value) && value >= 0, "%s is %g", what, value);
}

#endif
