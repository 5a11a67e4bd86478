import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBacklogScheduler } from '../../src/http/backlog-scheduler.ts';

function openScheduler() {
  const server = new EventEmitter();
  const schedule = createBacklogScheduler(server as unknown as Server);
  const started: string[] = [];
  return {
    started,
    accept: () => server.emit('connection'),
    start: (name: string) => schedule(() => void started.push(name)),
  };
}

test('work starts at once while no connection arrives', () => {
  const { started, start } = openScheduler();
  start('one');
  expect(started).toEqual(['one']);
});

test('work starts in order after the first turn that accepts no connection', async () => {
  const { started, start, accept } = openScheduler();
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
  const { started, start, accept } = openScheduler();
  accept();
  start('one');
  for (let turn = 0; turn < 40; turn += 1) {
    await nextTurn();
    accept();
  }
  expect(started).toEqual(['one']);
});
