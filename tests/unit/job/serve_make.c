/* SPDX-License-Identifier: Apache-2.0 */
/* A worker with a compiler, over the stand-ins for NVRTC and nvJitLink: its start, its results, and what it
 * does not do. */
#include "served.h"

#include <sys/mman.h>

#include "plans.h"

#define NVRTC        TOOLKIT "/libnvrtc.so.13"
#define BROKEN_NVRTC TOOLKIT "/broken/libnvrtc.so.13"
#define OLD_NVRTC    TOOLKIT "/old/libnvrtc.so.11.2"
#define NVJITLINK    TOOLKIT "/libnvJitLink.so.13"
#define BROKEN_LINK  TOOLKIT "/broken/libnvJitLink.so.13"
#define OLD_LINK     TOOLKIT "/old/libnvJitLink.so.12"
#define MISSING      "/nonexistent/libnvrtc.so.13"
#define CANNOT(what)                                                                                         \
    "cannot open " what ": " MISSING ": cannot open shared object file: No such file or directory"
#define BROKEN_MESSAGE                                                                                       \
    BROKEN_NVRTC " (version 13.0) has no function nvrtcGetSupportedArchs, which NVRTC has from version "     \
                 "11.2 on: name a whole, newer one with --nvrtc PATH"

/* Starts a worker with the first usable one of `paths`; `ret_started` lives as long as `served`. */
static void begin(struct served *served, enum pj_wire_library library, const char *const *paths,
                  struct pj_wire_started *ret_started)
{
    const char *copies[4];
    struct pj_wire_message message,
        order = {.type = PJ_WIRE_START, .start = {.library = library, .paths = copies, .watch_path = ""}};
    while (paths[order.start.path_count]) {
        copies[order.start.path_count] = paths[order.start.path_count];
        order.start.path_count++;
    }
    served_start(served, "/nonexistent", false, (long)getpid());
    served_receive(served, PJ_WIRE_HELLO, &message);
    served_send(served, &order, -1);
    served_receive(served, PJ_WIRE_STARTED, &message);
    *ret_started = message.started;
    assert_int_equal(ret_started->device_count, 0);
    assert_int_equal(ret_started->result, 0);
}

static void begin_with(struct served *served, enum pj_wire_library library, const char *path)
{
    const char *const paths[] = {path, NULL};
    struct pj_wire_started started;
    begin(served, library, paths, &started);
    assert_string_equal(started.failed_step, "");
}

static void test_start(void **state)
{
    static const uint32_t archs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
    static const char *const paths[] = {MISSING, BROKEN_NVRTC, NVRTC, NULL};
    (void)state;
    struct served served;
    struct pj_wire_started started;
    begin(&served, PJ_LIBRARY_NVRTC, paths, &started);
    assert_string_equal(started.failed_step, "");
    assert_string_equal(started.message, "");
    assert_string_equal(started.library_path, NVRTC);
    assert_int_equal(started.cuda_version, 13000);
    assert_int_equal(started.arch_count, PJ_COUNT(archs));
    assert_memory_equal(started.archs, archs, sizeof archs);
    assert_int_equal(started.file_count, 1);
    assert_string_equal(started.files[0].path, NVRTC);
    served_end(&served, "");
}

/* A library by a name that nothing is recognised by is the one that was opened all the same. */
static void test_start_other_name(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(pj_file_read(AT_FDCWD, NVRTC, 1 << 26, &bytes, NULL), 0);
    folder_write_bytes(&folder, "compiler.so", bytes.data, bytes.size);
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "compiler.so");
    const char *const paths[] = {path, NULL};
    struct served served;
    struct pj_wire_started started;
    begin(&served, PJ_LIBRARY_NVRTC, paths, &started);
    assert_string_equal(started.failed_step, "");
    assert_string_equal(started.library_path, path);
    assert_int_equal(started.cuda_version, 13000);
    assert_int_equal(started.file_count, 1);
    assert_string_equal(started.files[0].path, path);
    served_end(&served, "");
}

static void test_start_old(void **state)
{
    static const char *const nvrtc[] = {OLD_NVRTC, NULL}, *const linker[] = {OLD_LINK, NULL};
    (void)state;
    struct served served;
    struct pj_wire_started started;
    begin(&served, PJ_LIBRARY_NVRTC, nvrtc, &started);
    assert_string_equal(started.failed_step, "");
    assert_int_equal(started.cuda_version, 11020);
    assert_int_equal(started.arch_count, 13);
    assert_int_equal(started.archs[12], 86);
    served_end(&served, "");
    begin(&served, PJ_LIBRARY_NVJITLINK, linker, &started);
    assert_string_equal(started.failed_step, "");
    assert_int_equal(started.cuda_version, 12000);
    assert_int_equal(started.arch_count, 0);
    assert_string_equal(started.library_path, OLD_LINK);
    served_end(&served, "");
}

