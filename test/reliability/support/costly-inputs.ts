import { requestWithLength } from './raw.ts';

export type CostlyInput = { name: string; allowed: number[]; parts: Iterable<string | Buffer> };

type Fields = Record<string, string>;

/** Bodies of up to a megabyte whose parsing or refusal could take long. */
export function costlyInputs({ apiKey, dateId }: { apiKey: string; dateId: number }): CostlyInput[] {
  const key = { 'x-api-key': apiKey };
  const json = { ...key, 'content-type': 'application/json' };
  const form = { ...key, 'content-type': 'application/x-www-form-urlencoded' };
  const multipart = { ...key, 'content-type': 'multipart/form-data; boundary=edge' };
  const send = (headers: Fields, method: string, path: string, body: string) =>
    requestWithLength(method, path, headers, body);
  const participant = (n: number) => ({ firstname: '', lastname: `${n}`, email: 'no address', date_of_birth: 'never' });
  const booking = { coursedate_id: dateId, payment_method: 'invoice', participants: repeat(1_000, participant) };
  const references = { participants: repeat(1_000, (n) => ({ id: `x${n}` })) };
  const course = '/v2/courses';
  const commas = ','.repeat(1_000_000);
  const ids = '1,'.repeat(500_000);
  const webhook = '/v2/webhooks';
  const field = (n: number) => `--edge\r\ncontent-disposition: form-data; name="a${n}"\r\n\r\n1\r\n`;
  const dateBody = { start_at: '2035-06-10', end_at: '2035-06-11', gatherings: repeat(200, () => ({ date: 'x' })) };
  const all: [string, number[], ReturnType<typeof send>][] = [
    ['a million commas as JSON', [400], send(json, 'POST', webhook, JSON.stringify({ types: commas }))],
    ['500,000 ids as JSON', [400], send(json, 'POST', webhook, JSON.stringify({ types: ids }))],
    ['a million commas as a form', [400], send(form, 'POST', webhook, `types=${commas}`)],
    [
      'a million commas as multipart',
      [400],
      send(multipart, 'POST', webhook, `${multipartField('types', commas)}--edge--\r\n`),
    ],
    [
      'a thousand texts of a thousand commas',
      [400],
      send(json, 'POST', webhook, JSON.stringify({ types: repeat(1_000, () => ','.repeat(1_000)) })),
    ],
    [
      'a list of 490,000 commas in a JSON text',
      [400],
      send(form, 'POST', course, `title=x&tags=[${commas.slice(0, 490_000)}]`),
    ],
    ['a form of 4,900 fields', [400], send(form, 'POST', course, repeat(4_900, (n) => `a${n}=1`).join('&'))],
    [
      'a form of 4,900 nested fields',
      [400],
      send(form, 'POST', course, repeat(4_900, (n) => `a[b][c][d][${n}]=1`).join('&')),
    ],
    [
      'a form of 4,900 items',
      [400],
      send(form, 'POST', '/v2/booking', repeat(4_900, (n) => `participants[${n % 1_000}][a${n}]=1`).join('&')),
    ],
    [
      'multipart of 4,900 fields',
      [400],
      send(multipart, 'POST', course, `${repeat(4_900, field).join('')}--edge--\r\n`),
    ],
    ['1,000 bad participants', [400], send(json, 'POST', '/v2/booking', JSON.stringify(booking))],
    [
      '1,000 bad participants as JSON in a form',
      [400],
      send(
        form,
        'POST',
        '/v2/booking',
        `coursedate_id=${dateId}&participants=${encodeURIComponent(JSON.stringify(booking.participants))}`,
      ),
    ],
    ['1,000 bad references', [400, 404], send(json, 'PUT', '/v2/booking/1/deregister', JSON.stringify(references))],
    ['200 bad gatherings', [400], send(json, 'POST', '/v2/courses/1/coursedates', JSON.stringify(dateBody))],
  ];
  return all.map(([name, allowed, parts]) => ({ name, allowed, parts }));
}

const repeat = <T>(count: number, item: (n: number) => T) => Array.from({ length: count }, (_, n) => item(n));
const multipartField = (name: string, value: string) =>
  `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
