/* The program's data is looked for beside the running program first (installed, or in a build tree), then in
 * the folder that was compiled in. New files are written beside their place under another name. */
#include "base/files.h"

#include <build_info.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The folder of the shared library that this is a part of, as it was when that was loaded. */
static bool library_folder(char *buffer, size_t size)
{
    char origin[PATH_MAX];
    struct link_map *map = NULL;
    Dl_info info;
    if (!dladdr1((const void *)data_folder_find, &info, (void **)&map, RTLD_DL_LINKMAP) || !map ||
        !map->l_name[0]) /* the program itself has no name */
        return false;
    void *library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    const bool found = library && dlinfo(library, RTLD_DI_ORIGIN, origin) == 0;
    if (library)
        (void)dlclose(library);
    return found && text_copy(buffer, size, origin);
}

/* The folder of the running program, or "."; in other people's programs that of the library. */
static void program_folder(char *buffer, size_t size)
{
    if (library_folder(buffer, size))
        return;
    ssize_t n = readlink("/proc/self/exe", buffer, size - 1);
    char *slash = NULL;
    if (n > 0) {
        buffer[n] = '\0';
        slash = strrchr(buffer, '/');
    }
    if (slash)
        *slash = '\0';
    else
        text_copy(buffer, size, ".");
}

int data_folder_find(const char *name, char *path, size_t size)
{
    /* Installed; then build/dse or libdse.so, build/asan/dse, build/release/tests/FOLDER/test_x. */
    static const char *const beside[] = {"../share/dse", "..", "../..", "../../../.."};
    char program[2048];
    program_folder(program, sizeof program);
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        char there[3072], *resolved;
        snprintf(there, sizeof there, "%s/%s/%.64s", program, beside[i], name);
        resolved = is_folder(there) ? realpath(there, NULL) : NULL;
        if (!resolved)
            continue;
        int fits = text_copy(path, size, resolved);
        free(resolved);
        if (fits)
            return 1;
    }
    snprintf(path, size, "%s/%s", DSE_DATA_FOLDER, name);
    return is_folder(path);
}

enum dse_status data_file_append(const char *folder, const char *name, struct text_buffer *text,
                                 struct dse_error *err)
{
    char path[4352], block[4096];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    while (file && (n = fread(block, 1, sizeof block, file)) > 0)
        text_append_bytes(text, block, n);
    bool fine = file && !ferror(file);
    int reason = errno;
    if (file)
        fclose(file);
    return fine ? DSE_OK : dse_fail_at(err, DSE_IO, path, 0, "cannot be read: %s", strerror(reason));
}

enum dse_status data_folder_append(const char *folder, const char *name, struct text_buffer *text,
                                   struct dse_error *err)
{
    char found[4096];
    if (!data_folder_find(folder, found, sizeof found))
        return dse_fail(err, DSE_IO, "the template %s is neither beside the program nor in %s", name, found);
    return data_file_append(found, name, text, err);
}

int file_create(const char *path)
{
    const int flags = O_RDWR | O_CLOEXEC;
    if (file_is_systems(path))
        return open(path, flags);
    if (unlink(path) != 0 && errno == EISDIR) /* else it was left over, or planted by another */
        return -1;
    return open(path, flags | O_NOFOLLOW | O_CREAT | O_EXCL, 0666);
}

int file_open_kept(const char *path, int flags)
{
    return open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
}

const char *file_error(int code)
{
    return code == ELOOP
               ? "it is a symbolic link, and nothing is written through one; remove it, or name the "
                 "file that it leads to"
               : strerror(code);
}

bool file_is_systems(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
}

/* The stream's descriptor: of a new file, or of what the system has there. */
static int open_stream(struct new_file *file)
{
    if (file_is_systems(file->path)) {
        file->temporary[0] = '\0';
        return open(file->path, O_WRONLY | O_CLOEXEC);
    }
    return file_create(file->temporary);
}

enum dse_status new_file_open(const char *path, FILE *otherwise, struct new_file *file, struct dse_error *err)
{
    *file = (struct new_file){.path = path, .stream = otherwise};
    if (!path)
        return DSE_OK;
    int length = snprintf(file->temporary, sizeof file->temporary, "%s.tmp", path);
    if (!path[0] || length < 0 || (size_t)length >= sizeof file->temporary)
        return dse_fail(err, DSE_BAD_USAGE, "the path of the output is empty or too long");
    int fd = open_stream(file);
    file->stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (file->stream)
        return DSE_OK;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    return dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", strerror(reason));
}

enum dse_status new_file_close(struct new_file *file, enum dse_status status, struct dse_error *err)
{
    bool bad = file->stream && (fflush(file->stream) != 0 || ferror(file->stream));
    if (!file->path)
        return status == DSE_OK && bad ? dse_fail(err, DSE_IO, "the output cannot be written") : status;
    bad = fclose(file->stream) != 0 || bad;
    bool in_place = !file->temporary[0];
    if (status == DSE_OK && (bad || (!in_place && rename(file->temporary, file->path) != 0)))
        status = dse_fail_at(err, DSE_IO, file->path, 0, "cannot be written: %s", strerror(errno));
    if (status != DSE_OK && !in_place)
        unlink(file->temporary);
    return status;
}

enum dse_status new_file_write(const char *path, const struct text_buffer *text, struct dse_error *err)
{
    struct new_file file;
    if (text->failed)
        return dse_fail_at(err, DSE_NO_MEMORY, path, 0, "out of memory for its text");
    DSE_TRY(new_file_open(path, NULL, &file, err));
    fwrite(text->data, 1, text->length, file.stream);
    return new_file_close(&file, DSE_OK, err);
}
