import { expect, inject, onTestFinished, test } from 'vitest';
import { limits, openTestApp, openTestDatabase } from '../../support/test-app.ts';
import { createMeasured } from '../../support/metrics.ts';

test('responses with 429 and requests with a wrong key are counted', async () => {
  const database = openTestDatabase(inject('shared'));
  const { metrics, parts } = await createMeasured({ database });
  const testApp = await openTestApp(database, {
    parts,
    limits: { ...limits, publicRequestsPerMinute: 1, invalidKeysPerMinute: 3, rate: { perSecond: 0.001, burst: 1 } },
  });
  onTestFinished(testApp.close);
  const { app, createProvider } = testApp;
  const me = await createProvider();
  for (let n = 0; n < 3; n += 1) await me.get('/v2/durations');
  for (let n = 0; n < 2; n += 1) await app.inject({ url: '/nothing' });
  for (let n = 0; n < 5; n += 1) await app.inject({ url: '/v2/durations', headers: { 'x-api-key': 'wrong' } });
  await app.inject({ url: '/v2/durations' });
  const lines = (await metrics.render()).split('\n');
  expect(lines).toContain('booking_http_rate_limited_total{limit="key"} 2');
  // One for an unknown path, two for wrong keys, one without a key.
  expect(lines).toContain('booking_http_rate_limited_total{limit="address"} 4');
  expect(lines).toContain('booking_http_wrong_keys_total 5');
});
