import { expect, test } from 'vitest';
import { orderCodes, requestCodes } from '../../../src/core/error-codes.ts';
import { catalogRules } from '../../support/rules/catalog.ts';
import { moneyRules } from '../../support/rules/money.ts';
import { peopleRules } from '../../support/rules/people.ts';
import type { Item, Rule, Send } from '../../support/rules/rule.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const accept = 'application/problem+json';

const rules = [...catalogRules, ...peopleRules, ...moneyRules];
const cases = rules.flatMap((rule) => rule.operations.map((operation) => ({ operation, ...rule })));
const toKey = ({ operation, code, fields = [] }: Rule & { operation: string }) =>
  [operation, code, ...fields].join(' ');

const sendAs =
  (me: Provider): Send =>
  (method, path, body) =>
    me.request(method)(path, body, { accept });

test.each(cases)('$operation: $code $fields', async ({ operation, code, fields = [], breakIt }) => {
  const me = await createProvider();
  const { status, headers, text } = await breakIt(me, sendAs(me), operation);
  const problem = JSON.parse(text) as Item;
  const named = (problem['fields'] ?? []) as { field: string; code: string }[];
  const found = named.map((one) => (one.code === 'missing' ? `-${one.field}` : one.field));
  expect([status, headers['x-error-code'], problem['code'], found], text).toEqual([400, code, code, fields]);
});

test('no two rules of an operation share code and fields', () => {
  const keys = cases.map(toKey);
  expect(keys.filter((key, n) => keys.indexOf(key) < n)).toEqual([]);
});

/** Codes of requests as a whole, of mails and interests, and of more items than a test makes. */
const ofOtherTests = [
  ...['field_unknown', 'idempotency_key_reused', 'response_erased', 'response_too_large'],
  ...['mail_not_sent', 'mail_sent_recently', 'course_has_date', 'interests_off', 'too_many_mails'],
];

test('each code of a rule is among the cases', () => {
  const listed = new Set<string>([...cases.map(({ code }) => code), ...ofOtherTests]);
  expect([...requestCodes, ...orderCodes].filter((code) => !listed.has(code))).toEqual([]);
});
