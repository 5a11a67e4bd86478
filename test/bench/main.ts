import { parseArgs } from 'node:util';
import { measureBooking } from './booking.ts';
import { withDatabase } from './database.ts';
import { buildDataset } from './dataset.ts';
import { measureLists } from './lists.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '8' },
    size: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const { only } = values;
const wants = (name: string) => only === undefined || name.startsWith(only);

if (wants('lists')) {
  const lists = await withDatabase(async (subject) =>
    measureLists(subject, await buildDataset(subject.database, Number(values.size)), {
      rounds,
      seconds,
      only: only?.slice(6),
    }),
  );
  console.table(
    lists.map(
      ({ name, perSecond, limit, share, p50, p99, nodeMs, postgresMs, limitPostgresMs, statements, megabytes }) => ({
        name,
        perSecond: Math.round(perSecond),
        limit: Math.round(limit),
        share: percent(share),
        p50,
        p99,
        nodeMs: round(nodeMs),
        postgresMs: round(postgresMs),
        limitPostgresMs: round(limitPostgresMs),
        statements,
        megabytes,
      }),
    ),
  );
}
if (wants('booking')) {
  const figures = await withDatabase((subject) => measureBooking(subject, { rounds, seconds }));
  console.table(
    figures.map(({ where, ours, pgbench, share, p50, p99 }) => ({
      where,
      ours: Math.round(ours),
      pgbench: Math.round(pgbench),
      share: percent(share),
      p50,
      p99,
    })),
  );
}

function percent(share: number) {
  return `${Math.round(share * 100)} %`;
}
function round(figure: number) {
  return Number(figure.toFixed(2));
}
