import type { Config } from '../../../core/config.ts';
import type { Database } from '../../../database/client.ts';
import { fileTransport, smtpTransport } from './transport.ts';
import { noMailServer } from './service.ts';
import { startMail } from './worker.ts';
import type { Log } from '../../../core/log.ts';
import { toSettings } from '../../../database/store.ts';

/**
 * Sends mails by the configured SMTP server, or writes them to files where that is allowed. Else they wait in the outbox
 * for a server that has one.
 */
export function startMailWorker(config: Config, database: Database, log: Log) {
  const { SMTP_URL, MAIL_FROM, MAIL_TO_FILES, DATA_DIR } = config;
  if (SMTP_URL === undefined && !MAIL_TO_FILES) {
    log.warn(`Mails wait: ${noMailServer}. Set SMTP_URL, or MAIL_TO_FILES=true to write them to files`);
    return undefined;
  }
  const transport = SMTP_URL === undefined ? fileTransport(DATA_DIR) : smtpTransport(SMTP_URL);
  return startMail({ database, settings: toSettings(config), transport, from: MAIL_FROM, log });
}
