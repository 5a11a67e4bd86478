import pg from 'pg';
import type { RecordedStatement } from '../support/record-statements.ts';

// Lower bound for Node: read the rows as arrays, serialise them as JSON, encode the text.
type FloorRequest = { url: string; statements: RecordedStatement[]; seconds: number };

process.on('message', ({ url, statements, seconds }: FloorRequest) => void measure(url, statements, seconds));

async function measure(connectionString: string, statements: RecordedStatement[], seconds: number) {
  const pool = new pg.Pool({ connectionString, max: 4 });
  // Parsing timestamps into Date objects costs more than reading the rows.
  const types = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;
  const handle = async () => {
    const found = await Promise.all(
      statements.map(({ text, values }, n) => pool.query({ name: `s${n}`, text, values, rowMode: 'array', types })),
    );
    return Buffer.from(JSON.stringify(found.map(({ rows }) => rows))).length;
  };
  const handleFor = async (milliseconds: number) => {
    const until = performance.now() + milliseconds;
    let count = 0;
    for (; performance.now() < until; count += 2) await Promise.all([handle(), handle()]);
    return count;
  };
  // Warms up the JIT compiler.
  await handleFor(3_000);
  const before = process.cpuUsage();
  const count = await handleFor(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  await pool.end();
  process.send!((user + system) / 1_000 / count, () => process.exit());
}
