/** Every key and password that the run has used. */
const secrets = new Set<string>();
/** What the servers of the row under way have printed. */
let logs: (() => string)[] = [];
const seen = { servers: 0, characters: 0, shown: new Set<string>() };

/** To be in no server's log; answers it. */
export function keepSecret(secret: string) {
  if (secret.length >= 10) secrets.add(secret);
  return secret;
}

/** To be searched at the end of the row. */
export const searchLater = (printed: () => string) => void logs.push(printed);

/** What the servers of the row under way have logged as errors, the first few. */
export const errorsLogged = () =>
  logs
    .flatMap((printed) => printed().split('\n'))
    .filter((line) => line.includes('"level":50'))
    .slice(0, 5);

/** Searches what was printed since the last time; also for as much of a secret as a parser quotes. */
export function searchLogs() {
  for (const printed of logs) {
    const text = printed();
    seen.servers += 1;
    seen.characters += text.length;
    for (const secret of shownIn(text)) seen.shown.add(secret);
  }
  logs = [];
}

const shownIn = (text: string) => [...secrets].filter((secret) => text.includes(secret.slice(0, 10)));

/** What was found in all the logs together; of no server nothing can be said. */
export function lookAtLogs() {
  if (seen.servers === 0) return undefined;
  // The negative control: a line that tells each of them, in part.
  const told = shownIn([...secrets].map((secret) => `Unexpected token in "${secret.slice(0, 12)}"…`).join('\n'));
  return {
    figures: [
      `${seen.shown.size} of ${secrets.size} keys and passwords in ${seen.characters} characters of ${seen.servers} servers' logs`,
      `control: ${told.length} seen where they are told`,
    ].join(', '),
    faults: [
      ...[...seen.shown].map((secret) => `a log shows a secret: ${secret.slice(0, 6)}…`),
      ...(secrets.size > 0 && told.length === secrets.size ? [] : ['a secret that is told is not seen']),
      ...(seen.characters > 0 ? [] : ['no server has printed anything']),
    ],
  };
}
