import { describe, expect, it, vi } from "vitest";
import { accountOf, directoryOf, OPEN, ORDERS, recordOf } from "../../../test/directory.ts";
import { createGateway } from "../../index.ts";

const A = "http://localhost/__sluice/client/v4/accounts/any";

async function ask(path: string, init: RequestInit = {}, directory = directoryOf()) {
  const response = await createGateway(directory, OPEN).request(`${A}${path}`, init);
  return { status: response.status, body: (await response.json()) as { errors: { message: string }[] } };
}

const post = (body: string, contentType = "application/json"): RequestInit => ({
  method: "POST",
  body,
  headers: { "content-type": contentType },
});

describe("bodies", () => {
  // conformance: api-bad-ids-and-bodies
  it.each(["", "{", "queue_name=a", "null", "[]", '"text"'])("answers 10026 to %j", async (body) => {
    for (const path of ["/queues", "/event_subscriptions/subscriptions"]) {
      expect(await ask(path, post(body))).toMatchObject({ status: 400, body: { errors: [{ code: 10026 }] } });
    }
  });

  // conformance: api-any-content-type
  it("bodies are JSON whatever the content type says", async () => {
    const body = '{"queue_name": "Bad"}';
    for (const type of ["text/plain;charset=UTF-8", "application/octet-stream", "application/json"]) {
      expect(await ask("/queues", post(body, type))).toMatchObject({ body: { errors: [{ code: 11003 }] } });
    }
  });

  it.each([
    ["{}", /"type"/],
    ['{"type": "carrier pigeon"}', /"type"/],
    ['{"type": "worker"}', /"script_name"/],
    ['{"type": "worker", "script_name": ""}', /Required at "script_name"/],
    ['{"type": "http_pull", "dead_letter_queue": 1}', /"dead_letter_queue"/],
  ])("bodies of a consumer: answers 10026 to %s", async (body, text) => {
    const { queueId } = recordOf("orders", ORDERS);
    const { status, body: answer } = await ask(`/queues/${queueId}/consumers`, post(body));
    expect(status).toBe(400);
    expect(answer).toMatchObject({ errors: [{ code: 10026 }] });
    expect(answer.errors[0]?.message).toMatch(text);
  });
});

describe("bodies of a notification consumer", () => {
  const { queueId } = recordOf("orders", ORDERS);
  const given = (settings: object) => post(JSON.stringify({ type: "notification", settings }));

  it.each([
    [{}, /at least one destination/],
    [{ email: [] }, /at least one destination/],
    [{ email: [{}] }, /"email.0.id"/],
    [{ webhooks: ["w1"] }, /"webhooks.0"/],
    [{ pagerduty: [{ id: "" }] }, /Required at "pagerduty.0.id"/],
  ])("answers 100127 to the settings %j", async (settings, text) => {
    const { status, body } = await ask(`/queues/${queueId}/consumers`, given(settings));
    expect([status, body.errors]).toEqual([
      400,
      [{ code: 100127, message: expect.stringMatching(text) as string }],
    ]);
  });

  it("are refused by a broker that nobody looks at: it would notify nobody", async () => {
    const directory = { ...directoryOf(), clock: null };
    const { body } = await ask(
      `/queues/${queueId}/consumers`,
      given({ email: [{ id: "ann@shop.example" }] }),
      directory,
    );
    expect(body.errors).toEqual([{ code: 10026, message: expect.stringContaining("sluice dev") as string }]);
  });
});

it("takes no consumer id that none can have: a PUT would create it", async () => {
  const { queueId } = recordOf("orders", ORDERS);
  const init = { method: "PUT", body: '{"type": "http_pull"}' };
  for (const id of ["mine", "G".repeat(32), "a".repeat(31)]) {
    expect(await ask(`/queues/${queueId}/consumers/${id}`, init)).toMatchObject({
      status: 400,
      body: { errors: [{ code: 10026 }] },
    });
  }
});

describe("what fails", () => {
  it.each(["nothing", "g".repeat(32), "A".repeat(32), "a".repeat(31), "a".repeat(33)])(
    // conformance: api-bad-ids-and-bodies
    "answers 10107 to %s, which is no queue id",
    async (id) => {
      for (const path of ["", "/consumers", "/metrics", "/purge"]) {
        expect(await ask(`/queues/${id}${path}`)).toMatchObject({
          status: 400,
          body: { errors: [{ code: 10107 }] },
        });
      }
    },
  );

  // conformance: api-envelope, graphql
  it("answers 7003 to whatever else there is, in the envelope of the API", async () => {
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", "/queues"],
      ["GET", "/storage/kv/namespaces"],
      ["PUT", "/workers/scripts/shop"],
    ] as const) {
      expect(await ask(`${path}`, { method })).toMatchObject(
        path === "" ? { status: 200 } : { status: 404, body: { success: false, errors: [{ code: 7003 }] } },
      );
    }
  });

  it("answers 500 when the directory fails, and tells why in the log only", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const directory = directoryOf();
    const account = { ...directory.account, list: () => Promise.reject(new Error("secret of the disk")) };
    const answer = await ask("/queues", {}, { ...directory, account });
    expect(answer).toEqual({
      status: 500,
      body: {
        success: false,
        errors: [{ code: 15000, message: "The broker failed; its log says why." }],
        messages: [],
        result: null,
      },
    });
    expect(log.mock.calls.flat().join()).toContain("secret of the disk");
    log.mockRestore();
  });
});

// conformance: api-workers
it("knows the Workers that its queues name, and no others", async () => {
  expect(await ask("/workers/services/mailer")).toMatchObject({ status: 200 });
  expect(await ask("/workers/services/shop")).toMatchObject({ status: 200 });
  expect(await ask("/workers/services/nobody")).toMatchObject({
    status: 404,
    body: { errors: [{ code: 10090 }] },
  });
  const subdomain = (enabled: boolean) =>
    ask("/workers/scripts/shop/subdomain", post(JSON.stringify({ enabled })));
  expect(await subdomain(false)).toMatchObject({ status: 200 });
  expect(await subdomain(true)).toMatchObject({ status: 404, body: { errors: [{ code: 7003 }] } });
});

it.each([0, 1, 100, 101, 250])("the SDK lists each of %i event subscriptions once", async (count) => {
  const subscriptions = Array.from({ length: count }, (_, i) => ({
    id: `${i}`.padStart(32, "0"),
    name: `s${i}`,
    enabled: true,
    source: { type: "r2" },
    queueId: recordOf("orders", ORDERS).queueId,
    events: ["bucket.created"],
    createdAtMs: 0,
    modifiedAtMs: 0,
  }));
  const account = { ...accountOf({ orders: ORDERS }), listSubscriptions: async () => subscriptions };
  const directory = { ...directoryOf(), account };
  // The SDK asks for further pages until one is empty. Its first request names none.
  const listed: string[] = [];
  for (let page = 1; ; page++) {
    const query = page === 1 ? "" : `?page=${page}`;
    const { body } = await ask(`/event_subscriptions/subscriptions${query}`, {}, directory);
    const { result } = body as unknown as { readonly result: readonly { readonly id: string }[] };
    if (result.length === 0) break;
    listed.push(...result.map(({ id }) => id));
  }
  expect(listed.toSorted()).toEqual(subscriptions.map(({ id }) => id));
});
