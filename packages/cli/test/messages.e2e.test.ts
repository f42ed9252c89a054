import type { QueueWhyView, WholeMessageView } from "@sluice/gateway/views";
import { encodeBody } from "@sluice/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";
import { messageCommands } from "./message-commands.ts";

const lab = new BrokerLab("[sluice.queues.kept]\nfinished = 2\n");
let url: string;

beforeAll(async () => {
  url = await lab.serve();
});
afterAll(() => lab.close());

let queues = 0;
async function newQueue(...settings: string[]): Promise<string> {
  const name = `q${++queues}`;
  expect(await lab.run(["queues", "create", name, ...settings])).toMatchObject({ code: 0 });
  return name;
}

const { send, peek, only, sqs } = messageCommands(lab, () => url);

describe("sluice messages peek in a terminal", () => {
  it("is as wide as that, and whole elsewhere", async () => {
    const queue = await newQueue();
    const body = "word ".repeat(60).trim();
    await send(queue, "--body", body, "--content-type", "text");
    const lineOf = async (look: object) =>
      (await lab.run(["messages", "peek", queue], { look })).out.split("\n")[1] ?? "";
    expect(await lineOf({})).toContain(body);
    const line = await lineOf({ columns: 120 });
    expect(line.length).toBeLessThanOrEqual(120);
    expect(line).toMatch(/ word word…$/);
  });

  it("so is the table of messages that are found", async () => {
    const queue = await newQueue();
    await send(queue, "--body", "wide ".repeat(60).trim(), "--content-type", "text");
    const lineOf = async (look: object) =>
      (await lab.run(["messages", "find", "wide"], { look })).out.split("\n")[1] ?? "";
    expect(await lineOf({})).toContain("wide ".repeat(60).trim());
    const line = await lineOf({ columns: 80 });
    expect(line.length).toBeLessThanOrEqual(80);
    expect(line).toMatch(/ wide wide…$/);
  });
});

describe("sluice messages find", () => {
  it("finds messages in all queues by field, text and the first digits of an id, and says what more there is", async () => {
    const [first, second] = [await newQueue(), await newQueue()];
    const bodies = Array.from({ length: 7 }, (_, i) => JSON.stringify({ findId: i, kind: "it's found" }));
    for (const body of bodies) await send(first, "--body", body);
    await send(second, "--body", '{"findId": 3}');
    const byField = await lab.run(["messages", "find", "findId:3"]);
    expect(byField.code).toBe(0);
    expect(byField.out).toMatch(new RegExp(`^${first}\\s.*"findId":3,`, "m"));
    expect(byField.out).toMatch(new RegExp(`^${second}\\s.*"findId": 3`, "m"));
    expect(byField.err).toBe("");
    const text = "it's found";
    const byText = await lab.run(["messages", "find", `"${text}"`]);
    const hint = `There are 2 more in ${first}: sluice messages peek ${first} --filter '"it'\\''s found"'\n`;
    expect(byText.err).toBe(hint);
    const { id } = await only(second);
    expect((await lab.run(["messages", "find", id.slice(0, 8)])).out).toContain(id);
    const none = await lab.run(["messages", "find", "findId:99"]);
    expect(none).toMatchObject({ code: 4, out: "", err: "No message fits.\n" });
    expect(await lab.run(["messages", "find", "stat:ready"])).toMatchObject({ code: 2 });
  });
});

describe("sluice messages show", () => {
  it("finds a message by the first digits of its id where no other one begins so", async () => {
    const queue = await newQueue();
    await send(queue, "--body", '{"item": "lamp"}');
    const { id } = await only(queue);
    expect(await lab.json(["messages", "show", queue, id.slice(0, 8)])).toMatchObject({ id });
    expect(await lab.json(["messages", "show", id.slice(0, 8)])).toMatchObject({ id });
    const short = await lab.run(["messages", "show", queue, id.slice(0, 7)]);
    expect(short).toMatchObject({ code: 4, out: "" });
    const ids = ["0", "1"].map((digit) => `1a2b3c4d${digit.repeat(24)}`);
    const messages = ids.map((one) => ({
      id: one,
      contentType: "text",
      text: one,
      attempts: 0,
      delaySeconds: 0,
      sentAt: new Date().toISOString(),
    }));
    const path = `${url}/__sluice/api/backup/messages?queue=${queue}`;
    const stored = await fetch(path, { method: "POST", body: JSON.stringify({ messages }) });
    expect(stored.status, await stored.text()).toBe(200);
    const ambiguous = await lab.run(["messages", "show", queue, "1a2b3c4d"]);
    expect(ambiguous).toMatchObject({ code: 2, out: "" });
    for (const one of ids) expect(ambiguous.err).toContain(one);
    const anywhere = await lab.run(["messages", "show", "1a2b3c4d"]);
    expect(anywhere).toMatchObject({ code: 2, out: "" });
    for (const one of ids) expect(anywhere.err).toContain(`${queue} ${one}`);
    const gone = await lab.run(["messages", "show", "f".repeat(32)]);
    expect(gone).toMatchObject({ code: 4, err: expect.stringContaining("No queue has a message") });
    expect(await lab.run(["messages", "show", queue])).toMatchObject({ code: 2 });
  });
});

