import { FAULT_KINDS, FAULT_MS_MAX, FAULT_TIMES_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { directoryOf, OPEN } from "../../../test/directory.ts";
import { createGateway } from "../../index.ts";

const FAULTS = "http://localhost:8787/__sluice/api/queues/orders/faults";

function gatewayWith(changes = {}) {
  const gateway = createGateway({ ...directoryOf(), ...changes }, OPEN);
  return async (method: string, body?: unknown, url = FAULTS) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await gateway.request(url, init);
    const answer = (await response.json()) as { readonly error?: { readonly message: string } };
    return { status: response.status, body: answer };
  };
}

describe("the faults of a queue", () => {
  it("the faults of a queue are set, shown and ended; a member that is left out has its default", async () => {
    const call = gatewayWith();
    const none = { status: 200, body: { seed: 1, faults: [] } };
    expect(await call("GET")).toEqual(none);
    const setting = { seed: 1, faults: [{ kind: "loseAck", times: 1, ms: 1_000 }] };
    expect(await call("PUT", { faults: [{ kind: "loseAck" }] })).toEqual({ status: 200, body: setting });
    expect((await call("GET")).body).toEqual(setting);
    expect(await call("DELETE")).toEqual(none);
    expect(await call("GET")).toEqual(none);
  });

  it.each([
    [1, 0, 200],
    [FAULT_TIMES_MAX - 1, FAULT_MS_MAX - 1, 200],
    [FAULT_TIMES_MAX, FAULT_MS_MAX, 200],
    [0, 0, 400],
    [FAULT_TIMES_MAX + 1, 0, 400],
    [1, -1, 400],
    [1, FAULT_MS_MAX + 1, 400],
    [1.5, 0, 400],
  ])("%i times, %i ms: %i", async (times, ms, status) => {
    const all = FAULT_KINDS.map((kind) => ({ kind, times, ms }));
    expect(await gatewayWith()("PUT", { faults: all, seed: 3 })).toMatchObject({ status });
  });

  it.each([
    [{ faults: [{ kind: "explode" }] }, "faults.0.kind"],
    [{ faults: [{ kind: "slow" }, { kind: "slow" }] }, "faults: one of each kind."],
    [{ faults: [], more: 1 }, "It"],
    [{ faults: [], seed: -1 }, "seed"],
    [null, "It"],
  ])("refuses %j and says why", async (body, where) => {
    const answer = await gatewayWith()("PUT", body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: "invalid_body" } } });
    expect(answer.body.error?.message).toContain(`${where}`);
    expect(answer.body.error?.message).toContain(FAULT_KINDS.join(", "));
  });

  it.each(["GET", "PUT", "DELETE"])(
    "%s: only queues that exist have faults, in development",
    async (method) => {
      const body = method === "PUT" ? { faults: [] } : undefined;
      const nothing = FAULTS.replace("orders", "nothing");
      expect(await gatewayWith()(method, body, nothing)).toMatchObject({
        status: 404,
        body: { error: { code: "queue_not_found" } },
      });
      expect(await gatewayWith({ clock: null })(method, body)).toEqual({
        status: 403,
        body: { error: { code: "not_in_production", message: "Faults are made in development only." } },
      });
    },
  );
});
