import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";

const lab = new BrokerLab();

beforeAll(async () => {
  await lab.serve();
  await lab.run(["queues", "create", "orders"]);
  await lab.run(["messages", "send", "orders", "--body", "{}"]);
});
afterAll(() => lab.close());

describe("sluice cost", () => {
  it("counts what a queue has used, and prices it beside the others", async () => {
    const { queue, month } = await lab.json<{ queue: CostOfQueue; month: string }>(["cost", "orders"]);
    expect(month).toBe(new Date().toISOString().slice(0, 7));
    expect(queue.used).toMatchObject({ messages: 1, messageChunks: 1 });
    expect(queue.used.rowsWritten).toBeGreaterThanOrEqual(1);
    expect(queue.used.requests).toBeGreaterThanOrEqual(2);
    expect(queue.soFar.total).toBeGreaterThan(0);
    expect(queue.others.cloudflareQueues).toBeCloseTo(1.2e-6, 12);
  });

  it("shows a line for each queue, one for all, and what is not counted", async () => {
    const { out, code } = await lab.run(["cost"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^orders +1 +<\$0.0001 +- +- /m);
    expect(out).toMatch(/^all +1 /m);
    expect(out).toContain("Not counted: requests to your Workers and their CPU time");
    const one = await lab.run(["cost", "orders"]);
    expect(one.out).toMatch(/^at month's end +too early to tell/m);
  });

  it("refuses a queue that does not exist", async () => {
    expect(await lab.run(["cost", "nothing"])).toMatchObject({ code: 4, out: "" });
  });
});

interface CostOfQueue {
  readonly used: Record<"messages" | "messageChunks" | "rowsWritten" | "requests", number>;
  readonly soFar: { readonly total: number };
  readonly others: { readonly cloudflareQueues: number };
}
