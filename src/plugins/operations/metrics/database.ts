import { Gauge } from 'prom-client';
import { createReadCounter, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

/** The connections of this process; what the database itself knows is in database-state.ts. */
export const databaseMetrics: CreateArea = (register, { database }) => {
  const registers = [register];
  const connections = new Gauge({
    name: 'booking_database_connections',
    help: 'Connections of this process by state',
    labelNames: ['state'] as const,
    registers,
  });
  const maximum = new Gauge({
    name: 'booking_database_connections_max',
    help: 'The most connections that this process opens (POOL_SIZE)',
    registers,
  });
  const waiting = new Gauge({
    name: 'booking_database_connections_waiting',
    help: 'Work that waits for a free connection',
    registers,
  });
  const retries = createReadCounter(register, {
    name: 'booking_database_retries_total',
    help: 'Write transactions that were tried again, by reason',
    labelNames: ['reason'],
  });
  const slow = createReadCounter(register, {
    name: 'booking_database_slow_statements_total',
    help: 'Statements of more than half a second; the log names them',
  });
  return {
    refresh() {
      const { max, open, idle, waiting: requests } = database.usage().connections;
      maximum.set(max);
      connections.set({ state: 'in_use' }, open - idle);
      connections.set({ state: 'idle' }, idle);
      waiting.set(requests);
      for (const [reason, count] of Object.entries(database.counters.retries)) retries.set(count, { reason });
      slow.set(database.counters.slowStatements);
    },
  };
};
