import { randomBytes } from 'node:crypto';
import fs from 'node:fs';

export const randomName = () => randomBytes(8).toString('hex');

export const getErrorCode = (error: unknown) => (error as NodeJS.ErrnoException).code ?? '';

export const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** The file's text without its last line's end; undefined when there is no such file. */
export function readIfThere(file: string) {
  try {
    return fs.readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export const statIfThere = (file: string) => fs.lstatSync(file, { throwIfNoEntry: false });

/** Writes a file that must not exist yet; it appears with its whole text or not at all. False when it is there already. */
export function writeOnce(file: string, text: string) {
  const whole = `${file}.${randomName()}`;
  fs.writeFileSync(whole, text, { flag: 'wx', mode: 0o600 });
  try {
    fs.linkSync(whole, file);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    fs.unlinkSync(whole);
  }
}
