import { describe, expect, it } from "vitest";
import { leftBehind, parseReady } from "./wrangler-process.ts";

describe("parseReady", () => {
  it("reads the address out of Wrangler's message", () => {
    expect(parseReady('{"event":"DEV_SERVER_READY","ip":"127.0.0.1","port":8787}')).toEqual({
      host: "127.0.0.1",
      port: 8787,
    });
  });

  it.each([
    ['{"event":"SOMETHING_ELSE","ip":"127.0.0.1","port":8787}'],
    ['{"event":"DEV_SERVER_READY","ip":"127.0.0.1"}'],
    ["no JSON"],
    [{ event: "DEV_SERVER_READY", ip: "127.0.0.1", port: 8787 }],
  ])("takes nothing else for it: %j", (message) => {
    expect(parseReady(message)).toBeNull();
  });
});

it("leaves the registry of Workers to Wrangler but on Windows, where it is killed", () => {
  expect(leftBehind(["shop", "sluice"], "win32")).toEqual(["shop", "sluice"]);
  expect(leftBehind(["shop", "sluice"], "darwin")).toEqual([]);
});
