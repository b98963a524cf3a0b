/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hit.pml - the hit of core/hit.c, which takes no lock, beside who holds the lock
 * (core/slots.c, slot.h, map.h); docs/LOCKING.md, "A hit takes no lock".
 *
 * Three slots. Slot 0 holds block A and slot 1 block B, so a read of both hits B
 * beside A, not through the hash (pin_more()). A and B are on one chain. C is on
 * another, and differs from A in lba_high only. A writer writes blocks and evicts
 * them, so that slots change their block and their chain; and takes away of their ranks
 * what hits have added. Readers read.
 *
 * What is asserted:
 *   - a hit's data is its block's, and nobody writes to a slot that is read (I1);
 *   - who begins to read after a write was acknowledged, or after another has read
 *     its data, finds nothing older (I4);
 *   - a link leads to a slot or ends the chain;
 *   - in the end no slot is RELEASED without a pin: somebody has freed each.
 *
 * Memory. The stores of the lock's holder wait in a buffer, and its unlock waits until
 * they have all been seen. There is one holder at a time, so one buffer. They are seen in
 * one of two orders: TSO, in the order of the program (x86); WEAK, in any order
 * but for barriers and for stores to the same place. Readers change memory by exchanges
 * alone, of one word, and load nothing else between an exchange's load and its store that the store must
 * come before: tests/model/litmus shows that of arm64. Of their loads those before the pin may be of any age:
 * what they lead to is looked at again after it. So readers have no buffer.
 *
 * tests/model/run says which of the bugs below is in it, if any. Without one it must hold,
 * and each must be found.
 */

/* slot_release() without its full barrier. RELEASED waits in the buffer while
 * the pins are looked at: any buffer shows it. */
#define NO_BARRIER		1
/* slot_map() without its write barrier. WEAK alone: TSO keeps stores in order. */
#define NO_WRITE_BARRIER	2
/* The new slot is MAPPED before the old one is out: no barrier mends that. */
#define MAP_BEFORE_SUPERSEDE	3
/* pin_lba() without its second look at the lba. */
#define NO_SECOND_LOOK		4
/* An exchange that orders no loads: the second look is made before it. WEAK
 * alone: on x86 an exchange is a full barrier, whatever is asked of it. */
#define EARLY_SECOND_LOOK	5
/* The pin is a load and a store: what others store in between is lost. */
#define PLAIN_PIN		6
/* ... or so is its end. */
#define PLAIN_UNPIN		7
/* The state is looked at, then the pin is taken, each for itself. */
#define STATE_BEFORE_PIN	8
/* pin_mapped() does not compare lba_high. */
#define NO_HIGH			9
/* The last unpin does not look for RELEASED: xp_hit_end(). */
#define NO_RELEASED_AT_END		10
/* ... or that of a pin that came too late: pin_lba(). */
#define NO_RELEASED_AFTER_LOOK	11
/* The state is looked at before the pin is taken away, not in that exchange. */
#define RELEASED_BEFORE_UNPIN	12
/* An exchange that orders no loads: data is read after the unpin. WEAK alone,
 * as above. */
#define LATE_DATA		13
/* slot_free() does not look whether somebody has freed the slot already. */
#define FREE_BLINDLY		14
/* ... or whether others have it pinned. */
#define FREE_PINNED		15
/* Links are not written whole. */
#define TORN_LINK		16
/* set_rank() stores, and does not exchange: what it found of the pins as well. */
#define PLAIN_RANK		17

/* Each process has it of its own: what only asks for it is no step that others see. */
#define BUG(name)	(bug == name)

/* ------------------------------------------------------------ memory ---- */

#define SLOTS	3
#define NIL	SLOTS
#define TORN	(SLOTS + 1)	/* half of a link */

#define A	1
#define B	2
#define C	3
#define low_of(lba)	((lba) == C -> A : (lba))
#define high_of(lba)	((lba) == C)
#define bucket_of(lba)	((lba) == C)

#define FREE		0
#define WRITING		1
#define MAPPED		2
#define UNMAPPING	3
#define PENDING_FREE		4
#define RELEASED		5

