import { getErrorCode, getRootCause } from '../../core/database-errors.ts';
import { unavailableReason } from '../describe-error.ts';

/** Reason for which lists are read from the primary, with a hint for the operator. */
export type StandbyFault = { text: string; hint: string };

export const notStandby: StandbyFault = {
  text: 'it is not a standby: it accepts writes',
  hint: 'set DATABASE_READ_URL to a standby of DATABASE_URL, or unset it',
};

const connectionHints: Partial<Record<string, string>> = {
  certificate: 'check sslmode, sslrootcert and the host of DATABASE_READ_URL',
  no_free_connection: 'check its load, and the network between it and this machine',
  statement_timeout: 'check its load, and the network between it and this machine',
  too_many_connections: 'raise max_connections of the standby, or lower POOL_SIZE or the number of servers',
  connection: 'check that it runs, and the host and port of DATABASE_READ_URL',
};

/** Reason for which no connection can be used. Other messages are left out, since they may hold rows. */
export function toConnectionFault(error: unknown): StandbyFault {
  const code = getErrorCode(error);
  const { message = '' } = getRootCause(error) as Partial<Error>;
  if (code.startsWith('28') || message.startsWith('SASL:'))
    return {
      text: `it refuses the connection: ${message}`,
      hint: 'check the user, password and sslmode of DATABASE_READ_URL, and pg_hba.conf of the standby',
    };
  if (code === '3D000')
    return { text: `it refuses the connection: ${message}`, hint: 'check the database of DATABASE_READ_URL' };
  const reason = unavailableReason({ cause: error });
  const hint = connectionHints[reason] ?? connectionHints['connection']!;
  if (reason === 'no_free_connection' || reason === 'statement_timeout')
    return { text: 'it does not answer in time', hint };
  return { text: `it cannot be reached${code && ` (${code})`}`, hint };
}

/** The fault of a standby that responds but fails on lists. */
export function toQueryFault(error: unknown): StandbyFault {
  if (getErrorCode(error) === '40001')
    return {
      text: 'it cancels lists in favor of replay',
      hint: 'set hot_standby_feedback = on on the standby, or raise its max_standby_streaming_delay',
    };
  return toConnectionFault(error);
}

type Replay = { isPaused: boolean; isReceiving: boolean };

export function toLagFault({ bytes, seconds }: { bytes: number; seconds: number }, replay: Replay): StandbyFault {
  return { text: `it is ${Math.round(seconds)} seconds behind (${formatBytes(bytes)})`, hint: toLagHint(replay) };
}

function toLagHint({ isPaused, isReceiving }: Replay) {
  if (isPaused) return 'its replay is paused: run `select pg_wal_replay_resume()` on it';
  if (!isReceiving) return 'it receives nothing from the primary: check its primary_conninfo, log and replication slot';
  return 'it replays slower than the primary writes: check its disk, and long queries on it';
}

const formatBytes = (bytes: number) =>
  bytes >= 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MB` : `${Math.ceil(bytes / 1_024)} kB`;
