import { spawnSync } from 'node:child_process';

/** Whether a shell command succeeds. */
export const succeeds = (command: string) => spawnSync('sh', ['-c', command], { stdio: 'ignore' }).status === 0;

/** Under the names that Debian, Ubuntu and Google give it, wherever it is in the PATH. */
export const findChromium = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => `command -v ${name}`)
  .join(' || ');

/** Where Chromium is, if it is there. */
export const chromiumPath = spawnSync('sh', ['-c', findChromium], { encoding: 'utf8' }).stdout.trim() || undefined;
