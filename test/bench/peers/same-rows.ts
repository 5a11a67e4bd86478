import type { QueryName } from './fields.ts';
import type { Side } from './peer.ts';

/** Asserts that all servers return the same 75 rows with relations; returns the response size in kB of each. */
export async function assertSameRows(sides: Side[], query: QueryName): Promise<number[]> {
  const [first, ...others] = await Promise.all(sides.map((side) => fetchNormalised(side, query)));
  const { lines: expected } = first!;
  if (expected.length !== 76) throw new Error(`${query}: expected 75 rows, got ${expected.length - 1}`);
  for (const { name, lines } of others) {
    const wrong = expected.findIndex((line, n) => line !== lines[n]);
    if (wrong >= 0 || lines.length > expected.length) {
      throw new Error(
        `${query}: ${name} returned ${lines[wrong]} instead of ${expected[wrong]}, in ${lines.length - 1} rows`,
      );
    }
  }
  return [first!, ...others].map(({ bytes }) => Math.round(bytes / 1_000));
}

/** Normalises a response to the total and one line per row; nested lists are sorted. */
async function fetchNormalised({ name, queries }: Side, query: QueryName) {
  const { url, normalise, ...init } = queries[query];
  const response = await fetch(url, init);
  const text = await response.text();
  try {
    const { items, ...rest } = normalise(JSON.parse(text));
    const sortTexts = (_: string, value: unknown): unknown => (isTexts(value) ? value.toSorted() : value);
    const lines = [rest, ...items].map((line) => JSON.stringify(line, sortTexts));
    return { name, lines, bytes: Buffer.byteLength(text) };
  } catch (error) {
    throw new Error(`${name} returned ${response.status} for ${query}: ${text.slice(0, 2_000)}`, { cause: error });
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && typeof value[0] === 'string';
}
