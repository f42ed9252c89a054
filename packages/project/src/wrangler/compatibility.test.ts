import { describe, expect, it } from "vitest";
import { flagsWithRpc, queueCompatibility } from "./compatibility.ts";

function compatibility(date: string | undefined, ...flags: string[]) {
  return queueCompatibility({ compatibility_date: date, compatibility_flags: flags });
}

describe("queues_json_messages", () => {
  it.each([
    ["2024-03-17", "v8"],
    ["2024-03-18", "json"],
    ["2024-03-19", "json"],
    [undefined, "json"],
  ])("with compatibility date %s a message that names no content type is %s", (date, contentType) => {
    expect(compatibility(date).defaultContentType).toBe(contentType);
  });

  it("is on by its flag before the date and off by its opt-out after it", () => {
    expect(compatibility("2023-01-01", "queues_json_messages").defaultContentType).toBe("json");
    expect(compatibility("2026-01-01", "no_queues_json_messages").defaultContentType).toBe("v8");
  });
});

describe("queue_expose_error_codes", () => {
  it.each([
    ["2026-03-11", false],
    ["2026-03-12", true],
    ["2026-03-13", true],
  ])("with compatibility date %s a failure shows its code: %s", (date, exposed) => {
    expect(compatibility(date).exposeErrorCodes).toBe(exposed);
  });

  it("is on by its flag before the date and off by its opt-out after it", () => {
    expect(compatibility("2023-01-01", "queue_expose_error_codes").exposeErrorCodes).toBe(true);
    expect(compatibility("2026-11-01", "no_queue_expose_error_codes").exposeErrorCodes).toBe(false);
  });
});

describe("queue_consumer_no_wait_for_wait_until", () => {
  it("is never on by a date", () => {
    expect(compatibility("2026-11-01").waitForWaitUntil).toBe(true);
    expect(compatibility(undefined).waitForWaitUntil).toBe(true);
  });

  it("is on by its flag", () => {
    expect(compatibility("2024-01-01", "queue_consumer_no_wait_for_wait_until").waitForWaitUntil).toBe(false);
  });
});

describe("handle_cross_request_promise_resolution", () => {
  it.each([
    ["2024-10-13", false],
    ["2024-10-14", true],
    ["2024-10-15", true],
    [undefined, true],
  ])("with compatibility date %s a request resolves what another one waits for: %s", (date, resolves) => {
    expect(compatibility(date).resolvesAcrossRequests).toBe(resolves);
  });

  it("is on by its flag before the date and off by its opt-out after it", () => {
    const flag = "handle_cross_request_promise_resolution";
    expect(compatibility("2023-01-01", flag).resolvesAcrossRequests).toBe(true);
    expect(compatibility("2026-11-01", `no_${flag}`).resolvesAcrossRequests).toBe(false);
  });
});

it.each([
  [[], false],
  [["nodejs_als"], true],
  [["nodejs_compat"], true],
  [["nodejs_compat_v2"], true],
  [["no_nodejs_compat"], false],
])("with the flags %j a Worker has AsyncLocalStorage: %s", (flags, has) => {
  expect(compatibility("2026-11-01", ...flags).hasAsyncLocalStorage).toBe(has);
});

describe("rpc", () => {
  const flagsOf = (date: string | undefined, ...flags: string[]) =>
    flagsWithRpc({ compatibility_date: date, compatibility_flags: flags });

  it.each([
    ["2024-04-02", ["nodejs_compat", "rpc"]],
    ["2024-04-03", ["nodejs_compat"]],
    ["2024-04-04", ["nodejs_compat"]],
    [undefined, ["nodejs_compat"]],
  ])("with compatibility date %s the flags are %j", (date, flags) => {
    expect(flagsOf(date, "nodejs_compat")).toEqual(flags);
  });

  it("is needed whatever the Worker says", () => {
    expect(flagsOf("2026-11-01", "no_rpc")).toEqual(["rpc"]);
    expect(flagsOf("2023-01-01", "rpc")).toEqual(["rpc"]);
  });
});
