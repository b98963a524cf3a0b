// SPDX-License-Identifier: GPL-2.0-only
/*
 * kill9_client.c - requests over libnbd, told to the oracle as they begin and end.
 *
 * One thread and many requests under way, so that the order in which the oracle hears of
 * begins and ends is an order in which they may have been: a begin is told before it is
 * sent, an end after it was received.
 */
#include "kill9.h"
#include "xpcache.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define SLOTS_MAX	64u		/* requests of a connection */
#define DATA_MAX	512u		/* sectors */
#define RANGE_MAX	2048u		/* of a discard */
#define PATIENCE_NS	60000000000ull

struct request {
	struct user user;
	bool busy;
};

struct client {
	struct nbd_handle *nbd;
	struct request request[SLOTS_MAX];
};

static struct client client[CONNECTIONS_MAX];
static bool due;		/* the end */
static u64 last_end;		/* ns, of a request */

/* ------------------------------------------------------------ begin and end ---- */

static bool makes_durable(const struct user *u)
{
	return u->op == XP_FLUSH || u->fua;
}

/* The moment when something has just been promised. */
static void kill_if_due(const struct user *u)
{
	if (due || now_ns() < kill9.until)
		return;
	if ((kill9.end == KILL_AFTER_FLUSH && makes_durable(u)) ||
	    (kill9.end == KILL_AFTER_WRITE && u->op == XP_WRITE)) {
		kill9.let_go = due = true;
		kill(kill9.pid, SIGKILL);
	}
}

/* An error while nothing was done to the daemon: perhaps it has died. */
static void look_after_victim(void)
{
	for (u32 i = 0; i < 200 && victim_runs(); i++)
		usleep(1000);
}

static int ended(void *data, int *error)
{
	struct request *r = data;
	struct user *u = &r->user;

	r->busy = false;
	last_end = now_ns();
	sim.now++;
	u->err = -*error;
	if (u->err) {
		tally.failed++;
		if (!kill9.let_go && !kill9.faulty)
			look_after_victim();
	}
	/* Of what a dead connection had under way nobody knows whether it will be done. */
	if (!u->err || !kill9.let_go)
		oracle_end(u);
	if (!u->err)
		kill_if_due(u);
	free(u->buf);
	u->buf = NULL;
	return 1;
}

static u8 draw_op(u64 *rng)
{
	u32 dice = below(rng, 100);
	u8 op = 0;

	while (op < XP_ZEROES && dice >= kill9.ops[op])
		dice -= kill9.ops[op++];
	return op;
}

static u32 draw_size(u64 *rng, u32 most)
{
	switch (kill9.size ? kill9.size : 1 + below(rng, 3)) {
	case 1:
		return 1 + below(rng, 2 * XP_BLOCK_SECTORS);
	case 2:
		return (1 + below(rng, chance(rng, 4) ? most / XP_BLOCK_SECTORS : 4)) * XP_BLOCK_SECTORS;
	default:
		return 1 + below(rng, most);
	}
}

static void draw_user(struct user *u, u64 *rng)
{
	u64 limit, base = 0;

	*u = (struct user){ .op = draw_op(rng), .id = ++sim.next_id };
	if (u->op == XP_FLUSH)
		return;
	limit = u->op == XP_READ ? sim.slow.sectors : kill9.written;
	if (below(rng, 100) < kill9.hot) {
		base = kill9.base;
		limit = min(limit, base + kill9.range);
	}
	u->nr = draw_size(rng, u->op == XP_READ || u->op == XP_WRITE ? DATA_MAX :
			       chance(rng, 32) ? (u32)kill9.written : RANGE_MAX);
	u->nr = (u32)min((u64)u->nr, limit - base);
	u->sector = base + draw(rng) % (limit - base - u->nr + 1);
	if (kill9.size == 2 || chance(rng, 3))
		u->sector -= u->sector % XP_BLOCK_SECTORS;
	u->fua = u->op != XP_READ && below(rng, 100) < kill9.fua;
}