static void test_start_fails(void **state)
{
    static const char *const nvrtc[] = {MISSING, BROKEN_NVRTC, NULL}, *const linker[] = {MISSING, BROKEN_LINK,
                                                                                         NULL};
    (void)state;
    struct served served;
    struct pj_wire_started started;
    begin(&served, PJ_LIBRARY_NVRTC, nvrtc, &started);
    assert_string_equal(started.failed_step, "open");
    assert_string_equal(started.message, CANNOT("NVRTC") "\n" BROKEN_MESSAGE);
    assert_string_equal(started.library_path, "");
    assert_int_equal(started.cuda_version, 0);
    served_end(&served, "");
    begin(&served, PJ_LIBRARY_NVJITLINK, linker, &started);
    assert_string_equal(started.failed_step, "open");
    assert_string_equal(
        started.message,
        CANNOT("nvJitLink") "\n" BROKEN_LINK
                            " (version 13.0) has neither nvJitLinkComplete nor a versioned form "
                            "of it, which nvJitLink has from version 12.0 on: name a whole one "
                            "with --nvjitlink PATH");
    served_end(&served, "");
}

enum { ARGUMENTS = 6 };

/* An order, its files, and what is to come back. */
struct order {
    struct pj_wire_part parts[3];
    const char *arguments[ARGUMENTS], *expressions[ARGUMENTS];
    struct pj_wire_descriptors descriptors;
    struct pj_wire_message message;
};

static void add_part(struct order *order, const char *name, uint32_t type, const char *text)
{
    struct pj_wire_make *make = &order->message.make;
    order->descriptors.fds[order->descriptors.count++] = served_part(text, &order->parts[make->part_count]);
    order->parts[make->part_count].name = name;
    order->parts[make->part_count++].type = type;
}

/* The file that an output comes in. */
static int result_file(const struct order *order, enum pj_wire_output output)
{
    size_t at = order->message.make.part_count;
    for (uint32_t bit = 1; bit < (uint32_t)output; bit <<= 1)
        at += (order->message.make.outputs & bit) != 0;
    return order->descriptors.fds[at];
}

static void make_order(struct order *order, const char *source, uint32_t outputs,
                       const char *const *arguments)
{
    *order = (struct order){.message = {.type = PJ_WIRE_MAKE}};
    struct pj_wire_make *make = &order->message.make;
    *make = (struct pj_wire_make){.job = 7,
                                  .name = "program.cu",
                                  .outputs = outputs,
                                  .parts = order->parts,
                                  .arguments = order->arguments,
                                  .expressions = order->expressions};
    for (; arguments[make->argument_count]; make->argument_count++)
        order->arguments[make->argument_count] = arguments[make->argument_count];
    if (source)
        add_part(order, "program.cu", 0, source);
}

/* Sends it with new files for the results. */
static void give(struct served *served, struct order *order, struct pj_wire_made *ret_made)
{
    struct pj_wire_message answer;
    for (unsigned bit = 0; bit < PJ_OUTPUT_COUNT; bit++) {
        if (order->message.make.outputs >> bit & 1)
            order->descriptors.fds[order->descriptors.count++] = memfd_create("result", MFD_CLOEXEC);
    }
    assert_int_equal(pj_wire_send(served->socket, &order->message, &order->descriptors, NULL), 0);
    served_receive(served, PJ_WIRE_MADE, &answer);
    *ret_made = answer.made;
    assert_int_equal(ret_made->job, 7);
}

static void expect_result(const struct order *order, enum pj_wire_output output, const char *text)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(pj_file_read_fd(result_file(order, output), "it", 1 << 24, &bytes, NULL), 0);
    assert_string_equal(pj_buffer_text(&bytes), text);
    assert_int_equal(bytes.size, strlen(text));
}

static void expect_beginning(const struct order *order, enum pj_wire_output output, const char *text)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(pj_file_read_fd(result_file(order, output), "it", 1 << 24, &bytes, NULL), 0);
    assert_true(bytes.size > strlen(text));
    assert_memory_equal(bytes.data, text, strlen(text));
}

static void expect_inside(const struct order *order, enum pj_wire_output output, const char *text)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(pj_file_read_fd(result_file(order, output), "it", 1 << 24, &bytes, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&bytes), text));
}

static void expect_refused(const struct pj_wire_made *made, const char *call, const char *result)
{
    assert_string_equal(made->failed_call, call);
    assert_string_equal(made->result_name, result);
    assert_int_equal(made->image_changed, 0);
}

