import { resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import type { NightlyOptions, runNightly } from '../../src/plugins/backup/nightly.ts';
import { bundle, replaceIn } from './bundle.ts';

export type DatedOptions = NightlyOptions & { now: string };

/** The text of the clock that decides whether a backup is due, and a setting in its place. */
const [clock, setting] = ['clock_timestamp() as now', "current_setting('test.now')::timestamptz as now"];
const runs = /backup\/runs\.ts$/;
const dated = replaceIn('dated', runs, clock, setting);

/** Tries a failed backup again after an hour. */
export const hourly = replaceIn('hourly', runs, /clock_timestamp\(\) as now(.*)'8 minutes'/s, `${setting}$1'1 hour'`);

/** `runNightly` at a moment, with replaced modules. */
export async function loadNightly(...replacements: Plugin[]) {
  const path = resolve(await bundle('src/plugins/backup/nightly.ts', [...replacements, dated]));
  const module = (await import(path)) as { runNightly: typeof runNightly };
  return ({ now, connection, ...options }: DatedOptions) =>
    module.runNightly({ ...options, connection: { ...connection, options: `-c test.now=${now.replace(' ', 'T')}` } });
}
