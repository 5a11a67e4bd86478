import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { SendMailOptions } from 'nodemailer';

/** One mail as it leaves. */
export type Message = SendMailOptions & { messageId: string };

export type Transport = {
  /** Where mails go, for the log. */
  destination: string;
  /** Texts that no log and no table may show. */
  secrets: string[];
  /** Sends it, and tells what the log shall say of it. `name` is the mail's own, the same at each try. */
  send(message: Message, name: string): Promise<string>;
};

/** Longer than any mail takes; shorter than the lease, after which another worker would send it too. */
export const mailMs = 60_000;

/** Makes it when it is first needed, and tries again when that failed. */
function once<T>(make: () => Promise<T>) {
  let created: Promise<T> | undefined;
  return () => {
    created ??= make().catch((error: unknown) => {
      created = undefined;
      throw error;
    });
    return created;
  };
}

/** With the first mail: it takes memory that a server which sends none can do without. */
const mailer = once(() => import('nodemailer'));

/** A mail server, whose address may carry options of nodemailer's as its query. */
export function smtpTransport(url: string): Transport {
  const { protocol, host } = new URL(url);
  const options = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 10_000 };
  const transporter = once(async () => (await mailer()).createTransport({ url, ...options }));
  return {
    destination: `the server ${protocol}//${host}`,
    secrets: getSecrets(url),
    async send(message) {
      await (await transporter()).sendMail({ ...message, signal: AbortSignal.timeout(mailMs) });
      return 'is sent';
    },
  };
}

/** The password as it is and as it is said to a server. */
function getSecrets(url: string) {
  const { username, password } = new URL(url);
  if (password === '') return [];
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  return [password, pass, base64(pass), base64(`\0${user}\0${pass}`)];
}
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Files for a mail program to open. They appear whole: each is written in a folder beside and then renamed. */
export function fileTransport(dataDir: string): Transport {
  const [folder, workshop] = [resolve(dataDir, 'mail'), resolve(dataDir, '.mail')];
  const options = { streamTransport: true, buffer: true, newline: 'windows' } as const;
  const transporter = once(async () => (await mailer()).createTransport(options));
  // Where there is a DATA_DIR, the folder can be watched from the start; else the first mail makes both.
  mkdir(folder).catch(() => undefined);
  return {
    destination: `files in ${folder}, since SMTP_URL is not set`,
    secrets: [],
    async send(message, name) {
      const { message: content } = await (await transporter()).sendMail(message);
      for (const path of [folder, workshop]) await mkdir(path, { recursive: true });
      const [created, file] = [join(workshop, name), join(folder, `${name}.eml`)];
      // Links in it open doors.
      await writeFile(created, content as Buffer, { mode: 0o600, flush: true });
      await rename(created, file);
      return `is in ${file}`;
    },
  };
}

/** What a mail server answered, where it did. */
type Failure = Error & { code?: string; command?: string; responseCode?: number; response?: string };

/**
 * Whether a further try is of no use: the server knows no such recipient. Any other refusal may be a mistake in how this
 * service or the server is set up (a wrong password, a sender or relaying that is not allowed), which somebody mends.
 */
export function isFinal(error: unknown) {
  const { command, responseCode = 0, response = '' } = error as Failure;
  return command === 'RCPT TO' && responseCode >= 500 && !/^\d{3}[ -]5\.7\./.test(response);
}
