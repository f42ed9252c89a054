import type { RetryPolicySettings } from "@sluice/protocol";
import { expect, it } from "vitest";
import { consumer, definition } from "../../test/messages.ts";
import { rulesOf } from "./rules.ts";

it("rulesOf has production's defaults for a queue that no configuration names (spec 0, 3.1)", () => {
  expect(rulesOf(undefined)).toEqual({
    maxBatchSize: 10,
    batchTimeoutMs: 5_000,
    maxRetries: 3,
    maxConcurrency: null,
    retryDelayMs: 0,
    retentionMs: 345_600_000,
    pushLeaseMs: 910_000,
  });
});

it("rulesOf turns a configuration's seconds into ms", () => {
  const settings = {
    maxBatchSize: 30,
    maxBatchTimeoutSeconds: 10,
    maxRetries: 5,
    maxConcurrency: 4,
    retryDelaySeconds: 300,
  };
  expect(rulesOf(definition({ messageRetentionSeconds: 60, consumer: consumer(settings) }))).toEqual({
    maxBatchSize: 30,
    batchTimeoutMs: 10_000,
    maxRetries: 5,
    maxConcurrency: 4,
    retryDelayMs: 300_000,
    retentionMs: 60_000,
    pushLeaseMs: 910_000,
  });
});

it("rulesOf lets a policy that says how many retries there are have its way", () => {
  const phases = { numRetries: 50, numMaxDelayRetries: 0, numNoDelayRetries: 0, numMinDelayRetries: 0 };
  const sns = {
    kind: "sns",
    minDelayTarget: 1,
    maxDelayTarget: 60,
    ...phases,
    backoffFunction: "linear",
    jitter: "none",
  } as const;
  const fixed = { kind: "fixed", delaySeconds: 1, jitter: "none" } as const;
  const rulesWith = (retryPolicy: RetryPolicySettings) =>
    rulesOf(definition({ consumer: consumer({ maxRetries: 5, retryPolicy }) }));
  expect(rulesWith(sns).maxRetries).toBe(50);
  expect(rulesWith({ ...sns, numRetries: 0 }).maxRetries).toBe(0);
  expect(rulesWith(fixed).maxRetries).toBe(5);
});

it("rulesOf keeps zeros, which are no defaults", () => {
  const settings = { maxBatchTimeoutSeconds: 0, maxRetries: 0, retryDelaySeconds: 0 };
  expect(rulesOf(definition({ consumer: consumer(settings) }))).toMatchObject({
    batchTimeoutMs: 0,
    maxRetries: 0,
    retryDelayMs: 0,
  });
});

it("rulesOf has whole milliseconds, whatever fraction of a second is asked for", () => {
  expect(rulesOf(definition({ consumer: consumer({ maxBatchTimeoutSeconds: 0.0015 }) })).batchTimeoutMs).toBe(
    2,
  );
});
