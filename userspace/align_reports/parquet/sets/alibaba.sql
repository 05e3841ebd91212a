-- SPDX-License-Identifier: GPL-2.0
-- Alibaba's block traces of 2020, io_traces.csv: device_id,opcode,offset,length,timestamp, of 1000 disks, with times in
-- microseconds since 1970. https://github.com/alibaba/block-traces has the description.
CREATE TABLE metadata AS SELECT * FROM (VALUES
	('source', 'Alibaba Block Traces (2020), https://github.com/alibaba/block-traces'),
	('licence', 'CC-BY-4.0'),
	('time_unit', 'us'), ('offset_unit', 'byte'), ('length_unit', 'byte'), ('epoch', 'unix')
) AS row(key, value);

CREATE VIEW source AS SELECT
	coalesce(device_id, wrong('device_id', NULL, filename, line)) AS volume,
	CAST(number_of('timestamp', "timestamp", 9223372036854775, filename, line) * 1000 AS BIGINT) AS ts_ns,
	CAST(CASE opcode WHEN 'R' THEN 0 WHEN 'W' THEN 1 ELSE wrong('opcode', opcode, filename, line) END AS UTINYINT) AS op,
	number_of('offset', "offset", 9223372036854775807, filename, line) AS offset_bytes,
	CAST(number_of('length', length, 4294967295, filename, line) AS UINTEGER) AS len_bytes
FROM (
	SELECT *, concat(device_id, ',', opcode, ',', "offset", ',', length, ',', "timestamp") AS line
	FROM read_csv(getvariable('files'), auto_detect = false, header = false, delim = ',', quote = '', escape = '',
		filename = true, buffer_size = 4194304, columns = {'device_id': 'VARCHAR', 'opcode': 'VARCHAR', 'offset': 'VARCHAR',
			'length': 'VARCHAR', 'timestamp': 'VARCHAR'})
	WHERE line <> 'device_id,opcode,offset,length,timestamp'
);
