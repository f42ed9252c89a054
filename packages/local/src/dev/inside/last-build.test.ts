import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lastBuilds } from "./last-build.ts";
import type { DevEnvironment, WranglerEvent } from "./wrangler-events.ts";

const START: WranglerEvent = { type: "bundleStart" };
const BUILT: WranglerEvent = { type: "bundleComplete" };
const FAILED: WranglerEvent = {
  type: "error",
  source: "BundlerController",
  reason: "Failed to rebuild the Worker",
};
const RELOAD: WranglerEvent = { type: "reloadStart" };
const PROXY_DATA = { userWorkerUrl: { port: "8700" } };
const RELOADED: WranglerEvent = { type: "reloadComplete", proxyData: PROXY_DATA };
const STARTED = [START, BUILT, RELOAD, RELOADED];

const sent = vi.fn(async (_message: unknown) => {});
const told = vi.fn();

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.clearAllMocks();
});

/** Environments of Wrangler's for two Workers, of which the first has the proxy. */
function environments(build: { custom?: { command?: string } } = {}) {
  const listener = lastBuilds(told);
  const of = (name: string, sendMessageToProxyWorker: typeof sent): DevEnvironment => {
    const latestConfig = { name, entrypoint: `/${name}/index.ts`, build };
    return { config: { latestConfig }, proxy: { sendMessageToProxyWorker }, dispatch() {} };
  };
  const unheard = vi.fn(async () => {});
  const [shop, mailer] = [of("shop", sent), of("mailer", unheard)] as const;
  const run = (environment: DevEnvironment, ...events: WranglerEvent[]) =>
    events.forEach((event) => void listener(environment, event));
  return { shop, mailer, unheard, run };
}

it("the proxy goes on with the last build when one has failed", () => {
  const { shop, run } = environments();
  run(shop, ...STARTED, START);
  run(shop, FAILED);
  expect(sent.mock.calls).toEqual([[{ type: "play", proxyData: PROXY_DATA }]]);
  expect(told.mock.calls).toEqual([[{ kind: "last-build", worker: "shop" }]]);
});

it("a failed build of a Worker that has no proxy of its own is told alone", () => {
  const { shop, mailer, unheard, run } = environments();
  run(shop, ...STARTED);
  run(mailer, START, FAILED);
  expect([sent.mock.calls, unheard.mock.calls]).toEqual([[], []]);
  expect(told.mock.calls).toEqual([[{ kind: "last-build", worker: "mailer" }]]);
});

it.each<[string, WranglerEvent[]]>([
  ["before the first build", [START, FAILED]],
  ["while another workerd starts", [...STARTED, START, BUILT, RELOAD, START, FAILED]],
  ["for an error of another part", [...STARTED, START, { ...FAILED, source: "ProxyController" }]],
])("requests go on waiting %s", (_, events) => {
  const { shop, run } = environments();
  run(shop, ...events);
  expect([sent.mock.calls, told.mock.calls]).toEqual([[], []]);
});

it("a build that fails while another workerd starts is told once that one runs, and Wrangler has the proxy go on", () => {
  const { shop, run } = environments();
  run(shop, ...STARTED, START, BUILT, RELOAD, START, FAILED, RELOADED, RELOADED);
  expect(told.mock.calls).toEqual([[{ kind: "last-build", worker: "shop" }]]);
  expect(sent).not.toHaveBeenCalled();
});

it("a first build that succeeds at the second time goes on with nothing", () => {
  const { shop, run } = environments();
  run(shop, START, FAILED, ...STARTED);
  expect([sent.mock.calls, told.mock.calls]).toEqual([[], []]);
});

it("a build that neither succeeds nor fails for five seconds has failed", () => {
  const { shop, run } = environments();
  run(shop, ...STARTED, START);
  vi.advanceTimersByTime(4_999);
  expect(sent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(sent.mock.calls).toEqual([[{ type: "play", proxyData: PROXY_DATA }]]);
  expect(told).toHaveBeenCalledOnce();
});

it.each<[string, WranglerEvent[], number]>([
  ["that succeeds", [START, BUILT], 0],
  ["that fails", [START, FAILED], 1],
  ["that begins anew", [START, START, BUILT], 0],
])("a build %s is not waited for any more", (_, events, times) => {
  const { shop, run } = environments();
  run(shop, ...STARTED, ...events);
  vi.advanceTimersByTime(60_000);
  expect(told).toHaveBeenCalledTimes(times);
});

it("a build by a command takes as long as it takes", () => {
  const { shop, run } = environments({ custom: { command: "make" } });
  run(shop, ...STARTED, START);
  vi.advanceTimersByTime(60_000);
  expect(told).not.toHaveBeenCalled();
  run(shop, FAILED);
  expect(told).toHaveBeenCalledOnce();
});
