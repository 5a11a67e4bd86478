import { toSettings } from '../../core/config.ts';
import type { ServerContext, ServerPart } from '../../interfaces/plugin/define-plugin.ts';
import { slots, startMail } from './mail/deliveries.ts';
import { fileTransport, mailFilesJobs, smtpTransport } from './mail/transport.ts';
import { deliverySettings, mailsWait } from './settings.ts';
import { startWebhooks, wakeupsJob } from './webhooks/deliveries.ts';

/** The workers of mails and webhooks. */
export const openDelivery = ({ config, database, log }: ServerContext): ServerPart => ({
  periodic: [...mailFilesJobs({ config, database }), wakeupsJob(database)],
  work() {
    const settings = toSettings(config);
    const values = config.of(deliverySettings);
    const { SMTP_URL, MAIL_FROM: from, MAIL_RATE: rate, WEBHOOKS, mailsGoTo, callPolicy: policy } = values;
    const workers: { stop(): Promise<void> }[] = [];
    if (mailsGoTo === 'nowhere') {
      log.warn(mailsWait);
    } else {
      const transport = SMTP_URL === undefined ? fileTransport(config.DATA_DIR) : smtpTransport(SMTP_URL, slots);
      workers.push(startMail({ database, settings, transport, from, rate, log }));
    }
    if (WEBHOOKS === 'on') workers.push(startWebhooks({ database, settings, policy, log }));
    return {
      async stop() {
        await Promise.all(workers.map((worker) => worker.stop()));
      },
    };
  },
});
