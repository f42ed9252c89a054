import { afterAll, beforeAll, expect, it } from "vitest";
import { HostService, TEXT_BYTES_MAX } from "./host-service.ts";

const service = new HostService(
  (stack) => {
    if (stack === "broken") throw new Error("no such map");
    return stack.toUpperCase();
  },
  { "/r2": (buckets) => `watches ${buckets}` },
);
beforeAll(() => service.listening());
afterAll(() => service.close());

const post = (url: string, body: string) => fetch(url, { method: "POST", body });

it("the service answers with the stack trace that it makes of one", async () => {
  const response = await post(service.url, "at line 1\n    at ü");
  expect([response.status, await response.text()]).toEqual([200, "AT LINE 1\n    AT Ü"]);
});

it("the service fails for a stack trace that cannot be mapped, and goes on", async () => {
  expect((await post(service.url, "broken")).status).toBe(500);
  expect((await post(service.url, "x")).status).toBe(200);
});

it("the service answers words with the sections of the documentation that have them", async () => {
  const response = await post(`${service.url}/docs`, "redrive dead letters");
  const sections = (await response.json()) as { file: string }[];
  expect(sections.map(({ file }) => file)).toContain("docs/admin-api.md");
});

it("the service has the answers that it is given below its path", async () => {
  expect(await (await post(`${service.url}/r2`, "photos")).text()).toBe("watches photos");
  expect((await post(`${service.url}/other`, "photos")).status).toBe(404);
});

it("the service answers at its own path alone, and to nothing but a post", async () => {
  expect((await post(new URL("/", service.url).href, "x")).status).toBe(404);
  expect((await fetch(service.url)).status).toBe(404);
});

it.each([
  [-1, 200],
  [0, 200],
  [1, 413],
])("the service answers a text of the limit %i bytes with %i", async (over, status) => {
  const body = `ü${"x".repeat(TEXT_BYTES_MAX + over - 2)}`;
  const response = await post(service.url, body);
  expect(response.status).toBe(status);
  expect(await response.text()).toBe(status === 200 ? body.toUpperCase() : "");
});
