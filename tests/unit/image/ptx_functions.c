/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel names, and functions that are called but defined elsewhere. */
#include "read.h"

#define HEAD ".version 8.5\n.target sm_80\n.address_size 64\n"

static char *join_kernels(const struct pj_ptx *ptx)
{
    struct pj_buffer names = {0};
    for (size_t i = 0; i < ptx->kernel_count; i++)
        pj_buffer_printf(&names, "%s%s", i ? " " : "", ptx->kernels[i]);
    pj_buffer_puts(&names, "");
    assert_int_equal(pj_buffer_check(&names, NULL), 0);
    return names.data;
}

static void test_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *body, *kernels;
    } rows[] = {
        {".visible .entry k(){ret;}\n", "k"},
        {".entry a(){ret;} .weak .entry b(){ret;} .visible .entry c(){ret;}", "a b c"},
        {".visible\n.entry\nk3\n(){ret;}\n", "k3"},
        {".visible .entry /* c */ k3 // x\n(){ret;}\n", "k3"},
        {".visible .entry /* .entry no( */ yes /* { */ ( .param .u64 p ) .maxntid 32 {ret;}\n", "yes"},
        {".visible .entry k{ret;}\n", "k"},
        {".visible .entry %ab(){ret;}\n.entry _$a1(){ret;}\n.entry $%(){}", "%ab _$a1 $%"},
        {"// .entry no(){}\n/* .entry no(){} */ .entry k(){ret;}", "k"},
        {"/* a // b */ .entry k(){} // /* \n.entry l(){} /* // */ .entry m(){}", "k l m"},
        {"/* /* */ .entry k(){}", "k"},
        {"/*/ .entry no(){} */ .entry k(){}", "k"},
        {".file 1 \"a .entry no(){} /* \"\n.entry k(){ret;}", "k"},
        {".file 1 \"http://x\"\n.entry k(){ret;}", "k"},
        {".file 1 \"a \n .entry no(){} b\" .entry k(){ret;}", "k"},
        {".file 1 \"a \\\" .entry k(){ret;}", "k"}, /* no escapes in strings */
        {".entry k(){ .pragma \"nounroll /* .entry no(){\"; ret;}", "k"},
        {"// a lone CR ends no comment\r.entry no(){}\n.entry k(){}", "k"},
        {"# 3 \"x\"\n.entry k(){}", "k"},
        {".entry k();\n.entry k(){ret;}\n.entry k(){ret;}", "k"}, /* once, whatever was declared */
        {".entry b(){} .entry a(){} .entry b(){}", "b a"},
        {".extern .entry no(.param .b64 p);\n.entry k(){}", "k"}, /* a declaration is no kernel */
        {".entryx no(){}\n.entry k(){}\n.entries", "k"},
        {".entry no", ""},
        {".entry", ""},
        {".entry 1a(){}", ""},
        {".entry \"k\"(){}", ""},
        {".entry / k(){} .entry l(){}", "l"},
        {".entry no .entry k {ret;}", "k"},
        {".entry k(){} /* .entry no(){}", "k"},
        {".entry k(){} \"... .entry no(){}", "k"},
        {".entry k(){} // .entry no(){}", "k"},
        {".entry k( /* ){}", ""},
        {".func (.param .b32 r) f (.param .b64 p) {ret;}\n.entry k(){}", "k"},
        {"ld.param.u32 %r1, [x]; setp.eq.s32 p, a, b; ex2.approx a, b; .entry k(){}", "k"},
        {"0123456789abcdef0123456789abcde.entry k(){}", "k"},
        {"0123456789abcdef0123456789abcdef01234567.entry k(){}/", "k"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        struct reading reading;
        pj_buffer_printf(&text, HEAD "%s", rows[i].body);
        read_bytes(text.data, text.size, &reading);
        PJ_CLEANUP_FREE char *kernels = join_kernels(&reading.ptx);
        assert_string_equal(kernels, rows[i].kernels);
        if (rows[i].kernels[0])
            check_finding(&reading, rows[i].body, "ok", 0, NULL);
        else
            check_finding(
                &reading, rows[i].body, "no-kernels", 0,
                "no kernel (.entry) is defined here, so nothing but its own cache entry can be warmed by "
                "it; check that this is the file you mean");
        pj_arena_free(&reading.arena);
    }
}

