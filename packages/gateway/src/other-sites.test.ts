import { parsePublicUrl } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { directoryOf, OPEN } from "../test/directory.ts";
import { ENDPOINTS } from "./admin/endpoints.ts";
import { SNS_EFFECTS } from "./aws/sns/actions.ts";
import { SNS_ACTIONS, SNS_VERSION } from "./aws/sns/model.ts";
import { SQS_EFFECTS } from "./aws/sqs/actions.ts";
import { SQS_MODEL } from "./aws/sqs/model.ts";
import type { Access } from "./http/access.ts";
import { createGateway, refusedPage } from "./index.ts";

/**
 * Requests that a page of any site can make a browser send to a broker without keys and tokens, and those it cannot.
 */

/**
 * A browser says nothing of the site behind a request to it: it is no name or address of this machine, over plain HTTP.
 */
const ORIGIN = "http://192.168.1.5:9324";
const SIGNED =
  "AWS4-HMAC-SHA256 Credential=anybody/20261101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0";

const gateway = createGateway(directoryOf(), OPEN, {
  access: { kind: "open", pages: (request, effect) => refusedPage(OPEN, request, effect) },
  settings: { home: { region: "us-east-1", account: "000000000000" }, isStrictAboutTime: false },
});

/**
 * Answers how a GET of an action without its parameters is refused; one that gets as far as its parameters is refused
 * for these, or is not.
 */
async function get(action: string, headers: Record<string, string>, version?: string) {
  const query = new URLSearchParams({
    Action: action,
    ...(version === undefined ? {} : { Version: version }),
  });
  const response = await gateway.request(`${ORIGIN}/__sluice/aws/?${query}`, { headers });
  const [, code] = /<Code>(AccessDenied|AuthorizationError)</.exec(await response.text()) ?? [];
  return code === undefined ? "heard" : `${response.status} ${code}`;
}

const ACTIONS = [
  ...Object.keys(SQS_MODEL.actions).map((action) => [action, undefined, SQS_EFFECTS] as const),
  ...Object.keys(SNS_ACTIONS).map((action) => [action, SNS_VERSION, SNS_EFFECTS] as const),
].map(([action, version, effects]) => {
  const effect = (effects as Readonly<Record<string, string>>)[action];
  return { action, version, effect };
});
const CHANGES = ACTIONS.filter(({ effect }) => effect === "changes");
const OTHERS = ACTIONS.filter(({ effect }) => effect !== "changes");

it("reads, or goes by a token, with these actions and with no others", () => {
  const others = OTHERS.map(({ action }) => action).filter((action) => !/^(Get|List)/.test(action));
  expect(others).toEqual(["ConfirmSubscription", "Unsubscribe"]);
  expect(CHANGES.filter(({ action }) => /^(Get|List)/.test(action))).toEqual([]);
  expect(CHANGES).toHaveLength(17 + 11);
});

describe("a GET", () => {
  it.each(CHANGES)(
    "a GET of $action, version $version, is refused: an image on any page can send it",
    async (call) => {
      const { action, version } = call;
      const refused = `403 ${version === SNS_VERSION ? "AuthorizationError" : "AccessDenied"}`;
      expect(await get(action, {}, version)).toBe(refused);
      // A browser adds these by itself to a server that once asked for them.
      expect(await get(action, { authorization: "Basic dTpw" }, version)).toBe(refused);
      expect(await get(action, { "sec-fetch-site": "cross-site" }, version)).toBe(refused);
      // A link in a mail or in a chat: no page is behind it, and its reader did not write it.
      expect(await get(action, { "sec-fetch-site": "none" }, version)).toBe(refused);
      expect(await get(action, { "sec-fetch-site": "same-site", authorization: SIGNED }, version)).toBe(
        refused,
      );
    },
  );

  it.each(CHANGES)(
    "a GET of $action, version $version, is heard with what no page can send",
    async (call) => {
      const { action, version } = call;
      expect(await get(action, { authorization: SIGNED }, version)).toBe("heard");
      expect(await get(action, { "sec-fetch-site": "same-origin" }, version)).toBe("heard");
      expect(await get(action, { "sec-fetch-site": "none", authorization: SIGNED }, version)).toBe("heard");
    },
  );

  it.each(OTHERS)(
    "a GET of $action, version $version, which $effect, is heard",
    async ({ action, version }) => {
      expect(await get(action, {}, version)).toBe("heard");
    },
  );

  it("says what to do instead", async () => {
    const answer = await gateway.request(`${ORIGIN}/?Action=PurgeQueue&QueueUrl=orders`);
    expect(await answer.text()).toContain("Sign it there, or send a POST.");
  });

  it("a GET presigned is refused like any other: nothing checks what a page made up", async () => {
    const query = "Action=PurgeQueue&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0";
    expect((await gateway.request(`${ORIGIN}/?${query}`)).status).toBe(403);
  });

  it("carries out nothing that its body or its headers name", async () => {
    const asJson = { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.PurgeQueue" };
    const url = `${ORIGIN}/__sluice/aws/?Action=ListQueues`;
    expect((await gateway.request(url, { headers: asJson })).status).toBe(404);
    expect((await gateway.request(url, { method: "HEAD" })).status).toBe(404);
  });

  it.each(["ConfirmSubscription", "Unsubscribe"])(
    "a GET of %s by the link in a message is heard from any site",
    async (action) => {
      const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
      expect(await get(action, headers)).toBe("heard");
    },
  );
});

describe("a form or a script of another site", () => {
  const posted = (path: string, headers: Record<string, string>, body = "x") =>
    gateway.request(`${ORIGIN}${path}`, {
      method: "POST",
      headers: { "content-type": "text/plain", ...headers },
      body,
    });
  const paths = [
    ...ENDPOINTS.filter(({ method }) => method === "POST").map(({ path }) => path.replace("NAME", "orders")),
    "/__sluice/client/v4/accounts/any/queues",
    "/__sluice/client/v4/accounts/any/queues/0/messages",
    "/__sluice/client/v4/accounts/any/queues/0/messages/pull",
    "/__sluice/client/v4/accounts/any/queues/0/purge",
    "/__sluice/aws/?Action=PurgeQueue",
    "/__sluice/aws/000000000000/orders?Action=PurgeQueue",
    `/__sluice/aws/?Action=DeleteTopic&Version=${SNS_VERSION}`,
    "/?Action=PurgeQueue",
  ];

  it.each(paths)("cannot post to %s", async (path) => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (const origin of ["http://evil.example", "null"]) {
      expect((await posted(path, { ...form, origin })).status, origin).toBe(403);
    }
    expect((await posted(path, { ...form, "sec-fetch-site": "cross-site" })).status).toBe(403);
    if (path.startsWith("/__sluice/")) {
      expect((await posted(path, { origin: "http://evil.example" })).status).toBe(403);
    }
  });
});

