-- SPDX-License-Identifier: GPL-2.0
-- Tencent's block traces of 2018, an extracted file for each hour: Timestamp,Offset,Size,IOType,VolumeID, of 5584 volumes,
-- with times in seconds since 1970, sectors of 512 bytes, and 0 for a read or 1 for a write.
-- https://iotta.snia.org/traces/parallel/27917 has them and their description.
CREATE TABLE metadata AS SELECT * FROM (VALUES
	('source', 'Tencent Block Storage Traces (2018), https://iotta.snia.org/traces/parallel/27917'),
	('licence', 'terms of the SNIA IOTTA repository; cite the paper OSCA (USENIX ATC 2020)'),
	('time_unit', 's'), ('offset_unit', '512 bytes'), ('length_unit', '512 bytes'), ('epoch', 'unix')
) AS row(key, value);

CREATE VIEW source AS SELECT
	coalesce(VolumeID, wrong('VolumeID', NULL, filename, line)) AS volume,
	CAST(number_of('Timestamp', "Timestamp", 9223372036, filename, line) * 1000000000 AS BIGINT) AS ts_ns,
	CAST(CASE IOType WHEN '0' THEN 0 WHEN '1' THEN 1 ELSE wrong('IOType', IOType, filename, line) END AS UTINYINT) AS op,
	number_of('Offset', "Offset", 18014398509481983, filename, line) * 512 AS offset_bytes,
	CAST(number_of('Size', "Size", 8388607, filename, line) * 512 AS UINTEGER) AS len_bytes
FROM (
	SELECT *, concat("Timestamp", ',', "Offset", ',', "Size", ',', IOType, ',', VolumeID) AS line
	FROM read_csv(getvariable('files'), auto_detect = false, header = false, delim = ',', quote = '', escape = '',
		filename = true, buffer_size = 4194304, columns = {'Timestamp': 'VARCHAR', 'Offset': 'VARCHAR', 'Size': 'VARCHAR', 'IOType': 'VARCHAR',
			'VolumeID': 'VARCHAR'})
	WHERE line <> 'Timestamp,Offset,Size,IOType,VolumeID'
);
