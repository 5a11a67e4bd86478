import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { mutations, type Mutation } from './mutations.ts';

const root = resolve(import.meta.dirname, '../..');

/** Replaces texts of source files before they are compiled. */
const mutate = ({ changes }: Mutation) =>
  changes.map(([source, from, to]) => {
    const path = resolve(root, source);
    if (!readFileSync(path, 'utf8').includes(from)) throw new Error(`${source} has changed`);
    const transform = (code: string, id: string) => (id === path ? code.replace(from, () => to) : undefined);
    return { name: `mutation of ${source}`, enforce: 'pre' as const, transform };
  });

export default defineConfig({
  test: {
    root,
    globalSetup: ['test/support/setup.ts'],
    maxWorkers: 2,
    projects: Object.entries(mutations).map(([name, mutation]) => ({
      plugins: mutate(mutation),
      test: { root, name, include: [mutation.file], testTimeout: 300_000, hookTimeout: 300_000 },
    })),
  },
});
