import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ENDING_MS_MAX, endOnCtrlC } from "./ctrl-c.ts";

/** A terminal whose keys somebody else reads, and the process on it. */
function terminal({ isRaw = true } = {}) {
  const stdin = Object.assign(new EventEmitter(), { isRaw });
  const read: string[] = [];
  stdin.on("data", (data: Buffer) => read.push(data.toString()));
  const exits: number[] = [];
  const warnings: string[] = [];
  endOnCtrlC({ stdin, exit: (code) => exits.push(code) }, (text) => warnings.push(text));
  const press = (keys: string) => stdin.emit("data", Buffer.from(keys));
  return { press, exits, warnings, read };
}

describe("endOnCtrlC", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("ends what has not ended in time after a Ctrl-C, and says so", () => {
    const { press, exits, warnings, read } = terminal();
    press("\u0003");
    vi.advanceTimersByTime(ENDING_MS_MAX - 1);
    expect(exits).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(exits).toEqual([130]);
    expect(warnings).toEqual(["Wrangler did not end within 5 s, and was ended."]);
    expect(read).toEqual(["\u0003"]);
  });

  it("ends at once at the second one", () => {
    const { press, exits } = terminal();
    press("\u0003");
    press("\u0003");
    expect(exits).toEqual([130]);
  });

  it("takes no other key, and no text that is typed line by line, for one", () => {
    const { press, exits } = terminal();
    press("x");
    const lines = terminal({ isRaw: false });
    lines.press("\u0003");
    vi.advanceTimersByTime(ENDING_MS_MAX);
    expect([...exits, ...lines.exits]).toEqual([]);
  });
});
