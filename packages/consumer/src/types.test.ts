import { expectTypeOf, it } from "vitest";
import type { QueueController } from "./queue-controller.ts";
import type { QueueMessage } from "./queue-message.ts";

interface Order {
  readonly id: number;
}

// conformance: types
it("QueueController<T> can be used as MessageBatch<T> of @cloudflare/workers-types", () => {
  expectTypeOf<QueueController<Order>>().toExtend<MessageBatch<Order>>();
  expectTypeOf<QueueController>().toExtend<MessageBatch>();
  expectTypeOf<QueueController<Order>>().not.toExtend<MessageBatch<string>>();
});

it("QueueMessage<T> can be used as Message<T>", () => {
  expectTypeOf<QueueMessage<Order>>().toExtend<Message<Order>>();
  expectTypeOf<QueueMessage<Order>["body"]>().toEqualTypeOf<Order>();
});

it("a handler for MessageBatch<T> takes a QueueController<T>", () => {
  type Handler = NonNullable<ExportedHandler<unknown, Order>["queue"]>;
  expectTypeOf<QueueController<Order>>().toExtend<Parameters<Handler>[0]>();
});
