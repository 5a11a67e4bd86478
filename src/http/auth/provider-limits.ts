import type { Database } from '../../database/client.ts';
import type { FindRate, Rate } from './rate-limit.ts';

type Row = { provider_id: number; per_second: number; burst: number };

/** The limits of single providers, which replace `defaultRate`; read again by `load`. */
export function createProviderLimits(defaultRate: Rate | undefined) {
  let limits = new Map<number, Rate>();
  const findRate: FindRate = (fairnessKey) => limits.get(Math.abs(fairnessKey)) ?? defaultRate;
  return {
    findRate,
    async load({ pool }: Pick<Database, 'pool'>) {
      const { rows } = await pool.query<Row>('select provider_id, per_second, burst from provider_limits');
      limits = new Map(
        rows.map(({ provider_id, per_second, burst }) => [provider_id, { perSecond: per_second, burst }]),
      );
    },
  };
}

export type ProviderLimits = ReturnType<typeof createProviderLimits>;
