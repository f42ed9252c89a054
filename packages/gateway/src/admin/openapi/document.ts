import * as z from "zod/mini";
import { PREFIX } from "../../http/prefix.ts";
import type { Need } from "../../rights/rights.ts";
import { ADMIN_NEEDS } from "../access/needs.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { type Operation, operations, queryParameters } from "./operations.ts";

/** Part of a document in JSON. */
type Json = Readonly<Record<string, unknown>>;

/**
 * Describes the admin API by OpenAPI 3.1: each route with its parameters, its body by the schema that checks it, and its
 * answer.
 */
export function openApiDocument(): Json {
  const all = operations();
  const paths: Record<string, Record<string, Json>> = {};
  for (const [route, operation] of Object.entries(all)) {
    const [method = "", path = ""] = route.split(" ");
    const key = path.replaceAll(/:(\w+)/g, "{$1}");
    paths[key] = { ...paths[key], [method.toLowerCase()]: operationOf(route, operation) };
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
      schemas: {
        Error: schemaOf(z.object({ error: z.looseObject({ code: z.string(), message: z.string() }) })),
      },
    },
  };
}

/** Writes a schema as JSON Schema. What only code can check is left out. */
export function schemaOf(schema: z.ZodMiniType): Json {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return written;
}

function operationOf(route: string, { query = [], body, answer }: Operation): Json {
  const need = ADMIN_NEEDS[route];
  const known = queryParameters();
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
  const content =
    "mediaType" in answer
      ? { [answer.mediaType]: { schema: { type: "string" } } }
      : { "application/json": { schema: schemaOf(answer) } };
  const failed = { $ref: "#/components/schemas/Error" };
  return {
    operationId: route.replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary: summaryOf(route),
    ...(need === undefined ? {} : { description: scopeText(need) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { content: { "application/json": { schema: schemaOf(body) } } } }),
    responses: {
      200: { description: "Done.", content },
      default: { description: "A refusal.", content: { "application/json": { schema: failed } } },
    },
  };
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
