/** Every key and password used in the run. */
const secrets = new Set<string>();
/** Output of the current scenario's servers. */
let logs: (() => string)[] = [];
const seen = { servers: 0, characters: 0, shown: new Set<string>() };

/** Registers a secret that must not appear in any log; returns it. */
export function keepSecret(secret: string) {
  if (secret.length >= 10) secrets.add(secret);
  return secret;
}

/** Registers output to search at the end of the scenario. */
export const searchLater = (printed: () => string) => void logs.push(printed);

/** The first error lines that the scenario's servers logged. */
export const errorsLogged = () =>
  logs
    .flatMap((printed) => printed().split('\n'))
    .filter((line) => line.includes('"level":50'))
    .slice(0, 5);

/** Searches the output since the last call, also for truncated secrets as quoted by parsers. */
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

/** Summary of all searched logs; undefined if no server ran. */
export function lookAtLogs() {
  if (seen.servers === 0) return undefined;
  // Negative control: a line that contains a part of each secret.
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
