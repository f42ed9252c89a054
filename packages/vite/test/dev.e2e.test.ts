import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stackLines } from "@sluice/protocol/stack";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { ask, type DevServer, ViteProject } from "./vite-project.ts";

/** Limit for a busy machine, in ms. */
const PATIENCE = { timeout: 100_000, interval: 100 };

let project: ViteProject;
let server: DevServer;

beforeAll(async () => {
  project = new ViteProject();
  server = await project.dev();
});
afterAll(async () => {
  await server?.stop();
  project?.remove();
});

function handled(...lines: string[]): Promise<void> {
  return vi.waitFor(async () => {
    expect(await ask(server, "/")).toEqual(expect.arrayContaining(lines));
  }, PATIENCE);
}

it.each([
  ["a handler", "/send"],
  ["the importable env", "/imported"],
  ["a Durable Object", "/object"],
  ["a named entrypoint", "/entrypoint"],
])("messages from %s are handled", async (_, path) => {
  const body = path.slice(1);
  await ask(server, `${path}?body=${body}`);
  await handled(`one ${body} 1`);
});

it("an auxiliary Worker with a class of handlers handles and sends messages", async () => {
  await ask(server, "/mail?body=letter");
  await handled("one posted letter 1");
});

it("the user's code sees only its own bindings", async () => {
  const keys = ["BOOK", "MAILS", "ORDERS"];
  expect(await ask(server, "/keys")).toEqual([keys, keys]);
});

it("the server has the page and the API of the broker", async () => {
  const page = await fetch(`${server.url}/__sluice/`, { headers: { accept: "text/html" } });
  expect(page.headers.get("content-type")).toMatch("text/html");
  expect(await page.text()).toMatch("Sluice");
  const { queues } = (await ask(server, "/__sluice/api/queues")) as { queues: { name: string }[] };
  expect(queues.map(({ name }) => name)).toEqual(["lost", "mails", "orders"]);
});

it("an agent finds the documentation of the package", async () => {
  const found = async (query: string) => {
    const call = { name: "search_docs", arguments: { query } };
    const response = await fetch(`${server.url}/__sluice/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
    });
    const { result } = (await response.json()) as {
      result: { structuredContent: { sections: { file: string }[] } };
    };
    return result.structuredContent.sections.map(({ file }) => file);
  };
  expect(await found("redrive dry run")).toContain("docs/admin-api.md");
  expect(await found("silence of an alert")).toContain("docs/alerts.md");
});

it("the history has the places of the project's sources, and tells ours apart", async () => {
  await ask(server, "/send?body=refused");
  const error = await vi.waitFor(async () => {
    const history = await ask(server, "/__sluice/api/queues/orders/history?kind=failed&max=1");
    const [event] = (history as { events: { error: string }[] }).events;
    expect(event).toBeDefined();
    return event?.error ?? "";
  }, PATIENCE);
  const placesOf = (wanted: string) =>
    stackLines(error).flatMap(({ kind, place }) => (kind === wanted ? [place] : []));
  expect(placesOf("user")).toEqual(["src/refusal.ts:7:9", expect.stringMatching(/^src\/index\.ts:\d+:\d+$/)]);
  const own = placesOf("own");
  expect(own[0]).toMatch(/^sluice:dist\/worker\/worker\.js:/);
  for (const place of own) expect(place).toMatch(/^(?:sluice:dist|cloudflare:runner-worker)\//);
  // The terminal leaves ours out.
  expect(server.printed()).toMatch(/Error: refused is not taken\n +at refuse \(.*refusal\.ts:7:9\)\n/);
  expect(server.printed()).not.toMatch(/ at .*(?:worker\.js|runner-worker)/);
});

it("a changed handler handles the next message, and waiting messages outlive the server", async () => {
  writeFileSync(join(project.folder, "src/version.ts"), 'export const VERSION = "two";\n');
  await vi.waitFor(async () => {
    await ask(server, "/send?body=changed");
    expect(await ask(server, "/")).toEqual(expect.arrayContaining(["two changed 1"]));
  }, PATIENCE);
  await ask(server, "/late?body=late&seconds=8");
  expect(await ask(server, "/")).not.toContain("two late 1");
  await server.stop();
  server = await project.dev();
  await handled("two late 1");
});

it("a changed configuration restarts the server, with all messages", { tags: "slow" }, async () => {
  await ask(server, "/late?body=kept&seconds=4");
  const file = join(project.folder, "wrangler.jsonc");
  writeFileSync(file, readFileSync(file, "utf8").replace('"lost"', '"dead"'));
  await vi.waitFor(async () => {
    const { queues } = (await ask(server, "/__sluice/api/queues")) as { queues: { name: string }[] };
    expect(queues.map(({ name }) => name)).toContain("dead");
  }, PATIENCE);
  await handled("two kept 1");
  expect(server.printed()).toMatch("server restarted");
  expect(server.printed()).not.toMatch(/\(sluice\) hmr update virtual:/);
});

it("a queue with messages delivers them to its first consumer", { tags: "slow" }, async () => {
  const file = join(project.folder, "post/wrangler.jsonc");
  const text = readFileSync(file, "utf8");
  await server.stop();
  writeFileSync(file, text.replace(/"consumers": \[.*\]/, '"consumers": []'));
  server = await project.dev();
  await ask(server, "/mail?body=early");
  await server.stop();
  writeFileSync(file, text);
  server = await project.dev();
  await handled("two posted early 1");
});

it("a second server names the process that has the messages", { tags: "slow" }, async () => {
  await expect(project.dev()).rejects.toThrow(/in use by vite dev \(process \d+\)/);
});

it.each(["production", "development"])(
  "a build with NODE_ENV=%s leaves the broker out",
  { tags: "slow" },
  (nodeEnv) => {
    project.build({ NODE_ENV: nodeEnv });
    const folder = join(project.folder, "dist/shop");
    const { main, queues, services } = JSON.parse(readFileSync(join(folder, "wrangler.json"), "utf8"));
    expect(queues.producers.map(({ binding }: { binding: string }) => binding)).toEqual(["ORDERS", "MAILS"]);
    expect(queues.consumers).toHaveLength(1);
    expect(services).toEqual([]);
    expect(readFileSync(join(folder, main), "utf8")).not.toMatch(/sluice/i);
    expect(readdirSync(join(project.folder, "dist")).sort()).toEqual(["post", "shop"]);
    expect(existsSync(join(project.folder, ".wrangler/state/v3/do/sluice-QueueBroker"))).toBe(true);
  },
);

it("sluice dev runs the build with its auxiliary Workers on the broker, with the same data", {
  tags: "slow",
}, async () => {
  await ask(server, "/late?body=across&seconds=8");
  await server.stop();
  server = await project.sluiceDev("dist/shop");
  await handled("two posted early 1", "two across 1");
  await ask(server, "/mail?body=built");
  await handled("two posted built 1");
  expect(readdirSync(join(project.folder, "dist/shop"))).not.toContain(".wrangler");
});
