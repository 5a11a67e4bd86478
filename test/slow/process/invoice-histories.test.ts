import { expect, test } from 'vitest';
import { playHistory } from '../../support/invoice-history.ts';
import { programs, python, readDocuments, runProgram, writeProgram, type Program } from '../../support/invoicing.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedPort, sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const port = await sharedPort();
const seeds = Array.from({ length: Math.ceil(runs() / 10) }, (_, n) => n + 1);

/** Plays a history with the program, changed by `change`. */
async function play(program: Program, seed: number, change?: (text: string) => string) {
  const me = await testApp.createProvider();
  const cwd = writeProgram(program, change);
  return playHistory(testApp, me, seed, async (killed) =>
    readDocuments(await runProgram(program, { cwd, key: me.apiKey, port, killed })),
  );
}

test.for(programs)(
  'by the program in $language invoices less credit notes are what is paid and due, in random histories',
  { timeout: 600_000 },
  async (program, { skip }) => {
    if (!program.isInstalled) return skip(`${program.language} is missing`);
    let documents = 0;
    for (const seed of seeds) {
      const played = await play(program, seed);
      expect([seed, played.wrong]).toEqual([seed, []]);
      documents += played.documents;
    }
    expect(documents).toBeGreaterThan(3 * seeds.length);
  },
);

const withoutCredits = (text: string) => text.replace('uncredited=true', 'uncredited=true&created_at_min=2999-01-01');

/** The former rule: shares of those who owe nothing are left out, and credits are taken whole. */
const withoutShares = (text: string) =>
  withoutCredits(text).replace(
    /^( +)amount = .*\n/m,
    (line, indent: string) =>
      `${line}${indent}for one in invoicing["uncredited"]:\n` +
      `${indent}    line = next(line for line in order["lines"] if line["id"] == one["line_id"])\n` +
      `${indent}    amount -= Decimal(str(line["gross"])) * len(one["participants"]) / line["quantity"]\n`,
  );

const controls: [string, (text: string) => string, RegExp][] = [
  ['credits nobody', withoutCredits, /uncredited/],
  ['leaves out shares', withoutShares, /is invoiced less credited/],
  ['prints the booker', (text) => text.replace("invoicing['payer']['name']", "order['booker']"), /instead of/],
];
test.for(controls)(
  'negative control: a program that %s does not agree',
  { timeout: 300_000 },
  async ([, change, expected], { skip }) => {
    if (!python.isInstalled) return skip('python is missing');
    const found: string[] = [];
    for (const seed of seeds) found.push(...(await play(python, seed, change)).wrong);
    expect(found.join('\n')).toMatch(expected);
  },
);
