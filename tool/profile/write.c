/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as YAML text. */
#include <stdio.h>

#include "profile/profile.h"

/* The licence stands first because shipped profiles are files of the project, and this is how they are made.
 */
static const char head[] = "# SPDX-License-Identifier: Apache-2.0\n"
                           "# What prejit knows, and has proven, of one build of NVIDIA's driver. `prejit "
                           "warm --offline` writes entries of the\n"
                           "# compute cache by it where there is no driver. It holds for this build alone: "
                           "entries made by it are found by no\n"
                           "# other. `prejit profile -o FILE` made it, on a machine with that driver, by "
                           "trying what is said here; a line that\n"
                           "# was changed by hand is a line that nobody tried.\n";

static const char kinds_head[] =
    "\n# Ways to an entry. Proven is: prejit told name, key and checksum of the driver's own entry "
    "beforehand, and one that\n"
    "# it put together itself was loaded and ran with JIT compilation disabled (foreign: was not run).\n";

static const char compilers_head[] = "\n# How often each compiler's code was compared with the driver's, and "
                                     "how often it was the same, byte for byte.\n";

/* In double quotes; what has no place in a profile stays visible to the reader, which refuses it. */
static void quote(struct pj_buffer *out, const char *text)
{
    pj_buffer_putc(out, '"');
    for (const char *c = text ? text : ""; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < ' ' || byte == 0x7f)
            pj_buffer_printf(out, "\\x%02x", byte);
        else if (*c == '"' || *c == '\\')
            pj_buffer_printf(out, "\\%c", *c);
        else
            pj_buffer_putc(out, *c);
    }
    pj_buffer_putc(out, '"');
}

/* Words without anything that YAML reads as its own stand without quotes. */
static void put_word(struct pj_buffer *out, const char *text)
{
    const char *c = text ? text : "";
    while ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || *c == '.' || (*c == '-' && c > text))
        c++;
    if (text && c > text && *c == '\0')
        pj_buffer_puts(out, text);
    else
        quote(out, text);
}

static void put_driver(struct pj_buffer *out, const struct pj_profile *profile)
{
    pj_buffer_puts(out, "driver:\n  version: ");
    put_word(out, profile->driver_version);
    pj_buffer_printf(out, "\n  cuda: %d.%d\n  stamp: ", profile->cuda_version / 1000,
                     profile->cuda_version % 1000 / 10);
    quote(out, profile->stamp);
    pj_buffer_puts(out, " # how the key of each entry begins\n");
}

static void put_archs(struct pj_buffer *out, const struct pj_profile *profile)
{
    pj_buffer_puts(out, "architectures: [");
    for (size_t i = 0; i < profile->arch_count; i++)
        pj_buffer_printf(out, "%ssm_%u", i == 0 ? "" : ", ", profile->archs[i]);
    pj_buffer_puts(out, "]\n");
}

static void put_kinds(struct pj_buffer *out, const char *key, const struct pj_profile *profile, bool proven)
{
    const char *separator = "";
    pj_buffer_printf(out, "%s: [", key);
    for (int kind = 0; kind < PJ_PROFILE_KIND_COUNT; kind++) {
        if (profile->proven[kind] != proven)
            continue;
        pj_buffer_printf(out, "%s%s", separator, pj_profile_kind_name((enum pj_profile_kind)kind));
        separator = ", ";
    }
    pj_buffer_puts(out, "]\n");
}

static void put_compilers(struct pj_buffer *out, const struct pj_profile *profile)
{
    pj_buffer_printf(out, "%scompilers:%s\n", compilers_head, profile->compiler_count == 0 ? " []" : "");
    for (size_t i = 0; i < profile->compiler_count; i++) {
        const struct pj_profile_compiler *compiler = &profile->compilers[i];
        pj_buffer_puts(out, "  - {tool: ");
        put_word(out, compiler->tool);
        pj_buffer_puts(out, ", version: ");
        put_word(out, compiler->version);
        if (compiler->build)
            pj_buffer_printf(out, ", build: %s", compiler->build);
        pj_buffer_printf(out, ", cases: %u, same_code_cases: %u}\n", compiler->cases, compiler->same);
    }
}

static void put_made(struct pj_buffer *out, const struct pj_profile *profile)
{
    pj_buffer_puts(out, "\nmade:\n  on: ");
    put_word(out, profile->made_on);
    pj_buffer_puts(out, "\n  with: ");
    quote(out, profile->made_with);
    pj_buffer_puts(out, "\n  gpu: ");
    quote(out, profile->gpu);
    pj_buffer_putc(out, '\n');
}

/* Much of it comes from a machine: a file that nobody can read is found out here, not where it is used. */
static int read_back(const struct pj_buffer *text, struct pj_error **err)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile;
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    int r = pj_profile_parse(pj_buffer_text(text), text->size, "profile", &arena, &profile, &error);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    return r == 0 ? 0
                  : pj_error_set(err, PJ_ERROR_INTERNAL, "what was found out does not make a profile: %s",
                                 pj_error_message(error));
}

int pj_profile_write(const struct pj_profile *profile, struct pj_buffer *text, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    pj_buffer_printf(&out, "%sversion: %d\n", head, PJ_PROFILE_VERSION);
    put_driver(&out, profile);
    pj_buffer_printf(&out, "cache_format: %u\nptx_isa: %u.%u # the newest that this driver takes\n",
                     profile->cache_format, profile->ptx_isa.major, profile->ptx_isa.minor);
    put_archs(&out, profile);
    pj_buffer_puts(&out, kinds_head);
    put_kinds(&out, "proven", profile, true);
    put_kinds(&out, "not_proven", profile, false);
    put_compilers(&out, profile);
    put_made(&out, profile);
    int r = pj_buffer_check(&out, err);
    if (r == 0)
        r = read_back(&out, err);
    if (r < 0)
        return r;
    pj_buffer_append(text, out.data, out.size);
    return pj_buffer_check(text, err);
}
