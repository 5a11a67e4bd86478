import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { adapt, documentedFile, statementsOf, variablesOf } from '../cluster/support/configuration.ts';
import { readConfig } from '../support/config.ts';

type Patroni = { bootstrap: { dcs: Record<string, number | boolean> } };

test('docs/operate/run-a-cluster.md has a Patroni configuration whose times fit together', () => {
  const { ttl, loop_wait, retry_timeout, synchronous_mode } = (
    parse(documentedFile('/etc/patroni/config.yml')) as Patroni
  ).bootstrap.dcs;
  expect(Number(ttl)).toBeGreaterThanOrEqual(Number(loop_wait) + 2 * Number(retry_timeout));
  expect(synchronous_mode).toBe(true);
});

test('the service accepts its settings in docs/operate/run-a-cluster.md', () => {
  const variables = variablesOf(documentedFile('/etc/booking/environment'));
  expect(readConfig(variables)).toMatchObject({ MIGRATE_ON_START: false });
  expect(statementsOf(documentedFile('as postgres')).every((one) => /^(create|alter) (role|database) /.test(one))).toBe(
    true,
  );
});

test('an address that is left in a file of the page is found', () => {
  expect(() => adapt('server db1 db1:5432', { 'db2:5432': '127.0.0.1:1' })).toThrow('db1:');
  expect(() => documentedFile('/etc/none')).toThrow('0 files /etc/none');
});
