import { expect, it } from "vitest";
import { withoutLineRequests } from "./inspector-lines.ts";
import type { MiniflareParts } from "./miniflare-parts.ts";

const PROXY = "core:user:InspectorProxyWorker";
const CODE = 'begin(); this.sendDebugLog("RUNTIME INCOMING MESSAGE", msg); end();';

async function codeOf(name: string, esModule: string): Promise<unknown> {
  const services = [{ name, worker: { modules: [{ name: "proxy.js", esModule }, { name: "proxy.wasm" }] } }];
  const parts: MiniflareParts = { CORE_PLUGIN: { getServices: () => ({ services }) } };
  withoutLineRequests(parts);
  await parts.CORE_PLUGIN?.getServices();
  return services[0]?.worker.modules[0]?.esModule;
}

it("takes the request for each message of the inspector from Wrangler's proxy, and nothing else", async () => {
  expect(await codeOf(PROXY, CODE)).toBe("begin();  end();");
  expect(await codeOf(PROXY, "begin();")).toBe("begin();");
  expect(await codeOf("core:user:shop", CODE)).toBe(CODE);
});

it("changes nothing of a Miniflare without these parts, or of a Worker without modules", async () => {
  const none: MiniflareParts = {};
  withoutLineRequests(none);
  expect(none).toEqual({});
  const parts: MiniflareParts = { CORE_PLUGIN: { getServices: () => [{ name: PROXY, worker: {} }] } };
  withoutLineRequests(parts);
  expect(await parts.CORE_PLUGIN?.getServices()).toEqual([{ name: PROXY, worker: {} }]);
});
