import type { QueueRecord } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { recordOf } from "../../test/messages.ts";
import {
  applyConfiguration,
  type ConfigurableQueue,
  createIfAbsent,
  writeRecord,
} from "./apply-configuration.ts";
import { type Known, Registration } from "./registration.ts";

/** A queue that is told what it is; `stored` is its own copy. */
class TestQueue implements ConfigurableQueue {
  readonly registration: Registration;
  readonly adopted: number[] = [];
  turns = 0;
  stored: QueueRecord | null;
  readonly store = { readRecord: () => this.stored };
  readonly core = { name: "orders" };
  readonly keep = async () => {
    this.turns += 1;
    writeRecord(this.registration, { ...this.store, writeRecord: (next) => (this.stored = next) });
  };

  constructor(known: Known, stored: QueueRecord | null) {
    this.registration = new Registration(known);
    this.stored = stored;
  }

  readonly adopt = async (next: QueueRecord) => {
    this.adopted.push(next.revision);
    this.registration.set(next);
    this.stored = next;
  };
}

const never = () => Promise.reject(new Error("it begins again"));

describe("a queue that is told what it is", () => {
  it("confirms what it has heard at its start only when no older copy can come back", async () => {
    const queue = new TestQueue({ kind: "known", record: recordOf(7) }, recordOf(5));
    expect(await applyConfiguration(queue, recordOf(7), never)).toBe(false);
    expect(queue.stored?.revision).toBe(7);
    const empty = new TestQueue({ kind: "known", record: recordOf(7) }, null);
    await applyConfiguration(empty, recordOf(7), never);
    expect(empty.turns).toBe(0);
  });

  it("goes by a newer record, and begins again where that is of another queue", async () => {
    const queue = new TestQueue({ kind: "known", record: recordOf(5) }, recordOf(5));
    expect(await applyConfiguration(queue, recordOf(7), never)).toBe(true);
    let begun = 0;
    expect(await applyConfiguration(queue, recordOf(10, 9), async () => (begun += 1))).toBe(false);
    expect([begun, queue.adopted]).toEqual([1, [7]]);
  });
});

describe("a queue that does not exist and gets messages of another one", () => {
  it("is created", async () => {
    const queue = new TestQueue({ kind: "absent" }, null);
    await createIfAbsent(queue, async () => ({ ok: true, record: recordOf(3) }));
    expect(queue.adopted).toEqual([3]);
    await createIfAbsent(queue, never);
  });

  it("stays what it has become meanwhile", async () => {
    const queue = new TestQueue({ kind: "absent" }, null);
    await createIfAbsent(queue, async () => {
      await applyConfiguration(queue, recordOf(4), never);
      return { ok: true, record: recordOf(3) };
    });
    expect([queue.adopted, queue.registration.record?.revision]).toEqual([[4], 4]);
  });

  it("is not brought back when it was deleted meanwhile", async () => {
    const queue = new TestQueue({ kind: "absent" }, null);
    const created = createIfAbsent(queue, async () => {
      expect(queue.registration.noteDeleted(4)).toBe(false);
      return { ok: true, record: recordOf(3) };
    });
    await expect(created).rejects.toThrow('queue "orders" does not exist');
    expect(queue.adopted).toEqual([]);
  });

  it("keeps what comes for another time where it cannot be created", async () => {
    const queue = new TestQueue({ kind: "absent" }, null);
    const created = createIfAbsent(queue, async () => ({ ok: false, refusal: { kind: "tooManyQueues" } }));
    await expect(created).rejects.toThrow("cannot be created: tooManyQueues");
  });
});