/* As others see it. state, high, pins and rank are one word; of the rank it is said whether a hit has raised it. */
byte state[SLOTS], high[SLOTS], pins[SLOTS], rank[SLOTS], low[SLOTS], next[SLOTS], bucket[2];

/* As the holder of the lock does; pins and rank it loads. */
byte my_state[SLOTS], my_lba[SLOTS], my_next[SLOTS], my_bucket[2];

/* Stores that others do not see yet: place and value. */
#define STATE	0	/* a byte of the word */
#define HIGH	3	/* likewise */
#define WORD	6	/* all of it: nothing is pinned, and lba_high is 0 */
#define LOW	9
#define NEXT	12
#define BUCKET	15
#define BARRIER	17	/* xp_write_barrier() */
#define ROOM	14
#define STEPS	3	/* XP_HIT_STEPS */
byte place[ROOM], value[ROOM], waiting;

c_code {
	static int weak;

	static int setting(const char *name)
	{
		const char *s = getenv(name);

		if (!s) {
			fprintf(stderr, "hit: no %s: run it by tests/model/run\n", name);
			exit(2);
		}
		return atoi(s);
	}

	/* Do these stores touch a byte that both do? */
	static int overlap(int a, int b)
	{
		int word = a < LOW && b < LOW && (a >= WORD || b >= WORD);

		return a == b || (word && a % SLOTS == b % SLOTS);
	}

	static int may_be_seen(void)
	{
		int i, k, mask = 1;

		for (k = 1; weak && k < now.waiting && now.place[0] != BARRIER; k++) {
			if (now.place[k] == BARRIER)
				break;
			for (i = 0; i < k && !overlap(now.place[i], now.place[k]); i++)
				;
			if (i == k)
				mask |= 1 << k;
		}
		return mask;
	}

	static void see(int k)
	{
		int where = now.place[k], what = now.value[k], s = where % SLOTS;

		if (where >= BARRIER) {
			;
		} else if (where >= BUCKET) {
			now.bucket[where - BUCKET] = what;
		} else if (where >= NEXT) {
			now.next[s] = what;
		} else if (where >= LOW) {
			now.low[s] = what;
		} else if (where >= WORD) {
			now.state[s] = what;
			now.high[s] = 0;
			now.pins[s] = 0;
			now.rank[s] = 0;
		} else if (where >= HIGH) {
			now.high[s] = what;
		} else {
			now.state[s] = what;
		}
		now.waiting--;
		for (; k < now.waiting; k++) {
			now.place[k] = now.place[k + 1];
			now.value[k] = now.value[k + 1];
		}
		now.place[k] = 0;
		now.value[k] = 0;
	}
};

/* Bits: which of those that wait may be seen next. */
short may;

#define see(k)	:: may & (1 << k) -> c_code { see(k); }

active proctype memory()
{
end:	do
	:: atomic {
		waiting -> c_code { now.may = may_be_seen(); };
		if
		see(0) see(1) see(2) see(3) see(4) see(5) see(6)
		see(7) see(8) see(9) see(10) see(11) see(12) see(13)
		fi;
		may = 0
	}
	od
}

/* ------------------------------------ what the lock's holder does to a slot ---- */

/* What the holder does is one step up to where it waits or loads pins: what others see of
 * it is in the order in which its stores leave the buffer, and they may all still be there. */
inline store(where, what)
{
	assert(waiting < ROOM);
	place[waiting] = where;
	value[waiting] = what;
	waiting++
}

inline store_link(where, what)
{
	if
	:: BUG(TORN_LINK) -> store(where, TORN)
	:: else
	fi;
	store(where, what)
}

inline set_state(s, to)
{
	my_state[s] = to;
	store(STATE + s, to)
}

/* slots_take(), map_insert() */
inline take(s, lba)
{
	my_state[s] = WRITING;
	store(WORD + s, WRITING);
	my_lba[s] = lba;
	store(LOW + s, low_of(lba));
	store(HIGH + s, high_of(lba));
	my_next[s] = my_bucket[bucket_of(lba)];
	store_link(NEXT + s, my_next[s]);
	my_bucket[bucket_of(lba)] = s;
	store_link(BUCKET + bucket_of(lba), s)
}

