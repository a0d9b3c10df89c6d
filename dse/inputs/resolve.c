/* Searches the folder of the specification and its parents, then the data that comes with the program;
 * lists all names for `dse list` and for suggestions. */
#include "dse/inputs/resolve.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/files.h"
#include "base/text.h"

enum { NAME_LIST_MAX = 4096, PARENT_MAX = 16 };

static const char *const kind_folder[] = {"architectures", "networks", NULL, NULL, NULL};
static const char *const kind_word[] = {"architecture", "network", "experiment", "problem", "file"};

static int is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* A folder of problem files is a network; the slash behind its path says so. */
static int is_network_folder(enum resolve_kind kind, const char *path)
{
    struct stat info;
    return kind == RESOLVE_NETWORK && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

static int looks_like_path(const char *name)
{
    return strchr(name, '/') != NULL || has_ending(name, ".yaml") || has_ending(name, ".yml") ||
           has_ending(name, ".json") || has_ending(name, ".csv") || has_ending(name, ".onnx");
}

char *resolve_folder_of(const char *path, char *dir, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(dir, size, ".");
    else if (slash == path)
        snprintf(dir, size, "/");
    else
        snprintf(dir, size, "%.*s", (int)(slash - path), path);
    return dir;
}

/* A path as the user wrote it. */
static enum dse_status resolve_path(enum resolve_kind kind, const char *name, const char *base_dir,
                                    char *path, size_t size, struct dse_error *err)
{
    int n = -1;
    if (base_dir && name[0] != '/' && strcmp(base_dir, ".") != 0)
        n = snprintf(path, size, "%s/%s", base_dir, name);
    bool beside = n > 0 && (size_t)n < size && (is_file(path) || is_network_folder(kind, path));
    if (!beside && !text_copy(path, size, name))
        return dse_fail(err, DSE_LIMIT, "the path is longer than %zu bytes", size - 1);
    size_t length = strlen(path);
    if (is_network_folder(kind, path) && path[length - 1] != '/' && length + 1 < size)
        memcpy(path + length, "/", 2);
    return DSE_OK; /* a missing file is reported by whoever reads it */
}

/* Of the files that are found by name; experiments have the first only. */
static const char *const named_ending[] = {".yaml", ".json", ".csv"};
enum { N_ENDING = sizeof named_ending / sizeof named_ending[0] };

/* DIR/experiments/FOLDER/NAME.yaml (.json, .csv) or, for a DIR that is experiments itself or lies in it,
 * DIR/FOLDER/NAME.yaml. */
static int try_folder(const char *dir, const char *folder, const char *name, char *path, size_t size)
{
    for (int inside = 0; inside < 2; inside++)
        for (int i = 0; i < N_ENDING; i++) {
            int n = snprintf(path, size, "%s%s/%s/%s%s", dir, inside ? "" : "/experiments", folder, name,
                             named_ending[i]);
            if (n > 0 && (size_t)n < size && is_file(path))
                return 1;
        }
    return 0;
}

/* base_dir and its parents. A relative folder is followed upwards as far as it is written. */
static int try_parents(const char *base_dir, const char *folder, const char *name, char *path, size_t size)
{
    char dir[RESOLVE_PATH_MAX];
    if (!base_dir || !text_copy(dir, sizeof dir, base_dir))
        return 0;
    for (int i = 0; i < PARENT_MAX; i++) {
        if (try_folder(dir, folder, name, path, size))
            return 1;
        char *slash = strrchr(dir, '/');
        if (!slash || slash == dir)
            return 0;
        *slash = '\0';
    }
    return 0;
}

/* The data that comes with the program. */
static int try_shipped(const char *folder, const char *name, char *path, size_t size)
{
    char shipped[RESOLVE_PATH_MAX];
    return data_folder_find("experiments", shipped, sizeof shipped) &&
           try_folder(shipped, folder, name, path, size);
}

struct name_list {
    size_t n;
    struct named {
        const char *name, *path;
    } file[NAME_LIST_MAX];
    struct arena arena; /* of the texts */
};

static void name_list_free(struct name_list *list)
{
    arena_free(&list->arena);
    free(list);
}

static int is_known(const struct name_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->file[i].name, name) == 0)
            return 1;
    return 0;
}

/* The length of the name of a file that is found by it, with one of the first `n_ending` endings; else 0. */
static int name_length(const char *file, int n_ending)
{
    for (int i = 0; i < n_ending; i++)
        if (has_ending(file, named_ending[i]))
            return (int)(strlen(file) - strlen(named_ending[i]));
    return 0;
}

/* Add PREFIX NAME for each DIR/NAME.yaml (or other ending) that is not yet in the list. */
static void collect(struct name_list *list, const char *dir, const char *prefix, int n_ending)
{
    DIR *stream = opendir(dir);
    for (struct dirent *entry; stream && list->n < NAME_LIST_MAX && (entry = readdir(stream)) != NULL;) {
        char name[512], path[RESOLVE_PATH_MAX + 256];
        int length = name_length(entry->d_name, n_ending);
        if (length == 0)
            continue;
        snprintf(name, sizeof name, "%.250s%.*s", prefix, length, entry->d_name);
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (is_known(list, name))
            continue;
        struct named file = {arena_copy_text(&list->arena, name, strlen(name)),
                             arena_copy_text(&list->arena, path, strlen(path))};
        if (list->arena.failed)
            break;
        list->file[list->n++] = file;
    }
    if (stream)
        closedir(stream);
}

