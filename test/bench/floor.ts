import pg from 'pg';
import type { RecordedStatement } from '../support/record-statements.ts';

// The least that Node can do for an answer: read the rows as arrays, write them as JSON, encode that.
type Task = { url: string; statements: RecordedStatement[]; seconds: number };

process.on('message', ({ url, statements, seconds }: Task) => void measure(url, statements, seconds));

async function measure(connectionString: string, statements: RecordedStatement[], seconds: number) {
  const pool = new pg.Pool({ connectionString, max: 4 });
  // The driver would make a Date of each moment, which is more than reading it.
  const types = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;
  const answer = async () => {
    const found = await Promise.all(
      statements.map(({ text, values }, n) => pool.query({ name: `s${n}`, text, values, rowMode: 'array', types })),
    );
    return Buffer.from(JSON.stringify(found.map(({ rows }) => rows))).length;
  };
  const answerFor = async (milliseconds: number) => {
    const until = performance.now() + milliseconds;
    let count = 0;
    for (; performance.now() < until; count += 2) await Promise.all([answer(), answer()]);
    return count;
  };
  // As a server, once V8 has made its machine code.
  await answerFor(3_000);
  const before = process.cpuUsage();
  const count = await answerFor(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  await pool.end();
  process.send!((user + system) / 1_000 / count, () => process.exit());
}
