import { contentTypeHeader, encodeForm } from '../support/dialects.ts';
import { signIn, webhookUrl, type Own, type Request, type Step } from './servers.ts';

/** Method and path, the body, and the name of the answer. */
type Line = [route: string, body?: object, name?: string];
const toRequest = ([route, body, name]: Line): Request => {
  const [method, path] = route.split(' ') as [string, string];
  const sent = body && { headers: contentTypeHeader('json'), body: JSON.stringify(body) };
  return { method, path, ...sent, ...(name !== undefined && { name }) };
};

const person = (n: number) => ({ firstname: 'Siv', lastname: `Strand ${n}`, email: `siv${n}@people.example` });
const days = { start_at: '2031-06-10', end_at: '2031-06-11', start_time_at: '09:00', end_time_at: '15:00' };
const offers = { capacity_max: 2, capacity_wait: 3, waiting_mode: 'offer', offer_hours: 24 };
const dates = '/v2/courses/{course.course_id}/coursedates';
const book = (name: string, date: string, persons: number[], more: object = {}): Line[] => {
  const body = {
    coursedate_id: `{${date}.coursedate_id}`,
    payment_method: 'invoice',
    participants: persons.map(person),
  };
  return [['POST /v2/booking', { ...body, ...more }, name], ...show(name)];
};
const shown = ['lines.database_relations.participants', 'campaign', 'credit', 'balance'].map(
  (one) => `include[]=${one}`,
);
const show = (...names: string[]): Line[] =>
  names.flatMap((name): Line[] => [
    [`GET /v2/orders/{${name}.summary.order_id}?${shown.join('&')}`, undefined, `order_of_${name}`],
    [`GET /v2/booking/{${name}.summary.booking_id}?include[]=balance`],
  ]);
const [paid, move] = ['/v2/orders/{paid.summary.order_id}', '/v2/participants/{paid.summary.participants.0.id}/move'];
const cancel = (name: string): Line => [
  `POST ${dates}/{${name}.coursedate_id}/cancel`,
  { message: 'Ill', credit: true },
];

/** Requests from booking to credit: seats, offers, payments, moves, swaps, cancellations, merges and erasures. */
const bookingLines: Line[] = [
  ['GET /v2/changes', undefined, 'start'],
  ['PUT /v2/booking-settings', { self_cancellation: true, mails: { notice_booked: true } }],
  ['POST /v2/webhooks', { url: webhookUrl, is_active: false }],
  ['POST /v2/courses', { title: 'Rowing', price_value: 1_000, tags: [{ title: 'Sea' }] }, 'course'],
  ['POST /v2/courses', { title: 'Sailing', price_value: 1_500 }, 'sailing'],
  [`POST ${dates}`, { ...days, ...offers }, 'small'],
  [`POST ${dates}`, { ...days, capacity_max: 50 }, 'large'],
  ['POST /v2/courses/{sailing.course_id}/coursedates', days, 'other'],
  ['POST /v2/campaigns', { title: 'Sea', campaign_code: 'SEA', discount_type: 'Percent', discount_value: 10 }],
  ['POST /v2/vouchers', { code: 'SMALL', amount: 300 }],
  ...book('full', 'small', [1, 2]),
  ...book('waiting', 'small', [3, 4], { config: { waiting_list_when_full: true } }),
  ...book('paid', 'large', [5, 6], { campaign_code: 'SEA', voucher_code: 'SMALL', customer_id: 1 }),
  ...book('again', 'large', [5]),
  ...book('group', 'large', [], {
    places: 2,
    participants: undefined,
    booker_name: 'Ola',
    booker_email: 'ola@x.example',
  }),
  // One who leaves makes an offer to one who waits and accepts it; the next one goes back to the waiting list.
  ['PUT /v2/booking/{full.summary.booking_id}/deregister', { participants: ['{full.summary.participants.0.id}'] }],
  ['GET /v2/participants/{waiting.summary.participants.0.id}?include[]=hold'],
  ['PUT /v2/participants/{waiting.summary.participants.0.id}', { idStatus: 1 }],
  ['PUT /v2/participants/{full.summary.participants.1.id}', { idStatus: 8 }],
  ['PUT /v2/participants/{waiting.summary.participants.1.id}', { idStatus: 3 }],
  ...show('full', 'waiting'),
  [`POST ${paid}/payments`, { amount: 500, method: 'card', reference: 'A-1' }, 'payment'],
  [`POST ${paid}/payments`, { amount: 500, method: 'card', reference: 'a-1' }],
  [`POST ${paid}/payments`, { amount: 90_000 }],
  [`POST ${paid}/payments`, { amount: 5_000, overpaid: true }],
  [`POST ${paid}/credit`, { fee: 100, dry_run: true }],
  [`POST ${paid}/credit`, { lines: [{ line_id: '{order_of_paid.lines.0.id}', amount: 200 }], reason: 'Ill' }, 'credit'],
  ['POST /v2/orders/{credit.id}/payments', { amount: -50 }],
  [`POST ${paid}/payments`, { amount: -50 }],
  [`DELETE ${paid}/payments/{payment.id}`],
  [`POST ${paid}/export`],
  [`PUT ${paid}`, { your_reference: 'Late' }],
  ...show('paid'),
  [`POST ${move}`, { coursedate_id: '{other.coursedate_id}', dry_run: true }],
  [`POST ${move}`, { coursedate_id: '{other.coursedate_id}', price: 'difference', dry_run: true }],
  [`POST ${move}`, { coursedate_id: '{other.coursedate_id}', price: 'difference' }],
  ['PUT /v2/participants/{again.summary.participants.0.id}', { user: person(8) }],
  ['PUT /v2/participants/{again.summary.participants.0.id}', { user: { id: 9 } }],
  ['PUT /v2/participants/{group.summary.participants.0.id}', { user: person(9) }],
  ['PUT /v2/participants/{waiting.summary.participants.0.id}', { completed: true, custom_properties: { badge: 'A7' } }],
  ...[cancel('small'), cancel('large')],
  ...show('full', 'waiting', 'paid', 'again', 'group'),
  ...[true, false].flatMap((dry_run): Line[] => [
    ['POST /v2/course-users/12/merge', { into: 13, dry_run }],
    ['POST /v2/customers/3/merge', { into: 4, dry_run }],
    ['POST /v2/course-users/14/erase', { dry_run }],
  ]),
  ['GET /v2/changes?since={start.cursor}&limit=1000'],
];
export const bookingStory: Step[] = bookingLines.map(toRequest);

