/* Lock files: any bytes as OUT.lock are read as somebody or nobody, and are taken over or refused, each in
 * words. */
#include <stdlib.h>
#include <unistd.h>

#include "results/journal/lock.h"
#include "tests/fuzz/fuzz.h"

enum { PATH_MAX_BYTE = 512 };

static void put(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(data, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

static void check_owner(const struct lock_owner *owner)
{
    FUZZ_REQUIRE(memchr(owner->host, 0, sizeof owner->host) && memchr(owner->since, 0, sizeof owner->since) &&
                     memchr(owner->command, 0, sizeof owner->command),
                 "a text without an end");
    FUZZ_REQUIRE(owner->pid >= 0, "pid %ld", owner->pid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lock_manner manner[] = {
        {false, NULL, 0}, {true, NULL, 0}, {true, "elsewhere", 0}, {false, "elsewhere", 0}};
    char out[PATH_MAX_BYTE], path[PATH_MAX_BYTE];
    const char *folder = getenv("TMPDIR");
    snprintf(out, sizeof out, "%s/dse-fuzz-%ld.csv", folder ? folder : "/tmp", (long)getpid());
    snprintf(path, sizeof path, "%s/dse-fuzz-%ld.lock", folder ? folder : "/tmp", (long)getpid());
    for (size_t i = 0; i < sizeof manner / sizeof manner[0]; i++) {
        struct lock_owner owner = {0}, stale = {0};
        struct lock *lock = NULL;
        struct dse_error err;
        put(path, data, size);
        FUZZ_REQUIRE(lock_read(out, &owner), "there is a lock file");
        check_owner(&owner);
        enum dse_status status = lock_take_so(out, "fuzz", &manner[i], &lock, &stale, &err);
        if (fuzz_ok(status, &err)) {
            check_owner(&stale);
            FUZZ_REQUIRE(lock_read(out, &owner) && owner.held, "taken, but not held");
            lock_touch(lock);
            lock_release(lock);
            FUZZ_REQUIRE(access(path, F_OK) != 0, "released, but still there");
        }
        unlink(path);
    }
    return 0;
}
