/* Control characters are replaced in texts and in streams; characters of several bytes may come in pieces. */
#include "dse/console/printable.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Length of the UTF-8 character at `at`: 0 when there is none (then one byte is looked at alone), more than
 * `n` when it is cut. */
static size_t character(const unsigned char *at, size_t n)
{
    size_t length = at[0] < 0x80                     ? 1
                    : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                    : at[0] >= 0xe0 && at[0] <= 0xef ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;
    for (size_t i = 1; i < length && i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if (n > 1 && ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90))) /* overlong */
        return 0;
    return length;
}

size_t printable_clean(char *text, size_t n)
{
    unsigned char *at = (unsigned char *)text;
    size_t i = 0;
    while (i < n) {
        size_t length = character(at + i, n - i);
        if (length > n - i)
            break;
        if (length <= 1) {
            unsigned char c = at[i];
            if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0))
                at[i] = '?';
            length = 1;
        } else if (at[i] == 0xc2 && at[i + 1] < 0xa0) {
            at[i] = at[i + 1] = '?';
        }
        i += length;
    }
    return i;
}

static int put(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return 0;
        bytes += done;
        n -= (size_t)done;
    }
    return 1;
}

static ssize_t write_printable(void *cookie, const char *bytes, size_t n)
{
    struct printable *stream = cookie;
    char piece[4096];
    for (size_t at = 0; at < n;) {
        size_t room = sizeof piece - stream->n_held, take = n - at < room ? n - at : room;
        size_t whole = stream->n_held + take;
        memcpy(piece, stream->held, stream->n_held);
        memcpy(piece + stream->n_held, bytes + at, take);
        size_t done = printable_clean(piece, whole);
        stream->n_held = whole - done;
        memcpy(stream->held, piece + done, stream->n_held);
        if (!put(stream->fd, piece, done))
            return 0;
        at += take;
    }
    return (ssize_t)n;
}

FILE *printable_stream(struct printable *stream, FILE *to, int lines)
{
    *stream = (struct printable){.fd = fileno(to)};
    FILE *file = fopencookie(stream, "w", (cookie_io_functions_t){.write = write_printable});
    if (!file)
        return to;
    if (lines)
        (void)setvbuf(file, NULL, _IOLBF, BUFSIZ);
    return file;
}
