/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries, host objects and archives as inputs of the driver's linker. Numbers are lines of facts. */
#include "check.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PTX = 1, CUBIN = 2, LTOIR = 8 };

#define RECORDED "--compile-only  "
#define KERNEL(name)                                                                                         \
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry " name "()\n{\n    ret;\n}\n"
#define CALLER                                                                                               \
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func twice;\n"                                  \
    ".visible .entry k()\n{\n    call.uni twice;\n    ret;\n}\n"
#define CALLEE ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func twice()\n{\n    ret;\n}\n"

static void put(struct fake_buffer *to, uint64_t value, size_t bytes)
{
    fake_buffer_add(to, &value, bytes);
}

/* One entry of a container, the payload padded to 8 bytes; a text has at least one NUL. */
static void add_entry(struct fake_buffer *entries, unsigned kind, unsigned arch, const void *payload,
                      size_t length, const char *options)
{
    size_t padded = (length + (kind == PTX) + 7) / 8 * 8, option_bytes = strlen(options);
    size_t header = option_bytes ? 72 + (option_bytes + 7) / 8 * 8 : 64;
    put(entries, kind, 2);
    put(entries, 0x0101, 2);
    put(entries, header, 4);
    put(entries, padded, 8);
    put(entries, 0, 4); /* packed size */
    put(entries, option_bytes ? 64 : 0, 4);
    put(entries, 0x00090000, 4);
    put(entries, arch, 4);
    put(entries, 0, 8); /* name */
    put(entries, 0x11, 8);
    fake_buffer_fill(entries, 0, 16);
    if (option_bytes) {
        put(entries, 72, 4);
        put(entries, option_bytes, 4);
        fake_buffer_add_text(entries, options);
        fake_buffer_align(entries, 8);
    }
    fake_buffer_add(entries, payload, length);
    fake_buffer_fill(entries, 0, padded - length);
}

static struct fake_buffer container(const struct fake_buffer *entries)
{
    struct fake_buffer made = {0};
    put(&made, 0xba55ed50, 4);
    put(&made, 1, 2);
    put(&made, 16, 2);
    put(&made, entries->length, 8);
    fake_buffer_add(&made, entries->data, entries->length);
    return made;
}

static struct fake_buffer fatbin_of(const char *ptx)
{
    struct fake_buffer entries = {0};
    add_entry(&entries, PTX, 80, ptx, strlen(ptx), RECORDED);
    return container(&entries);
}

/* A host object with one section of device code, as far as a reader of sections looks. */
static struct fake_buffer object_of(const struct fake_buffer *fatbin, const char *section)
{
    struct fake_buffer made = {0}, names = {0};
    Elf64_Shdr sections[3] = {{0}};
    Elf64_Ehdr header = {.e_type = ET_REL,
                         .e_machine = EM_X86_64,
                         .e_version = 1,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof sections[0],
                         .e_shnum = 3,
                         .e_shstrndx = 1};
    memcpy(header.e_ident, "\177ELF\2\1\1", 7);
    fake_buffer_add(&names, "\0.shstrtab\0", 11);
    fake_buffer_add(&names, section, strlen(section) + 1);
    fake_buffer_fill(&made, 0, sizeof header);
    sections[1] =
        (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = made.length, .sh_size = names.length};
    fake_buffer_add(&made, names.data, names.length);
    fake_buffer_align(&made, 8);
    sections[2] = (Elf64_Shdr){
        .sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = made.length, .sh_size = fatbin->length};
    fake_buffer_add(&made, fatbin->data, fatbin->length);
    fake_buffer_align(&made, 8);
    header.e_shoff = made.length;
    fake_buffer_add(&made, sections, sizeof sections);
    memcpy(made.data, &header, sizeof header);
    return made;
}

static void add_member(struct fake_buffer *archive, const char *name, const struct fake_buffer *bytes)
{
    if (!archive->length)
        fake_buffer_add_text(archive, "!<arch>\n");
    fake_buffer_printf(archive, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644, bytes->length);
    fake_buffer_add(archive, bytes->data, bytes->length);
    if (bytes->length & 1)
        fake_buffer_add_text(archive, "\n");
}

