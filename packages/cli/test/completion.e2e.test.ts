import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";

describe("the completion of a queue's name", () => {
  const lab = new BrokerLab();
  beforeAll(async () => {
    await lab.serve();
    for (const name of ["orders", "orders-dead", "mails"]) await lab.run(["queues", "create", name]);
  });
  afterAll(() => lab.close());

  /** Completes the last word in a folder, and returns the words. */
  async function completed(env: Record<string, string>, ...words: string[]) {
    const running = lab.spawn(["complete", "--", ...words], env);
    expect(await running.ended).toBe(0);
    const lines = running.output.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    return lines.map((line) => line.split("\t")[0]);
  }

  it.each([
    [
      ["queues", "info", "ord"],
      ["orders", "orders-dead"],
    ],
    [
      ["messages", "peek", ""],
      ["mails", "orders", "orders-dead"],
    ],
    [["queues", "redrive", "orders-dead", "--to", "m"], ["mails"]],
    [["tail", "orders-"], ["orders-dead"]],
    [["messages", "send", "orders", "--event", "r2:object-cr"], ["r2:object-create"]],
    [["queues", "create", ""], []],
    [["tokens", "rotate", ""], []],
  ])("of %j is %j", async (words, names) => {
    // On a busy machine the broker may not answer at once.
    const inOrder = async () => (await completed({}, ...words)).sort();
    await expect.poll(inOrder).toEqual(names);
  });

  it("is silent where no broker answers", async () => {
    expect(await completed({ SLUICE_URL: "http://127.0.0.1:1" }, "queues", "info", "")).toEqual([]);
    expect(await completed({}, "queues", "info", "--url", "nonsense", "")).toEqual([]);
  });
});
