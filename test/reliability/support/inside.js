// Preloaded into a server by `--import`: on SIGUSR2 it prints the longest stall of the event loop in milliseconds and
// the largest memory in megabytes since the last time.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolution = 5;
const delay = monitorEventLoopDelay({ resolution });
delay.enable();
let memory = 0;
const look = () => (memory = Math.max(memory, process.memoryUsage.rss() / 1_048_576));
setInterval(look, 10).unref();

process.on('SIGUSR2', () => {
  look();
  const stall = Math.max(0, delay.max / 1e6 - resolution);
  console.log(`inside ${JSON.stringify({ stall, memory })}`);
  delay.reset();
  memory = 0;
});
