// SPDX-License-Identifier: GPL-2.0-only
/*
 * The caches this machine knows, running or not: one file each in /etc/xpcache.
 *
 * All that a start needs is on the fast device. But a slow device must be kept from others also
 * while its fast device is not there, and at boot somebody must know what to wait for. So what
 * create and start have seen is noted, and remove takes it away.
 */
#include "lib/known.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/identity.h"
#include "lib/json.h"
#include "lib/user.h"
#include "lib/uuid.h"
#include "core/message.h"
#include "core/words.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY	"/etc/xpcache"
#define SUFFIX		".json"
#define LEFT		".left"

static const char *const start_word[] = {
	[START_NOT] = "no",
	[START_AT_BOOT] = "boot",
	[START_IN_INITRAMFS] = "initramfs",
	[START_TO_LEAVE] = "leave",
	[START_GONE] = "gone",
};

/* The tests have one of their own. */
static const char *directory(void)
{
	const char *other = getenv("XPCACHE_ETC");

	return other ? other : DIRECTORY;
}

bool known_elsewhere(void)
{
	return getenv("XPCACHE_ETC");
}

static void path_of(const char *uuid, char *path, size_t len)
{
	snprintf(path, len, "%s/%s" SUFFIX, directory(), uuid);
}

/* ------------------------------------------------------------- reading ---- */

/* "" if it is none, or something else. */
static const char *text_in(struct json_object *o, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(o, key, &value) && json_object_is_type(value, json_type_string) ?
		json_object_get_string(value) : "";
}

static u64 number_in(struct json_object *o, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(o, key, &value) && json_object_is_type(value, json_type_int) ?
		json_object_get_uint64(value) : 0;
}

/* False: it is longer, and cut would be another's. */
static bool take_field(u8 *field, size_t size, struct json_object *o, const char *key)
{
	return (size_t)snprintf((char *)field, size, "%s", text_in(o, key)) < size;
}

static bool read_start(const char *word, enum start_when *when)
{
	for (unsigned int i = 0; i < sizeof(start_word) / sizeof(*start_word); i++)
		if (!strcmp(word, start_word[i])) {
			*when = i;
			return true;
		}
	return false;
}

static const char *parse_slow(struct json_object *o, struct xp_sb_slow *slow)
{
	u64 logical = number_in(o, "logical_size");

	slow->sectors = cpu_to_le64(number_in(o, "sectors"));
	slow->logical_size = cpu_to_le32((u32)logical);
	if (!slow->sectors || logical < 1u << XP_SECTOR_SHIFT || logical > UINT32_MAX)
		return "sectors or logical_size of slow is missing";
	if (!take_field(slow->hwid, sizeof(slow->hwid), o, "hardware") ||
	    !take_field(slow->content, sizeof(slow->content), o, "content") ||
	    !take_field(slow->path, sizeof(slow->path), o, "path"))
		return "a text of slow is too long";
	return identity_known(slow) ? NULL : "slow has neither hardware nor content";
}

/* What is wrong with it; NULL: nothing. The name goes to udev, the uuid into paths. */
static const char *parse(struct json_object *o, const char *file, struct known *k)
{
	const char *name = text_in(o, "name"), *uuid = text_in(o, "uuid");
	struct json_object *slow;

	memset(k, 0, sizeof(*k));
	if (!xp_name_valid(name))
		return "its name is missing, or none for a cache";
	if (strlen(uuid) != UUID_HEX - 1 || strncmp(uuid, file, UUID_HEX - 1) != 0)
		return "its uuid is not that of the file's name";
	snprintf(k->name, sizeof(k->name), "%s", name);
	snprintf(k->uuid, sizeof(k->uuid), "%s", uuid);
	if (!read_start(text_in(o, "start"), &k->start))
		return "start is one of no, boot, initramfs, leave, gone";
	if (!json_object_object_get_ex(o, "slow", &slow))
		return "slow is missing";
	return parse_slow(slow, &k->slow);
}

static int read_limits(struct json_object *o, struct xp_tunables *t, struct xp_message *msg)
{
	struct json_object *limits;
	int err = 0;

	if (!json_object_object_get_ex(o, "limits", &limits))
		return 0;
	if (!json_object_is_type(limits, json_type_object)) {
		snprintf(msg->text, sizeof(msg->text), "limits is no object");
		return -EINVAL;
	}
	json_object_object_foreach(limits, name, value)
		err = err ? err : xp_tunables_set(t, name, value ? json_object_get_string(value) : "null", msg);
	t->mark = t->grid = 0;	/* what each start says anew */
	return err ? err : xp_tunables_check(t, msg);
}

/* Wrong ones are no reason not to know the disk, nor not to boot. */
static void parse_limits(struct json_object *o, const char *path, struct known *k)
{
	static bool told;
	struct xp_message msg;

	xp_tunables_init(&k->limits);
	if (!read_limits(o, &k->limits, &msg))
		return;
	xp_tunables_init(&k->limits);
	k->limits_wrong = true;
	if (!told)
		complain(XC_FAILED, path, "mend it", "%s; the cache has the defaults until then", msg.text);
	told = true;
}