static struct check_link_request request_of(CUjitInputType type, const struct fake_buffer *bytes,
                                            const char *kernel)
{
    return (struct check_link_request){
        .inputs = {{.type = type, .bytes = bytes->data, .length = bytes->length, .name = "input"}},
        .input_count = 1,
        .kernel = kernel};
}

static void set_target(struct check_link_request *request, unsigned target)
{
    request->options[0] = (struct check_option){CU_JIT_TARGET, target};
    request->option_count = 1;
}

static void expect_linked(const struct check_link_request *request)
{
    struct check_link_answer answer = check_link(request);
    EXPECT(answer.add[0] == CUDA_SUCCESS && answer.complete == CUDA_SUCCESS, "%d %d %s", answer.add[0],
           answer.complete, answer.error_log);
    EXPECT(answer.load == CUDA_SUCCESS && answer.function == CUDA_SUCCESS, "%d %d", answer.load,
           answer.function);
}

/* What stands between `sm_NN` and the end of the only entry's key. */
static struct fake_buffer only_key(void)
{
    struct fake_buffer path = {0}, key = {0};
    fake_buffer_printf(&path, "cache/%s", check_only_entry("cache"));
    struct fake_buffer entry = check_read((char *)path.data);
    uint64_t key_bytes;
    memcpy(&key_bytes, entry.data + 4, 8);
    const char *start = strstr((char *)entry.data + 28, "HOST64sm_");
    EXPECT(start != NULL);
    start += strcspn(start, "_") + 3;
    fake_buffer_add(&key, start, key_bytes - (size_t)(start - (char *)entry.data - 28));
    return key;
}

static void key_of_an_entry(void)
{
    static const char text[] = KERNEL("k") "// padded";
    struct fake_buffer fatbin = fatbin_of(text), expected = {0};
    struct check_link_request request = request_of(CU_JIT_INPUT_FATBINARY, &fatbin, "k");
    expect_linked(&request);
    struct fake_buffer key = only_key();
    fake_buffer_add_text(&expected, text);
    fake_buffer_fill(&expected, 0, (strlen(text) + 8) / 8 * 8 - strlen(text));
    fake_buffer_add_text(&expected, " -c" RECORDED);
    EXPECT(key.length == expected.length && memcmp(key.data, expected.data, key.length) == 0,
           "%zu bytes, not %zu", key.length, expected.length);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    expect_linked(&request);
    request.inputs[0].type = CU_JIT_INPUT_PTX; /* taken for what it is [49] */
    expect_linked(&request);
}

/* nvcc's own: a cubin for sm_90 and PTX for it. */
static void fatbin_of_nvcc(void)
{
    struct fake_buffer fatbin = check_read(check_data_path("../image/link/stored.fatbin"));
    struct check_link_request request = request_of(CU_JIT_INPUT_FATBINARY, &fatbin, NULL);
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.complete == CUDA_SUCCESS && answer.load == CUDA_SUCCESS, "%d %s", answer.complete,
           answer.error_log);
    EXPECT(check_entries("cache") == 0, "the cubin fits");
    set_target(&request, 120);
    answer = check_link(&request);
    EXPECT(answer.complete == CUDA_SUCCESS, "%d %s", answer.complete, answer.error_log);
    struct fake_buffer key = only_key();
    static const char end[] = "\0 -c" RECORDED;
    EXPECT(key.length > sizeof end &&
               memcmp(key.data + key.length - sizeof end + 1, end, sizeof end - 1) == 0,
           "%s", (char *)key.data + key.length - 20);
}

/* Payload of the entry that a link of this text leaves. */
static struct fake_buffer relocatable(const char *text, unsigned target)
{
    struct fake_buffer path = {0}, cubin = {0}, source = {0};
    fake_buffer_add(&source, text, strlen(text) + 1);
    struct check_link_request request = request_of(CU_JIT_INPUT_PTX, &source, NULL);
    set_target(&request, target);
    EXPECT(check_link(&request).add[0] == CUDA_SUCCESS);
    fake_buffer_printf(&path, "cache/%s", check_only_entry("cache"));
    struct fake_buffer entry = check_read((char *)path.data);
    uint64_t key_bytes;
    memcpy(&key_bytes, entry.data + 4, 8);
    fake_buffer_add(&cubin, entry.data + 28 + key_bytes, entry.length - 28 - key_bytes);
    path.length = 0;
    fake_buffer_printf(&path, "cache-%u", target);
    EXPECT(rename("cache", (char *)path.data) == 0);
    return cubin;
}

