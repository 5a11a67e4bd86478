import type { TestResponse } from './test-app.ts';

export type FormFields = Record<string, string>;

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const decode = (text: string) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name]!);
const attribute = (tag: string, name: string) => {
  const [found, value] = new RegExp(`\\s${name}(?:="([^"]*)")?(?=[\\s/>])`).exec(tag) ?? [];
  return found === undefined ? undefined : decode(value ?? '');
};

/** The fields that a browser would send for a form in which nothing is changed. */
export function readFormFields({ text }: Pick<TestResponse, 'text'>): FormFields {
  const [form = ''] = /<form method="post".*<\/form>/s.exec(text) ?? [];
  const inputs = [...form.matchAll(/<input(?:[^>"]|"[^"]*")*>/g)].flatMap(([tag]) => {
    const isOff = attribute(tag, 'type') === 'radio' && attribute(tag, 'checked') === undefined;
    return isOff ? [] : [[attribute(tag, 'name')!, attribute(tag, 'value') ?? '']];
  });
  const areas = [...form.matchAll(/(<textarea(?:[^>"]|"[^"]*")*>)([^<]*)/g)].map(([, tag, value]) => [
    attribute(tag!, 'name')!,
    decode(value!),
  ]);
  const selects = [...form.matchAll(/(<select[^>]*>)(.*?)<\/select>/gs)].map(([, tag, options]) => {
    const all = [...options!.matchAll(/<option[^>]*>/g)].map(([option]) => option);
    const chosen = all.find((option) => attribute(option, 'selected') !== undefined) ?? all[0]!;
    return [attribute(tag!, 'name')!, attribute(chosen, 'value')!];
  });
  return Object.fromEntries([...inputs, ...areas, ...selects]) as FormFields;
}

/** The text of a page's main part, with `|` for tags. */
export const readMain = ({ text }: Pick<TestResponse, 'text'>) =>
  decode(
    /<main[^>]*>(.*)<\/main>/s
      .exec(text)![1]!
      .replaceAll(/<[^>]*>/g, '|')
      .replaceAll(/\s*\|[|\s]*/g, '|')
      .replaceAll('\u00a0', ' '),
  );

export const personFields = (n: number, more: FormFields = {}): FormFields => ({
  [`firstname_${n}`]: `Kari${n}`,
  [`lastname_${n}`]: 'Nordmann',
  [`email_${n}`]: `kari${n}@form.example`,
  ...Object.fromEntries(Object.entries(more).map(([name, value]) => [`${name}_${n}`, value])),
});
