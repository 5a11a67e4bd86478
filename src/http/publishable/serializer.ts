import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { findAccess } from '../../core/schema/types.ts';
import { compileSerializer } from '../list-serializer.ts';

type Node = TSchema & {
  type?: string | string[];
  items?: Node;
  properties?: Record<string, Node>;
  required?: string[];
};

/** Compiles a second serializer of the routes that a publishable key may call, with the public members alone. */
export function addPublicSerializers(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    const { profiles = [], response, operationId = '' } = route.schema ?? {};
    if (!profiles.includes('publishable')) return;
    const { 200: ok } = response as Record<string, Node>;
    route.config = { ...route.config, publicSerializer: compileSerializer(toPublicSchema(ok!, operationId)) };
  });
}

/** The schema with the members that are open to publishable keys. Throws for an object without any. */
export function toPublicSchema(schema: Node, path: string): Node {
  const { items, properties = {}, required, ...others } = schema;
  const isObject = [schema.type].flat().includes('object');
  if (!isObject) return items ? { ...schema, items: toPublicSchema(items, path) } : schema;
  const kept = Object.entries(properties).filter(([, member]) => findAccess(member)?.publishable === true);
  if (kept.length === 0) throw new Error(`No member of ${path} is open to publishable keys`);
  return {
    ...others,
    ...(items && { items: toPublicSchema(items, path) }),
    properties: Object.fromEntries(kept.map(([name, member]) => [name, toPublicSchema(member, `${path}.${name}`)])),
    ...(required && { required: required.filter((name) => kept.some(([one]) => one === name)) }),
  };
}