inline map_remove(s)
{
	if
	:: my_bucket[bucket_of(my_lba[s])] == s ->
		my_bucket[bucket_of(my_lba[s])] = my_next[s];
		store_link(BUCKET + bucket_of(my_lba[s]), my_next[s])
	:: else ->
		before = my_bucket[bucket_of(my_lba[s])];
		do
		:: my_next[before] == s -> break
		:: else -> before = my_next[before]
		od;
		my_next[before] = my_next[s];
		store_link(NEXT + before, my_next[s]);
		before = 0
	fi;
	my_next[s] = NIL;
	store_link(NEXT + s, NIL)
}

/* slot_free(). The pins are loaded here. */
inline free_slot(s)
{
	if
	:: (my_state[s] == RELEASED || BUG(FREE_BLINDLY)) && (!pins[s] || BUG(FREE_PINNED)) ->
		set_state(s, FREE)
	:: else
	fi
}

bool locked;
byte done;	/* processes */

#define unlock()	!waiting -> locked = false

/* slot_release(): behind it, free_slot(). */
inline release(s)
{
	set_state(s, RELEASED);
	if
	:: BUG(NO_BARRIER)
	:: !BUG(NO_BARRIER) && !waiting
	fi
}

/* -------------------------------------------------------------- data ---- */

byte holds[SLOTS], version[SLOTS];	/* what lies in a slot: whose data, and which */
byte reading[SLOTS];			/* hits that read there */
byte floor[4];				/* of a block: the newest acknowledged, or read */

inline raise(lba, to)
{
	if
	:: floor[lba] < to -> floor[lba] = to
	:: else
	fi
}

inline look_at_data(s, lba, least)
{
	assert(holds[s] == lba && version[s] >= least);
	raise(lba, version[s]);
	reading[s]--
}

/* ------------------------------------------------------------ writer ---- */

#define is(s, what)	(my_state[s] == what)
#define ranked(s)	(is(s, MAPPED) && rank[s])

inline find(s, lba, what)
{
	s = 0;
	do
	:: s == SLOTS || (is(s, what) && my_lba[s] == lba) -> break
	:: else -> s++
	od
}

proctype writer(byte bug, writes)
{
	byte n, lba, s, old, before;

	do
	/* A write: write_begin() takes a slot, */
	:: atomic {
		!locked && n < writes && (is(0, FREE) || is(1, FREE) || is(2, FREE)) ->
		locked = true;
		n++;
		if
		:: lba = A
		:: lba = B
		:: lba = C
		fi;
		if
		:: is(0, FREE) -> s = 0
		:: is(1, FREE) -> s = 1
		:: is(2, FREE) -> s = 2
		fi;
		take(s, lba)
	   }
	   atomic { unlock() }
	   d_step {	/* the data goes there without the lock, */
		assert(!reading[s]);
		holds[s] = lba;
		version[s] = n
	   }
	   atomic {	/* and write_flip() makes it the block's. */
		!locked -> locked = true;
		assert(is(s, WRITING) && my_lba[s] == lba);
		find(old, lba, MAPPED);
		if
		:: BUG(MAP_BEFORE_SUPERSEDE) -> set_state(s, MAPPED)
		:: else
		fi;
		if
		:: old != NIL ->	/* slot_follow() */
			map_remove(old);
			set_state(old, PENDING_FREE)
		:: else
		fi;
		if		/* the same, or slot_map() */
		:: BUG(MAP_BEFORE_SUPERSEDE)
		:: BUG(NO_WRITE_BARRIER) -> set_state(s, MAPPED)
		:: else -> store(BARRIER, 0); set_state(s, MAPPED)
		fi;
		if
		/* One beside its record is durable by now: it sets the old slot free. */
		:: old != NIL ->
			release(old);
			free_slot(old)
		:: true
		fi;
		old = 0
	   }
	   atomic { unlock(); raise(lba, n); lba = 0; s = 0 }
	/* An eviction: slot_unmap(). */
	:: atomic {
		!locked && n < writes && (is(0, MAPPED) || is(1, MAPPED) || is(2, MAPPED)) ->
		locked = true;
		n++;
		if
		:: is(0, MAPPED) -> s = 0
		:: is(1, MAPPED) -> s = 1
		:: is(2, MAPPED) -> s = 2
		fi;
		set_state(s, UNMAPPING);
		s = 0
	   }
	   atomic { unlock() }
	/* The hand of MAIN: set_rank(). Its exchange is of the whole word, and fails if a hit comes in between. */
	:: atomic {
		!locked && n < writes && (ranked(0) || ranked(1) || ranked(2)) ->
		locked = true;
		n++;
		if
		:: ranked(0) -> s = 0
		:: ranked(1) -> s = 1
		:: ranked(2) -> s = 2
		fi
	   }
	   if
	   :: d_step { !BUG(PLAIN_RANK) -> rank[s] = 0 }
	   :: d_step { BUG(PLAIN_RANK) -> old = pins[s] }
	      d_step { pins[s] = old; rank[s] = 0; old = 0 }
	   fi;
	   atomic { unlock(); s = 0 }
	/* The journal block that gave a slot up is durable: journal_note_written(). */
	:: atomic {
		!locked && (is(0, PENDING_FREE) || is(1, PENDING_FREE) || is(2, PENDING_FREE) ||
			    is(0, UNMAPPING) || is(1, UNMAPPING) || is(2, UNMAPPING)) ->
		locked = true;
		if
		:: is(0, PENDING_FREE) || is(0, UNMAPPING) -> s = 0
		:: is(1, PENDING_FREE) || is(1, UNMAPPING) -> s = 1
		:: is(2, PENDING_FREE) || is(2, UNMAPPING) -> s = 2
		fi;
		if
		:: is(s, UNMAPPING) -> map_remove(s)
		:: else
		fi;
		release(s);
		free_slot(s);
		s = 0
	   }
	   atomic { unlock() }
	:: n == writes -> break
	od;
	done++
}

