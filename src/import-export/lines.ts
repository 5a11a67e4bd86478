import { createReadStream } from 'node:fs';
import { CsvError, parse as parseCsv } from 'csv-parse';
import { parse as parseJson } from 'secure-json-parse';
import type { Fields } from './record-type.ts';

/** One line of a file: its number from 1, and its fields or why it has none. */
export type Line = { number: number } & ({ fields: Fields } | { problem: string; expected?: string });

/** As long as a request's body may be. */
const maxLineBytes = 1_048_576;

/** The lines of a file of JSON objects, one a line; empty lines are passed over. Memory holds one line at a time. */
export async function* jsonLines(path: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const line of getLines(path)) {
    number += 1;
    if (line === undefined) yield { number, problem: `The line is longer than ${maxLineBytes} bytes` };
    else if (/\S/.test(line.toString('latin1'))) yield { number, ...parseLine(line) };
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

const expectedForm = 'one object a line such as {"kind":"tag","ref":"t1","title":"Evening"}';

function parseLine(line: Buffer): { fields: Fields } | { problem: string; expected?: string } {
  let text: string;
  try {
    text = decoder.decode(line).trim();
  } catch {
    return { problem: 'The line is not UTF-8' };
  }
  try {
    const fields: unknown = parseJson(text, undefined, { protoAction: 'error', constructorAction: 'error' });
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) return { fields: fields as Fields };
  } catch {
    // Told below.
  }
  return { problem: 'The line is not a JSON object', expected: expectedForm };
}

/** Undefined stands for a line that is too long; its bytes are let go. */
async function* getLines(path: string): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer) => {
    length += part.length;
    if (length <= maxLineBytes) parts.push(part);
    else parts = [];
  };
  const line = () => {
    const whole = length <= maxLineBytes ? Buffer.concat(parts) : undefined;
    [parts, length] = [[], 0];
    return whole;
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield line();
}

/**
 * The lines of a CSV file whose first line names the fields; the numbers are those of the file's own lines, where a
 * record ends.
 */
export async function* csvLines(path: string, kind: string): AsyncGenerator<Line> {
  const parser = parseCsv({ bom: true, info: true, skip_empty_lines: true, relax_column_count: true });
  const file = createReadStream(path).on('error', (error) => parser.destroy(error));
  type Parsed = { record: string[]; info: { lines: number } };
  let names: string[] | undefined;
  try {
    for await (const { record, info } of file.pipe(parser) as AsyncIterable<Parsed>) {
      if (names === undefined) names = record;
      else if (record.length !== names.length)
        yield {
          number: info.lines,
          problem: `The record has ${record.length} fields, not ${names.length}`,
          expected: names.join(),
        };
      else
        yield {
          number: info.lines,
          fields: { ...Object.fromEntries(names.map((name, n) => [name, record[n]])), kind },
        };
    }
  } catch (error) {
    // What follows cannot be told apart any more.
    if (!(error instanceof CsvError)) throw error;
    yield { number: Number(error['lines']), problem: `The file is not CSV from here on: ${error.message}` };
  }
}
