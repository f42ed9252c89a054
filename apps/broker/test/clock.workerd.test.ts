import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { beforeAll, expect, it } from "vitest";
import { created, endpoint, sqs, start } from "./sqs-sdk.ts";

beforeAll(start);

async function clock(change: object): Promise<Record<string, unknown>> {
  const url = endpoint.replace("/aws", "/api/clock");
  const response = await fetch(url, { method: "POST", body: JSON.stringify(change) });
  return { status: response.status, ...((await response.json()) as object) };
}

async function send(QueueUrl: string, MessageBody: string, DelaySeconds: number): Promise<void> {
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds }));
}

async function received(QueueUrl: string, WaitTimeSeconds = 0): Promise<(string | undefined)[]> {
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds }));
  return Messages.map(({ Body }) => Body);
}

/** By how much the clock of a queue was moved, by its history, in ms, the latest first. */
async function moves(queue: string): Promise<(number | null)[]> {
  const url = endpoint.replace("/aws", `/api/queues/${queue}/history?kind=clockMoved`);
  const { events } = (await (await fetch(url)).json()) as { events: { delayMs: number | null }[] };
  return events.map(({ delayMs }) => delayMs);
}

it("the clock of the broker stands for every queue, jumps to the next event, and runs on", async () => {
  const early = await created("early");
  await send(early, "in a minute", 60);
  // A waiting receive is answered when the clock stops.
  const waiting = received(early, 20);
  const frozen = await clock({ freeze: true });
  expect(frozen).toMatchObject({ status: 200, isFrozen: true });
  expect(await waiting).toEqual([]);
  // Waiting takes real time.
  expect(await received(early, 1)).toEqual([]);
  const late = await created("late");
  await send(late, "in two minutes", 120);
  const first = await clock({ to: "next" });
  expect(first).toMatchObject({ isFrozen: true, next: { queue: "early" } });
  expect([await received(early), await received(late)]).toEqual([["in a minute"], []]);
  // The queue that was created under the frozen clock uses it.
  const second = await clock({ to: "next", queue: "late" });
  const between = Date.parse(String(second.now)) - Date.parse(String(first.now));
  // Queues wake some milliseconds after a message is due.
  expect(between).toBeGreaterThan(59_000);
  // The first message was sent some time before the clock stopped.
  expect(between).toBeLessThan(90_000);
  expect(await received(late)).toEqual(["in two minutes"]);
  // The lease of 30 s is over.
  expect(await received(early)).toEqual(["in a minute"]);
  expect(Date.parse(String(first.now))).toBe(Date.parse(String(frozen.now)) + Number(first.advancedMs));
  const [secondMs, firstMs] = await moves("early");
  expect(secondMs).toBe(between);
  // It stands since it has heard of that, some milliseconds after the broker's own clock.
  expect(firstMs).toBeLessThanOrEqual(Number(first.advancedMs));
  expect(firstMs).toBeGreaterThan(50_000);
  expect(await clock({ freeze: false })).toMatchObject({ isFrozen: false });
  await send(late, "at once", 0);
  expect(await received(late, 5)).toEqual(["at once"]);
});
