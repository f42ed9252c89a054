import { UsageError } from "@sluice/harness/command-line";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "./command-line.ts";

describe("the command line", () => {
  it("has defaults for everything but the command", () => {
    const [workers, sqs] = [
      { broker: "workers", seed: 7 },
      { broker: "sqs", seed: 7 },
    ];
    const kills = { kind: "kills", kills: 100, epochMsMax: 500 };
    expect(parseCommandLine(["kills"], 7)).toEqual({ ...kills, ...workers });
    expect(parseCommandLine(["sqs-kills"], 7)).toEqual({ ...kills, ...sqs });
    const freezes = { kind: "freezes", freezes: 10, frozenMsMax: 30_000 };
    expect(parseCommandLine(["freezes"], 7)).toEqual({ ...freezes, ...workers });
    expect(parseCommandLine(["disk-full"], 7)).toEqual({ kind: "disk-full", times: 10, ...workers });
    const swaps = { kind: "swaps", swaps: 10, epochMsMax: 500 };
    expect(parseCommandLine(["sqs-swaps"], 7)).toEqual({ ...swaps, ...sqs });
    const rollouts = { kind: "rollouts", rollouts: 100, stepMsMax: 500 };
    expect(parseCommandLine(["rollouts"], 7)).toEqual({ ...rollouts, ...workers });
    const damage = { kind: "damage", cases: 28, from: 1 };
    expect(parseCommandLine(["damage"], 7)).toEqual({ ...damage, ...workers });
    expect(parseCommandLine(["sqs-damage"], 7)).toEqual({ ...damage, ...sqs });
    const power = { kind: "power", states: 1_000, isPlanted: false };
    expect(parseCommandLine(["power"], 7)).toEqual({ ...power, ...workers });
    expect(parseCommandLine(["adopt-kills"], 7)).toEqual({ kind: "adopt", kills: 100, ...workers });
    const shardKills = { kind: "shards", kills: 100, epochMsMax: 3_000, ...workers };
    expect(parseCommandLine(["shard-kills"], 7)).toEqual(shardKills);
  });

  it("takes options", () => {
    const args = ["kills", "--kills", "1000", "--seed", "3", "--epoch-ms", "0"];
    expect(parseCommandLine(args, 7)).toMatchObject({ kind: "kills", kills: 1_000, seed: 3, epochMsMax: 0 });
    const old = ["rollouts", "--rollouts", "5", "--old", "/tmp/earlier", "--epoch-ms", "100"];
    expect(parseCommandLine(old, 7)).toMatchObject({ rollouts: 5, old: "/tmp/earlier", stepMsMax: 100 });
    expect(parseCommandLine(["power", "--planted"], 7)).toMatchObject({ states: 400, isPlanted: true });
    expect(parseCommandLine(["power", "--states", "9"], 7)).toMatchObject({ states: 9, isPlanted: false });
  });

  it("answers with help when it is asked for or nothing is", () => {
    expect([parseCommandLine([], 7), parseCommandLine(["kills", "--help"], 7)]).toEqual(["help", "help"]);
  });

  it.each([
    [["dance"], 'There is no command "dance".'],
    [["kills", "freezes"], "One command at a time."],
    [["kills", "--kills", "0"], "--kills must be a whole number, 1 or more"],
    [["kills", "--seed=-1"], "--seed must be a whole number, 0 or more"],
    [["kills", "--colour"], /--colour/],
  ])("refuses %j", (args, message) => {
    expect(() => parseCommandLine(args, 7)).toThrow(UsageError);
    expect(() => parseCommandLine(args, 7)).toThrow(message);
  });
});
