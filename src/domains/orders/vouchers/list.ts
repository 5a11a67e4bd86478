import { isNull } from 'drizzle-orm';
import { vouchers } from '../../../database/tables/campaigns.ts';
import { defineList } from '../../../lists/define-list.ts';
import { filter } from '../../../lists/filters.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { fetchVouchers } from './loaders.ts';
import { ListedVoucher, toListedVoucher, type VoucherRow } from './fields.ts';

const voucherSerializer = defineSerializer<VoucherRow>()({
  reads: ['money'],
  responseSchema: ListedVoucher,
  toResponse: toListedVoucher,
});

/** Archived vouchers stay listed. */
export const voucherList = defineList({
  table: vouchers,
  serializer: voucherSerializer,
  notDeleted: isNull(vouchers.deletedAt),
  sorting: {},
  filters: {
    code: filter.text(
      { description: 'Only the voucher with this code, without regard to case; all unless sent' },
      vouchers.code,
    ),
    ...filter.timestamps(vouchers),
  },
  fetch: fetchVouchers,
});
