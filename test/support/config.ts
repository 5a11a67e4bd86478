import { declareVariables, readConfig as readCoreConfig } from '../../src/core/config.ts';
import { plugins } from '../../src/plugins.ts';

/** The configuration of a server with all plugins. */
export const readConfig = (env: NodeJS.ProcessEnv) => readCoreConfig(env, plugins);
export const declarations = declareVariables(plugins);
