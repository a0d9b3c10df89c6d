/* Bytes of a YAML file: reading, size and binary checks. The tree is made in yaml_tree.c, getters are in
 * yaml_values.c. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/yaml_tree.h"

enum { READ_BYTE = 65536 };

static enum dse_status fail_io(const char *path, int error, struct dse_error *err)
{
    char words[128];
    /* The GNU form: the text may lie in `words` or be constant. */
    const char *reason = strerror_r(error, words, sizeof words);
    return dse_fail_at(err, DSE_IO, path, 0, "cannot read: %s", reason);
}

static enum dse_status fail_memory(const char *path, struct dse_error *err)
{
    return dse_fail_at(err, DSE_NO_MEMORY, path, 0, "out of memory while reading");
}

static enum dse_status fail_too_large(const char *path, struct dse_error *err)
{
    return dse_fail_at(err, DSE_LIMIT, path, 0, "larger than %d MiB, the most that is read",
                       (int)YAML_FILE_MAX_BYTE / (1024 * 1024));
}

/* All of an open file into `text`, which the caller frees in any case. */
static enum dse_status read_all(int file, const char *path, struct text_buffer *text, struct dse_error *err)
{
    for (;;) {
        char *room = text_room(text, READ_BYTE);
        if (!room)
            return fail_memory(path, err);
        ssize_t got = read(file, room, READ_BYTE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_io(path, errno, err);
        text_wrote(text, room + (got > 0 ? got : 0));
        if (got == 0)
            return DSE_OK;
        if (text->length > YAML_FILE_MAX_BYTE)
            return fail_too_large(path, err);
    }
}

static enum dse_status read_path(const char *path, struct text_buffer *text, struct dse_error *err)
{
    /* A pipe that nobody writes to is empty, and is not waited for; of one that somebody has open all is
     * read. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return fail_io(path, errno, err);
    (void)fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    struct stat about;
    enum dse_status status = DSE_OK;
    if (fstat(file, &about) != 0)
        status = fail_io(path, errno, err);
    else if (S_ISDIR(about.st_mode))
        status = dse_fail_at(err, DSE_IO, path, 0, "cannot read: it is a directory, not a file");
    else if (about.st_size > YAML_FILE_MAX_BYTE)
        status = fail_too_large(path, err);
    if (status == DSE_OK)
        status = read_all(file, path, text, err);
    close(file);
    return status;
}

/* Name binary files as such before libyaml complains about a byte in them. */
static enum dse_status check_text(const char *name, const char *bytes, size_t length, struct dse_error *err)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    if (length >= 2 && ((byte[0] == 0xFF && byte[1] == 0xFE) || (byte[0] == 0xFE && byte[1] == 0xFF)))
        return dse_fail_at(err, DSE_BAD_INPUT, name, 1, "the file is UTF-16; save it as UTF-8");
    int line = 1;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = byte[i];
        if (c == '\n')
            line++;
        else if ((c < 0x20 && c != '\t' && c != '\r') || c == 0x7F)
            return dse_fail_at(err, DSE_BAD_INPUT, name, line,
                               "a binary file, not YAML text (control byte 0x%02x at byte %zu)", (unsigned)c,
                               i);
    }
    return DSE_OK;
}

enum dse_status yaml_load(const char *path, char **bytes, size_t *length, struct dse_error *err)
{
    struct text_buffer text;
    text_init(&text);
    enum dse_status status = read_path(path, &text, err);
    if (status == DSE_OK) {
        *bytes = text.data;
        *length = text.length;
    } else {
        text_free(&text);
    }
    return status;
}

enum dse_status yaml_parse(struct yaml_doc *doc, const char *name, const char *bytes, size_t length,
                           struct dse_error *err)
{
    memset(doc, 0, sizeof *doc);
    arena_init(&doc->arena);
    if (length > YAML_FILE_MAX_BYTE)
        return fail_too_large(name, err);
    DSE_TRY(check_text(name, bytes, length, err));
    doc->path = arena_copy_text(&doc->arena, name, strlen(name));
    if (!doc->path)
        return fail_memory(name, err);
    enum dse_status status = yaml_tree_build(doc, bytes, length, err);
    if (status != DSE_OK)
        yaml_doc_free(doc);
    return status;
}

enum dse_status yaml_read(struct yaml_doc *doc, const char *path, struct dse_error *err)
{
    struct text_buffer text;
    text_init(&text);
    memset(doc, 0, sizeof *doc);
    enum dse_status status = read_path(path, &text, err);
    if (status == DSE_OK)
        status = yaml_parse(doc, path, text.data, text.length, err);
    text_free(&text);
    return status;
}

void yaml_doc_free(struct yaml_doc *doc)
{
    arena_free(&doc->arena);
    doc->path = NULL;
    doc->root = NULL;
}
