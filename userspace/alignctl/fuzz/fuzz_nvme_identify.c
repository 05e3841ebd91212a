// SPDX-License-Identifier: GPL-2.0
/* Identify Namespace and Controller of an NVMe drive, the input at their start. */
#include "fuzz_header.h"
#include "unit/decode.h"

/* Check a size: a whole number of logical blocks, of 16 bits. */
static void check_size(struct maybe figure, int64_t logical)
{
	fuzz_figure(figure, logical, logical << 16);
	FUZZ_CHECK(maybe_or(figure, 0) % logical == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoded_nvme nvme, before;
	size_t length = size < 600 ? DECODE_NVME_BYTES : size;
	uint8_t *page = calloc(1, length);
	int64_t logical;

	FUZZ_CHECK(page);
	if (size)
		memcpy(page, data, size);
	memset(&nvme, 0, sizeof(nvme));
	before = nvme;
	if (!decode_nvme_namespace(page, length, &nvme)) {
		FUZZ_CHECK(!memcmp(&nvme, &before, sizeof(nvme)));
	} else {
		FUZZ_CHECK(maybe_get(nvme.logical, &logical));
		fuzz_figure(nvme.logical, 512, 65536);
		check_size(nvme.npwg, logical);
		check_size(nvme.npdg, logical);
		check_size(nvme.nows, logical);
		check_size(nvme.nawupf, logical);
		check_size(decode_nvme_awupf(page, length, nvme.logical),
			   logical);
	}
	free(page);
	return 0;
}
