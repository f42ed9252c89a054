import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";
import { messageCommands } from "./message-commands.ts";

const lab = new BrokerLab();
let url: string;

beforeAll(async () => {
  url = await lab.serve();
});
afterAll(() => lab.close());

let queues = 0;
async function newQueue(): Promise<string> {
  const name = `q${++queues}`;
  expect(await lab.run(["queues", "create", name])).toMatchObject({ code: 0 });
  return name;
}

const { send, peek, only, sqs } = messageCommands(lab, () => url);

describe("sluice messages send", () => {
  it.each([
    ["0", 0],
    ["86400", 0],
    ["86401", 2],
    ["-1", 2],
  ])("takes a delay of %s seconds with exit code %i", async (delay, code) => {
    const queue = await newQueue();
    const { err } = await send(queue, "--body", "1", "--delay-secs", delay);
    expect((await peek(queue)).of).toBe(code === 0 ? 1 : 0);
    if (code === 0) expect(err).toMatch(/^Sent /);
    else
      expect(err).toMatch(/'--delay-secs <number>'.*invalid. It is (?:0 to 86,400 seconds|a whole number)/);
  });

  it.each([
    [1_048_576, 0],
    [1_048_577, 1],
  ])("takes a body of %i bytes with exit code %i, as a batch of the admin API does", async (bytes, code) => {
    const input = "x".repeat(bytes);
    const args = ["messages", "send", await newQueue(), "--file", "-", "--content-type", "text"];
    expect(await lab.run(args, { input })).toMatchObject({ code });
  });

  it("sends JSON by default, text as it is, and with a delay", async () => {
    const queue = await newQueue();
    const sent = await send(queue, "--body", '{"item": "lamp"}');
    expect(sent).toMatchObject({ code: 0, out: "" });
    expect(sent.err).toBe(`Sent ${(await only(queue)).id} to ${queue}.\n`);
    await send(queue, "--body", "{plain", "--content-type", "text");
    await send(queue, "--body", "3", "--delay-secs", "600");
    const { messages } = await peek(queue);
    expect(messages.map(({ contentType, text, state }) => ({ contentType, text, state }))).toEqual([
      { contentType: "json", text: '{"item": "lamp"}', state: "ready" },
      { contentType: "text", text: "{plain", state: "ready" },
      { contentType: "json", text: "3", state: "delayed" },
    ]);
  });

  it("sends JSON strings, bytes and attributes, which the API shows", async () => {
    const queue = await newQueue();
    await send(queue, "--body", '"a string"');
    writeFileSync(join(lab.folder, "body.bin"), Uint8Array.of(0, 255));
    const attributes = ["--attribute", "kind=order", "--attribute", "note=a=b"];
    await send(queue, "--file", "body.bin", "--content-type", "bytes", ...attributes);
    const { messages } = await peek(queue);
    expect(messages).toMatchObject([
      { contentType: "json", text: '"a string"' },
      {
        contentType: "bytes",
        text: null,
        bytes: 2,
        attributes: { kind: { type: "String", value: "order" }, note: { type: "String", value: "a=b" } },
      },
    ]);
    const { out } = await lab.run(["messages", "show", queue, messages[1]?.id ?? ""]);
    expect(out).toMatch(/\n\nAP8=\n$/);
    const sent = await lab.json<{ id: string }>(["messages", "send", queue, "--body", "{}"]);
    expect(await lab.json(["messages", "show", queue, sent.id])).toMatchObject({ id: sent.id, text: "{}" });
  });

  it("sends a sample of an event, and lists the samples for a name that there is not", async () => {
    const queue = await newQueue();
    await send(queue, "--event", "r2:object-create");
    const { contentType, text } = await only(queue);
    expect(contentType).toBe("json");
    expect(JSON.parse(text ?? "")).toMatchObject({ action: "PutObject", bucket: "uploads" });
    const refused = await send(queue, "--event", "r2");
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain("  workersBuilds.worker:build.failed\n");
  });

  it("needs a group for a FIFO queue", async () => {
    await sqs("CreateQueue", { QueueName: "f.fifo", Attributes: { FifoQueue: "true" } });
    expect(await send("f.fifo", "--body", "1")).toMatchObject({
      code: 2,
      err: expect.stringContaining("f.fifo is a FIFO queue: --group NAME names"),
    });
    expect(await send("f.fifo", "--body", "1", "--group", "g")).toMatchObject({ code: 0 });
    expect(await only("f.fifo")).toMatchObject({ group: "g" });
  });

  it("takes the body from a file and from standard input", async () => {
    const queue = await newQueue();
    writeFileSync(join(lab.folder, "body.json"), '{"from": "file"}');
    await send(queue, "--file", "body.json");
    await lab.run(["messages", "send", queue, "--file", "-"], { input: '{"from": "stdin"}' });
    const { messages } = await peek(queue);
    expect(messages.map(({ text }) => text)).toEqual(['{"from": "file"}', '{"from": "stdin"}']);
  });

  it.each<[string[], number, RegExp]>([
    [[], 2, /Say what to send/],
    [["--body", "{no json"], 2, /--content-type text/],
    [["--body", "1", "--file", "-"], 2, /Either --body or --file/],
    [["--body", "1", "--event", "r2:object-create"], 2, /Either --event, or --body or --file/],
    [["--body", "1", "--content-type", "xml"], 2, /Allowed choices are json, text, bytes/],
    [["--body", "1", "--delay-secs", "soon"], 2, /whole number/],
    [["--file", "gone.json"], 1, /gone\.json cannot be read/],
    [["--body", "1", "--attribute", "kind"], 2, /NAME=VALUE/],
  ])("%j exits with %i", async (args, code, message) => {
    const queue = await newQueue();
    const said = await send(queue, ...args);
    expect(said).toMatchObject({ code, out: "" });
    expect(said.err).toMatch(message);
    expect((await peek(queue)).of).toBe(0);
  });
});

