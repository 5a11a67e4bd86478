import { randomInt } from 'node:crypto';
import { newKey } from '../../../src/plugins/pages/catalog/booking/form.ts';
import { readFormFields } from '../../support/catalog-form.ts';
import type { HttpResponse } from './client.ts';
import type { School } from './school.ts';

/** Makes a server believe the addresses of the posts. */
export const formEnv = { TRUST_PROXY: '127.0.0.1' };

/** Switches the school's catalog on; each post of the form is of another person and address. */
export async function openBookingForm(base: string, { client, id }: School, dateId: number) {
  const slug = `school-${id}`;
  await client.send(`${base}/v2/catalog-settings`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ enabled: true, slug }),
  });
  const forwarded = () => ({ 'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}` });
  const byId = `${base}/catalog/${slug}/dates/${dateId}/book`;
  const { headers } = await client.get(byId, { headers: forwarded() });
  const url = headers.location === undefined ? byId : `${base}${headers.location}`;
  const fields = readFormFields(await client.get(url, { headers: forwarded() }));
  if (fields['key'] === undefined) throw new Error(`there is no form at ${url}`);
  return {
    get: (): Promise<HttpResponse> => client.get(url, { headers: forwarded() }),
    /** 303 if it has booked. */
    post(): Promise<HttpResponse> {
      const key = newKey();
      const person = { firstname_1: 'Kari', lastname_1: `No ${key}`, email_1: `${key.toLowerCase()}@form.example` };
      return client.send(url, {
        method: 'POST',
        headers: { ...forwarded(), 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...fields, ...person, key, action: 'book' }).toString(),
      });
    },
  };
}
