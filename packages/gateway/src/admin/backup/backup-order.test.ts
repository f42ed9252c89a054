import { expect, it } from "vitest";
import { type Ordered, sourcesFirst } from "./backup-order.ts";

const queue = (name: string, deadLetterQueue?: string): Ordered => ({
  name,
  definition: {
    consumer: null,
    ...(deadLetterQueue === undefined
      ? {}
      : { receive: { redrive: { deadLetterQueue, maxReceiveCount: 1 } } }),
  },
});
const order = (...queues: Ordered[]) => sourcesFirst(queues).map(({ name }) => name);

it("puts each queue before those that take its dead letters, over several steps", () => {
  const names = order(
    queue("a-dead-dead"),
    queue("a-dead", "a-dead-dead"),
    queue("b", "a-dead"),
    queue("a", "a-dead"),
  );
  expect(names).toHaveLength(4);
  expect(names.indexOf("a")).toBeLessThan(names.indexOf("a-dead"));
  expect(names.indexOf("b")).toBeLessThan(names.indexOf("a-dead"));
  expect(names.at(-1)).toBe("a-dead-dead");
});

it("has each queue of a circle once, and leaves out what is not there", () => {
  expect(order(queue("a", "b"), queue("b", "a"), queue("c", "gone")).sort()).toEqual(["a", "b", "c"]);
});
