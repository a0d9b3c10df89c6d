/* Sweep specifications: any bytes give a sweep or an error, and each of its first points gives a machine or
 * an error. The files it names are those of this repository. */
#include <stdlib.h>
#include <unistd.h>

#include "dse/spec/sweep.h"
#include "tests/fuzz/fuzz.h"

enum { PATH_MAX_BYTE = 512, POINT_MAX = 20, PRINTED_MAX = 256 };

/* Here an unreadable file is the input's fault: the specification named it. */
static bool spec_ok(enum dse_status status, struct dse_error *err)
{
    if (status == DSE_IO) {
        fuzz_check_text(err->text);
        return false;
    }
    return fuzz_ok(status, err);
}

static void check_points(const struct sweep *sweep)
{
    struct sweep_point *point = malloc(sizeof *point);
    struct architecture *arch = malloc(sizeof *arch);
    struct dse_error err;
    char text[PRINTED_MAX];
    FUZZ_REQUIRE(point && arch, "out of memory");
    FUZZ_REQUIRE(sweep->n_point <= sweep->n_cell && sweep->n_cell <= SWEEP_CELL_MAX, "%zu points",
                 sweep->n_point);
    for (size_t p = 0; p < sweep->n_point && p < POINT_MAX; p++) {
        sweep_point(sweep, p, point);
        if (spec_ok(sweep_point_build(point, arch, &err), &err))
            FUZZ_REQUIRE(architecture_check(arch, &err) == DSE_OK, "built, but: %s", err.text);
        sweep_point_print(sweep, p, text, sizeof text);
        FUZZ_REQUIRE(strlen(text) < sizeof text, "point %zu", p);
    }
    free(point);
    free(arch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const set[] = {"batch=2"};
    char path[PATH_MAX_BYTE];
    const char *base = getenv("TMPDIR");
    struct sweep_spec *spec = malloc(sizeof *spec);
    struct sweep *sweep = malloc(sizeof *sweep);
    struct dse_error err;
    FUZZ_REQUIRE(spec && sweep, "out of memory");
    snprintf(path, sizeof path, "%s/dse-fuzz-spec-%ld.yaml", base ? base : "/tmp", (long)getpid());
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(data, 1, size, file) == size && fclose(file) == 0, "%s", path);
    for (size_t n_set = 0; n_set < 2; n_set++) {
        if (spec_ok(spec_read(spec, path, set, n_set, &err), &err)) {
            if (spec_ok(sweep_init(sweep, spec, &err), &err))
                check_points(sweep);
            sweep_free(sweep);
        }
        spec_free(spec);
    }
    unlink(path);
    free(spec);
    free(sweep);
    return 0;
}
