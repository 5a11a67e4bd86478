import { parseArgs } from 'node:util';
import { measureBooking } from './booking.ts';
import { withDatabase } from './database.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '8' } },
});
const figures = await withDatabase((subject) =>
  measureBooking(subject, { rounds: Number(values.rounds), seconds: Number(values.seconds) }),
);
console.table(
  figures.map(({ where, ours, pgbench, share, p50, p99 }) => ({
    'bookings on': where,
    'ours/s': Math.round(ours),
    'pgbench/s': Math.round(pgbench),
    share: `${Math.round(share * 100)} %`,
    'p50 ms': p50,
    'p99 ms': p99,
  })),
);
