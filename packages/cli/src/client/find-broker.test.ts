import { describe, expect, it } from "vitest";
import type { RunningBroker } from "../running-brokers.ts";
import { nearest } from "./find-broker.ts";

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

  it("is none where none runs", () => {
    expect(() => nearest([], "/code")).toThrow("No broker is running.");
  });
});
