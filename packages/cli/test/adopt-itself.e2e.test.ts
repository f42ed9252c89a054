import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { MessagePage } from "../src/client/messages.ts";
import { ACCOUNT, LEASE } from "./bridge-lab.ts";
import { BrokerLab } from "./broker-lab.ts";

/* A broker that is its own other system, by an address that looks like another one. */

const lab = new BrokerLab();
let otherUrl: string;

beforeAll(async () => {
  otherUrl = (await lab.serve()).replace("127.0.0.1", "localhost");
  vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
  vi.stubEnv("AWS_ENDPOINT_URL_SQS", otherUrl);
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) vi.stubEnv(name, "local");
  vi.stubEnv("AWS_REGION", "us-east-1");
});
afterAll(() => {
  vi.unstubAllEnvs();
  return lab.close();
});

const run = (args: readonly string[]) =>
  lab.run(args, {
    env: {
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
      CLOUDFLARE_API_TOKEN: "token",
      CLOUDFLARE_API_BASE_URL: `${otherUrl}/__sluice/client/v4`,
    },
  });
const textsIn = async (queue: string) =>
  (await lab.json<MessagePage>(["messages", "peek", queue])).messages.map(({ text }) => text);

async function queueWithMessages(name: string) {
  await lab.run(["queues", "create", name]);
  await lab.run(["import", name], { input: '{"body":"a"}\n{"body":"b"}\n' });
  return name;
}

describe("a queue that is both sides", () => {
  it.each([
    ["adopt", "--from", "sqs"],
    ["adopt", "--from", "cloudflare"],
    ["eject", "--to", "sqs"],
    ["eject", "--to", "cloudflare"],
  ])(
    "is refused by %s %s %s, which shows the address, and keeps its messages",
    async (command, of, system) => {
      const name = await queueWithMessages(`${command}-${system}`);
      const { code, out, err } = await run([command, name, of, system, "--yes", ...LEASE]);
      expect([code, err]).toEqual([1, expect.stringContaining("Both sides are the same queue")]);
      expect(out).toContain(otherUrl);
      expect(await textsIn(name)).toEqual(["a", "b"]);
      const queues = await lab.json<{ name: string }[]>(["queues", "list"]);
      expect(queues.filter((queue) => queue.name.startsWith("sluice-"))).toEqual([]);
    },
  );

  it("is told from another queue of the same broker, which is adopted", async () => {
    const name = await queueWithMessages("mine");
    await lab.run(["queues", "create", "yours"]);
    expect(await run(["adopt", name, "--from", "sqs", "--as", "yours", "--yes", ...LEASE])).toMatchObject({
      code: 0,
    });
    expect([await textsIn(name), await textsIn("yours")]).toEqual([[], ["a", "b"]]);
  });
});
