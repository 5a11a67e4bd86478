import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { demoDatabase } from '../../support/demo-database.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { openTestApp, openTestDatabase, ownDatabase, send, type TestApp } from '../../support/test-app.ts';
import { startReceiver } from '../../support/webhooks.ts';

type WorkflowStep = {
  stepId: string;
  parameters: { name?: string; value?: unknown }[];
  successCriteria: { condition: string }[];
};
type Workflows = { workflows: { workflowId: string; steps: WorkflowStep[] }[] };
type Step = { stepId: string; checks: { passed: boolean; message: string; condition?: string }[] };
type Result = { executedWorkflows: { workflowId: string; executedSteps: Step[] }[] };

async function openDemoSchool() {
  const { name, key } = await demoDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  return openSchool(testApp, key);
}

/** A school, and a function that runs documents there in one process and returns the conditions that fail, by workflow. */
async function openSchool(testApp: TestApp, key: string) {
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' });
  const receiver = await startReceiver();
  const folder = temporaryFolder();
  const output = join(folder, 'output.json');
  const load = async (path: string) => (await send(testApp.app, { url: path })).text;
  writeFileSync(join(folder, 'openapi.json'), await load('/openapi.json'));
  const inputs = JSON.stringify({ key, receiver: receiver.url });
  const options = ['--server', `booking=${url}`, '--input', inputs, '--json-output', output];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return {
    workflows: parse(await load('/workflows.arazzo.yaml')) as Workflows,
    async run(...documents: Workflows[]) {
      const files = documents.map((_, n) => join(folder, `${n}.arazzo.yaml`));
      documents.forEach((document, n) => writeFileSync(files[n]!, JSON.stringify(document)));
      const args = ['respect', ...files, ...options];
      const printed = await new Promise<string>((done) =>
        execFile('node_modules/.bin/redocly', args, { env }, (_error, stdout, stderr) => done(stdout + stderr)),
      );
      return Object.values(readResults(output, printed).files).map(({ executedWorkflows }) =>
        executedWorkflows.map(({ workflowId, executedSteps }) => ({
          workflowId,
          steps: executedSteps.length,
          failed: executedSteps.flatMap(({ stepId, checks }) =>
            checks
              .filter(({ passed }) => !passed)
              .map(({ condition, message }) => `${stepId}: ${condition ?? message}`),
          ),
        })),
      );
    },
  };
}

function readResults(file: string, printed: string) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { files: Record<string, Result> };
  } catch {
    throw new Error(printed);
  }
}

const opposites: Record<string, string> = { '==': '!=', '!=': '==', '>': '<=' };

/** The sync up to its new course, which stays. */
function breakOff({ workflows, ...rest }: Workflows): Workflows {
  const { steps, ...sync } = workflows.find(({ workflowId }) => workflowId === 'sync')!;
  const change = steps.findIndex(({ stepId }) => stepId === 'change');
  return { ...rest, workflows: [{ ...sync, steps: steps.slice(0, change + 1) }] };
}

/** The booking and its repetition, which has another key. */
function bookTwice({ workflows, ...rest }: Workflows): Workflows {
  const { steps, ...bookOnce } = structuredClone(workflows.find(({ workflowId }) => workflowId === 'bookOnce')!);
  const repeat = steps.findIndex(({ stepId }) => stepId === 'repeat');
  for (const parameter of steps[repeat]!.parameters)
    if (parameter.name === 'Idempotency-Key') parameter.value = `another-${String(parameter.value)}`;
  return { ...rest, workflows: [{ ...bookOnce, steps: steps.slice(0, repeat + 1) }] };
}

/** The workflows with the opposite of the last criterion of each. */
function breakEach({ workflows, ...rest }: Workflows): Workflows {
  const broken = structuredClone(workflows);
  for (const { steps } of broken) {
    const criterion = steps.at(-1)!.successCriteria.at(-1)!;
    criterion.condition = criterion.condition.replace(/[=!]=|>/, (operator) => opposites[operator]!);
  }
  return { ...rest, workflows: broken };
}

test('the workflows of docs/api succeed with demo data, also a second time and after a run that broke off; each fails by its last criterion', async () => {
  const { workflows, run } = await openDemoSchool();
  const expected = workflows.workflows.map(({ workflowId, steps }) => ({
    workflowId,
    steps: steps.length,
    failed: [],
  }));
  expect(expected.length).toBe(5);
  const documents = [breakOff(workflows), workflows, bookTwice(workflows), breakEach(workflows)];
  const [brokenOff, whole, twice, broken] = await run(...documents);
  expect(brokenOff).toMatchObject([{ workflowId: 'sync', failed: [] }]);
  expect(whole).toEqual(expected);
  expect(twice![0]!.failed).toEqual([
    "repeat: $response.header.Idempotent-Replayed == 'true'",
    'repeat: $response.body#/summary/booking_id == $steps.book.outputs.booking',
  ]);
  expect(broken).toEqual(expected.map((one) => ({ ...one, failed: [expect.any(String)] })));
}, 180_000);

test('the sync succeeds at a school with one course', async () => {
  const testApp = await openTestApp(openTestDatabase(await ownDatabase()));
  onTestFinished(testApp.close);
  const me = await testApp.createProvider();
  await me.course();
  const { workflows, run } = await openSchool(testApp, me.apiKey);
  const sync = workflows.workflows.filter(({ workflowId }) => workflowId === 'sync');
  expect(await run({ ...workflows, workflows: sync })).toMatchObject([[{ workflowId: 'sync', failed: [] }]]);
}, 180_000);