describe("sluice messages peek", () => {
  it("shows messages in a table, without leasing or counting them", async () => {
    const queue = await newQueue();
    await send(queue, "--body", "two\nlines", "--content-type", "text");
    for (let i = 0; i < 2; i++) {
      const { code, out } = await lab.run(["messages", "peek", queue]);
      expect(code).toBe(0);
      expect(out).toMatch(/^id +state +attempts +sent +size +why +body\n/);
      expect(out).toMatch(/\n[0-9a-f]{32} +ready +0 .* 9 B +noConsumer +two lines\n$/);
    }
    expect(await only(queue)).toMatchObject({ attempts: 0, state: "ready" });
  });

  it("finds messages by state and filter", async () => {
    const queue = await newQueue();
    for (const body of ['"lamp" ', '{"n":1}']) await send(queue, "--body", body, "--content-type", "text");
    await send(queue, "--body", "1", "--delay-secs", "600");
    expect((await peek(queue, "--state", "delayed")).messages).toMatchObject([{ text: "1" }]);
    expect((await peek(queue, "--filter", "LAMP")).messages).toMatchObject([{ text: '"lamp" ' }]);
    expect((await peek(queue, "--state", "delayed", "--filter", "lamp")).messages).toEqual([]);
    const { QueueUrl } = await sqs("GetQueueUrl", { QueueName: queue });
    await sqs("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 1 });
    const leased = await peek(queue, "--state", "leased", "--filter", "attempts:1");
    expect(leased.messages).toMatchObject([{ text: '"lamp" ', why: { reason: "leased" } }]);
  });

  it("goes on from a cursor, and through several pages to the limit", async () => {
    const queue = await newQueue();
    const { QueueUrl } = await sqs("GetQueueUrl", { QueueName: queue });
    for (let batch = 0; batch < 15; batch++) {
      const Entries = Array.from({ length: 10 }, (_, i) => ({
        Id: `${i}`,
        MessageBody: `${10 * batch + i}`,
      }));
      await sqs("SendMessageBatch", { QueueUrl, Entries });
    }
    const first = await peek(queue, "--limit", "120");
    expect(first.messages.map(({ text }) => text)).toEqual(Array.from({ length: 120 }, (_, i) => `${i}`));
    const rest = await peek(queue, "--limit", "120", "--cursor", `${first.cursor}`);
    expect(rest.messages.map(({ text }) => text)).toEqual(Array.from({ length: 30 }, (_, i) => `${120 + i}`));
    expect(rest).toMatchObject({ cursor: null, of: 150 });
    const { err } = await lab.run(["messages", "peek", queue]);
    expect(err).toMatch(/^There is more: --cursor \S+ goes on\. Searched \d+ of 150 messages\.\n$/);
  });

  it("says that a queue is empty, and that nothing fits a filter", async () => {
    const queue = await newQueue();
    const empty = await lab.run(["messages", "peek", queue]);
    expect(empty).toEqual({ code: 0, out: "", err: `${queue} is empty.\n`, asked: "" });
    await send(queue, "--body", "1");
    expect((await lab.run(["messages", "peek", queue, "--filter", "lamp"])).err).toBe(
      "None of 1 message fits.\n",
    );
  });

  it.each<[string[], RegExp]>([
    [["--filter", "state:done"], /Column 7 of the filter/],
    [["--cursor", "x"], /cursor/],
    [["--state", "done"], /Allowed choices are ready, delayed, leased/],
    [["--limit", "0"], /1 or more/],
  ])("%j is a mistake in the command line", async (args, message) => {
    const { code, out, err } = await lab.run(["messages", "peek", await newQueue(), ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(message);
  });

  it("shows no control characters of a body on the terminal", async () => {
    const queue = await newQueue();
    await send(queue, "--body", "\u001b]0;gotcha\u0007", "--content-type", "text");
    const { id } = await only(queue);
    for (const args of [
      ["peek", queue],
      ["show", queue, id],
    ]) {
      const { out } = await lab.run(["messages", ...args]);
      expect(out).toContain("\\x1b]0;gotcha\\x07");
      expect(out).not.toContain("\u001b");
    }
  });
});

describe("sluice messages show", () => {
  it("shows all fields of a message, and all of its body, JSON indented", async () => {
    const queue = await newQueue();
    const body = { item: "lamp", notes: "x".repeat(5_000) };
    await send(queue, "--body", JSON.stringify(body), "--delay-secs", "600");
    const { id, ref } = await only(queue);
    for (const name of [id, ref]) {
      const { code, out } = await lab.run(["messages", "show", queue, name]);
      expect(code).toBe(0);
      expect(out).toMatch(new RegExp(`^id +${id}\nstate +delayed\n`));
      expect(out).toMatch(/^due +\S+ \(in (9|10) min\)$/m);
      expect(out).toContain(`\n\n{\n  "item": "lamp",\n  "notes": "${body.notes}"\n}\n`);
    }
    const whole = await lab.json<WholeMessageView>(["messages", "show", queue, id]);
    expect(JSON.parse(whole.text ?? "")).toEqual(body);
  });

  it("lays out what a structured clone holds", async () => {
    const queue = await newQueue();
    const base64 = Buffer.from(encodeBody({ when: new Date(0) }, "v8")).toString("base64");
    const sent = await fetch(`${url}/__sluice/api/queues/${queue}/messages/batch`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ contentType: "v8", base64 }] }),
    });
    expect(sent.status).toBe(200);
    const { out } = await lab.run(["messages", "show", queue, (await only(queue)).id]);
    expect(out).toMatch(/\n\n\{\n {2}when: Date 1970-01-01T00:00:00\.000Z\n\}\n$/);
  });

  it("shows attributes of SQS", async () => {
    const queue = await newQueue();
    const { QueueUrl } = await sqs("GetQueueUrl", { QueueName: queue });
    const MessageAttributes = { kind: { DataType: "String", StringValue: "order" } };
    await sqs("SendMessage", { QueueUrl, MessageBody: "b", MessageAttributes });
    const { out } = await lab.run(["messages", "show", queue, (await only(queue)).id]);
    expect(out).toMatch(/^attributes +kind \(String\): order$/m);
  });
});

