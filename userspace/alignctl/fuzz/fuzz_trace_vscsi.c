// SPDX-License-Identifier: GPL-2.0
/* Traces of virtual SCSI disks. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_choice.from = TRACE_READABLE_VSCSI;
	fuzz_trace(data, size);
	return 0;
}
