import { type LookRequest, MOVED_NAMES_MAX, PULL_MESSAGES_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { directoryOf, lookedAt, OPEN, queueWith } from "../../../test/directory.ts";
import { createGateway } from "../../index.ts";
import { LOOKS_PER_REQUEST_MAX } from "./bulk-routes.ts";

/** A queue whose messages all fit, each with its number as its ref. Those that are deleted are gone. */
function queueOf(count: number) {
  const looks: LookRequest[] = [];
  const acted: string[] = [];
  /** Messages that are gone by the time that something is done to them. */
  const gone = new Set<string>();
  const deleted = new Set<number>();
  const queue = queueWith({
    look: async (_queue, request) => {
      looks.push(request);
      const [, from = 0, before = 0] = request.cursor?.split("-").map(Number) ?? [];
      const to = Math.min(from + request.max, count);
      const numbers = Array.from({ length: to - from }, (_, i) => from + i);
      const messages = numbers.filter((i) => !deleted.has(i)).map((i) => lookedAt({ ref: `${i}` }));
      const matched = request.countsAll === true ? count - from : messages.length;
      const of = count - deleted.size;
      const searched = before + messages.length;
      const cursor = to < count && request.countsAll !== true ? `1-${to}-${searched}` : null;
      return { messages, matched, cursor, searched: Math.min(searched, of), of };
    },
    makeDue: async (_queue, refs) => {
      acted.push(...refs);
      return refs.map((ref) => (gone.has(ref) ? "gone" : "due"));
    },
    deleteByRefs: async (_queue, refs) => {
      acted.push(...refs);
      const there = refs.filter((ref) => !gone.has(ref));
      for (const ref of there) deleted.add(Number(ref));
      return { deleted: there.length, warnings: [] };
    },
  });
  const ask = async (what: string, body: unknown) => {
    const gateway = createGateway({ ...directoryOf(), queue: () => queue }, OPEN);
    const path = `http://localhost:8787/__sluice/api/queues/orders/messages/${what}`;
    const response = await gateway.request(path, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };
  return { ask, looks, acted, gone };
}

const error = { field: "error", text: "stock" };
const delayed = { field: "state", state: "delayed" };

describe.each([
  ["retry", "due", [error, delayed]],
  ["delete", "deleted", [error]],
])("POST /queues/NAME/messages/%s", (what, counted, filter) => {
  it("acts on the messages that fit, in as many looks as that takes", async () => {
    const { ask, looks, acted, gone } = queueOf(PULL_MESSAGES_MAX + 1);
    gone.add("7");
    expect(await ask(what, { filter: "error:stock" })).toEqual({
      status: 200,
      body: {
        [counted]: PULL_MESSAGES_MAX,
        cursor: null,
        searched: PULL_MESSAGES_MAX + 1,
        of: PULL_MESSAGES_MAX + 1,
      },
    });
    expect(acted).toHaveLength(PULL_MESSAGES_MAX + 1);
    expect(looks).toMatchObject([{ filter }, { filter, cursor: `1-${PULL_MESSAGES_MAX}-0` }]);
  });

  it("acts on those that are named", async () => {
    const { ask, looks } = queueOf(2);
    expect(await ask(what, { ids: ["a", "b"] })).toMatchObject({ status: 200, body: { [counted]: 2 } });
    expect(looks).toMatchObject([{ only: ["a", "b"], filter: filter.slice(1) }]);
  });

  it.each([-1, 0, 1])(
    "goes on in another request behind its last look, of %i more or fewer",
    async (more) => {
      const most = LOOKS_PER_REQUEST_MAX * PULL_MESSAGES_MAX;
      const { ask, acted } = queueOf(most + more);
      const first = await ask(what, { filter: "" });
      const { cursor } = first.body as { cursor: string | null };
      const taken = Math.min(most, most + more);
      expect(first.body).toMatchObject({
        [counted]: taken,
        cursor: more > 0 ? expect.stringMatching(`^1-${most}-`) : null,
        searched: taken,
        of: most + more,
      });
      if (more <= 0) return;
      const rest = await ask(what, { filter: "", cursor });
      const left = what === "delete" ? more : most + more;
      expect(rest.body).toMatchObject({ [counted]: more, cursor: null, searched: more, of: left });
      expect(new Set(acted).size).toBe(most + more);
    },
  );

  it.each([PULL_MESSAGES_MAX - 1, PULL_MESSAGES_MAX, PULL_MESSAGES_MAX + 1])(
    "takes %i, if that is the limit",
    async (limit) => {
      const { ask, acted } = queueOf(3 * PULL_MESSAGES_MAX);
      expect((await ask(what, { filter: "", limit })).body).toEqual({
        [counted]: limit,
        cursor: null,
        searched: limit,
        of: 3 * PULL_MESSAGES_MAX,
      });
      expect(acted).toHaveLength(limit);
    },
  );

  it("keeps to its limit when the same request goes on with the cursor", async () => {
    const most = LOOKS_PER_REQUEST_MAX * PULL_MESSAGES_MAX;
    const { ask, acted } = queueOf(2 * most);
    const request = { filter: "", limit: most + 1 };
    const { body } = await ask(what, request);
    expect(body).toMatchObject({ [counted]: most, cursor: expect.any(String) });
    const { cursor } = body as { cursor: string };
    expect((await ask(what, { ...request, cursor })).body).toMatchObject({ [counted]: 1, cursor: null });
    expect(acted).toHaveLength(most + 1);
  });

  it("takes what a client has lowered its limit to itself", async () => {
    const most = LOOKS_PER_REQUEST_MAX * PULL_MESSAGES_MAX;
    const { ask, acted } = queueOf(2 * most);
    const { body } = await ask(what, { filter: "", limit: most + 5 });
    const { cursor } = body as { cursor: string };
    await ask(what, { filter: "", limit: 3, cursor });
    expect(acted).toHaveLength(most + 3);
  });

  it("says in a dry run how many it would act on, and does nothing", async () => {
    const { ask, looks, acted } = queueOf(30);
    expect((await ask(what, { filter: "error:stock", dryRun: true })).body).toMatchObject({
      dryRun: true,
      count: 30,
      cursor: null,
      messages: Array.from({ length: 20 }, (_, i) => ({ ref: `${i}` })),
    });
    expect(looks).toMatchObject([{ filter, countsAll: true }]);
    expect(acted).toEqual([]);
  });

  it.each([
    [{}, "invalid_body"],
    [{ limit: 3 }, "invalid_body"],
    [{ filter: "", limit: 0 }, "invalid_body"],
    [{ filter: "", to: "dead" }, "invalid_body"],
    [{ ids: Array(MOVED_NAMES_MAX + 1).fill("a") }, "invalid_body"],
    [{ filter: "eror:stock" }, "invalid_filter"],
    [{ filter: "lamp state:finished" }, "finished"],
    [{ filter: "", cursor: "x" }, "invalid_cursor"],
    [{ filter: "", cursor: "0.1-2-3" }, "invalid_cursor"],
    [{ filter: "", cursor: "5." }, "invalid_cursor"],
  ])("refuses %j as %s", async (body, code) => {
    const { ask, looks, acted } = queueOf(1);
    expect(await ask(what, body)).toMatchObject({ status: 400, body: { error: { code } } });
    expect([looks, acted]).toEqual([[], []]);
  });

  it.each([MOVED_NAMES_MAX - 1, MOVED_NAMES_MAX])("takes %i names", async (names) => {
    const { status } = await queueOf(1).ask(what, { ids: Array(names).fill("a") });
    expect(status).toBe(200);
  });
});
