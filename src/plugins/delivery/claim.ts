import type { Logger } from 'pino';
import { toOneLine } from '../../core/text.ts';

type Report = { log: Pick<Logger, 'info' | 'warn'>; failing: string; recovered: string };

/** A claim of rows that finds none after a failure. Logs once after five in a row, and once when the database is back. */
export function createClaim<Values extends unknown[], Row>(
  claim: (...values: Values) => Promise<Row[]>,
  { log, failing, recovered }: Report,
) {
  let failures = 0;
  return async (...values: Values) => {
    try {
      const claimed = await claim(...values);
      if (failures >= 5) log.info(recovered);
      failures = 0;
      return claimed;
    } catch (error) {
      failures += 1;
      if (failures === 5) log.warn(`${failing}: ${toOneLine(error)}`);
      return [];
    }
  };
}
