import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { encodeBody } from "@sluice/protocol";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { MessagePage } from "../src/client/messages.ts";
import { BrokerLab } from "./broker-lab.ts";

const TOKEN = "secret";
const lab = new BrokerLab();
let url: string;

beforeAll(async () => {
  url = await lab.serve({ SLUICE_API_TOKENS: TOKEN });
});
afterAll(() => lab.close());

const env = { SLUICE_API_TOKEN: TOKEN };
const run = (args: readonly string[], input?: string) =>
  lab.run(args, { env, ...(input === undefined ? {} : { input }) });
const words = (code: number, args: readonly string[], input?: string) =>
  lab.words(code, args, { env, ...(input === undefined ? {} : { input }) });
const path = (name: string) => join(lab.folder, name);

let queues = 0;
async function newQueue(lines: readonly object[] = []): Promise<string> {
  const name = `t${++queues}`;
  expect(await run(["queues", "create", name])).toMatchObject({ code: 0 });
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  if (lines.length > 0) expect(await run(["import", name], input)).toMatchObject({ code: 0 });
  return name;
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ body: { i } }));
const linesIn = (output: string) =>
  output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Exports a queue's messages, without the members that differ for each message. */
async function contentOf(queue: string) {
  const { out } = await run(["export", queue]);
  return linesIn(out).map(({ id: _, sentAt: __, ...rest }) => rest);
}

