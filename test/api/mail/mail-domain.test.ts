import { expect, test } from 'vitest';
import { createMailDomainCheck } from '../../../src/plugins/delivery/mail/domain-check.ts';
import { checkSystem } from '../../../src/plugins/operations/doctor/system.ts';
import { readConfig } from '../../support/config.ts';
import { startDnsServer } from '../../support/dns.ts';

const domain = 'school.example';
const key = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A=='.padStart(400, 'A');
/** The key is longer than a string of a TXT record. */
const dkim = ['v=DKIM1; k=rsa; p=', key.slice(0, 250), key.slice(250)];
const right = {
  [domain]: ['site-verification=1', 'v=spf1 include:mail.example ~all'],
  [`_dmarc.${domain}`]: ['v=DMARC1; p=quarantine; rua=mailto:dmarc@school.example'],
  [`s1._domainkey.${domain}`]: [dkim],
};
const env = { SMTP_URL: 'smtp://mail.example', MAIL_FROM: `courses@${domain}`, MAIL_DKIM_SELECTORS: 's1' };
type Env = Record<string, string>;

async function findingsOf(records: Parameters<typeof startDnsServer>[0], variables: Env = {}, maxTimeMs?: number) {
  const { address, queried } = await startDnsServer({ ...right, ...records });
  const check = createMailDomainCheck({ servers: [address], ...(maxTimeMs !== undefined && { maxTimeMs }) });
  const pool = { query: () => expect.unreachable('The check queries no database') };
  const findings = await checkSystem({ pool, config: readConfig({ ...env, ...variables }) }, [check]);
  expect(new Set(findings.map((finding) => finding.check))).toEqual(new Set(['mail domain']));
  return { lines: findings.map(({ level, message }) => `${level}: ${message}`), queried };
}

const linesOf = async (...args: Parameters<typeof findingsOf>) => (await findingsOf(...args)).lines;

const spfIsRight = 'ok: school.example has an SPF record';
const dmarcIsRight = 'ok: The DMARC policy of school.example is quarantine';
const dkimIsRight = 'ok: s1._domainkey.school.example has a DKIM key';

test('a domain with SPF, DMARC and DKIM is right, by one query each', async () => {
  const { lines, queried } = await findingsOf({});
  expect(lines).toEqual([spfIsRight, dmarcIsRight, dkimIsRight]);
  expect(queried.toSorted()).toEqual(Object.keys(right).toSorted());
});

test.each([
  ['no such name', undefined, 'warning: school.example has no SPF record'],
  ['a name without TXT records', [], 'warning: school.example has no SPF record'],
  ['other records', ['v=spf10 -all', 'spf'], 'warning: school.example has no SPF record'],
  ['two records', ['v=spf1 -all', 'V=SPF1 mx -all'], 'error: school.example has 2 SPF records'],
  ['+all', ['v=spf1 mx +all'], 'warning: The SPF record of school.example allows every machine to send'],
  ['all', ['v=spf1 ALL exp=x.example'], 'warning: The SPF record of school.example allows every machine to send'],
  ['-all', ['v=spf1 include:all.example -all'], spfIsRight],
  ['a record in two strings', [['v=spf', '1 mx -all']], spfIsRight],
])('SPF: %s', async (_title, texts, expected) => {
  const [spf, ...rest] = await linesOf({ [domain]: texts as string[] });
  expect(spf).toMatch(new RegExp(`^${expected.replaceAll('+', '\\+')}`));
  expect(rest).toEqual([dmarcIsRight, dkimIsRight]);
});

