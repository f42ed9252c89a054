import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type DevServer, ViteProject } from "./vite-project.ts";

/** Limit for a busy machine, in ms. */
const PATIENCE = { timeout: 100_000, interval: 100 };
const BANNER = /Queues:\s+(\S+)/g;

let project: ViteProject;
beforeAll(() => {
  project = new ViteProject();
});
afterAll(() => project?.remove());

function configure(options: string): void {
  const config = `
import { cloudflare } from "@cloudflare/vite-plugin";
import { sluice } from "@sluice/vite";

export default { plugins: [cloudflare(sluice({ inspectorPort: false }))], ${options} };
`;
  writeFileSync(join(project.folder, "vite.config.mjs"), config);
}

const namedBy = (server: DevServer) => [...server.printed().matchAll(BANNER)].map(([, url]) => `${url}`);

async function served(url: string): Promise<string> {
  const response = await fetch(url, { headers: { accept: "text/html", connection: "close" } });
  return `${response.status} ${await response.text()}`;
}

it("the banner of vite dev names the dashboard, and again after a restart", async () => {
  configure("server: { port: 5_301 }");
  const server = await project.dev();
  await vi.waitFor(() => expect(namedBy(server)).toEqual([`${server.url}/__sluice/`]), PATIENCE);
  configure("server: { port: 5_302 }");
  await vi.waitFor(() => expect(namedBy(server)).toHaveLength(2), PATIENCE);
  expect(namedBy(server)[1]).not.toBe(namedBy(server)[0]);
  await server.stop();
});

it("the dashboard is at the root of the server, at every host and with any base path", async () => {
  configure('server: { host: true }, base: "/shop/"');
  const server = await project.dev();
  await vi.waitFor(() => expect(namedBy(server)).toHaveLength(1), PATIENCE);
  const [url = ""] = namedBy(server);
  expect(url).toBe(`${new URL(server.url).origin}/__sluice/`);
  expect(await served(url)).toMatch(/^200 .*Sluice/s);
  await server.stop();
});

it("a server within another one has no banner, but serves the dashboard", async () => {
  const other = new ViteProject({ fixture: "shop", tool: "../server.mjs" });
  try {
    const code = `
import { createServer } from "node:http";
import { createServer as createVite } from "vite";

const server = createServer();
const vite = await createVite({ server: { middlewareMode: true, ws: false } });
server.on("request", vite.middlewares);
server.listen(0, "127.0.0.1", () => console.log("Local: http://127.0.0.1:" + server.address().port + "/"));
process.once("SIGINT", () => process.exit());
`;
    writeFileSync(join(other.folder, "server.mjs"), code);
    const server = await other.dev();
    expect(await served(`${server.url}/__sluice/`)).toMatch(/^200 .*Sluice/s);
    expect(namedBy(server)).toEqual([]);
    await server.stop();
  } finally {
    other.remove();
  }
});
