import { CANCELLED, Resolver, TIMEOUT } from 'node:dns/promises';
import { isNoRecord } from '../../../core/dns.ts';
import {
  error,
  found,
  ok,
  skipped,
  warning,
  type Result,
  type SystemCheck,
} from '../../../interfaces/plugin/checks.ts';
import { deliverySettings } from '../settings.ts';

/** Returns the texts of all TXT records of a name. */
type FindTexts = (name: string) => Promise<string[]>;
type Part = { name: string; check: () => Promise<Result> };

/** SPF, DMARC and DKIM of the sender's domain. `servers` replace the DNS servers of the system. */
export const createMailDomainCheck = ({
  servers,
  maxTimeMs = 5_000,
}: { servers?: string[]; maxTimeMs?: number } = {}): SystemCheck => ({
  check: 'mail domain',
  async run({ config }) {
    const { mailsGoTo, MAIL_FROM, dkimSelectors } = config.of(deliverySettings);
    if (mailsGoTo !== 'server')
      return [skipped('No mail server is set by SMTP_URL, so the domain of mails is not checked')];
    const domain = MAIL_FROM.slice(MAIL_FROM.lastIndexOf('@') + 1);
    if (!isPublicName(domain)) return [skipped(`${domain} of the sender's address is not a domain of the public DNS`)];
    const resolver = new Resolver({ timeout: 1_500, tries: 2 });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), maxTimeMs);
    try {
      return await checkDomain(createFindTexts(resolver), domain, dkimSelectors);
    } finally {
      clearTimeout(timer);
    }
  },
});

const isPublicName = (domain: string) => domain.includes('.') && !/^\[|^[\d.]+$/.test(domain);

const createFindTexts =
  (resolver: Resolver): FindTexts =>
  async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((chunks) => chunks.join(''));
    } catch (failure) {
      if (isNoRecord(failure)) return [];
      throw failure;
    }
  };

async function checkDomain(findTexts: FindTexts, domain: string, selectors: string[]): Promise<Result[]> {
  const parts: Part[] = [
    { name: 'SPF', check: async () => checkSpf(domain, await findTexts(domain)) },
    { name: 'DMARC', check: () => findDmarc(findTexts, domain) },
    ...selectors.map((selector) => {
      const name = `${selector}._domainkey.${domain}`;
      return { name: `DKIM selector ${selector}`, check: async () => checkDkim(name, await findTexts(name)) };
    }),
  ];
  const outcomes = await Promise.allSettled(parts.map(({ check }) => check()));
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [`${parts[index]!.name} (${toLookupCode(outcome.reason)})`] : [],
  );
  return found([
    ...outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    failures.length > 0 && skipped(`DNS does not answer for ${domain}: ${failures.join(', ')}`),
    selectors.length === 0 && skipped('DKIM is not checked: MAIL_DKIM_SELECTORS is not set'),
  ]);
}

/** Throws an error that is not of a lookup. */
function toLookupCode(failure: unknown) {
  const { code, syscall } = failure as NodeJS.ErrnoException;
  if (syscall !== 'queryTxt') throw failure;
  return code === undefined || code === CANCELLED ? TIMEOUT : code;
}

function checkSpf(domain: string, texts: string[]): Result {
  const records = texts.filter((text) => /^v=spf1( |$)/i.test(text));
  const [record] = records;
  if (record === undefined)
    return warning(`${domain} has no SPF record: set one that allows the mail server to send for it`);
  if (records.length > 1)
    return error(`${domain} has ${records.length} SPF records, so receivers accept none of them: keep one`);
  if (/ \+?all( |$)/i.test(record))
    return warning(`The SPF record of ${domain} allows every machine to send: end it with ~all or -all, not with +all`);
  return ok(`${domain} has an SPF record`);
}

const maxParentLabels = 7;

/** Looks at the domain, then at its parents of at least two labels: a record there holds for subdomains (RFC 7489). */
async function findDmarc(findTexts: FindTexts, domain: string): Promise<Result> {
  const labels = domain.split('.');
  const parents = labels.map((_label, index) => labels.slice(index)).slice(1);
  const names = parents.filter(({ length }) => length >= 2 && length <= maxParentLabels).map((name) => name.join('.'));
  for (const name of [domain, ...names]) {
    const records = (await findTexts(`_dmarc.${name}`)).filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text));
    if (records.length > 1)
      return warning(`${name} has ${records.length} DMARC records, so receivers ignore them: keep one`);
    if (records.length === 1) return checkDmarc(domain, name, records[0]!);
  }
  return warning(`${domain} has no DMARC record: large receivers may refuse its mails`);
}

function checkDmarc(domain: string, name: string, record: string): Result {
  const tags = readTags(record);
  const policy = ((name === domain ? undefined : tags.get('sp')) ?? tags.get('p') ?? '').toLowerCase();
  const source = name === domain ? '' : ` by the record of ${name}`;
  if (policy === 'none')
    return ok(`The DMARC policy of ${domain} is none${source}: receivers report forged mails but do not refuse them`);
  if (['quarantine', 'reject'].includes(policy)) return ok(`The DMARC policy of ${domain} is ${policy}${source}`);
  return warning(`The DMARC record of ${name} has no valid policy: set p to none, quarantine or reject`);
}

function checkDkim(name: string, texts: string[]): Result {
  const keys = texts.flatMap((text) => readTags(text).get('p') ?? []);
  const [key] = keys;
  if (key === undefined) return warning(`${name} has no DKIM key: receivers cannot check signatures of this selector`);
  if (keys.length > 1) return warning(`${name} has ${keys.length} DKIM keys: keep one`);
  return key === ''
    ? error(`The DKIM key ${name} is revoked: signatures of this selector are not valid`)
    : ok(`${name} has a DKIM key`);
}

/** Tags such as `v=DKIM1; p=…`, of DMARC and DKIM. */
const readTags = (record: string) =>
  new Map(
    record.split(';').map((tag): [string, string] => {
      const [name = '', ...value] = tag.split('=');
      return [name.trim(), value.join('=').trim()];
    }),
  );
