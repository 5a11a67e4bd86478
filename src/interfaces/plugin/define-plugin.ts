import type { Command } from 'commander';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { PoolConfig } from 'pg';
import type { Config, PluginSettings } from '../../core/config.ts';
import type { Settings } from '../../core/settings.ts';
import type { Log } from '../../core/log.ts';
import type { Database } from '../../database/client.ts';
import type { Task } from '../../database/housekeeping.ts';
import type { Job } from '../../database/periodic.ts';
import type { Services } from '../../http/auth/authenticate.ts';
import type { Condition, SystemCheck } from './checks.ts';
import type { CreateArea } from './metrics.ts';

/** The commands of a first argument; `load` keeps their modules out of other commands. */
export type CommandGroup = { names: string[]; load: () => Promise<(program: Command) => void> };

/** Routes outside the interfaces, with the error format and the checks of the plugin itself. */
type Routes = {
  prefix?: string;
  /** A path below the prefix that cannot be decoded reaches the plugin, with `%` escaped. */
  repairsPaths?: true;
  load: () => Promise<FastifyPluginAsync<Services & { plugins: readonly Plugin[] }>>;
};

export type OperationGroup = { prefix: string; routes: FastifyPluginAsync };

/** Operations of `/v2`. */
type Operations = {
  groups: OperationGroup[];
  /** The section `webhooks` of the OpenAPI document: the messages that the plugin sends. */
  messages?: object;
};

/** Where a plugin finds its values. */
export type PluginConfig = Pick<Config, 'of'>;

/** Dependencies of a plugin in a running server. */
export type ServerContext = {
  config: Config;
  database: Database;
  connection: PoolConfig;
  log: Log;
  /** Read for the standard variables of a library alone. */
  env: NodeJS.ProcessEnv;
  plugins: readonly Plugin[];
};

/** A plugin's part of a running server. */
export type ServerPart = {
  /** Registered before all else, so that it sees every hook. */
  instrumentation?: FastifyPluginAsync | undefined;
  /** Adds hooks for all routes. */
  observe?: (app: FastifyInstance, settings: Settings) => void;
  routes?: ((app: FastifyInstance, services: Services) => void) | undefined;
  /** Once the server listens. */
  listen?: () => Promise<void>;
  /** Once the database is migrated. */
  periodic?: Job[];
  /** Work that is not periodic, once the database is migrated. `stop` resolves when the work in progress has ended. */
  work?: () => { stop(): Promise<void> } | undefined;
  close?: () => Promise<unknown>;
};

/** Messages about the first data: `notes` for the log, `welcome` for a terminal. */
export type FirstData = { notes: string[]; welcome(address: string): string[] };

/** The documentation of a plugin. */
type Docs = {
  /** Names of the pages of docs/ that are served and linked with the plugin alone. */
  pages: string[];
  /** Where the plugin serves the API reference, and in `guides` below it those of all plugins. */
  path?: string;
};

/** Checks of `doctor`, metrics and watched disks of a plugin. */
export type Watched = {
  /** Checks of `doctor`. */
  checks: SystemCheck[];
  conditions: Condition[];
  metrics: CreateArea[];
  /** Whose disks are watched, by name. */
  folders: Record<string, string>;
};

export type ExportOptions = {
  /** Called before data is read, once the file is created. */
  onCreated?: () => Promise<void>;
};

/** The parts of a plugin. Each is loaded where it is needed. */
export type Plugin = {
  name: string;
  settings?: PluginSettings;
  commands?: CommandGroup[];
  routes?: (config: PluginConfig) => Routes[];
  operations?: (config: PluginConfig) => Promise<Operations>;
  watched?: (config: Config) => Promise<Partial<Watched>>;
  /** Tables whose old rows are deleted. */
  housekeeping?: Task[];
  docs: Docs;
  /** Writes all data of a provider to a new file. */
  exportProvider?: (database: Database, providerId: number, file: string, options?: ExportOptions) => Promise<unknown>;
  server?: (context: ServerContext) => Promise<ServerPart>;
  /** Fills an empty, migrated database, before requests come. */
  loadFirstData?: (context: Pick<ServerContext, 'config' | 'database' | 'log'>) => Promise<FirstData | undefined>;
};

export const definePlugin = (plugin: Plugin) => plugin;

export async function loadWatched(plugins: readonly Plugin[], config: Config): Promise<Watched> {
  const all = await Promise.all(plugins.flatMap(({ watched }) => watched?.(config) ?? []));
  return {
    checks: all.flatMap(({ checks = [] }) => checks),
    conditions: all.flatMap(({ conditions = [] }) => conditions),
    metrics: all.flatMap(({ metrics = [] }) => metrics),
    folders: Object.fromEntries(all.flatMap(({ folders = {} }) => Object.entries(folders))),
  };
}

/** Where the API reference and the guides are served, if they are. */
export const findDocsPath = (plugins: readonly Plugin[]) => plugins.find(({ docs }) => docs.path)?.docs.path;
