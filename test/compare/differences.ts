type Fields = Record<string, unknown>;
export type Answer = { status: number; headers: Fields; text: string };
export type Difference = { kind: string; path: string; before: string; now: string };
export type Found = Difference & { request: string };

/** Patterns of volatile values, by kind, in a text in which a member or header precedes its value. */
const volatile = {
  time: /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?/,
  httpTime: /[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/,
  calendarTime: /(?<=DTSTAMP:|LAST-MODIFIED:|CREATED:)\d{8}T\d{6}/,
  uuid: /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/,
  key: /\b(?:cbs|whsec|test)_[\w+/-]{20,}=*/,
  token: /(?<=\/my\/[\w-]+\/|\/booked\/|session=|name="key" value=")[\w-]{20,}/,
  cursor: /(?<="cursor":"|since=)[\w-]{20,}/,
  etag: /(?<="etag":"(?:W\/)?\\")[\w-]+/,
  duration: /(?<="duration_ms":)\d+/,
};
const allVolatile = new RegExp(
  Object.entries(volatile)
    .map(([name, { source }]) => `(?<${name}>${source})`)
    .join('|'),
  'g',
);
/** Times of two answers may differ by this. */
const toleranceMs = 60_000;

const toMs = (text: string) => Date.parse(text.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d)$/, '$1-$2-$3:$4:$5'));

function mask(text: string) {
  const times: number[] = [];
  const masked = text.replaceAll(allVolatile, (found, ...rest) => {
    const [name] = Object.entries(rest.at(-1) as Record<string, string | undefined>).find(([, value]) => value)!;
    if (/time/i.test(name)) times.push(toMs(found));
    return `<${name}>`;
  });
  return { masked, times };
}

/** True if the texts differ only where two runs of the same build do, and in times by less than a minute. */
function areAlike(before: string, now: string) {
  if (before === now) return true;
  const [a, b] = [mask(before), mask(now)];
  return a.masked === b.masked && a.times.every((time, n) => !(Math.abs(time - b.times[n]!) > toleranceMs));
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const show = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));

/** The members that differ, at any depth; `name` is that of the nearest member. */
function compareMembers(before: unknown, now: unknown, path: string, name = ''): Difference[] {
  const differ = (kind: string): Difference[] => [{ kind, path, before: show(before), now: show(now) }];
  if (Array.isArray(before) && Array.isArray(now)) {
    const items = before.slice(0, now.length).flatMap((one, n) => compareMembers(one, now[n], `${path}[]`, name));
    return [...(before.length === now.length ? [] : differ('number of items')), ...items];
  }
  if (isFields(before) && isFields(now)) {
    const names = Object.keys(now);
    const both = Object.keys(before).filter((key) => Object.hasOwn(now, key));
    const isSameOrder = show(names.filter((key) => Object.hasOwn(before, key))) === show(both);
    const order = [{ kind: 'order', path, before: show(Object.keys(before)), now: show(names) }];
    const members = [...new Set([...Object.keys(before), ...names])].flatMap((key) =>
      compareMembers(before[key], now[key], `${path}.${key}`, key),
    );
    return [...(isSameOrder ? [] : order), ...members];
  }
  if (before === undefined || now === undefined)
    return before === now ? [] : differ(before === undefined ? 'added' : 'removed');
  return areAlike(show({ [name]: before }), show({ [name]: now })) ? [] : differ('value');
}

/** Leaves out the length of a body that is compared itself. */
const toHeaders = ({ headers, text }: Answer): Fields =>
  Number(headers['content-length']) === Buffer.byteLength(text)
    ? { ...headers, 'content-length': 'of the body' }
    : headers;

export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

function compareBodies(before: string, now: string): Difference[] {
  const members = compareMembers(parse(before), parse(now), 'body');
  if (members.length > 0 || areAlike(before, now)) return members;
  // Pages have no line ends.
  const [lines, others] = [before.split(/\n|(?=<)/), now.split(/\n|(?=<)/)];
  const n = lines.findIndex((line, index) => !areAlike(line, others[index] ?? ''));
  return [{ kind: 'text', path: 'body', before: lines[n] ?? '', now: others[n < 0 ? lines.length : n] ?? '' }];
}

/** Differences between two responses to a request, without volatile values. */
export function compareAnswers(before: Answer, now: Answer): Difference[] {
  if (before.status !== now.status) {
    const [a, b] = [before, now].map(({ status, text }) => `${status} ${text}`) as [string, string];
    return [{ kind: 'status', path: 'status', before: a, now: b }];
  }
  return [...compareMembers(toHeaders(before), toHeaders(now), 'headers'), ...compareBodies(before.text, now.text)];
}

const samplesOfGroup = 3;
const maxLength = 160;
const cut = (text: string) => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

/** The differences in groups of the same kind and path, the largest first, each with requests of different values. */
export function describeDifferences(found: Found[]): string[] {
  const groups: Record<string, Found[]> = {};
  for (const one of found) (groups[`${one.path}: ${one.kind}`] ??= []).push(one);
  return Object.entries(groups)
    .sort(([, a], [, b]) => b.length - a.length)
    .flatMap(([name, all]) => {
      const different = [...new Map(all.map((one) => [`${one.before} ${one.now}`, one])).values()];
      const samples = different.slice(0, samplesOfGroup).flatMap(({ request, before, now }) => {
        // Around the first character that differs.
        let at = 0;
        while (at < before.length && before[at] === now[at]) at += 1;
        const from = Math.max(0, at - maxLength / 2);
        return [`  ${cut(request)}`, `    before: ${cut(before.slice(from))}`, `    now:    ${cut(now.slice(from))}`];
      });
      return [`${name}, ${all.length} times`, ...samples];
    });
}
