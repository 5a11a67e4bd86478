import { keyProfiles, type KeyProfile } from '../../src/core/api-key.ts';
import { createKey } from '../../src/domains/school/auth/key-service.ts';
import {
  containsText,
  createOwner,
  dumpRows,
  fillPath,
  passwordHash,
  secretNumber,
  unlistedMarker,
  type Owner,
} from './isolation.ts';
import { allowedProfiles, requiredQuery, writeTable } from './isolation-table.ts';
import { send, type Provider, type TestApp, type TestResponse } from './test-app.ts';

/** Request functions with a key of the profile. */
export async function withProfile(
  { app }: Pick<TestApp, 'app'>,
  me: Pick<Provider, 'ctx' | 'id'>,
  profile: KeyProfile,
  fields: Omit<Parameters<typeof createKey>[1], 'profile'> = {},
) {
  const { apiKey, keyId } = await createKey(await me.ctx(), { profile, ...fields });
  const request =
    (method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS') =>
    (url: string, payload?: object, headers: Record<string, string> = {}) =>
      send(app, { method, url, headers: { 'x-api-key': apiKey, ...headers }, ...(payload && { payload }) });
  return { apiKey, keyId, request, get: (url: string, headers = {}) => request('GET')(url, undefined, headers) };
}
export type KeyOf = Awaited<ReturnType<typeof withProfile>>;

/** The 403 of a key in the words of the endpoint's interface. */
export function refusal(route: string, profile: KeyProfile) {
  const error = `A key with the profile ${profile} may not do this`;
  if (/ \/(schools|courses)$/.test(route)) return { status: 'failure', error };
  return / \/v2\/(booking(?!-settings)|batch|campaigns\/validate|vouchers\/validate)/.test(route)
    ? { successful: false, errors: [{ code: 'forbidden', message: error }], error }
    : { error };
}

type Cell = { route: string; profile: KeyProfile; of: 'own' | 'foreign' };
const nameOf = ({ route, profile, of }: Cell) => `${route} ${profile} ${of}`;

/**
 * Calls every endpoint with a key of each profile, of the owner and of a stranger, with the ids of the owner; returns the
 * cells that do not answer as `allowed` says. Calls that are refused come first, and change no row. One run for
 * each database, since it creates an owner. `routes` are all of them by default.
 */
export async function findWrongCells(testApp: TestApp, allowed = allowedProfiles, routes = Object.keys(allowed)) {
  const owner = await createOwner(testApp);
  const stranger = await testApp.createProvider();
  const keys = await Promise.all(
    keyProfiles.map(async (profile) => ({
      profile,
      own: await withProfile(testApp, owner.me, profile),
      foreign: await withProfile(testApp, stranger, profile),
    })),
  );
  const cells = routes.flatMap((route) =>
    keys.flatMap(({ profile, own, foreign }) => [
      { route, profile, of: 'own' as const, key: own },
      { route, profile, of: 'foreign' as const, key: foreign },
    ]),
  );
  const isAllowed = ({ route, profile }: Cell) => allowed[route]!.includes(profile);
  const wrong: string[] = [];
  const before = await dumpRows(testApp, owner.me.id);
  for (const cell of cells.filter((one) => !isAllowed(one))) {
    const { status, text } = await call(cell, owner);
    if (status !== 403 || text !== JSON.stringify(refusal(cell.route, cell.profile))) wrong.push(nameOf(cell));
  }
  const rowsAreEqual = JSON.stringify(before) === JSON.stringify(await dumpRows(testApp, owner.me.id));
  // Reads first: a date that a write creates has the numbers of its location.
  const isWrite = ({ route }: Cell) => Number(!route.startsWith('GET '));
  for (const cell of cells.filter(isAllowed).sort((one, other) => isWrite(one) - isWrite(other))) {
    if (!isAsAllowed(cell, await call(cell, owner))) wrong.push(nameOf(cell));
  }
  return { count: cells.length, wrong, rowsAreEqual };
}

function call({ route, key }: { route: string; key: KeyOf }, { ids }: Owner) {
  const [method, path] = route.split(' ') as [Parameters<KeyOf['request']>[0], string];
  const query = requiredQuery(ids)[route];
  const target = route.includes('/campaigns/') ? [query, `course_id=${ids.course}`] : [query];
  const body = writeTable.find((one) => one.route === route)?.bodies(ids)[0];
  return key.request(method)(`${fillPath(path, ids)}?${target.filter(Boolean).join('&')}`, body);
}

const secrets = [passwordHash, String(secretNumber)];

/** A foreign key shows nothing of the owner; a publishable one nothing that is not public. */
function isAsAllowed({ route, profile, of }: Cell, { status, text }: TestResponse) {
  if (status === 403 || status >= 500 || containsText(text, passwordHash)) return false;
  if (of === 'foreign') return !containsText(text) || route === 'POST /v2/admin-users';
  if (route.startsWith('GET ') && status !== 200) return false;
  if (profile !== 'publishable') return true;
  return ![...secrets, unlistedMarker].some((secret) => containsText(text, secret));
}
