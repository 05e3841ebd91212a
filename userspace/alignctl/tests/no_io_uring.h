/* SPDX-License-Identifier: GPL-2.0 */
/* A process that may not call io_uring_setup(), as in many containers. */
#ifndef ALIGNCTL_TESTS_NO_IO_URING_H
#define ALIGNCTL_TESTS_NO_IO_URING_H

#include <stdbool.h>

/* Call a function in a child that lacks io_uring. Return: what it returns. */
bool without_io_uring(bool (*function)(void));

#endif
