import { execFile } from 'node:child_process';
import { registerSecret } from './secrets.ts';

/** Runs the command line with that standard input; resolves with its output or rejects with its error. */
export function cli<T = unknown>(args: string[], env: Record<string, string>, input = '') {
  return new Promise<T>((resolve, reject) => {
    const environment = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env };
    const options = { env: environment, maxBuffer: 2 ** 28 };
    const child = execFile(process.execPath, ['dist/cli.js', ...args], options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${args.join(' ')}: ${stderr || error.message}`));
      else resolve((args.includes('--json') ? JSON.parse(stdout) : stdout) as T);
    });
    registerSecret(input.trim());
    child.stdin!.end(input);
  });
}
