import * as z from "zod/mini";
import { PREFIX } from "../../http/prefix.ts";
import type { Need } from "../../rights/rights.ts";
import { ADMIN_NEEDS } from "../access/needs.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { type Operation, operations, queryParameters } from "./operations.ts";

/** An object of the document. */
type Json = Readonly<Record<string, unknown>>;

/**
 * Describes the admin API by OpenAPI 3.1: each route with its parameters, its body by the schema that checks it, and its
 * answer.
 */
export function openApiDocument(): Json {
  const { routes, named } = operations();
  const components = new Components();
  for (const [name, schema] of Object.entries(named)) components.refer(schema, name);
  const paths: Record<string, Record<string, Json>> = {};
  for (const [route, operation] of Object.entries(routes)) {
    const [method = "", path = ""] = route.split(" ");
    const key = path.replaceAll(/:(\w+)/g, "{$1}");
    paths[key] = { ...paths[key], [method.toLowerCase()]: operationOf(route, operation, components) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sluice admin API",
      version: "1",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: PREFIX }],
    security: [{}, { token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: components.written(),
    },
  };
}

/** Options of JSON Schemas: checks that only code can make are left out. */
const WRITING = { io: "input", unrepresentable: "any" } as const;

/** Writes a schema as JSON Schema, with all of its parts in it. */
export function schemaOf(schema: z.ZodMiniType): Json {
  const { $schema: _, ...written } = z.toJSONSchema(schema, WRITING);
  return written;
}

/** Schemas of a document that its other parts refer to. */
class Components {
  readonly #registry = z.registry<{ id: string }>();

  /** Makes a reference to a schema, by the name that it has already, else by this one. */
  refer(schema: z.ZodMiniType, name: string): Json {
    const known = this.#registry.get(schema)?.id;
    if (known === undefined) this.#registry.add(schema, { id: name });
    return { $ref: uriOf(known ?? name) };
  }

  written(): Json {
    const { schemas } = z.toJSONSchema(this.#registry, { ...WRITING, uri: uriOf });
    return Object.fromEntries(
      Object.entries(schemas).map(([name, { $schema: _, $id: __, ...written }]) => [name, written]),
    );
  }
}

function uriOf(name: string): string {
  return `#/components/schemas/${name}`;
}

function operationOf(route: string, { query = [], body, answer }: Operation, components: Components): Json {
  const need = ADMIN_NEEDS[route];
  const known = queryParameters();
  const operationId = operationIdOf(route);
  const parameters = [
    ...[...route.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string" },
    })),
    ...query.map((name) => {
      const { description, ...schema } = schemaOf(known[name] ?? z.string());
      return { name, in: "query", ...(description === undefined ? {} : { description }), schema };
    }),
  ];
  const json = (schema: z.ZodMiniType, name: string) => ({
    "application/json": { schema: components.refer(schema, name) },
  });
  const content =
    "mediaType" in answer
      ? { [answer.mediaType]: { schema: { type: "string" } } }
      : json(answer, `${operationId}Answer`);
  const refused = { "application/json": { schema: { $ref: uriOf("Failure") } } };
  return {
    operationId,
    summary: summaryOf(route),
    ...(need === undefined ? {} : { description: scopeText(need) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { content: json(body, `${operationId}Body`) } }),
    responses: {
      200: { description: "Done.", content },
      default: { description: "A refusal.", content: refused },
    },
  };
}

/** `getQueuesName` for `GET /api/queues/:name`. */
function operationIdOf(route: string): string {
  return route
    .replace(" /api/", "/")
    .replace(/^[A-Z]+/, (method) => method.toLowerCase())
    .replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function scopeText({ scope }: Need): string {
  return scope === "any" ? "Any token may ask." : `Needs the scope ${scope}.`;
}

/** Words of `GET /api` for a route. */
function summaryOf(route: string): string {
  const listed = ENDPOINTS.find(({ method, path }) => {
    const [bare = ""] = path.slice(PREFIX.length).split("?");
    return `${method} ${bare.replaceAll(/\b[A-Z]+\b/g, ":x")}` === route.replaceAll(/:\w+/g, ":x");
  });
  return listed?.answers ?? route;
}
