// Preloaded by servers: names below `.example` lead to this machine, as in the tests' own process; others do not exist.
import { Resolver } from 'node:dns/promises';

const unknown = Object.assign(new Error('unknown name'), { code: 'ENOTFOUND' });
Resolver.prototype.resolve4 = async (/** @type {string} */ host) => {
  if (host.endsWith('.example')) return ['127.0.0.1'];
  throw unknown;
};
Resolver.prototype.resolve6 = async () => {
  throw unknown;
};