/* The same kernel is found at every distance from the blocks that the scan works in. */
static void test_every_offset(void **state)
{
    (void)state;
    for (int before = 0; before < 80; before++) {
        for (int behind = 0; behind < 40; behind++) {
            PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
            struct reading reading;
            pj_buffer_printf(&text, HEAD "%*s.entry k(){}%*s", before, "", behind, "");
            read_bytes(text.data, text.size, &reading);
            assert_int_equal(reading.ptx.kernel_count, 1);
            assert_string_equal(reading.ptx.kernels[0], "k");
            pj_arena_free(&reading.arena);
        }
    }
}

static void test_long_name(void **state)
{
    (void)state;
    enum { LENGTH = 5000 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    char name[LENGTH + 1];
    memset(name, 'n', LENGTH);
    name[LENGTH] = '\0';
    pj_buffer_printf(&text, HEAD ".entry %s(){} .entry %sx(){} .func %sy(){}", name, name, name);
    struct reading reading;
    read_bytes(text.data, text.size, &reading);
    check_finding(&reading, "long", "ok", 0, NULL);
    assert_int_equal(reading.ptx.kernel_count, 2);
    assert_string_equal(reading.ptx.kernels[0], name);
    assert_int_equal(strlen(reading.ptx.kernels[1]), LENGTH + 1);
    pj_arena_free(&reading.arena);
}

#define OPENCL_POINTER                                                                                       \
    ", as OpenCL has it: the driver compiles that and cannot load it (CUDA_ERROR_INVALID_IMAGE); remove "    \
    "these two words, or leave the file out"
#define OPENCL_OBJECT                                                                                        \
    ", as OpenCL has it: the driver compiles that and cannot load it (CUDA_ERROR_INVALID_IMAGE); pass a "    \
    "texture or surface object (`.param .u64`), or leave the file out"

/* What the driver compiles and stores, and loads never. */
static void test_unloadable(void **state)
{
    (void)state;
    static const struct {
        const char *body, *message; /* NULL = it can be loaded */
    } rows[] = {
        {".entry k(.param .u64 .ptr .shared .align 4 p){}",
         "line 4: a parameter of the kernel \"k\" is declared `.ptr .shared`" OPENCL_POINTER},
        {".entry k(.param .u64 a,\n.param .u32 .ptr .local p)\n.maxntid 1,1,1\n{}",
         "line 5: a parameter of the kernel \"k\" is declared `.ptr .local`" OPENCL_POINTER},
        {".entry j(.param .u64 .ptr .align 8 p){}\n.visible .entry k(.param .u64 .ptr /* x */\n.shared p){}",
         "line 5: a parameter of the kernel \"k\" is declared `.ptr .shared`" OPENCL_POINTER},
        {".entry k(.param .texref t){}",
         "line 4: a parameter of the kernel \"k\" is a `.texref`" OPENCL_OBJECT},
        {".entry k(.param .u64 p, .param .samplerref s){}",
         "line 4: a parameter of the kernel \"k\" is a `.samplerref`" OPENCL_OBJECT},
        {".entry k(\n.param .surfref s){}",
         "line 5: a parameter of the kernel \"k\" is a `.surfref`" OPENCL_OBJECT},
        {".entry k(.param .u64 .ptr .global .align 4 p){}", NULL},
        {".entry k(.param .u64 .ptr .const .align 4 p){}", NULL},
        {".entry k(.param .u64 .ptr .align 4 p){}", NULL},
        {".entry k(.param .u64 p /* .ptr .shared */){} // .ptr .shared", NULL},
        {".entry k(.param .u64 p){.shared .b32 s; .local .b32 l;}", NULL},
        {".global .texref t; .global .surfref s; .global .samplerref r; .entry k(.param .u64 p){}", NULL},
        {".entry j(.param .u64 .ptr .shared p);\n.entry k(){}", NULL},                  /* no body */
        {".func f(.param .u64 .ptr .shared p){}\n.entry k(){}", NULL},                  /* no kernel */
        {".entry k(.param .u64 .ptrs .shared p, .param .u64 .ptr .shareds q){}", NULL}, /* other words */
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        struct reading reading;
        pj_buffer_printf(&text, HEAD "%s", rows[i].body);
        read_bytes(text.data, text.size, &reading);
        check_finding(&reading, rows[i].body, rows[i].message ? "cannot-be-loaded" : "ok",
                      reading.ptx.unloadable.line, rows[i].message);
        pj_arena_free(&reading.arena);
    }
}

static void test_samplers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n.global .samplerref s = { "
         "addr_mode_0 = clamp_to_edge };\n.entry k(){}",
         "line 4: a `.samplerref` beside `texmode_independent`, as OpenCL has it: the driver compiles that "
         "and "
         "cannot load it (CUDA_ERROR_NOT_FOUND); use texture objects (`.u64`), or leave the file out"},
        {".version 8.0\n.target sm_80, texmode_independent\n.global .texref t; // .samplerref\n.entry k(){}",
         NULL},
        {".version 8.0\n.target sm_80, texmode_unified\n.global .samplerref s;\n.entry k(){}", NULL},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct reading reading;
        read_bytes(rows[i].text, strlen(rows[i].text), &reading);
        check_finding(&reading, rows[i].text, rows[i].message ? "cannot-be-loaded" : "ok",
                      rows[i].message ? 4 : 0, rows[i].message);
        pj_arena_free(&reading.arena);
    }
}

