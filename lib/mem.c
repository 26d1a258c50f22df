/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Allocation that never fails, and arenas. All allocation goes through here, on any thread; an
 * arena belongs to the thread that uses it. An arena is a chain of blocks, each as large as all
 * before it together, so a big snapshot needs few of them; a reset keeps the blocks. Under
 * AddressSanitizer free memory of an arena is poisoned, so that the use of a pointer kept across a
 * reset is detected.
 */
#include "lib/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum {
	ARENA_ALIGN = 16,
	ARENA_FIRST_BYTES = 16 << 10,
	ARENA_BLOCK_MAX_BYTES = 16 << 20, /* larger only for one allocation that needs it */
};

struct block {
	struct block *next;
	size_t size, used;
	_Alignas(ARENA_ALIGN) char bytes[];
};

struct arena {
	struct block *first;
	struct block *current; /* those after it are empty */
	size_t total;
};

/* Writes without allocation, because the heap is unusable now. */
static void __attribute__((noreturn)) out_of_memory(void)
{
	fputs("out of memory, giving up\n", stderr);
	abort();
}

static void *checked(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

static size_t product(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory();
	return bytes;
}

/* The C library may answer a size of zero with NULL. */
static size_t at_least_one(size_t size)
{
	return size ? size : 1;
}

void *mem_alloc(size_t size)
{
	return checked(malloc(at_least_one(size)));
}

void *mem_zalloc(size_t size)
{
	return mem_array(1, size);
}

void *mem_array(size_t count, size_t size)
{
	return checked(calloc(1, at_least_one(product(count, size))));
}

void *mem_resize(void *old, size_t count, size_t size)
{
	return checked(realloc(old, at_least_one(product(count, size))));
}

void *mem_grow(void *old, size_t count, size_t size)
{
	return count & (count - 1) ? old : mem_resize(old, count ? 2 * count : 1, size);
}

char *mem_strdup(const char *text)
{
	return checked(strdup(text));
}

char *mem_printf(const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return checked(length < 0 ? NULL : text);
}

/* By default, glibc raises its threshold for mappings to the size of each large block that is freed
 * (mallopt(3), M_MMAP_THRESHOLD). Then all later blocks up to 32 MB come from the heap, which
 * shrinks only from its end. */
void mem_give_back(void)
{
	mallopt(M_MMAP_THRESHOLD, MEM_LARGE_BYTES);
}

struct arena *arena_new(void)
{
	return mem_zalloc(sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
	struct block *block, *next;

	if (!arena)
		return;
	for (block = arena->first; block; block = next) {
		next = block->next;
		ASAN_UNPOISON_MEMORY_REGION(block->bytes, block->size);
		free(block);
	}
	free(arena);
}

void arena_reset(struct arena *arena)
{
	for (struct block *block = arena->first; block; block = block->next) {
		block->used = 0;
		ASAN_POISON_MEMORY_REGION(block->bytes, block->size);
	}
	arena->current = arena->first;
}

static struct block *block_new(struct arena *arena, size_t need)
{
	size_t size = arena->total;
	struct block *block;

	if (size < ARENA_FIRST_BYTES)
		size = ARENA_FIRST_BYTES;
	if (size > ARENA_BLOCK_MAX_BYTES)
		size = ARENA_BLOCK_MAX_BYTES;
	if (size < need)
		size = need;
	block = mem_alloc(sizeof(*block) + size);
	block->size = size;
	block->used = 0;
	ASAN_POISON_MEMORY_REGION(block->bytes, size);
	arena->total += size;
	return block;
}

/* Makes an empty block with room for need bytes the current one: a kept block that is large enough,
 * which moves behind the present block, else a new block. */
static void arena_advance(struct arena *arena, size_t need)
{
	struct block **here = arena->current ? &arena->current->next : &arena->first;
	struct block **from = here;
	struct block *block;

	while (*from && (*from)->size < need)
		from = &(*from)->next;
	block = *from;
	if (block)
		*from = block->next;
	else
		block = block_new(arena, need);
	block->next = *here;
	*here = block;
	arena->current = block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct block *block = arena->current;
	void *memory;

	if (size > SIZE_MAX / 2)
		out_of_memory();
	size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!block || block->size - block->used < size) {
		arena_advance(arena, size);
		block = arena->current;
	}
	memory = block->bytes + block->used;
	block->used += size;
	ASAN_UNPOISON_MEMORY_REGION(memory, size);
	return memset(memory, 0, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	return arena_alloc(arena, product(count, size));
}

char *arena_strdup(struct arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(arena_alloc(arena, size), text, size);
}