/* ------------------------------------------------------------ reader ---- */

/* Each step is one access to what others share, with all that follows from it. */

#define says(s, lba)		(low[s] == low_of(lba))
#define mapped(s, lba)		(state[s] == MAPPED && (high[s] == high_of(lba) || BUG(NO_HIGH)))

/* pin_mapped(): an exchange of the word. What it says at that moment is all that counts,
 * so the load before it, and what fails of the exchange, are left out. */
inline pin_mapped(s, lba)
{
	if
	:: d_step {
		!BUG(PLAIN_PIN) && !BUG(STATE_BEFORE_PIN) -> pinned = mapped(s, lba);
		pins[s] = pins[s] + pinned;
		rank[s] = rank[s] || pinned
	   }
	:: d_step { BUG(PLAIN_PIN) -> pinned = mapped(s, lba); was = pins[s] }
	   d_step {
		if
		:: pinned -> state[s] = MAPPED; high[s] = high_of(lba); pins[s] = was + 1
		:: else
		fi;
		was = 0
	   }
	:: d_step { BUG(STATE_BEFORE_PIN) -> pinned = mapped(s, lba) }
	   d_step { pins[s] = pins[s] + pinned }
	fi
}

/* unpin(): in @owes, whether it was the last of a RELEASED slot. */
inline unpin(s)
{
	if
	:: d_step {
		!BUG(PLAIN_UNPIN) && !BUG(RELEASED_BEFORE_UNPIN) -> assert(pins[s]);
		owes = owes || (pins[s] == 1 && state[s] == RELEASED);
		pins[s]--
	   }
	:: d_step { BUG(PLAIN_UNPIN) -> was = pins[s]; was_state = state[s]; was_high = high[s] }
	   d_step {
		pins[s] = was - 1;
		state[s] = was_state;
		high[s] = was_high;
		owes = owes || (was == 1 && was_state == RELEASED);
		was = 0;
		was_state = 0;
		was_high = 0
	   }
	:: d_step { BUG(RELEASED_BEFORE_UNPIN) -> was_state = state[s] }
	   d_step {
		assert(pins[s]);
		owes = owes || (pins[s] == 1 && was_state == RELEASED);
		pins[s]--;
		was_state = 0
	   }
	fi
}

/* xp_hit_free() */
inline hit_free(s, nr)
{
	atomic {
		!locked -> locked = true;
		free_slot(s);
		if
		:: nr == 2 -> free_slot(s + 1)
		:: else
		fi;
		owes = false
	}
	atomic { unlock() }
}

