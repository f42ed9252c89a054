import { describe, expect, it } from "vitest";
import { priceOf, queuesPrice, sqsPrice, type Usage } from "./prices.ts";

const NOTHING: Usage = {
  messages: 1_000_000,
  rowsWritten: 0,
  rowsRead: 0,
  requests: 0,
  alarmsSet: 0,
  activeMs: 0,
};

describe("the price of a Durable Object", () => {
  it("is 1.00 USD for a million rows written, an alarm that is set counting as one", () => {
    expect(priceOf({ ...NOTHING, rowsWritten: 900_000, alarmsSet: 100_000 }).total).toBeCloseTo(1, 12);
  });

  it("is 0.001 USD for a million rows read", () => {
    expect(priceOf({ ...NOTHING, rowsRead: 1_000_000 }).total).toBeCloseTo(0.001, 12);
  });

  it("is 0.15 USD for a million requests", () => {
    expect(priceOf({ ...NOTHING, requests: 1_000_000 }).total).toBeCloseTo(0.15, 12);
  });

  it("is 12.50 USD for a million GB-seconds at 128 MB", () => {
    expect(priceOf({ ...NOTHING, activeMs: 1000 * 1_000_000 }).total).toBeCloseTo(1.6, 12);
  });

  it("is the sum of its meters, per million messages however many there were", () => {
    const usage = {
      messages: 200,
      rowsWritten: 20,
      rowsRead: 1000,
      requests: 40,
      alarmsSet: 4,
      activeMs: 10,
    };
    const price = priceOf(usage);
    expect(price.rowsWritten).toBeCloseTo(0.12, 12);
    expect(price.requests).toBeCloseTo(0.03, 12);
    expect(price.total).toBeCloseTo(price.rowsWritten + price.rowsRead + price.requests + price.duration, 12);
    const tenfold = Object.fromEntries(Object.entries(usage).map(([key, value]) => [key, 10 * value]));
    expect(priceOf(tenfold as unknown as Usage).total).toBeCloseTo(price.total, 12);
  });
});

describe("the price of Cloudflare Queues", () => {
  it("is 1.20 USD for a million messages: written, read and deleted", () => {
    expect(queuesPrice(200, 0)).toBeCloseTo(1.2, 12);
  });

  it("is one read more for every retry", () => {
    expect(queuesPrice(200, 1)).toBeCloseTo(1.6, 12);
  });

  it("counts every 64 KB begun", () => {
    expect(queuesPrice(64_000, 0)).toBeCloseTo(1.2, 12);
    expect(queuesPrice(64_001, 0)).toBeCloseTo(2.4, 12);
    expect(queuesPrice(127_000, 0)).toBeCloseTo(2.4, 12);
  });
});

describe("the price of Amazon SQS", () => {
  it("is 1.20 USD for a million messages one by one and a tenth of it ten by ten", () => {
    expect(sqsPrice(200, 0, 1)).toBeCloseTo(1.2, 12);
    expect(sqsPrice(200, 0, 10)).toBeCloseTo(0.12, 12);
  });

  it("counts every 64 KB of a request, and nothing extra for deletes", () => {
    expect(sqsPrice(64_001, 0, 1)).toBeCloseTo(2, 12);
  });

  it("is one receive more for every retry", () => {
    expect(sqsPrice(200, 1, 1)).toBeCloseTo(1.6, 12);
  });
});
