/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas and growing arrays. */
#include "base/memory.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each block has twice the size of the one before. Large ones go back to the system as soon as they are
 * freed; small ones stay where other memory lies behind them. */
enum { BLOCK_MIN_BYTES = 64 * 1024, BLOCK_MAX_BYTES = 1024 * 1024 };

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

static size_t next_block_bytes(const struct pj_arena *arena)
{
    size_t before = arena->blocks ? arena->blocks->size : 0;
    return before < BLOCK_MIN_BYTES / 2   ? BLOCK_MIN_BYTES
           : before > BLOCK_MAX_BYTES / 2 ? BLOCK_MAX_BYTES
                                          : before * 2;
}

void *pj_arena_alloc(struct pj_arena *arena, size_t size)
{
    const size_t alignment = alignof(max_align_t);
    if (size > SIZE_MAX - alignment)
        return NULL;
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    struct pj_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < rounded) {
        size_t next = next_block_bytes(arena);
        block = add_block(arena, rounded > next ? rounded : next);
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
