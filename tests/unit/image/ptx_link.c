/* SPDX-License-Identifier: Apache-2.0 */
/* Calls followed through the texts of a link. What is expected is what nvJitLink and nvlink 13.0.88 did with
 * such texts [cache-model 70], but where a row says that it is more careful. */
#include "read.h"

#include "base/memory.h"
#include "image/ptx_link.h"

#define HEAD       ".version 8.5\n.target sm_80\n.address_size 64\n"
#define EXTERN     ".extern .func c;\n"
#define K(body)    ".visible .entry k()\n{ " body " ret; }\n"
#define WEAK(body) ".weak .func b\n{ " body " ret; }\n"
#define B(body)    ".visible .func b\n{ " body " ret; }\n"
#define OWN(body)  ".func b\n{ " body " ret; }\n"
#define EXTERN_B   ".extern .func b;\n"

enum { TEXTS_MAX = 3 };

static void test_links(void **state)
{
    (void)state;
    static const struct {
        const char *texts[TEXTS_MAX];
        const char *lack; /* "TEXT CALLER MISSING:LINE"; "" = none */
    } rows[] = {
        {{K("")}, ""},
        {{EXTERN K("")}, ""},
        {{EXTERN K("call c;")}, "0 k c:4"},
        {{EXTERN K("ret; call c;")}, "0 k c:4"}, /* dead code counts */
        {{EXTERN K("call c;"), ".visible .func c { ret; }"}, ""},
        {{EXTERN K("call c;"), EXTERN}, "0 k c:4"},
        /* Through functions, in one text and in others. */
        {{EXTERN B("call c;") K("call b;")}, "0 b c:4"},
        {{EXTERN OWN("call c;") K("call b;")}, "0 b c:4"},
        {{EXTERN_B K("call b;"), EXTERN B("call c;")}, "1 b c:4"},
        {{EXTERN B("call c;"), EXTERN_B K("call b;")}, "0 b c:4"},
        {{EXTERN_B K("call b;"), EXTERN B("call c;"), ".extern .func d;\n.visible .func c { call d; }"},
         "2 c d:4"},
        {{EXTERN_B K("call b;"), EXTERN B("call c;"), ".visible .func c { ret; }"}, ""},
        {{EXTERN "\n" B("call b; call c;") K("call b;")}, "0 b c:4"},
        {{EXTERN B("call c;") ".visible .func d;\n.alias d, b;\n" K("call d;")}, "0 b c:4"},
        {{EXTERN B("call c;") ".entry l { call b; }"}, "0 b c:4"},
        /* What no kernel reaches may miss what it likes. */
        {{EXTERN B("call c;") K("")}, ""},
        {{EXTERN OWN("call c;") K("")}, ""},
        {{K(""), EXTERN B("call c;")}, ""},
        {{EXTERN K(""), EXTERN B("call c;")}, ""},
        {{EXTERN B("call c;")}, ""},
        {{EXTERN B("call b; call c;") K("")}, ""},
        {{EXTERN B("call c;") ".visible .func d;\n.alias d, b;\n" K("")}, ""},
        /* A register may have the name of a function. */
        {{EXTERN ".entry k { .reg .b64 c; P: .callprototype _ (); call c, P; }"}, ""},
        {{EXTERN ".entry k { .reg .b64 c; P: .callprototype _ (); call c, (), P; }"}, ""},
        {{EXTERN
          ".entry k { .reg .b64 c; P: .callprototype (.reg .b32 r) _ (); call (q), c , ( ) /**/ , P; }"},
         ""},
        {{EXTERN EXTERN_B B("") ".entry k { call (q), c /* , */ , (\",\") ; }"}, "0 k c:4"},
        {{EXTERN ".entry k { .reg .b64 x; call x, (), P; call c , ( ); }"}, "0 k c:4"},
        /* The nearest to a kernel is told, in the order of texts and calls. */
        {{EXTERN ".extern .func d;\n" B("call c;") K("call b; call d;")}, "0 k d:5"},
        {{EXTERN B("call c;") K("call b;"), ".extern .func d;\n.entry l { call d; }"}, "1 l d:4"},
        {{".extern .func e;\n.extern .func d;\n" K("call d; call e;")}, "0 k d:5"},
        /* Of several definitions the first counts, a weak one's calls too, and weak ones behind it do not. */
        {{EXTERN WEAK("call c;") K("call b;"), B("")}, "0 b c:4"},
        {{B(""), EXTERN WEAK("call c;") K("call b;")}, ""},
        {{WEAK("") K("call b;"), EXTERN WEAK("call c;")}, ""},
        {{EXTERN WEAK("call c;") K("call b;"), WEAK("")}, "0 b c:4"},
        {{WEAK("") K("call b;"), EXTERN WEAK("call c;") ".entry l { call b; }"}, ""},
        {{".weak .entry k { ret; }", EXTERN ".weak .entry k { call c; }"}, ""},
        {{EXTERN ".weak .entry k { call c; }", ".weak .entry k { ret; }"}, "0 k c:4"},
        {{K(""), EXTERN ".weak .entry k { call c; }"}, ""},
        {{".visible // strong\n.func b { ret; }", EXTERN WEAK("call c;") K("call b;")}, ""},
        {{".visible // a // b\n\n/* c */ // .weak\n .func b { ret; }", EXTERN WEAK("call c;") K("call b;")},
         ""},
        {{".reg .b32 x; // .visible\n.func b { ret; }", EXTERN WEAK("call c;") K("call b;")}, "1 b c:4"},
        {{WEAK("") K("call b;"), EXTERN B("call c;")}, ""}, /* careful: both linkers refuse it */
        {{".weak .entry k { ret; }", EXTERN K("call c;")}, "1 k c:4"},
        {{".entry k { ret; }", EXTERN ".entry k { call c; }"}, "1 k c:4"},
        /* A function that no other text sees is its own text's alone. */
        {{OWN("") K("call b;"), EXTERN B("call c;")}, ""},
        {{OWN("") K("call b;"), EXTERN OWN("call c;")}, ""},
        {{EXTERN OWN("call c;") K("call b;"), B("")}, "0 b c:4"},
        {{B(""), EXTERN OWN("call c;") K("call b;")}, "1 b c:4"},
        {{EXTERN OWN("call c;"), EXTERN_B K("call b;"), B("")}, ""},
        {{EXTERN_B K("call b;"), OWN("")}, ""}, /* careful: both linkers refuse it */
        {{EXTERN_B K("call b;"), EXTERN OWN("call c;")}, "1 b c:4"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct reading readings[TEXTS_MAX];
        const struct pj_ptx *texts[TEXTS_MAX];
        char found[100] = "";
        size_t count = 0;
        for (; count < TEXTS_MAX && rows[i].texts[count]; count++) {
            PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
            pj_buffer_printf(&text, HEAD "%s", rows[i].texts[count]);
            read_bytes(text.data, text.size, &readings[count]);
            assert_true(pj_ptx_usable(readings[count].finding.code));
            texts[count] = &readings[count].ptx;
        }
        struct pj_ptx_lack lack;
        int lacks = pj_ptx_find_lack(texts, count, &lack, NULL);
        if (lacks == 1)
            (void)snprintf(found, sizeof found, "%zu %s %s:%zu", lack.text, lack.caller->name,
                           lack.missing->name, lack.missing->line);
        else
            assert_int_equal(lacks, 0);
        if (strcmp(found, rows[i].lack) != 0)
            fail_msg("row %zu, %s...: found '%s', expected '%s'", i, rows[i].texts[0], found, rows[i].lack);
        for (size_t k = 0; k < count; k++)
            pj_arena_free(&readings[k].arena);
    }
}

/* A long chain, a name that every text defines, and a miss at the very end. */
static void test_many(void **state)
{
    (void)state;
    enum { COUNT = 20000, TEXTS = 2000 };
    PJ_CLEANUP_BUFFER struct pj_buffer chain = {0}, other = {0};
    struct reading readings[2];
    static const struct pj_ptx *texts[TEXTS];
    pj_buffer_puts(&chain, HEAD ".extern .func f20000; .weak .func same { ret; } .entry k { call f0; }");
    for (int i = COUNT - 1; i >= 0; i--)
        pj_buffer_printf(&chain, ".func f%d { call f%d; call same; call f0; }", i, i + 1);
    pj_buffer_puts(&other, HEAD ".extern .func none; .weak .func same { ret; } .func f { call none; }");
    read_bytes(chain.data, chain.size, &readings[0]);
    read_bytes(other.data, other.size, &readings[1]);
    for (size_t i = 0; i < TEXTS; i++)
        texts[i] = &readings[i < TEXTS - 1].ptx;
    struct pj_ptx_lack lack;
    assert_int_equal(pj_ptx_find_lack(texts, TEXTS, &lack, NULL), 1);
    assert_int_equal(lack.text, TEXTS - 1);
    assert_string_equal(lack.caller->name, "f19999");
    assert_string_equal(lack.missing->name, "f20000");
    pj_arena_free(&readings[0].arena);
    pj_arena_free(&readings[1].arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_links), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
