import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeConfig } from '../../src/interfaces/cli/config.ts';
import { describeError } from '../../src/database/describe-error.ts';
import { ConfigError, declareVariables } from '../../src/core/config.ts';
import { backupSettings } from '../../src/plugins/backup/settings.ts';
import { declarations, readConfig } from '../support/config.ts';

function problemsOf(env: NodeJS.ProcessEnv) {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('The configuration is valid');
}

test('all mistakes are reported at once, with what is allowed and what was given', () => {
  const error = problemsOf({
    ...{ PORT: '70000', STATEMENT_TIMEOUT_MS: 'long', LOG_LEVEL: 'loud', MIGRATE_ON_START: 'yes', TIMEZONE: 'Oslo' },
    ...{ PUBLIC_URL: 'https://me:mine@x.example/?a', TRUST_PROXY: '10.0.0.0/99', MAIL_FROM: 'me' },
    ...{ BOOTSTRAP_API_KEY: 'short-secret', SMTP_URL: 'ftp://secret', NODE_ENV: 'production', DATABASE_URLS: 'secret' },
  });
  expect(error.lines).toEqual([
    'The environment is not valid:',
    '- PORT must be a whole number from 0 to 65535, not "70000"',
    '- PUBLIC_URL must be an http or https address without ? and #, not "https://***@x.example/?***"',
    '- MIGRATE_ON_START must be true or false, not "yes"',
    '- BOOTSTRAP_API_KEY must have 32 to 255 characters, ASCII without blanks',
    '- SMTP_URL must be an smtp or smtps address',
    '- MAIL_FROM must be an e-mail address alone, not "me"',
    '- TIMEZONE must be an IANA name such as Europe/Oslo, not "Oslo"',
    '- TRUST_PROXY must list addresses or CIDR ranges, not "10.0.0.0/99"',
    '- LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
    '- STATEMENT_TIMEOUT_MS must be a whole number from 1 to 2147483647, not "long"',
    '- DATABASE_URL is missing; `embedded` is the embedded database',
    '- BOOTSTRAP_API_KEY and BOOTSTRAP_PROVIDER go together',
    '- The variable DATABASE_URLS is not known and has no effect',
  ]);
  expect(describeError(error, true).split('\n')).toEqual(error.lines);
  expect(describeError(error)).not.toContain('\n');
  expect(describeError(error)).toContain('not "70000"; PUBLIC_URL must');
});

test('a given value is shown on one line and shortened', () => {
  const { lines } = problemsOf({ TIMEZONE: `a\nb${'c'.repeat(1000)}` });
  expect(lines[1]).toMatch(/not "a\\nbc+…"$/);
  expect(lines[1]!.length).toBeLessThan(160);
});

test('an embedded database is backed up at 03:15 unless BACKUP_AT says otherwise, another one is not', () => {
  const read = (env: NodeJS.ProcessEnv) => {
    const { BACKUP_AT, BACKUP_DIR } = readConfig(env).of(backupSettings);
    return [BACKUP_AT, BACKUP_DIR];
  };
  const external = { DATABASE_URL: 'postgres://db.example/booking', DATA_DIR: '/data' };
  const production = { NODE_ENV: 'production', DATABASE_URL: 'embedded', DATA_DIR: '/data' };
  expect(read({ DATA_DIR: '/data' })).toEqual(['03:15', '/data/backups']);
  expect(read(production)).toEqual(['03:15', '/data/backups']);
  expect(read({ ...production, BACKUP_AT: 'off' })).toEqual(['off', '/data/backups']);
  expect(read(external)).toEqual(['off', '/data/backups']);
  expect(read({ ...external, BACKUP_AT: 'elsewhere' })).toEqual(['elsewhere', '/data/backups']);
  expect(read({ ...external, BACKUP_AT: '02:00', BACKUP_DIR: '/other' })).toEqual(['02:00', '/other']);
});

