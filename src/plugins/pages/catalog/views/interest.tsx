import { Field, Honeypot } from '../../field.tsx';
import { fill } from '../../fill.ts';
import type { FormError } from '../booking/errors.ts';
import type { InterestField, InterestForm as Typed } from '../interests/service.ts';
import type { View } from '../view.ts';
import { Errors } from './booking/form.tsx';
import { Layout } from './layout.tsx';

type FormProps = {
  view: View;
  course: { id: number; title: string };
  form?: Typed;
  errors?: FormError[];
};

/** The form of a course without a coming date, with its errors. */
export function InterestPage(props: FormProps) {
  const { view, course, errors = [] } = props;
  const { texts, paths } = view;
  const title = fill(texts.interest.pageTitle, course.title);
  return (
    <Layout view={view} title={errors.length > 0 ? fill(texts.form.errorTitle, title) : title} isIndexed={false}>
      <p class="trail">
        <a href={paths.start}>{texts.home}</a> › <a href={paths.course(course)}>{course.title}</a>
      </p>
      <h1>{title}</h1>
      <Errors view={view} errors={errors} />
      <InterestForm {...props} />
    </Layout>
  );
}

const types: Record<InterestField, 'email' | 'text'> = { email: 'email', name: 'text' };
const maxLengths: Record<InterestField, number> = { email: 254, name: 255 };

export function InterestForm({ view, course, form, errors = [] }: FormProps) {
  const { interest: texts, fields, form: common } = view.texts;
  return (
    <form method="post" action={view.paths.interest(course)} class="booking">
      <p>{texts.help}</p>
      <Honeypot label={common.honeypot} />
      <div class="fields">
        {(['email', 'name'] as const).map((field) => (
          <Field
            name={field}
            label={field === 'email' ? fields.email : `${fields.name} ${common.optional}`}
            type={types[field]}
            autocomplete={field}
            isRequired={field === 'email'}
            value={form?.[field]}
            maxLength={maxLengths[field]}
            error={errors.find(({ name }) => name === field)?.text}
          />
        ))}
      </div>
      <p>
        <button>{texts.submit}</button>
      </p>
    </form>
  );
}