/* The line and name are what tells it. */
static void test_optix(void **state)
{
    (void)state;
    static const struct {
        const char *body, *name; /* NULL = it is none */
        size_t line;
    } rows[] = {
        {".visible .entry __raygen__x(){}", "__raygen__x", 4},
        {".entry __anyhit__x(){}", "__anyhit__x", 4},
        {".entry __closesthit__x(){}", "__closesthit__x", 4},
        {".entry __intersection__x(){}", "__intersection__x", 4},
        {".entry __miss__x(){}", "__miss__x", 4},
        {".entry __exception__x(){}", "__exception__x", 4},
        {".entry k(){}\n.visible .func __direct_callable__f(){}", "__direct_callable__f", 5},
        {".entry k(){}\n.visible .func __continuation_callable__f(){}", "__continuation_callable__f", 5},
        {".entry k(){\ncall (%r1), _optix_get_launch_index_x, ();}", "_optix_get_launch_index_x", 5},
        {".extern .func _optix_f;\n.entry k(){\ncall _optix_f;}", "_optix_f", 6},
        {".entry k(){ call (%rd1), _rt_buffer_get_64, (%rd2); }", "_rt_buffer_get_64", 4},
        {".global .align 4 .b8 _ZN21rti_internal_typeinfo6colorsE[8];\n.entry k(){}",
         "_ZN21rti_internal_typeinfo6colorsE", 4},
        {".entry raygen(){} .entry x__raygen__(){}", NULL, 0},
        {".entry k(){} // _optix_f _rt_f rti_internal_ __raygen__x", NULL, 0},
        {".entry k(){ /* call _optix_f; rti_internal_x */ }", NULL, 0},
        {".func _rt_f(){}\n.entry k(){ call _rt_f; }", NULL, 0}, /* its own */
        {".entry k(){ call __rt_f, (); }", NULL, 0},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, message = {0};
        struct reading reading;
        pj_buffer_printf(&text, HEAD "%s", rows[i].body);
        read_bytes(text.data, text.size, &reading);
        pj_buffer_printf(&message,
                         "line %zu: \"%s\": this is an OptiX module: OptiX compiles it and keeps the code in "
                         "its own cache, the CUDA driver does not; leave it out",
                         rows[i].line, rows[i].name ? rows[i].name : "");
        check_finding(&reading, rows[i].body, rows[i].name ? "optix-module" : "ok", rows[i].line,
                      rows[i].name ? message.data : NULL);
        pj_arena_free(&reading.arena);
    }
}

