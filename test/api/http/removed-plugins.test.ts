import { expect, inject, onTestFinished, test } from 'vitest';
import { plugins } from '../../../src/plugins.ts';
import { openTestApp, openTestDatabase, settings } from '../../support/test-app.ts';

type Document = {
  paths: Record<string, object>;
  components: Record<string, Record<string, object>>;
  tags: { name: string }[];
  webhooks?: object;
};

/** An application with these plugins, and its OpenAPI document. */
async function openWith(used: typeof plugins) {
  const database = openTestDatabase(inject('shared'));
  const { app, createProvider, close } = await openTestApp(database, { plugins: used });
  onTestFinished(close);
  const document = (await app.inject('/openapi.json')).json<Document>();
  return { app, createProvider, document };
}

/** The names of all that is described. */
const listNames = ({ paths, components, tags, webhooks = {} }: Document) => [
  ...Object.keys(paths),
  ...Object.entries(components).flatMap(([kind, named]) => Object.keys(named).map((name) => `${kind}/${name}`)),
  ...tags.map(({ name }) => `tags/${name}`),
  ...Object.keys(webhooks).map((name) => `webhooks/${name}`),
];

/** What goes with a plugin: its operations, and their part of the document. */
const described: Record<string, string[]> = {
  pages: [
    ...['/v2/courses/{id}/interests', '/v2/catalog-settings'],
    ...['CatalogFieldUse', 'CatalogFields', 'CatalogFieldsInput', 'CatalogFont', 'CatalogSettings'].map(toSchema),
    ...['CatalogSettingsUpdate', 'CatalogTheme', 'CatalogThemeInput'].map(toSchema),
    ...['Interest', 'InterestCreate', 'InterestLanguage', 'InterestReceived'].map(toSchema),
  ],
  delivery: [
    ...['/v2/mails', '/v2/mails/{id}', '/v2/mails/{id}/resend'],
    ...['', '/{id}', '/{id}/deliveries', '/{id}/rotate', '/{id}/test'].map((path) => `/v2/webhooks${path}`),
    ...['Mail', 'MailOrder', 'MailPurpose', 'MailState'].map(toSchema),
    ...['Webhook', 'WebhookCreate', 'WebhookDelivery', 'WebhookDisabledReason', 'WebhookMessage'].map(toSchema),
    ...['WebhookMessageData', 'WebhookPayload', 'WebhookUpdate', 'WebhookWithSecret'].map(toSchema),
    ...['headers/X-Warning', 'parameters/IdOfMail', 'parameters/IdOfWebhook'],
    ...['responses/MailNotFound', 'responses/WebhookNotFound'],
    ...['tags/Mails', 'tags/Webhooks', 'webhooks/change'],
  ],
};
function toSchema(name: string) {
  return `schemas/${name}`;
}

test.each(plugins.map(({ name }) => name))('without %s its part of the OpenAPI document is gone', async (name) => {
  const complete = await openWith(plugins);
  const { app, createProvider, document } = await openWith(plugins.filter((plugin) => plugin.name !== name));
  const left = new Set(listNames(document));
  const gone = listNames(complete.document).filter((one) => !left.has(one));
  expect(gone.toSorted(), '`described` of this file names the parts of each plugin').toEqual(
    (described[name] ?? []).toSorted(),
  );
  const text = JSON.stringify(document);
  const references = [...text.matchAll(/"#\/components\/([\w/-]+)"/g)].map(([, target]) => target!);
  expect(references.filter((target) => !left.has(target))).toEqual([]);

  const { apiKey } = await createProvider();
  const nothing = { error: 'There is nothing at this path' };
  for (const path of gone.filter((one) => one.startsWith('/'))) {
    const request = { url: path.replace('{id}', '1'), headers: { 'x-api-key': apiKey } };
    expect((await app.inject(request)).json(), path).toEqual(nothing);
    expect((await complete.app.inject(request)).json(), path).not.toEqual(nothing);
  }
});

test('the guides are linked where they are served', async () => {
  const guides = async (used: typeof plugins) =>
    ((await openWith(used)).document as { externalDocs?: { url: string } }).externalDocs?.url;
  expect(await guides(plugins)).toBe(`${settings.publicUrl}/docs/guides`);
  expect(await guides([])).toBeUndefined();
});
