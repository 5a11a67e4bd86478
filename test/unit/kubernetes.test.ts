import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Environment, readConfig } from '../../src/config.ts';

const models = { Deployment, Job, PodDisruptionBudget, Service };
type Manifest = { kind: keyof typeof models } & Record<string, any>;

const documents = parseAllDocuments(readFileSync('docs/kubernetes.yaml', 'utf8'));
const manifests = documents.map((document) => document.toJS() as Manifest);
const validate = (manifest: Manifest) => new models[manifest.kind](manifest as never).validate();
const pods = manifests.filter(({ kind }) => kind === 'Job' || kind === 'Deployment').map(({ spec }) => spec.template);

test('the Kubernetes manifests match the schemas of Kubernetes', () => {
  expect(manifests.map(({ kind }) => kind)).toEqual(['Job', 'Deployment', 'Service', 'PodDisruptionBudget']);
  for (const manifest of manifests) expect(() => validate(manifest)).not.toThrow();
  for (const { errors } of documents) expect(errors).toEqual([]);
  // The schemas reject an unknown type of value.
  const deployment = structuredClone(manifests[1]!);
  deployment['spec'].template.spec.containers[0].ports[0].containerPort = 'http';
  expect(() => validate(deployment)).toThrow(/containerPort/);
});

test('the Kubernetes manifests use known variables, and give a server the time that a stop may take', () => {
  const [job, server] = pods.map(({ spec }) => spec.containers[0]);
  const environment = (container: { env: { name: string; value: string }[] }) =>
    Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const { DATABASE_URL_FILE, SMTP_URL_FILE, ...variables } = environment(server);
  expect([DATABASE_URL_FILE, SMTP_URL_FILE]).toEqual(['/secrets/database-url', '/secrets/smtp-url']);
  for (const name of Object.keys({ ...environment(job), ...environment(server) }))
    expect(Environment.properties).toHaveProperty(name);
  const config = readConfig({ ...variables, DATABASE_URL: 'postgres://database/booking' });
  expect(config.warnings).toEqual([]);
  const longestStop = config.SHUTDOWN_DRAIN_MS + 1.5 * config.SHUTDOWN_TIMEOUT_MS + 65_000;
  expect(pods[1].spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(longestStop);
});

test('the Kubernetes pods have the restrictions of the Compose file', () => {
  for (const { spec } of pods) {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(spec.containers[0].securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
  }
  expect(pods[1].spec.containers[0].resources.limits.memory).toBe('512Mi');
});
