import { R2_KEY_BYTES_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { accountOf, directoryOf, OPEN, ORDERS, recordOf } from "../../../test/directory.ts";
import { createGateway } from "../../index.ts";

const { queueId } = recordOf("orders", ORDERS);
const RULES = `/event_notifications/r2/uploads/configuration`;
const OF_QUEUE = `${RULES}/queues/${queueId}`;

function api(changes: Partial<ReturnType<typeof directoryOf>> = {}) {
  const directory = { ...directoryOf(), ...changes };
  return async (method: string, path: string, body?: unknown) => {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const url = `http://localhost/__sluice/client/v4/accounts/any${path}`;
    const response = await createGateway(directory, OPEN).request(url, init);
    const { result, errors } = (await response.json()) as {
      result: unknown;
      errors: readonly { readonly code: number; readonly message: string }[];
    };
    return { status: response.status, result, code: errors[0]?.code, message: errors[0]?.message };
  };
}

/** The queue's producers once the bucket has a rule for it. */
const WITH_BUCKET = {
  producers: [
    { type: "worker", script: "shop" },
    { type: "r2_bucket", bucket_name: "uploads" },
  ],
  producers_total_count: 2,
};

const rule = { prefix: "", suffix: ".png", actions: ["PutObject"] };

describe("event notification rules of a bucket", () => {
  it("are added by PUT, listed by bucket and by queue, and deleted", async () => {
    const ask = api();
    expect(await ask("PUT", OF_QUEUE, { rules: [rule] })).toMatchObject({ status: 200, result: {} });
    const shown = {
      queueId,
      queueName: "orders",
      rules: [{ ...rule, ruleId: "0".repeat(32), createdAt: "2023-11-14T22:13:20.000Z" }],
    };
    expect((await ask("GET", OF_QUEUE)).result).toEqual(shown);
    expect((await ask("GET", `/queues/${queueId}`)).result).toMatchObject(WITH_BUCKET);
    expect((await ask("GET", RULES)).result).toEqual({ bucketName: "uploads", queues: [shown] });
    expect(await ask("DELETE", `/queues/${queueId}`)).toMatchObject({ status: 409, code: 11017 });
    expect(await ask("DELETE", OF_QUEUE)).toMatchObject({ status: 200 });
    expect(await ask("GET", RULES)).toMatchObject({ status: 404, code: 11015 });
    expect(await ask("GET", OF_QUEUE)).toMatchObject({ status: 404, code: 11015 });
  });

  it.each([
    ["PATCH", "", { settings: { delivery_delay: 5 } }],
    ["PUT", "", {}],
    ["POST", "/purge", { delete_messages_permanently: true }],
  ])("make the bucket a producer in the answer to %s%s too", async (method, path, body) => {
    const account = accountOf({ orders: ORDERS });
    const changeQueue = async () => ({ ok: true as const, record: recordOf("orders", ORDERS) });
    const ask = api({ account: { ...account, changeQueue } });
    await ask("PUT", OF_QUEUE, { rules: [rule] });
    expect((await ask(method, `/queues/${queueId}${path}`, body)).result).toMatchObject(WITH_BUCKET);
  });

  it("are in force when they are answered: the writes are watched before", async () => {
    const watched: (readonly string[])[] = [];
    const ask = api({ watchR2: async (buckets) => void watched.push(buckets) });
    await ask("PUT", OF_QUEUE, { rules: [rule] });
    await ask("PUT", OF_QUEUE.replace("uploads", "invoices"), { rules: [rule] });
    await ask("DELETE", OF_QUEUE);
    expect(watched).toEqual([
      ["uploads"],
      ["uploads"],
      ["uploads", "invoices"],
      ["uploads", "invoices"],
      ["invoices"],
    ]);
  });

  it("are in force when two requests add some at once", async () => {
    const { r2 } = directoryOf();
    let watched: readonly string[] = [];
    // Both have said what is watched before either has its rule.
    const bothWatch = Promise.withResolvers<void>();
    let adding = 0;
    const addR2Rules: typeof r2.addR2Rules = async (...rules) => {
      adding += 1;
      if (adding === 2) bothWatch.resolve();
      await bothWatch.promise;
      return r2.addR2Rules(...rules);
    };
    const ask = api({
      r2: { ...r2, addR2Rules },
      watchR2: async (buckets) => {
        watched = buckets;
      },
    });
    const put = (bucket: string) => ask("PUT", OF_QUEUE.replace("uploads", bucket), { rules: [rule] });
    expect((await Promise.all([put("uploads"), put("invoices")])).map(({ status }) => status)).toEqual([
      200, 200,
    ]);
    expect(watched).toHaveLength(2);
  });

  it("are refused where no process sees the writes", async () => {
    const refused = await api({ watchR2: null })("PUT", OF_QUEUE, { rules: [rule] });
    expect(refused).toMatchObject({ status: 400, code: 11014 });
    expect(refused.message).toContain("sluice dev");
  });

  it.each([
    [{}],
    [{ rules: [] }],
    [{ rules: [{ ...rule, actions: [] }] }],
    [{ rules: [{ ...rule, actions: ["AbortMultipartUpload"] }] }],
    [{ rules: [{ ...rule, prefix: 1 }] }],
  ])("are refused as %j", async (body) => {
    expect(await api()("PUT", OF_QUEUE, body)).toMatchObject({ status: 400, code: 11014 });
  });

  it("have each action once, however often it is named", async () => {
    const ask = api();
    const actions = ["PutObject", "DeleteObject", "PutObject"];
    expect(await ask("PUT", OF_QUEUE, { rules: [{ ...rule, actions }] })).toMatchObject({ status: 200 });
    expect((await ask("GET", OF_QUEUE)).result).toMatchObject({
      rules: [{ actions: ["PutObject", "DeleteObject"] }],
    });
  });

  it.each(["prefix", "suffix"])(
    "have a %s of as many bytes as a key can have, and no control characters",
    async (end) => {
      const put = (text: string) => api()("PUT", OF_QUEUE, { rules: [{ ...rule, [end]: text }] });
      for (const [bytes, status] of [
        [1_023, 200],
        [1_024, 200],
        [1_025, 400],
      ] as const) {
        expect(await put(`é${"x".repeat(bytes - 2)}`)).toMatchObject({ status });
      }
      expect(await put(`é${"x".repeat(R2_KEY_BYTES_MAX - 1)}`)).toMatchObject({
        code: 11014,
        message: `Invalid rules: Must have at most 1024 bytes at "rules.0.${end}".`,
      });
      for (const control of ["\u0000", "\n", "\u001b", "\u007f", "\u0085"]) {
        expect(await put(`a${control}`)).toMatchObject({
          status: 400,
          code: 11014,
          message: `Invalid rules: Must not have control characters at "rules.0.${end}".`,
        });
      }
    },
  );

  it("are refused beyond 100 of a bucket", async () => {
    const { r2 } = directoryOf();
    const addR2Rules: typeof r2.addR2Rules = async () => ({ ok: false, refusal: { kind: "r2RulesTooMany" } });
    expect(await api({ r2: { ...r2, addR2Rules } })("PUT", OF_QUEUE, { rules: [rule] })).toMatchObject({
      status: 400,
      code: 11014,
      message: "A bucket can have at most 100 event notification rules.",
    });
  });

  it("name a bucket and a queue that there can be", async () => {
    const ask = api();
    const bad = await ask("PUT", OF_QUEUE.replace("uploads", "Up_loads"), { rules: [rule] });
    expect(bad).toMatchObject({ status: 400, code: 10005 });
    const none = await ask("PUT", OF_QUEUE.replace(queueId, "f".repeat(32)), { rules: [rule] });
    expect(none).toMatchObject({ status: 404, code: 11000 });
  });
});
