import { expect, it } from "vitest";
import { directoryOf, OPEN } from "../../../test/directory.ts";
import { createGateway } from "../../index.ts";
import { ADMIN_NEEDS } from "../access/needs.ts";
import { ENDPOINTS } from "../endpoints.ts";

interface Written {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: { readonly $ref: string } } };
  };
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

async function read(): Promise<Written> {
  const gateway = createGateway(directoryOf(), OPEN);
  return (await gateway.request("http://localhost:8787/__sluice/api/openapi.json")).json();
}

const operationsOf = ({ paths }: Written) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
      operation,
    })),
  );

/** Routes of the admin API; that of MCP has a protocol of its own. */
const ROUTES = Object.keys(ADMIN_NEEDS).filter((route) => !route.endsWith(" /mcp"));

it("the document has every route of the admin API, and no other", async () => {
  const written = await read();
  expect(written.openapi).toBe("3.1.0");
  expect(
    operationsOf(written)
      .map(({ route }) => route)
      .sort(),
  ).toEqual([...ROUTES].sort());
});

it("every operation has an id of its own, and the words of the list", async () => {
  const operations = operationsOf(await read()).map(({ operation }) => operation);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  const words: ReadonlySet<string> = new Set(ENDPOINTS.map(({ answers }) => answers));
  expect(operations.filter(({ summary }) => !words.has(summary))).toEqual([]);
});

it("bodies are described by the schemas that check them", async () => {
  const { paths, components } = await read();
  const { $ref } =
    paths["/api/queues/{name}/faults"]?.put?.requestBody?.content["application/json"].schema ?? {};
  expect(components.schemas[$ref?.replace("#/components/schemas/", "") ?? ""]).toMatchObject({
    properties: { faults: { items: { properties: { times: { minimum: 1, maximum: 10_000, default: 1 } } } } },
    additionalProperties: false,
  });
});