static bool read_one(const char *file, struct known *k, bool tell)
{
	char path[PATH_MAX];
	struct json_object *o;
	const char *wrong;

	snprintf(path, sizeof(path), "%s/%s", directory(), file);
	o = json_load(path);
	if (o)
		wrong = parse(o, file, k);
	else
		wrong = errno ? strerror(errno) : "it is not JSON";
	if (!wrong)
		parse_limits(o, path, k);
	if (o)
		json_object_put(o);
	if (wrong && tell)
		complain(XC_FAILED, path, "mend it, or remove it", "%s", wrong);
	return !wrong;
}

static bool is_uuid(const char *text)
{
	return strspn(text, "0123456789abcdef") == UUID_HEX - 1;
}

static int is_record(const struct dirent *e)
{
	return is_uuid(e->d_name) && !strcmp(e->d_name + UUID_HEX - 1, SUFFIX);
}

/* Of one that cannot be read, that it is not to start may be told still. */
static bool may_start(const char *file)
{
	char path[PATH_MAX], text[4096], word[16] = "";
	enum start_when when = START_AT_BOOT;
	const char *at;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory(), file);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	at = strstr(text, "\"start\"");
	return !at || sscanf(at, "\"start\" : \"%15[a-z]\"", word) != 1 || !read_start(word, &when) || when != START_NOT;
}

static size_t broken;

size_t known_broken(void)
{
	return broken;
}

/* @quiet: of one that cannot be read nothing is said. */
static size_t read_all(struct dirent *const *names, int n, struct known *list, bool quiet)
{
	size_t good = 0;

	for (int i = 0; i < n; i++)
		if (list && read_one(names[i]->d_name, &list[good], !quiet))
			good++;
		else
			broken += may_start(names[i]->d_name);
	return good;
}

/* A command may look several times, and complains once. */
size_t known_all(struct known **list)
{
	static bool told;
	struct dirent **names = NULL;
	size_t good;
	int n = scandir(directory(), &names, is_record, alphasort);

	broken = n < 0 && errno != ENOENT && errno != ENOTDIR;	/* none is known; or nobody knows */
	if (broken && !told)
		complain_errno(errno, directory(), "cannot look for the caches that are known");
	*list = n > 0 ? calloc((size_t)n, sizeof(**list)) : NULL;
	good = read_all(names, n, *list, told);
	for (int i = 0; i < n; i++)
		free(names[i]);
	if (n >= 0)
		free(names);
	told |= broken || (n > 0 && good < (size_t)n);
	return good;
}

static bool find_by_uuid(const char *uuid, struct known *k)
{
	char file[UUID_HEX + sizeof(SUFFIX)];

	if (!is_uuid(uuid) || uuid[UUID_HEX - 1])
		return false;
	snprintf(file, sizeof(file), "%s" SUFFIX, uuid);
	return read_one(file, k, false);
}

unsigned int known_find(const char *name, struct known *k)
{
	struct known *list;
	unsigned int found = 0;
	size_t n;

	if (find_by_uuid(name, k))
		return 1;
	n = known_all(&list);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) != 0)
			continue;
		*k = list[i];
		found++;
	}
	free(list);
	return found;
}

void known_limits(const char *uuid, struct xp_tunables *limits)
{
	struct known k;

	if (find_by_uuid(uuid, &k))
		*limits = k.limits;
}

/* ------------------------------------------------------------- writing ---- */

static void add_field(struct json_object *o, const char *key, const u8 *field)
{
	json_object_object_add(o, key, json_words((const char *)field));
}

/* NULL: all are the defaults, which a later version may choose anew. */
static struct json_object *limits_of(const struct xp_tunables *t)
{
	struct json_object *o = NULL;

	for (u32 i = 0; i < XP_TUNABLES; i++) {
		const struct xp_tunable *row = &xp_tunable_rows[i];
		if (!xp_tunable_is_said(t, row))
			continue;
		if (!o)
			o = json_object_new_object();
		json_object_object_add(o, row->name, json_tunable(row, xp_tunable_value(t, row)));
	}
	return o;
}

static struct json_object *record(const struct known *k)
{
	struct json_object *limits = limits_of(&k->limits);
	struct json_object *o = json_object_new_object(), *slow = json_object_new_object();

	json_object_object_add(o, "name", json_words(k->name));
	json_object_object_add(o, "uuid", json_words(k->uuid));
	json_object_object_add(o, "start", json_words(start_word[k->start]));
	if (limits)
		json_object_object_add(o, "limits", limits);
	add_field(slow, "hardware", k->slow.hwid);
	add_field(slow, "content", k->slow.content);
	add_field(slow, "path", k->slow.path);
	json_object_object_add(slow, "sectors", json_object_new_uint64(le64_to_cpu(k->slow.sectors)));
	json_object_object_add(slow, "logical_size",
			       json_object_new_int64(le32_to_cpu(k->slow.logical_size)));
	json_object_object_add(o, "slow", slow);
	return o;
}

