/* SPDX-License-Identifier: GPL-2.0 */
/* Admin commands to an NVMe drive; none of them writes. */
#ifndef ALIGNCTL_NVME_H
#define ALIGNCTL_NVME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum nvme_result {
	NVME_DONE,
	NVME_NOT_SUPPORTED,	/* the drive has no such page */
	NVME_NOT_PERMITTED,	/* the caller may not ask */
	NVME_FAILED,
};

/*
 * Read a log page of the drive that a namespace is on. The namespace is @name,
 * by the kernel's name, and @devno; @length is a multiple of 4. May sleep for as
 * long as the kernel waits for an admin command. Return: NVME_DONE with @page
 * filled; else *@error is why NVME_FAILED, for free(), or NULL.
 */
enum nvme_result nvme_log_page(const char *name, dev_t devno, uint8_t id,
			       void *page, uint32_t length, char **error);

#define NVME_IDENTIFY_BYTES	4096U

/* What Identify is asked for, by the specification's numbers. */
enum nvme_structure {
	NVME_NAMESPACE = 0,
	NVME_CONTROLLER = 1,
};

/*
 * Read a structure of NVME_IDENTIFY_BYTES from the drive of a namespace, for
 * namespace @nsid; the rest is as of nvme_log_page().
 */
enum nvme_result nvme_identify(const char *name, dev_t devno, uint32_t nsid,
			       enum nvme_structure structure, void *page,
			       char **error);

#endif