static void test_device_runtime(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_one;
    } rows[] = {{"cudaLaunchDeviceV2", true},
                {"cudaGetParameterBuffer", true},
                {"__cudaCDP2Malloc", true},
                {"cudaGraphNew", false},
                {"cudart", false},
                {"my_cudaMalloc", false},
                {"cuda", false},
                {"", false}};
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        if (pj_ptx_is_device_runtime(rows[i].name) != rows[i].is_one)
            fail_msg("%s", rows[i].name);
    }
    static const char text[] = HEAD ".extern .func cudaLaunchDevice;\n.entry k(){ call cudaLaunchDevice; }";
    struct reading reading;
    read_bytes(text, strlen(text), &reading);
    check_finding(
        &reading, text, "needs-linking", 4,
        "line 4: the function \"cudaLaunchDevice\" is called but not defined here: name this file and "
        "the toolkit's libcudadevrt.a together under `link:`");
    pj_arena_free(&reading.arena);
}

#define CALL(what) ".entry k(){ {.param .b64 p; st.param.b64 [p], 0; " what "} ret;}\n"
#define EXTERN     ".extern .func foo (.param .b64 a);\n"

static void test_unresolved(void **state)
{
    (void)state;
    static const struct {
        const char *body, *unresolved;
        size_t line;
    } rows[] = {
        {EXTERN CALL("call foo, (p);"), "foo", 4},
        {EXTERN CALL("call.uni foo, (p);"), "foo", 4},
        {EXTERN CALL("call.uni\n /* x */ foo ;"), "foo", 4},
        {".extern .func (.param .b32 r) foo (.param .b64 a);\n" CALL("call.uni (q), foo, (p);"), "foo", 4},
        {"\n.extern .func\n(.param .b32 r)\nfoo\n(\n)\n;\n" CALL("call (q)\n,\nfoo, (p);"), "foo", 7},
        {".extern .func foo() .noreturn;\n" CALL("call foo;"), "foo", 4},
        {".func foo(.param .b64 a);\n" CALL("call foo, (p);"), "foo", 4}, /* extern or not */
        {".visible .func foo;\n" CALL("call foo;"), "foo", 4},
        {".extern .func .attribute(.unified(1,2)) foo (.param .b64 a);\n" CALL("call foo, (p);"), "foo", 4},
        {EXTERN ".func bar(){ call foo, (p); ret;}\n.entry k(){}", "foo", 4},
        {".extern .func b;\n.extern .func a;\n" CALL("call a; call b;"), "a",
         5}, /* first call, not first name */
        {EXTERN CALL("ret;"), NULL, 0},
        {EXTERN CALL("/* call foo, (p); */ // call foo\n"), NULL, 0},
        {EXTERN CALL(".pragma \"call foo\";"), NULL, 0},
        {EXTERN CALL("mycall foo; call_ foo; x.call foo; call foobar; callfoo;"), NULL, 0},
        {EXTERN CALL("call: ret; call %r, (), P;"), NULL, 0},
        {EXTERN ".func foo (.param .b64 a){ret;}\n" CALL("call foo, (p);"), NULL, 0},
        {".func foo;\n" CALL("call foo;") ".func foo {ret;}\n", NULL, 0},
        {".func callme(){ret;}\n" CALL("call callme;"), NULL, 0},
        {".visible .func foo(){ret;}\n.visible .func bar();\n.alias bar, foo;\n" CALL("call bar;"), NULL, 0},
        {".visible .func foo(){ret;}\n.func bar();\n.alias/* x */bar, foo;\n.func no;\n" CALL(
             "call bar; call no;"),
         "no", 7},
        {".extern .func foo (/* ) */ .param .b64 a /* ; { */);\n" CALL("call foo;"), "foo", 4},
        {EXTERN CALL("call (q foo"), NULL, 0},
        {EXTERN CALL("call (q) foo;"), NULL, 0},
        {EXTERN CALL("call (q), /* foo"), NULL, 0},
        {".extern .func foo\n", NULL, 0},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, message = {0};
        struct reading reading;
        pj_buffer_printf(&text, HEAD "%s", rows[i].body);
        read_bytes(text.data, text.size, &reading);
        if (!rows[i].unresolved) {
            if (reading.ptx.unresolved)
                fail_msg("%s: %s", rows[i].body, reading.ptx.unresolved);
            assert_int_not_equal(reading.finding.code, PJ_PTX_NEEDS_LINKING);
        } else {
            pj_buffer_printf(
                &message,
                "line %zu: the function \"%s\" is called but not defined here: name this file and the "
                "one that defines it together under `link:`",
                rows[i].line, rows[i].unresolved);
            check_finding(&reading, rows[i].body, "needs-linking", rows[i].line, message.data);
            assert_string_equal(reading.ptx.unresolved, rows[i].unresolved);
            assert_int_equal(reading.ptx.unresolved_line, rows[i].line);
            assert_int_equal(reading.ptx.kernel_count, 1);
        }
        pj_arena_free(&reading.arena);
    }
}

