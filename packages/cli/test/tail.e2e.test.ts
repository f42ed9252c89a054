import type { EventView } from "@sluice/gateway/views";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";

const CONFIG = `
[sluice.queues.orders]
redrive = { dead_letter_queue = "orders-dead", max_receive_count = 1 }
`;
const TOKEN = { SLUICE_API_TOKEN: "secret" };

const lab = new BrokerLab(CONFIG);

beforeAll(async () => {
  await lab.serve({ SLUICE_ENV: "development", SLUICE_API_TOKENS: "secret" });
});
afterAll(() => lab.close());

const send = (queue: string, body: string) =>
  lab.run(["messages", "send", queue, "--content-type", "text", "--body", body], { env: TOKEN });

describe("sluice tail", () => {
  it("prints events as they happen, of one queue or of one kind, as lines or as JSON", async () => {
    const all = lab.spawn(["tail"], TOKEN);
    const accepted = lab.spawn(["tail", "orders", "--kind", "accepted", "--json"], TOKEN);
    await Promise.all([
      all.printed(/Waiting for events/),
      accepted.printed(/Waiting for events in orders of/),
    ]);
    await send("orders-dead", "elsewhere");
    await send("orders", "hello");
    await all.printed(/^\S+Z {2}orders-dead {2}accepted {2}[0-9a-f]{32} /m);
    await all.printed(/^\S+Z {2}orders {2}accepted {2}[0-9a-f]{32} /m);
    const [line = ""] = /^\{.*\}$/m.exec(await accepted.printed(/^\{.*\}$/m)) ?? [];
    expect(JSON.parse(line)).toMatchObject({ kind: "accepted", queue: "orders", messages: 1 });
    await Promise.all([all.stop("SIGINT"), accepted.stop("SIGINT")]);
  });

  it("refuses a wrong kind, queue or token with an explanation", async () => {
    const kind = await lab.run(["tail", "--kind", "lost"], { env: TOKEN });
    expect([kind.code, kind.err]).toEqual([
      2,
      expect.stringContaining("There is no kind lost. There are accepted"),
    ]);
    expect(await lab.run(["tail", "nothing"], { env: TOKEN })).toMatchObject({ code: 4 });
    expect(await lab.words(1, ["tail"])).toContain("asks for a token");
  });
});

describe("sluice messages story", () => {
  it("prints what happened to a message, and says when nothing is known", async () => {
    await send("orders", "whose story");
    const list = ["messages", "peek", "orders", "--filter", "whose"];
    const { messages } = await lab.json<{ messages: { id: string }[] }>(list, { env: TOKEN });
    const id = messages[0]?.id ?? "";
    const { out } = await lab.run(["messages", "story", "orders", id], { env: TOKEN });
    expect(out).toMatch(new RegExp(`^\\S+Z {2}orders {2}accepted {2}${id} `));
    const story = await lab.json<{ events: EventView[] }>(["messages", "story", "orders", id], {
      env: TOKEN,
    });
    expect(story.events).toMatchObject([{ kind: "accepted", ids: [id] }]);
    const short = await lab.run(["messages", "story", "orders", id.slice(0, 8)], { env: TOKEN });
    expect(short).toMatchObject({ code: 0, out });
    expect(await lab.run(["messages", "story", id.slice(0, 8)], { env: TOKEN })).toMatchObject({
      code: 0,
      out,
    });
    const unknown = await lab.run(["messages", "story", "orders", "f".repeat(32)], { env: TOKEN });
    expect(unknown).toMatchObject({ code: 4, out: "" });
    expect(unknown.err).toContain("Nothing is known of a message");
    expect(unknown.err).not.toContain("may be missing");
  });
});

it("sluice tail ends with the broker", async () => {
  const other = new BrokerLab();
  await other.serve({ SLUICE_ENV: "development" });
  const tail = other.spawn(["tail"]);
  await tail.printed(/Waiting for events/);
  await other.stop();
  expect(await tail.ended).toBe(3);
  expect(tail.output).toContain("has ended.");
  await other.close();
});
