import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BrokerLab } from "./broker-lab.ts";

const lab = new BrokerLab();

beforeAll(async () => {
  await lab.serve({ SLUICE_ENV: "development" });
  await lab.run(["queues", "create", "orders"]);
});
afterAll(() => lab.close());

describe("sluice clock", () => {
  it("shows, freezes, advances, jumps and follows", async () => {
    expect((await lab.run(["clock", "show"])).out).toMatch(/^The clock is running, \S+Z: real time\.$/m);
    const frozen = await lab.json<{ now: string; isFrozen: boolean }>(["clock", "freeze"]);
    expect(frozen.isFrozen).toBe(true);
    const late = [
      "messages",
      "send",
      "orders",
      "--content-type",
      "text",
      "--body",
      "late",
      "--delay-secs",
      "3600",
    ];
    expect(await lab.run(late)).toMatchObject({ code: 0 });
    expect((await lab.run(["clock", "advance", "30m"])).out).toMatch(
      /^The clock is frozen at .*: (29|30) min ahead of real time\.$/m,
    );
    expect((await lab.run(["messages", "peek", "orders", "--state", "delayed"])).out).toContain("late");
    expect((await lab.run(["clock", "next"])).out).toContain(
      "Something is due in orders. The clock is frozen",
    );
    expect((await lab.run(["messages", "peek", "orders", "--state", "ready"])).out).toContain("late");
    expect(await lab.json(["clock", "follow"])).toMatchObject({ isFrozen: false });
    await lab.run(["queues", "create", "empty"]);
    expect((await lab.run(["clock", "next", "empty"])).out).toMatch(/^Nothing waits\. /);
  });

  it("is the time by which commands say when messages were sent", async () => {
    await lab.run(["clock", "advance", "1h"]);
    await lab.run(["queues", "create", "moved"]);
    const send = ["messages", "send", "moved", "--content-type", "text", "--body", "just now"];
    const { id } = await lab.json<{ id: string }>(send);
    await lab.run(["clock", "advance", "5m"]);
    const peeked = (await lab.run(["messages", "peek", "moved"])).out;
    expect(peeked).toMatch(/ 5 min ago .* just now$/m);
    const shown = (await lab.run(["messages", "show", "moved", id])).out;
    expect(shown).toMatch(/^sent .* \(5 min ago\)$/m);
  });

  it("jumps to what comes next in the user's queues, whatever waits for a webhook of alerts", async () => {
    const alerted = new BrokerLab('[sluice.alerts]\nurl = "http://127.0.0.1:9/"\n');
    onTestFinished(() => alerted.close());
    const SLUICE_ALERTS_SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
    await alerted.serve({ SLUICE_ENV: "development", SLUICE_ALERTS_SECRET });
    expect(await alerted.words(1, ["alerts", "test"])).toContain("127.0.0.1:9");
    expect((await alerted.run(["clock", "next"])).out).toMatch(/^Nothing waits\. /);
    await alerted.run(["queues", "create", "orders"]);
    await alerted.run(["messages", "send", "orders", "--body", "1", "--delay-secs", "36000"]);
    expect((await alerted.run(["clock", "next"])).out).toContain("Something is due in orders. ");
  });

  it("refuses an invalid duration, and a queue that does not exist", async () => {
    expect(await lab.words(2, ["clock", "advance", "tomorrow"])).toContain(
      "It is a number with a unit: 500ms, 30s, 90m, 12h",
    );
    expect(await lab.words(2, ["clock", "advance", "32d"])).toContain("It is 31d at once at most.");
    expect(await lab.run(["clock", "next", "nothing"])).toMatchObject({ code: 4 });
  });
});

describe("sluice faults", () => {
  it("sets a fault beside the others, lists and clears them", async () => {
    expect((await lab.run(["faults", "list"])).err).toContain("No faults are on.");
    const set = await lab.run(["faults", "set", "orders", "loseAck", "--times", "3"]);
    expect(set).toMatchObject({ code: 0, out: "" });
    expect(set.err).toBe(
      "In the next 3 deliveries of orders: what the handler did is not heard of (loseAck).\n",
    );
    expect((await lab.run(["faults", "set", "orders", "slow", "--for", "5s", "--seed", "7"])).err).toBe(
      "In the next delivery of orders: what the handler did is heard of 5000 ms late (slow).\n",
    );
    const both = [
      { kind: "loseAck", times: 3, ms: 1_000 },
      { kind: "slow", times: 1, ms: 5_000 },
    ];
    expect(await lab.json(["faults", "list"])).toEqual(both.map((fault) => ({ queue: "orders", ...fault })));
    expect((await lab.run(["faults", "list", "orders"])).out).toMatch(
      /^orders +loseAck +3 +what the handler did is not heard of\norders +slow +1 +what the handler did is heard of 5000 ms late$/m,
    );
    expect(await lab.json(["faults", "clear", "orders"])).toMatchObject({ faults: [] });
    expect(await lab.json(["faults", "list", "orders"])).toEqual([]);
  });

  it("refuses an unknown kind, and a queue that does not exist", async () => {
    expect(await lab.run(["faults", "set", "orders", "explode"])).toMatchObject({ code: 2 });
    expect(await lab.run(["faults", "set", "nothing", "slow"])).toMatchObject({ code: 4 });
  });
});

it.each([
  [["--for", "60s"], 0, ""],
  [["--for", "60001ms"], 2, "It is 60s at most."],
  [["--times", "10000"], 0, ""],
  [["--times", "10001"], 2, "It is 10000 at most."],
])("sluice faults set with %j exits with %i", async (args, code, why) => {
  expect(await lab.run(["faults", "set", "orders", "slow", ...args])).toMatchObject({
    code,
    err: expect.stringContaining(why),
  });
});

describe("clock and faults of a broker that is not for development", () => {
  it("are refused", async () => {
    const other = new BrokerLab();
    onTestFinished(() => other.close());
    await other.serve();
    expect(await other.words(1, ["clock", "freeze"])).toContain("The clock moves in development only.");
    await other.run(["queues", "create", "orders"]);
    expect(await other.run(["faults", "list", "orders"])).toMatchObject({ code: 1 });
  });
});
