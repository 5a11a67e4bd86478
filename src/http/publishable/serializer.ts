import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { componentName } from '../../core/schema/types.ts';
import { compileSerializer } from '../list-serializer.ts';
import { publicMembers } from './members.ts';

type Node = TSchema & {
  type?: string | string[];
  items?: Node;
  properties?: Record<string, Node>;
  required?: string[];
  [componentName]?: string;
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

/** The schema without members that are not public. Throws for an object whose members are not declared. */
export function toPublicSchema(schema: Node, path: string): Node {
  const name = schema[componentName] ?? path;
  const { items, properties, required, ...others } = schema;
  const isObject = [schema.type].flat().includes('object');
  if (!isObject) return items ? { ...schema, items: toPublicSchema(items, path) } : schema;
  const members = publicMembers[name];
  if (!members || !properties) throw new Error(`The public members of ${name} are not declared`);
  const kept = Object.entries(properties).filter(([member]) => members.includes(member));
  return {
    ...others,
    ...(items && { items: toPublicSchema(items, path) }),
    properties: Object.fromEntries(kept.map(([member, one]) => [member, toPublicSchema(one, `${name}.${member}`)])),
    ...(required && { required: required.filter((member) => members.includes(member)) }),
  };
}
