import { expect, it } from "vitest";
import { deliveryOf } from "../../test/deliveries.ts";
import { deliveryName } from "./delivery-name.ts";

it.each([
  [1, false, "[orders 00000000]"],
  [1, true, "[orders 00000000?]"],
  [2, false, "[orders, 2 messages]"],
  [100, true, "[orders, 100 messages?]"],
])(
  "a delivery of %i is named by its message, or by how many it has: perhaps other code's %s",
  (count, isOfWorker, name) => {
    expect(deliveryName(deliveryOf(Array<string>(count).fill("lamp")), isOfWorker)).toBe(name);
  },
);
