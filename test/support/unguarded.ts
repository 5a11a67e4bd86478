import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import type { openDatabase } from '../../src/database/client.ts';
import { bundle } from './bundle.ts';
import type { BuildApp } from './test-app.ts';

type Change = { file: RegExp; from: string; to: string };
export type Guard = keyof typeof changes;

/** Each guard against races, and the change of the source that removes it. */
const changes = {
  /** The lock of the provider's row. */
  lock: {
    file: /database\/unit-of-work\.ts$/,
    from: '(client) => runTask(client, task),',
    to: '(client) => runTask(client, { ...task, lock: noLock }),',
  },
  /** One write of a provider at a time in a process. */
  queue: {
    file: /database\/unit-of-work\.ts$/,
    from: 'enqueue(task.queueKeys, run, { tenantQueueKey: tenantQueueKey ?? task.queueKeys[0] })',
    to: 'run()',
  },
  /** The lock of work that one process of many does. */
  exclusive: {
    file: /database\/client\.ts$/,
    from: '(await tryLock(client, name)) ? work(client) : undefined',
    to: 'work(client)',
  },
  /** The check before the unique index. */
  equalTitle: { file: /courses\/courses\/service\.ts$/, from: 'if (!isActive) return;', to: 'return;' },
  /** Of another school's items filters and orders look at members alone that the reader is shown. */
  shownMembers: {
    file: /lists\/closed-members\.ts$/,
    from: '(readMembers[name] ?? [name]).every((member) => isShown(member, ctx));',
    to: 'true;',
  },
  /** A voucher pays no more than its balance. */
  voucherBalance: { file: /bookings\/booking\/sql\.ts$/, from: ' and balance >= :amount', to: '' },
  /** The check that a locked interest is not notified yet. */
  notifiedOnce: {
    file: /interests\/sql\.ts$/,
    from: "where i.provider_id = :providerId and ${isDue('i')} and",
    to: 'where i.provider_id = :providerId and',
  },
  /** Ends of titles are trimmed without trying each blank of a run as a start. */
  linearTexts: {
    file: /core\/text\.ts$/,
    from: "return rest.replace(invisibleRuns, (run, index: number) => (index + run.length === rest.length ? '' : run));",
    to: "return rest.replace(new RegExp(`${invisibleRuns.source}$`, 'u'), '');",
  },
  /** Acts that cannot be undone refuse names that they do not take. */
  unknownNames: {
    file: /parsing\/strict-handling\.ts$/,
    from: 'isStrict || isTrial(request, one) || refusesName(routeOptions.config, one[0], body);',
    to: 'isStrict || isTrial(request, one);',
  },
  /** A form books once, and other fields of it are another booking. */
  formFields: {
    file: /catalog\/booking\/service\.ts$/,
    from: 'fingerprint === null || fingerprint === own;',
    to: 'true || fingerprint === own;',
  },
  /** Of `Prefer` as many characters are read as clients send. */
  cutPreferences: { file: /parsing\/strict-handling\.ts$/, from: '.slice(0, maxParsed)', to: '' },
  /** The links of all attempts of a mail are valid. */
  earlierLinks: {
    file: /database\/tables\/columns\.ts$/,
    from: " or ${earlier} <> '{}' and ${earlier} @> array[${value}]",
    to: '',
  },
} satisfies Record<string, Change>;

/** Bundles a program without these guards, for negative controls, and returns the path of the bundle. */
export const bundleWithoutGuards = (entry: string, guards: Guard[]) => bundle(entry, [withoutGuards(guards)]);

function withoutGuards(guards: Guard[]): Plugin {
  return {
    name: `without-${guards.join('-')}`,
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const ofFile = guards.map((guard): Change => changes[guard]).filter(({ file }) => file.test(path));
        if (ofFile.length === 0) return undefined;
        let contents = await readFile(path, 'utf8');
        for (const { from, to } of ofFile) {
          if (contents.split(from).length !== 2) throw new Error(`${path} has changed`);
          contents = contents.replace(from, () => to);
        }
        return { contents, loader: 'ts' };
      });
    },
  };
}

export type Unguarded = { buildApp: BuildApp; openDatabase: typeof openDatabase };
const loaded = new Map<string, Promise<Unguarded>>();

/** The application and its database without these guards. */
export function loadUnguarded(guards: Guard[]): Promise<Unguarded> {
  const key = guards.join();
  const found =
    loaded.get(key) ??
    bundleWithoutGuards('test/support/server-parts.ts', guards).then(
      async (file) => (await import(resolve(file))) as Unguarded,
    );
  loaded.set(key, found);
  return found;
}