const withCookie = { key: null, headers: { cookie: '{session.cookie}' } };
const sendForm = (path: string, fields: object, more: Partial<Request> = withCookie): Request => {
  const headers = { ...more.headers, ...contentTypeHeader('form') };
  return { ...more, method: 'POST', path, headers, body: encodeForm(Object.entries(fields)) };
};
const login = { username: '{user.username}', password: signIn.password, create_login_url: true };
const openLink = ({ login: { login_url: url } }: Own): Request => ({ path: new URL(String(url)).pathname, key: null });

/** Sign-on by a link, and the pages of a course user. */
export const personalStory: Step[] = [
  toRequest([`GET /v2/course-users/${signIn.id}`, undefined, 'user']),
  toRequest(['POST /v2/check-user-credentials', login, 'login']),
  ...[openLink, openLink],
  ...['', '/details', '/password', '/sessions', '/unknown'].map((page) => ({ ...withCookie, path: `/my${page}` })),
  ...[sendForm('/my/details', { phone: '+47 1', firstname: '' }), sendForm('/my/log-out', {})],
  { ...withCookie, path: '/my' },
];

const queries = ['', '?q=kurs', '?q=%00', '?category=1&place=Bergen', '?month=2030-06', '?lang=no&tag=1', '?limit=x'];
const pages = ['', '/dates.json', '/calendar.ics', '/feed.atom'].flatMap((page) =>
  queries.map((query) => page + query),
);
/** Pages from which all others of the catalog are linked. */
export const catalogPages = [
  ...['/', '/robots.txt', '/course-dates.js', '/live', '/ready', '/nothing', '/catalog/nothing'],
  ...['/sitemap.xml', '/robots.txt', ...pages].map((page) => `/catalog/fjordkurs-bergen${page}`),
];

/** Paths on this host that a page or a feed names, without those of the docs. */
export const findLinks = (text: string) =>
  [...text.matchAll(/(?:href="|<loc>|"url":"|URL:)(?:http:\/\/booking\.example)?(\/[^"<\s]*)/g)]
    .map(([, path]) => path!.replaceAll('&amp;', '&').replace(/#.*/, ''))
    .filter((path) => !path.startsWith('/docs'));

/** The form of a date: the price, one person more, and a booking, with the hidden fields of the page. */
export function fillForm(page: string): Step[] {
  const fields = { firstname_1: 'Siv', lastname_1: 'Strand', email_1: 'siv@people.example', name: 'Siv Strand' };
  const send = (more: object) => (own: Own) => {
    const hidden = [...String(own['form']).matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const values = Object.fromEntries(hidden.map(([, name, value]) => [name, value]));
    return sendForm(page, { ...values, ...more }, { key: null, headers: { origin: 'http://booking.example' } });
  };
  const sent = [{}, { ...fields, action: 'add' }, { ...fields, action: 'book' }].map(send);
  return [{ path: page, key: null, name: 'form' }, ...sent];
}