/* What ptxas 13.0 and driver 580 said about a call of each name, declared and nowhere defined. */
static void test_supplied(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool supplied;
    } rows[] = {
        {"vprintf", true},
        {"malloc", true},
        {"free", true},
        {"__assertfail", true},
        {"cudaGraphLaunch", true},
        {"cudaGraphSetConditional", true},
        {"cnpGetDevice", true},
        {"__cuda_syscall_cp_async_zfill", true},
        {"__cuda_syscall", true},
        {"cnpGetParameterBufferV2", true},
        {"vprintfx", false},
        {"vprint", false},
        {"printf", false},
        {"__assert_fail", false},
        {"memcpy", false},
        {"cudaGraphFoo", false},
        {"cnpFoo", false},
        {"cudaDeviceSynchronize", false},
        {"cudaMalloc", false},
        {"cudaGetParameterBufferV2", false},
        {"__nv_sin", false},
        {"__cuda_sm20_div_u64", false},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        struct reading reading;
        pj_buffer_printf(&text, HEAD ".extern .func %s (.param .b64 a);\n.entry k(){ call %s, (p); ret;}",
                         rows[i].name, rows[i].name);
        read_bytes(text.data, text.size, &reading);
        if ((reading.finding.code == PJ_PTX_OK) != rows[i].supplied)
            fail_msg("%s: %s", rows[i].name, pj_ptx_finding_name(reading.finding.code));
        pj_arena_free(&reading.arena);
    }
}

/* "f+>g,h": f, which others see, calls g and h; "f-": it is weak; "k!": a kernel; "g:4": declared in line 4,
 * not defined. */
static void describe(const struct pj_ptx *ptx, struct pj_buffer *text)
{
    static const char *const linkages[] = {"", "-", "+"};
    for (size_t i = 0; i < ptx->function_count; i++) {
        const struct pj_ptx_function *function = &ptx->functions[i];
        pj_buffer_printf(text, "%s%s%s", i ? " " : "", function->name,
                         function->is_kernel ? "!" : linkages[function->linkage]);
        if (!function->is_defined)
            pj_buffer_printf(text, ":%zu", function->line);
        else
            assert_int_equal(function->line, 0);
        assert_true(function->first_call + function->call_count <= ptx->call_count);
        for (size_t k = 0; k < function->call_count; k++)
            pj_buffer_printf(text, "%s%s", k ? "," : ">",
                             ptx->functions[ptx->calls[function->first_call + k]].name);
        assert_ptr_equal(pj_ptx_find(ptx, function->name), function);
    }
}

