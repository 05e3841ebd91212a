// SPDX-License-Identifier: GPL-2.0
#include "server.h"

#include <sched.h>
#include <stddef.h>

struct nbd_handle *server_start(char *plugin, char **parameters)
{
	char *argv[SERVER_PARAMETERS_MAX + 5] = {
		"nbdkit", "--foreground", "--exit-with-parent", plugin,
	};
	struct nbd_handle *nbd;
	unsigned int nr = 4;

	for (; *parameters; parameters++) {
		if (nr == 4 + SERVER_PARAMETERS_MAX)
			return NULL;
		argv[nr++] = *parameters;
	}
	nbd = nbd_create();
	if (nbd && nbd_connect_systemd_socket_activation(nbd, argv) < 0) {
		nbd_close(nbd);
		return NULL;
	}
	return nbd;
}

int server_priority(void)
{
	struct sched_param param = { .sched_priority = 1 };

	/* A client preempted for milliseconds is a slow client to the drive. */
	return sched_setscheduler(0, SCHED_FIFO, &param);
}
