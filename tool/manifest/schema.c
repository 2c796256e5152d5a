/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the manifest's keys. */
#include "manifest/schema.h"

#include <inttypes.h>
#include <string.h>

#include "arch/options.h"
#include "base/memory.h"
#include "manifest/manifest.h"

#define KIND(kind) (1U << (kind))

static const struct pj_schema_key root_keys[] = {
    [PJ_ROOT_VERSION] =
        {
            .name = "version",
            .type = PJ_TYPE_INTEGER,
            .required = true,
            .minimum = PJ_MANIFEST_VERSION,
            .maximum = PJ_MANIFEST_VERSION,
            .help = "The version of the manifest's format.",
            .example = "version: 1",
        },
    [PJ_ROOT_CACHE] =
        {
            .name = "cache",
            .type = PJ_TYPE_SECTION,
            .section = PJ_SECTION_CACHE,
            .default_text = "the driver's own rule",
            .help = "Which compute cache to fill, and how large it may become.",
            .example = "cache: {path: nv, max_size: 2GiB}",
        },
    [PJ_ROOT_TARGETS] =
        {
            .name = "targets",
            .type = PJ_TYPE_TARGETS,
            .default_text = "[native]",
            .help = "What to compile for, where a module has no `targets` of its own. Where a GPU of the "
                    "machine could run a "
                    "required module and no target is for it, the report names both, with status 4; `native` "
                    "is every "
                    "GPU of the machine.",
            .example = "targets: [native, sm_80..sm_90]",
        },
    [PJ_ROOT_VERIFY] =
        {
            .name = "verify",
            .type = PJ_TYPE_SECTION,
            .section = PJ_SECTION_VERIFY,
            .help = "How often to measure each job, and which times to insist on.",
            .example = "verify: {samples: 5, max_warm_ms: 50}",
        },
    [PJ_ROOT_MODULES] =
        {
            .name = "modules",
            .type = PJ_TYPE_SECTIONS,
            .required = true,
            .section = PJ_SECTION_MODULE,
            .help = "The modules to warm, at least one.",
            .example = "modules: [{name: saxpy, ptx: saxpy.ptx}]",
        },
};

static const struct pj_schema_key cache_keys[] = {
    [PJ_CACHE_PATH] =
        {
            .name = "path",
            .type = PJ_TYPE_PATH,
            .default_text = "the driver's own rule",
            .help = "The cache directory; the program must have it as CUDA_CACHE_PATH.",
            .example = "path: nv",
        },
    [PJ_CACHE_MAX_SIZE] =
        {
            .name = "max_size",
            .type = PJ_TYPE_SIZE,
            .minimum = 1,
            .maximum = INT64_MAX,
            .default_text = "the driver's own rule",
            .help = "The most that the cache may hold; the program must have it in bytes as "
                    "CUDA_CACHE_MAXSIZE.",
            .example = "max_size: 2GiB",
        },
};

static const struct pj_schema_key verify_keys[] = {
    [PJ_VERIFY_SAMPLES] =
        {
            .name = "samples",
            .type = PJ_TYPE_INTEGER,
            .minimum = 1,
            .maximum = 16,
            .default_text = "3",
            .help = "How many fresh processes load each job once.",
            .example = "samples: 5",
        },
    [PJ_VERIFY_MAX_WARM_MS] =
        {
            .name = "max_warm_ms",
            .type = PJ_TYPE_NUMBER,
            .maximum = 1000000000,
            .help = "The most milliseconds that the median warm load of a job may take.",
            .example = "max_warm_ms: 50",
        },
    [PJ_VERIFY_MIN_SPEEDUP] =
        {
            .name = "min_speedup",
            .type = PJ_TYPE_NUMBER,
            .maximum = 1000000000,
            .help = "How many times faster than the compilation the median warm load must be.",
            .example = "min_speedup: 3",
        },
};

static const char *const linkers[] = {[PJ_LINKER_DRIVER] = "driver", [PJ_LINKER_NVJITLINK] = "nvjitlink"};

static const char *const takes[] = {[PJ_TAKES_PTX] = "ptx", [PJ_TAKES_CUBIN] = "cubin"};

