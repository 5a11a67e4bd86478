import { ok, warning, type SystemCheck } from '../../../interfaces/plugin/checks.ts';

export const hostCheck: SystemCheck = {
  check: 'catalog hosts',
  async run({ pool, config }) {
    const { hostname } = new URL(config.PUBLIC_URL);
    const { rows } = await pool.query<{ id: number }>(
      'select provider_id as id from catalog_settings where host = $1 union select provider_id from catalog_names where name = $1',
      [hostname],
    );
    if (rows.length === 0) return [ok('No catalog has the host name of PUBLIC_URL')];
    return rows.map(({ id }) =>
      warning(
        `The catalog of school ${id} has the host name of PUBLIC_URL, which has no effect: set another one, or null`,
      ),
    );
  },
};
