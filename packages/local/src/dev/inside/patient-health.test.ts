import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { MiniflareParts } from "./miniflare-parts.ts";
import { withHealthAnswers } from "./patient-health.ts";

const PROXY = "core:user:ProxyWorker";
/** The part of Wrangler's proxy that lets requests wait. */
const CODE = `(request, deferred) => {
  this.requestQueue.set(request, deferred);
  return deferred.promise;
}`;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function codeOf(name: string): Promise<string> {
  const services = [{ name, worker: { modules: [{ esModule: CODE }] } }];
  const parts: MiniflareParts = { CORE_PLUGIN: { getServices: () => ({ services }) } };
  withHealthAnswers(parts);
  await parts.CORE_PLUGIN?.getServices();
  return services[0]?.worker.modules[0]?.esModule ?? "";
}

/** Lets a request wait in the proxy. */
async function wait(path: string) {
  const proxy = { requestQueue: new Map<Request, unknown>() };
  const request = new Request(`http://localhost:8787${path}`);
  const deferred = Promise.withResolvers<Response>();
  const run = new Function(`return ${await codeOf(PROXY)}`).call(proxy) as (
    request: Request,
    deferred: PromiseWithResolvers<Response>,
  ) => Promise<Response>;
  const answered = vi.fn();
  void run(request, deferred).then(answered);
  return { proxy, request, deferred, answered };
}

it("a health check that waits for a Worker is answered with 503 after ten seconds", async () => {
  const { proxy, answered } = await wait("/__sluice/health");
  await vi.advanceTimersByTimeAsync(9_999);
  expect(answered).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  const [response] = answered.mock.calls[0] as [Response];
  expect([response.status, await response.json()]).toEqual([503, { status: "starting" }]);
  expect(proxy.requestQueue.size).toBe(0);
});

it("a health check that a Worker has got is answered by it", async () => {
  const { proxy, request, deferred, answered } = await wait("/__sluice/health");
  proxy.requestQueue.delete(request);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(answered).not.toHaveBeenCalled();
  deferred.resolve(new Response("ok"));
  await vi.advanceTimersByTimeAsync(0);
  expect(answered).toHaveBeenCalledOnce();
});

it("the proxy of Wrangler lets a request wait by the statement that is looked for", () => {
  const wrangler = createRequire(import.meta.url).resolve("wrangler/package.json");
  const proxy = readFileSync(join(dirname(wrangler), "wrangler-dist/ProxyWorker.js"), "utf8");
  const [waits = ""] = /this\.requestQueue\.set\(.*;/.exec(CODE) ?? [];
  expect(waits).not.toBe("");
  expect(proxy.split(waits)).toHaveLength(2);
});

it("other requests wait as long as it takes, and other Workers stay as they are", async () => {
  const { answered } = await wait("/orders");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(answered).not.toHaveBeenCalled();
  expect(await codeOf("core:user:shop")).toBe(CODE);
});
