import { toBasePath, type Settings } from '../../../core/settings.ts';
import type { PageView } from '../layout.tsx';
import type { Person, School } from './people.ts';
import { myStyle } from '../style.ts';

/** Common properties of all pages; `school` and `person` once they are known. */
export type View = PageView & {
  paths: Paths;
  school?: School;
  person?: Person;
};
export type PersonalView = View & Required<Pick<View, 'school' | 'person'>>;

/** Paths of the pages, with the path of PUBLIC_URL as prefix. */
export function createPaths({ publicUrl }: Settings) {
  const my = `${toBasePath(publicUrl)}/my`;
  return {
    courses: my,
    course: (participantId: number) => `${my}/courses/${participantId}`,
    cancel: (participantId: number) => `${my}/courses/${participantId}/cancel`,
    calendar: (participantId: number) => `${my}/courses/${participantId}/calendar.ics`,
    booking: (token: string) => `${my}/booking/${token}`,
    cancelBooked: (token: string, participantId: number) => `${my}/booking/${token}/cancel/${participantId}`,
    details: `${my}/details`,
    password: `${my}/password`,
    passwordChanged: `${my}/password-changed`,
    sessions: `${my}/sessions`,
    logOut: `${my}/log-out`,
    style: `${my}/${myStyle.name}`,
  };
}
export type Paths = ReturnType<typeof createPaths>;
