/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What every unit test program begins and ends with. main() is one line:
 * `return unit_main("map", tests);` with a table of CU_TestInfo that ends in CU_TEST_INFO_NULL.
 * Also a way to read what the code under test wrote to stderr.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Runs the tests as one suite, prints CUnit's summary; 1 when an assertion failed or none was made.
 */
static inline int unit_main(const char *suite, const CU_TestInfo *tests)
{
	CU_pSuite registered;
	int failed;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	registered = CU_add_suite(suite, NULL, NULL);
	for (; registered && tests->pName; tests++)
		CU_add_test(registered, tests->pName, tests->pTestFunc);
	CU_basic_set_mode(CU_BRM_NORMAL);
	failed = CU_basic_run_tests() != CUE_SUCCESS || CU_get_number_of_failures() > 0 ||
		 CU_get_number_of_asserts() == 0;
	CU_cleanup_registry();
	return failed;
}

struct unit_capture {
	int saved_fd, file_fd;
};

/* From here on stderr goes to memory. */
static inline void unit_capture_begin(struct unit_capture *capture)
{
	fflush(stderr);
	capture->saved_fd = dup(STDERR_FILENO);
	capture->file_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (capture->saved_fd < 0 || capture->file_fd < 0 ||
	    dup2(capture->file_fd, STDERR_FILENO) < 0)
		abort();
}

/* Gives stderr back and what was written meanwhile, cut at size. */
static inline void unit_capture_end(struct unit_capture *capture, char *text, size_t size)
{
	ssize_t length;

	fflush(stderr);
	length = pread(capture->file_fd, text, size - 1, 0);
	text[length > 0 ? length : 0] = '\0';
	if (dup2(capture->saved_fd, STDERR_FILENO) < 0)
		abort();
	close(capture->saved_fd);
	close(capture->file_fd);
}

#endif
