import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OnBroker } from "../on-broker.ts";
import { adopt } from "./adopt.ts";
import { openCloudflare } from "./cloudflare/access.ts";
import { openSqs, urlOf } from "./sqs/client.ts";

type Answer = readonly [status: number, body: string, headers: Record<string, string>];

const HTML: Answer = [200, "<html>Sign in</html>", { "content-type": "text/html; charset=utf-8" }];
const REDIRECT: Answer = [302, "", { location: "http://127.0.0.1:9/sign-in" }];

let answer: Answer = HTML;
const seen: (string | undefined)[] = [];
const server = createServer(({ url }, response) => {
  seen.push(url);
  const [status, body, headers] = answer;
  response.writeHead(status, headers).end(body);
});
let endpoint = "";

beforeEach(async () => {
  seen.length = 0;
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise((closed) => server.close(closed));
});

describe("an endpoint that is not SQS", () => {
  it.each<[Answer, string]>([
    [HTML, "status 200, with a page of HTML"],
    [REDIRECT, "status 302, with a redirect to http://127.0.0.1:9/sign-in, which is not followed"],
    [[200, "garbage", {}], "status 200, with a body of another form"],
    [[400, "{}", {}], "status 400, with a body of another form"],
  ])("is named in one sentence: %j", async (given, what) => {
    answer = given;
    vi.stubEnv("AWS_ENDPOINT_URL", endpoint);
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "a");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "b");
    await expect(urlOf(openSqs(1), "source", "q")).rejects.toMatchObject({
      name: "CliError",
      message: `${endpoint} does not answer as SQS does: ${what}.`,
    });
  });

  it.each(["", "{}", "[]", "null"])("is not taken for one without the queue: %j", async (body) => {
    answer = [200, body, {}];
    vi.stubEnv("AWS_ENDPOINT_URL", endpoint);
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "a");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "b");
    await expect(urlOf(openSqs(1), "source", "q")).rejects.toThrow(
      "SQS answers GetQueueUrl without a URL: does AWS_ENDPOINT_URL lead to SQS?",
    );
  });
});

const ACCOUNT = "0123456789abcdef0123456789abcdef";

function openedWith(env: Record<string, string>) {
  const variables = { CLOUDFLARE_API_BASE_URL: endpoint, CLOUDFLARE_API_TOKEN: "secret", ...env };
  return openCloudflare({ cwd: import.meta.dirname, env: variables });
}

describe("an endpoint that is not Cloudflare's", () => {
  it.each<[Answer, string]>([
    [HTML, "status 200, with a page of HTML"],
    [REDIRECT, "status 302, with a redirect to http://127.0.0.1:9/sign-in, which is not followed"],
    [[200, "garbage", {}], "status 200, with a body of another form"],
    [[200, "null", {}], "status 200, with a body of another form"],
    [[200, '{"success":true}', {}], "status 200, with a body of another form"],
    [[200, '{"success":true,"result":[null]}', {}], "status 200, with a body of another form"],
  ])("is named in one sentence, and gets the token once: %j", async (given, what) => {
    answer = given;
    const api = await openedWith({ CLOUDFLARE_ACCOUNT_ID: ACCOUNT });
    await expect(api.find("q")).rejects.toMatchObject({
      name: "CliError",
      message: `${endpoint} does not answer as Cloudflare does: ${what}.`,
    });
    expect(seen).toHaveLength(1);
  });

  it.each(["../../../x", "", "a b", "a%2e"])("gets no request about the account %j", async (id) => {
    answer = [200, '{"success":true,"result":[]}', {}];
    const opened = openedWith({ CLOUDFLARE_ACCOUNT_ID: id });
    await expect(opened).rejects.toThrow(id === "" ? "opens no account" : "has a name of letters");
    if (id !== "") expect(seen).toEqual([]);
  });

  it("does not redirect the list of accounts", async () => {
    answer = REDIRECT;
    await expect(openedWith({})).rejects.toThrow("status 302");
    expect(seen).toHaveLength(1);
  });
});

it.each([
  ["a1", "a1.fifo"],
  ["a1.fifo", "a1"],
])("%s cannot become %s", async (name, as) => {
  const on = { printer: { warn: () => {} } } as unknown as OnBroker;
  await expect(adopt(on, name, { from: "sqs", as })).rejects.toThrow("A FIFO queue stays one");
});
