import { toSettings } from '../../core/config.ts';
import type { ServerContext, ServerPart } from '../../interfaces/plugin/define-plugin.ts';
import { startMail } from './mail/deliveries.ts';
import { noMailServer } from './mail/service.ts';
import { fileTransport, smtpTransport } from './mail/transport.ts';
import { deliverySettings } from './settings.ts';
import { startWebhooks } from './webhooks/deliveries.ts';

/** The workers of mails and webhooks. */
export const openDelivery = ({ config, database, log }: ServerContext): ServerPart => ({
  work() {
    const settings = toSettings(config);
    const mail = startMailWorker({ config, database, log });
    const webhooks =
      config.of(deliverySettings).WEBHOOKS === 'on' ? startWebhooks({ database, settings, log }) : undefined;
    return {
      async stop() {
        await Promise.all([mail?.stop(), webhooks?.stop()]);
      },
    };
  },
});

/**
 * Sends mails by the configured SMTP server, or writes them to files where that is allowed. Else they wait in the outbox
 * for a server that has one.
 */
function startMailWorker({ config, database, log }: Pick<ServerContext, 'config' | 'database' | 'log'>) {
  const { SMTP_URL, MAIL_FROM: from, MAIL_TO_FILES } = config.of(deliverySettings);
  if (SMTP_URL === undefined && !MAIL_TO_FILES) {
    log.warn(`Mails wait: ${noMailServer}. Set SMTP_URL, or MAIL_TO_FILES=true to write them to files`);
    return undefined;
  }
  const transport = SMTP_URL === undefined ? fileTransport(config.DATA_DIR) : smtpTransport(SMTP_URL);
  return startMail({ database, settings: toSettings(config), transport, from, log });
}
