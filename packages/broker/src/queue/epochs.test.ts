import { epochOf, firstIdOf, NARROW_EPOCHS_FROM, NARROW_IDS } from "@sluice/engine";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { only, SqsWorld } from "../../test/sqs-world.ts";
import { World } from "../../test/world.ts";

/** Makes a queue one that has started so often. A queue with a message a minute starts 2^20 times in two years. */
async function startedOften(world: World, queue: string, epochs: number): Promise<void> {
  const store = world.store(queue);
  store.commit(() => store.writeEpoch(epochs, queue));
  await store.synced();
  world.crash(queue);
}

describe.each([NARROW_EPOCHS_FROM - 2, NARROW_EPOCHS_FROM, 2 ** 20, 2 ** 28])(
  "a queue that has started %i times",
  (epochs) => {
    it("keeps what happened to its messages over further starts", async () => {
      const world = new World({
        orders: { consumer: consumer({ maxBatchTimeoutSeconds: 0, retryDelaySeconds: 60 }) },
      });
      await startedOften(world, "orders", epochs);
      world.handler = (batch) => ({
        retryMessages: batch.messages.slice(1).map(({ id }) => ({ msgId: id })),
      });
      await world.sendAndPass("orders", ["acknowledged", "retried"]);
      for (let life = 0; life < 3; life++) {
        world.crash("orders");
        world.core("orders");
        await world.pass(10_000);
      }
      world.handler = () => ({});
      await world.pass(60_000);
      expect(bodiesOf(world.seen)).toEqual([["acknowledged", "retried"], ["retried"]]);
      expect(world.seen[1]?.messages).toMatchObject([{ attempts: 2 }]);
      expect(world.lines.filter((line) => !line.startsWith("info: "))).toEqual([]);
    });

    it("numbers the messages of a FIFO queue on", async () => {
      const queues = new SqsWorld({ "orders.fifo": {} });
      await startedOften(queues, "orders.fifo", epochs);
      const numbers: (string | null)[] = [];
      for (const name of ["g-1", "g-2", "g-3", "g-4"]) {
        numbers.push(only(await queues.enqueue("orders.fifo", name)).sequenceNumber);
        queues.crash("orders.fifo");
      }
      expect(numbers).toEqual([...new Set(numbers)].sort());
      const received = await queues.receive("orders.fifo");
      expect(received.map(({ sequenceNumber }) => sequenceNumber)).toEqual(numbers);
    });
  },
);

it("an epoch that gives more ids than its range has is followed by one behind them", async () => {
  const world = new World({ orders: { consumer: consumer({ maxBatchTimeoutSeconds: 0 }) } });
  await startedOften(world, "orders", NARROW_EPOCHS_FROM);
  const { queue, epoch } = world.core("orders");
  queue.nextLeaseId = firstIdOf(epoch) + 3 * NARROW_IDS + 7;
  await world.sendAndPass("orders", ["a"]);
  world.crash("orders");
  const next = world.core("orders");
  expect(epochOf(queue.nextLeaseId)).toBe(epoch + 3);
  expect(next.epoch).toBe(epoch + 4);
  expect(next.queue.nextLeaseId).toBeGreaterThan(queue.nextLeaseId);
});
