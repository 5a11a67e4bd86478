import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createCounters } from '../../src/database/counters.ts';
import type { MetricsSources } from '../../src/plugins/operations/metrics/index.ts';
import { createTestMetrics } from '../support/metrics.ts';

const database = { counters: createCounters() } as MetricsSources['database'];
const exported = createTestMetrics({ database })
  .describe()
  .map(({ name }) => name);
const page = readFileSync('docs/operate/monitoring.md', 'utf8');

test('the table of docs/operate/monitoring.md has every metric of the service, and no other', () => {
  const documented = [...page.matchAll(/^\| `(booking_\w+)[{`]/gm)].map(([, name]) => name!);
  expect(documented.toSorted()).toEqual(exported.filter((name) => name.startsWith('booking_')).toSorted());
});

test.each(['docs/deploy/grafana.json', 'docs/deploy/alerts.yml', 'docs/operate/monitoring.md'])(
  '%s names only metrics that exist',
  (file) => {
    const named = [...readFileSync(file, 'utf8').matchAll(/\b(?:booking|nodejs|process)_[a-z0-9_]+\b/g)].map(
      ([name]) => name,
    );
    expect(named.length).toBeGreaterThan(5);
    const isExported = (name: string) =>
      exported.includes(name.replace(/_(bucket|sum|count)$/, '')) || exported.includes(name);
    expect([...new Set(named)].filter((name) => !isExported(name))).toEqual([]);
  },
);

test('the dashboard and the alerts use each metric of the service', () => {
  const used = readFileSync('docs/deploy/grafana.json', 'utf8') + readFileSync('docs/deploy/alerts.yml', 'utf8');
  const unused = exported.filter((name) => name.startsWith('booking_') && !used.includes(name));
  expect(unused).toEqual([]);
});

test('docs/operate/monitoring.md installs the tested versions of OpenTelemetry', () => {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const tested = Object.entries(devDependencies).filter(([name]) => /otel|opentelemetry/.test(name));
  const documented = [...page.matchAll(/(@(?:fastify\/otel|opentelemetry\/[\w-]+))@([\d.]+)/g)];
  expect(documented.map(([, name, version]) => [name, version]).toSorted()).toEqual(tested.toSorted());
});