/** Puts a server before the broker that lets a number of requests of a kind through, and then fails. */
async function failingAfter(count: number, method: string, pattern: RegExp): Promise<string> {
  let passed = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method === method && pattern.test(request.url ?? "") && passed++ >= count) {
      response.writeHead(500).end('{"error": {"code": "internal_error", "message": "It is broken."}}');
      return;
    }
    const headers = { authorization: `${request.headers.authorization}`, "content-type": "application/json" };
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method ?? "GET",
      headers,
      ...(body === "" ? {} : { body }),
    });
    response.writeHead(answer.status).end(await answer.text());
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("sluice export and import", () => {
  it("carry bodies of every content type byte for byte, attributes and groups to another queue", async () => {
    const v8 = Buffer.from(encodeBody(new Map([["when", new Date(0)]]), "v8")).toString("base64");
    const lines = [
      { contentType: "json", text: '{"n": 12345678901234567890,  "spaces": true}' },
      { contentType: "json", text: '"a string"' },
      { contentType: "text", text: "two\nlines and \u2028 ü" },
      { contentType: "bytes", base64: "AP8=" },
      { contentType: "v8", base64: v8 },
      {
        contentType: "text",
        text: "x",
        group: "g",
        attributes: { kind: { type: "String", value: "order" } },
      },
    ];
    const from = await newQueue(lines);
    const exported = await run(["export", from]);
    expect(exported).toMatchObject({ code: 0, err: `Exported 6 messages of ${from}.\n` });
    const rest = { state: "ready", attempts: 0 };
    expect(await contentOf(from)).toEqual(lines.map((line) => ({ ...rest, ...line })));
    const to = await newQueue();
    expect(await words(0, ["import", to], exported.out)).toBe(`Imported 6 messages into ${to}.\n`);
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it("write the selected messages with their state", async () => {
    const queue = await newQueue([{ body: "now" }, { body: "later", delaySeconds: 600 }]);
    const { out } = await run(["export", queue, "--state", "delayed"]);
    expect(linesIn(out)).toMatchObject([{ state: "delayed", text: "later", contentType: "text" }]);
    expect(await words(0, ["export", queue, "--filter", "lamp"])).toBe(`Exported 0 messages of ${queue}.\n`);
  });

  it("go through all pages, and give the number of messages in JSON", async () => {
    const queue = await newQueue(numbered(250));
    const summary = await run(["export", queue, "--output", "pages.jsonl", "--json"]);
    expect(JSON.parse(summary.out)).toEqual({ queue, exported: 250, file: "pages.jsonl" });
    expect(linesIn(readFileSync(path("pages.jsonl"), "utf8")).map(({ text }) => text)).toEqual(
      numbered(250).map(({ body }) => JSON.stringify(body)),
    );
    const to = await newQueue();
    const imported = await run(["import", to, "pages.jsonl", "--json"]);
    expect(JSON.parse(imported.out)).toEqual({ queue: to, imported: 250 });
    expect(await contentOf(to)).toEqual(await contentOf(queue));
  });

  it("take messages as large as those of SQS", async () => {
    const large = "x".repeat(1_000_000);
    const queue = await newQueue([{ body: large }, { body: "small" }, { body: large }]);
    expect((await contentOf(queue)).map(({ text }) => `${text}`.length)).toEqual([1_000_000, 5, 1_000_000]);
  });
});

describe("sluice export", () => {
  it("continues after a stop without losing or repeating a message", async () => {
    const queue = await newQueue(numbered(350));
    const broken = await failingAfter(2, "GET", /messages\?/);
    const args = ["export", queue, "--output", "stopped.jsonl"];
    const stopped = await run([...args, "--url", broken]);
    expect(stopped).toMatchObject({ code: 1, err: "It is broken.\n" });
    const whole = readFileSync(path("stopped.jsonl"));
    expect(linesIn(whole.toString())).toHaveLength(200);
    // Leaves the file as a process does that ends in the middle of a write.
    writeFileSync(path("stopped.jsonl"), `${whole}{"half a li`);
    expect(await words(1, args)).toContain("--resume goes on");
    expect(await words(2, [...args, "--state", "ready", "--resume"])).toContain("is an export of");
    expect(await words(0, [...args, "--resume"])).toBe(`Exported 350 messages of ${queue}.\n`);
    const texts = linesIn(readFileSync(path("stopped.jsonl"), "utf8")).map(({ text }) => text);
    expect(texts).toEqual(numbered(350).map(({ body }) => JSON.stringify(body)));
    expect(existsSync(path("stopped.jsonl.sluice-export"))).toBe(false);
    expect(await words(0, [...args, "--resume"])).toContain("is complete");
  });

  it("with --resume begins a file that does not exist, and needs its name", async () => {
    const queue = await newQueue(numbered(1));
    const args = ["export", queue, "--output", "begun.jsonl", "--resume"];
    expect(await words(0, args)).toBe(`Exported 1 message of ${queue}.\n`);
    expect(await run(["export", queue, "--resume"])).toMatchObject({ code: 2 });
  });
});

describe("sluice import", () => {
  it("continues after a stop", async () => {
    const lines = numbered(350).map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(path("in.jsonl"), lines.join(""));
    const queue = await newQueue();
    const broken = await failingAfter(2, "POST", /batch$/);
    const args = ["import", queue, "in.jsonl"];
    expect(await words(1, [...args, "--url", broken])).toBe("It is broken.\n");
    expect(await words(1, args)).toContain("has stopped after line 200");
    const elsewhere = await run(["import", await newQueue(), "in.jsonl", "--resume"]);
    expect(elsewhere).toMatchObject({ code: 2 });
    writeFileSync(path("in.jsonl"), lines.slice(0, 199).join(""));
    expect(await words(1, [...args, "--resume"])).toBe(
      "in.jsonl has 199 lines, and the import has stopped after line 200: it is not the same file.\n",
    );
    writeFileSync(path("in.jsonl"), lines.join(""));
    expect(await words(0, [...args, "--resume"])).toBe(`Imported 150 messages into ${queue}.\n`);
    expect((await contentOf(queue)).map(({ text }) => text)).toEqual(
      numbered(350).map(({ body }) => JSON.stringify(body)),
    );
    expect(existsSync(path("in.jsonl.sluice-import"))).toBe(false);
  });

  it("accepts lines that were written by hand", async () => {
    const queue = await newQueue();
    const lines = ['{"body": {"a": 1}}', "", '{"body": "text"}', '{"body": "json", "contentType": "json"}'];
    expect(await run(["import", queue], lines.join("\r\n"))).toMatchObject({ code: 0 });
    const contents = (await contentOf(queue)).map(({ contentType, text }) => [contentType, text]);
    expect(contents).toEqual([
      ["json", '{"a":1}'],
      ["text", "text"],
      ["json", '"json"'],
    ]);
  });

  it.each<[string, RegExp]>([
    ["no json", /^-:2: .*JSON/],
    ["[1]", /^-:2: a line is an object/],
    ["{}", /^-:2: the line has no body/],
    ['{"contentType": "json", "text": "{"}', /^-:2: the message is refused: .+\.$/m],
    ['{"contentType": "xml", "text": ""}', /^-:2: the message is refused: contentType: must be one of /],
  ])("names the line that is wrong: %s", async (line, message) => {
    const queue = await newQueue();
    const { code, out, err } = await run(["import", queue], `{"body": 1}\n${line}\n`);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(message);
    const { of } = JSON.parse((await run(["messages", "peek", queue, "--json"])).out) as MessagePage;
    expect(of).toBe(0);
  });

  it("continues after a wrong line that was mended", async () => {
    const lines = numbered(150).map((line) => JSON.stringify(line));
    const wrong = [...lines.slice(0, 120), "{", ...lines.slice(120)];
    writeFileSync(path("wrong.jsonl"), `${wrong.join("\n")}\n`);
    const queue = await newQueue();
    const args = ["import", queue, "wrong.jsonl"];
    expect(await words(1, args)).toContain("wrong.jsonl:121: ");
    writeFileSync(path("wrong.jsonl"), `${lines.join("\n")}\n`);
    expect(await run([...args, "--resume"])).toMatchObject({ code: 0 });
    expect(await contentOf(queue)).toHaveLength(150);
  });

  it("says that a file does not exist", async () => {
    const queue = await newQueue();
    expect(await words(1, ["import", queue, "gone.jsonl"])).toBe("There is no file gone.jsonl.\n");
    expect(await words(1, ["import", queue, "."])).toBe("There is no file ..\n");
    expect(await run(["import", queue, "--resume"])).toMatchObject({ code: 2 });
  });
});

it.each([["export"], ["import"]])("%s of a queue that does not exist exits with 4", async (command) => {
  expect(await words(4, [command, "no-such-queue"], '{"body": 1}\n')).toBe(
    'There is no queue "no-such-queue".\n',
  );
});

it("sluice export ends quietly when its output is closed", async () => {
  const queue = await newQueue(numbered(2_000));
  const lines = lab.spawn(["export", queue], env);
  // A reader that closes its end after the first line, as "head -1" does.
  await lines.closeOutput();
  expect(await lines.ended).toBe(0);
});
