/**
 * The first signal stops the process, gracefully once there is something to finish; another one ends it at once,
 * unless it comes so soon that it is the same key press, which npm passes on a second time.
 */
export function onStopSignal() {
  let finish: (signal: string) => Promise<void> = () => Promise.resolve();
  let since: number | undefined;

  const onSignal = (signal: string) => {
    if (since !== undefined) {
      if (performance.now() - since > 500) process.exit(1);
      return;
    }
    since = performance.now();
    finish(signal).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, onSignal);
  // A terminal that closes, or a log rotation, sends it.
  process.on('SIGHUP', () => undefined);
  return { gracefully: (work: (signal: string) => Promise<void>) => void (finish = work) };
}
