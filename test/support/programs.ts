import { spawnSync } from 'node:child_process';

/** Returns true if a shell command exits with 0. */
export const succeeds = (command: string) => spawnSync('sh', ['-c', command], { stdio: 'ignore' }).status === 0;

/** Names in Debian, Ubuntu and Google's package. */
export const findChromium = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => `command -v ${name}`)
  .join(' || ');

/** Path of Chromium; empty if not installed. */
export const chromiumPath = spawnSync('sh', ['-c', findChromium], { encoding: 'utf8' }).stdout.trim() || undefined;
