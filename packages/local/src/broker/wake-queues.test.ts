import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CONSUMER_SETTINGS, QUEUE } from "@sluice/project/test/definitions";
import { type QueueTopology, topologyFingerprint } from "@sluice/protocol";
import { expect, it, onTestFinished } from "vitest";
import { QueueWaker } from "./wake-queues.ts";

function topology(worker: string): QueueTopology {
  const consumer = { type: "worker", worker, settings: CONSUMER_SETTINGS } as const;
  return { queues: { orders: { ...QUEUE, consumer } } };
}

/** A broker that goes by the topology from the given question on, and by another one before. */
async function broker(next: QueueTopology, learnsAt: number) {
  const deployed = await topologyFingerprint(next);
  const questions: string[] = [];
  const knows = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    questions.push(request.url ?? "");
    const isKnown = questions.length >= learnsAt;
    response.end(JSON.stringify({ queues: [], deployed: isKnown ? deployed : "another" }));
    if (isKnown) response.once("close", () => knows.resolve());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return {
    questions,
    knows: knows.promise,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
}

it("asks the broker until it goes by the topology", async () => {
  const { url, questions, knows } = await broker(topology("mail"), 3);
  new QueueWaker().wake(url, topology("mail"));
  await knows;
  expect(questions).toEqual(Array(3).fill("/__sluice/api/queues"));
});

it("asks no more about an earlier topology when there is a new one", async () => {
  const old = await broker(topology("mail"), Number.POSITIVE_INFINITY);
  const current = await broker(topology("mail"), 2);
  const waker = new QueueWaker();
  waker.wake(old.url, topology("mail"));
  waker.wake(current.url, topology("mail"));
  await current.knows;
  expect(old.questions.length).toBeLessThan(2);
  waker.stop();
});
