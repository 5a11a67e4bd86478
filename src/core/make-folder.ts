import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a folder and its parents; Node's `recursive` never ends where the system answers ENOENT, such as in /proc. */
export function makeFolder(path: string, mode = 0o777) {
  const folder = resolve(path);
  if (make(folder, mode)) return;
  makeFolder(dirname(folder), mode);
  make(folder, mode);
}

/** False without a parent. */
function make(folder: string, mode: number) {
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return true;
    if (code === 'ENOENT' && !existsSync(dirname(folder))) return false;
    throw error;
  }
}
