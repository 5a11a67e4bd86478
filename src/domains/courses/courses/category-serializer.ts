import { relation } from '../../../lists/relations.ts';
import { fetchCategories } from './category-loaders.ts';

/** The categories of courses, by id. */
export const loadCategories = relation.hasMany(fetchCategories, (category) => category);
