/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "alignctl boot WORD...": what systemd, udev and the initramfs run. A hidden
 * verb, as its words go with the files that are installed beside the program:
 *
 * generator FOLDER UNITS
 *			systemd's generator, see generator.h
 * lower		udev's question, see lower.h
 * stop NAME		the stop of a unit
 * initramfs		bring up all lines whose device is there
 * above NODE		print the path of the align device over a device
 */
#ifndef ALIGNCTL_WORDS_H
#define ALIGNCTL_WORDS_H

#define BOOT_WORD	"boot"

/* Do what the words behind BOOT_WORD say. Return: enum alignctl_exit. */
int boot_words(int argc, char **argv);

#endif
