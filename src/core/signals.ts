/** The first SIGINT or SIGTERM stops the process gracefully, a second one immediately. */
export function onStopSignal() {
  let shutDown: (signal: string) => Promise<void> = () => Promise.resolve();
  let stoppedAt: number | undefined;

  const onSignal = (signal: string) => {
    if (stoppedAt !== undefined) {
      // npm forwards the signal of one key press a second time.
      if (performance.now() - stoppedAt > 500) process.exit(1);
      return;
    }
    stoppedAt = performance.now();
    shutDown(signal).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, onSignal);
  // Sent by a closing terminal or a log rotation.
  process.on('SIGHUP', () => undefined);
  return { gracefully: (handler: (signal: string) => Promise<void>) => void (shutDown = handler) };
}
