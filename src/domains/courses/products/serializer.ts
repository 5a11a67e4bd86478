import { Type } from '@sinclair/typebox';
import { member } from '../../../core/schema/types.ts';
import { relation } from '../../../lists/relations.ts';
import { fetchProducts } from './loaders.ts';
import { Product, toProduct } from './schema.ts';

export const includeProducts = relation.include(
  member.open(Type.Array(Product)),
  relation.hasMany(fetchProducts, (row) => toProduct(row)),
);
