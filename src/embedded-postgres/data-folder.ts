import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { getErrorCode, randomName, readIfThere, statIfThere, writeOnce } from './files.ts';
import { run, type Owner } from './processes.ts';

/** Where the database's files are, and as which user it runs. */
export type Place = { home: string; data: string; socket: string; log: string; owner: Owner; notes: string[] };

/**
 * The files are in DATA_DIR/postgres. PostgreSQL refuses to run as root: started by root, it runs as another user, and
 * where that one cannot enter DATA_DIR the files go to a folder of their own, which DATA_DIR/database-location names.
 */
export async function findPlace(dataDir: string): Promise<Place> {
  const folder = makeFolder(dataDir);
  const note = path.join(folder, 'database-location');
  const elsewhere = readIfThere(note);
  if (elsewhere !== undefined) return describe(ownFolder(elsewhere, note), noteFor(elsewhere, folder));

  const home = path.join(folder, 'postgres');
  if (process.getuid?.() !== 0) {
    makeFolder(home, 0o700);
    return describe(ownFolder(home), []);
  }
  const found = statIfThere(home);
  if (found && found.uid !== 0) return describe(ownFolder(home), []);

  const owner = await otherUser();
  const { failure } = await run(owner, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder]);
  if (failure === undefined) return describe(await handOver(home, owner), []);
  if (fs.existsSync(path.join(home, 'data'))) {
    throw new Error(`The database's files are in ${home}, but the user it runs as cannot enter: ${failure}`);
  }
  const away = await makeElsewhere(folder, note, owner);
  return describe(ownFolder(away, note), noteFor(away, folder));
}

/** Whether a database was made under DATA_DIR before; what hinders the look is for `findPlace` to explain. */
export function isMade(dataDir: string) {
  try {
    const traces = ['postgres/data', 'database-location'];
    return traces.some((trace) => statIfThere(path.join(dataDir, trace)) !== undefined);
  } catch {
    return true;
  }
}

const noteFor = (home: string, dataDir: string) => [
  `The database's files are in ${home}: PostgreSQL does not run as root, and the user it runs as cannot enter ${dataDir}.`,
];

function describe(home: { path: string; uid: number; gid: number }, notes: string[]): Place {
  const owner = process.getuid?.() === 0 ? { uid: home.uid, gid: home.gid } : undefined;
  return {
    home: home.path,
    data: path.join(home.path, 'data'),
    socket: socketFolder(home.path, home.uid),
    log: path.join(home.path, 'postgres.log'),
    owner,
    notes,
  };
}

function makeFolder(folder: string, mode = 0o755) {
  try {
    fs.mkdirSync(folder, { recursive: true, mode });
    return fs.realpathSync(folder);
  } catch (error) {
    throw new Error(
      `The folder ${folder} for the database cannot be made (${getErrorCode(error)}): set DATA_DIR to another one.`,
    );
  }
}

/** The folder as it is on the disk, whoever made it; root runs the database as its owner. */
function ownFolder(home: string, note?: string) {
  const found = statIfThere(home);
  if (!found?.isDirectory()) {
    throw new Error(
      note
        ? `${note} says that the database's files are in ${home}, which is not there: bring it back, or delete that note to begin with an empty database.`
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

/** As root: the folder, and what a copy made by root left in it, becomes the other user's. */
async function handOver(home: string, { uid, gid }: { uid: number; gid: number }) {
  makeFolder(home, 0o700);
  const { failure } = await run(undefined, 'chown', ['-R', `${uid}:${gid}`, home]);
  if (failure !== undefined)
    throw new Error(`The database's folder cannot be handed to the user it runs as: ${failure}`);
  return { path: home, uid, gid };
}

async function otherUser() {
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const [uid, gid] = await Promise.all([run(undefined, 'id', ['-u', name]), run(undefined, 'id', ['-g', name])]);
    if (uid.failure === undefined && gid.failure === undefined) {
      return { uid: Number(uid.output), gid: Number(gid.output) };
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody: set DATABASE_URL.');
}

/** A new name every time: who deletes DATA_DIR wants an empty database, not the one of before. */
async function makeElsewhere(dataDir: string, note: string, owner: { uid: number; gid: number }) {
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
    if (failure === undefined && writeOnce(note, `${home}\n`)) return home;
    fs.rmdirSync(home);
    const others = readIfThere(note);
    if (others !== undefined) return others;
  }
  throw new Error(
    `PostgreSQL does not run as root, and the user it runs as cannot enter ${dataDir}: set another DATA_DIR or set DATABASE_URL.`,
  );
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** A socket's path ends at 107 bytes (103 on macOS). Always /tmp: two processes may have two TMPDIRs. */
function socketFolder(home: string, uid: number) {
  const near = path.join(home, 'socket');
  const most = process.platform === 'darwin' ? 103 : 107;
  const fits = Buffer.byteLength(path.join(near, '.s.PGSQL.5432')) <= most;
  return fits ? near : `/tmp/course-booking-${hash(home)}-${uid}`;
}

/** Makes what the start needs inside, as the user who will use it: this is the proof that it can. */
export async function prepare({ home, socket, owner }: Place) {
  const script =
    'umask 077; cd "$1" && mkdir -p seen && { [ -p users ] || mkfifo users; } && { [ -d "$2" ] || mkdir "$2"; }';
  const { failure } = await run(owner, '/bin/sh', ['-c', script, 'sh', home, socket]);
  if (failure !== undefined) throw new Error(`The database's folder ${home} cannot be used: ${failure}`);
}

/** /tmp is shared: somebody else could have made the folder first and answer in the database's place. */
export function checkSocketFolder({ home, socket }: Place) {
  const found = statIfThere(socket);
  const mine = found?.isDirectory() && found.uid === fs.lstatSync(home).uid && (found.mode & 0o077) === 0;
  if (!mine)
    throw new Error(
      `The folder ${socket} for the database's socket is not its own: remove it or set a shorter DATA_DIR.`,
    );
}
