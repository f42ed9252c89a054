import { afterAll, beforeAll, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";
import { messageCommands } from "./message-commands.ts";

/* Commands that act on many messages of a queue. */

/** Without a history, errors are not known. */
const lab = new BrokerLab(`
[sluice.queues.failing]
history = "1h"
redrive = { dead_letter_queue = "dead", max_receive_count = 1 }
[sluice.queues.dead]
history = "1h"
`);
let url: string;

beforeAll(async () => {
  url = await lab.serve();
});
afterAll(() => lab.close());

const { send, peek, only, sqs } = messageCommands(lab, () => url);

let queues = 0;
/** Sends bodies to a queue, each delayed. */
async function sendDelayed(...bodies: string[]): Promise<string> {
  const queue = `q${++queues}`;
  expect(await lab.run(["queues", "create", queue])).toMatchObject({ code: 0 });
  for (const body of bodies) await send(queue, "--body", `"${body}"`, "--delay-secs", "600");
  return queue;
}

it("messages are due now that fit a filter, or are named, and the others wait on", async () => {
  const queue = await sendDelayed("lamp", "vase", "lamp", "chair");
  const dry = await lab.run(["messages", "retry", queue, "--filter", "lamp", "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, err: "2 messages would be due now.\n" });
  expect(dry.out).toMatch(/lamp.*\n.*lamp/);
  expect(await lab.words(0, ["messages", "retry", queue, "--filter", "lamp"])).toBe("Due now: 2 messages.\n");
  const waits = async () => (await peek(queue, "--state", "delayed")).messages;
  const [vase, chair] = await waits();
  expect(await lab.json(["messages", "retry", queue, vase?.id ?? "", chair?.ref ?? ""])).toEqual({
    queue,
    due: 2,
  });
  expect(await waits()).toEqual([]);
});

it("messages are deleted that fit a filter, after a look at how many those are", async () => {
  const queue = await sendDelayed("lamp", "vase", "lamp", "lamp");
  const args = ["messages", "delete", queue, "--filter", "lamp"];
  expect(await lab.words(5, args)).toContain(`Deletes 3 messages of queue ${queue}.`);
  expect(await lab.json([...args, "--dry-run"])).toMatchObject({ count: 3 });
  expect(await lab.run([...args, "--limit", "2"], { types: queue })).toMatchObject({
    code: 0,
    err: `Deleted 2 messages of queue ${queue}.\n`,
  });
  expect(await lab.json([...args, "--force"])).toEqual({ queue, deleted: 1 });
  expect(await only(queue)).toMatchObject({ text: '"vase"' });
  expect(await lab.words(0, args)).toBe(`Deleted 0 messages of queue ${queue}.\n`);
});

it("no more messages are deleted than were confirmed, though others fit by then", async () => {
  const queue = await sendDelayed("lamp", "lamp");
  const types = async () => {
    await send(queue, "--body", '"lamp"');
    return queue;
  };
  const deletes = (about: string) => lab.run(["messages", "delete", queue, "--filter", about], { types });
  expect(await deletes("lamp")).toMatchObject({ code: 0, err: `Deleted 2 messages of queue ${queue}.\n` });
  expect((await peek(queue)).of).toBe(1);
});

it("messages are named by the first 8 digits of their ids too, and ids of none are told", async () => {
  const queue = await sendDelayed("lamp", "vase", "chair", "sofa");
  const ids = (await peek(queue)).messages.map(({ id }) => id);
  const begins = ids.map((id) => id.slice(0, 8));
  expect(await lab.json(["messages", "retry", queue, begins[0] ?? "", begins[1] ?? ""])).toMatchObject({
    due: 2,
  });
  const none = "f".repeat(32);
  const deletes = (...named: string[]) => lab.run(["messages", "delete", queue, ...named, "--force"]);
  expect(await deletes(begins[0] ?? "", ids[1] ?? "", none)).toMatchObject({
    code: 4,
    err: `Deleted 2 messages of queue ${queue}.\n1 id of the command line names no message that is in ${queue}.\n`,
  });
  expect(await deletes("00000000", "11111111")).toMatchObject({ code: 4 });
  expect((await peek(queue)).of).toBe(2);

  await lab.run(["queues", "create", "moved"]);
  await send("dead", "--body", '"lost"');
  const { id } = await only("dead");
  const redrive = ["queues", "redrive", "dead", "--to", "moved", "--id", id.slice(0, 8), "--id", none];
  expect(await lab.run(redrive)).toMatchObject({
    code: 4,
    err: "Moved 1 message to moved.\nOf the ids 1 was not moved: not in dead, or being delivered.\n",
  });
  expect(await only("moved")).toMatchObject({ text: '"lost"' });
});

it.each(["retry", "delete"])("messages have to be named for %s, by ids or a filter", async (action) => {
  const queue = await sendDelayed("lamp");
  expect(await lab.words(2, ["messages", action, queue])).toContain("--filter");
  expect(await lab.words(2, ["messages", action, queue, "--filter", "eror:x"])).toContain("Column 1");
  expect(await lab.words(2, ["messages", action, queue, "--filter", " "])).toContain("The filter is empty");
  expect((await peek(queue)).of).toBe(1);
});

it("messages are found, shown and redriven by their last error", async () => {
  const { QueueUrl } = await sqs("GetQueueUrl", { QueueName: "failing" });
  await send("failing", "--body", "1");
  for (let i = 0; i < 2; i++) await sqs("ReceiveMessage", { QueueUrl, VisibilityTimeout: 0 });
  await send("dead", "--body", "2");
  const found = () => peek("dead", "--filter", 'error:"received 1 time"');
  await expect
    .poll(async () => (await found()).messages)
    .toMatchObject([{ text: "1", lastError: "it was received 1 time" }]);
  const { out } = await lab.run(["messages", "peek", "dead"]);
  expect(out).toMatch(/^id .* why +error +body\n/);
  expect(out).toMatch(/ it was received 1 time +1\n/);
  const [{ id = "" } = {}] = (await found()).messages;
  const shown = await lab.run(["messages", "show", "dead", id]);
  expect(shown.out).toMatch(/^last error +it was received 1 time$/m);
  await lab.run(["queues", "redrive", "dead", "--filter", "error:received"]);
  expect(await only("dead")).toMatchObject({ text: "2", lastError: null });
  // It had this id in both queues, and has left both.
  const { out: list } = await lab.run(["messages", "find", id]);
  expect(list).toMatch(new RegExp(`^queue .*\\ndead +${id} +gone +redriven to failing .*\\n$`));
  const { code, out: story } = await lab.run(["messages", "story", id]);
  expect([code, story]).toEqual([0, expect.stringContaining("redriven")]);
});
