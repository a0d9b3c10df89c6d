/* HDF5 files that are sound but not what the program writes: the input is a list of operations on the
 * objects of a cube, a timeline, a trained model or training data (delete, rename, put another dataset or
 * attribute of any type, rank and length in its place). So our own readers are reached and not only HDF5;
 * the file gets a seal, as if it were ours. */
#include <hdf5.h>
#include <hdf5_hl.h>

#include "tests/fuzz/hdf5_base.h"

enum { OBJECT_MAX = 256, NAME_MAX_BYTE = 96, VALUE_MAX = 64, OPERATION_MAX = 12 };

struct objects {
    char name[OBJECT_MAX][NAME_MAX_BYTE];
    size_t n;
};

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

static herr_t on_object(hid_t root, const char *name, const H5O_info_t *info, void *user)
{
    struct objects *objects = user;
    (void)root;
    (void)info;
    if (objects->n < OBJECT_MAX && strlen(name) < NAME_MAX_BYTE && strcmp(name, ".") != 0)
        snprintf(objects->name[objects->n++], NAME_MAX_BYTE, "%s", name);
    return 0;
}

static hid_t make_type(unsigned kind)
{
    hid_t type;
    switch (kind % 8) {
    case 0:
        return H5Tcopy(H5T_IEEE_F64LE);
    case 1:
        return H5Tcopy(H5T_STD_U64LE);
    case 2:
        return H5Tcopy(H5T_STD_I8BE);
    case 3:
        return H5Tcopy(H5T_IEEE_F32BE);
    case 4: /* texts of a fixed length */
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, 5);
        return type;
    case 5:
        type = H5Tcreate(H5T_COMPOUND, 8);
        H5Tinsert(type, "a", 0, H5T_STD_I32LE);
        return type;
    case 6:
        return H5Tvlen_create(H5T_STD_I16LE);
    default:
        return hdf5_text_type();
    }
}

/* Rank 0 to 4, lengths of a few or very large; large ones are chunked, so that they take no room. */
static hid_t make_space(struct bytes *bytes, bool is_attribute, int *rank, hsize_t dim[4])
{
    static const hsize_t length[] = {1, 2, 3, 4, 24, 0, 7, 1u << 20};
    static const hsize_t huge[] = {(hsize_t)1 << 33, (hsize_t)1 << 62};
    *rank = (int)(take(bytes) % 5);
    for (int i = 0; i < *rank; i++) {
        unsigned which = take(bytes);
        dim[i] = which >= 0xfe ? huge[which & 1] : length[which % 8];
        if (is_attribute && dim[i] > 24)
            dim[i] = 24;
    }
    return *rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(*rank, dim, NULL);
}

/* The first values of a dataset, or all of an attribute, from the input. */
static void fill(struct bytes *bytes, bool text, size_t n, uint64_t *value, char (*word)[8])
{
    static const double odd[] = {NAN, INFINITY, -1, 0, 1e300, 65536, 3, 0.5};
    for (size_t i = 0; i < n; i++) {
        unsigned byte = take(bytes);
        if (text) {
            snprintf(word[i], sizeof word[i], "%c%s", (int)(byte % 127) + 1, byte & 1 ? "\n,\"'" : "");
            const char *at = word[i];
            memcpy(&value[i], &at, sizeof at);
        } else if (byte & 0x80) {
            memcpy(&value[i], &odd[byte & 7], sizeof value[i]);
        } else {
            value[i] = byte == 0x7f ? UINT64_MAX : byte;
        }
    }
}

static void put_dataset(hid_t file, const char *name, struct bytes *bytes)
{
    char word[VALUE_MAX][8];
    uint64_t value[VALUE_MAX * 4] = {0}; /* also room for vlen elements that are never written */
    hsize_t dim[4], chunk[4] = {4, 4, 4, 4};
    int rank;
    unsigned kind = take(bytes);
    hid_t type = make_type(kind), space = make_space(bytes, false, &rank, dim);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool text = kind % 8 == 7;
    hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    if (rank > 0 && (n > VALUE_MAX || (kind & 8)))
        H5Pset_chunk(list, rank, chunk);
    hid_t dataset = space >= 0 ? H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT) : -1;
    if (dataset >= 0 && n > 0 && n <= VALUE_MAX && kind % 8 != 6 && kind % 8 != 5 && kind % 8 != 4) {
        fill(bytes, text, (size_t)n, value, word);
        H5Dwrite(dataset,
                 text                             ? type
                 : kind % 8 == 0 || kind % 8 == 3 ? H5T_NATIVE_DOUBLE
                                                  : H5T_NATIVE_UINT64,
                 H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    }
    if (dataset >= 0 && take(bytes) % 2)
        H5DSset_scale(dataset, name);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Pclose(list);
    if (space >= 0)
        H5Sclose(space);
    H5Tclose(type);
}

