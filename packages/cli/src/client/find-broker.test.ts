import { readdirSync, statSync } from "node:fs";
import { join, win32 } from "node:path";
import type { RunningBroker } from "@sluice/local/processes/running-brokers";
import { registerBroker } from "@sluice/local/processes/running-brokers";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it, onTestFinished } from "vitest";
import { findBroker, nearest } from "./find-broker.ts";

function broker(data: string, ...folders: string[]): RunningBroker {
  return { pid: 1, command: "sluice dev", url: `http://${data}`, data, folders, startedAtMs: 0 };
}

describe("the nearest broker", () => {
  const shop = broker("shop", "/code/shop", "/code/shop/api");
  const mails = broker("mails", "/code/mails");

  it.each([
    ["/code/shop", shop],
    ["/code/shop/api/src", shop],
    ["/code/mails/src", mails],
  ])("to %s is the one whose folders lie nearest", (cwd, expected) => {
    expect(nearest([shop, mails], cwd)).toBe(expected);
  });

  it("is the only one, wherever it is", () => {
    expect(nearest([shop], "/elsewhere")).toBe(shop);
  });

  it.each(["/code", "/elsewhere", "/code/shopping"])("to %s is none when several are as near", (cwd) => {
    expect(() => nearest([shop, mails], cwd)).toThrow(
      /Several brokers[\s\S]*http:\/\/shop[\s\S]*http:\/\/mails/,
    );
  });

  it("of several that lead to one data folder is the oldest", () => {
    const second = { ...broker("shop", "/code/shop"), pid: 2 };
    expect(nearest([shop, second], "/code/shop")).toBe(shop);
  });

  it.each([
    ["c:\\code\\Shop\\src", "C:\\code\\shop"],
    ["D:\\mails", "D:\\mails"],
  ])("on Windows to %s is that of %s", (cwd, folder) => {
    const both = [broker("shop", "C:\\code\\shop"), broker("mails", "D:\\mails")];
    expect(nearest(both, cwd, win32).folders).toEqual([folder]);
    expect(() => nearest(both, "E:\\elsewhere", win32)).toThrow(/Several brokers/);
  });

  it("is none where none runs", () => {
    expect(() => nearest([], "/code")).toThrow("No broker is running.");
  });
});

describe("the token of a broker that runs here", () => {
  it("is found with it, by its address too, and is nobody else's to read", () => {
    const folder = projectFolder({});
    const env = { WRANGLER_REGISTRY_PATH: join(folder, "registry") };
    const brokers = `${env.WRANGLER_REGISTRY_PATH}.sluice-brokers`;
    const url = "http://localhost:8787";
    const place = { command: "sluice dev", url, data: folder, folders: [folder] };
    onTestFinished(registerBroker(env, { ...place, token: "made" }));
    expect(findBroker({}, { cwd: folder, env })).toEqual({ url, token: "made", stranger: null });
    for (const end of ["/", "/__sluice/", "/__sluice/api/", "/__sluice/aws"]) {
      const found = findBroker({ url: `${url}${end}` }, { cwd: folder, env });
      expect(found, end).toEqual({ url, token: "made", stranger: null });
    }
    expect(findBroker({ token: "own" }, { cwd: folder, env })).toEqual({ url, token: "own", stranger: null });
    const other = "http://localhost:8788";
    expect(findBroker({ url: other }, { cwd: folder, env })).toEqual({
      url: other,
      token: null,
      stranger: null,
    });
    const modes = readdirSync(brokers).map((name) => statSync(join(brokers, name)).mode & 0o777);
    expect(modes).toEqual([0o600]);
  });
});

describe("the only broker that runs", () => {
  const stranger = /^sluice dev \(process \d+\) of .*\/shop at http:\/\/localhost:8787$/;

  it.each([
    ["shop", null],
    ["shop/src", null],
    [".", null],
    ["mails", stranger],
    ["shopping", stranger],
  ])("is a stranger's to %s unless folders lie in one another: %s", (name, expected) => {
    const folder = projectFolder({});
    const env = { WRANGLER_REGISTRY_PATH: join(folder, "registry") };
    const shop = join(folder, "shop");
    const url = "http://localhost:8787";
    onTestFinished(registerBroker(env, { command: "sluice dev", url, data: shop, folders: [shop] }));
    const cwd = join(folder, name);
    const found = findBroker({}, { cwd, env }).stranger;
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatch(expected);
    expect(findBroker({ url }, { cwd, env }).stranger).toBeNull();
    expect(findBroker({}, { cwd, env: { ...env, SLUICE_URL: url } }).stranger).toBeNull();
  });
});
