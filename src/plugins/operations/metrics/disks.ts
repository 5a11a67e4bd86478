import { isDiskFull } from '../../../database/counters.ts';
import { findDatabaseDiskSpace, readDiskSpace, type DiskSpace } from '../../../database/disk.ts';
import { within, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

export const diskMetrics: CreateArea = ({ gauge }, { database, folders }) => {
  const free = gauge(
    'booking_disk_free_bytes',
    'Free space of the disk with `data` (DATA_DIR), `backups` or, on the same machine, the `database`',
    'place',
  );
  const size = gauge('booking_disk_size_bytes', 'Size of the same disk', 'place');
  const full = gauge(
    'booking_database_disk_full',
    "1 if a write of the last minute failed since the database's disk was full, else 0",
  );
  const set = async (place: string, reading: Promise<DiskSpace | undefined>) => {
    const space = await within(reading).catch(() => undefined);
    free.remove({ place });
    size.remove({ place });
    if (space === undefined) return;
    free.set({ place }, space.free);
    size.set({ place }, space.size);
  };
  return {
    async refresh() {
      full.set(isDiskFull(database.counters) ? 1 : 0);
      await Promise.all([
        ...Object.entries(folders).map(([place, folder]) => set(place, readDiskSpace(folder))),
        set('database', findDatabaseDiskSpace(database.pool)),
      ]);
    },
  };
};
