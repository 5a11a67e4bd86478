import { t } from '../../core/schema/types.ts';
import { filter } from '../../lists/filters.ts';

/** Parameters of lists that can show partners' items; `resolvePartners` converts them to a tenant scope. */
export const partnerParameters = {
  include_partners: filter.parameter(
    t.Flag({ default: false, description: "true adds approved partners' public items" }),
  ),
  partner_id: filter.parameter({
    ...t.Id,
    description: 'Only the public items of this approved partner; own items unless sent',
  }),
};
export type PartnerQuery = { include_partners?: boolean; partner_id?: number };

export type Connection = { provider_id: number; partner_id: number; status: 'requested' | 'approved' | 'revoked' };
