import type { Settings } from '../core/context.ts';
import type { Language } from '../reference/language.ts';
import type { Person, School } from './people.ts';
import { stylesheet } from './style.ts';
import { texts, type Texts } from './texts.ts';

/** What every page is written with: its reader's language, its links and, once they are known, its school and person. */
export type View = {
  language: Language;
  says: Texts;
  paths: Paths;
  /** The service's own; another one is named beside its times. */
  timezone: string;
  school?: School;
  person?: Person;
};
/** Of somebody who is signed in. */
export type PersonalView = View & Required<Pick<View, 'school' | 'person'>>;

export const viewFor = (language: Language, paths: Paths, { timezone }: Settings): View => ({
  language,
  says: texts[language],
  paths,
  timezone,
});

/** The pages' addresses, below the path of PUBLIC_URL where a proxy serves this server below one. */
export function createPaths({ publicUrl }: Settings) {
  const my = `${new URL(publicUrl).pathname.replace(/\/$/, '')}/my`;
  return {
    courses: my,
    course: (participantId: number) => `${my}/courses/${participantId}`,
    calendar: (participantId: number) => `${my}/courses/${participantId}/calendar.ics`,
    details: `${my}/details`,
    password: `${my}/password`,
    passwordChanged: `${my}/password-changed`,
    logOut: `${my}/log-out`,
    style: `${my}/${stylesheet.name}`,
  };
}
export type Paths = ReturnType<typeof createPaths>;