static void expect_made(const struct pj_wire_made *made)
{
    expect_refused(made, "", "");
    assert_int_equal(made->result, 0);
    assert_true(made->peak_rss_bytes > 0);
    assert_true(made->call_ms >= 0);
}

#define TEMPLATE                                                                                             \
    "#include \"own.h\"\n#include \"other.h\"\ntemplate<class T> __global__ void t(T) {}\n__global__ void "  \
    "k() {}\n"

/* Every result that NVRTC has, headers in memory, names of expressions. */
static void test_nvrtc(void **state)
{
    static const char *const real[] = {"--gpu-architecture=sm_90", NULL}, *const lto[] = {"-arch=compute_90",
                                                                                          "-dlto", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_made made;
    begin_with(&served, PJ_LIBRARY_NVRTC, NVRTC);
    make_order(&order, TEMPLATE, PJ_OUTPUT_LOG | PJ_OUTPUT_PTX | PJ_OUTPUT_CUBIN | PJ_OUTPUT_NAMES, real);
    add_part(&order, "own.h", 0, "// nothing\n");
    add_part(&order, "other.h", 0, "__global__ void h() {}\n");
    order.expressions[0] = "t<int>";
    order.expressions[1] = "&k";
    order.message.make.expression_count = 2;
    give(&served, &order, &made);
    expect_made(&made);
    assert_int_equal(made.file_count, 1);
    assert_string_equal(made.files[0].path, NVRTC);
    expect_result(&order, PJ_OUTPUT_LOG, "");
    expect_result(&order, PJ_OUTPUT_NAMES, "t_int_\nk\n");
    expect_beginning(&order, PJ_OUTPUT_CUBIN,
                     "\x7f"
                     "ELF");
    PJ_CLEANUP_BUFFER struct pj_buffer ptx = {0};
    assert_int_equal(pj_file_read_fd(result_file(&order, PJ_OUTPUT_PTX), "it", 1 << 20, &ptx, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&ptx), ".target sm_90\n"));
    assert_non_null(strstr(pj_buffer_text(&ptx), ".entry h()"));
    assert_non_null(strstr(pj_buffer_text(&ptx), ".entry t_int_()"));
    assert_int_equal(ptx.data[ptx.size - 1], '\n'); /* and no NUL behind it */
    pj_wire_close(&order.descriptors);

    make_order(&order, "__global__ void k() {}\n", PJ_OUTPUT_LTOIR | PJ_OUTPUT_PTX, lto);
    give(&served, &order, &made);
    expect_made(&made);
    assert_int_equal(made.file_count, 0); /* told once */
    expect_result(&order, PJ_OUTPUT_PTX, "");
    expect_beginning(&order, PJ_OUTPUT_LTOIR, "\xed\x43\x4e\x7f");
    pj_wire_close(&order.descriptors);
    served_end(&served, "");
}

