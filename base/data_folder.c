/* Looks beside the running program first (installed, or in a build tree), then in the folder that was
 * compiled in. */
#include "base/data_folder.h"

#include <build_info.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The folder of the running program, or "." */
static void program_folder(char *buffer, size_t size)
{
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
    /* Installed; then build/dse, build/asan/dse, build/release/tests/FOLDER/test_x. */
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
