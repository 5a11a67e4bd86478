import type { FastifyInstance } from 'fastify';
import { findContext, getSchoolId } from '../../../database/context.ts';
import type { Database } from '../../../database/client.ts';

const counts = { requests: 0, refused: 0, failed: 0, milliseconds: 0 };
/** `inMinute` are the requests of the latest minute, `minute` of the epoch. */
type Usage = typeof counts & { peakPerMinute: number; minute: number; inMinute: number };

/** Further providers of an hour count as provider 0. */
const maxProviders = 10_000;
const others = 0;
/** Hours that wait for the database; beyond, the oldest is dropped. */
const maxHours = 24;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Counts the requests of each provider by hour, and stores them; a crash loses what was not stored. */
export function createUsageRecorder(now: () => number = Date.now) {
  /** Usage by the start of the hour, then by provider. */
  let hours = new Map<number, Map<number, Usage>>();

  function findUsage(hour: number, providerId: number): Usage {
    const usages = hours.get(hour) ?? new Map<number, Usage>();
    hours.set(hour, usages);
    if (hours.size > maxHours) hours.delete(Math.min(...hours.keys()));
    const key = usages.has(providerId) || usages.size < maxProviders ? providerId : others;
    const usage = usages.get(key) ?? { ...counts, peakPerMinute: 0, minute: 0, inMinute: 0 };
    usages.set(key, usage);
    return usage;
  }

  function count(providerId: number, status: number, milliseconds: number) {
    const at = now();
    const minute = Math.floor(at / minuteMs);
    const usage = findUsage(at - (at % hourMs), providerId);
    if (usage.minute !== minute) Object.assign(usage, { minute, inMinute: 0 });
    usage.inMinute += 1;
    usage.peakPerMinute = Math.max(usage.peakPerMinute, usage.inMinute);
    usage.requests += 1;
    usage.milliseconds += milliseconds;
    if (status === 429) usage.refused += 1;
    if (status >= 500) usage.failed += 1;
  }

  return {
    count,
    /** Adds a hook for routes that are added later. */
    observe(app: FastifyInstance) {
      app.addHook('onResponse', (request, reply, done) => {
        const ctx = findContext(request);
        if (ctx !== undefined) count(getSchoolId(ctx), reply.statusCode, reply.elapsedTime);
        done();
      });
    },
    /** Adds the counts to the table; after a failure they remain for the next time. */
    async store({ pool }: Pick<Database, 'pool'>) {
      const rows = [...hours].flatMap(([hour, usages]) =>
        [...usages].map(([providerId, usage]) => ({ hour, providerId, usage })),
      );
      hours = new Map();
      if (rows.length === 0) return;
      await pool.query(storeUsage, [JSON.stringify(rows.map(toRecord))]).catch((error: unknown) => {
        for (const { hour, providerId, usage } of rows) {
          const sum = findUsage(hour, providerId);
          for (const name of Object.keys(counts) as (keyof typeof counts)[]) sum[name] += usage[name];
          sum.peakPerMinute = Math.max(sum.peakPerMinute, usage.peakPerMinute);
        }
        throw error;
      });
    },
  };
}

const toRecord = ({ hour, providerId, usage }: { hour: number; providerId: number; usage: Usage }) => ({
  ...{ ...usage, milliseconds: Math.round(usage.milliseconds) },
  ...{ provider_id: providerId, hour: new Date(hour).toISOString() },
});

const storeUsage = `
  insert into provider_usage as u (provider_id, hour, requests, refused, failed, milliseconds, peak_per_minute)
  select provider_id, hour, requests, refused, failed, milliseconds, "peakPerMinute"
  from json_to_recordset($1::json) as r (provider_id bigint, hour timestamptz, requests bigint, refused bigint,
    failed bigint, milliseconds bigint, "peakPerMinute" int)
  where provider_id = ${others} or exists (select from provider_state s where s.provider_id = r.provider_id)
  order by provider_id, hour
  on conflict (provider_id, hour) do update set requests = u.requests + excluded.requests,
    refused = u.refused + excluded.refused, failed = u.failed + excluded.failed,
    milliseconds = u.milliseconds + excluded.milliseconds,
    peak_per_minute = greatest(u.peak_per_minute, excluded.peak_per_minute)`;