/* What a linker finds here, and must find elsewhere, and who calls it. */
static void test_linking(void **state)
{
    (void)state;
    static const struct {
        const char *body, *functions;
    } rows[] = {
        {EXTERN CALL("call foo, (p);"), "foo:4 k!>foo"},
        {EXTERN ".extern .func a;\n" CALL("call a; call foo; call a;") ".entry l(){call foo;}",
         "a:5 foo:4 k!>a,foo l!>foo"},
        {".func foo;\n" CALL("call foo;"), "foo:4 k!>foo"},
        {EXTERN CALL("ret;"), "foo:4 k!"},
        {EXTERN CALL("// call foo\n"), "foo:4 k!"},
        {".extern .func vprintf;\n" CALL("call vprintf;"), "k!"},
        {".func vprintf(){ret;}\n" CALL("call vprintf;"), "k! vprintf"},
        {EXTERN ".visible .func b(){call foo;}\n" CALL("call b;"), "b+>foo foo:4 k!>b"},
        {EXTERN CALL("ret;") ".func b(){call foo; call b;}", "b>foo,b foo:4 k!"},
        {EXTERN ".func b(){ret;}\n" CALL("call b; call foo;"), "b foo:4 k!>b,foo"},
        /* Calls are of no interest where nothing has to come from elsewhere. */
        {".func b(){ret;}\n" CALL("call b;"), "b k!"},
        {".entry k();\n" EXTERN ".func b(){call foo;}\n", "b>foo foo:5"},
        {".visible .func z(){} .weak .func b(){} .func c; .func z(){}\n" CALL("ret;"), "b- c:4 k! z+"},
        /* Of two definitions, which no compiler takes, the first counts. */
        {EXTERN ".func b(){} .func b(){call foo;}\n" CALL("call b;"), "b foo:4 k!>b"},
        {EXTERN ".func b;\n" CALL("call b;") ".func b(){call foo;}", "b>foo foo:4 k!>b"},
        /* What other texts see is said before the definition, or before a declaration. */
        {".visible .func b;\n.func b(){}\n.weak\n\t.func c(){}\n.common .func d(){}", "b+ c- d+"},
        {".visible/**/.func b(){} .weak /* .x */ /* * / */ .func c(){}", "b+ c-"},
        {"/* .visible */ .func b(){} .visible .global .u32 v; .func c(){} x*/.func d(){}", "b c d"},
        {".invisible .func b(){} visible .func c(){} .extern .func e;", "b c e:4"},
        {".visible .func foo(){ret;}\n.visible .func bar();\n.alias bar, foo;\n" CALL("call bar;"),
         "bar+>foo foo+ k!>bar"},
        {EXTERN ".func b(){call foo;}\n.func c;\n.alias c/**/, b;\n.alias d, b; .alias b, c;" CALL("call c;"),
         "b>foo c>b foo:4 k!>c"},
        {EXTERN ".func c;.func d;.func e; .alias c; .alias d, nothing; .alias e,\n", "c d e foo:4"},
        /* What looks like an alias, and is none. */
        {EXTERN "// .alias foo, k;\n/* .alias foo, k; */ .aliases foo, k;\n" CALL("call foo;"),
         "foo:4 k!>foo"},
        {EXTERN ".file 1 \".alias foo, k;\"\n.alias/* .alias foo, k; */ k, k;" CALL("call foo;"),
         "foo:4 k!>foo"},
        {".visible .func f1(){} .visible .func f(){} .entry %f(){}", "%f! f+ f1+"},
        {EXTERN ".func fo(){call foo; call fooo; call f;}.func fooo; .entry f(){call fo;}",
         "f!>fo fo>foo,fooo,f foo:4 fooo:5"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, functions = {0};
        struct reading reading;
        pj_buffer_printf(&text, HEAD "%s", rows[i].body);
        read_bytes(text.data, text.size, &reading);
        describe(&reading.ptx, &functions);
        assert_string_equal(pj_buffer_text(&functions), rows[i].functions);
        assert_null(pj_ptx_find(&reading.ptx, "fo o"));
        pj_arena_free(&reading.arena);
    }
}

/* A megabyte of calls is read in one pass: a line counted from the start for each would take very long. */
static void test_many_calls(void **state)
{
    (void)state;
    enum { COUNT = 60000 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, HEAD);
    for (int i = 0; i < COUNT; i++)
        pj_buffer_printf(&text, ".extern .func e%d;\n", i);
    pj_buffer_puts(&text, ".entry k(){");
    for (int i = COUNT - 1; i >= 0; i--)
        pj_buffer_printf(&text, "call e%d;", i);
    struct reading reading;
    read_bytes(text.data, text.size, &reading);
    const struct pj_ptx *ptx = &reading.ptx;
    assert_int_equal(ptx->call_count, COUNT);
    assert_string_equal(ptx->functions[ptx->calls[0]].name, "e59999");
    assert_int_equal(ptx->functions[ptx->calls[0]].line, COUNT + 3);
    assert_int_equal(ptx->functions[ptx->calls[COUNT - 1]].line, 4);
    pj_arena_free(&reading.arena);
}

/* Each of these begins a comment, which would be read to its end for each. */
static void test_many_half_aliases(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, HEAD EXTERN CALL("call foo;"));
    for (int i = 0; i < COUNT; i++)
        pj_buffer_puts(&text, ".alias /*");
    struct reading reading;
    read_bytes(text.data, text.size, &reading);
    assert_int_equal(reading.ptx.call_count, 1);
    assert_string_equal(reading.ptx.unresolved, "foo");
    pj_arena_free(&reading.arena);
}