describe("a script of another site", () => {
  const paths = [
    ...ENDPOINTS.filter(({ method, path }) => method === "GET" && path !== "/__sluice/health").map(
      ({ path }) => path.replace("NAME", "orders"),
    ),
    "/__sluice/client/v4/accounts/any/queues",
    "/__sluice/aws/?Action=ListQueues",
    `/__sluice/aws/?Action=ListTopics&Version=${SNS_VERSION}`,
    "/?Action=ListQueues",
  ];

  it.each(paths)("cannot read %s, whatever a server before the broker allows it", async (path) => {
    const read = async (headers: Record<string, string>) =>
      (await gateway.request(`${ORIGIN}${path}`, { headers })).status;
    for (const origin of ["http://evil.example", "null", "http://192.168.1.5:3000"]) {
      expect(await read({ origin }), origin).toBe(403);
    }
    for (const site of ["cross-site", "same-site"]) {
      expect(await read({ "sec-fetch-site": site }), site).toBe(403);
    }
  });

  it("is told apart from a program, and from the broker's own page", async () => {
    const own = { origin: ORIGIN, "sec-fetch-site": "same-origin" };
    for (const headers of [{}, own, { "sec-fetch-site": "none" }]) {
      expect((await gateway.request(`${ORIGIN}/__sluice/api/queues`, { headers })).status).toBe(200);
    }
  });
});

describe("a page behind a proxy", () => {
  const PUBLIC = "https://queues.example.com";
  const publicAddress = parsePublicUrl(PUBLIC);

  it.each([
    [{ ...OPEN, hosts: ["queues.example.com"], publicAddress }, {}],
    [{ kind: "tokens", tokens: ["secret"], publicAddress }, { authorization: "Bearer secret" }],
  ] as const)("of the public origin is the broker's own, and no other: %j", async (access, headers) => {
    const behind = createGateway(directoryOf(), access);
    const moveClock = async (origin: string) => {
      const init = { method: "POST", body: '{"advanceMs": 1000}', headers: { ...headers, origin } };
      return (await behind.request(`${ORIGIN}/__sluice/api/clock`, init)).status;
    };
    expect(await moveClock(PUBLIC)).toBe(200);
    expect(await moveClock(ORIGIN)).toBe(200);
    expect(await moveClock("http://queues.example.com")).toBe(403);
  });

  const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "queues.example.com" };
  const statusOf = async (access: Access, headers: Record<string, string>, at = ORIGIN) => {
    const init = { method: "POST", body: '{"advanceMs": 1000}', headers };
    const behind = createGateway(directoryOf(), access);
    return (await behind.request(`${at}/__sluice/api/clock`, init)).status;
  };

  it("a page behind a proxy that is trusted is at the origin that the proxy names, and only there", async () => {
    const hosts = ["queues.example.com"];
    const trusting: Access = { kind: "open", hosts, routeHosts: [], publicAddress: "forwarded" };
    expect(await statusOf(trusting, { ...forwarded, origin: PUBLIC })).toBe(200);
    expect(await statusOf(trusting, { ...forwarded, origin: "http://queues.example.com" })).toBe(403);
    expect(await statusOf({ kind: "open", hosts, routeHosts: [] }, { ...forwarded, origin: PUBLIC })).toBe(
      403,
    );
  });

  it("a page behind a proxy that is trusted does not get a name past the list of hosts by a header, nor by the request", async () => {
    const trusting = { ...OPEN, publicAddress: "forwarded" } as const;
    expect(await statusOf(trusting, forwarded)).toBe(403);
    expect(await statusOf(trusting, { "x-forwarded-host": "localhost" }, "http://evil.example")).toBe(403);
    expect(await statusOf(trusting, { "x-forwarded-host": "localhost" })).toBe(200);
  });
});
