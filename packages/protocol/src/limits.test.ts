import { describe, expect, it } from "vitest";
import * as limits from "./limits.ts";

// conformance: visibility-timeout
it("the limits are those of the cheat sheet (spec cloudflare-queues 0)", () => {
  expect(limits).toMatchObject({
    MESSAGE_BYTES_MAX: 128_000,
    BATCH_MESSAGES_MAX: 100,
    BATCH_BYTES_MAX: 256_000,
    DELAY_SECONDS_MAX: 24 * 60 * 60,
    BATCH_SIZE_DEFAULT: 10,
    BATCH_TIMEOUT_SECONDS_DEFAULT: 5,
    RETRIES_DEFAULT: 3,
    CONCURRENCY_MAX: 250,
    VISIBILITY_TIMEOUT_MS_MAX: 12 * 60 * 60 * 1000,
    RETENTION_SECONDS_MAX: 14 * 24 * 60 * 60,
    RETENTION_SECONDS_DEFAULT: 4 * 24 * 60 * 60,
    HANDLER_WALL_CLOCK_MS_MAX: 15 * 60 * 1000,
  });
});

describe("a header of the connection, or of the product", () => {
  const reserved =
    "host Host Connection keep-alive Proxy-Authorization TE Trailer Upgrade Expect Transfer-Encoding " +
    "content-length Sluice-Queue webhook-signature X-Amz-Sns-Topic-Arn X-Aws-Sqsd-Taskname";
  it.each(reserved.split(" "))("is %s", (name) => expect(limits.isReservedHeader(name)).toBe(true));

  it.each(["Authorization", "Content-Type", "User-Agent", "X-Host", "Sluice", "Proxy", "X-Amzn-Trace-Id"])(
    "is not %s",
    (name) => expect(limits.isReservedHeader(name)).toBe(false),
  );
});

describe("a queue's name", () => {
  it.each(["a", "0", "orders-2", "a".repeat(62), "a".repeat(63)])("may be %o", (name) => {
    expect(name).toMatch(limits.QUEUE_NAME_PATTERN);
  });

  it.each(["", "-a", "a-", "A", "my_queue", "a.b", "a".repeat(64)])("may not be %o", (name) => {
    expect(name).not.toMatch(limits.QUEUE_NAME_PATTERN);
  });
});
