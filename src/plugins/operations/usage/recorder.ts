import type { FastifyInstance } from 'fastify';
import { schoolOf, type Ctx } from '../../../database/context.ts';
import type { Database } from '../../../database/client.ts';

type Usage = { requests: number; refused: number; failed: number; milliseconds: number; peakPerMinute: number };
export type UsageRecorder = ReturnType<typeof createUsageRecorder>;

/** Further providers of an hour count as provider 0. */
const maxProviders = 10_000;
const others = 0;
/** Hours that wait for the database; beyond, the oldest is dropped. */
const maxHours = 24;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Counts the requests of each provider by minute, and stores them by hour; a crash loses what was not stored. */
export function createUsageRecorder(now: () => number = Date.now) {
  const counter = createCounter(now);
  return {
    count: counter.count,
    /** Adds a hook for routes that are added later. */
    observe(app: FastifyInstance) {
      app.addHook('onResponse', (request, reply, done) => {
        const { ctx } = request as { ctx?: Ctx };
        if (ctx !== undefined) counter.count(schoolOf(ctx), reply.statusCode, reply.elapsedTime);
        done();
      });
    },
    /** Adds the counts to the table; after a failure they remain for the next time. */
    async store({ pool }: Pick<Database, 'pool'>) {
      const hours = counter.take();
      const rows = [...hours].flatMap(([hour, usages]) =>
        [...usages].map(([provider_id, usage]) => ({
          ...{ provider_id, hour: new Date(hour).toISOString() },
          ...{ ...usage, milliseconds: Math.round(usage.milliseconds) },
        })),
      );
      if (rows.length === 0) return;
      await pool.query(storeUsage, [JSON.stringify(rows)]).catch((error: unknown) => {
        for (const [hour, usages] of hours) counter.add(hour, usages);
        throw error;
      });
    },
  };
}

function createCounter(now: () => number) {
  let minute = 0;
  let current = new Map<number, Usage>();
  /** By the start of the hour, then by provider. */
  let hours = new Map<number, Map<number, Usage>>();

  function add(hour: number, counted: Map<number, Usage>) {
    if (counted.size === 0) return;
    const sums = hours.get(hour) ?? new Map<number, Usage>();
    hours.set(hour, sums);
    if (hours.size > maxHours) hours.delete(Math.min(...hours.keys()));
    for (const [providerId, usage] of counted) {
      const sum = findUsage(sums, providerId);
      for (const name of ['requests', 'refused', 'failed', 'milliseconds'] as const) sum[name] += usage[name];
      sum.peakPerMinute = Math.max(sum.peakPerMinute, usage.peakPerMinute);
    }
  }

  function closeMinute(next: number) {
    for (const usage of current.values()) usage.peakPerMinute = usage.requests;
    add(Math.floor((minute * minuteMs) / hourMs) * hourMs, current);
    current = new Map();
    minute = next;
  }

  return {
    add,
    count(providerId: number, status: number, milliseconds: number) {
      const thisMinute = Math.floor(now() / minuteMs);
      if (thisMinute !== minute) closeMinute(thisMinute);
      const usage = findUsage(current, providerId);
      usage.requests += 1;
      usage.milliseconds += milliseconds;
      if (status === 429) usage.refused += 1;
      if (status >= 500) usage.failed += 1;
    },
    take() {
      closeMinute(minute);
      const taken = hours;
      hours = new Map();
      return taken;
    },
  };
}

function findUsage(usages: Map<number, Usage>, providerId: number): Usage {
  const known = usages.get(providerId);
  if (known) return known;
  if (usages.size >= maxProviders && providerId !== others) return findUsage(usages, others);
  const usage = { requests: 0, refused: 0, failed: 0, milliseconds: 0, peakPerMinute: 0 };
  usages.set(providerId, usage);
  return usage;
}

const storeUsage = `
  insert into provider_usage as u (provider_id, hour, requests, refused, failed, milliseconds, peak_per_minute)
  select provider_id, hour, requests, refused, failed, milliseconds, "peakPerMinute"
  from json_to_recordset($1::json) as r (provider_id bigint, hour timestamptz, requests bigint, refused bigint,
    failed bigint, milliseconds bigint, "peakPerMinute" int)
  order by provider_id, hour
  on conflict (provider_id, hour) do update set requests = u.requests + excluded.requests,
    refused = u.refused + excluded.refused, failed = u.failed + excluded.failed,
    milliseconds = u.milliseconds + excluded.milliseconds,
    peak_per_minute = greatest(u.peak_per_minute, excluded.peak_per_minute)`;
