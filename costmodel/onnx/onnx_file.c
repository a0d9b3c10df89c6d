/* From a file to a text without weights and back: what goes into result files is text, so the model that is
 * left is written in base64 (RFC 4648), as the value of the key `onnx`. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "costmodel/onnx/onnx.h"
#include "costmodel/onnx/onnx_parts.h"
#include "costmodel/onnx/onnx_strip.h"

#define HEAD "onnx: \""
static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool onnx_is_path(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".onnx") == 0;
}

bool onnx_is_text(const char *bytes, size_t length)
{
    return length >= sizeof HEAD - 1 && memcmp(bytes, HEAD, sizeof HEAD - 1) == 0;
}

static void encode(const uint8_t *from, size_t n, struct text_buffer *out)
{
    char *to = text_room(out, (n + 2) / 3 * 4);
    for (size_t i = 0; to && i < n; i += 3, to += 4) {
        const uint32_t next = i + 1 < n ? from[i + 1] : 0, last = i + 2 < n ? from[i + 2] : 0;
        const uint32_t group = (uint32_t)from[i] << 16 | next << 8 | last;
        for (unsigned k = 0; k < 4; k++)
            to[k] = digit[group >> (18 - 6 * k) & 63];
        if (i + 1 >= n)
            to[2] = '=';
        if (i + 2 >= n)
            to[3] = '=';
    }
    if (to)
        text_wrote(out, to);
}

enum dse_status onnx_pack(const char *name, const void *bytes, size_t n_byte, struct text_buffer *text,
                          struct dse_error *err)
{
    struct text_buffer stripped;
    text_init(&stripped);
    enum dse_status status = onnx_strip(name, bytes, n_byte, &stripped, err);
    if (status == DSE_OK && stripped.length == 0)
        status = dse_fail_at(err, DSE_BAD_INPUT, name, 0, "no ONNX model: nothing in it is one");
    if (status == DSE_OK) {
        text_append(text, "%s", HEAD);
        encode((const uint8_t *)stripped.data, stripped.length, text);
        text_append(text, "\"\n");
        status = text_check(text, "an ONNX model", err);
    }
    text_free(&stripped);
    return status;
}

static int value_of(char c)
{
    const char *at = c ? strchr(digit, c) : NULL;
    return at ? (int)(at - digit) : -1;
}

enum dse_status onnx_unpack(const char *name, const char *text, size_t length, struct arena *arena,
                            uint8_t **bytes, size_t *n_byte, struct dse_error *err)
{
    const char *at = text + sizeof HEAD - 1, *end = text + length;
    uint8_t *to = *bytes = arena_alloc_unset(arena, length, 1);
    uint32_t group = 0, n_bit = 0;
    DSE_TRY(arena_check(arena, "an ONNX model", err));
    for (int value; at < end && (value = value_of(*at)) >= 0; at++) {
        group = group << 6 | (uint32_t)value;
        n_bit += 6;
        if (n_bit >= 8)
            *to++ = (uint8_t)(group >> (n_bit -= 8));
    }
    while (at < end && *at == '=')
        at++;
    if (at == end || *at != '"')
        return dse_fail_at(err, DSE_BAD_INPUT, name, 1, "the text of the ONNX model is damaged");
    *n_byte = (size_t)(to - *bytes);
    return DSE_OK;
}

/* Pages of weights are never touched, and not read ahead. */
static enum dse_status map_file(const char *path, void **bytes, size_t *n_byte, struct dse_error *err)
{
    struct stat info;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be opened: %s", strerror(errno));
    enum dse_status status = DSE_OK;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        status = dse_fail_at(err, DSE_IO, path, 0, "an ONNX file is expected; this is no plain file");
    else if (info.st_size == 0)
        status = dse_fail_at(err, DSE_BAD_INPUT, path, 0, "no ONNX model: the file is empty");
    if (status == DSE_OK) {
        *n_byte = (size_t)info.st_size;
        *bytes = mmap(NULL, *n_byte, PROT_READ, MAP_PRIVATE, file, 0);
        if (*bytes == MAP_FAILED)
            status = dse_fail_at(err, DSE_IO, path, 0, "cannot be mapped: %s", strerror(errno));
        else
            (void)madvise(*bytes, *n_byte, MADV_RANDOM); /* advice only */
    }
    (void)close(file); /* read only */
    return status;
}

enum dse_status onnx_load(const char *path, char **text, size_t *length, struct dse_error *err)
{
    struct text_buffer out;
    void *bytes = NULL;
    size_t n_byte = 0;
    DSE_TRY(map_file(path, &bytes, &n_byte, err));
    text_init(&out);
    const enum dse_status status = onnx_pack(path, bytes, n_byte, &out, err);
    (void)munmap(bytes, n_byte);
    if (status != DSE_OK) {
        text_free(&out);
        return status;
    }
    *text = out.data; /* the caller's from here on */
    *length = out.length;
    return DSE_OK;
}
