#include "base/data_folder.h"

#include <build_info.h>
#include <stdio.h>
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
        int n = snprintf(path, size, "%s/%s/%s", program, beside[i], name);
        if (n > 0 && (size_t)n < size && is_folder(path))
            return 1;
    }
    snprintf(path, size, "%s/%s", DSE_DATA_FOLDER, name);
    return is_folder(path);
}
