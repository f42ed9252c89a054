import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Random } from "@sluice/harness/random";
import { copyOf, type ObjectState } from "@sluice/objects/parts";
import { CONTRACT } from "@sluice/objects/testing/contract";
import { type Call, type NodePlatform, startNode } from "@sluice/objects/testing/platforms";
import { subjectOf } from "@sluice/objects/testing/subject";
import { DurableObject } from "@sluice/objects/workers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventLog } from "../world/event-log.ts";
import { NO_FAULT_RATES, noFaults } from "../world/faults.ts";
import { microtasksDone, VirtualLoop } from "../world/virtual-loop.ts";
import { World } from "../world/world.ts";
import { namespaceOf } from "./bindings.ts";
import type { SimulatedStorage } from "./disk.ts";
import { SimulatedObject } from "./simulated-object.ts";

/** Objects of the class of `subject.ts` on the simulated host, without a fault. */
function startSimulated(): Call {
  const random = new Random(1);
  const loop = new VirtualLoop(random);
  const log = new EventLog(false);
  const world = new World({ random, loop, log, faults: noFaults(), rates: NO_FAULT_RATES, bug: null });
  const objects = new Map<string, Subject>();
  const objectOf = (name: string) => {
    const known = objects.get(name) ?? new Subject(world, name);
    objects.set(name, known);
    return known;
  };

  class Subject extends SimulatedObject {
    override trouble(): void {}
    protected override synced(): void {}
    protected override started(): void {}
    protected override ended(): void {}

    protected override construct(state: ObjectState, storage: SimulatedStorage): object {
      const env = {
        SUBJECTS: namespaceOf((name) => ({
          run: (steps: unknown) => this.leave(storage, () => objectOf(name).call("run", copyOf(steps))),
        })),
      };
      const SubjectClass = subjectOf(
        DurableObject as never,
        (() => this.hostOf(state, storage, env)) as never,
      );
      return new SubjectClass(state as never, env as never);
    }
  }

  let waiting = 0;
  /** Takes events as long as somebody waits for an answer. */
  const take = async () => {
    while (waiting > 0) {
      await microtasksDone();
      loop.next()?.();
    }
  };
  return async (name, method, ...args) => {
    const answer = objectOf(name).call(method, ...(copyOf(args) as unknown[]));
    waiting += 1;
    if (waiting === 1) void take();
    try {
      return await answer;
    } finally {
      waiting -= 1;
    }
  };
}

describe("the simulated host and a process of Node.js alike", () => {
  let folder: string;
  let node: NodePlatform;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sluice-host-"));
    node = await startNode(folder);
  });
  afterAll(async () => {
    await node.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(CONTRACT)("$name", async ({ run, answer }) => {
    const [simulated, real] = await Promise.all(
      [startSimulated(), node.call].map((call) =>
        run(call).catch((error: Error) => `${error.name}: ${error.message}`),
      ),
    );
    expect(simulated).toEqual(real);
    if (answer !== undefined) expect(simulated).toEqual(answer);
  });
});