static int64_t send_request(struct nbd_handle *nbd, struct request *r)
{
	nbd_completion_callback cb = { .callback = ended, .user_data = r };
	struct user *u = &r->user;
	u64 at = u->sector * SECTOR, bytes = (u64)u->nr * SECTOR;
	u32 flags = u->fua ? LIBNBD_CMD_FLAG_FUA : 0;

	switch (u->op) {
	case XP_READ:
		return nbd_aio_pread(nbd, u->buf, bytes, at, cb, 0);
	case XP_WRITE:
		return nbd_aio_pwrite(nbd, u->buf, bytes, at, cb, flags);
	case XP_FLUSH:
		return nbd_aio_flush(nbd, cb, 0);
	case XP_DISCARD:
		return nbd_aio_trim(nbd, bytes, at, cb, flags);
	default:
		if (u->id % 2)
			flags |= LIBNBD_CMD_FLAG_NO_HOLE;
		return nbd_aio_zero(nbd, bytes, at, cb, flags);
	}
}

static void begin(struct client *c, struct request *r)
{
	struct user *u = &r->user;

	draw_user(u, &kill9.rng);
	if (u->op == XP_READ || u->op == XP_WRITE)
		u->buf = malloc((size_t)u->nr * SECTOR);
	for (u32 i = 0; u->op == XP_WRITE && i < u->nr; i++)
		payload_fill(u->buf + (size_t)i * SECTOR, u->sector + i, u->id);
	u->submitted = ++sim.now;
	oracle_begin(u);
	r->busy = true;
	tally.requests++;
	if (send_request(c->nbd, r) >= 0 || !r->busy)
		return;
	r->busy = false;
	free(u->buf);
	u->buf = NULL;
	if (!kill9.let_go) {
		look_after_victim();
		violation(P_HOST, "%s of %u sectors at %llu: %s", op_name(u->op), u->nr, (unsigned long long)u->sector, nbd_get_error());
	}
}

/* -------------------------------------------------------------------- loop ---- */

/* Waits for what comes, no longer than @ms. */
static void converse(int ms)
{
	struct pollfd p[CONNECTIONS_MAX];
	u32 who[CONNECTIONS_MAX], n = 0;

	for (u32 i = 0; i < kill9.connections; i++) {
		struct nbd_handle *nbd = client[i].nbd;
		int direction = nbd_aio_get_direction(nbd);

		if (nbd_aio_is_dead(nbd) || nbd_aio_is_closed(nbd))
			continue;
		who[n] = i;
		p[n].fd = nbd_aio_get_fd(nbd);
		p[n++].events = (direction & LIBNBD_AIO_DIRECTION_READ ? POLLIN : 0) |
				(direction & LIBNBD_AIO_DIRECTION_WRITE ? POLLOUT : 0);
	}
	if (poll(p, n, n ? ms : 0) <= 0)
		return;
	for (u32 i = 0; i < n; i++) {
		struct nbd_handle *nbd = client[who[i]].nbd;
		unsigned int direction = nbd_aio_get_direction(nbd);

		if ((p[i].revents & (POLLIN | POLLHUP)) && (direction & LIBNBD_AIO_DIRECTION_READ))
			nbd_aio_notify_read(nbd);
		else if ((p[i].revents & POLLOUT) && (direction & LIBNBD_AIO_DIRECTION_WRITE))
			nbd_aio_notify_write(nbd);
	}
}

/* The begin of the oldest request under way; 0: there is none. */
static u64 oldest(void)
{
	u64 first = 0;

	for (u32 i = 0; i < kill9.connections; i++)
		for (u32 k = 0; k < SLOTS_MAX; k++) {
			const struct request *r = &client[i].request[k];

			if (r->busy && (!first || r->user.submitted < first))
				first = r->user.submitted;
		}
	return first;
}

static void begin_all(void)
{
	for (u32 i = 0; i < kill9.connections; i++)
		for (u32 k = 0; k < kill9.depth && !due; k++)
			if (!client[i].request[k].busy)
				begin(&client[i], &client[i].request[k]);
}

static struct nbd_handle *connect_one(void)
{
	u64 begun = now_ns();

