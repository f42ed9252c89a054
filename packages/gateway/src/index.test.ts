import { describe, expect, it } from "vitest";
import { directoryOf, OPEN } from "../test/directory.ts";
import { type AwsOptions, createGateway, PREFIX } from "./index.ts";

const ORIGIN = "http://localhost:8787";

function get(path: string, method = "GET"): Promise<Response> {
  return Promise.resolve(createGateway(directoryOf(), OPEN).request(`${ORIGIN}${path}`, { method }));
}

describe("the gateway", () => {
  it("has everything under one prefix, so that it can share a port with a user's Worker", () => {
    expect(PREFIX).toBe("/__sluice");
  });

  it("says that it runs and how many queues there are", async () => {
    const response = await get("/__sluice/health");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok", queues: 2 });
  });

  it("says that it fails when the directory does not answer", async () => {
    const directory = directoryOf();
    const account = { ...directory.account, list: () => Promise.reject(new Error("gone")) };
    const response = await createGateway({ ...directory, account }, OPEN).request(
      `${ORIGIN}/__sluice/health`,
    );
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: "failing",
      error: "the directory does not answer: Error: gone",
    });
  });

  it("says at LocalStack's path that SQS and SNS are there, as its clients wait for it", async () => {
    const response = await get("/_localstack/health");
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"services": {"sns": "available", "sqs": "available"}}');
  });

  it("says at LocalStack's path that both fail when the directory does not answer", async () => {
    const directory = directoryOf();
    const account = { ...directory.account, list: () => Promise.reject(new Error("gone")) };
    const response = await createGateway({ ...directory, account }, OPEN).request(
      `${ORIGIN}/_localstack/health`,
    );
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ services: { sns: "error", sqs: "error" } });
  });

  it("says what is missing where it was built without the page, and leads there without the slash", async () => {
    const page = await get("/__sluice/");
    expect(page.status).toBe(503);
    expect(await page.text()).toContain("built without its page");
    const redirect = await get("/__sluice");
    expect(redirect.status).toBe(302);
    expect(redirect.headers.get("location")).toBe("__sluice/");
  });

  it("says what is wrong with a request in words", async () => {
    const path = "/__sluice/client/v4/accounts/local/queues";
    const response = await createGateway(directoryOf(), OPEN).request(`${ORIGIN}${path}`, {
      method: "POST",
      body: '{"queue_name": 5}',
    });
    const { errors } = (await response.json()) as { errors: { message: string }[] };
    expect(errors[0]?.message).toContain('Invalid input: expected string, received number at "queue_name"');
  });

  it.each([
    ["GET", "/"],
    ["GET", "/__sluice/nothing"],
    ["GET", "/__sluice/api/nothing"],
    ["POST", "/__sluice/api/queues"],
    ["PUT", "/__sluice/api/clock"],
    ["DELETE", "/__sluice/api/queues/orders"],
  ])("answers 404 to %s %s", async (method, path) => {
    const response = await get(path, method);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: { code: "no_route", message: `Nothing answers ${method} ${path}.` },
    });
  });
});

describe("AWS's clients at the root of an address that no Worker has", () => {
  const AWS: AwsOptions = {
    access: { kind: "open", pages: () => null },
    settings: { home: { region: "us-east-1", account: "000000000000" }, isStrictAboutTime: false },
  };
  const ask = (path: string, init: RequestInit) =>
    createGateway(directoryOf(), OPEN, AWS).request(`${ORIGIN}${path}`, init);
  const json = { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.GetQueueUrl" };
  const form = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };

  it.each(["/", "/000000000000/orders", "/queue/orders"])(
    "AWS's clients at the root of an address that no Worker has are answered in AWS JSON at %s",
    async (path) => {
      const response = await ask(path, { method: "POST", headers: json, body: '{"QueueName":"orders"}' });
      expect(await response.json()).toEqual({ QueueUrl: `${ORIGIN}/000000000000/orders` });
    },
  );

  it("AWS's clients at the root of an address that no Worker has are answered in the Query protocol, by POST and by GET", async () => {
    const query = "Action=GetQueueUrl&QueueName=orders&Version=2012-11-05";
    for (const response of [
      await ask("/", { method: "POST", headers: form, body: query }),
      await ask(`/?${query}`, { method: "GET" }),
    ]) {
      expect(response.status).toBe(200);
      expect(await response.text()).toContain(`<QueueUrl>${ORIGIN}/000000000000/orders</QueueUrl>`);
    }
  });

  it("AWS's clients at the root of an address that no Worker has are answered by SNS", async () => {
    const body = "Action=ListTopics&Version=2010-03-31";
    const response = await ask("/", { method: "POST", headers: form, body });
    expect(await response.text()).toContain("<ListTopicsResponse");
  });

  it("AWS's clients at the root of an address that no Worker has get URLs below the prefix when they ask there", async () => {
    const response = await ask("/__sluice/aws", {
      method: "POST",
      headers: json,
      body: '{"QueueName":"orders"}',
    });
    expect(await response.json()).toEqual({ QueueUrl: `${ORIGIN}/__sluice/aws/000000000000/orders` });
  });

  it.each([
    ["/", {}],
    ["/__sluice/client/v4/nothing", json],
    ["/__sluice/awss", json],
  ])(
    "AWS's clients at the root of an address that no Worker has are told from others: POST %s with %o",
    async (path, headers) => {
      const response = await ask(path, { method: "POST", headers, body: "{}" });
      expect(response.status).toBe(404);
    },
  );
});