describe("sluice messages resend", () => {
  it("sends a copy, also to another queue and with another body, and leaves the message", async () => {
    const [from, to] = [await newQueue(), await newQueue()];
    await send(from, "--body", '{"n": 1}', "--attribute", "kind=order");
    const { id } = await only(from);
    expect(await lab.words(0, ["messages", "resend", from, id, "--to", to])).toMatch(
      new RegExp(`^Sent \\w{32} to ${to}\\.\n$`),
    );
    const kept = { text: '{"n": 1}', attributes: { kind: { value: "order" } } };
    expect(await only(to)).toMatchObject(kept);
    expect(await only(from)).toMatchObject({ id, ...kept });
    const args = ["messages", "resend", from, id, "--to", to, "--body", "hello", "--content-type", "text"];
    const sent = await lab.json<{ queue: string; id: string }>([...args, "--delay-secs", "600"]);
    expect(sent).toMatchObject({ queue: to });
    const shown = await lab.json(["messages", "show", to, sent.id]);
    expect(shown).toMatchObject({ state: "delayed", contentType: "text", text: "hello" });
  });

  it("with --edit opens the body in the editor, and sends nothing when it is unchanged", async () => {
    const queue = await newQueue();
    await send(queue, "--body", '{"item":"lamp","id":12345678901234567890}');
    const { id } = await only(queue);
    const script = join(lab.folder, "editor.mjs");
    writeFileSync(
      script,
      `import { readFileSync, rmSync, writeFileSync } from "node:fs";
       const [, , change, file] = process.argv;
       if (change === "change") writeFileSync(file, readFileSync(file, "utf8").replace("lamp", "vase") + "\\n");
       if (change === "spoil") writeFileSync(file, "{ an hour of work\\n");
       if (change === "crash") writeFileSync(file, "saved before the crash");
       if (change === "crash") process.exit(1);
       if (change === "remove") rmSync(file);
       if (change === "latin") writeFileSync(file, Buffer.from("caf\\xe9", "latin1"));
       if (change === "fail") process.exit(1);`,
    );
    const args = ["messages", "resend", queue, id, "--edit"];
    expect(await lab.words(2, args)).toMatch(/^There is no terminal to edit in: --body TEXT or --file PATH /);
    const resend = (change: string) =>
      lab.run(args, { env: { VISUAL: `"${process.execPath}" "${script}" ${change}` } });
    for (const change of ["keep", "remove"])
      expect(await resend(change)).toMatchObject({
        code: 0,
        err: "The body is as it was: nothing was sent.\n",
      });
    expect(await resend("fail")).toMatchObject({ code: 1, err: expect.stringContaining("has failed") });
    const { code, err } = await resend("spoil");
    expect([code, err]).toEqual([2, expect.stringContaining("The body is not JSON")]);
    const kept =
      /What you wrote is kept\. .* take it: --content-type json --file "(.+)"\n/.exec(err)?.[1] ?? "";
    expect(readFileSync(kept, "utf8")).toBe("{ an hour of work");
    rmSync(dirname(kept), { recursive: true });
    const crashed = await resend("crash");
    expect(crashed).toMatchObject({ code: 1, err: expect.stringContaining("has failed") });
    const saved = /What it has saved is kept: (.+)\n/.exec(crashed.err)?.[1] ?? "";
    expect(readFileSync(saved, "utf8")).toBe("saved before the crash");
    rmSync(dirname(saved), { recursive: true });
    const latin = await resend("latin");
    expect(latin).toMatchObject({ code: 1, err: expect.stringContaining("is not UTF-8 text") });
    rmSync(dirname(/It is kept: (.+)\n/.exec(latin.err)?.[1] ?? ""), { recursive: true });
    expect((await peek(queue)).of).toBe(1);
    expect(await resend("change")).toMatchObject({ code: 0 });
    const { messages } = await peek(queue);
    expect(messages.map(({ text, contentType }) => [text, contentType])).toEqual([
      ['{"item":"lamp","id":12345678901234567890}', "json"],
      ['{"item":"vase","id":12345678901234567890}', "json"],
    ]);
  });

  it.each<[string[], number]>([
    [["--edit", "--body", "1"], 2],
    [["--edit"], 2],
    [["--body", "{"], 2],
    [["--delay-secs", "86401"], 2],
    [["--to", "no-such-queue"], 4],
  ])("%j exits with %i", async (args, code) => {
    const queue = await newQueue();
    await send(queue, "--body", "1");
    const { id } = await only(queue);
    expect(await lab.run(["messages", "resend", queue, id, ...args])).toMatchObject({ code, out: "" });
    expect((await peek(queue)).of).toBe(1);
  });
});
