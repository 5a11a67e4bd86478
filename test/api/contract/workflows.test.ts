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

/** A school, and a function that runs workflows there and returns the conditions that fail, by workflow. */
async function openSchool(testApp: TestApp, key: string) {
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' });
  const receiver = await startReceiver();
  const folder = temporaryFolder();
  const [file, output] = [join(folder, 'workflows.arazzo.yaml'), join(folder, 'output.json')];
  const load = async (path: string) => (await send(testApp.app, { url: path })).text;
  writeFileSync(join(folder, 'openapi.json'), await load('/openapi.json'));
  const inputs = JSON.stringify({ key, receiver: receiver.url });
  const args = ['respect', file, '--server', `booking=${url}`, '--input', inputs, '--json-output', output];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return {
    workflows: parse(await load('/workflows.arazzo.yaml')) as Workflows,
    async run(workflows: Workflows) {
      writeFileSync(file, JSON.stringify(workflows));
      const printed = await new Promise<string>((done) =>
        execFile('node_modules/.bin/redocly', args, { env }, (_error, stdout, stderr) => done(stdout + stderr)),
      );
      const { files } = readResults(output, printed);
      return Object.values(files)[0]!.executedWorkflows.map(({ workflowId, executedSteps }) => ({
        workflowId,
        steps: executedSteps.length,
        failed: executedSteps.flatMap(({ stepId, checks }) =>
          checks.filter(({ passed }) => !passed).map(({ condition, message }) => `${stepId}: ${condition ?? message}`),
        ),
      }));
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
  expect(await run(breakOff(workflows))).toMatchObject([{ workflowId: 'sync', failed: [] }]);
  expect(await run(workflows)).toEqual(expected);
  const [twice] = await run(bookTwice(workflows));
  expect(twice!.failed).toEqual([
    "repeat: $response.header.Idempotent-Replayed == 'true'",
    'repeat: $response.body#/summary/booking_id == $steps.book.outputs.booking',
  ]);
  const second = await run(breakEach(workflows));
  expect(second).toEqual(expected.map((one) => ({ ...one, failed: [expect.any(String)] })));
}, 180_000);

test('the sync succeeds at a school with one course', async () => {
  const testApp = await openTestApp(openTestDatabase(await ownDatabase()));
  onTestFinished(testApp.close);
  const me = await testApp.createProvider();
  await me.course();
  const { workflows, run } = await openSchool(testApp, me.apiKey);
  const sync = workflows.workflows.filter(({ workflowId }) => workflowId === 'sync');
  expect(await run({ ...workflows, workflows: sync })).toMatchObject([{ workflowId: 'sync', failed: [] }]);
}, 180_000);
