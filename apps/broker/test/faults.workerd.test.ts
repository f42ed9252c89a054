import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { definition, endpoint as endpointConsumer } from "@sluice/broker/testing/messages";
import { expect, it, onTestFinished } from "vitest";
import { awsOptions, startBroker } from "./any-broker.ts";
import { startSnsEndpoint } from "./sns-endpoint.ts";

it("faults of a queue reach its consumer, are shown while they are on, and end", async () => {
  const endpoint = await startSnsEndpoint();
  onTestFinished(() => endpoint.close());
  const settings = {
    url: endpoint.url("/orders"),
    maxConcurrency: 1,
    connectTimeoutSeconds: 1,
    maxRetries: 5,
  };
  const orders = definition({ consumer: endpointConsumer(settings) });
  const { origin } = await startBroker({ SLUICE_ENV: "development" }, { queues: { orders } });
  const api = async (path: string, method = "GET", body?: object) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    return (await fetch(`${origin}/__sluice/api/queues/orders${path}`, init)).json() as Promise<{
      faults: unknown[];
    }>;
  };
  const sqs = new SQSClient(awsOptions(`${origin}/__sluice/aws`));
  onTestFinished(() => sqs.destroy());
  const QueueUrl = `${origin}/__sluice/aws/000000000000/orders`;

  await api("/faults", "PUT", { faults: [{ kind: "deliverTwice" }, { kind: "loseAck", times: 2 }] });
  expect((await api("")).faults).toHaveLength(2);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "one" }));
  // Two deliveries at first, another after the lost acknowledgement, and another after the next lost one.
  const posts = await endpoint.arrived("/orders", 4);
  expect(posts.map(({ body }) => body)).toEqual(["one", "one", "one", "one"]);
  await expect.poll(async () => (await api("")).faults).toEqual([]);

  await api("/faults", "PUT", { faults: [{ kind: "failBatch", times: 100 }] });
  await api("/faults", "DELETE");
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "two" }));
  expect((await endpoint.arrived("/orders", 5))[4]?.body).toBe("two");
});
