import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { getErrorCode, randomName, readIfExists, statIfExists, createFile } from './files.ts';
import { run, type Owner } from './processes.ts';

/** Paths of the database's files, and the user it runs as. */
export type DataFolder = { home: string; data: string; socket: string; log: string; owner: Owner; notes: string[] };

/**
 * Locates or creates the files in DATA_DIR/postgres. PostgreSQL does not run as root: started by root, it runs as another
 * user, and if that one cannot enter DATA_DIR, the files go to another folder, whose path is in DATA_DIR/database-location.
 */
export async function locateDataFolder(dataDir: string): Promise<DataFolder> {
  const folder = createFolder(dataDir);
  const note = path.join(folder, 'database-location');
  const otherHome = readIfExists(note);
  if (otherHome !== undefined) return toDataFolder(checkFolder(otherHome, note), locationNote(otherHome, folder));

  const home = path.join(folder, 'postgres');
  if (process.getuid?.() !== 0) {
    createFolder(home, 0o700);
    return toDataFolder(checkFolder(home), []);
  }
  const found = statIfExists(home);
  if (found && found.uid !== 0) return toDataFolder(checkFolder(home), []);

  const owner = await findUnprivilegedUser();
  const { failure } = await run(owner, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder]);
  if (failure === undefined) return toDataFolder(await changeOwner(home, owner), []);
  if (fs.existsSync(path.join(home, 'data'))) {
    throw new Error(`The database's files are in ${home}, but the user it runs as cannot enter: ${failure}`);
  }
  const away = await createOutside(folder, note, owner);
  return toDataFolder(checkFolder(away, note), locationNote(away, folder));
}

/** True if DATA_DIR already has a database, or cannot be read, which `findPlace` reports. */
export function isInitialized(dataDir: string) {
  try {
    const paths = ['postgres/data', 'database-location'];
    return paths.some((name) => statIfExists(path.join(dataDir, name)) !== undefined);
  } catch {
    return true;
  }
}

const locationNote = (home: string, dataDir: string) => [
  `The database's files are in ${home}: PostgreSQL does not run as root, and the user it runs as cannot enter ${dataDir}.`,
];

function toDataFolder(home: { path: string; uid: number; gid: number }, notes: string[]): DataFolder {
  const owner = process.getuid?.() === 0 ? { uid: home.uid, gid: home.gid } : undefined;
  return {
    home: home.path,
    data: path.join(home.path, 'data'),
    socket: socketPath(home.path, home.uid),
    log: path.join(home.path, 'postgres.log'),
    owner,
    notes,
  };
}

function createFolder(folder: string, mode = 0o755) {
  try {
    makeFolders(folder, mode);
    return fs.realpathSync(folder);
  } catch (error) {
    throw new Error(
      `The folder ${folder} for the database cannot be created (${getErrorCode(error)}): set DATA_DIR to another one.`,
    );
  }
}

/** Node's `recursive` repeats for ever where the system refuses a folder although its parent exists, as in /proc. */
function makeFolders(folder: string, mode: number) {
  if (!fs.existsSync(path.dirname(folder))) makeFolders(path.dirname(folder), mode);
  try {
    fs.mkdirSync(folder, { mode });
  } catch (error) {
    if (!fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Checks an existing folder and returns its owner, as whom root runs the database. */
function checkFolder(home: string, note?: string) {
  const found = statIfExists(home);
  if (!found?.isDirectory()) {
    throw new Error(
      note
        ? `${note} names ${home}, which is missing: restore it, or delete that note to begin with an empty database.`
        : `${home} is not a folder: set another DATA_DIR.`,
    );
  }
  const self = process.getuid?.();
  if (self !== 0 && found.uid !== self) {
    throw new Error(
      `The database in ${home} belongs to another user (uid ${found.uid}): start as that user or set another DATA_DIR.`,
    );
  }
  return { path: home, uid: found.uid, gid: found.gid };
}

/** Changes the owner recursively as root, since a copy made by root may have left files in it. */
async function changeOwner(home: string, { uid, gid }: { uid: number; gid: number }) {
  createFolder(home, 0o700);
  const { failure } = await run(undefined, 'chown', ['-R', `${uid}:${gid}`, home]);
  if (failure !== undefined)
    throw new Error(`The database's folder cannot be handed to the user it runs as: ${failure}`);
  return { path: home, uid, gid };
}

async function findUnprivilegedUser() {
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const [uid, gid] = await Promise.all([run(undefined, 'id', ['-u', name]), run(undefined, 'id', ['-g', name])]);
    if (uid.failure === undefined && gid.failure === undefined) {
      return { uid: Number(uid.output), gid: Number(gid.output) };
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody: set DATABASE_URL.');
}

/** Random name: after DATA_DIR was deleted, a new start must not find the old database. */
async function createOutside(dataDir: string, note: string, owner: { uid: number; gid: number }) {
  const name = `${hash(dataDir)}-${randomName()}`;
  for (const parent of ['/var/lib', os.tmpdir()]) {
    const home = path.join(parent, 'course-booking-service', name);
    try {
      fs.mkdirSync(path.dirname(home), { recursive: true, mode: 0o755 });
      const created = fs.lstatSync(path.dirname(home));
      if (!created.isDirectory() || created.uid !== 0) continue;
      fs.mkdirSync(home, { mode: 0o700 });
      fs.chownSync(home, owner.uid, owner.gid);
    } catch {
      continue;
    }
    const { failure } = await run(owner, '/bin/sh', ['-c', 'cd "$1"', 'sh', home]);
    if (failure === undefined && createFile(note, `${home}\n`)) return home;
    fs.rmdirSync(home);
    const others = readIfExists(note);
    if (others !== undefined) return others;
  }
  throw new Error(
    `PostgreSQL does not run as root, and the user it runs as cannot enter ${dataDir}: set another DATA_DIR or set DATABASE_URL.`,
  );
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** A socket's path has at most 107 bytes (103 on macOS). Not TMPDIR, which may differ between processes. */
function socketPath(home: string, uid: number) {
  const preferred = path.join(home, 'socket');
  const maxBytes = process.platform === 'darwin' ? 103 : 107;
  const fits = Buffer.byteLength(path.join(preferred, '.s.PGSQL.5432')) <= maxBytes;
  return fits ? preferred : `/tmp/course-booking-${hash(home)}-${uid}`;
}

/** Creates pipe and subfolders as the database's user, which also checks its permissions. */
export async function prepareFolder({ home, socket, owner }: DataFolder) {
  const script =
    'umask 077; cd "$1" && mkdir -p seen && { [ -p users ] || mkfifo users; } && { [ -d "$2" ] || mkdir "$2"; }';
  const { failure } = await run(owner, '/bin/sh', ['-c', script, 'sh', home, socket]);
  if (failure !== undefined) throw new Error(`The database's folder ${home} cannot be used: ${failure}`);
}

/** Refuses a folder of another user, who could have created it in /tmp first to impersonate the database. */
export function checkSocketFolder({ home, socket }: DataFolder) {
  const found = statIfExists(socket);
  const mine = found?.isDirectory() && found.uid === fs.lstatSync(home).uid && (found.mode & 0o077) === 0;
  if (!mine)
    throw new Error(
      `The folder ${socket} for the database's socket is not its own: remove it or set a shorter DATA_DIR.`,
    );
}
