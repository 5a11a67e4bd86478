import type { Plugin } from 'esbuild';
import { buildAppWith, bundle } from './bundle.ts';

/** The conditions of `lists/tenant-predicate.ts` without a tenant. */
const stub = `
import { sql } from 'drizzle-orm';
const always = () => sql\`true\`;
export { always as equalsTenant, always as equalTenants, always as equalsAnyTenant };
`;

const withoutTenancy: Plugin = {
  name: 'without-tenancy',
  setup({ onLoad }) {
    onLoad({ filter: /lists\/tenant-predicate\.ts$/ }, () => ({ contents: stub, resolveDir: process.cwd() }));
  },
};

/** Bundles a program without tenancy, for negative controls, and returns the path of the bundle. */
export const bundleWithoutTenancy = (entry: string) => bundle(entry, [withoutTenancy]);

/** `buildApp` without tenancy. */
export const buildAppWithoutTenancy = () => buildAppWith(withoutTenancy);
