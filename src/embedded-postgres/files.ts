import { randomBytes } from 'node:crypto';
import fs from 'node:fs';

export const randomName = () => randomBytes(8).toString('hex');

export const getErrorCode = (error: unknown) => (error as NodeJS.ErrnoException).code ?? '';

export const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** The file's text without trailing white space; undefined if it does not exist. */
export function readIfExists(file: string) {
  try {
    return fs.readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export const statIfExists = (file: string) => fs.lstatSync(file, { throwIfNoEntry: false });

/** Creates a file atomically; false if it exists. */
export function createFile(file: string, text: string) {
  const temporary = `${file}.${randomName()}`;
  fs.writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
  try {
    fs.linkSync(temporary, file);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    fs.unlinkSync(temporary);
  }
}
