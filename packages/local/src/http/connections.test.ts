import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { type Connection, Connections } from "./connections.ts";

let connections: Connections;
/** Names of those that were refused, and whether in the middle of a request. */
let refused: [string, boolean][];

beforeEach(() => {
  connections = new Connections({ connectionsMax: 3, unreadBytesMax: 100, answeringBytesMax: 100 });
  refused = [];
});

function open(name: string, isQuiet?: () => boolean): Connection {
  const socket = Object.assign(new EventEmitter(), { bytesWritten: 0 }) as unknown as Socket;
  const refuse = (_: Connection, isReading: boolean) => void refused.push([name, isReading]);
  return connections.accept(socket, refuse, isQuiet) ?? ({ isGone: true } as Connection);
}

describe("connections", () => {
  it("are as many as may be; for another one the one goes that has been quiet for longest", () => {
    const [first, second] = [open("1"), open("2")];
    expect(connections.size).toBe(2);
    open("3");
    expect([connections.size, refused]).toEqual([3, []]);
    connections.complete(first, 1);
    connections.answered(first, 1);
    open("4");
    expect([connections.size, refused]).toEqual([3, [["2", false]]]);
    expect([first.isGone, second.isGone]).toEqual([false, true]);
  });

  it("that are answered are kept, and a new one is refused where all of them are", () => {
    const all = ["1", "2", "3"].map((name) => open(name));
    for (const each of all) expect(connections.complete(each, 1)).toBe(true);
    expect(open("4").isGone).toBe(true);
    expect(refused).toEqual([["4", false]]);
    connections.answered(all[1] as Connection, 1);
    open("5");
    expect(refused).toEqual([
      ["4", false],
      ["2", false],
    ]);
  });

  it("that say themselves that they are not quiet are kept", () => {
    open("1", () => false);
    open("2", () => true);
    open("3");
    open("4");
    expect(refused).toEqual([["2", false]]);
  });

  it("that are closed make room", () => {
    const [first] = ["1", "2", "3"].map((name) => open(name)) as [Connection];
    connections.came(first, 60);
    first.socket.emit("close");
    expect([connections.size, connections.bytes]).toEqual([2, { unread: 0, answering: 0 }]);
    open("4");
    expect(refused).toEqual([]);
  });
});

describe("what is not all here", () => {
  it.each([
    [99, []],
    [100, []],
    [101, [["1", true]]],
  ])("may be 100 bytes: of %i the oldest goes", (bytes, gone) => {
    const [first, second] = [open("1"), open("2")];
    expect(connections.came(first, 40)).toBe(true);
    expect(connections.came(second, bytes - 40)).toBe(true);
    expect(refused).toEqual(gone);
    expect(connections.bytes.unread).toBe(gone.length === 0 ? bytes : bytes - 40);
  });

  it("goes even where it is all there is", () => {
    expect(connections.came(open("1"), 101)).toBe(false);
    expect([refused, connections.bytes.unread]).toEqual([[["1", true]], 0]);
  });

  it("leaves those alone whose requests came whole", () => {
    const [stranger, client] = [open("stranger"), open("client")];
    connections.came(stranger, 90);
    for (let i = 0; i < 10; i += 1) {
      expect(connections.came(client, 9)).toBe(true);
      expect(connections.complete(client, 9)).toBe(true);
      connections.answered(client, 9);
    }
    expect(refused).toEqual([]);
    expect(connections.came(client, 50)).toBe(true);
    expect(refused).toEqual([["stranger", true]]);
  });

  it("is what came behind a request, too", () => {
    const first = open("1");
    connections.came(first, 80);
    connections.complete(first, 30);
    expect(connections.bytes).toEqual({ unread: 50, answering: 30 });
    connections.came(first, 51);
    expect(refused).toEqual([["1", true]]);
    expect(connections.bytes).toEqual({ unread: 0, answering: 0 });
  });
});

it.each([
  [99, true],
  [100, true],
  [101, false],
])("what is being answered may be 100 bytes: %i", (bytes, isTaken) => {
  const [first, second] = [open("1"), open("2")];
  expect(connections.complete(first, 60)).toBe(true);
  expect(connections.complete(second, bytes - 60)).toBe(isTaken);
  connections.answered(first, 60);
  expect(connections.bytes.answering).toBe(isTaken ? bytes - 60 : 0);
});
