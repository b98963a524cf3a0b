/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turn.h - what hibernate --begin and --end do with a device to lead it elsewhere: its suspend and its resume,
 * in memory that is there; and what is left in /run of one that has begun.
 */
#ifndef XP_TOOLS_HIBERNATE_TURN_H
#define XP_TOOLS_HIBERNATE_TURN_H

struct running;

/* Between them all of this program is in memory, and what it calls finds some: a device that it may need
 * is suspended. -errno. */
int memory_stay(void);
void memory_leave(void);
/* A disk that does not answer is not waited for: then it is as it was, and this fails. */
int turn_suspend(const char *name);
/* With no other table loaded for it; -errno: it stays suspended. */
int turn_resume_as_it_is(const char *name);
/* Leading to the slow device alone. */
int turn_resume_alone(const struct running *r);
/* After begun_turn(), if it is not suspended any more: whoever suspends it from now on is another. */
void turn_is_over(const struct running *r);

#endif
