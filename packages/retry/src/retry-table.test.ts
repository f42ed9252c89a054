import { expect, it } from "vitest";
import type { RetryPolicy } from "./policy.ts";
import { SNS_DEFAULTS, SNS_PRESETS } from "./presets.ts";
import { parseRetryTable } from "./retry-table.ts";

/** The issues of a table, one line each; none for a policy. */
function issuesOf(table: unknown): string[] {
  const result = parseRetryTable(table);
  return result.kind === "policy"
    ? []
    : result.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

it("a retry policy in a table is to blame as a whole for delays that add up to too much", () => {
  const table = { policy: "sns", minDelayTarget: 3600, maxDelayTarget: 3600, numRetries: 2 };
  expect(parseRetryTable(table)).toMatchObject({ kind: "invalid", issues: [{ path: [] }] });
});

it.each<[object, RetryPolicy]>([
  [
    { policy: "fixed", delay: 30 },
    { kind: "fixed", delaySeconds: 30, jitter: "none" },
  ],
  [
    { policy: "fixed", delay: 30, jitter: "full" },
    { kind: "fixed", delaySeconds: 30, jitter: "full" },
  ],
  [
    { policy: "exponential", base: 2, max: 3600, jitter: "full" },
    { kind: "exponential", base: 2, maxSeconds: 3600, jitter: "full" },
  ],
  [
    { policy: "exponential", base: 1.5 },
    { kind: "exponential", base: 1.5, maxSeconds: 86_400, jitter: "none" },
  ],
  [
    { policy: "sns", minDelayTarget: 1, maxDelayTarget: 60, numRetries: 10, backoffFunction: "geometric" },
    {
      kind: "sns",
      ...SNS_DEFAULTS,
      minDelayTarget: 1,
      maxDelayTarget: 60,
      numRetries: 10,
      backoffFunction: "geometric",
      jitter: "equal",
    },
  ],
  [
    { policy: "sns", minDelayTarget: 3600, maxDelayTarget: 3600, numRetries: 100, unlimited: true },
    {
      kind: "sns",
      ...SNS_DEFAULTS,
      minDelayTarget: 3600,
      maxDelayTarget: 3600,
      numRetries: 100,
      jitter: "equal",
    },
  ],
  [{ policy: "sns-managed" }, { kind: "sns", ...SNS_PRESETS["sns-managed"], jitter: "equal" }],
  [
    { policy: "sns-http-default", jitter: "none" },
    { kind: "sns", ...SNS_PRESETS["sns-http-default"], jitter: "none" },
  ],
])("a retry policy in a table the table %j is read", (table, policy) => {
  expect(parseRetryTable(table)).toEqual({ kind: "policy", policy });
});

it.each<[unknown, string[]]>([
  ["fixed", [': should be a table but is "fixed"']],
  [[], [": should be a table but is []"]],
  [null, [": should be a table but is null"]],
  [undefined, [": should be a table but is undefined"]],
  [Number.NaN, [": should be a table but is NaN"]],
  [
    {},
    [
      'policy: is required: one of "fixed", "exponential", "sns", "sns-http-default", ' +
        '"sns-http-sample", "sns-managed", "sns-customer"',
    ],
  ],
  [
    { policy: "linear" },
    [
      'policy: should be one of "fixed", "exponential", "sns", "sns-http-default", "sns-http-sample", ' +
        '"sns-managed", "sns-customer" but is "linear"',
    ],
  ],
  [{ policy: "fixed" }, ["delay: is required: a whole number from 0 to 86400"]],
  [{ policy: "fixed", delay: 1, base: 2 }, ['base: is no key of the policy "fixed"']],
  [{ policy: "exponential", base: 2, delay: 1 }, ['delay: is no key of the policy "exponential"']],
  [
    { policy: "sns", minDelayTarget: 1, maxDelayTarget: 1, numRetries: 1, base: 2 },
    ['base: is no key of the policy "sns"'],
  ],
  [{ policy: "sns-managed", numRetries: 2 }, ['numRetries: is no key of the policy "sns-managed"']],
  [
    { policy: "exponential", base: "2", max: 0, jitter: "some" },
    [
      'base: should be a number from 1 to 86400 but is "2"',
      "max: should be a whole number from 1 to 86400 but is 0",
      'jitter: should be one of "none", "equal", "full" but is "some"',
    ],
  ],
  [
    { policy: "sns", minDelayTarget: 1.5, backoffFunction: "x", unlimited: 1 },
    [
      "unlimited: should be true or false but is 1",
      "minDelayTarget: should be a whole number but is 1.5",
      'backoffFunction: should be one of "linear", "arithmetic", "geometric", "exponential" but is "x"',
    ],
  ],
  [{ policy: "sns", maxDelayTarget: 1 }, ["minDelayTarget: must be specified"]],
  [
    { policy: "sns", minDelayTarget: 0, maxDelayTarget: 1, numRetries: 1 },
    ["minDelayTarget: must be greater than or equal to 1"],
  ],
  [
    { policy: "sns", minDelayTarget: 3600, maxDelayTarget: 3600, numRetries: 2 },
    [": must have delays of at most 3600 seconds in all, or unlimited = true"],
  ],
])("a retry policy in a table is refused with every issue: %j", (table, issues) => {
  expect(parseRetryTable(table).kind).toBe("invalid");
  expect(issuesOf(table)).toEqual(issues);
});

it.each([
  ["fixed", "delay", -1, false],
  ["fixed", "delay", 0, true],
  ["fixed", "delay", 1, true],
  ["fixed", "delay", 86_399, true],
  ["fixed", "delay", 86_400, true],
  ["fixed", "delay", 86_401, false],
  ["fixed", "delay", Number.NaN, false],
  ["exponential", "base", 0.999, false],
  ["exponential", "base", 1, true],
  ["exponential", "base", 1.001, true],
  ["exponential", "base", 86_399, true],
  ["exponential", "base", 86_400, true],
  ["exponential", "base", 86_401, false],
  ["exponential", "base", Number.POSITIVE_INFINITY, false],
  ["exponential", "max", 0, false],
  ["exponential", "max", 1, true],
  ["exponential", "max", 2, true],
  ["exponential", "max", 86_399, true],
  ["exponential", "max", 86_400, true],
  ["exponential", "max", 86_401, false],
])("a retry policy in a table %s, %s = %d: allowed is %s", (policy, key, value, isAllowed) => {
  const table = policy === "fixed" ? { policy } : { policy, base: 2 };
  expect(issuesOf({ ...table, [key]: value }).length).toBe(isAllowed ? 0 : 1);
});