	for (;;) {
		struct nbd_handle *nbd = nbd_create();

		nbd_set_request_structured_replies(nbd, chance(&kill9.rng, 2));
		if (!nbd_connect_unix(nbd, kill9.socket))
			return nbd;
		nbd_close(nbd);
		if (!victim_runs() || now_ns() - begun > PATIENCE_NS)
			violation(P_LIVES, "no connection: %s", nbd_get_error());
		usleep(1000);
	}
}

/* It goes without a word; what it had under way may be done or not, and when is not known. */
static void forsake(struct client *c)
{
	nbd_close(c->nbd);
	for (u32 k = 0; k < SLOTS_MAX; k++) {
		free(c->request[k].user.buf);
		c->request[k] = (struct request){ .busy = false };
	}
}

/* Somebody goes, and another comes. */
static void change_guests(void)
{
	struct client *c = &client[below(&kill9.rng, kill9.connections)];
	bool let_go = kill9.let_go;

	kill9.let_go = true;	/* no end of its requests counts */
	forsake(c);
	kill9.let_go = let_go;
	c->nbd = connect_one();
	tally.changes++;
}

/* While requests are under way. */
static void change_mode(void)
{
	static const char *const mode[] = { "writeback", "writethrough", "writearound" };
	char line[64], answer[256];

	if (kill9.let_go)
		return;
	snprintf(line, sizeof(line), "message set mode %s", mode[below(&kill9.rng, 3)]);
	victim_tell(line, answer, sizeof(answer));
	tally.switches++;
}

#define LATEST_NS	500000000ull	/* a promise may not come */

void clients_load(void)
{
	u64 forgotten = tally.requests;

	due = false;
	last_end = now_ns();
	while (!due) {
		u64 now = now_ns();

		if (kill9.restless && chance(&kill9.rng, 100))
			change_guests();
		if (kill9.switches && chance(&kill9.rng, 40))
			change_mode();
		if (kill9.faulty && now >= kill9.heals)
			victim_fails(false);
		begin_all();
		converse(kill9.until > now ? (int)min((kill9.until - now) / 1000000, 10ull) : 1);
		if (now > kill9.until + LATEST_NS ||
		    (now >= kill9.until && kill9.end != KILL_AFTER_FLUSH && kill9.end != KILL_AFTER_WRITE))
			due = true;
		if (now_ns() - last_end > PATIENCE_NS)
			violation(P_LIVES, "no request has ended for a minute");
		if (tally.requests - forgotten > 8192) {
			forgotten = tally.requests;
			oracle_forget(oldest() ? oldest() : sim.now);
		}
	}
}

/* ------------------------------------------------------------ come and go ---- */

void clients_connect(void)
{
	for (u32 i = 0; i < kill9.connections; i++)
		client[i].nbd = connect_one();
}

static bool all_closed(void)
{
	for (u32 i = 0; i < kill9.connections; i++)
		if (!nbd_aio_is_dead(client[i].nbd) && !nbd_aio_is_closed(client[i].nbd))
			return false;
	return true;
}

/* A reply that was sent is a promise, whoever reads it when: until the connection ends. */
void clients_leave(bool wait)
{
	u64 begun = now_ns();

	while (wait && !all_closed()) {
		converse(10);
		if (now_ns() - begun > PATIENCE_NS)
			violation(P_LIVES, "a connection is not closed");
	}
	for (u32 i = 0; i < kill9.connections; i++)
		forsake(&client[i]);
}

void clients_read_all(const struct content **seen)
{
	static u8 buf[DATA_MAX * SECTOR];
	u64 s, nr, end = sim.slow.sectors;

	for (s = 0; s < end; s += nr) {
		nr = min((u64)DATA_MAX, end - s);
		if (nbd_pread(client[s / DATA_MAX % kill9.connections].nbd, buf, nr * SECTOR,
			      s * SECTOR, 0)) {
			look_after_victim();
			violation(P_ERRORS, "a read of sector %llu failed, and no device did: %s",
				  (unsigned long long)s, nbd_get_error());
		}
		for (u32 i = 0; i < nr; i++)
			seen[s + i] = judge_content(s + i, buf + (size_t)i * SECTOR);
	}
}
