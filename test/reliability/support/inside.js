// Preloaded into a server by `--import`: on SIGUSR2 it prints the longest stall of the event loop in milliseconds and
// the largest memory in megabytes since the last time, and what it holds now: all memory, that of its objects after
// garbage is collected (with `--expose-gc`), and its open handles.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolution = 5;
const delay = monitorEventLoopDelay({ resolution });
delay.enable();
let memory = 0;
const megabytes = (bytes) => bytes / 1_048_576;
const look = () => (memory = Math.max(memory, megabytes(process.memoryUsage.rss())));
setInterval(look, 10).unref();

process.on('SIGUSR2', () => {
  look();
  const stall = Math.max(0, delay.max / 1e6 - resolution);
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().length;
  const now = { resident: megabytes(rss), objects: megabytes(heapUsed + external), handles };
  console.log(`inside ${JSON.stringify({ stall, memory, ...now })}`);
  delay.reset();
  memory = 0;
});
