-- SPDX-License-Identifier: GPL-2.0
-- What the files of the sets use: a value that is no number of digits alone, or too large, is an error that names it.
CREATE MACRO wrong(name, value, file, line) AS
	error(concat(file, ': the line ''', line, ''' has ', name, ' ''', value,
		''', which is not as the set is described; mend or remove it'));

CREATE MACRO number_of(name, value, most, file, line) AS
	CASE WHEN CAST(TRY_CAST(value AS UBIGINT) AS VARCHAR) = value AND TRY_CAST(value AS UBIGINT) <= CAST(most AS UBIGINT)
	THEN TRY_CAST(value AS UBIGINT) ELSE wrong(name, value, file, line) END;
