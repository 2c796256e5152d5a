/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a file that was given as a manifest and is none: what it holds, and what that means for warming.
 */
#include "session/run/given_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/contents.h"
#include "image/kind.h"

/* Of larger files only the kind is told. */
#define LOOK_MAX_BYTES (UINT64_C(1) << 30)

enum { ARCHS_MAX = 20 };

#define NO_FATBINS                                                                                           \
    "this version does not warm that: PTX inside a fatbin has another cache key than the same text in a "    \
    "file"

/* Text may be a manifest with a mistake in it; these are files of code or compressed, whatever YAML makes of
 * them. */
static bool is_no_manifest(enum pj_image_kind kind, const char *path)
{
    const char *dot = strrchr(path, '.');
    switch (kind) {
    case PJ_IMAGE_PTX:
    case PJ_IMAGE_GZIP:
    case PJ_IMAGE_CUBIN:
    case PJ_IMAGE_HOST_ELF:
    case PJ_IMAGE_FATBIN:
    case PJ_IMAGE_LTOIR:
    case PJ_IMAGE_ARCHIVE:
        return true;
    case PJ_IMAGE_SOURCE:
        return dot && strcmp(dot, ".cu") == 0;
    default:
        return false;
    }
}

/* The distinct architectures of the items of one kind, ascending. */
struct archs {
    struct pj_arch items[ARCHS_MAX];
    size_t count, more;
};

static int compare_archs(const void *a, const void *b)
{
    return pj_arch_compare(*(const struct pj_arch *)a, *(const struct pj_arch *)b);
}

static void list_archs(const struct pj_contents *contents, enum pj_code_kind kind, struct archs *ret_archs)
{
    *ret_archs = (struct archs){0};
    for (size_t i = 0; i < contents->count; i++) {
        struct pj_arch arch = contents->items[i].arch;
        bool known = contents->items[i].kind != kind || arch.number == 0;
        for (size_t k = 0; k < ret_archs->count && !known; k++)
            known = pj_arch_compare(ret_archs->items[k], arch) == 0;
        if (!known && ret_archs->count < ARCHS_MAX)
            ret_archs->items[ret_archs->count++] = arch;
        else
            ret_archs->more += !known;
    }
    qsort(ret_archs->items, ret_archs->count, sizeof ret_archs->items[0], compare_archs);
}

/* ", PTX for sm_75, sm_80", "PTX" where no architecture is known. */
static void put_archs(struct pj_buffer *text, const char *what, const struct archs *archs, bool *first)
{
    char name[PJ_ARCH_TEXT];
    pj_buffer_printf(text, "%s%s", *first ? "" : "; ", what);
    for (size_t i = 0; i < archs->count; i++)
        pj_buffer_printf(text, "%s%s", i == 0 ? " for " : ", ", pj_arch_text(archs->items[i], name));
    if (archs->more > 0)
        pj_buffer_printf(text, " and %zu more", archs->more);
    *first = false;
}

static void put_code(struct pj_buffer *text, const struct pj_contents *contents)
{
    static const struct {
        enum pj_code_kind kind;
        const char *what;
    } kinds[] = {{PJ_CODE_CUBIN, "cubins"}, {PJ_CODE_PTX, "PTX"}, {PJ_CODE_LTOIR, "LTO-IR"}};
    bool first = true;
    for (size_t i = 0; i < PJ_COUNT(kinds); i++) {
        struct archs archs;
        bool has = kinds[i].kind == PJ_CODE_PTX     ? contents->has_ptx
                   : kinds[i].kind == PJ_CODE_CUBIN ? contents->has_cubin
                                                    : contents->has_ltoir;
        list_archs(contents, kinds[i].kind, &archs);
        if (has)
            put_archs(text, kinds[i].what, &archs, &first);
    }
}

/* A YAML scalar that reads as `text`. */
static void put_scalar(struct pj_buffer *text, const char *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+";
    bool quoted = value[strspn(value, plain)] != '\0' || value[0] == '-';
    pj_buffer_puts(text, quoted ? "'" : "");
    for (; *value; value++)
        pj_buffer_printf(text, "%s%c", quoted && *value == '\'' ? "'" : "", *value);
    pj_buffer_puts(text, quoted ? "'" : "");
}

/* The shortest manifest with this file under `key`. */
static void put_manifest(struct pj_buffer *text, const char *key, const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    PJ_CLEANUP_FREE char *name = strndup(file, dot && dot > file ? (size_t)(dot - file) : strlen(file));
    for (char *at = name ? strchr(name, '@') : NULL; at; at = strchr(at, '@'))
        *at = '-';
    text->failed |= !name;
    pj_buffer_puts(text, "\n    version: 1\n    modules:\n      - name: ");
    put_scalar(text, name ? name : "");
    pj_buffer_printf(text, "\n        %s: ", key);
    put_scalar(text, path);
    pj_buffer_putc(text, '\n');
}

