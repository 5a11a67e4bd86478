/** Every key and password used in the run. */
const secrets = new Set<string>();
/** Output of the current scenario's servers. */
let logs: (() => string)[] = [];
const searched = { servers: 0, characters: 0, leaked: new Set<string>() };

/** Registers a secret that must not appear in any log; returns it. */
export function registerSecret(secret: string) {
  if (secret.length >= 10) secrets.add(secret);
  return secret;
}

/** Registers output to search at the end of the scenario. */
export const registerLog = (printed: () => string) => void logs.push(printed);

/** The first error lines that the scenario's servers logged. */
export const loggedErrors = () =>
  logs
    .flatMap((printed) => printed().split('\n'))
    .filter((line) => line.includes('"level":50'))
    .slice(0, 5);

/** Searches the output since the last call, also for truncated secrets as quoted by parsers. */
export function searchLogs() {
  for (const printed of logs) {
    const text = printed();
    searched.servers += 1;
    searched.characters += text.length;
    for (const secret of secretsIn(text)) searched.leaked.add(secret);
  }
  logs = [];
}

const secretsIn = (text: string) => [...secrets].filter((secret) => text.includes(secret.slice(0, 10)));

/** Summary of all searched logs; undefined if no server ran. */
export function summarizeLogs() {
  if (searched.servers === 0) return undefined;
  // Negative control: a line that contains a part of each secret.
  const found = secretsIn([...secrets].map((secret) => `Unexpected token in "${secret.slice(0, 12)}"…`).join('\n'));
  return {
    figures: [
      `${searched.leaked.size} of ${secrets.size} keys and passwords in ${searched.characters} characters of ${searched.servers} servers' logs`,
      `control: ${found.length} of them detected when logged`,
    ].join(', '),
    failures: [
      ...[...searched.leaked].map((secret) => `a log contains a secret: ${secret.slice(0, 6)}…`),
      ...(secrets.size > 0 && found.length === secrets.size ? [] : ['control: a logged secret not detected']),
      ...(searched.characters > 0 ? [] : ['no server printed anything']),
    ],
  };
}
