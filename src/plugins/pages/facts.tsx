import type { ComponentChildren, VNode } from 'preact';
import { locationLines } from '../../core/address-format.ts';
import { spanEnds, type DateSpan } from '../../core/date-format.ts';
import type { Language } from '../../core/reference/language.ts';
import { normalizeLineBreaks } from '../../core/text.ts';
import type { Texts } from './texts.ts';

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

type GatheringsProps = { texts: Pick<Texts, 'gatherings'>; children: VNode[] };

/** The meetings of a date. */
export const Gatherings = ({ texts, children }: GatheringsProps) =>
  children.length > 0 && (
    <section aria-labelledby="gatherings">
      <h2 id="gatherings">{texts.gatherings}</h2>
      <ol class="gatherings">
        {children.map((gathering) => (
          <li>{gathering}</li>
        ))}
      </ol>
    </section>
  );

type GatheringProps = WhenProps & {
  theme: string | null;
  description: string | null;
  location: Parameters<typeof locationLines>[0];
};

export function Gathering({ view, span, theme, description, location }: GatheringProps) {
  const lines = locationLines(location);
  return (
    <>
      <p class="when">
        <When view={view} span={span} />
      </p>
      {theme && <p>{theme}</p>}
      {description && (
        <p>
          <Lines lines={normalizeLineBreaks(description).split('\n')} />
        </p>
      )}
      {lines.length > 0 && (
        <p>
          <Lines lines={lines} />
        </p>
      )}
    </>
  );
}