static void what_is_chosen(void)
{
    struct fake_buffer entries = {0}, cubin = relocatable(KERNEL("from_cubin"), 80);
    add_entry(&entries, PTX, 50, KERNEL("lower"), strlen(KERNEL("lower")), "");
    add_entry(&entries, CUBIN, 80, cubin.data, cubin.length, "");
    add_entry(&entries, PTX, 80, KERNEL("higher"), strlen(KERNEL("higher")), "");
    add_entry(&entries, PTX, 120, KERNEL("highest"), strlen(KERNEL("highest")), "");
    struct fake_buffer fatbin = container(&entries);
    struct check_link_request request = request_of(CU_JIT_INPUT_FATBINARY, &fatbin, "higher");
    expect_linked(&request); /* of two that fit the higher; not the one above the device */
    EXPECT(check_entries("cache") == 1);
    request.device = 1; /* sm_80: the cubin */
    request.kernel = "from_cubin";
    expect_linked(&request);
    EXPECT(check_entries("cache") == 1);
    set_target(&request, 86); /* the same major and a lower minor number will do */
    EXPECT(check_link(&request).complete == CUDA_SUCCESS && check_entries("cache") == 1);
    set_target(&request, 75); /* what is left for it */
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.add[0] == CUDA_ERROR_INVALID_PTX, "PTX that is recorded for sm_50 and says sm_80: %d",
           answer.add[0]);
}

static void nothing_fits(void)
{
    struct fake_buffer entries = {0};
    add_entry(&entries, PTX, 120, KERNEL("k"), strlen(KERNEL("k")), "");
    struct fake_buffer fatbin = container(&entries);
    struct check_link_request request = request_of(CU_JIT_INPUT_FATBINARY, &fatbin, NULL);
    EXPECT(check_link(&request).add[0] == CUDA_ERROR_NO_BINARY_FOR_GPU);
    fatbin.data[8] ^= 4; /* longer than it is */
    fatbin.data[9] = 0x7f;
    EXPECT(check_link(&request).add[0] == CUDA_ERROR_INVALID_IMAGE);
}

static void ltoir_is_passed_over(void)
{
    struct fake_buffer entries = {0}, caller = {0};
    add_entry(&entries, LTOIR, 90, "\xed\x43\x4e\x7f\1A\2b", 8, RECORDED);
    struct fake_buffer fatbin = container(&entries);
    fake_buffer_add(&caller, CALLER, sizeof CALLER);
    struct check_link_request request = request_of(CU_JIT_INPUT_PTX, &caller, "k");
    request.inputs[0].name = "a.ptx";
    request.inputs[1] = (struct check_input){
        .type = CU_JIT_INPUT_FATBINARY, .bytes = fatbin.data, .length = fatbin.length, .name = "b"};
    request.input_count = 2;
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.add[1] == CUDA_SUCCESS && answer.complete == CUDA_ERROR_INVALID_SOURCE, "%d %d",
           answer.add[1], answer.complete);
    EXPECT(strstr(answer.error_log, "error   : Undefined reference to 'twice' in 'a.ptx'"), "%s",
           answer.error_log);
}

static void objects(void)
{
    static const char *const sections[] = {"__nv_relfatbin", ".nv_fatbin"};
    for (int i = 0; i < 2; i++) {
        struct fake_buffer fatbin = fatbin_of(KERNEL("k")), second = fatbin_of(KERNEL("other"));
        fake_buffer_fill(&fatbin, 0, 8); /* as between the containers of two objects */
        fake_buffer_add(&fatbin, second.data, second.length);
        struct fake_buffer object = object_of(&fatbin, sections[i]);
        struct check_link_request request = request_of(CU_JIT_INPUT_OBJECT, &object, "other");
        expect_linked(&request);
        EXPECT(check_entries("cache") == 2);
        request.inputs[0].type = CU_JIT_INPUT_FATBINARY;
        EXPECT(check_link(&request).add[0] == CUDA_ERROR_INVALID_IMAGE, "no fatbin [49]");
    }
    struct fake_buffer fatbin = fatbin_of(KERNEL("k")), object = object_of(&fatbin, ".rodata");
    struct check_link_request request = request_of(CU_JIT_INPUT_OBJECT, &object, NULL);
    EXPECT(check_link(&request).add[0] == CUDA_ERROR_INVALID_IMAGE);
}

