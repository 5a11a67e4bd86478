import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { expect, test } from 'vitest';
import {
  causes,
  findTransition,
  nextState,
  places,
  states,
  toState,
  transitions,
  type State,
} from '../../src/core/reference/participant-states.ts';
import { holdsSeat } from '../../src/core/reference/statuses.ts';

const stateNames = Object.keys(states) as State[];
const isSeated = (state: State | 'new') => state !== 'new' && holdsSeat(states[state].statusId);

/** Every change with the place that it needs. Nobody is told of a state that stays, but of another date. */
const changes = transitions.flatMap(({ from, cause, to, event, mail }) =>
  from.flatMap((one) =>
    places.flatMap((place) => {
      if (to[place] === undefined) return [];
      const isTold = to[place] !== one || cause === 'move';
      return [{ from: one, cause, place, to: to[place], event, mail: isTold ? mail : undefined }];
    }),
  ),
);

const toSeatEffect = (from: State | 'new', to: State) => {
  if (isSeated(from) === isSeated(to)) return isSeated(to) ? 'kept' : 'none';
  return isSeated(to) ? 'taken' : 'freed';
};

const toTable = (head: string[], rows: (string | number)[][]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const ofStates = stateNames.map((name) => {
  const { statusId, heldFor } = states[name];
  return [name, statusId, heldFor ?? '', isSeated(name) ? 'yes' : 'no'];
});
/** A line for each change, with all states from which it is the same. */
function toLines() {
  const froms = new Map<string, string[]>();
  const lines = changes.map(({ from, cause, place, to, event, mail }) => {
    const told = [event, mail].filter(Boolean).join(', ');
    const head = `- **${cause}**${place === 'own' ? '' : `, ${place}`}: `;
    const line = [head, ` → ${to}, ${toSeatEffect(from, to)}${told && `; ${told}`}`] as const;
    froms.set(line.join(''), [...(froms.get(line.join('')) ?? []), from]);
    return line;
  });
  const unique = new Map(lines.map((line) => [line.join(''), line]));
  return [...unique].map(([key, [head, end]]) => `${head}${froms.get(key)!.join(', ')}${end}`).join('\n');
}

test('docs/reference/participant-states.md shows every state and transition', async () => {
  const page = 'docs/reference/participant-states.md';
  const [text] = readFileSync(page, 'utf8').split('## Table of states');
  const generated = [
    '## Table of states',
    toTable(['State', '`status.id`', '`held_for`', 'Holds a seat'], ofStates),
    '## Table of transitions',
    [
      'Each line has the cause, the place that the date has where the participant needs another than its own, the states',
      'before (`new` is a booking) and after, what becomes of the seat, and the event and the mail.',
    ].join(' '),
    toLines(),
  ];
  const wrapped = await format(generated.join('\n\n'), { parser: 'markdown', printWidth: 120, proseWrap: 'always' });
  await expect(`${text}${wrapped}`).toMatchFileSnapshot(join(import.meta.dirname, '../..', page));
  expect(causes.filter((cause) => !text!.includes(cause))).toEqual([]);
});

test('each change of what a person was told has a mail', () => {
  const isUnnamed = (state: State | 'new') => /^reserved/.test(state);
  const silent = changes.filter(({ from, to, mail }) => from !== to && mail === undefined);
  // A place without a name has nobody to tell. An offer names its end, and who declines it is on the page.
  const others = silent.filter(({ from, to }) => !isUnnamed(from) && !isUnnamed(to));
  expect(others.map(({ from, cause }) => `${from} ${cause}`)).toEqual(['offered decline', 'offered lapse']);
  for (const { to, mail, cause } of changes) {
    if (mail === undefined || ['move', 'name', 'offer'].includes(cause)) continue;
    const isPlaced = to === 'confirmed' || to === 'overbooked';
    const expected = to.startsWith('deregistered') ? 'deregistration' : isPlaced ? 'promotion' : 'receipt';
    // A booking, and a place that is to be confirmed, have the mail that says the status.
    expect([cause, to, mail]).toEqual([cause, to, /^(book|unconfirm)/.test(cause) ? 'receipt' : expected]);
  }
});

test('a state and a cause have one transition, which ends in a state that its place allows', () => {
  const pairs = transitions.flatMap(({ from, cause }) => from.map((one) => `${one} ${cause}`));
  expect(new Set(pairs).size).toBe(pairs.length);
  for (const { from, cause, place, to } of changes) expect(nextState(from, cause, place)).toBe(to);
  // Only a seat or an overbook place makes a participant hold a seat that had none.
  const taken = changes.filter(({ from, to }) => !isSeated(from) && isSeated(to));
  expect(taken.filter(({ place }) => place !== 'seat' && place !== 'overbook')).toEqual([]);
});

test('every state can be reached and left for good, and is stored as no other', () => {
  const reached = new Set<State | 'new'>(['new']);
  for (let size = 0; size < reached.size;) {
    size = reached.size;
    for (const { from, to } of changes) if (reached.has(from)) reached.add(to);
  }
  expect([...reached].sort()).toEqual(['new', ...stateNames].sort());
  for (const name of stateNames) {
    expect(toState(states[name])).toBe(name);
    expect(name.startsWith('deregistered') || findTransition(name, 'deregister')?.to.own).toBeTruthy();
  }
});
