import type { Provider } from './test-app.ts';

export const newestEvent = async (me: Provider) => (await me.get('/v2/changes')).json<{ cursor: string }>().cursor;
export const eventsSince = async (me: Provider, cursor: string) =>
  (await me.get(`/v2/changes?since=${cursor}`)).json<{ items: { type: string }[] }>().items.map(({ type }) => type);