/* The folders of papers below `dir`. */
static void collect_folders(struct name_list *list, const char *dir)
{
    DIR *stream = opendir(dir);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        char prefix[300], path[RESOLVE_PATH_MAX];
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, kind_folder[0]) == 0 ||
            strcmp(entry->d_name, kind_folder[1]) == 0)
            continue;
        snprintf(prefix, sizeof prefix, "%s/", entry->d_name);
        int n = snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (n > 0 && (size_t)n < sizeof path)
            collect(list, path, prefix, 1); /* plain files have no entries */
    }
    if (stream)
        closedir(stream);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* `folder` NULL: all experiments. */
static enum dse_status list_all(const char *folder, struct name_list **out, struct dse_error *err)
{
    char shipped[RESOLVE_PATH_MAX];
    const char *const root[] = {"experiments", shipped};
    struct name_list *list = calloc(1, sizeof *list);
    if (!list)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a list of names");
    arena_init(&list->arena);
    (void)data_folder_find("experiments", shipped, sizeof shipped); /* no folder, no names */
    for (size_t i = 0; i < 2; i++) {
        char dir[RESOLVE_PATH_MAX];
        snprintf(dir, sizeof dir, "%.*s%s%s", RESOLVE_PATH_MAX - 64, root[i], folder ? "/" : "",
                 folder ? folder : "");
        collect(list, dir, "", folder ? N_ENDING : 1);
        if (!folder)
            collect_folders(list, dir);
    }
    enum dse_status status = arena_check(&list->arena, "a list of names", err);
    if (status != DSE_OK) {
        name_list_free(list);
        return status;
    }
    qsort(list->file, list->n, sizeof list->file[0], by_name);
    *out = list;
    return DSE_OK;
}

enum dse_status resolve_each(enum resolve_kind kind, resolve_visit *visit, void *user, struct dse_error *err)
{
    struct name_list *list;
    DSE_TRY(list_all(kind_folder[kind], &list, err));
    for (size_t i = 0; i < list->n; i++)
        visit(user, list->file[i].name, list->file[i].path);
    name_list_free(list);
    return DSE_OK;
}

/* The name in a folder whose last part is `name`, else the nearest, or NULL. */
static const char *nearest_of(const struct name_list *list, const char *name)
{
    const char *known[NAME_LIST_MAX];
    for (size_t i = 0; i < list->n; i++) {
        known[i] = list->file[i].name;
        const char *slash = strrchr(known[i], '/');
        if (slash && strcmp(slash + 1, name) == 0)
            return known[i];
    }
    return text_nearest(name, known, list->n);
}

static enum dse_status not_found(enum resolve_kind kind, const char *name, struct dse_error *err)
{
    struct name_list *list;
    char shown[128];
    DSE_TRY(list_all(kind_folder[kind], &list, err));
    const char *nearest = nearest_of(list, name);
    text_excerpt(name, shown, sizeof shown);
    if (list->n == 0) {
        name_list_free(list);
        return dse_fail(
            err, DSE_BAD_INPUT,
            "unknown %s \"%s\": no %ss are found by name here, neither in ./experiments nor in the "
            "installed data; give a path to a YAML file",
            kind_word[kind], shown, kind_word[kind]);
    }
    enum dse_status status =
        nearest ? dse_fail(err, DSE_BAD_INPUT, "unknown %s \"%s\"; did you mean %s?", kind_word[kind], shown,
                           nearest)
                : dse_fail(err, DSE_BAD_INPUT,
                           "unknown %s \"%s\"; give a path to a YAML file or a name of `dse list %ss`",
                           kind_word[kind], shown, kind_word[kind]);
    name_list_free(list);
    return status;
}

/* A name of `dse list experiments` may have a folder, and looks like a path then: what is there as written
 * comes first. */
static enum dse_status resolve_experiment(const char *name, char *path, size_t size, struct dse_error *err)
{
    char shipped[RESOLVE_PATH_MAX];
    const char *const root[] = {"experiments", shipped};
    int is_there = access(name, F_OK) == 0, has_folder = strchr(name, '/') != NULL;
    int is_name = name[0] != '.' && name[0] != '/' && !has_ending(name, ".yaml") && !has_ending(name, ".yml");
    (void)data_folder_find("experiments", shipped, sizeof shipped); /* no folder, no names */
    for (size_t i = 0; is_name && !(has_folder && is_there) && i < 2; i++) {
        int n = snprintf(path, size, "%s/%s.yaml", root[i], name);
        if (n > 0 && (size_t)n < size && is_file(path))
            return DSE_OK;
    }
    if (is_there || has_folder || !is_name)
        return resolve_path(RESOLVE_EXPERIMENT, name, NULL, path, size, err);
    return not_found(RESOLVE_EXPERIMENT, name, err);
}

enum dse_status resolve_name(enum resolve_kind kind, const char *name, const char *base_dir, char *path,
                             size_t size, struct dse_error *err)
{
    if (name[0] == '\0')
        return dse_fail(err, DSE_BAD_INPUT, "the name of the %s is empty", kind_word[kind]);
    if (kind == RESOLVE_EXPERIMENT)
        return resolve_experiment(name, path, size, err);
    if (kind == RESOLVE_OPTION_FILE || looks_like_path(name))
        return resolve_path(kind, name, base_dir, path, size, err);
    const char *folder = kind_folder[kind];
    if (try_parents(base_dir, folder, name, path, size) || try_folder(".", folder, name, path, size) ||
        try_shipped(folder, name, path, size))
        return DSE_OK;
    if (is_file(name))
        return resolve_path(kind, name, NULL, path, size, err);
    if (kind == RESOLVE_NETWORK) {
        DSE_TRY(resolve_path(kind, name, base_dir, path, size, err));
        if (is_network_folder(kind, path))
            return DSE_OK;
    }
    return not_found(kind, name, err);
}
