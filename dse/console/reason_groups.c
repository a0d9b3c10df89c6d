/* Folds a reason by putting '*' in place of numbers (with their units) and the names of layers,
 * architectures and networks; equal folds are
 * one group, and slots that never differed are filled in again. */
#include "dse/console/reason_groups.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* A reason being folded. */
struct fold {
    char text[REASON_TEXT_MAX]; /* with each slot as one '*' */
    size_t n_text;
    uint32_t n_slot;
    uint16_t begin[REASON_SLOT_MAX], length[REASON_SLOT_MAX];
};

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Letters of the word, number or name that begins at `at`: "conv4_0.c", "1,234.5", "1e-09", "4x4". */
static size_t word_length(const char *at)
{
    size_t n = 0;
    while (in_word(at[n]) ||
           ((at[n] == '.' || at[n] == ',' || at[n] == '-' || at[n] == '/' || at[n] == '+') && n > 0 &&
            in_word(at[n - 1]) && in_word(at[n + 1]) && (at[n] != ',' || isdigit((unsigned char)at[n + 1]))))
        n++;
    return n;
}

static bool has_digit(const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isdigit((unsigned char)at[i]))
            return true;
    return false;
}

/* "KiB" behind a number belongs to it: 512 B and 1 KiB are the same in kind. Returns its letters with the
 * blank, or 0. */
static size_t unit_length(const char *at)
{
    static const char *const unit[] = {"B",  "KiB", "MiB", "GiB", "TiB", "PiB", "KB",  "MB", "GB",
                                       "TB", "ns",  "us",  "ms",  "s",   "min", "h",   "d",  "pJ",
                                       "nJ", "uJ",  "mJ",  "J",   "Hz",  "kHz", "MHz", "GHz"};
    if (at[0] != ' ')
        return 0;
    size_t n = word_length(at + 1);
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
        if (strlen(unit[i]) == n && strncmp(at + 1, unit[i], n) == 0)
            return n + 1;
    return 0;
}

/* The name in "layer NAME:" may be anything up to the colon. */
static size_t layer_length(const char *text, const char *at)
{
    static const char key[] = "layer ";
    size_t n = sizeof key - 1, length = strcspn(at, ": ");
    return (size_t)(at - text) >= n && strncmp(at - n, key, n) == 0 && at[length] == ':' ? length : 0;
}

/* The name in "architecture NAME", "network NAME", "layer NAME" and, at the beginning, "NAME is no ...", or a
 * word that is the last such name again. */
static size_t input_length(const char *text, const char *at, const char **name)
{
    static const char *const key[] = {"architecture ", "network ", "layer "};
    const size_t n = strcspn(at, " :;,");
    if (at == text && n > 0 && strncmp(at + n, " is no ", strlen(" is no ")) == 0)
        *name = at;
    for (size_t i = 0; i < sizeof key / sizeof key[0] && n > 0; i++) {
        const size_t k = strlen(key[i]);
        if ((size_t)(at - text) >= k && strncmp(at - k, key[i], k) == 0) {
            *name = at;
            return n;
        }
    }
    const bool again = *name && n > 0 && strncmp(*name, at, n) == 0 && strcspn(*name, " :;,") == n;
    return again && (at == text || !in_word(at[-1])) ? n : 0;
}

static void add_slot(struct fold *fold, size_t begin, size_t length)
{
    if (fold->n_slot < REASON_SLOT_MAX) {
        fold->begin[fold->n_slot] = (uint16_t)begin;
        fold->length[fold->n_slot++] = (uint16_t)length;
    }
    fold->text[fold->n_text++] = '*';
}

/* Fold `text`, which is shorter than REASON_TEXT_MAX. */
static void fold_reason(struct fold *fold, const char *text)
{
    bool counted = false; /* the word before is a number: "1 candidate" and "2 candidates" are the same */
    const char *input = NULL;
    fold->n_text = fold->n_slot = 0;
    for (const char *at = text; *at;) {
        size_t n = layer_length(text, at);
        input = n ? at : input;
        n = n ? n : input_length(text, at, &input);
        bool name = n > 0;
        n = name ? n : word_length(at);
        if (n == 0) {
            counted = counted && *at == ' ';
            fold->text[fold->n_text++] = *at++;
            continue;
        }
        if (name || has_digit(at, n)) {
            counted = !name;
            n += name ? 0 : unit_length(at + n);
            add_slot(fold, (size_t)(at - text), n);
        } else {
            size_t kept = counted && n > 2 && at[n - 1] == 's' ? n - 1 : n;
            memcpy(fold->text + fold->n_text, at, kept);
            fold->n_text += kept;
            counted = false;
        }
        at += n;
    }
}

/* One line without control characters, cut at the start of a letter. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t n = strlen(from);
    if (n >= size)
        for (n = size - 1; n > 0 && ((unsigned char)from[n] & 0xc0) == 0x80;)
            n--;
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? ' ' : from[i];
    to[n] = '\0';
}

/* The rarest group, of equals the one whose example comes first, makes room. */
static struct reason_group *take_room(struct reason_groups *groups)
{
    struct reason_group *least = groups->group;
    if (groups->n < REASON_GROUP_MAX)
        return &groups->group[groups->n++];
    for (size_t i = 1; i < groups->n; i++)
        if (groups->group[i].n < least->n ||
            (groups->group[i].n == least->n && groups->group[i].order < least->order))
            least = &groups->group[i];
    groups->n_other += least->n;
    return least;
}

