import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../database/client.ts';

export type MetricsSources = {
  database: Database;
  version: string;
  /** The commit that was built. */
  commit?: string;
  /** Folders whose disks are measured. */
  folders: Record<string, string>;
  config: Config;
};

/** The metrics of one part of the service, registered at creation. */
type Area<Of extends unknown[]> = {
  /** Sets values that are read at the scrape; must not throw. */
  refresh?: (...of: Of) => void | Promise<void>;
  /** Called for every response; on the path of each request. */
  onResponse?: (request: FastifyRequest, reply: FastifyReply) => void;
  onAbort?: (request: FastifyRequest) => void;
};

export type CreateArea<Of extends unknown[] = []> = (meters: Meters, sources: MetricsSources) => Area<Of>;
/** Reads the application at the scrape. */
export type CreateAppArea = CreateArea<[FastifyInstance]>;

/** Rejects after a second: a scrape does not wait longer for the database. */
export async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_done, failed) => {
    timer = setTimeout(failed, 1_000, new Error('the database did not answer'));
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

type Meters = ReturnType<typeof createMeters>;

/** Creates metrics in a registry, with the names of their labels behind the help. */
export const createMeters = (register: Registry) => ({
  register,
  gauge: <L extends string = never>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge<L>({ name, help, labelNames, registers: [register] }),
  counter: <L extends string = never>(name: string, help: string, ...labelNames: L[]) =>
    new Counter<L>({ name, help, labelNames, registers: [register] }),
  /** A counter whose value is counted elsewhere and read at the scrape. */
  readCounter<L extends string = never>(name: string, help: string, ...labelNames: L[]) {
    const counter = new Counter<L>({ name, help, labelNames, registers: [register] });
    return {
      /** Removes the value, which `reset` of the library sets to 0 without labels. */
      reset: () => (labelNames.length > 0 ? counter.reset() : counter.remove()),
      set(value: number, labels = {} as Partial<Record<L, string>>) {
        counter.remove(labels);
        counter.inc(labels, value);
      },
    };
  },
});
