import type { Config } from '../config.ts';
import type { Database } from '../database/client.ts';
import { fileTransport, smtpTransport } from '../mail/transport.ts';
import { startMail } from '../mail/worker.ts';
import type { Log } from './log.ts';
import { toSettings } from './store.ts';

/** Sends mails by the configured SMTP server, or writes them to files without one. */
export function startMailWorker(config: Config, database: Database, log: Log) {
  const { SMTP_URL, MAIL_FROM, DATA_DIR } = config;
  const transport = SMTP_URL === undefined ? fileTransport(DATA_DIR) : smtpTransport(SMTP_URL);
  return startMail({ database, settings: toSettings(config), transport, from: MAIL_FROM, log });
}