static void test_nvrtc_refuses(void **state)
{
    static const char *const plain[] = {"-arch=compute_90", NULL}, *const unknown[] = {"--nonsense", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_made made;
    begin_with(&served, PJ_LIBRARY_NVRTC, NVRTC);
    make_order(&order, "#error no luck\n", PJ_OUTPUT_LOG | PJ_OUTPUT_PTX, plain);
    give(&served, &order, &made);
    expect_refused(&made, "nvrtcCompileProgram", "NVRTC_ERROR_COMPILATION");
    assert_int_equal(made.result, 6);
    expect_beginning(&order, PJ_OUTPUT_LOG, "program.cu(1): ");
    expect_result(&order, PJ_OUTPUT_PTX, "");
    pj_wire_close(&order.descriptors);

    make_order(&order, "__global__ void k() {}\n", PJ_OUTPUT_LOG | PJ_OUTPUT_PTX, unknown);
    give(&served, &order, &made);
    expect_refused(&made, "nvrtcCompileProgram", "NVRTC_ERROR_INVALID_OPTION");
    expect_result(&order, PJ_OUTPUT_LOG, "nvrtc: error: unrecognized option --nonsense found\n");
    pj_wire_close(&order.descriptors);

    make_order(&order, "__global__ void k() {}\n", PJ_OUTPUT_LOG | PJ_OUTPUT_NAMES, plain);
    order.expressions[0] = "other";
    order.message.make.expression_count = 1;
    give(&served, &order, &made);
    expect_refused(&made, "nvrtcCompileProgram", "NVRTC_ERROR_COMPILATION");
    expect_beginning(&order, PJ_OUTPUT_LOG, "__nv_name_map(2): error: identifier \"other\" is undefined\n");
    expect_result(&order, PJ_OUTPUT_NAMES, "");
    pj_wire_close(&order.descriptors);

    make_order(&order, "__global__ void k() {}\n", PJ_OUTPUT_PTX, plain); /* it is as good as before */
    give(&served, &order, &made);
    expect_made(&made);
    pj_wire_close(&order.descriptors);
    served_end(&served, "");
}

/* The list of files read arrives where it is wanted; afterwards standard error is what it was. */
static void test_headers_list(void **state)
{
    static const char *const traced[] = {"-arch=compute_90", "-Xcudafe", "--trace_includes", NULL};
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "disk.h", "#include \"own.h\"\n");
    char include[600], expected[1200];
    (void)snprintf(include, sizeof include, "-I%s", folder.path);
    struct served served;
    struct order order;
    struct pj_wire_made made;
    PJ_CLEANUP_CLOSE int errors = memfd_create("errors", MFD_CLOEXEC);
    PJ_CLEANUP_CLOSE int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_true(dup2(errors, STDERR_FILENO) >= 0);
    begin_with(&served, PJ_LIBRARY_NVRTC, NVRTC);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    for (int i = 0; i < 2; i++) { /* the second one's list goes to standard error */
        make_order(&order, "#include \"disk.h\"\n__global__ void k() {}\n",
                   i == 0 ? PJ_OUTPUT_LOG | PJ_OUTPUT_HEADERS | PJ_OUTPUT_PTX : PJ_OUTPUT_PTX, traced);
        order.arguments[order.message.make.argument_count++] = include;
        add_part(&order, "own.h", 0, "int own;\n");
        give(&served, &order, &made);
        expect_made(&made);
        (void)snprintf(expected, sizeof expected, "%s/disk.h\n own.h\n", folder.path);
        if (i == 0)
            expect_inside(&order, PJ_OUTPUT_HEADERS, expected);
        pj_wire_close(&order.descriptors);
    }
    served_end(&served, "");
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(pj_file_read_fd(errors, "it", 1 << 20, &bytes, NULL), 0);
    char *first = strstr(pj_buffer_text(&bytes), expected);
    assert_non_null(first);
    assert_null(strstr(first + 1, expected));
}

#define CALLER                                                                                               \
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func twice;\n.visible .entry k()\n{\n\tcall "   \
    "twice;\n\tret;\n}\n"
#define CALLED ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func twice\n{\n\tret;\n}\n"

