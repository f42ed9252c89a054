import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OnBroker } from "../on-broker.ts";
import { exportMessages } from "./export.ts";
import { exportAll } from "./export-all.ts";

/** Bytes that the disk has room for. */
const disk = vi.hoisted(() => ({ room: Number.POSITIVE_INFINITY }));
vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  const writeSync = (file: number, bytes: Buffer, from: number, _: null, at: number) => {
    const fits = Math.min(bytes.length - from, disk.room);
    if (fits === 0) throw new Error("ENOSPC: no space left on device, write");
    disk.room -= fits;
    return fs.writeSync(file, bytes, from, fits, at);
  };
  return { ...fs, writeSync };
});

let folder: string;
beforeEach(() => {
  disk.room = Number.POSITIVE_INFINITY;
  folder = mkdtempSync(join(tmpdir(), "sluice-export-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = () => join(folder, "out.jsonl");
const note = () => `${file()}.sluice-export`;

const message = (text: string) => ({
  id: text,
  contentType: "text",
  text,
  group: null,
  attributes: {},
  from: null,
});

/** A broker with two pages of one message each, which answers as often as it is to. */
function broker(answers = Number.POSITIVE_INFINITY) {
  const said: string[] = [];
  const answer = (path: string) => {
    if (path === "/backup") {
      return {
        at: "2026-11-27T00:00:00.000Z",
        queues: [],
        topics: [],
        topicSubscriptions: [],
        subscriptions: [],
        holders: ["q"],
        redrives: [],
      };
    }
    const isSecond = path.includes("cursor=");
    return { messages: [message(isSecond ? "b" : "a")], cursor: isSecond ? null : "1", searched: 1, of: 2 };
  };
  let left = answers;
  const client = {
    admin: async ({ path }: { path: string }) => {
      if (left-- <= 0) throw new Error("It is down.");
      return answer(path);
    },
  };
  const warn = (text: string) => void said.push(text);
  const on = {
    client,
    surroundings: { cwd: folder, showsProgress: false, errors: { isTTY: false } },
    printer: { warn, print: warn },
    json: false,
  } as unknown as OnBroker;
  return { on, said };
}

const WAYS = {
  "of a queue": (on: OnBroker, resume: boolean) => exportMessages(on, "q", { output: "out.jsonl", resume }),
  "of a broker": (on: OnBroker, resume: boolean) => exportAll(on, { output: "out.jsonl", resume }),
} as const;

describe.each(Object.entries(WAYS))("an export %s that is resumed", (_, run) => {
  const whole = async () => {
    await run(broker().on, false);
    const text = readFileSync(file(), "utf8");
    rmSync(file());
    return text;
  };

  it.each([0, 1])("has all messages where the broker failed after %i answers", async (answers) => {
    const expected = await whole();
    await expect(run(broker(answers).on, false)).rejects.toThrow("It is down.");
    expect(await run(broker().on, true)).toBe(0);
    expect(readFileSync(file(), "utf8")).toBe(expected);
    expect(existsSync(note())).toBe(false);
  });

  it.each([0, 1, 60, 150, 200])("has all messages where the disk was full after %i bytes", async (room) => {
    const expected = await whole();
    disk.room = Math.min(room, expected.length - 1);
    await expect(run(broker().on, false)).rejects.toThrow("ENOSPC");
    disk.room = Number.POSITIVE_INFINITY;
    expect(await run(broker().on, true)).toBe(0);
    expect(readFileSync(file(), "utf8")).toBe(expected);
  });

  it("begins where a file is empty: its export was killed once it was created", async () => {
    const expected = await whole();
    writeFileSync(file(), "");
    await run(broker().on, true);
    expect(readFileSync(file(), "utf8")).toBe(expected);
  });

  it("leaves a file alone that is complete, and says so", async () => {
    await run(broker().on, false);
    const text = readFileSync(file(), "utf8");
    const { on, said } = broker(0);
    expect(await run(on, true)).toBe(0);
    expect(said).toEqual(["out.jsonl is complete: there is no export to continue."]);
    expect(readFileSync(file(), "utf8")).toBe(text);
  });
});
