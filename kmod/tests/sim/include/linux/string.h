/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_STRING_H
#define SHIM_STRING_H
#include <stddef.h>
#include <linux/compiler.h>
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
#ifdef SIM_WEAK_CODE
#define memcpy(to, from, bytes)		weak_copy(to, from, bytes)
#define memset(to, byte, bytes)		weak_fill(to, byte, bytes)
#endif
int memcmp(const void *a, const void *b, size_t bytes);
char *strstr(const char *text, const char *words);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strcasecmp(const char *a, const char *b);
#endif
