import { describe, expect, it } from "vitest";
import { damagedWorkers } from "./damaged-workers.ts";
import { DAMAGE_KINDS } from "./kinds.ts";
import { runDamage } from "./run-damage.ts";

describe.concurrent("state files that are damaged while nothing runs", () => {
  it("cost what is reported for the right queue, and the other queues nothing", async () => {
    const removed = 1 + DAMAGE_KINDS.indexOf("file removed");
    const [ofFile, ofLog] = await runDamage(await damagedWorkers(), {
      numbers: [removed, removed + 1],
      seed: 20_260,
    });
    for (const each of [ofFile, ofLog]) {
      expect(each?.target).toEqual({ kind: "queue", name: "orders" });
      expect(each?.violations).toEqual([]);
      expect(each?.missing).toBeGreaterThan(0);
      expect(each?.listed).toEqual(["rolledBack"]);
      expect(each?.lines).toContainEqual(expect.stringMatching(/^Queue "orders": the database is older/));
    }
  });

  it("are reported when they are those of the directory, and cost no queue anything", async () => {
    const ofDirectory = 3 * DAMAGE_KINDS.length + 1 + DAMAGE_KINDS.indexOf("file removed");
    const [removed] = await runDamage(await damagedWorkers(), { numbers: [ofDirectory], seed: 20_260 });
    expect(removed?.target).toEqual({ kind: "directory" });
    expect(removed?.violations).toEqual([]);
  });
});
