import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  dialects,
  fieldErrors,
  fieldNames,
  omitVolatile,
  hostileValue,
  hashRows,
  endpointUrl,
  sendWrite,
  writeEndpoints,
  type Fields,
} from '../../support/request-bodies.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const anyText = fc.oneof(
  hostileValue.filter((value) => typeof value === 'string'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
test.each(writeEndpoints)(
  '$name: any text gives the same result in every body format, and a rejection writes nothing',
  async (endpoint) => {
    const { fresh } = endpoint;
    const each = await Promise.all(dialects.map(async (dialect) => ({ dialect, me: await createProvider() })));
    const names = fieldNames(endpoint).filter((name) => !fresh.includes(name));
    const fields = fc.dictionary(fc.constantFrom(...names), anyText, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
    let created = 0;
    const check = async (sent: Fields) => {
      const results = [];
      const title = { [endpoint.title ?? 'title']: `Any ${(created += 1)}` };
      for (const { dialect, me } of each) {
        await endpointUrl(me, endpoint);
        const before = await hashRows(me);
        const response = await sendWrite(me, endpoint, dialect, { ...endpoint.minimal, ...title, ...sent });
        expect([200, endpoint.created, 400]).toContain(response.status);
        if (response.status === 400) {
          expect(await hashRows(me)).toBe(before);
          const paths = Object.values(fieldErrors(response)).flat();
          // Members of a list are reported by their path, such as `gatherings[0].gathering_at`, and those of an object, as `user.email`.
          const rejected = paths.map((path) => path.split(/[[.]/)[0]);
          expect(fieldNames(endpoint)).toEqual(expect.arrayContaining(rejected));
          results.push(response.text);
        } else results.push(omitVolatile(await endpoint.read(me, response), fresh));
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    };
    await fc.assert(fc.asyncProperty(fields, check), { numRuns: runs(0.125) });
  },
  60_000,
);