test('a wrong value is reported once, not as missing too', () => {
  expect(problemsOf({ NODE_ENV: 'production', DATABASE_URL: 'mysql://x' }).lines).toHaveLength(2);
});

const secrets = Object.entries(declarations).flatMap(([name, { secret }]) => (secret ? [name] : []));

test.each(secrets)('%s can be read from a file, and no message shows it', (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'secret-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'secret');
  // Wrong for every secret, and containing a blank.
  writeFileSync(file, 'wrong secret\n');
  for (const env of [{ [`${name}_FILE`]: file }, { [name]: 'wrong secret' }, { [`${name}_FILE`]: file, [name]: 'x' }]) {
    const { message, lines } = problemsOf(env);
    expect(message).toContain(name);
    expect(message + lines.join()).not.toContain('wrong');
  }
});

test('numbers and switches are read strictly', () => {
  for (const PORT of ['', '0', '3001']) expect(readConfig({ PORT }).PORT).toBe(PORT === '' ? 3000 : Number(PORT));
  for (const PORT of [' ', '-1', '1.5', 'NaN', '65536']) expect(problemsOf({ PORT }).lines).toHaveLength(2);
  for (const DEMO_DATA of ['TRUE', '1', 'on']) expect(problemsOf({ DEMO_DATA }).lines).toHaveLength(2);
});

test.each([
  ['postgres://u:secret@db.example:6432/booking?sslmode=x', 'postgres://***@db.example:6432/booking?***'],
  ['postgres:///booking?host=/secret', 'postgres:///booking?***'],
  // With signs that should be percent-encoded.
  ['postgres://u:12/secret@db.example/booking', '***'],
  ['postgres://u:12#secret@db.example/booking', '***'],
  ['postgres://u:12?secret@db.example/booking', '***'],
])('%s is shown as %s', (DATABASE_URL, shown) => {
  const token = 'https://x-is-a-secret';
  const described = describeConfig(readConfig({ DATABASE_URL, METRICS_TOKEN: token }));
  const valueOf = (name: string) => described.find((one) => one.name === name)?.value;
  expect([valueOf('DATABASE_URL'), valueOf('METRICS_TOKEN')]).toEqual([shown, '***']);
});

test('REQUIRE_HTTPS needs a trusted proxy and a public address of https', () => {
  const [proxy, address] = [{ TRUST_PROXY: '10.0.0.0/8' }, { PUBLIC_URL: 'https://school.example' }];
  const needsProxy = '- REQUIRE_HTTPS=true needs TRUST_PROXY: the proxy tells the protocol';
  const needsAddress = '- REQUIRE_HTTPS=true needs a PUBLIC_URL that begins with https:';
  const linesOf = (env: NodeJS.ProcessEnv) => problemsOf({ REQUIRE_HTTPS: 'true', ...env }).lines.slice(1);
  expect(linesOf({})).toEqual([needsProxy, needsAddress]);
  expect(linesOf(proxy)).toEqual([needsAddress]);
  expect(linesOf(address)).toEqual([needsProxy]);
  expect(readConfig({ REQUIRE_HTTPS: 'true', ...proxy, ...address }).REQUIRE_HTTPS).toBe(true);
  expect(readConfig({}).REQUIRE_HTTPS).toBe(false);
});

test('a setting of a plugin that follows an unknown variable is refused', () => {
  const variables = { ADDED: declarations['PORT']! };
  const plugin = (after: Record<string, string>) => ({ settings: { variables, after } as never });
  const names = Object.keys(declareVariables([plugin({ ADDED: 'PORT' })]));
  expect(names.indexOf('ADDED')).toBe(names.indexOf('PORT') + 1);
  expect(() => declareVariables([plugin({ ADDED: 'PROT' })])).toThrow('ADDED follows PROT, which is no variable');
  expect(() => declareVariables([plugin({})])).toThrow('ADDED follows undefined, which is no variable');
});
