import type { Case } from './cases.ts';
import { measureCost, medians } from './cost.ts';
import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';
import { runLoad, warmUp, assertStatus } from './load.ts';
import { withServer } from './server.ts';

export type CompressionFigures = {
  name: string;
  bytes: number;
  /** Compressed bytes, as shares of the bytes. */
  gzip: number;
  br: number;
  /** Rate with gzip relative to the rate without, from the cache and without one. */
  cachedShare: number;
  coldShare: number;
};

type Length = { rounds: number; seconds: number };

/** Measures the size of these lists in each encoding, and what gzip costs, in turns with uncompressed responses. */
export async function measureCompression(
  subject: Subject,
  { apiKey }: Dataset,
  cases: Case[],
  { rounds, seconds }: Length,
): Promise<CompressionFigures[]> {
  const figures: CompressionFigures[] = [];
  for (const { name, path } of cases) {
    const rates = async (environment: Record<string, string>) =>
      withServer(subject, environment, async ({ base, pid }) => {
        const load = (encoding: string) => ({
          ...{ url: base + path, method: 'GET' as const, connections: 8, seconds, status: '200' as const },
          headers: { 'x-api-key': apiKey, 'accept-encoding': encoding },
        });
        for (const encoding of ['identity', 'gzip']) await warmUp(load(encoding), { rounds });
        const runs: { share: number }[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const plain = await measureCost(subject, [pid], '200', load('identity'));
          const compressed = await runLoad(load('gzip'));
          assertStatus('200', compressed);
          runs.push({ share: compressed.perSecond / plain.perSecond });
        }
        return { share: medians(runs).share, ...(await sizes(base + path, apiKey)) };
      });
    const { share: cachedShare, ...bytes } = await rates({});
    const { share: coldShare } = await rates({ RESPONSE_CACHE_MB: '0' });
    figures.push({ name, ...bytes, cachedShare, coldShare });
  }
  return figures;
}

async function sizes(url: string, apiKey: string) {
  const load = async (encoding: string) => {
    const response = await fetch(url, { headers: { 'x-api-key': apiKey, 'accept-encoding': encoding } });
    await response.arrayBuffer();
    return Number(response.headers.get('content-length'));
  };
  const bytes = await load('identity');
  const shareOf = async (encoding: string) => (await load(encoding)) / bytes;
  return { bytes, gzip: await shareOf('gzip'), br: await shareOf('br') };
}
