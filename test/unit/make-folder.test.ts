import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../src/core/make-folder.ts';

function temporary() {
  const folder = mkdtempSync(join(tmpdir(), 'folders-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a folder is made with its parents, once', () => {
  const folder = join(temporary(), 'a/b/c');
  makeFolder(folder, 0o700);
  makeFolder(folder);
  expect([statSync(folder).mode & 0o777, statSync(join(folder, '..')).mode & 0o777]).toEqual([0o700, 0o700]);
});

test('a file in the way is an error', () => {
  const folder = temporary();
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file'))).toThrow('EEXIST');
  expect(() => makeFolder(join(folder, 'file/below'))).toThrow('ENOTDIR');
});

test.runIf(existsSync('/proc/self'))('a file system that refuses a folder as missing ends with an error', () => {
  for (const path of ['/proc/x', '/proc/x/y']) expect(() => makeFolder(path)).toThrow('ENOENT');
});
