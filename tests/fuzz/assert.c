/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * CUnit's assertions in a harness: the fixtures of tests/unit continue after a failed assertion,
 * because devices and programs misbehave here. Fatal assertions end the run.
 */
#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <stdlib.h>

CU_BOOL CU_assertImplementation(CU_BOOL holds, unsigned line, const char *condition,
				const char *file, const char *function, CU_BOOL fatal)
{
	(void)line;
	(void)condition;
	(void)file;
	(void)function;
	if (!holds && fatal)
		abort();
	return holds;
}