/* What of it a program leaves to the driver's compiler. */
static void put_meaning(struct pj_buffer *text, const struct pj_contents *contents)
{
    if (contents->has_ptx && contents->has_cubin)
        pj_buffer_puts(
            text,
            ". A GPU that one of the cubins runs on loads that; for others the driver compiles the PTX at "
            "the first load, and " NO_FATBINS);
    else if (contents->has_ptx)
        pj_buffer_puts(text, ". The driver compiles this PTX at the first load, and " NO_FATBINS);
    else
        pj_buffer_puts(text,
                       ". It has no PTX, so the driver compiles nothing of it: there is nothing to warm");
}

static void describe_code(struct pj_buffer *text, const char *bytes, size_t size, enum pj_image_kind kind)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    struct pj_contents contents = {0};
    bool is_program = kind == PJ_IMAGE_HOST_ELF;
    int r = pj_contents_read(bytes, size, &arena, &contents, &problem);
    text->failed |= r == PJ_ERROR_NO_MEMORY;
    if (r == 0 && contents.count > 0) {
        pj_buffer_puts(text, ". It holds ");
        put_code(text, &contents);
        put_meaning(text, &contents);
    } else if (is_program) {
        pj_buffer_puts(text, ". It holds no GPU code that nvcc put there");
    } else {
        pj_buffer_printf(text, ": %s", pj_image_kind_cure(kind));
    }
    if (is_program)
        pj_buffer_puts(text,
                       ".\nPTX files, strings and sources that a program gives to the driver or to NVRTC "
                       "while it runs are named in a manifest. To see what one has compiled, run it once "
                       "with an empty cache:\n    CUDA_CACHE_PATH=/tmp/probe PROGRAM\n    prejit cache ls "
                       "--cache /tmp/probe");
    else if (kind == PJ_IMAGE_ARCHIVE)
        pj_buffer_puts(text, ".\nA manifest names it under `link:` where the program gives it to cuLink");
}

/* What to say of the file: a message that begins with its path. */
static void describe(const char *path, const char *bytes, size_t size, struct pj_buffer *text)
{
    enum pj_image_kind kind = pj_image_kind_of(bytes, size);
    pj_buffer_printf(text, "%s is %s, not a manifest", path, pj_image_kind_text(bytes, size));
    switch (kind) {
    case PJ_IMAGE_PTX:
        pj_buffer_puts(text, ". If a program gives these bytes to cuModuleLoadData or cuLibraryLoadData, a "
                             "manifest for it, here in this folder, is:");
        put_manifest(text, "ptx", path);
        pj_buffer_puts(text, "what else it may hold: prejit --help manifest");
        return;
    case PJ_IMAGE_SOURCE:
        pj_buffer_puts(text,
                       ". If a program compiles it with NVRTC while it runs, a manifest for it, here in "
                       "this folder, is:");
        put_manifest(text, "source", path);
        pj_buffer_puts(text, "If nvcc compiled it into a program, its PTX lies in a fatbin, and " NO_FATBINS);
        return;
    case PJ_IMAGE_HOST_ELF:
    case PJ_IMAGE_FATBIN:
    case PJ_IMAGE_CUBIN:
    case PJ_IMAGE_ARCHIVE:
        describe_code(text, bytes, size, kind);
        return;
    default:
        pj_buffer_printf(text, ": %s; a manifest is a YAML file: prejit --help manifest",
                         pj_image_kind_cure(kind));
        return;
    }
}

/* Fills `text` where the file is no manifest. */
static void look(const char *path, struct pj_buffer *text)
{
    struct stat status;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_CLOSE int fd = -1;
    int r = pj_file_open_regular(AT_FDCWD, path, &fd, &status, NULL);
    text->failed |= r == PJ_ERROR_NO_MEMORY;
    if (r < 0 || status.st_size == 0)
        return;
    enum { BEGINNING_BYTES = 64 * 1024 };
    size_t size = status.st_size < BEGINNING_BYTES ? (size_t)status.st_size : BEGINNING_BYTES;
    char *room = pj_buffer_reserve(&bytes, size);
    text->failed |= !room;
    if (!room || pj_file_pread(fd, path, room, size, 0, NULL) < 0 ||
        !is_no_manifest(pj_image_kind_of(room, size), path))
        return;
    pj_buffer_commit(&bytes, size);
    if ((uint64_t)status.st_size <= LOOK_MAX_BYTES) {
        pj_buffer_reset(&bytes);
        r = pj_file_read_fd(fd, path, LOOK_MAX_BYTES, &bytes, NULL);
        text->failed |= r == PJ_ERROR_NO_MEMORY;
        if (r < 0)
            return;
    }
    describe(path, pj_buffer_text(&bytes), bytes.size, text);
}

int pj_given_manifest_load(const char *path, struct pj_manifest **ret_manifest, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_manifest_load(path, ret_manifest, &problem);
    if (r == PJ_ERROR_MANIFEST && strcmp(path, "-") != 0)
        look(path, &text);
    if (text.failed)
        return pj_error_no_memory(err);
    if (text.size > 0)
        return pj_error_set(err, PJ_ERROR_MANIFEST, "%s", pj_buffer_text(&text));
    if (r < 0 && err)
        *err = PJ_STEAL(problem);
    return r;
}
