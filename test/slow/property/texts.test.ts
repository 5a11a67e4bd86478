import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  dialects,
  faultsIn,
  fieldsOf,
  lasting,
  poison,
  stateOf,
  urlOf,
  write,
  writes,
  type Fields,
} from '../../support/generate.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedWorld } from '../../support/world.ts';

const { newProvider } = await sharedWorld();

const anyText = fc.oneof(
  poison.filter((value) => typeof value === 'string'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
test.each(writes)(
  '$name: any text means the same in every dialect, and what is refused writes nothing',
  async (way) => {
    const { fresh = [] } = way;
    const each = await Promise.all(dialects.map(async (dialect) => ({ dialect, me: await newProvider() })));
    const names = fieldsOf(way).filter((name) => !fresh.includes(name));
    const fields = fc.dictionary(fc.constantFrom(...names), anyText, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
    let made = 0;
    const check = async (sent: Fields) => {
      const results = [];
      const title = { [way.title ?? 'title']: `Any ${(made += 1)}` };
      for (const { dialect, me } of each) {
        await urlOf(me, way);
        const before = await stateOf(me);
        const answer = await write(me, way, dialect, { ...way.minimal, ...title, ...sent });
        expect([200, way.created, 400]).toContain(answer.status);
        if (answer.status === 400) {
          expect(await stateOf(me)).toBe(before);
          expect(fieldsOf(way)).toEqual(expect.arrayContaining(Object.values(faultsIn(answer)).flat()));
          results.push(answer.text);
        } else results.push(lasting(await way.read(me, answer), fresh));
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    };
    await fc.assert(fc.asyncProperty(fields, check), { numRuns: runs(0.125) });
  },
  60_000,
);
