import type { QuestionName } from './fields.ts';
import type { Side } from './peer.ts';

/** Asserts that all servers return the same 75 rows with relations; returns the response size in kB of each. */
export async function checkAlike(sides: Side[], question: QuestionName): Promise<number[]> {
  const [first, ...others] = await Promise.all(sides.map((side) => answerOf(side, question)));
  const { lines: expected } = first!;
  if (expected.length !== 76) throw new Error(`${question}: we told of ${expected.length - 1} rows`);
  for (const { name, lines } of others) {
    const wrong = expected.findIndex((line, n) => line !== lines[n]);
    if (wrong >= 0 || lines.length > expected.length) {
      throw new Error(`${question}: ${name} told ${lines[wrong]}, not ${expected[wrong]}, in ${lines.length - 1} rows`);
    }
  }
  return [first!, ...others].map(({ bytes }) => Math.round(bytes / 1_000));
}

/** Normalises a response to the total and one line per row; nested lists are sorted. */
async function answerOf({ name, questions }: Side, question: QuestionName) {
  const { url, told, ...init } = questions[question];
  const answer = await fetch(url, init);
  const text = await answer.text();
  try {
    const { items, ...rest } = told(JSON.parse(text));
    const inOrder = (_: string, value: unknown): unknown => (isTexts(value) ? value.toSorted() : value);
    const lines = [rest, ...items].map((line) => JSON.stringify(line, inOrder));
    return { name, lines, bytes: Buffer.byteLength(text) };
  } catch (error) {
    throw new Error(`${name} told ${answer.status} to ${question}: ${text.slice(0, 2_000)}`, { cause: error });
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && typeof value[0] === 'string';
}
