import { coreTasks } from '../../src/database/housekeeping.ts';
import { plugins } from '../../src/plugins.ts';

/** The tasks of a server with all plugins. */
export const tasks = [...coreTasks, ...plugins.flatMap(({ housekeeping = [] }) => housekeeping)];
