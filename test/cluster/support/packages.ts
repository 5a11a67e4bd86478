import { succeeds } from '../../support/programs.ts';

export const binaries = '/usr/lib/postgresql/15/bin';

/** Debian packages and, for each, a shell command that succeeds if it is installed. */
const commands: Record<string, string> = {
  'postgresql-15': `test -x ${binaries}/postgres`,
  patroni: 'command -v patroni && command -v patronictl',
  'etcd-server': 'command -v etcd',
  'etcd-client': 'command -v etcdctl',
  haproxy: 'test -x /usr/sbin/haproxy',
  pgbouncer: 'test -x /usr/sbin/pgbouncer',
};

/** How to install what is missing; undefined if everything is there. */
export function missingPackages() {
  const missing = Object.entries(commands).filter(([, command]) => !succeeds(command));
  if (missing.length === 0) return undefined;
  return `apt-get install -y --no-install-recommends ${Object.keys(commands).join(' ')}`;
}
