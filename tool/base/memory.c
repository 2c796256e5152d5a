/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas and growing arrays. */
#include "base/memory.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct pj_arena_block {
    struct pj_arena_block *next;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
};

static struct pj_arena_block *add_block(struct pj_arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(struct pj_arena_block))
        return NULL;
    struct pj_arena_block *block = malloc(sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    block->used = 0;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *pj_arena_alloc(struct pj_arena *arena, size_t size)
{
    const size_t alignment = alignof(max_align_t);
    if (size > SIZE_MAX - alignment)
        return NULL;
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    struct pj_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < rounded) {
        block = add_block(arena, rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES);
        if (!block)
            return NULL;
    }
    void *result = block->bytes + block->used;
    block->used += rounded;
    memset(result, 0, size);
    return result;
}

void *pj_arena_calloc(struct pj_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return pj_arena_alloc(arena, bytes);
}

char *pj_arena_strndup(struct pj_arena *arena, const char *text, size_t size)
{
    if (size == SIZE_MAX)
        return NULL;
    char *copy = pj_arena_alloc(arena, size + 1);
    if (copy && size > 0)
        memcpy(copy, text, size);
    return copy;
}

char *pj_arena_strdup(struct pj_arena *arena, const char *text)
{
    return pj_arena_strndup(arena, text, strlen(text));
}

char *pj_arena_vprintf(struct pj_arena *arena, const char *format, va_list arguments)
{
    char *text = NULL;
    int length = vasprintf(&text, format, arguments);
    if (length < 0)
        return NULL;
    char *copy = pj_arena_strndup(arena, text, (size_t)length);
    free(text);
    return copy;
}

char *pj_arena_printf(struct pj_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = pj_arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

void pj_arena_free(struct pj_arena *arena)
{
    while (arena->blocks) {
        struct pj_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

bool pj_array_reserve(void **items, size_t count, size_t *capacity, size_t item_size)
{
    if (count >= *capacity) {
        size_t wanted = *capacity ? *capacity * 2 : 8;
        void *grown = reallocarray(*items, wanted, item_size);
        if (!grown)
            return false;
        *items = grown;
        *capacity = wanted;
    }
    memset((unsigned char *)*items + count * item_size, 0, item_size);
    return true;
}

void pj_free_pointer(void *pointer)
{
    free(*(void **)pointer);
}
