/* Models of `dse train` that carry a seal, as if we had written them, but other values, lengths and shapes:
 * the input is a list of edits of the datasets and attributes that the reader asks for, so that it goes
 * beyond the checksum. What is read predicts, is for one machine and mode, and comes back when it is written
 * again. */
#include <hdf5.h>

#include "tests/fuzz/hdf5_base.h"

enum { EDIT_MAX = 8, VALUE_MAX = 4096, HIDDEN_MAX = 4 };

static const double odd[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e-300, 1e300, 4294967296, 62, 12, 20, 0.5};

/* The input, byte by byte; 0 behind its end. */
struct bytes {
    const uint8_t *at;
    size_t left;
};

static unsigned take(struct bytes *bytes)
{
    if (bytes->left == 0)
        return 0;
    bytes->left--;
    return *bytes->at++;
}

static double take_value(struct bytes *bytes)
{
    unsigned byte = take(bytes);
    return byte & 0x80 ? odd[byte % (sizeof odd / sizeof odd[0])] : (double)byte;
}

/* Other values in the place of a dataset's, of the same type. */
static void replace(hid_t file, const char *name, hid_t stored, const double *value, size_t n)
{
    hsize_t length = n;
    H5Ldelete(file, name, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t dataset = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (dataset >= 0 && n > 0)
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Sclose(space);
}

/* One value of a dataset, or its length; new places are 1. */
static void edit_values(hid_t file, const char *name, struct bytes *bytes)
{
    static double value[VALUE_MAX];
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset < 0)
        return;
    hid_t space = H5Dget_space(dataset), stored = H5Dget_type(dataset);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    for (size_t i = 0; i < VALUE_MAX; i++)
        value[i] = 1;
    bool known = n >= 0 && n <= VALUE_MAX &&
                 H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0;
    H5Sclose(space);
    H5Dclose(dataset);
    unsigned what = take(bytes), at = take(bytes) << 8 | take(bytes);
    if (known && what % 4 == 0)
        n = at % VALUE_MAX;
    else if (known && n > 0)
        value[at % (unsigned)n] = take_value(bytes);
    if (known)
        replace(file, name, stored, value, (size_t)n);
    H5Tclose(stored);
}

/* Other hidden layers, with as many parameters as they have, or one more. */
static void reshape(hid_t file, unsigned net, struct bytes *bytes)
{
    static double parameter[VALUE_MAX];
    double width[HIDDEN_MAX + 2] = {62};
    char name[32];
    size_t n_hidden = take(bytes) % (HIDDEN_MAX + 1), n = 0;
    for (size_t i = 1; i <= n_hidden; i++)
        width[i] = take(bytes);
    width[n_hidden + 1] = take(bytes) % 8 ? 12 : take(bytes);
    for (size_t i = 0; i <= n_hidden; i++)
        n += (size_t)((width[i] + 1) * width[i + 1]);
    n += take(bytes) % 8 == 7;
    double value = take_value(bytes);
    for (size_t i = 0; i < VALUE_MAX; i++)
        parameter[i] = i % 7 ? 0.1 : value;
    snprintf(name, sizeof name, "net_%u/width", net);
    replace(file, name, H5T_STD_U32LE, width, n_hidden + 2);
    snprintf(name, sizeof name, "net_%u/parameter", net);
    replace(file, name, H5T_IEEE_F32LE, parameter, n < VALUE_MAX ? n : VALUE_MAX);
}

/* A count of the root. */
static void edit_count(hid_t file, const char *name, struct bytes *bytes)
{
    uint64_t value = take(bytes);
    if (value & 0x80)
        value = UINT64_MAX >> (value & 0x3f);
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    if (attribute < 0)
        return;
    H5Awrite(attribute, H5T_NATIVE_UINT64, &value);
    H5Aclose(attribute);
}

