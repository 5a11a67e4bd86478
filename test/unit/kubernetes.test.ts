import { Deployment } from 'kubernetes-models/apps/v1';
import { CronJob, Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { PersistentVolumeClaim, Service } from 'kubernetes-models/v1';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { declarations, readConfig } from '../support/config.ts';

const models = { CronJob, Deployment, Job, NetworkPolicy, PersistentVolumeClaim, PodDisruptionBudget, Service };
type Manifest = { kind: keyof typeof models } & Record<string, any>;

const documents = parseAllDocuments(readFileSync('docs/deploy/kubernetes.yaml', 'utf8'));
const manifests = documents.map((document) => document.toJS() as Manifest);
const validate = (manifest: Manifest) => new models[manifest.kind](manifest as never).validate();
const templateOf = ({ kind, spec }: Manifest) => (kind === 'CronJob' ? spec.jobTemplate.spec : spec).template;
const pods = manifests.filter(({ kind }) => ['Job', 'Deployment', 'CronJob'].includes(kind)).map(templateOf);

test('the Kubernetes manifests match the schemas of Kubernetes', () => {
  expect(manifests.map(({ kind }) => kind)).toEqual([
    ...['Job', 'Deployment', 'Service', 'PodDisruptionBudget'],
    ...['PersistentVolumeClaim', 'CronJob', 'NetworkPolicy', 'NetworkPolicy'],
  ]);
  for (const manifest of manifests) expect(() => validate(manifest)).not.toThrow();
  for (const { errors } of documents) expect(errors).toEqual([]);
  // The schemas reject an unknown type of value.
  const deployment = structuredClone(manifests[1]!);
  deployment['spec'].template.spec.containers[0].ports[0].containerPort = 'http';
  expect(() => validate(deployment)).toThrow(/containerPort/);
});

test('the Kubernetes manifests use known variables, and give a server the time that a stop may take', () => {
  const [job, server, backup] = pods.map(({ spec }) => spec.containers[0]);
  const environment = (container: { env: { name: string; value: string }[] }) =>
    Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const { DATABASE_URL_FILE, SMTP_URL_FILE, ...variables } = environment(server);
  expect([DATABASE_URL_FILE, SMTP_URL_FILE]).toEqual(['/secrets/database-url', '/secrets/smtp-url']);
  for (const name of Object.keys({ ...environment(job), ...environment(server), ...environment(backup) }))
    expect(declarations).toHaveProperty(name);
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

test('the network policies select the pods, and open the ports of requests and metrics alone', () => {
  const [servers, jobs] = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
  const labels = pods.map(({ metadata }) => metadata.labels.app);
  expect(labels).toEqual(['booking-migrate', 'booking', 'booking-backup']);
  expect([servers.podSelector.matchLabels.app, ...jobs.podSelector.matchExpressions[0].values].toSorted()).toEqual(
    labels.toSorted(),
  );
  expect(jobs.ingress).toBeUndefined();
  const opened = servers.ingress.flatMap(({ ports }: { ports: { port: string }[] }) => ports.map(({ port }) => port));
  const [, server] = pods.map(({ spec }) => spec.containers[0]);
  expect(opened).toEqual(server.ports.map(({ name }: { name: string }) => name));
  const variable = (name: string) => server.env.find((one: { name: string }) => one.name === name)?.value as string;
  expect(server.ports[1].containerPort).toBe(Number(variable('ADMIN_PORT')));
  expect(variable('ADMIN_HOST')).toBe('0.0.0.0');
});

test('the backup has a place for its file, and servers make none beside it', () => {
  const backup = pods[2].spec;
  expect(backup.containers[0].command).toEqual(['node', 'dist/cli.js', 'backup']);
  const { claimName } = backup.volumes.find(({ name }: { name: string }) => name === 'backups').persistentVolumeClaim;
  expect(manifests.find(({ kind }) => kind === 'PersistentVolumeClaim')!['metadata'].name).toBe(claimName);
  expect(backup.containers[0].volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toContain('/data');
  expect(pods[1].spec.containers[0].env).toContainEqual({ name: 'BACKUP_AT', value: 'elsewhere' });
});
