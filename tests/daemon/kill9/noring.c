// SPDX-License-Identifier: GPL-2.0-only
/*
 * noring ERRNO PROGRAM [WORD...] - runs it where io_uring is refused with that error, as a container's filter of system
 * calls does, or a kernel that has none. ERRNO is a number; "register" refuses only that one of the three calls.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int only_register = argc > 1 && !strcmp(argv[1], "register");
	unsigned int first = only_register ? SYS_io_uring_register : SYS_io_uring_setup;
	unsigned int err = only_register ? EPERM : argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_io_uring_register, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (argc < 3 || !err) {
		fprintf(stderr, "usage: noring ERRNO|register PROGRAM [WORD...]\n");
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("noring");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