/* Many functions, many calls, many duplicates: each name once, in order, and quickly. */
static void test_many(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, HEAD);
    for (int i = 0; i < COUNT; i++)
        pj_buffer_printf(&text, ".extern .func e%d;.entry k%d(){call f%d;}.entry k%d(){}", i, i, i, i / 2);
    pj_buffer_printf(&text, ".entry last(){call e%d;}", COUNT - 1);
    struct reading reading;
    read_bytes(text.data, text.size, &reading);
    assert_int_equal(reading.finding.code, PJ_PTX_NEEDS_LINKING);
    assert_string_equal(reading.ptx.unresolved, "e19999");
    assert_int_equal(reading.ptx.kernel_count, COUNT + 1);
    assert_string_equal(reading.ptx.kernels[1], "k1");
    assert_string_equal(reading.ptx.kernels[COUNT - 1], "k19999");
    assert_string_equal(reading.ptx.kernels[COUNT], "last");
    assert_int_equal(reading.ptx.call_count, 1);
    assert_string_equal(reading.ptx.functions[reading.ptx.calls[0]].name, "e19999");
    assert_int_equal(reading.ptx.function_count, 2 * COUNT + 1);
    /* Also where it is the last of many that is asked for. */
    assert_int_equal(pj_ptx_missing_kernel(&reading.ptx, reading.ptx.kernels, COUNT + 1), COUNT + 1);
    static const char *const wanted[] = {"last", "k0", "e0", "k1"};
    assert_int_equal(pj_ptx_missing_kernel(&reading.ptx, wanted, 4), 2);
    pj_arena_free(&reading.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_every_offset),
        cmocka_unit_test(test_long_name),
        cmocka_unit_test(test_unloadable),
        cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_optix),
        cmocka_unit_test(test_device_runtime),
        cmocka_unit_test(test_unresolved),
        cmocka_unit_test(test_supplied),
        cmocka_unit_test(test_linking),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_many_calls),
        cmocka_unit_test(test_many_half_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