describe("sluice messages why", () => {
  it("says why a message is not delivered", async () => {
    const queue = await newQueue();
    await send(queue, "--body", "1", "--delay-secs", "600");
    const { id } = await only(queue);
    expect(await lab.json(["messages", "why", queue, id])).toMatchObject({ reason: "delayed" });
    const { code, out } = await lab.run(["messages", "why", queue, id]);
    expect(code).toBe(0);
    expect(out).toMatch(/^.*600 s.*\.\n$/);
  });

  it("says why a queue delivers nothing more", async () => {
    const queue = await newQueue();
    expect(await lab.json<QueueWhyView>(["messages", "why", queue])).toMatchObject({
      reason: "empty",
      also: [],
    });
    await send(queue, "--body", "1");
    await lab.run(["queues", "pause", queue]);
    const { out } = await lab.run(["messages", "why", queue]);
    expect(out).toMatch(/paused/);
    expect((await lab.run(["queues", "info", queue])).out).toMatch(/^why +.*paused/m);
  });
});

describe("sluice messages retry", () => {
  it("makes a delayed message due, and a leased one", async () => {
    const queue = await newQueue();
    await send(queue, "--body", "1", "--delay-secs", "600");
    const { id } = await only(queue);
    expect(await lab.words(0, ["messages", "retry", queue, id])).toBe(`${id} is due now.\n`);
    expect(await only(queue)).toMatchObject({ state: "ready" });
    expect(await lab.json(["messages", "retry", queue, id])).toEqual({ id, wasDue: true });
    const { QueueUrl } = await sqs("GetQueueUrl", { QueueName: queue });
    await sqs("ReceiveMessage", { QueueUrl });
    expect(await only(queue)).toMatchObject({ state: "leased" });
    expect(await lab.json(["messages", "retry", queue, id])).toEqual({ id, wasDue: false });
    expect(await only(queue)).toMatchObject({ state: "ready" });
  });
});

describe("sluice messages delete", () => {
  it("asks for confirmation, or for --force", async () => {
    const queue = await newQueue();
    await send(queue, "--body", "1");
    const { id } = await only(queue);
    const args = ["messages", "delete", queue, id];
    expect(await lab.words(5, args)).toMatch(/, 1 B\. That cannot be undone: --force confirms it\.\n$/);
    expect(await lab.run(args, { types: "no" })).toMatchObject({ code: 5 });
    expect((await peek(queue)).of).toBe(1);
    const deleted = await lab.run(args, { types: queue });
    expect(deleted).toMatchObject({ code: 0, out: "", err: `Deleted ${id} of queue ${queue}.\n` });
    expect(await lab.run(args, { types: queue })).toMatchObject({ code: 4 });
    await send(queue, "--body", "2");
    const { ref, id: second } = await only(queue);
    expect(await lab.json(["messages", "delete", queue, ref, "--force"])).toEqual({
      id: second,
      deleted: true,
    });
    expect((await peek(queue)).of).toBe(0);
  });

  it.each([["--filter", "lamp"], []])(
    "says which deleted messages the queue keeps (%s)",
    async (...filter) => {
      await send("kept", "--body", '"lamp"');
      const { id } = await only("kept");
      const args = ["messages", "delete", "kept", ...(filter.length > 0 ? filter : [id])];
      expect(await lab.words(5, args)).toContain(
        "The queue keeps its last finished messages, 2 at most: what is among them can be read and sent again: --force",
      );
      expect(await lab.run(args, { types: "kept" })).toMatchObject({ code: 0 });
      expect(await lab.json(["messages", "resend", "kept", id])).toMatchObject({ queue: "kept" });
      expect(await lab.run(["queues", "purge", "kept", "--force"])).toMatchObject({ code: 0 });
    },
  );
});

