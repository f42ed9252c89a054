import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXPLORER_PATHS, type ForgedRequest, forge } from "sluice/test/forged-request";
import { machineAddress, NO_ADDRESS } from "sluice/test/machine-address";
import { callSqs } from "sluice/test/serving";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type DevServer, ViteProject } from "./vite-project.ts";

const PATIENCE = { timeout: 100_000, interval: 100 };
const TIMEOUT_MS = 300_000;

const address = machineAddress();
if (address === null) console.warn(NO_ADDRESS);

let project: ViteProject;
let config: string;

beforeAll(() => {
  project = new ViteProject();
  config = readFileSync(join(project.folder, "vite.config.mjs"), "utf8");
}, TIMEOUT_MS);
afterAll(() => project?.remove());

function configure(options: object): void {
  const text = config.replace("defineConfig({", `defineConfig({ server: ${JSON.stringify(options)},`);
  writeFileSync(join(project.folder, "vite.config.mjs"), text);
}

it("a Vite server with cors for every site hides the broker's answers from other sites", {
  timeout: TIMEOUT_MS,
}, async () => {
  configure({ cors: true });
  const server = await project.dev();
  const origin = new URL(server.url).origin;
  const ask = (path: string, headers: Record<string, string>) =>
    fetch(origin + path, { headers: { connection: "close", ...headers } });
  await vi.waitFor(async () => expect((await ask("/__sluice/api/queues", {})).status).toBe(200), PATIENCE);
  expect(server.printed()).not.toContain("Other machines");
  for (const path of ["/__sluice/api/queues", "/__sluice/api/queues/orders/messages", "/__sluice/metrics"]) {
    const response = await ask(path, { origin: "http://evil.com" });
    expect(response.status).toBe(403);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(await response.text()).not.toContain("orders");
  }
  await server.stop();
});

describe.skipIf(address === null)("a Vite server that other machines reach", () => {
  let server: DevServer;
  let port: string;
  beforeAll(async () => {
    configure({ host: true, allowedHosts: true });
    server = await project.dev();
    port = new URL(server.url).port;
  }, TIMEOUT_MS);
  afterAll(() => server?.stop());
  const ask = (host: string, headers: Record<string, string> = {}) =>
    fetch(`http://${host}:${port}/__sluice/api/queues`, { headers: { connection: "close", ...headers } });

  it("says so and lets in requests with the token that it shows, and its Workers", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const token = /who brings the token (\S+)/.exec(server.printed())?.[1] ?? "";
    expect(server.printed()).toContain(`Dashboard: http://localhost:${port}/__sluice/#token=${token}`);
    for (const host of [address ?? "", "localhost"]) {
      await vi.waitFor(async () => {
        const response = await ask(host, { authorization: `Bearer ${token}` });
        expect(response.status).toBe(200);
      }, PATIENCE);
      expect((await ask(host)).status).toBe(401);
      expect((await ask(host, { authorization: "Bearer wrong" })).status).toBe(401);
      const aws = await callSqs(`http://${host}:${port}/__sluice/aws`, "ListQueues", {});
      expect(aws.status).toBe(403);
    }
    await fetch(`http://localhost:${port}/send?body=shared`);
    await vi.waitFor(async () => {
      const lines = await (await fetch(`http://localhost:${port}/`)).json();
      expect(lines).toContain("one shared 1");
    }, PATIENCE);
  });

  it("refuses other machines the paths of the Local Explorer, and leaves them to this one", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const ask = (from: string, path: string, rest: Partial<ForgedRequest> = {}) =>
      forge({ address: from, port, path, ...rest });
    const [path = ""] = EXPLORER_PATHS;
    await vi.waitFor(async () => {
      const { status, text } = await ask("127.0.0.1", path);
      expect([status, text]).toEqual([200, expect.stringContaining("Directory")]);
    }, PATIENCE);
    const from = address ?? "";
    const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    for (const path of [...EXPLORER_PATHS, "/cdn-cgi/handler/scheduled", "/cdn-cgi/local/email"]) {
      expect((await ask(from, path)).status).toBe(403);
      expect((await ask(from, path, { headers: { host: `${from}:${port}` } })).status).toBe(403);
      expect((await ask(from, path, { headers: upgrade })).status).toBe(403);
      expect((await ask(from, path, { body: { queries: [{ sql: "delete from tokens" }] } })).status).toBe(
        403,
      );
    }
    // Headers with which Miniflare's own parts route a request.
    for (const headers of [
      { "mf-original-url": `http://localhost${EXPLORER_PATHS[1]}` },
      { "mf-route-override": "sluice" },
      { "x-forwarded-host": "localhost", "x-original-url": EXPLORER_PATHS[1] ?? "" },
    ]) {
      expect((await ask(from, "/other", { headers })).text).not.toContain("Directory");
    }
  });

  it("uses a token of .dev.vars", { timeout: TIMEOUT_MS }, async () => {
    await server.stop();
    writeFileSync(join(project.folder, ".dev.vars"), "SLUICE_API_TOKENS=fixed\n");
    server = await project.dev();
    port = new URL(server.url).port;
    expect(server.printed()).toContain("who brings one of SLUICE_API_TOKENS");
    await vi.waitFor(async () => {
      expect((await ask(address ?? "", { authorization: "Bearer fixed" })).status).toBe(200);
    }, PATIENCE);
    expect((await ask(address ?? "")).status).toBe(401);
  });
});
