import type { DeliveryLogs, DeliveryResult, LogLevel } from "@sluice/protocol";
import { resultOf } from "@sluice/protocol/test/delivery-result";
import { expect, it } from "vitest";
import { ERROR_BEGINNING_MAX } from "../history/event.ts";
import { firstRetryReason, PRINTED_REASON_MAX, retryReasons } from "./retry-reasons.ts";

function reasonOf(result: Partial<DeliveryResult>, count: number, id = "a"): string {
  return retryReasons(resultOf(result), count)(id);
}

function logsOf(...lines: readonly [LogLevel, string][]): DeliveryLogs {
  return { lines: lines.map(([level, text]) => ({ afterMs: 0, level, text })) };
}

const PRINTED = logsOf(
  ["error", "Error: first"],
  ["error", "TypeError: card declined\n    at pay.ts:3"],
  ["log", "x"],
);

it("the reason of a retry is what the handler threw", () => {
  expect(reasonOf({ outcome: "exception", error: "Error: thrown", logs: PRINTED }, 1)).toBe("Error: thrown");
  expect(reasonOf({ outcome: "exceededCpu" }, 1)).toBe('its handler ended with "exceededCpu"');
});

it("the reason of a retry is what was printed right before it was asked for, also where the handler threw later", () => {
  const retryMessages = [{ msgId: "a", printed: "Error: first" }, { msgId: "b" }];
  const thrown = { outcome: "exception", error: "Error: thrown", retryMessages, logs: PRINTED } as const;
  expect(reasonOf(thrown, 3)).toBe("Error: first (printed; its handler asked for the retry)");
  expect(reasonOf(thrown, 3, "b")).toBe("Error: thrown");
  expect(reasonOf(thrown, 3, "c")).toBe("Error: thrown");
});

it("the reason of a retry that a handler asks for is the error that it printed last", () => {
  expect(reasonOf({}, 1)).toBe("its handler asked for it");
  expect(reasonOf({ logs: logsOf(["warn", "careful"]) }, 1)).toBe("its handler asked for it");
  expect(reasonOf({ logs: PRINTED }, 1)).toBe(
    "TypeError: card declined (printed; its handler asked for the retry)",
  );
});

it("the reason of a retry in a batch is an error of the batch, unless it was printed right before", () => {
  const retryMessages = [{ msgId: "a", printed: "Error: first" }, { msgId: "b" }];
  expect(reasonOf({ retryMessages, logs: PRINTED }, 2)).toBe(
    "Error: first (printed; its handler asked for the retry)",
  );
  expect(reasonOf({ retryMessages, logs: PRINTED }, 2, "b")).toBe(
    "TypeError: card declined (printed in its batch; its handler asked for the retry)",
  );
});

it.each([-1, 0, 1])(
  "the error in a reason has a limit, at %i of it, and the whole reason is stored",
  (more) => {
    const text = "x".repeat(PRINTED_REASON_MAX + more);
    const reason = reasonOf({ logs: logsOf(["error", text]) }, 2);
    expect(reason).toContain(more > 0 ? `${text.slice(0, PRINTED_REASON_MAX - 1)}… (` : `${text} (`);
    expect(reason.length).toBeLessThanOrEqual(ERROR_BEGINNING_MAX);
  },
);

it("the first retry that a handler asks for has a reason, and a delivery without one has none", () => {
  expect(firstRetryReason(resultOf({ explicitAcks: ["a"], logs: PRINTED }), 1)).toBeNull();
  expect(firstRetryReason({ rejected: "no" }, 1)).toBeNull();
  const retryMessages = [{ msgId: "b", printed: "Error: no stock" }];
  expect(firstRetryReason(resultOf({ retryMessages }), 2)).toMatch(/^Error: no stock \(printed;/);
  expect(firstRetryReason(resultOf({ retryBatch: { retry: true } }), 2)).toBe("its handler asked for it");
});
