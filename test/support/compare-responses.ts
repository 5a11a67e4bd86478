/** Fields with ids, single or in a list: they may differ, but consistently. */
const isId = (name: string) =>
  /^(id|ref|id[A-Z].*|.*_ids?|idBooking|id_relation)$/.test(name) ||
  ['courses', 'customers', 'tags', 'labels', 'categories', 'instructors', 'order_lines', 'notification_role'].includes(
    name,
  );
const timestamps = new Set(['created_at', 'updated_at', 'related_items_updated_at']);

/**
 * Differences of two responses, apart from timestamps and ids (and titles built from them). Each id of the one must map
 * to the same id of the other wherever it occurs in that position.
 */
export function differences(expected: unknown, found: unknown): string[] {
  const there = new Map<string, unknown>();
  const back = new Map<string, unknown>();
  const faults: string[] = [];

  const sameId = (a: unknown, b: unknown, path: string) => {
    const place = path.replace(/\[\d+\]/g, '');
    const [to, from] = [`${place} ${String(a)}`, `${place} ${String(b)}`];
    if (typeof a !== typeof b || (there.get(to) ?? b) !== b || (back.get(from) ?? a) !== a) faults.push(`${path}: id`);
    there.set(to, b);
    back.set(from, a);
  };
  const compare = (a: unknown, b: unknown, path: string, name: string): void => {
    if (timestamps.has(name)) return;
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) faults.push(`${path}: ${a.length} and ${b.length} items`);
      a.forEach((one, n) => compare(one, b[n], `${path}[${n}]`, name));
    } else if (isFields(a) && isFields(b)) {
      const kind = typeof a['kind'] === 'string' ? `${path}(${a['kind']})` : path;
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) compare(a[key], b[key], `${kind}.${key}`, key);
    } else if (isId(name) && a !== null && a !== 0) sameId(a, b, path);
    else if (withoutId(a) !== withoutId(b) && !isSameAddress(a, b))
      faults.push(`${path}: ${JSON.stringify(a)} and ${JSON.stringify(b)}`);
  };
  compare(expected, found, '', '');
  return faults;
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const withoutId = (value: unknown) => (typeof value === 'string' ? value.replace(/ #\d+$/, ' #') : value);
/** A course's address ends with its id if another course has the plain one. */
const isSameAddress = (a: unknown, b: unknown) =>
  /^https:\/\/catalog\./.test(String(a)) && toPlain(a).some((address) => toPlain(b).includes(address));
/** The plain address is one of these: a title may end with a number, too. */
const toPlain = (address: unknown) => [String(address), String(address).replace(/-\d+$/, '')];
