// Preloaded into a server by `--import`. On SIGUSR2 it prints the longest event loop stall in ms and peak memory in MB
// since the last signal, and current memory, heap after garbage collection (with `--expose-gc`) and open handles.
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
