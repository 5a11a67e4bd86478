import fs from 'node:fs';
import path from 'node:path';
import { findBinaries } from './binaries.ts';
import { locateDataFolder } from './data-folder.ts';
import { readIfExists } from './files.ts';
import { findWatchdogPid } from './watchdog.ts';

export type OtherMajor = { data: string; old: string; new: string; isRunning: boolean; lastStoppedAt: Date };

/** The embedded database of DATA_DIR if another major version of PostgreSQL has made it; undefined otherwise. */
export async function findOtherMajor(dataDir: string): Promise<OtherMajor | undefined> {
  const place = await locateDataFolder(path.resolve(dataDir));
  const { major } = await findBinaries(place);
  const old = readIfExists(path.join(place.data, 'PG_VERSION'));
  if (old === undefined || old === major) return undefined;
  const lastStoppedAt = fs.statSync(path.join(place.data, 'global/pg_control')).mtime;
  return { data: place.data, old, new: major, isRunning: findWatchdogPid(place.home) !== undefined, lastStoppedAt };
}

/** Puts the stopped database of another DATA_DIR in the place of the old one. Returns the old one's new path. */
export async function replaceData({ data, old }: Pick<OtherMajor, 'data' | 'old'>, dataDir: string) {
  const { data: replacement } = await locateDataFolder(path.resolve(dataDir));
  let folder = `${data}-${old}`;
  for (let n = 2; fs.existsSync(folder); n += 1) folder = `${data}-${old}-${n}`;
  fs.renameSync(data, folder);
  try {
    fs.renameSync(replacement, data);
  } catch (error) {
    fs.renameSync(folder, data);
    throw error;
  }
  return folder;
}
