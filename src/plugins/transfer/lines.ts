import { createReadStream } from 'node:fs';
import { parse as parseJson } from 'secure-json-parse';
import type { Fields } from './record-type.ts';

/** A line of a file: its number from 1, and its fields or a problem. */
export type Line = { number: number } & ({ fields: Fields } | { problem: string; expected?: string });

/** The limit of a request's body. */
export const maxLineBytes = 1_048_576;

/** Reads a file of JSON objects, one per line; skips empty lines. Holds at most one line in memory. */
export async function* jsonLines(path: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const line of readLines(path)) {
    number += 1;
    if (line === undefined) yield { number, problem: `The line is longer than ${maxLineBytes} bytes` };
    else if (/\S/.test(line.toString('latin1'))) yield { number, ...parseLine(line) };
  }
}

export const notUtf8 = 'The line is not UTF-8';
const decoder = new TextDecoder('utf-8', { fatal: true });

const expectedForm = 'one object a line such as {"kind":"tag","ref":"t1","title":"Evening"}';

function parseLine(line: Buffer): { fields: Fields } | { problem: string; expected?: string } {
  let text: string;
  try {
    text = decoder.decode(line).trim();
  } catch {
    return { problem: notUtf8 };
  }
  try {
    const fields: unknown = parseJson(text, undefined, { protoAction: 'error', constructorAction: 'error' });
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) return { fields: fields as Fields };
  } catch {
    // Reported below.
  }
  return { problem: 'The line is not a JSON object', expected: expectedForm };
}

/** Yields the bytes of each line, or undefined for a line over the limit, whose bytes are dropped. */
async function* readLines(path: string): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const append = (part: Buffer) => {
    length += part.length;
    if (length <= maxLineBytes) parts.push(part);
    else parts = [];
  };
  const endLine = () => {
    const line = length <= maxLineBytes ? Buffer.concat(parts) : undefined;
    [parts, length] = [[], 0];
    return line;
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      append(chunk.subarray(start, end));
      yield endLine();
      start = end + 1;
    }
    append(chunk.subarray(start));
  }
  if (length > 0) yield endLine();
}