static void put_attribute(hid_t object, const char *name, struct bytes *bytes)
{
    char word[VALUE_MAX][8];
    uint64_t value[VALUE_MAX] = {0};
    hsize_t dim[4];
    int rank;
    unsigned kind = take(bytes);
    bool text = kind % 8 == 7;
    hid_t type = make_type(kind), space = make_space(bytes, true, &rank, dim);
    hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    hid_t attribute = -1;
    if (space >= 0 && n <= VALUE_MAX)
        attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0 && n > 0 && kind % 8 != 6 && kind % 8 != 5 && kind % 8 != 4) {
        fill(bytes, text, (size_t)n, value, word);
        H5Awrite(attribute,
                 text                             ? type
                 : kind % 8 == 0 || kind % 8 == 3 ? H5T_NATIVE_DOUBLE
                                                  : H5T_NATIVE_UINT64,
                 value);
    }
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    H5Tclose(type);
}

/* One operation on one object. */
static void operate(hid_t file, const struct objects *objects, struct bytes *bytes)
{
    static const char *const attribute[] = {"specification", "specification_hash",
                                            "n_point",       "name",
                                            "title",         "measures",
                                            "units",         "long_name",
                                            "labels",        "format",
                                            "clock_hz",      "cycle",
                                            "shard",         "set",
                                            "CLASS",         "network",
                                            "algorithm",     "n_net",
                                            "input_form",    "machine"};
    unsigned operation = take(bytes);
    const char *name = objects->name[take(bytes) % objects->n];
    switch (operation % 6) {
    case 0:
        H5Ldelete(file, name, H5P_DEFAULT);
        break;
    case 1:
        H5Ldelete(file, name, H5P_DEFAULT);
        put_dataset(file, name, bytes);
        break;
    case 2:
        H5Lmove(file, name, file, objects->name[take(bytes) % objects->n], H5P_DEFAULT, H5P_DEFAULT);
        break;
    case 3: { /* an attribute of the root */
        const char *which = attribute[take(bytes) % 20];
        H5Adelete(file, which);
        put_attribute(file, which, bytes);
        break;
    }
    case 4: { /* or of an object */
        const char *which = attribute[take(bytes) % 20];
        hid_t object = H5Oopen(file, name, H5P_DEFAULT);
        if (object < 0)
            break;
        H5Adelete(object, which);
        put_attribute(object, which, bytes);
        H5Oclose(object);
        break;
    }
    default:
        H5Lcreate_soft(take(bytes) % 2 ? "/" : name, file, "extra", H5P_DEFAULT, H5P_DEFAULT);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hdf5_base base;
    static struct objects objects;
    struct bytes bytes = {data, size};
    struct dse_error err;
    if (!base.byte[0])
        base_make(&base);
    size_t which = take(&bytes) % BASE_COUNT;
    base_store(base.path, base.byte[which], base.length[which]);
    hdf5_errors_silence();
    hid_t file = H5Fopen(base.path, H5F_ACC_RDWR, H5P_DEFAULT);
    FUZZ_REQUIRE(file >= 0, "%s", base.path);
    objects.n = 0;
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, on_object, &objects, H5O_INFO_BASIC);
    FUZZ_REQUIRE(objects.n >= 4, "%zu objects", objects.n);
    for (int i = 0; i < OPERATION_MAX && bytes.left > 0; i++)
        operate(file, &objects, &bytes);
    FUZZ_REQUIRE(H5Fclose(file) >= 0, "close");
    FUZZ_REQUIRE(hdf5_seal(base.path, 0, &err) == DSE_OK, "%s", err.text);
    base_read_all(&base);
    unlink(base.path);
    return 0;
}
