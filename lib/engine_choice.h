/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_choice.h - which engine a cache is for: the one that --engine names, or the one that its devices and the user allow.
 */
#ifndef XP_LIB_ENGINE_CHOICE_H
#define XP_LIB_ENGINE_CHOICE_H

#include "lib/exit.h"

#include <stdbool.h>

/* By @word, which --engine said, or if it is NULL by what the devices are and who we are. */
enum xc engine_choose(const char *word, bool ublk, const char *fast, const char *slow, bool *user);

#endif
