import { type Command } from 'commander';
import { migrateDatabase } from '../../database/migrate.ts';
import { findMigrationDifferences } from '../../database/migration-history.ts';
import { assertReleaseIsSupported } from '../../database/releases.ts';
import { openStore, waitForDatabase } from '../../database/store.ts';
import { keepUidHost } from '../../database/service-state.ts';
import { raiseOomScore, command, print, readEnvironment, type Options } from './run.ts';

export function migrateCommand(program: Command) {
  command(program, 'migrate', 'Apply pending database migrations').action(async (options: Options) => {
    const config = readEnvironment(options);
    raiseOomScore(config);
    const store = await openStore(config, () => undefined);
    try {
      await waitForDatabase(store.database);
      await assertReleaseIsSupported(store.database.pool);
      const { applied } = await migrateDatabase(store.connection);
      await keepUidHost(store.database.pool, config.PUBLIC_URL);
      const differences = await findMigrationDifferences(store.database.pool);
      for (const difference of differences) console.error(`warning: ${difference}`);
      print(options.json, {
        json: { applied, ...(differences.length > 0 && { differences }) },
        text: applied === 0 ? 'Already up to date' : `Applied ${applied} migrations`,
      });
    } finally {
      await store.close();
    }
  });
}
