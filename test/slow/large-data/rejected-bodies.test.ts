import { expect, test } from 'vitest';
import { costlyBodies } from '../../support/costly-bodies.ts';
import { sendRawWrite, writeEndpoints } from '../../support/request-bodies.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const me = await createProvider();

/** The time of a processor since then, which a busy machine changes little. */
const cpuMs = (since: NodeJS.CpuUsage) => process.cpuUsage(since).user / 1_000;

test.each(costlyBodies)('%s is rejected at little cost', async (_name, type, body) => {
  const used = process.cpuUsage();
  const response = await sendRawWrite(me, writeEndpoints[0]!, type, body);
  expect(cpuMs(used)).toBeLessThan(3_000);
  expect(response.status).toBe(400);
});
