import { execFile } from 'node:child_process';
import { keepSecret } from './secrets.ts';

/** Runs the command line with that standard input; resolves with its output or rejects with its error. */
export function cli<T = unknown>(args: string[], env: Record<string, string>, input = '') {
  return new Promise<T>((done, failed) => {
    const all = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env };
    const options = { env: all, maxBuffer: 2 ** 28 };
    const child = execFile(process.execPath, ['dist/cli.js', ...args], options, (error, stdout, stderr) => {
      if (error) failed(new Error(`${args.join(' ')}: ${stderr || error.message}`));
      else done((args.includes('--json') ? JSON.parse(stdout) : stdout) as T);
    });
    keepSecret(input.trim());
    child.stdin!.end(input);
  });
}
