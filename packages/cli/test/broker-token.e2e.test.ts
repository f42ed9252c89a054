import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MessagePage } from "../src/client/messages.ts";
import { BrokerLab } from "./broker-lab.ts";

const TOKEN = "one-of-two";
const lab = new BrokerLab();

beforeAll(() => lab.serve({ SLUICE_API_TOKENS: `another,${TOKEN}` }));
afterAll(() => lab.close());

describe("a broker that needs a token", () => {
  const env = { SLUICE_API_TOKEN: TOKEN };

  it("refuses a command with no token, or a wrong one, and explains it", async () => {
    expect(await lab.words(1, ["queues", "list"])).toContain("set SLUICE_API_TOKEN, or --token");
    expect(await lab.words(1, ["queues", "create", "orders", "--token", "wrong"])).toContain(
      "does not know this token",
    );
  });

  it("accepts a token from the environment and from the command line, which takes precedence", async () => {
    expect(await lab.json(["queues", "list"], { env })).toEqual([]);
    expect(await lab.json(["queues", "list", "--token", TOKEN])).toEqual([]);
    expect(await lab.run(["queues", "list", "--token", "wrong"], { env })).toMatchObject({ code: 1 });
  });

  it("accepts every command on queues with its token", async () => {
    expect(await lab.json(["queues", "create", "orders"], { env })).toMatchObject({ name: "orders" });
    for (const args of [
      ["info", "orders"],
      ["update", "orders", "--delivery-delay-secs", "1"],
      ["pause", "orders"],
      ["resume", "orders"],
      ["purge", "orders", "--force"],
      ["delete", "orders", "--force"],
    ]) {
      expect(await lab.run(["queues", ...args], { env })).toMatchObject({ code: 0 });
    }
  });

  it("accepts every command on messages with its token", async () => {
    await lab.run(["queues", "create", "mails"], { env });
    expect(await lab.run(["messages", "send", "mails", "--body", "1"], { env })).toMatchObject({ code: 0 });
    const { messages } = await lab.json<MessagePage>(["messages", "peek", "mails"], { env });
    expect(messages).toMatchObject([{ text: "1" }]);
    const id = messages[0]?.id ?? "";
    for (const [action, ...options] of [["show"], ["why"], ["resend"], ["retry"], ["delete", "--force"]]) {
      const args = ["messages", action ?? "", "mails", id, ...options];
      expect(await lab.run(args, { env })).toMatchObject({ code: 0 });
    }
  });
});