/* pin_lba(): in @pinned, whether it is a hit. */
inline pin_lba(s, lba)
{
	atomic {
		pinned = false;
		same = says(s, lba)
	}
	if
	:: same ->
		if
		:: d_step { BUG(EARLY_SECOND_LOOK) -> same = says(s, lba) }
		   pin_mapped(s, lba)
		:: !BUG(EARLY_SECOND_LOOK) -> pin_mapped(s, lba)
		fi;
		if
		:: pinned ->
			d_step {
				if
				:: BUG(EARLY_SECOND_LOOK) || BUG(NO_SECOND_LOOK)
				:: else -> same = says(s, lba)
				fi;
				reading[s] = reading[s] + same;
				pinned = same;
				same = false
			}
			if
			:: pinned
			:: else ->
				unpin(s);
				if
				:: owes && !BUG(NO_RELEASED_AFTER_LOOK) -> hit_free(s, 1)
				:: else -> owes = false
				fi
			fi
		:: else -> same = false
		fi
	:: else
	fi
}

inline look_at_hit()
{
	look_at_data(i, lba, least);
	if
	:: nr == 2 -> look_at_data(i + 1, B, least_parallel)
	:: else
	fi
}

/* @narrow: of B alone, or there are too many states. */
proctype reader(byte bug, reads; bool narrow)
{
	byte lba, nr, i, steps, least, least_parallel, was, was_state, was_high;
	bool pinned, same, owes;

	do
	:: atomic {
		reads ->
		reads--;
		nr = 1;
		if
		:: !narrow -> lba = A; nr = 2
		:: lba = B
		:: !narrow -> lba = A
		:: !narrow -> lba = C
		fi;
		least = floor[lba];
		least_parallel = (nr == 2 -> floor[B] : 0);
		i = bucket[bucket_of(lba)];
		steps = 0
	   }
	   do
	   :: i == NIL || steps == STEPS -> break
	   :: else ->
		assert(i < SLOTS);
		pin_lba(i, lba);
		if
		:: pinned -> break
		:: else -> atomic { i = next[i]; steps++ }
		fi
	   od;
	   if
	   :: pinned ->
		if
		:: nr == 2 && i + 1 < SLOTS ->
			pin_lba(i + 1, B);
			if
			:: pinned
			:: else -> nr = 1
			fi
		:: else -> nr = 1
		fi;
		if
		:: d_step { !BUG(LATE_DATA) -> look_at_hit() }
		:: BUG(LATE_DATA)
		fi;
		unpin(i);
		if
		:: nr == 2 -> unpin(i + 1)
		:: else
		fi;
		if
		:: d_step { BUG(LATE_DATA) -> look_at_hit() }
		:: !BUG(LATE_DATA)
		fi;
		if
		:: owes && !BUG(NO_RELEASED_AT_END) -> hit_free(i, nr)
		:: else -> owes = false
		fi
	   :: else
	   fi;
	   d_step { lba = 0; nr = 0; i = 0; steps = 0; least = 0; least_parallel = 0; pinned = false }
	:: !reads -> break
	od;
	done++
}

/* -------------------------------------------------------------- all ---- */

init
{
	byte bug, writes, reads, others, s;

	atomic {
		c_code {
			weak = setting("WEAK");
			Pinit->bug = setting("BUG");
			Pinit->writes = setting("WRITES");
			Pinit->reads = setting("READS");
			Pinit->others = setting("OTHERS");
		};
		for (s : 0 .. SLOTS - 1) {
			next[s] = NIL;
			my_next[s] = NIL
		}
		for (s : 0 .. 1) {
			state[s] = MAPPED;
			my_state[s] = MAPPED;
			low[s] = A + s;
			my_lba[s] = A + s;
			holds[s] = A + s
		}
		next[0] = 1;
		my_next[0] = 1;
		bucket[1] = NIL;
		my_bucket[1] = NIL;
		run writer(bug, writes);
		run reader(bug, reads, others > 0);
		run reader(bug, others, true)
	}
	atomic {
		done == 3 && !waiting ->
		for (s : 0 .. SLOTS - 1) {
			assert(!pins[s] && state[s] != RELEASED)
		}
	}
}