void reason_groups_clear(struct reason_groups *groups)
{
    groups->n = 0;
    groups->n_other = 0;
    memset(groups->n_status, 0, sizeof groups->n_status);
}

static void compare_slots(struct reason_group *group, const struct fold *fold, const char *reason)
{
    for (uint32_t i = 0; i < group->n_slot && i < fold->n_slot; i++)
        if (group->length[i] != fold->length[i] ||
            memcmp(group->reason + group->begin[i], reason + fold->begin[i], fold->length[i]) != 0)
            group->differs |= (uint32_t)1 << i;
}

/* `text` (REASON_TEXT_MAX) is the reason as it is kept. */
static uint64_t hash_reason(enum result_status status, const char *reason, char *text, struct fold *fold)
{
    copy_text(text, REASON_TEXT_MAX, reason ? reason : "");
    fold_reason(fold, text);
    return hash_of_bytes(fold->text, fold->n_text) ^ (uint64_t)status;
}

const struct reason_group *reason_groups_find(const struct reason_groups *groups, enum result_status status,
                                              const char *reason)
{
    char text[REASON_TEXT_MAX];
    struct fold fold;
    const uint64_t hash = hash_reason(status, reason, text, &fold);
    for (size_t i = 0; i < groups->n; i++)
        if (groups->group[i].hash == hash)
            return &groups->group[i];
    return NULL;
}

struct reason_group *reason_groups_add(struct reason_groups *groups, enum result_status status,
                                       const char *reason, uint64_t order)
{
    char text[REASON_TEXT_MAX];
    struct fold fold;
    const uint64_t hash = hash_reason(status, reason, text, &fold);
    groups->n_status[status]++;
    for (size_t i = 0; i < groups->n; i++) {
        struct reason_group *group = &groups->group[i];
        if (group->hash != hash)
            continue;
        group->n++;
        compare_slots(group, &fold, text);
        if (order >= group->order)
            return NULL;
        group->order = order;
        return group;
    }
    struct reason_group *group = take_room(groups);
    *group =
        (struct reason_group){.hash = hash, .n = 1, .order = order, .status = status, .n_slot = fold.n_slot};
    memcpy(group->begin, fold.begin, sizeof group->begin);
    memcpy(group->length, fold.length, sizeof group->length);
    memcpy(group->reason, text, sizeof text);
    return group;
}

void reason_group_place(struct reason_group *group, const char *place)
{
    copy_text(group->place, sizeof group->place, place);
}

static int compare_groups(const void *a, const void *b)
{
    const struct reason_group *left = a, *right = b;
    if ((left->status == RESULT_OK) != (right->status == RESULT_OK))
        return left->status == RESULT_OK ? 1 : -1;
    if (left->n != right->n)
        return left->n > right->n ? -1 : 1;
    if (left->status != right->status)
        return left->status < right->status ? -1 : 1;
    int order = strcmp(left->reason, right->reason);
    return order ? order : (left->order > right->order) - (left->order < right->order);
}

void reason_groups_sort(struct reason_groups *groups)
{
    if (groups->n > 0)
        qsort(groups->group, groups->n, sizeof groups->group[0], compare_groups);
}

void reason_group_text(const struct reason_group *group, struct text_buffer *out)
{
    size_t at = 0;
    for (uint32_t i = 0; i < group->n_slot; i++) {
        if (!(group->differs >> i & 1))
            continue;
        text_append_bytes(out, group->reason + at, group->begin[i] - at);
        text_append_bytes(out, "*", 1);
        at = (size_t)group->begin[i] + group->length[i];
    }
    text_append_string(out, group->reason + at);
}

void reason_groups_print(struct reason_groups *groups, size_t most, const char *indent,
                         struct text_buffer *out)
{
    char number[32];
    uint64_t n_more = groups->n_other;
    reason_groups_sort(groups);
    int width = 1;
    for (size_t i = 0; i < groups->n && i < most; i++) {
        int n = (int)strlen(text_thousands(groups->group[i].n, number, sizeof number));
        width = n > width ? n : width;
    }
    for (size_t i = 0; i < groups->n; i++) {
        const struct reason_group *group = &groups->group[i];
        if (i >= most) {
            n_more += group->n;
            continue;
        }
        text_append(out, "%s%*s %-10s  ", indent, width, text_thousands(group->n, number, sizeof number),
                    result_status_text(group->status));
        reason_group_text(group, out);
        text_append(out, "\n");
        if (group->place[0])
            text_append(out, "%s%*s %-10s  %s %s\n", indent, width, "", "", group->n == 1 ? "at" : "e.g.",
                        group->place);
    }
    if (n_more > 0)
        text_append(out, "%s%s more with other reasons: see the columns status and reason\n", indent,
                    text_thousands(n_more, number, sizeof number));
}
