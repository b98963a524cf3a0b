/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * range.h - assert_uint_in_range(), as cmocka 2 names it. Before that one function had it for
 * either sign, by a name that cmocka 2 calls deprecated.
 */
#ifndef TEST_RANGE_H
#define TEST_RANGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

#endif
