import { afterEach, describe, expect, it } from "vitest";
import { createServerLog, type LogFormat, openServerLog } from "./server-log.ts";

const AT = Date.UTC(2026, 10, 26, 9, 30, 0, 250);

/** A log whose lines are kept, with the stream that each has gone to. */
function logIn(format: LogFormat) {
  const lines: [stream: "out" | "err", text: string][] = [];
  const printer = {
    print: (text: string) => void lines.push(["out", text]),
    warn: (text: string) => void lines.push(["err", text]),
  };
  return { lines, printer, log: createServerLog(format, printer, () => AT) };
}

describe("as text", () => {
  it("a line has its time and level, and goes to the stream of its level", () => {
    const { lines, log } = logIn("text");
    log.print("QUEUE orders 1/1 acknowledged (3ms)");
    log.warn("The disk is full.");
    log.write("error", "Error: boom\n    at f (a.ts:1:2)");
    log.write("debug", "looked");
    expect(lines).toEqual([
      ["out", "2026-11-26T09:30:00.250Z info  QUEUE orders 1/1 acknowledged (3ms)"],
      ["err", "2026-11-26T09:30:00.250Z warn  The disk is full."],
      ["err", "2026-11-26T09:30:00.250Z error Error: boom\n    at f (a.ts:1:2)"],
      ["out", "2026-11-26T09:30:00.250Z debug looked"],
    ]);
  });

  it("what a person reads at the start stays as it is", () => {
    const { lines, log } = logIn("text");
    log.introduce("\nqueues  http://127.0.0.1:8787/", { url: "http://127.0.0.1:8787" });
    expect(lines).toEqual([["out", "\nqueues  http://127.0.0.1:8787/"]]);
  });
});

describe("as JSON", () => {
  it("each message is one object in one line", () => {
    const { lines, log } = logIn("json");
    log.write("error", "Error: boom\n    at f (a.ts:1:2)");
    log.introduce("\nqueues  http://a/\ndata    /b\n", { url: "http://a", data: "/b" });
    expect(lines.map(([stream, text]) => [stream, JSON.parse(text)])).toEqual([
      [
        "err",
        { time: "2026-11-26T09:30:00.250Z", level: "error", message: "Error: boom\n    at f (a.ts:1:2)" },
      ],
      [
        "out",
        {
          time: "2026-11-26T09:30:00.250Z",
          level: "info",
          message: "queues  http://a/\ndata    /b",
          url: "http://a",
          data: "/b",
        },
      ],
    ]);
    expect(lines.filter(([, text]) => text.includes("\n"))).toEqual([]);
  });
});

describe("what this process prints by its console", () => {
  let close = () => {};
  afterEach(() => close());

  it("goes into the log until that is closed, and so do warnings of Node.js", async () => {
    const { lines, printer } = logIn("json");
    const { log: before } = console;
    const log = openServerLog("json", printer);
    close = () => log.close();
    console.log("a %s", "b", { c: 1 });
    console.error(new Error("boom"));
    console.warn("w");
    console.debug("d");
    process.emitWarning("too many", "SomeWarning");
    await expect.poll(() => lines.length).toBe(5);
    close();
    expect(console.log).toBe(before);
    const records = lines.map(([, text]) => JSON.parse(text));
    expect(records.map(({ level }) => level)).toEqual(["info", "error", "warn", "debug", "warn"]);
    expect(records[0].message).toBe("a b { c: 1 }");
    expect(records[1].message).toMatch(/^Error: boom\n +at /);
    expect(records[4].message).toContain("SomeWarning: too many");
  });
});