describe("a missing queue or message", () => {
  const id = "0".repeat(32);

  it.each([
    ["resend", id],
    ["retry", id],
    ["delete", id, "--force"],
    ["show", id],
    ["why", id],
    ["why"],
    ["peek"],
    ["send", "--body", "1"],
  ])("messages %s in a queue that does not exist exits with 4", async (action, ...args) => {
    expect(await lab.words(4, ["messages", action, "no-such-queue", ...args])).toBe(
      'There is no queue "no-such-queue".\n',
    );
  });

  it.each(["show", "why", "resend", "retry", "delete"])(
    "messages %s of a message that does not exist exits with 4",
    async (action) => {
      expect(await lab.words(4, ["messages", action, await newQueue(), id])).toContain(
        `has no message "${id}"`,
      );
    },
  );
});

describe("finished messages", () => {
  it("finished messages are listed, shown and sent again, and refused what makes no sense", async () => {
    const QueueUrl = `${url}/__sluice/aws/000000000000/kept`;
    expect((await lab.run(["messages", "peek", "kept"])).err).toBe("kept is empty.\n");
    for (const body of ["first", "second", "third"]) {
      await send("kept", "--body", body, "--content-type", "text");
      const { Messages } = await sqs("ReceiveMessage", { QueueUrl });
      const [{ ReceiptHandle } = {}] = Messages as { ReceiptHandle?: string }[];
      await sqs("DeleteMessage", { QueueUrl, ReceiptHandle });
    }
    expect((await lab.run(["messages", "peek", "kept"])).err).toBe(
      "kept is empty.\n--state finished lists the last 2 finished messages.\n",
    );
    const queue = await newQueue();
    expect(await lab.run(["messages", "peek", queue, "--state", "finished"])).toMatchObject({
      code: 0,
      err: `${queue} keeps no bodies of finished messages: "finished" of [sluice.queues.${queue}] says how many.\n`,
    });
    const listed = await peek("kept", "--state", "finished");
    expect(listed.messages.map(({ text, state }) => [text, state])).toEqual([
      ["third", "finished"],
      ["second", "finished"],
    ]);
    const id = listed.messages[1]?.id ?? "";
    expect((await lab.run(["messages", "peek", "kept", "--filter", "state:finished second"])).out).toContain(
      id,
    );
    const { out } = await lab.run(["messages", "show", "kept", id]);
    expect(out).toMatch(/state +finished\nwhy +It was handled: SQS acknowledged it\./);
    expect(out).toMatch(/finished +\d{4}-.*\n\nsecond\n$/s);
    expect(out).not.toContain("kept until");
    for (const act of [["retry"], ["delete", "--force"]] as const) {
      const [name, ...more] = act;
      expect(await lab.run(["messages", name, "kept", id, ...more])).toMatchObject({
        code: 1,
        err: expect.stringContaining("is finished"),
      });
    }
    expect((await lab.run(["messages", "resend", "kept", id])).err).toMatch(
      /^Sent [0-9a-f]{32} to kept\.\n$/,
    );
    expect(await only("kept")).toMatchObject({ text: "second", state: "ready" });
    for (const [action, does] of [
      ["purge", "Deletes 1 message of queue kept, leased ones too"],
      ["delete", "Deletes queue kept with 1 message"],
    ] as const) {
      expect(await lab.words(5, ["queues", action, "kept"])).toContain(
        `${does}, and the 2 finished messages that it keeps.`,
      );
    }
    expect((await lab.run(["queues", "purge", "kept", "--force"])).err).toBe(
      "Deleted 1 message of queue kept, and the 2 finished messages that it kept.\n",
    );
    expect((await lab.run(["messages", "peek", "kept", "--state", "finished"])).err).toBe(
      "kept has no finished messages. It keeps the bodies of the last 2.\n",
    );
    expect(await lab.json(["queues", "purge", "kept", "--force"])).toEqual({ queue: "kept", purged: 0 });
  });
});
