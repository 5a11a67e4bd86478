import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { maxLineBytes, notUtf8, type Line } from './lines.ts';

type CsvRecord = { record: string[]; info: { lines: number } };

/**
 * Reads a CSV file with a header line; skips records without values. Commas separate, or semicolons or tabs where the
 * header has no comma, or what a line `sep=` before it names. A record's number is that of the line on which it ends.
 */
export async function* csvLines(path: string, kind: string): AsyncGenerator<Line> {
  const file = createReadStream(path)[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  const start = (await file.next()).value ?? Buffer.alloc(0);
  const { encoding, bomLength } = detectEncoding(start);
  const text = start.subarray(bomLength);
  const { delimiter, from_line } = detectDelimiter(text.toString(encoding));
  const parser = parse({
    delimiter,
    from_line,
    // One character a byte, so that bytes which are not UTF-8 are found in each field.
    encoding,
    info: true,
    max_record_size: maxLineBytes,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
  });
  // The error reaches the loop below through the parser.
  pipeline(Readable.from(withStart(text, file)), parser, () => undefined);
  try {
    yield* toLines(parser as AsyncIterable<CsvRecord>, kind, encoding === 'latin1' ? decodeUtf8 : (field) => field);
  } catch (error) {
    // The rest of the file cannot be split into records.
    if (!(error instanceof CsvError)) throw error;
    yield { number: Number(error['lines']), problem: `The file is not CSV from here on: ${error.message}` };
  }
}

async function* withStart(start: Buffer, rest: AsyncIterator<Buffer, undefined>) {
  for (let chunk: Buffer | undefined = start; chunk !== undefined; chunk = (await rest.next()).value) yield chunk;
}

async function* toLines(
  records: AsyncIterable<CsvRecord>,
  kind: string,
  decode: (field: string) => string | undefined,
) {
  let names: string[] | undefined;
  for await (const { record, info } of records) {
    const fields = record.flatMap((field) => decode(field) ?? []);
    const number = info.lines;
    if (names !== undefined)
      yield { number, ...(fields.length < record.length ? { problem: notUtf8 } : toLine(names, fields, kind)) };
    else {
      names = fields.map((name) => name.trim());
      const problem = fields.length < record.length ? notUtf8 : findRepeatedColumn(names);
      if (problem === undefined) continue;
      yield { number, problem };
      return;
    }
  }
}

function findRepeatedColumn(names: string[]) {
  const repeated = names.find((name, n) => name !== '' && names.indexOf(name) < n);
  return repeated === undefined ? undefined : `The column ${repeated} occurs twice`;
}

/** Ignores columns without a name, and fields beyond the columns, as long as they are empty. */
function toLine(names: string[], record: string[], kind: string) {
  const surplus = record.slice(names.length).some((field) => field.trim() !== '');
  if (record.length < names.length || surplus)
    return { problem: `The record has ${record.length} fields, not ${names.length}`, expected: names.join() };
  const unnamed = names.findIndex((name, n) => name === '' && record[n]!.trim() !== '');
  if (unnamed >= 0) return { problem: `Column ${unnamed + 1} has a value and no name` };
  const named = names.flatMap((name, n) => (name === '' ? [] : [[name, record[n]]]));
  return { fields: { kind, ...(Object.fromEntries(named) as Record<string, string>) } };
}

function detectEncoding(start: Buffer) {
  if (start.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])))
    return { encoding: 'latin1', bomLength: 3 } as const;
  if (start.subarray(0, 2).equals(Buffer.from([0xff, 0xfe]))) return { encoding: 'utf16le', bomLength: 2 } as const;
  return { encoding: 'latin1', bomLength: 0 } as const;
}

/** Quoted names may contain a separator. */
function detectDelimiter(text: string) {
  const named = /^"?sep=(.)"?[\r\n]/i.exec(text)?.[1];
  if (named !== undefined) return { delimiter: named, from_line: 2 };
  const [header = ''] = text.trimStart().split(/[\r\n]/, 1);
  const unquoted = header.replaceAll(/"[^"]*"/g, '');
  return { delimiter: [',', ';', '\t'].find((one) => unquoted.includes(one)) ?? ',', from_line: 1 };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes a field that was read as one character a byte; undefined if it is not UTF-8. */
function decodeUtf8(field: string): string | undefined {
  if (!/[\x80-\xff]/.test(field)) return field;
  try {
    return decoder.decode(Buffer.from(field, 'latin1'));
  } catch {
    return undefined;
  }
}
