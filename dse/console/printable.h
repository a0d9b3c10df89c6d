/* Text for people: control characters (C0 but newline and tab, DEL, C1 in UTF-8 or as raw bytes) become '?',
 * so that no name, title, path or file can play with a terminal. */
#ifndef DSE_CONSOLE_PRINTABLE_H
#define DSE_CONSOLE_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/* In place; `n` bytes. Returns how many of them are done: fewer than `n` only when they end within a
 * character (at most 3 bytes are left). */
size_t printable_clean(char *text, size_t n);

/* What such a stream remembers. */
struct printable {
    int fd;
    size_t n_held; /* bytes of a character that has not come to its end */
    char held[4];
};

/* A stream that writes to the descriptor of `to` what is printable of what it gets: a line at a time where
 * `lines`. It has no descriptor itself; `stream` outlives it, and fclose leaves `to` open. `to` itself when
 * there is no memory. */
FILE *printable_stream(struct printable *stream, FILE *to, int lines);

#endif
