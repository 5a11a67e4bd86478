import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** In bytes; `free` is what a user without special rights may write. */
export type DiskSpace = { free: number; size: number };

/** The space of a folder's file system; that of the nearest existing parent before the folder is made. */
export async function readDiskSpace(folder: string): Promise<DiskSpace> {
  const path = resolve(folder);
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return readDiskSpace(dirname(path));
  }
}
