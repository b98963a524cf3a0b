// SPDX-License-Identifier: GPL-2.0-only
/*
 * buffer.c - memory that data passes through.
 *
 * Two sizes are kept, in one arena a loop that its ring knows (registered buffers), so that the
 * kernel need not look up their pages for each request; where that is not allowed
 * (RLIMIT_MEMLOCK) they do without. What is bigger, or more, is allocated.
 */
#include "daemon/engine.h"
#include "daemon/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SMALL_BYTES	(16u << 10)
#define LARGE_BYTES	(128u << 10)
#define NR_SMALL	256u
#define NR_LARGE	64u
#define ARENA_BYTES	((size_t)NR_SMALL * SMALL_BYTES + (size_t)NR_LARGE * LARGE_BYTES)

static struct xd_buffer *chain(struct xd_loop *loop, struct xd_buffer *b, u8 *data, u32 bytes,
			       u32 n)
{
	struct xd_buffer *head = NULL;

	while (n--) {
		b[n] = (struct xd_buffer){ .loop = loop, .data = data + (size_t)n * bytes,
					   .bytes = bytes, .next = head };
		b[n].registered = loop->registered ? 0 : -1;
		head = &b[n];
	}
	return head;
}

int xd_buffers_init(struct xd_loop *loop)
{
	struct iovec all = { .iov_len = ARENA_BYTES };
	struct xd_buffer *b = calloc(NR_SMALL + NR_LARGE, sizeof(*b));

	loop->buffers = b;
	loop->arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (!b || loop->arena == MAP_FAILED) {
		loop->arena = NULL;
		return -ENOMEM;
	}
	all.iov_base = loop->arena;
	loop->registered = xd_ring_register(&loop->ring, &all);
	loop->free_small = chain(loop, b, loop->arena, SMALL_BYTES, NR_SMALL);
	loop->free_large = chain(loop, b + NR_SMALL, loop->arena + (size_t)NR_SMALL * SMALL_BYTES,
				 LARGE_BYTES, NR_LARGE);
	return 0;
}

void xd_buffers_free(struct xd_loop *loop)
{
	if (loop->arena)
		munmap(loop->arena, ARENA_BYTES);
	free(loop->buffers);
}

u64 xd_buffers_bytes(void)
{
	return ARENA_BYTES + (NR_SMALL + NR_LARGE) * sizeof(struct xd_buffer);
}

static struct xd_buffer *allocate(struct xd_loop *loop, u32 bytes)
{
	struct xd_buffer *b = malloc(sizeof(*b));
	void *data;

	bytes = (bytes + XP_BLOCK_SIZE - 1) & ~(XP_BLOCK_SIZE - 1);
	if (!b || posix_memalign(&data, XP_BLOCK_SIZE, bytes)) {
		free(b);
		return NULL;
	}
	*b = (struct xd_buffer){ .loop = loop, .data = data, .bytes = bytes, .registered = -1 };
	return b;
}

struct xd_buffer *xd_buffer_get(struct xd_loop *loop, u32 bytes)
{
	struct xd_buffer **list = bytes <= SMALL_BYTES ? &loop->free_small : &loop->free_large;
	struct xd_buffer *b = bytes <= LARGE_BYTES ? *list : NULL;

	if (b)
		*list = b->next;
	else
		b = allocate(loop, bytes);
	if (b)
		b->refs = 1;
	return b;
}

void xd_buffer_hold(struct xd_buffer *b)
{
	b->refs++;
}

void xd_buffer_put(struct xd_buffer *b)
{
	struct xd_loop *loop = b->loop;
	struct xd_buffer **list = b->bytes == SMALL_BYTES ? &loop->free_small : &loop->free_large;

	if (--b->refs)
		return;
	if (b->data < loop->arena || b->data >= loop->arena + ARENA_BYTES) {
		free(b->data);
		free(b);
		return;
	}
	b->next = *list;
	*list = b;
}
