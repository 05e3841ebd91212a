// SPDX-License-Identifier: GPL-2.0
/* The stacks of the simulated threads; a switch is no system call. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#include "machine_own.h"

/* So much of a stack is cleaned: more than a step uses. */
#define CLEANED_BYTES	4096

/* Switch stacks: save the registers that a call must keep, and load the other stack's. */
void stack_switch(void **save, void *to);
#if defined(__x86_64__)
__asm__(".text\n"
	".globl stack_switch\n"
	".type stack_switch, @function\n"
	"stack_switch:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n"
	"	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n"
	"	popq %r12\n	popq %rbx\n	popq %rbp\n"
	"	ret\n"
	".size stack_switch, . - stack_switch\n"
	".section .note.GNU-stack,\"\",@progbits\n"
	".text\n");
#define SAVED_WORDS	6
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl stack_switch\n"
	".type stack_switch, %function\n"
	"stack_switch:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n	ret\n"
	".size stack_switch, . - stack_switch\n"
	".section .note.GNU-stack,\"\",%progbits\n"
	".text\n");
#else
#error "stack_switch() has to be written for this architecture"
#endif

void go_to(struct thread *to)
{
	struct thread *from = machine_current;

	if (from == to)
		return;
	machine_current = to;
#ifdef SIM_ASAN
	{
		void *fake;

		__sanitizer_start_switch_fiber(&fake, to->stack,
					       to == &host ? 0 : STACK_BYTES);
		stack_switch(&from->sp, to->sp);
		__sanitizer_finish_switch_fiber(fake, NULL, NULL);
	}
#else
	stack_switch(&from->sp, to->sp);
#endif
}

static void thread_main(void)
{
#ifdef SIM_ASAN
	const void *bottom;
	size_t size;

	__sanitizer_finish_switch_fiber(NULL, &bottom, &size);
	if (!host.stack)
		host.stack = (char *)bottom;
#endif
	for (;;) {
		machine_current->run(machine_current->argument);
		thread_end();
	}
}

void stack_begin(struct thread *thread)
{
	uintptr_t top = (uintptr_t)thread->stack + STACK_BYTES;
	void **sp = (void **)(top & ~(uintptr_t)15);

#ifdef SIM_ASAN
	__asan_unpoison_memory_region(thread->stack, STACK_BYTES);
#endif
#if defined(__x86_64__)
	*--sp = NULL;
	*--sp = (void *)thread_main;
	sp -= SAVED_WORDS;
	memset(sp, 0, SAVED_WORDS * sizeof(*sp));
#else
	sp -= 20;
	memset(sp, 0, 20 * sizeof(*sp));
	sp[11] = (void *)thread_main;
#endif
	thread->sp = sp;
}

void stack_clean(const struct thread *thread)
{
	size_t room = (size_t)((char *)thread->sp - thread->stack);

	if (room > CLEANED_BYTES)
		room = CLEANED_BYTES;
	memset((char *)thread->sp - room, 0, room);
}

/* Stacks lie behind the arena, at the same addresses in each run. */
char *stack_new(unsigned int id)
{
	char *at = (char *)MACHINE_ARENA_AT + MACHINE_ARENA_BYTES +
		   (size_t)id * STACK_BYTES;
	void *stack = mmap(at, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			   0);

	if (stack == MAP_FAILED) {
		perror("sim: a stack");
		exit(2);
	}
	return stack;
}
