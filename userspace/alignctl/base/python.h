/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of alignctl that are written in Python: the package align_reports,
 * which is installed beside the program or lies in its source tree.
 */
#ifndef ALIGNCTL_PYTHON_H
#define ALIGNCTL_PYTHON_H

/*
 * Start the package: call @start with @arguments, the first of which is set to an
 * interpreter. That is the one of ALIGNCTL_PYTHON, which a setuid program ignores,
 * or else the one that this program was built for and then the system's, for which
 * its packages install the libraries: the next one is taken where there is no such
 * file, and by the package itself, which has its name in the environment, where a
 * library is missing (needs.py). Return: what @start has returned, 0 or an error
 * number, and @arguments[0] is the interpreter.
 */
int python_start(char **arguments,
		 int (*start)(char **arguments, void *context), void *context);

/* Return what mends @error of python_start(), to be put behind its words; "": not known. */
const char *python_way_out(int error);

/*
 * Find the package. Return: its path, for free(), with @self set to the path of
 * this program, for free(); NULL: reported, for @what.
 */
char *python_package(const char *what, char **self);

#endif
