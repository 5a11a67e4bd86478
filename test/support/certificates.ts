import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Authority = { certificate: string; key: string };

const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A certificate authority, as PEM files in the folder. */
export function createAuthority(folder: string, name: string): Authority {
  const [certificate, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const extensions = ['-addext', 'basicConstraints=critical,CA:true', '-addext', 'keyUsage=critical,keyCertSign'];
  openssl('req', '-x509', ...newKey, '-keyout', key, '-out', certificate, '-subj', `/CN=${name}`, ...extensions);
  return { certificate, key };
}

/** A certificate for names such as `IP:127.0.0.1`, signed by the authority; expired if `days` is negative. */
export function createCertificate(
  folder: string,
  name: string,
  { certificate: ca, key: caKey }: Authority,
  names: string,
  days = 1,
) {
  const [request, certificate, key, extensions] = ['csr', 'pem', 'key', 'ext'].map((end) =>
    join(folder, `${name}.${end}`),
  ) as [string, string, string, string];
  openssl('req', '-new', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
  writeFileSync(extensions, `subjectAltName=${names}\n`);
  const signed = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-extfile', extensions, '-days', String(days)];
  openssl('x509', '-req', '-in', request, '-out', certificate, ...signed);
  return { certificate, key };
}
