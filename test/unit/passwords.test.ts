import { expect, test } from 'vitest';
import { findPasswordFault } from '../../src/domains/school/auth/schema.ts';

const names = ['Havbris Kurs & Co', 'Kari', 'Nordmann', 'kari.nordmann@firma.example', null];

test.each([
  ['1234567', 'length'],
  ['x'.repeat(201), 'length'],
  ['password', 'common'],
  ['PassWord1', 'common'],
  ['qwertyuiop', 'common'],
  ['1234567890', 'common'],
  ['havbris2026', 'names'],
  ['Havbris Kurs & Co', 'names'],
  ['kari_nordmann_1987!', 'names'],
  ['NORDMANN-havbris', 'names'],
  ['firma.example.kari', 'names'],
  ['fjord og fjell', undefined],
  ['Kari liker havbris', undefined],
  ['48151623421', undefined],
  ['🙂🙂🙂🙂🙂🙂🙂🙂', undefined],
])('the fault of %j is %s', (password, fault) => expect(findPasswordFault(password, names)).toBe(fault));

test('without names only the length and the list matter', () => {
  expect(findPasswordFault('kari nordmann', [])).toBeUndefined();
  expect(findPasswordFault('kari nordmann', ['', null, undefined])).toBeUndefined();
});