/* A word of the root: one of those that some model may have, or from the input. */
static void edit_word(hid_t file, const char *name, struct bytes *bytes)
{
    static const char *const word[] = {"mttkrp", "cnn",  "mustfit", "autobypass",
                                       "raw",    "log2", "ratio",   "log"};
    char own[] = {(char)(take(bytes) % 127 + 1), (char)(take(bytes) % 127 + 1), '\0'};
    unsigned which = take(bytes) % 9;
    H5Adelete(file, name);
    (void)hdf5_put_text(file, name, which < 8 ? word[which] : own);
}

static void edit(hid_t file, struct bytes *bytes)
{
    static const char *const dataset[] = {
        "input_mean",  "input_deviation", "output_mean",     "output_deviation",
        "net_0/width", "net_0/parameter", "net_0/test_loss", "net_0/train_loss",
        "net_1/width", "net_1/parameter", "net_1/test_loss", "net_1/train_loss",
    };
    static const char *const count[] = {"n_net", "machine", "data", "n_sample"};
    static const char *const text[] = {"algorithm",   "mode",         "input_form",
                                       "output_form", "architecture", "core"};
    unsigned what = take(bytes), which = take(bytes);
    switch (what % 4) {
    case 0:
        edit_values(file, dataset[which % 12], bytes);
        break;
    case 1:
        reshape(file, which % 2, bytes);
        break;
    case 2:
        edit_count(file, count[which % 4], bytes);
        break;
    default:
        edit_word(file, text[which % 6], bytes);
        break;
    }
}

static bool load(const char *path, struct arena *arena, const struct mm_model **model)
{
    struct dse_error err;
    size_t n;
    char *bytes = base_load_whole(path, &n);
    bool read = fuzz_ok(mm_model_read("model.h5", bytes, n, arena, model, &err), &err);
    free(bytes);
    return read;
}

static void use(const struct hdf5_base *base, const struct mm_model *model)
{
    struct arena arena;
    struct dse_error err;
    const struct mm_model *again;
    bool serves[MM_MODE_COUNT];
    arena_init(&arena);
    for (int mode = 0; mode < MM_MODE_COUNT; mode++)
        serves[mode] = fuzz_ok(
            mm_model_check(model, "model.h5", &base->machine.machine, (enum mm_mode)mode, &err), &err);
    FUZZ_REQUIRE(!serves[0] || !serves[1], "a model of two modes");
    FUZZ_REQUIRE(mm_model_write(model, base->path, &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(load(base->path, &arena, &again), "written, but not read");
    for (uint32_t i = 0; i < model->n_net; i++) {
        const struct mlp *a = &model->net[i].mlp, *b = &again->net[i].mlp;
        struct mlp_pass pass;
        float input[MM_VALUE_MAX] = {1, -1, 0.5F};
        FUZZ_REQUIRE(mlp_pass_new(&model->net[i].frozen, &arena, &pass, &err) == DSE_OK, "%s", err.text);
        (void)mm_decode_edp(&model->encoding, mlp_predict(&pass, input));
        FUZZ_REQUIRE(a->n_layer == b->n_layer && a->n_parameter == b->n_parameter &&
                         memcmp(a->parameter, b->parameter, a->n_parameter * sizeof *a->parameter) == 0,
                     "network %u is another when it comes back", (unsigned)i);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hdf5_base base;
    struct bytes bytes = {data, size};
    struct arena arena;
    struct dse_error err;
    const struct mm_model *model;
    if (!base.byte[0])
        base_make(&base);
    base_store(base.path, base.byte[BASE_MODEL], base.length[BASE_MODEL]);
    hdf5_errors_silence();
    hid_t file = H5Fopen(base.path, H5F_ACC_RDWR, H5P_DEFAULT);
    FUZZ_REQUIRE(file >= 0, "%s", base.path);
    for (int i = 0; i < EDIT_MAX && bytes.left > 0; i++)
        edit(file, &bytes);
    FUZZ_REQUIRE(H5Fclose(file) >= 0, "close");
    FUZZ_REQUIRE(hdf5_seal(base.path, 0, &err) == DSE_OK, "%s", err.text);
    arena_init(&arena);
    if (load(base.path, &arena, &model))
        use(&base, model);
    arena_free(&arena);
    unlink(base.path);
    return 0;
}
