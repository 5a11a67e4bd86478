import { sql } from 'drizzle-orm';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { SendMailOptions } from 'nodemailer';
import { makeFolder } from '../../../core/make-folder.ts';
import type { Job } from '../../../database/periodic.ts';
import { erasures } from '../../../database/tables/erasures.ts';
import type { MailFailure } from '../../../database/tables/outbox.ts';
import type { ServerContext } from '../../../interfaces/plugin/define-plugin.ts';
import { deliverySettings } from '../settings.ts';

export type Message = SendMailOptions & { messageId: string; subject: string };

export type Transport = {
  /** Its name in the log. */
  destination: string;
  /** State of a mail after `send`. */
  result: 'sent' | 'written';
  /** Strings to redact in logs and tables. */
  secrets: string[];
  /** Returns a text for the log. `name` is the same at each attempt. */
  send(message: Message, name: string): Promise<string>;
  /** Ends idle connections, with `force` those in use too. */
  close?(options?: { force: boolean }): void;
};

/** Shorter than the lease, after which another worker would send the mail too. */
const sendTimeoutMs = 60_000;

/** Creates a value on first use; repeats that after a failure. */
function lazy<T>(create: () => Promise<T>) {
  let cached: Promise<T> | undefined;
  return () => {
    cached ??= create().catch((error: unknown) => {
      cached = undefined;
      throw error;
    });
    return cached;
  };
}

/** Loaded with the first mail, to save memory. */
const mailer = lazy(() => import('nodemailer'));

/** Ends a connection before servers do, which wait for five minutes at least. */
const idleTimeout = 10_000;

/** Sends by SMTP, several mails over a connection; the URL's query may contain nodemailer options. */
export function smtpTransport(url: string, maxConnections: number): Transport {
  const { protocol, host } = new URL(url);
  const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 10_000 };
  // Once: a mail of which no byte was sent, over a connection that the server has closed meanwhile.
  const options = { pool: true as const, maxConnections, maxRequeues: 1, idleTimeout, ...timeouts };
  let opened: { close: NonNullable<Transport['close']> } | undefined;
  const transporter = lazy(async () => {
    const created = (await mailer()).createTransport({ url, ...options });
    opened = created;
    return created;
  });
  return {
    destination: `the server ${protocol}//${host}`,
    result: 'sent',
    secrets: toSecrets(url),
    async send(message) {
      await (await transporter()).sendMail({ ...message, signal: AbortSignal.timeout(sendTimeoutMs) });
      return 'is sent';
    },
    close: (options) => opened?.close(options),
  };
}

/** The password, plain and as SMTP encodes it. */
function toSecrets(url: string) {
  const { username, password } = new URL(url);
  if (password === '') return [];
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  return [password, pass, base64(pass), base64(`\0${user}\0${pass}`)];
}
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The folder of the mails that are written to files. */
const mailFolder = (dataDir: string) => resolve(dataDir, 'mail');

/** Writes .eml files, atomically: in a temporary folder, then renamed. */
export function fileTransport(dataDir: string): Transport {
  const [folder, temporaryFolder] = [mailFolder(dataDir), resolve(dataDir, '.mail')];
  const options = { streamTransport: true, buffer: true, newline: 'windows' } as const;
  const transporter = lazy(async () => (await mailer()).createTransport(options));
  // Created at start, so that it can be watched; without DATA_DIR the first mail creates both.
  mkdir(folder).catch(() => undefined);
  return {
    destination: `files in ${folder}, since SMTP_URL is not set`,
    result: 'written',
    secrets: [],
    async send(message, name) {
      const { message: content } = await (await transporter()).sendMail(message);
      for (const path of [folder, temporaryFolder]) makeFolder(path);
      const [temporary, file] = [join(temporaryFolder, name), join(folder, `${name}.eml`)];
      // Private: its links sign people in.
      await writeFile(temporary, content as Buffer, { mode: 0o600, flush: true });
      await rename(temporary, file);
      return `is in ${file}`;
    },
  };
}

const dayMs = 86_400_000;
const namePattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-\d+$/;

