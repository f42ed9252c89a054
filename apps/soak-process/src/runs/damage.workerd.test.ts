import { describe, expect, it } from "vitest";
import { DAMAGE_KINDS } from "../damage/kinds.ts";
import { runDamage } from "./damage.ts";

describe("state files that are damaged while nothing runs", () => {
  it("cost what is reported for the right queue, and the other queues nothing", async () => {
    const cases = await runDamage({ cases: DAMAGE_KINDS.length, seed: 20_260 });
    expect(cases.flatMap(({ violations }) => violations)).toEqual([]);
    const removed = cases.find(({ kind }) => kind === "file removed");
    expect(removed?.missing).toBeGreaterThan(10);
    expect(removed?.listed).toEqual(["rolledBack"]);
    expect(removed?.lines).toEqual([expect.stringMatching(/^Queue "orders": the database is older/)]);
  });

  it("say so when they are those of the directory, and cost no queue anything", async () => {
    const ofDirectory = 3 * DAMAGE_KINDS.length + 1 + DAMAGE_KINDS.indexOf("file removed");
    const [removed] = await runDamage({ cases: 1, from: ofDirectory, seed: 20_260 });
    expect(removed?.target).toEqual({ kind: "directory" });
    expect(removed?.violations).toEqual([]);
  });
});
