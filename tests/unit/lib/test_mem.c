/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Allocation and arenas: alignment, clearing, reuse after a reset, and death on overflow. */
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static void test_sizes_of_zero(void)
{
	void *memory[] = {mem_alloc(0), mem_zalloc(0), mem_array(0, 8), mem_array(8, 0),
			  mem_resize(mem_alloc(8), 0, 8)};

	for (size_t i = 0; i < ARRAY_SIZE(memory); i++) {
		CU_ASSERT_PTR_NOT_NULL(memory[i]);
		free(memory[i]);
	}
}

static void test_strings(void)
{
	char *copy = mem_strdup("fabric");
	char *text = mem_printf("port %d of %s", 3, copy);

	CU_ASSERT_STRING_EQUAL(copy, "fabric");
	CU_ASSERT_STRING_EQUAL(text, "port 3 of fabric");
	free(copy);
	free(text);
}

static void test_resize_keeps(void)
{
	int *numbers = mem_array(3, sizeof(*numbers));

	CU_ASSERT_EQUAL(numbers[0] | numbers[1] | numbers[2], 0);
	numbers[2] = 7;
	numbers = mem_resize(numbers, 1000, sizeof(*numbers));
	CU_ASSERT_EQUAL(numbers[2], 7);
	free(numbers);
}

static void test_grow_keeps(void)
{
	int *numbers = NULL;

	for (int i = 0; i < 1000; i++) {
		numbers = mem_grow(numbers, (size_t)i, sizeof(*numbers));
		numbers[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL(numbers[i], i);
	CU_ASSERT_TRUE(malloc_usable_size(numbers) >= 1024 * sizeof(*numbers));
	CU_ASSERT_PTR_EQUAL(mem_grow(numbers, 1001, sizeof(*numbers)), numbers);
	free(numbers);
}

static void overflow_array(void)
{
	free(mem_array(SIZE_MAX / 2, 4));
}

static void overflow_resize(void)
{
	free(mem_resize(NULL, SIZE_MAX / 2, 4));
}

static struct arena *dying; /* reachable to the end, for leak checkers */

static void overflow_arena_array(void)
{
	dying = arena_new();
	arena_array(dying, SIZE_MAX / 2 + 1, 2);
}

static void overflow_arena(void)
{
	dying = arena_new();
	arena_alloc(dying, SIZE_MAX - 3);
}

static int killed_by(void (*fn)(void))
{
	const struct rlimit no_core = {0, 0};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		fn();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		return 0;
	return WTERMSIG(status);
}

static void test_overflow_aborts(void)
{
	void (*const cases[])(void) = {overflow_array, overflow_resize, overflow_arena_array,
				       overflow_arena};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT_EQUAL(killed_by(cases[i]), SIGABRT);
}

static int all_zero(const char *memory, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (memory[i])
			return 0;
	}
	return 1;
}

/* Each piece is aligned, cleared and its own, in the first pass and after resets that leave dirt.
 */
static void test_arena_pieces(void)
{
	static const size_t sizes[] = {1, 16, 17, 0, 100000, 3, 40000, 16383, 1 << 20, 5};
	struct arena *arena = arena_new();
	char *pieces[ARRAY_SIZE(sizes)];

	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			size_t k = pass == 1 ? ARRAY_SIZE(sizes) - 1 - i : i;

			pieces[k] = arena_alloc(arena, sizes[k]);
			CU_ASSERT_EQUAL((uintptr_t)pieces[k] % 16, 0);
			CU_ASSERT(all_zero(pieces[k], sizes[k]));
			memset(pieces[k], (int)k + 1, sizes[k]);
		}
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			if (sizes[i])
				CU_ASSERT(pieces[i][0] == (char)(i + 1) &&
					  pieces[i][sizes[i] - 1] == (char)(i + 1));
		}
		arena_reset(arena);
	}
	arena_free(arena);
}

/* The same pieces after a reset come from the same blocks. */
static void test_arena_reset_reuses(void)
{
	struct arena *arena = arena_new();
	void *first = arena_alloc(arena, 100);
	void *large = arena_alloc(arena, 300000);

	arena_reset(arena);
	CU_ASSERT_PTR_EQUAL(arena_alloc(arena, 100), first);
	CU_ASSERT_PTR_EQUAL(arena_alloc(arena, 300000), large);
	CU_ASSERT_STRING_EQUAL(arena_strdup(arena, "kept"), "kept");
	CU_ASSERT(all_zero(arena_array(arena, 10, 7), 70));
	arena_free(arena);
	arena_free(NULL);
}

/* Large blocks between small blocks are returned as well. Sanitizers have a heap of their own. */
static void test_give_back(void)
{
	enum { BLOCKS = 500, ROUNDS = 3, BYTES = MEM_LARGE_BYTES + 1000 };
	static void *large[BLOCKS], *small[BLOCKS];
	size_t before;

	mem_give_back();
	before = mallinfo2().arena + mallinfo2().hblkhd;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < BLOCKS; i++) {
			large[i] = memset(mem_alloc(BYTES), 1, BYTES);
			free(small[i]);
			small[i] = mem_alloc(24);
		}
		free(mem_alloc((size_t)BYTES * BLOCKS)); /* after which glibc keeps more */
		for (unsigned i = 0; i < BLOCKS; i++)
			free(large[i]);
		CU_ASSERT_TRUE(mallinfo2().arena + mallinfo2().hblkhd < before + (1 << 20));
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		free(small[i]);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"sizes of zero", test_sizes_of_zero},
		{"strings", test_strings},
		{"resize keeps", test_resize_keeps},
		{"grow keeps", test_grow_keeps},
		{"overflow aborts", test_overflow_aborts},
		{"arena pieces", test_arena_pieces},
		{"arena reset reuses", test_arena_reset_reuses},
		{"large blocks go back", test_give_back},
		CU_TEST_INFO_NULL,
	};

	return unit_main("mem", tests);
}
