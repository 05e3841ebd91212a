/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of alignctl that are written in Python: the package align_reports,
 * which is installed beside the program or lies in its source tree.
 */
#ifndef ALIGNCTL_PYTHON_H
#define ALIGNCTL_PYTHON_H

/*
 * Return the interpreter that runs the package: that of ALIGNCTL_PYTHON, which
 * a setuid program ignores, or the one that this program was built for.
 */
const char *python_interpreter(void);

/*
 * Return the interpreter to try where @python is missing, or has not the libraries
 * that the package needs: the system's, for which its packages install them. NULL:
 * there is none, or the user has named @python.
 */
const char *python_after(const char *python);

/*
 * Find the package. Return: its path, for free(), with @self set to the path of
 * this program, for free(); NULL: reported, for @what.
 */
char *python_package(const char *what, char **self);

#endif