static void archives(void)
{
    struct fake_buffer fatbin = fatbin_of(CALLEE), object = object_of(&fatbin, "__nv_relfatbin");
    struct fake_buffer host = object_of(&fatbin, ".rodata"), table = {0}, archive = {0}, caller = {0};
    fake_buffer_add_text(&table, "symbols");
    add_member(&archive, "/", &table);
    add_member(&archive, "host.o/", &host); /* passed over */
    add_member(&archive, "b.o/", &object);
    fake_buffer_add(&caller, CALLER, sizeof CALLER);
    struct check_link_request request = request_of(CU_JIT_INPUT_PTX, &caller, "k");
    request.inputs[1] = (struct check_input){
        .type = CU_JIT_INPUT_LIBRARY, .bytes = archive.data, .length = archive.length, .name = "lib.a"};
    request.input_count = 2;
    expect_linked(&request);
    EXPECT(check_entries("cache") == 2);
    /* A name defined twice is found as soon as the library is added. */
    request.inputs[2] = request.inputs[1];
    request.input_count = 3;
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.add[1] == CUDA_SUCCESS && answer.add[2] == CUDA_ERROR_INVALID_SOURCE, "%d", answer.add[2]);
    EXPECT(strstr(answer.error_log, "error   : Multiple definition of 'twice' in 'b.o'"), "%s",
           answer.error_log);
    request.inputs[1].bytes = caller.data;
    request.inputs[1].length = caller.length;
    EXPECT(check_link(&request).add[1] == CUDA_ERROR_INVALID_IMAGE, "no archive");
}

static void packed_is_not_emulated(void)
{
    struct fake_buffer fatbin = check_read(check_data_path("../image/link/rdc.fatbin"));
    struct check_link_request request = request_of(CU_JIT_INPUT_FATBINARY, &fatbin, NULL);
    if (check_is_real_driver())
        check_skip("the real driver unpacks");
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.add[0] == CUDA_ERROR_NOT_SUPPORTED, "%d", answer.add[0]);
    EXPECT(strstr(answer.error_log, "emulated driver: compressed fatbin entries are not emulated"), "%s",
           answer.error_log);
}

static void options_are_not_emulated(void)
{
    struct fake_buffer fatbin = fatbin_of(KERNEL("k"));
    struct check_link_request request = request_of(CU_JIT_INPUT_FATBINARY, &fatbin, NULL);
    if (check_is_real_driver())
        check_skip("how they stand in the key was not measured");
    request.options[0] = (struct check_option){CU_JIT_OPTIMIZATION_LEVEL, 3};
    request.option_count = 1;
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.add[0] == CUDA_ERROR_NOT_SUPPORTED, "%d", answer.add[0]);
    EXPECT(strstr(answer.error_log, "emulated driver: link options beside a fatbin's own are not emulated"),
           "%s", answer.error_log);
}

const struct check check_link_fatbin_tests[] = {
    {"[3][45] a link's fatbin: the padded PTX and the recorded options in the key", key_of_an_entry},
    {"[45][46] a link takes what nvcc makes", fatbin_of_nvcc},
    {"[46] a link takes a fitting cubin, else the highest fitting PTX", what_is_chosen},
    {"[46] a link's fatbin in which nothing fits, or that is damaged", nothing_fits},
    {"[47] a link passes over LTO-IR in a fatbin", ltoir_is_passed_over},
    {"[45][49] a link's host object", objects},
    {"[45][48] a link's archive of objects", archives},
    {"a link's packed fatbin is not emulated and says so", packed_is_not_emulated},
    {"link options beside a fatbin's own are not emulated and say so", options_are_not_emulated},
    {NULL, NULL},
};
