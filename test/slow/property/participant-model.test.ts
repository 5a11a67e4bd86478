import { test } from 'vitest';
import { checkParticipantModel } from '../../support/participant-model.ts';
import { sharedTestApp } from '../../support/test-app.ts';

test('1,000 histories of a date follow the table of transitions', async () => {
  await checkParticipantModel(await sharedTestApp(), 1_000);
});
