import type { DeliveryLogs, DeliveryResult, LogLevel } from "@sluice/protocol";
import { resultOf } from "@sluice/protocol/test/delivery-result";
import { expect, it } from "vitest";
import { ERROR_BEGINNING_MAX } from "../history/journal/event.ts";
import { firstRetryReason, PRINTED_PLACE_MAX, PRINTED_REASON_MAX, retryReasons } from "./retry-reasons.ts";

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

const PLACED = logsOf(
  ["error", "Error: no stock\n    at stock (src/stock.ts:7:9)"],
  ["error", "card declined\n    at sluiceRun (sluice:run.ts:1:2)\n    at pay (src/pay.ts:3:5)"],
);

it("the reason has the place in the user's code beside it, of what was thrown and of what was printed", () => {
  const stack = "Error: no\n    at sluiceRun (sluice:run.ts:1:2)\n    at pay (src/pay.ts:15:36)";
  expect(reasonOf({ outcome: "exception", error: "Error: no", stack }, 1)).toBe(
    "Error: no (src/pay.ts:15:36)",
  );
  const retryMessages = [{ msgId: "a", printed: "Error: no stock" }];
  expect(reasonOf({ retryMessages, logs: PLACED }, 2)).toBe(
    "Error: no stock (printed at src/stock.ts:7:9; its handler asked for the retry)",
  );
  expect(reasonOf({ retryMessages, logs: PLACED }, 2, "b")).toBe(
    "card declined (printed in its batch at src/pay.ts:3:5; its handler asked for the retry)",
  );
});

it.each([-1, 0, 1])("a place of %i more than the limit keeps the reason within what is stored", (more) => {
  const place = `${"p".repeat(PRINTED_PLACE_MAX + more - ".ts:1:2".length)}.ts:1:2`;
  const reason = reasonOf({ logs: logsOf(["error", `${"x".repeat(300)}\n    at pay (${place})`]) }, 2);
  expect(reason.includes(`at ${place};`)).toBe(more <= 0);
  expect(reason.length).toBeLessThanOrEqual(ERROR_BEGINNING_MAX);
  expect(reason).toMatch(/^x{50,}… \(printed in its batch/);
});

it("the first retry that a handler asks for has a reason, and a delivery without one has none", () => {
  expect(firstRetryReason(resultOf({ explicitAcks: ["a"], logs: PRINTED }), 1)).toBeNull();
  expect(firstRetryReason({ rejected: "no" }, 1)).toBeNull();
  const retryMessages = [{ msgId: "b", printed: "Error: no stock" }];
  expect(firstRetryReason(resultOf({ retryMessages }), 2)).toMatch(/^Error: no stock \(printed;/);
  expect(firstRetryReason(resultOf({ retryBatch: { retry: true } }), 2)).toBe("its handler asked for it");
});
