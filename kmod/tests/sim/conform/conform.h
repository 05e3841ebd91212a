/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between main.c and runner.c. */
#ifndef CONFORM_H
#define CONFORM_H

/* The name of a case of the suite, from 0 on; NULL after the last one. */
const char *conform_case(unsigned int number);
/* Run a case, whose number @argument points to, as the first task of a machine. */
void conform_run(void *argument);

#endif
