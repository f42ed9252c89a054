import { expectTypeOf, it } from "vitest";
import type { QueueProducer } from "./queue-producer.ts";

interface Order {
  readonly id: number;
}

// conformance: types
it("QueueProducer<T> can be used as Queue<T> of @cloudflare/workers-types", () => {
  expectTypeOf<QueueProducer<Order>>().toExtend<Queue<Order>>();
  expectTypeOf<QueueProducer>().toExtend<Queue>();
  expectTypeOf<QueueProducer<Order>["send"]>().toExtend<Queue<Order>["send"]>();
  expectTypeOf<QueueProducer<Order>["sendBatch"]>().toExtend<Queue<Order>["sendBatch"]>();
  expectTypeOf<QueueProducer<Order>["metrics"]>().toExtend<Queue<Order>["metrics"]>();
});

it("a body of another type is an error", () => {
  expectTypeOf<QueueProducer<Order>["send"]>().parameter(0).toEqualTypeOf<Order>();
});
