import type { ComponentChildren } from 'preact';
import { spanEnds, type DateSpan } from '../../core/date-format.ts';
import type { Language } from '../../core/reference/language.ts';

type WhenProps = { view: { language: Language }; span: DateSpan; isInSentence?: boolean };

/** Days and times; `.time` does not wrap. */
export const When = ({ view, span, isInSentence = false }: WhenProps) => (
  <>
    {spanEnds(span, view.language).map(({ day, time }, n) => (
      <>
        {n > 0 && ' – '}
        {n === 0 && !isInSentence ? capitalized(day) : day}
        {time && (
          <>
            , <span class="time">{time}</span>
          </>
        )}
      </>
    ))}
  </>
);

/** Norwegian weekdays are in lower case except at the start of a line. */
export const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

export const Lines = ({ lines }: { lines: string[] }) => (
  <>
    {lines.map((line, n) => (
      <>
        {n > 0 && <br />}
        {line}
      </>
    ))}
  </>
);
