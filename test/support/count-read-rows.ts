import type { PoolOrClient } from '../../src/database/statements.ts';

/** The most rows that a step of a statement reads or removes. */
export async function countReadRows(
  { pool }: { pool: PoolOrClient },
  { text }: { text: string },
  parameters: unknown[],
) {
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain (analyze, timing off) ${text}`, parameters);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  const read = [...plan.matchAll(/actual rows=([\d.]+) loops|Rows Removed by [\w ]+: (\d+)/g)];
  return Math.max(...read.map(([, actual, removed]) => Number(actual ?? removed)));
}