static const struct pj_schema_key module_keys[] = {
    [PJ_MODULE_KEY_NAME] =
        {
            .name = "name",
            .type = PJ_TYPE_NAME,
            .required = true,
            .help = "How reports and `-m` call the module; no two modules have the same.",
            .example = "name: saxpy",
        },
    [PJ_MODULE_KEY_PTX] =
        {
            .name = "ptx",
            .type = PJ_TYPE_PATH_OR_GLOB,
            .help = "The PTX file whose bytes the program hands to the driver; a glob gives one job, "
                    "`name/stem`, for each file.",
            .example = "ptx: kernels/saxpy.ptx",
        },
    [PJ_MODULE_KEY_SOURCE] =
        {
            .name = "source",
            .type = PJ_TYPE_PATH,
            .help = "A CUDA C++ file that the program compiles with NVRTC at run time.",
            .example = "source: kernels/physics.cu",
        },
    [PJ_MODULE_KEY_LINK] =
        {
            .name = "link",
            .type = PJ_TYPE_PATHS,
            .maximum = PJ_MODULE_FILES_MAX,
            .help = "The files that the program links at run time, in the order of linking; each input's PTX "
                    "gets an entry of its own.",
            .example = "link: [a.ptx, b.ptx]",
        },
    [PJ_MODULE_KEY_BINARY] =
        {
            .name = "binary",
            .type = PJ_TYPE_PATH,
            .later = true,
            .help = "A program or library, for every image in it that a target would have to compile.",
            .example = "binary: /opt/app/bin/app",
        },
    [PJ_MODULE_KEY_TARGETS] =
        {
            .name = "targets",
            .type = PJ_TYPE_TARGETS,
            .default_text = "the manifest's `targets`",
            .help = "What to compile this module for.",
            .example = "targets: [sm_80, sm_90]",
        },
    [PJ_MODULE_KEY_OPTIONS] =
        {
            .name = "options",
            .type = PJ_TYPE_SECTION,
            .section = PJ_SECTION_OPTIONS,
            .default_text = "none",
            .help = "The JIT options that the program passes when it loads the module, and no others: they "
                    "are part of the cache key.",
            .example = "options: {max_registers: 64}",
        },
    [PJ_MODULE_KEY_KERNELS] =
        {
            .name = "kernels",
            .type = PJ_TYPE_TEXTS,
            .help = "Names of kernels that each file of the module must have, as PTX spells them.",
            .example = "kernels: [saxpy]",
        },
    [PJ_MODULE_KEY_SHA256] =
        {
            .name = "sha256",
            .type = PJ_TYPE_DIGEST,
            .kinds = KIND(PJ_MODULE_PTX) | KIND(PJ_MODULE_SOURCE) | KIND(PJ_MODULE_BINARY),
            .help = "The SHA-256 that the file must have; not with a glob.",
            .example = "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        },
    [PJ_MODULE_KEY_REQUIRED] =
        {
            .name = "required",
            .type = PJ_TYPE_BOOLEAN,
            .default_text = "true",
            .help = "With false, a failure of this module is reported and does not change the exit status.",
            .example = "required: false",
        },
    [PJ_MODULE_KEY_NVRTC] =
        {
            .name = "nvrtc",
            .type = PJ_TYPE_TEXTS,
            .kinds = KIND(PJ_MODULE_SOURCE),
            .help = "The options that the program passes to nvrtcCompileProgram, in its order and spelling.",
            .example = "nvrtc: [--std=c++17, -Iinclude]",
        },
    [PJ_MODULE_KEY_PROGRAM_NAME] =
        {
            .name = "program_name",
            .type = PJ_TYPE_TEXT,
            .kinds = KIND(PJ_MODULE_SOURCE),
            .default_text = "the name of the file without its folder",
            .help = "The name that the program passes to nvrtcCreateProgram.",
            .example = "program_name: physics.cu",
        },
    [PJ_MODULE_KEY_HEADERS] =
        {
            .name = "headers",
            .type = PJ_TYPE_PATH_MAP,
            .maximum = PJ_MODULE_FILES_MAX,
            .kinds = KIND(PJ_MODULE_SOURCE),
            .help = "The headers that the program passes to nvrtcCreateProgram in memory: for each name, the "
                    "file that has its text.",
            .example = "headers: {config.h: kernels/config.h}",
        },
    [PJ_MODULE_KEY_NAME_EXPRESSIONS] =
        {
            .name = "name_expressions",
            .type = PJ_TYPE_TEXTS,
            .kinds = KIND(PJ_MODULE_SOURCE),
            .help = "What the program passes to nvrtcAddNameExpression, in its order: templates are compiled "
                    "for it alone.",
            .example = "name_expressions: ['step<float>', 'step<double>']",
        },
    [PJ_MODULE_KEY_TAKES] =
        {
            .name = "takes",
            .type = PJ_TYPE_CHOICE,
            .kinds = KIND(PJ_MODULE_SOURCE),
            .choices = takes,
            .choice_count = PJ_COUNT(takes),
            .default_text = "`ptx` where NVRTC gives nothing else",
            .help =
                "What the program asks NVRTC for: its PTX, which the driver compiles, or its cubin. Needed "
                "where `nvrtc` names a real architecture such as sm_90, because NVRTC has both then.",
            .example = "takes: ptx",
        },
    [PJ_MODULE_KEY_LINKER] =
        {
            .name = "linker",
            .type = PJ_TYPE_CHOICE,
            .kinds = KIND(PJ_MODULE_LINK),
            .choices = linkers,
            .choice_count = PJ_COUNT(linkers),
            .default_text = "driver; with `nvjitlink` that",
            .help = "Which linker the program uses; LTO-IR needs `nvjitlink`.",
            .example = "linker: nvjitlink",
        },
    [PJ_MODULE_KEY_NVJITLINK] =
        {
            .name = "nvjitlink",
            .type = PJ_TYPE_TEXTS,
            .kinds = KIND(PJ_MODULE_LINK),
            .help = "The options that the program passes to nvJitLinkCreate. With `-ptx` among them the link "
                    "gives PTX, which the driver compiles; without it a cubin.",
            .example = "nvjitlink: [-arch=compute_80, -lto, -ptx]",
        },
};

static const struct {
    const char *name;
    const struct pj_schema_key *keys;
    size_t count;
} sections[PJ_SECTION_COUNT] = {
    [PJ_SECTION_ROOT] = {"the manifest", root_keys, PJ_COUNT(root_keys)},
    [PJ_SECTION_CACHE] = {"`cache`", cache_keys, PJ_COUNT(cache_keys)},
    [PJ_SECTION_VERIFY] = {"`verify`", verify_keys, PJ_COUNT(verify_keys)},
    [PJ_SECTION_MODULE] = {"a module", module_keys, PJ_COUNT(module_keys)},
    [PJ_SECTION_OPTIONS] = {"`options`", NULL, PJ_JIT_OPTION_COUNT},
};

_Static_assert(PJ_COUNT(root_keys) == PJ_ROOT_KEY_COUNT, "a row for each key");
_Static_assert(PJ_COUNT(cache_keys) == PJ_CACHE_KEY_COUNT, "a row for each key");
_Static_assert(PJ_COUNT(verify_keys) == PJ_VERIFY_KEY_COUNT, "a row for each key");
_Static_assert(PJ_COUNT(module_keys) == PJ_MODULE_KEY_COUNT, "a row for each key");
_Static_assert((int)PJ_JIT_OPTION_COUNT <= (int)PJ_SCHEMA_MAX_KEYS, "room for a value of each key");
_Static_assert((int)PJ_MODULE_KEY_COUNT <= (int)PJ_SCHEMA_MAX_KEYS, "room for a value of each key");
_Static_assert(PJ_MODULE_KEY_PTX + (int)PJ_MODULE_BINARY == (int)PJ_MODULE_KEY_BINARY, "one order of kinds");

static const char *const cache_modes[] = {"none", "ca", "cg"};
static const uint32_t cache_mode_values[] = {PJ_JIT_CACHE_NONE, PJ_JIT_CACHE_CA, PJ_JIT_CACHE_CG};

static struct pj_schema_key option_key(size_t index)
{
    const struct pj_jit_option_info *info = pj_jit_option_info((enum pj_jit_option)index);
    struct pj_schema_key key = {.name = info->name, .help = info->help};
    switch (info->type) {
    case PJ_JIT_UNSIGNED:
        key.type = PJ_TYPE_INTEGER;
        key.minimum = info->minimum;
        key.maximum = info->maximum;
        break;
    case PJ_JIT_BOOLEAN:
        key.type = PJ_TYPE_BOOLEAN;
        break;
    case PJ_JIT_CACHE_OPTION:
        key.type = PJ_TYPE_CHOICE;
        key.choices = cache_modes;
        key.choice_values = cache_mode_values;
        key.choice_count = PJ_COUNT(cache_modes);
        break;
    }
    return key;
}

size_t pj_schema_count(enum pj_schema_section section)
{
    return sections[section].count;
}

struct pj_schema_key pj_schema_key(enum pj_schema_section section, size_t index)
{
    return section == PJ_SECTION_OPTIONS ? option_key(index) : sections[section].keys[index];
}

int pj_schema_find(enum pj_schema_section section, const char *name)
{
    if (section == PJ_SECTION_OPTIONS)
        return pj_jit_option_find(name);
    for (size_t i = 0; i < sections[section].count; i++) {
        if (strcmp(sections[section].keys[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

const char *pj_schema_section_name(enum pj_schema_section section)
{
    return sections[section].name;
}

bool pj_schema_counts(const struct pj_schema_key *key)
{
    return key->type == PJ_TYPE_PATHS || key->type == PJ_TYPE_PATH_MAP;
}

static void allowed_integer(const struct pj_schema_key *key, struct pj_buffer *buffer)
{
    if (key->minimum == key->maximum)
        pj_buffer_printf(buffer, "%" PRIu64, key->minimum);
    else if (key->maximum >= UINT32_MAX)
        pj_buffer_printf(buffer, "a whole number of at least %" PRIu64, key->minimum);
    else
        pj_buffer_printf(buffer, "a whole number from %" PRIu64 " to %" PRIu64, key->minimum, key->maximum);
}

void pj_schema_allowed(const struct pj_schema_key *key, struct pj_buffer *buffer)
{
    static const char size_text[] =
        "a number of bytes above 0, alone or with kB, MB, GB, TB (powers of 1000) or "
        "KiB, MiB, GiB, TiB (powers of 1024)";
    static const char *const texts[] = {
        [PJ_TYPE_NUMBER] = "a number above 0",
        [PJ_TYPE_BOOLEAN] = "true or false",
        [PJ_TYPE_SIZE] = size_text,
        [PJ_TYPE_NAME] = "text of at most 200 bytes without control characters and `@`",
        [PJ_TYPE_TEXT] = "text without control characters",
        [PJ_TYPE_PATH] = "a path",
        [PJ_TYPE_PATH_OR_GLOB] = "a path, or a glob with `*`, `?` or `[`",
        [PJ_TYPE_DIGEST] = "64 hex digits",
        [PJ_TYPE_TARGETS] = "a list of at least one target",
        [PJ_TYPE_TEXTS] = "a list of at least one text",
        [PJ_TYPE_PATHS] = "a list of at least one path",
        [PJ_TYPE_PATH_MAP] = "a mapping of at least one include name to a path",
        [PJ_TYPE_SECTION] = "a mapping",
        [PJ_TYPE_SECTIONS] = "a list of at least one module",
    };
    if (key->type == PJ_TYPE_INTEGER) {
        allowed_integer(key, buffer);
        return;
    }
    if (key->type != PJ_TYPE_CHOICE) {
        pj_buffer_puts(buffer, texts[key->type]);
        if (pj_schema_counts(key))
            pj_buffer_printf(buffer, ", at most %" PRIu64, key->maximum);
        return;
    }
    for (size_t i = 0; i < key->choice_count; i++) {
        const char *separator = i == 0 ? "" : i + 1 == key->choice_count ? " or " : ", ";
        pj_buffer_printf(buffer, "%s`%s`", separator, key->choices[i]);
    }
}
