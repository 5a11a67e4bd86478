import { Type } from '@sinclair/typebox';
import { defineSettings } from '../../core/config.ts';
import { must, parseUrl, ranges, toList } from '../../core/config/checks.ts';
import { boolean, days, choice, integer, secret, text } from '../../core/config/declare.ts';
import { isEmailAddress } from '../../core/text.ts';

const smtpUrl = must('be an smtp or smtps address', (value) => {
  const url = parseUrl(value);
  return url !== undefined && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
});
const email = must('be an e-mail address alone', isEmailAddress);

export const deliverySettings = defineSettings({
  variables: {
    SMTP_URL: Type.Optional(
      secret('The mail server, such as `smtps://user:password@host`; without it see `MAIL_TO_FILES`', {
        check: smtpUrl,
      }),
    ),
    MAIL_TO_FILES: Type.Optional(
      boolean(
        'Without `SMTP_URL`: mails are files under `DATA_DIR/mail`, else they wait for a server with `SMTP_URL`; default `true` with the embedded database, else `false`',
      ),
    ),
    MAIL_FROM: Type.Optional(
      text('The address mails come from; default `no-reply@` and the host of `PUBLIC_URL`', { check: email }),
    ),
    MAIL_RATE: integer('How many mails this process sends in a minute at most; `0` is no limit', 600, 0, 600_000),
    WEBHOOKS: choice(['on', 'off'], 'off: no changes are sent to webhooks, for a copy of the database', {
      default: 'on',
    }),
    WEBHOOK_ALLOW: Type.Optional(
      text('Comma-separated addresses or CIDR ranges that webhooks may call although they are not public', {
        check: ranges,
      }),
    ),
    MAIL_RETENTION_DAYS: days('How many days a mail remains in the outbox after it was sent, or has failed', 90, 1),
  },
  after: { SMTP_URL: 'BOOTSTRAP_PROVIDER', WEBHOOKS: 'REQUIRE_HTTPS', MAIL_RETENTION_DAYS: 'AUDIT_RETENTION_DAYS' },
  prefixes: ['SMTP_', 'WEBHOOK_'],
  toValues(variables, { PUBLIC_URL, isEmbedded }) {
    const { MAIL_FROM = `no-reply@${new URL(PUBLIC_URL).hostname}` } = variables;
    const MAIL_TO_FILES = variables.MAIL_TO_FILES ?? isEmbedded;
    const withoutServer = MAIL_TO_FILES ? 'files' : 'nowhere';
    const mailsGoTo = variables.SMTP_URL === undefined ? withoutServer : 'server';
    return {
      ...variables,
      MAIL_FROM,
      MAIL_TO_FILES,
      mailsGoTo,
      callPolicy: { allow: toList(variables.WEBHOOK_ALLOW) },
    };
  },
});

/** Mails wait without `SMTP_URL`, unless they may go to files, which are on one machine. */
export const noMailServer = 'no mail server is set';
export const mailsWait = `Mails wait: ${noMailServer}. Set SMTP_URL, or MAIL_TO_FILES=true to write them to files`;

/** The error of a mail without a recipient. */
export const noAddress = 'There is no e-mail address to send it to';