/** Deletes the files of mails: those of erased persons, and old ones, as the outbox does. */
export function mailFilesJobs({ config, database }: Pick<ServerContext, 'config' | 'database'>): Job[] {
  const { mailsGoTo, MAIL_RETENTION_DAYS: days } = config.of(deliverySettings);
  if (mailsGoTo !== 'files') return [];
  const folder = mailFolder(config.DATA_DIR);
  let since = '-infinity';
  return [
    {
      name: 'The deletion of mails of erased persons',
      intervalMs: 10_000,
      async run() {
        const started = new Date().toISOString();
        // A mail that was in progress while its person was erased is written later, by a minute at most.
        const erased = await database.unlocked
          .select({ mails: erasures.mails })
          .from(erasures)
          .where(sql`${erasures.erasedAt} > ${since}::timestamptz - interval '1 hour'`);
        const names = erased.flatMap(({ mails }) => mails);
        await deleteFiles(folder, names);
        since = started;
      },
    },
    {
      name: 'The deletion of old mails',
      intervalMs: 3_600_000,
      async run() {
        const before = Date.now() - days * dayMs;
        const names = (await readNames(folder)).filter((name) => (toTime(name) ?? before) < before);
        await deleteFiles(folder, names);
      },
    },
  ];
}

async function deleteFiles(folder: string, names: string[]) {
  for (const name of names) if (namePattern.test(name)) await rm(join(folder, `${name}.eml`), { force: true });
}

/** None before the first mail. */
const readNames = async (folder: string) =>
  (await readdir(folder).catch(() => []))
    .filter((file) => file.endsWith('.eml'))
    .map((file) => file.slice(0, -'.eml'.length));

/** When the mail was made. */
function toTime(name: string) {
  const [, year, month, day, hour, minute, second] = namePattern.exec(name) ?? [];
  return year === undefined ? undefined : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

type SmtpError = { command?: string; responseCode?: number; response?: string };
const toSmtpError = (error: unknown): SmtpError => (typeof error === 'object' && error !== null ? error : {});

/** RFC 3463: no such mailbox or domain, a mailbox that has moved, and one that is disabled. */
const codesOfAddress = /^5\.(1\.([12346]|10)|2\.1)$/;
/** Policy and relaying, and an address of the sender that is not valid. */
const codesOfConfiguration = /^5\.(7\.\d+|1\.[78])$/;
/** What servers without these codes say. */
const unknownAddress =
  /(no such|unknown|invalid|inactive|disabled) (local )?(user|recipient|mailbox|address|account)|(user|recipient|mailbox|address|account)( is)? (unknown|inactive|disabled|not found|does(n't| not) exist)|no mailbox here|unrouteable address/i;

/** Tells whether the server refuses the address or this mail for good; undefined for errors of the configuration. */
export function toRefused(error: unknown): 'address' | 'mail' | undefined {
  const { command, responseCode = 0, response = '' } = toSmtpError(error);
  if (command !== 'RCPT TO' || responseCode < 500) return undefined;
  const code = /^\d{3}[ -]#?(5\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1];
  const text = response.replaceAll(/\S+/g, (word) => (/.@./.test(word) ? '' : word));
  if (code === undefined) {
    if (/relay|sender|authenticat/i.test(text)) return undefined;
    return [550, 551, 553].includes(responseCode) && unknownAddress.test(text) ? 'address' : 'mail';
  }
  if (codesOfConfiguration.test(code)) return undefined;
  // Gmail sends 5.2.1 also to a sender of too many mails.
  return codesOfAddress.test(code) && !/ at a rate /.test(text) ? 'address' : 'mail';
}

/** The cause of a failed attempt; null if the mail server is down, refuses the password or is busy. */
export function toFailure(error: unknown): MailFailure {
  const { command = '', responseCode = 0, response = '' } = toSmtpError(error);
  if (toRefused(error) !== undefined) return 'recipient';
  if (command === 'DATA' && responseCode >= 500) return 'message';
  const isOfServer = /^(CONN|EHLO|HELO|STARTTLS|AUTH|$)/.test(command) || /^(421|4\d\d[ -]#?4\.[34]\.)/.test(response);
  return isOfServer ? null : 'other';
}
