import { findDatabaseDiskSpace, readDiskSpace, type DiskSpace } from '../../../database/disk.ts';
import { getErrorCode } from '../../../core/database-errors.ts';
import { error, ok, skipped, warning, type Result, type SystemCheck } from '../../../interfaces/plugin/checks.ts';

export const createDiskCheck = (added: Record<string, string>): SystemCheck => ({
  check: 'disks',
  async run({ pool, config }) {
    const folders = { 'data folder': config.DATA_DIR, ...added };
    const results = await Promise.all(
      Object.entries(folders).map(async ([name, folder]) =>
        readDiskSpace(folder).then(
          (space) => assessDisk(name, space),
          (failure: unknown) => warning(`The disk of the ${name} cannot be examined (${getErrorCode(failure)})`),
        ),
      ),
    );
    const database = await findDatabaseDiskSpace(pool);
    return [
      ...results,
      database === undefined
        ? skipped(
            'The disk of the database is on another machine, or the role lacks pg_read_all_settings: watch it there',
          )
        : assessDisk('database', database),
    ];
  },
});

const gigabyte = 2 ** 30;

/** A large disk with a small free share is not full yet, nor is a small one with little free space that is a large share. */
export function assessDisk(name: string, { free, size }: DiskSpace): Result {
  const share = size === 0 ? 1 : free / size;
  const message = `The disk of the ${name} has ${formatBytes(free)} free (${Math.floor(share * 100)} %)`;
  if (share < 0.02 && free < gigabyte) return error(message);
  return share < 0.1 && free < 10 * gigabyte ? warning(message) : ok(message);
}

export const formatBytes = (bytes: number) =>
  bytes >= gigabyte ? `${(bytes / gigabyte).toFixed(1)} GB` : `${Math.floor(bytes / 2 ** 20)} MB`;
