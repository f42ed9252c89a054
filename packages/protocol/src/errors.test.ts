import { expect, it } from "vitest";
import { isQueueNotFound, QUEUE_ERROR_CODES, QueueError } from "./errors.ts";

it("the codes are Cloudflare's (spec cloudflare-queues 1.9)", () => {
  expect(QUEUE_ERROR_CODES).toEqual({
    queueNotFound: 10104,
    unauthorized: 10106,
    batchDelayInvalid: 10202,
    messageMetadataInvalid: 10203,
    messageSizeOutOfBounds: 10204,
    batchSizeOutOfBounds: 10205,
    batchCountOutOfBounds: 10206,
    jsonRequestBodyInvalid: 10207,
    jsonRequestBodyMalformed: 10208,
    queueOverloaded: 10250,
    queueStorageLimitExceeded: 10251,
    unknownInternalError: 15000,
  });
});

it("a QueueError is `<cause> (<code>)`, and keeps both apart for the wire", () => {
  const error = new QueueError(QUEUE_ERROR_CODES.queueOverloaded, "Queue is overloaded. Please back off.");
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toBe("QueueError: Queue is overloaded. Please back off. (10250)");
  expect([error.code, error.reason]).toEqual([10250, "Queue is overloaded. Please back off."]);
});

it("that there is no such queue is told by the text of an error, wherever it was thrown", () => {
  expect(isQueueNotFound(new Error('queue "orders" does not exist (10104)'))).toBe(true);
  expect(isQueueNotFound(new QueueError(10104, "no such queue"))).toBe(true);
  expect(isQueueNotFound(new Error("10104 reasons"))).toBe(false);
  expect(isQueueNotFound("(10104)")).toBe(false);
});
