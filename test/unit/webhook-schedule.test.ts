import { expect, onTestFinished, test, vi } from 'vitest';
import { parseRetryAfter, afterFailure, schedule } from '../../src/plugins/delivery/webhooks/attempt.ts';

const failure = { attempts: 0, failingSeconds: 0, statusCode: 500, retryAfterSeconds: null };
const after = (fields: Partial<Parameters<typeof afterFailure>[0]>) => afterFailure({ ...failure, ...fields });
const [minute, hour, day] = [60, 3_600, 86_400];

test('the pauses are 5 s, 30 s, 2 min, 10 min and 30 min, then an hour each', () => {
  const pauses = [0, 1, 2, 3, 4, 5, 6, 100].map((attempts) => after({ attempts }));
  expect(pauses).toEqual([5, 30, 2 * minute, 10 * minute, 30 * minute, hour, hour, hour]);
});

test('the times are those of the documentation', () => {
  expect(schedule).toMatchObject({
    retries: [5, 30, 2 * minute, 10 * minute, 30 * minute, hour],
    giveUpAfter: 5 * day,
    maxRetryAfter: day,
    attemptTimeoutMs: 10_000,
  });
});

test('an endpoint is given up after 5 days of failures, or at once after a 410', () => {
  expect(after({ attempts: 120, failingSeconds: 5 * day - 1 })).toBe(hour);
  expect(after({ attempts: 120, failingSeconds: 5 * day })).toBe('failing');
  expect(after({ statusCode: null, failingSeconds: 5 * day })).toBe('failing');
  expect(after({ statusCode: 410 })).toBe('gone');
});

test('Retry-After makes a pause longer, up to a day, but not shorter', () => {
  expect(after({ retryAfterSeconds: 90 })).toBe(90);
  expect(after({ retryAfterSeconds: 1 })).toBe(5);
  expect(after({ attempts: 5, retryAfterSeconds: 2 * hour })).toBe(2 * hour);
  expect(after({ retryAfterSeconds: 2 * day })).toBe(day);
});

test('Retry-After is read as seconds or as a date', () => {
  expect(parseRetryAfter('120')).toBe(120);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-06-01T12:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  expect(parseRetryAfter('Mon, 01 Jun 2026 12:01:00 GMT')).toBe(60);
  expect(parseRetryAfter('Mon, 01 Jun 2026 11:59:00 GMT')).toBe(0);
  for (const value of [undefined, '', 'soon']) expect(parseRetryAfter(value)).toBeNull();
});
