import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figures, Load } from './load.ts';

export const hasWrk = spawnSync('sh', ['-c', 'command -v wrk']).status === 0;

let runs = 0;

/** Generates load with wrk, which uses less processor time than a Node client. */
export async function driveWithWrk({ url, connections, seconds, ...load }: Load): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'booking-wrk-'));
  const script = join(folder, 'load.lua');
  const { pathname, search } = new URL(url);
  writeFileSync(script, createLuaScript({ ...load, path: pathname + search }));
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${Math.max(1, Math.round(seconds))}s`,
    '--timeout',
    '10s',
    '-s',
    script,
    url,
  ];
  try {
    const output = await run(args);
    const line = /^figures (.*)$/m.exec(output)?.[1];
    if (line === undefined) throw new Error(`unexpected output of wrk: ${output}`);
    const { count, seconds: duration, p50, p99, errors, statuses } = JSON.parse(line) as WrkFigures;
    if (errors > 0) statuses['errors'] = (statuses['errors'] ?? 0) + errors;
    return { perSecond: count / duration, p50, p99, statuses };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
type WrkFigures = {
  count: number;
  seconds: number;
  p50: number;
  p99: number;
  errors: number;
  statuses: Record<string, number>;
};

type ScriptOptions = Omit<Load, 'url' | 'connections' | 'seconds'> & { path: string };

/** Unique across requests and runs. */
function createLuaScript({ method, headers, body, ids = [0], others, othersShare = 0, status, path }: ScriptOptions) {
  const first = process.pid * 1_000_000_000 + (runs += 1) * 10_000_000;
  // wrk adds `Host` itself.
  const added = Object.entries(headers).map(([name, value]) => `wrk.headers[${quote(name)}]=${quote(value)}`);
  const other = `if math.random() < ${othersShare} then return wrk.format(${quote(method)}, filled(others[math.random(#others)])) end`;
  const mainRequest =
    body === undefined
      ? `same = same or wrk.format(${quote(method)}, ${quote(path)}) return same`
      : `return wrk.format(${quote(method)}, ${quote(path)}, nil, filled(${quote(body)}))`;
  // Without a script wrk builds the request once and discards responses.
  const request =
    others === undefined && body === undefined
      ? ''
      : `request = function() n = n + 1 ${others === undefined ? '' : other} ${mainRequest} end`;
  const response =
    status === undefined ? 'response = function(status) statuses[status] = (statuses[status] or 0) + 1 end' : '';
  const countAssumed =
    status === undefined
      ? ''
      : `local errors = summary.errors.status
  table.insert(all, string.format('"${status}":%d', summary.requests - errors))
  if errors > 0 then table.insert(all, string.format('"errors":%d', errors)) end`;
  return `
${added.join('\n')}
local ids = {${ids.join(',')}}
local others = {${(others ?? []).map(quote).join(',')}}
local n = 0
local same = nil
local threads = {}
statuses = {}
local function filled(text)
  local id = tostring(ids[math.random(#ids)])
  return (text:gsub("{n}", string.format("%.0f", ${first} + n)):gsub("{id}", id))
end
${request}
${response}
setup = function(thread) table.insert(threads, thread) end
done = function(summary, latency)
  local all = {}
  for _, thread in ipairs(threads) do
    for status, count in pairs(thread:get("statuses")) do table.insert(all, string.format('"%d":%d', status, count)) end
  end
  ${countAssumed}
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  print(string.format('figures {"count":%d,"seconds":%f,"p50":%f,"p99":%f,"errors":%d,"statuses":{%s}}', summary.requests,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed, table.concat(all, ",")))
end
`;
}

const quote = (text: string) => JSON.stringify(text);

function run(args: string[]) {
  return new Promise<string>((done, failed) => {
    const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', failed);
    child.on('close', () => done(output));
  });
}
