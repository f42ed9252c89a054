import { describe, expect, it } from "vitest";
import { queuesUsd, type Sent, sqsUsd } from "./others.ts";

/** A million messages. */
const million = (bytes: number, retries = 0): Sent => ({
  messages: 1e6,
  messageBytes: bytes * 1e6,
  messageChunks: Math.ceil(bytes / 64_000) * 1e6,
  deliveries: (1 + retries) * 1e6,
});

const NOTHING: Sent = { messages: 0, messageBytes: 0, messageChunks: 0, deliveries: 0 };

describe("the price of Cloudflare Queues", () => {
  it("is 1.20 USD for a million messages: written, read and deleted", () => {
    expect(queuesUsd(million(200))).toBeCloseTo(1.2, 12);
    expect(queuesUsd(NOTHING)).toBe(0);
  });

  it("is one read more for every retry", () => {
    expect(queuesUsd(million(200, 1))).toBeCloseTo(1.6, 12);
  });

  it("counts every 64 KB begun", () => {
    expect(queuesUsd(million(64_000))).toBeCloseTo(1.2, 12);
    expect(queuesUsd(million(64_001))).toBeCloseTo(2.4, 12);
    expect(queuesUsd(million(127_000, 1))).toBeCloseTo(3.2, 12);
  });

  it("is that of messages which wait, too: they are going to be read", () => {
    expect(queuesUsd({ ...million(200), deliveries: 0 })).toBeCloseTo(1.2, 12);
  });
});

describe("the price of Amazon SQS", () => {
  it("is 1.20 USD for a million messages one by one and a tenth of it ten by ten", () => {
    expect(sqsUsd(million(200), "standard", 1)).toBeCloseTo(1.2, 12);
    expect(sqsUsd(million(200), "standard", 10)).toBeCloseTo(0.12, 12);
    expect(sqsUsd(NOTHING, "standard", 10)).toBe(0);
  });

  it("is a quarter more for a FIFO queue", () => {
    expect(sqsUsd(million(200), "fifo", 1)).toBeCloseTo(1.5, 12);
  });

  it("counts every 64 KB of a request, and nothing extra for deletes", () => {
    expect(sqsUsd(million(64_001), "standard", 1)).toBeCloseTo(2, 12);
    expect(sqsUsd(million(12_800), "standard", 10)).toBeCloseTo(0.2, 12);
  });

  it("is one receive more for every retry", () => {
    expect(sqsUsd(million(200, 1), "standard", 1)).toBeCloseTo(1.6, 12);
  });
});