static void test_nvjitlink(void **state)
{
    enum { PTX_INPUT = 2, CUBIN_INPUT = 1 };
    static const char *const arguments[] = {"-arch=sm_90", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_made made;
    begin_with(&served, PJ_LIBRARY_NVJITLINK, NVJITLINK);
    make_order(&order, NULL, PJ_OUTPUT_LOG | PJ_OUTPUT_CUBIN, arguments);
    add_part(&order, "a.ptx", PTX_INPUT, CALLER);
    add_part(&order, "b.ptx", PTX_INPUT, CALLED);
    give(&served, &order, &made);
    expect_made(&made);
    assert_string_equal(made.files[0].path, NVJITLINK);
    expect_result(&order, PJ_OUTPUT_LOG, "");
    expect_beginning(&order, PJ_OUTPUT_CUBIN,
                     "\x7f"
                     "ELF");
    pj_wire_close(&order.descriptors);

    make_order(&order, NULL, PJ_OUTPUT_LOG | PJ_OUTPUT_CUBIN, arguments);
    add_part(&order, "a.ptx", PTX_INPUT, CALLER);
    give(&served, &order, &made);
    expect_refused(&made, "nvJitLinkComplete", "NVJITLINK_ERROR_INTERNAL");
    assert_int_equal(made.file_count, 0);
    expect_result(&order, PJ_OUTPUT_LOG,
                  "error   : Undefined reference to 'twice' in 'a.ptx'\nERROR 9: finish");
    expect_result(&order, PJ_OUTPUT_CUBIN, "");
    pj_wire_close(&order.descriptors);

    make_order(&order, NULL, PJ_OUTPUT_LOG | PJ_OUTPUT_CUBIN, arguments);
    add_part(&order, "a.ptx", PTX_INPUT, "garbage");
    add_part(&order, "b.ptx", PTX_INPUT, CALLED);
    give(&served, &order, &made);
    expect_refused(&made, "nvJitLinkAddData", "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE");
    expect_result(&order, PJ_OUTPUT_CUBIN, "");
    pj_wire_close(&order.descriptors);
    served_end(&served, "");
}

/* A link whose options were refused is asked for its log and left alone: it cannot even be destroyed. */
static void test_nvjitlink_options(void **state)
{
    static const char *const unknown[] = {"-arch=sm_90", "-nonsense", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_made made;
    begin_with(&served, PJ_LIBRARY_NVJITLINK, NVJITLINK);
    for (int i = 0; i < 2; i++) {
        make_order(&order, NULL, PJ_OUTPUT_LOG | PJ_OUTPUT_CUBIN, unknown);
        add_part(&order, "a.ptx", 2, CALLER);
        give(&served, &order, &made);
        expect_refused(&made, "nvJitLinkCreate", "NVJITLINK_ERROR_UNRECOGNIZED_OPTION");
        expect_result(&order, PJ_OUTPUT_LOG, "unrecognized option: -nonsense");
        expect_result(&order, PJ_OUTPUT_CUBIN, "");
        pj_wire_close(&order.descriptors);
    }
    served_kill(&served);
}

/* Bytes that are not those of the digest never get to the compiler. */
static void test_changed(void **state)
{
    static const char *const arguments[] = {"-arch=compute_90", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_made made;
    begin_with(&served, PJ_LIBRARY_NVRTC, NVRTC);
    for (int i = 0; i < 3; i++) {
        make_order(&order, "__global__ void k() {}\n", PJ_OUTPUT_PTX, arguments);
        add_part(&order, "h", 0, "int h;\n");
        if (i == 0)
            order.parts[0].sha256.bytes[0] ^= 1;
        else if (i == 1)
            order.parts[1].sha256.bytes[31] ^= 1;
        else
            order.parts[1].bytes--;
        give(&served, &order, &made);
        assert_int_equal(made.image_changed, 1);
        assert_string_equal(made.failed_call, "");
        assert_int_equal(made.file_count, 0);
        expect_result(&order, PJ_OUTPUT_PTX, "");
        pj_wire_close(&order.descriptors);
    }
    served_end(&served, "");
}

/* What is no order for this worker ends it. */
static void test_refuses_orders(void **state)
{
    static const char *const arguments[] = {"-arch=compute_90", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_part part;
    PJ_CLEANUP_CLOSE int image = served_part(PTX("sm_80"), &part);
    const struct pj_wire_message load = {.type = PJ_WIRE_LOAD, .load = {.part_count = 1, .parts = &part}};
    begin_with(&served, PJ_LIBRARY_NVRTC, NVRTC);
    served_send(&served, &load, image);
    served_end(&served, "a load message came without an image, or not to a driver");

    begin_with(&served, PJ_LIBRARY_NVRTC, NVRTC);
    make_order(&order, "int x;\n", 0, arguments);
    add_part(&order, "h", 0, "int h;\n");
    served_send(&served, &order.message, order.descriptors.fds[0]);
    served_end(&served, "an order for 7 bytes came without the file");
    pj_wire_close(&order.descriptors);

    begin_with(&served, PJ_LIBRARY_NVRTC, NVRTC);
    make_order(&order, "int x;\n", 0, arguments);
    order.parts[0].bytes = (UINT64_C(1) << 30) + 1;
    served_send(&served, &order.message, order.descriptors.fds[0]);
    served_end(&served, "an order for 1073741825 bytes came without the file");
    pj_wire_close(&order.descriptors);
}

/* An order without files, and one whose results have nowhere to go, ends nobody. */
static void test_little(void **state)
{
    static const char *const arguments[] = {"-arch=compute_90", NULL};
    (void)state;
    struct served served;
    struct order order;
    struct pj_wire_message answer;
    struct pj_wire_made made;
    begin_with(&served, PJ_LIBRARY_NVRTC, NVRTC);
    make_order(&order, NULL, 0, arguments);
    give(&served, &order, &made);
    assert_int_equal(made.image_changed, 1);
    make_order(&order, "__global__ void k() {}\n", PJ_OUTPUT_PTX | PJ_OUTPUT_LOG, arguments);
    served_send(&served, &order.message, order.descriptors.fds[0]);
    served_receive(&served, PJ_WIRE_MADE, &answer);
    expect_made(&answer.made);
    pj_wire_close(&order.descriptors);
    served_end(&served, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_start_other_name),
        cmocka_unit_test(test_start_old),
        cmocka_unit_test(test_start_fails),
        cmocka_unit_test(test_nvrtc),
        cmocka_unit_test(test_nvrtc_refuses),
        cmocka_unit_test(test_headers_list),
        cmocka_unit_test(test_nvjitlink),
        cmocka_unit_test(test_nvjitlink_options),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_refuses_orders),
        cmocka_unit_test(test_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