test.each([
  ['no record', undefined, 'warning: school.example has no DMARC record'],
  ['another text', ['v=DMARC10; p=none'], 'warning: school.example has no DMARC record'],
  ['two records', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'], 'warning: school.example has 2 DMARC records'],
  ['no policy', ['v=DMARC1; sp=none'], 'warning: The DMARC record of school.example has no valid policy'],
  ['a wrong policy', ['v=DMARC1; p=off'], 'warning: The DMARC record of school.example has no valid policy'],
  ['none', ['v=DMARC1;p=none;'], 'ok: The DMARC policy of school.example is none: receivers report forged mails'],
  ['reject', ['v = DMARC1 ; sp=none ; p = Reject'], 'ok: The DMARC policy of school.example is reject$'],
])('DMARC: %s', async (_title, texts, expected) => {
  const [spf, dmarc, ...rest] = await linesOf({ [`_dmarc.${domain}`]: texts as string[] });
  expect(dmarc).toMatch(new RegExp(`^${expected}`));
  expect([spf, ...rest]).toEqual([spfIsRight, dkimIsRight]);
});

test('the DMARC record of a parent domain holds for a subdomain, by sp before p', async () => {
  const subdomain = { MAIL_FROM: 'courses@a.b.school.example', MAIL_DKIM_SELECTORS: '' };
  const { lines, queried } = await findingsOf({}, subdomain);
  expect(lines[1]).toBe('ok: The DMARC policy of a.b.school.example is quarantine by the record of school.example');
  expect(queried.filter((name) => name.startsWith('_dmarc.'))).toEqual([
    ...['_dmarc.a.b.school.example', '_dmarc.b.school.example', '_dmarc.school.example'],
  ]);
  const withSp = { [`_dmarc.${domain}`]: ['v=DMARC1; p=none; sp=reject'] };
  expect((await linesOf(withSp, subdomain))[1]).toContain('is reject by the record of school.example');
  const without = await findingsOf({ [`_dmarc.${domain}`]: [] }, subdomain);
  expect(without.lines[1]).toMatch(/^warning: a\.b\.school\.example has no DMARC record/);
  // Never that of a top-level domain.
  expect(without.queried).not.toContain('_dmarc.example');
});

test('a domain of many labels causes few queries', async () => {
  const { lines, queried } = await findingsOf({}, { MAIL_FROM: `courses@${'a.'.repeat(30)}${domain}` });
  expect(lines[1]).toMatch(/is quarantine by the record of school\.example$/);
  expect(queried.filter((name) => name.startsWith('_dmarc.'))).toHaveLength(7);
});

test.each([
  ['no record', undefined, 'warning: s1._domainkey.school.example has no DKIM key'],
  ['a record without a key', ['v=DKIM1; k=rsa'], 'warning: s1._domainkey.school.example has no DKIM key'],
  ['a revoked key', ['v=DKIM1; p='], 'error: The DKIM key s1._domainkey.school.example is revoked'],
  ['two keys', ['p=AAAA', 'p=BBBB'], 'warning: s1._domainkey.school.example has 2 DKIM keys'],
])('DKIM: %s', async (_title, texts, expected) => {
  const lines = await linesOf({ [`s1._domainkey.${domain}`]: texts as string[] });
  expect(lines[2]).toMatch(new RegExp(`^${expected}`));
  expect(lines).toEqual([spfIsRight, dmarcIsRight, lines[2]]);
});

test('each selector is checked, and without any the check says that DKIM is not', async () => {
  const two = { MAIL_DKIM_SELECTORS: 's1, s2.mail' };
  expect((await linesOf({ [`s2.mail._domainkey.${domain}`]: ['p='] }, two)).slice(2)).toEqual([
    dkimIsRight,
    expect.stringMatching(/^error: The DKIM key s2\.mail\._domainkey\.school\.example is revoked/),
  ]);
  const none = await linesOf({}, { MAIL_DKIM_SELECTORS: '' });
  expect(none.slice(2)).toEqual(['skipped: DKIM is not checked: MAIL_DKIM_SELECTORS is not set']);
});

test('a failed lookup is skipped with its code, and the others are judged', async () => {
  expect(await linesOf({ [domain]: 'SERVFAIL', [`s1._domainkey.${domain}`]: 'REFUSED' })).toEqual([
    dmarcIsRight,
    'skipped: DNS does not answer for school.example: SPF (ESERVFAIL), DKIM selector s1 (EREFUSED)',
  ]);
});

test('a server that does not respond is given up after the time of the whole check', async () => {
  const silent = { [domain]: 'no response', [`_dmarc.${domain}`]: 'no response' } as const;
  const { lines, queried } = await findingsOf(silent, {}, 500);
  expect(lines).toEqual([
    ...[dkimIsRight, 'skipped: DNS does not answer for school.example: SPF (ETIMEOUT), DMARC (ETIMEOUT)'],
  ]);
  // Without that time each is queried again.
  expect(queried.toSorted()).toEqual(Object.keys(right).toSorted());
});

test.each([
  [{ SMTP_URL: '', MAIL_TO_FILES: 'false' }, /^skipped: No mail server is set by SMTP_URL/],
  [{ SMTP_URL: '', MAIL_TO_FILES: 'true' }, /^skipped: No mail server is set by SMTP_URL/],
  [{ MAIL_FROM: '' }, /^skipped: localhost of the sender's address is not a domain of the public DNS/],
  [{ MAIL_FROM: 'courses@[192.0.2.1]' }, /^skipped: \[192\.0\.2\.1\] of the sender's address/],
])('nothing is looked up with %j', async (variables, expected) => {
  const { lines, queried } = await findingsOf({}, variables);
  expect(lines).toEqual([expect.stringMatching(expected)]);
  expect(queried).toEqual([]);
});

test('selectors are bounded in number, length and characters', () => {
  const read = (MAIL_DKIM_SELECTORS: string) => () => readConfig({ ...env, MAIL_DKIM_SELECTORS });
  const ten = Array.from({ length: 10 }, (_one, index) => `s${index}`);
  for (const list of [ten.join(), 'a'.repeat(63), 'k1._x-y.z', ' , ']) expect(read(list)).not.toThrow();
  for (const list of [[...ten, 'one'].join(), 'a'.repeat(64), 'a..b', '.a', 'a b', 'å', 'a;b'])
    expect(read(list), list).toThrow('MAIL_DKIM_SELECTORS must list at most 10 DKIM selectors');
});
