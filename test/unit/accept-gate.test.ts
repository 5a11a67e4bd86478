import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAcceptGate } from '../../src/http/accept-gate.ts';

function openGate() {
  const server = new EventEmitter();
  const gate = createAcceptGate(server as unknown as Server);
  const started: string[] = [];
  return {
    started,
    accept: () => server.emit('connection'),
    start: (name: string) => gate(() => void started.push(name)),
  };
}

test('work starts at once while no connection arrives', () => {
  const { started, start } = openGate();
  start('one');
  expect(started).toEqual(['one']);
});

test('work starts in order after the first turn that accepts no connection', async () => {
  const { started, start, accept } = openGate();
  accept();
  start('one');
  start('two');
  for (let turn = 0; turn < 5; turn += 1) {
    await nextTurn();
    expect(started).toEqual([]);
    accept();
  }
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect(started).toEqual(['one', 'two']);
});

test('work starts although connections arrive without end', async () => {
  const { started, start, accept } = openGate();
  accept();
  start('one');
  for (let turn = 0; turn < 40; turn += 1) {
    await nextTurn();
    accept();
  }
  expect(started).toEqual(['one']);
});
