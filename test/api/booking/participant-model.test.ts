import { test } from 'vitest';
import { checkParticipantModel } from '../../support/participant-model.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp } from '../../support/test-app.ts';

test('random commands on a date change its participants by the table of transitions', async () => {
  await checkParticipantModel(await sharedTestApp(), runs());
});
