import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../database/client.ts';

export type MetricsSources = {
  database: Pick<Database, 'pool' | 'counters' | 'usage' | 'standby'>;
  version: string;
  /** The commit that was built. */
  commit?: string;
  /** Folders whose disks are measured. */
  folders?: Record<string, string>;
  /** Absent in tests. */
  config?: Config;
};

/** The metrics of one part of the service, registered at creation. */
export type Area = {
  /** Sets values that are read at the scrape; must not throw. */
  refresh?: (app: FastifyInstance) => void | Promise<void>;
  /** Called for every response; on the path of each request. */
  onResponse?: (request: FastifyRequest, reply: FastifyReply) => void;
  onAbort?: (request: FastifyRequest) => void;
};

export type CreateArea = (register: Registry, sources: MetricsSources) => Area;

/** Rejects after a second: a scrape does not wait longer for the database. */
export async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_done, failed) => {
    timer = setTimeout(failed, 1_000, new Error('the database did not answer'));
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

type CounterOptions<L extends string> = { name: string; help: string; labelNames?: L[] };

/** A counter whose value is counted elsewhere and read at the scrape. */
export function createReadCounter<L extends string = never>(register: Registry, options: CounterOptions<L>) {
  const counter = new Counter<L>({ ...options, registers: [register] });
  return {
    /** Without labels, `reset` of the library sets 0 instead of removing the value. */
    reset: () => (options.labelNames ? counter.reset() : counter.remove()),
    set(value: number, labels = {} as Partial<Record<L, string>>) {
      counter.remove(labels);
      counter.inc(labels, value);
    },
  };
}
