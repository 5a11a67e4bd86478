import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { registerLog } from './secrets.ts';

export type Measured = { code: number | string; stdout: string; stderr: string; ms: number; peakMb: number };

/** Runs the command line, measures its time and its largest memory, and kills it once `killWhen` returns true. */
export function measuredCli(args: string[], env: Record<string, string>, killWhen?: () => boolean) {
  return new Promise<Measured>((resolve) => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, ['dist/cli.js', ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env },
    });
    let [stdout, stderr, peakMb] = ['', '', 0];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    registerLog(() => stdout + stderr);
    const sampling = setInterval(() => (peakMb = Math.max(peakMb, readMemory(child.pid!, 'VmHWM'))), 20);
    const killing = killWhen && setInterval(() => killWhen() && child.kill('SIGKILL'), 2);
    child.on('close', (code, signal) => {
      clearInterval(sampling);
      clearInterval(killing);
      resolve({ code: code ?? signal ?? '', stdout, stderr, ms: performance.now() - startedAt, peakMb });
    });
  });
}

/** Resident memory of a process in MB, the present one or the largest so far; 0 if it has ended. */
export function readMemory(pid: number, kind: 'VmHWM' | 'VmRSS') {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
