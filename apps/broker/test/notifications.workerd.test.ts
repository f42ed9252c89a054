import { expect, it } from "vitest";
import { startBroker } from "./any-broker.ts";

interface Answer {
  readonly result: Record<string, unknown> & { queue_id: string; consumer_id: string };
  readonly messages: readonly { readonly text: string }[];
  readonly events: readonly {
    readonly kind: string;
    readonly logs?: { readonly lines: readonly { readonly text: string }[] };
  }[];
}

// conformance: wrangler-queues-notification
it("a notification consumer gets one message each, which is shown and leaves the machine for nobody", async () => {
  const { origin } = await startBroker({ SLUICE_ENV: "development" });
  const call = async (path: string, body?: object): Promise<Answer> => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${origin}/__sluice/${path}`, init);
    expect(response.status, path).toBe(200);
    return (await response.json()) as Answer;
  };
  const queues = "client/v4/accounts/any/queues";
  const { queue_id: id } = (await call(queues, { queue_name: "alerts" })).result;
  const settings = { email: [{ id: "ann@shop.example" }], pagerduty: [], webhooks: [{ id: "w1" }] };
  const consumer = { type: "notification", settings, dead_letter_queue: "alerts-dead" };
  const { result } = await call(`${queues}/${id}/consumers`, consumer);
  expect(result).toEqual({
    ...consumer,
    consumer_id: result.consumer_id,
    created_on: expect.any(String),
    queue_name: "alerts",
    settings: { ...settings, batch_size: 1, max_retries: 100, retry_delay: 10 },
  });
  expect((await call(`${queues}/${id}/consumers`)).result).toEqual([result]);
  for (const body of [{ disk: "full" }, { disk: "on fire" }])
    await call(`${queues}/${id}/messages`, { body });
  const finished = async () => {
    const { messages } = await call("api/queues/alerts/messages?filter=state:finished");
    return messages.map(({ text }) => text).sort();
  };
  await expect.poll(finished).toEqual(['{"disk":"full"}', '{"disk":"on fire"}']);
  const printed = async () => {
    const { events } = await call("api/queues/alerts/history?kind=printed");
    return events.flatMap(({ logs }) => (logs?.lines ?? []).map(({ text }) => text)).sort();
  };
  const to = "Notification to email ann@shop.example, webhook w1";
  await expect.poll(printed).toEqual([`${to}: {"disk":"full"}`, `${to}: {"disk":"on fire"}`]);
});
