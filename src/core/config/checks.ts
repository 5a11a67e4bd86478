import { BlockList, isIP } from 'node:net';
import { mayBeApiKey } from '../api-key.ts';
import { isTitle, normalizeTitle } from '../text.ts';
import type { Check } from './declare.ts';

export const must =
  (rule: string, isRight: (value: string) => boolean): Check =>
  (value) =>
    isRight(value) ? undefined : rule;

export const httpUrl = must(
  'be an http or https address without ? and #',
  (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !/[?#]/.test(url),
);

/** Accepts a URL without a host: the driver then connects to a Unix socket. */
export const postgresUrl: Check = (value) => {
  if (!/^postgres(ql)?:\/\//.test(value)) return 'begin with postgres://';
  const isValid = parseUrl(value.replace('@/', '@localhost/')) !== undefined;
  return isValid ? undefined : 'be a valid URL: percent-encode special characters in user and password';
};

/** The value of DATABASE_URL for the embedded database. */
export const embedded = 'embedded';
export const databaseUrl: Check = (value) => (value === embedded ? undefined : postgresUrl(value));

export const title = must('have 1 to 255 characters', (value) => isTitle(normalizeTitle(value)));
export const ranges = must('list addresses or CIDR ranges', (ranges) => toList(ranges).every(isRange));
export const timezone = must('be an IANA name such as Europe/Oslo', isTimezone);

export const firstApiKey: Check = (key) => {
  if (!/^[\x21-\x7e]{32,255}$/.test(key)) return 'have 32 to 255 characters, ASCII without blanks';
  return key.startsWith('cbs_') && !mayBeApiKey(key)
    ? 'be correct: it looks like a generated key but is mistyped'
    : undefined;
};

export const toList = (list = '') =>
  list
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);

/** Undefined also if a part is not percent-encoded correctly. */
export function parseUrl(value: string) {
  try {
    const url = new URL(value);
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
    return url;
  } catch {
    return undefined;
  }
}

function isRange(range: string) {
  const [address = '', bits] = range.split('/');
  const family = isIP(address);
  if (family === 0) return false;
  try {
    if (bits !== undefined) new BlockList().addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
    return true;
  } catch {
    return false;
  }
}

function isTimezone(name: string) {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name })) && /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}
