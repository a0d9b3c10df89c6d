/* Status codes and error text. Every fallible function returns `enum dse_status` and takes `struct dse_error
 * *` last. "Infeasible" is never a status: it is a finding, and lives in result fields. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#define DSE_STATUS_LIST(X)                                                                                   \
    X(DSE_OK, "ok")                                                                                          \
    X(DSE_BAD_INPUT, "bad input")                                                                            \
    X(DSE_BAD_USAGE, "wrong use")                                                                            \
    X(DSE_IO, "input/output error")                                                                          \
    X(DSE_NO_MEMORY, "out of memory")                                                                        \
    X(DSE_LIMIT, "beyond a documented limit")                                                                \
    X(DSE_INTERRUPTED, "interrupted")                                                                        \
    X(DSE_INTERNAL, "internal error")

enum dse_status {
#define DSE_STATUS_ENUM(code, text) code,
    DSE_STATUS_LIST(DSE_STATUS_ENUM)
#undef DSE_STATUS_ENUM
};

#define DSE_MUST_CHECK __attribute__((warn_unused_result))

enum { DSE_ERROR_FILE_MAX = 512, DSE_ERROR_TEXT_MAX = 1024 };

/* What went wrong. `file` is empty and `line` 0 when no input file is to blame. */
struct dse_error {
    enum dse_status status;
    int line;
    char file[DSE_ERROR_FILE_MAX];
    char text[DSE_ERROR_TEXT_MAX];
};

/* The words of a status ("bad input"); never NULL. */
const char *dse_status_text(enum dse_status status);

/* Fill `err` (may be NULL) without a place in a file and return `status`. Long text is cut, never overrun;
 * control characters in it become '?'. */
enum dse_status dse_fail(struct dse_error *err, enum dse_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the file and line to blame (line 0: the file as a whole). */
enum dse_status dse_fail_at(struct dse_error *err, enum dse_status status, const char *file, int line,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The status of reading `file`: an error that names no file gets this one where memory was lacking, so that
 * it is known for what. Returns `status`. */
enum dse_status dse_while_reading(const char *file, enum dse_status status, struct dse_error *err);

/* Write "file:line: text", "file: text" or "text" into `buffer` (always terminated); returns `buffer`. */
char *dse_error_print(const struct dse_error *err, char *buffer, unsigned long size);

/* Return early with the status of a failed call. */
#define DSE_TRY(call)                                                                                        \
    do {                                                                                                     \
        enum dse_status dse_try_status_ = (call);                                                            \
        if (dse_try_status_ != DSE_OK)                                                                       \
            return dse_try_status_;                                                                          \
    } while (0)

enum { DSE_FAULT_MAX = 200 };

/* All that is wrong with an input, where that is wanted: its readers note an error and go on with the next
 * thing. */
struct dse_faults {
    size_t n;       /* of different ones; the first DSE_FAULT_MAX are kept */
    size_t n_noted; /* the same words again as well */
    struct dse_error fault[DSE_FAULT_MAX];
};

/* What becomes of `status` and `err`: with `faults` an error of the input is taken up, unless the same words
 * are there already, or those of another repetition of a block (b1.conv, b2.conv) for the same line, and
 * DSE_OK is returned; else `status`. */
DSE_MUST_CHECK enum dse_status dse_note(struct dse_faults *faults, enum dse_status status,
                                        struct dse_error *err);

/* How many were noted, also again; 0 of NULL. It has grown: something was wrong in between. */
size_t dse_faults_count(const struct dse_faults *faults);

/* Do `call`, and go on after an error where all errors are wanted. Needs `err`. */
#define DSE_NOTE(faults, call) DSE_TRY(dse_note((faults), (call), err))

#endif