static int sync_directory(void)
{
	int fd = open(directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 || fsync(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

static int write_durably(int fd, struct json_object *o)
{
	if (!json_object_to_fd(fd, o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE) && !fsync(fd))
		return 0;
	return errno ? -errno : -EIO;
}

/* The old one, or the new one: never half of it, whenever the power goes. */
static int write_whole(const char *path, struct json_object *o)
{
	char fresh[PATH_MAX + 8];
	int fd, err;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	if (mkdir(directory(), 0755) && errno != EEXIST)
		return -errno;
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = write_durably(fd, o);
	close(fd);
	if (!err && rename(fresh, path))
		err = -errno;
	if (err)
		unlink(fresh);
	return err ? err : sync_directory();
}

int known_write(const struct known *k)
{
	struct json_object *o = record(k);
	char path[PATH_MAX];
	int err;

	path_of(k->uuid, path, sizeof(path));
	errno = 0;
	err = write_whole(path, o);
	json_object_put(o);
	return err;
}

void known_of(struct known *k, const struct xp_sb *sb, enum start_when start, const struct xp_tunables *limits)
{
	*k = (struct known){ .start = start, .limits = *limits, .slow = sb->slow };
	snprintf(k->name, sizeof(k->name), "%.31s", (const char *)sb->name);
	snprintf(k->uuid, sizeof(k->uuid), "%s", text_uuid(sb->uuid));
}

bool known_note(const struct xp_sb *sb, bool user, const struct xp_tunables *limits)
{
	struct known k;
	char path[PATH_MAX];
	int err;

	if (geteuid() != 0 || !identity_known(&sb->slow))
		return false;
	known_of(&k, sb, user ? START_NOT : START_AT_BOOT, limits);
	path_of(k.uuid, path, sizeof(path));
	if (!access(path, F_OK))	/* also one that cannot be read: it may say when to start */
		return false;
	err = known_write(&k);
	if (err)
		complain_errno(err, directory(),
			       "cannot note the cache, so nothing starts it at boot or keeps its slow device from others");
	return !err;
}

void known_resized(const char *uuid, u64 sectors)
{
	struct known k;

	if (geteuid() != 0 || !find_by_uuid(uuid, &k) || le64_to_cpu(k.slow.sectors) == sectors)
		return;
	k.slow.sectors = cpu_to_le64(sectors);
	known_write(&k);	/* it is known by other things: nothing is lost with this */
}

void known_take_size(const char *uuid, const char *name, const char *slow, u64 sectors, u64 was)
{
	if (sectors == was)
		return;
	known_resized(uuid, sectors);
	printf("%s: %s has %" PRIu64 " sectors, and had %" PRIu64 ": taken as it is\n", name, slow, sectors, was);
}

bool known_is_noted(const char *uuid)
{
	char path[PATH_MAX];

	path_of(uuid, path, sizeof(path));
	return !access(path, F_OK);
}

static int lock_file(const char *path, bool wait)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB)) {
		if (errno == EINTR)
			continue;
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_gone(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_nlink;
}

int known_lock(const char *uuid, bool wait)
{
	char path[PATH_MAX];
	int fd;

	path_of(uuid, path, sizeof(path));
	fd = lock_file(path, wait);
	while (fd >= 0 && is_gone(fd)) {	/* forgotten meanwhile, or written anew */
		close(fd);
		fd = lock_file(path, wait);
	}
	return fd;
}

void known_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

/* -------------------------------------------------------- what was left ---- */

/* In /run, which the initramfs hands over to the system. */
static void left_path(const char *uuid, char *path, size_t len)
{
	snprintf(path, len, "%s/%s" LEFT, user_directory(), uuid);
}

int left_write(const char *uuid)
{
	char path[PATH_MAX];
	int fd;

	if (mkdir(user_directory(), 0700) && errno != EEXIST)
		return -errno;
	left_path(uuid, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

bool left_is(const char *uuid)
{
	char path[PATH_MAX];

	left_path(uuid, path, sizeof(path));
	return !access(path, F_OK);
}

void left_forget(const char *uuid)
{
	char path[PATH_MAX];

	left_path(uuid, path, sizeof(path));
	unlink(path);
}

bool left_find(char uuid[UUID_HEX])
{
	DIR *dir = opendir(user_directory());
	struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		found = strlen(e->d_name) == UUID_HEX - 1 + strlen(LEFT) &&
			!strcmp(e->d_name + UUID_HEX - 1, LEFT);
		if (found)
			snprintf(uuid, UUID_HEX, "%.32s", e->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* ------------------------------------------------------------ forgetting ---- */

int known_forget(const char *uuid)
{
	char path[PATH_MAX];

	int err = 0;

	path_of(uuid, path, sizeof(path));
	if (!unlink(path)) {
		err = sync_directory();
		rmdir(directory());	/* of the last: udev does not ask us any more */
		return err;
	}
	return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}
