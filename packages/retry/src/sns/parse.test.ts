import { describe, expect, it } from "vitest";
import { POLICY_BYTES_MAX, parseSubscriptionPolicy, parseTopicPolicy } from "./parse.ts";
import type { RetryLeniency } from "./retry-members.ts";
import { InvalidDeliveryPolicy } from "./shape.ts";

const MINIMAL = { minDelayTarget: 1, maxDelayTarget: 60, numRetries: 5 };

/** Reads a policy of both forms and returns the error of each, or `null`. */
function faultOf(parse: () => unknown): string | null {
  try {
    parse();
    return null;
  } catch (error) {
    if (error instanceof InvalidDeliveryPolicy && error.name === "InvalidDeliveryPolicy")
      return error.message;
    throw error;
  }
}

function subscriptionFault(document: unknown, raw = false, leniency?: RetryLeniency): string | null {
  return faultOf(() => parseSubscriptionPolicy(JSON.stringify(document), raw, leniency));
}

function topicFault(document: unknown, leniency?: RetryLeniency): string | null {
  return faultOf(() => parseTopicPolicy(JSON.stringify(document), leniency));
}

/** The error of a retry policy in both forms, which name it differently and agree otherwise. */
function retryFaultOf(policy: unknown, leniency?: RetryLeniency): string | null {
  const ofSubscription = subscriptionFault({ healthyRetryPolicy: policy }, false, leniency);
  const ofTopic = topicFault({ http: { defaultHealthyRetryPolicy: policy } }, leniency);
  expect(ofTopic).toBe(
    ofSubscription?.replace("healthyRetryPolicy", "http.defaultHealthyRetryPolicy") ?? null,
  );
  return ofSubscription;
}

describe("what is refused, in SNS's words (spec sns-delivery 2.5, A10)", () => {
  it("E1: an unknown member is refused, at any depth", () => {
    expect(topicFault({ throttlePolicy: { maxReceivesPerSecond: 1 } })).toBe(
      "DeliveryPolicy: Unexpected JSON member: throttlePolicy",
    );
    expect(subscriptionFault({ http: {} })).toBe("DeliveryPolicy: Unexpected JSON member: http");
    expect(subscriptionFault({ healthyRetryPolicy: { ...MINIMAL, retries: 1 } })).toBe(
      "DeliveryPolicy: Unexpected JSON member: healthyRetryPolicy.retries",
    );
    const text = '{"__proto__": {"a": 1}}';
    expect(faultOf(() => parseTopicPolicy(text))).toBe("DeliveryPolicy: Unexpected JSON member: __proto__");
  });

  it.each([
    [0, "DeliveryPolicy: healthyRetryPolicy.minDelayTarget must be greater than or equal to 1"],
    [1, null],
    [2, null],
  ])("E2: a minDelayTarget under 1: %d", (minDelayTarget, fault) => {
    expect(retryFaultOf({ ...MINIMAL, minDelayTarget })).toBe(fault);
  });

  it.each([
    [-1, "DeliveryPolicy: healthyRetryPolicy.numRetries must be greater than or equal to 0"],
    [0, null],
    [1, null],
    [99, null],
    [100, null],
    [101, "DeliveryPolicy: healthyRetryPolicy.numRetries must be less than or equal to 100"],
  ])("E3: numRetries outside 0 to 100: %d", (numRetries, fault) => {
    expect(retryFaultOf({ minDelayTarget: 1, maxDelayTarget: 1, numRetries })).toBe(fault);
  });

  it.each(["minDelayTarget", "maxDelayTarget", "numRetries"])("E4: a policy without %s", (member) => {
    const without = { ...MINIMAL, [member]: undefined };
    expect(retryFaultOf(without)).toBe(`DeliveryPolicy: healthyRetryPolicy.${member} must be specified`);
  });

  it.each([
    [
      { healthyRetryPolicy: { ...MINIMAL, minDelayTarget: "1" } },
      "healthyRetryPolicy.minDelayTarget type mismatch, expecting integer, received a string",
    ],
    [
      { healthyRetryPolicy: { ...MINIMAL, numRetries: 1.5 } },
      "healthyRetryPolicy.numRetries type mismatch, expecting integer, received a number",
    ],
    [
      { healthyRetryPolicy: { ...MINIMAL, numRetries: null } },
      "healthyRetryPolicy.numRetries type mismatch, expecting integer, received null",
    ],
    [
      { healthyRetryPolicy: { ...MINIMAL, backoffFunction: 1 } },
      "healthyRetryPolicy.backoffFunction type mismatch, expecting string, received a number",
    ],
    [{ healthyRetryPolicy: [] }, "healthyRetryPolicy type mismatch, expecting object, received an array"],
    [{ throttlePolicy: 10 }, "throttlePolicy type mismatch, expecting object, received a number"],
    [{ guaranteed: {} }, "guaranteed type mismatch, expecting boolean, received an object"],
    [[], "type mismatch, expecting object, received an array"],
    [null, "type mismatch, expecting object, received null"],
    [true, "type mismatch, expecting object, received a boolean"],
  ])("E5: a value of another type: %j", (document, fault) => {
    expect(subscriptionFault(document)).toBe(`DeliveryPolicy: ${fault}`);
  });

  it.each([
    [4, null],
    [5, null],
    [
      6,
      "DeliveryPolicy: healthyRetryPolicy.numRetries must be greater than or equal to total of " +
        "numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries",
    ],
  ])("E6: more retries in the phases than there are: %d of 5", (total, fault) => {
    const phases = { numNoDelayRetries: 1, numMinDelayRetries: 2, numMaxDelayRetries: total - 3 };
    expect(retryFaultOf({ ...MINIMAL, ...phases })).toBe(fault);
  });

  it.each(["numNoDelayRetries", "numMinDelayRetries", "numMaxDelayRetries"])(
    "a negative %s is refused",
    (member) => {
      expect(retryFaultOf({ ...MINIMAL, [member]: -1 })).toBe(
        `DeliveryPolicy: healthyRetryPolicy.${member} must be greater than or equal to 0`,
      );
      expect(retryFaultOf({ ...MINIMAL, [member]: 0 })).toBe(null);
    },
  );

  it.each([
    [9, "DeliveryPolicy: healthyRetryPolicy.maxDelayTarget must be greater than or equal to minDelayTarget"],
    [10, null],
    [11, null],
  ])("E7: a maxDelayTarget under a minDelayTarget of 10: %d", (maxDelayTarget, fault) => {
    expect(retryFaultOf({ ...MINIMAL, minDelayTarget: 10, maxDelayTarget })).toBe(fault);
  });

  it.each([
    [3599, null],
    [3600, null],
    [3601, "DeliveryPolicy: healthyRetryPolicy.maxDelayTarget must be less than or equal to 3600"],
  ])("E8: a maxDelayTarget over an hour is refused: %d", (maxDelayTarget, fault) => {
    expect(retryFaultOf({ minDelayTarget: 1, maxDelayTarget, numRetries: 1 })).toBe(fault);
  });

  it("E10: what is no JSON, with what the parser says", () => {
    expect(faultOf(() => parseSubscriptionPolicy("{", false))).toMatch(
      /^DeliveryPolicy: failed to parse JSON\. .*JSON/,
    );
  });

  it("E11: an unknown backoff function", () => {
    expect(retryFaultOf({ ...MINIMAL, backoffFunction: "Linear" })).toBe(
      "DeliveryPolicy: healthyRetryPolicy.backoffFunction: Invalid value [Linear]. Must be linear, " +
        "arithmetic, geometric or exponential.",
    );
  });

  it.each([
    [0, " must be greater than or equal to 1"],
    [1, null],
    [2, null],
  ])("E12: a throttle under 1: %d", (maxReceivesPerSecond, text) => {
    const throttle = { maxReceivesPerSecond };
    const [own, topics] = ["throttlePolicy", "http.defaultThrottlePolicy"].map((path) =>
      text === null ? null : `DeliveryPolicy: ${path}.maxReceivesPerSecond${text}`,
    );
    expect(subscriptionFault({ throttlePolicy: throttle })).toBe(own);
    expect(topicFault({ http: { defaultThrottlePolicy: throttle } })).toBe(topics);
  });

  it("a policy that is too long is refused", () => {
    const ofLength = (bytes: number) => `{}${" ".repeat(bytes - 2)}`;
    expect(faultOf(() => parseTopicPolicy(ofLength(POLICY_BYTES_MAX - 1)))).toBe(null);
    expect(faultOf(() => parseTopicPolicy(ofLength(POLICY_BYTES_MAX)))).toBe(null);
    expect(faultOf(() => parseTopicPolicy(ofLength(POLICY_BYTES_MAX + 1)))).toBe(
      "DeliveryPolicy: must be at most 30720 bytes long but has 30721",
    );
  });

  it("the refusal is the first fault in order: members, types, required ones, ranges, order, counts, time", () => {
    const faults: [object, RegExp][] = [
      [{ other: 1, minDelayTarget: "1" }, /Unexpected JSON member/],
      [{ minDelayTarget: "1" }, /type mismatch/],
      [{ minDelayTarget: 0 }, /maxDelayTarget must be specified/],
      [{ minDelayTarget: 9, maxDelayTarget: 1, numRetries: 101 }, /numRetries must be less/],
      [
        { minDelayTarget: 9, maxDelayTarget: 1, numRetries: 1, numMinDelayRetries: 2 },
        /maxDelayTarget must be greater/,
      ],
      [
        { minDelayTarget: 3600, maxDelayTarget: 3600, numRetries: 1, numMinDelayRetries: 2 },
        /greater than or equal to total/,
      ],
      [{ minDelayTarget: 3600, maxDelayTarget: 3600, numRetries: 2 }, /total retry time/],
    ];
    for (const [policy, fault] of faults) expect(retryFaultOf(policy)).toMatch(fault);
    expect(
      subscriptionFault({
        healthyRetryPolicy: { minDelayTarget: 3600, maxDelayTarget: 3600, numRetries: 2 },
        requestPolicy: { headerContentType: "image/png" },
      }),
    ).toMatch(/total retry time/);
  });

  it("the second retry policy is checked as well as the first", () => {
    expect(subscriptionFault({ sicklyRetryPolicy: { ...MINIMAL, minDelayTarget: 0 } })).toBe(
      "DeliveryPolicy: sicklyRetryPolicy.minDelayTarget must be greater than or equal to 1",
    );
    expect(topicFault({ http: { defaultSicklyRetryPolicy: { ...MINIMAL, minDelayTarget: 0 } } })).toBe(
      "DeliveryPolicy: http.defaultSicklyRetryPolicy.minDelayTarget must be greater than or equal to 1",
    );
  });
});

describe("the total retry time (spec sns-delivery 2.3, A11)", () => {
  const retry = (min: number, max: number, numRetries: number, more: object = {}) => ({
    minDelayTarget: min,
    maxDelayTarget: max,
    numRetries,
    ...more,
  });
  const tooLong =
    "DeliveryPolicy: healthyRetryPolicy: total retry time must be less than or equal to 3600 seconds";

  it.each([
    [
      "the sample",
      retry(1, 60, 50, {
        numNoDelayRetries: 3,
        numMinDelayRetries: 2,
        numMaxDelayRetries: 35,
        backoffFunction: "exponential",
      }),
      null,
    ],
    ["60 retries at 60 s", retry(1, 60, 60, { numMaxDelayRetries: 60 }), null],
    ["100 retries at 36 s", retry(36, 36, 100), null],
    ["100 retries at 37 s", retry(37, 37, 100), tooLong],
    ["one retry that waits its minimum", retry(1, 3600, 1), null],
    [
      "a policy in use",
      retry(5, 30, 100, {
        numNoDelayRetries: 5,
        numMinDelayRetries: 5,
        numMaxDelayRetries: 25,
        backoffFunction: "exponential",
      }),
      null,
    ],
    ["3599 s", retry(1, 3599, 1, { numMaxDelayRetries: 1 }), null],
    ["3600 s", retry(1, 3599, 2, { numMinDelayRetries: 1, numMaxDelayRetries: 1 }), null],
    ["3601 s", retry(1, 3600, 2, { numMinDelayRetries: 1, numMaxDelayRetries: 1 }), tooLong],
  ])("the total retry time of %s is an hour at most, or refused", (_name, policy, fault) => {
    expect(retryFaultOf(policy)).toBe(fault);
  });

  it("has no limit where the caller says so", () => {
    expect(retryFaultOf(retry(3600, 3600, 100), { totalSecondsMax: 360_000 })).toBe(null);
    expect(retryFaultOf(retry(3600, 3600, 100), { totalSecondsMax: 359_999 })).not.toBe(null);
    // An hour is always allowed: AWS allows it.
    expect(retryFaultOf(retry(3600, 3600, 1), { totalSecondsMax: 60 })).toBe(null);
  });
});

describe("headerContentType (spec sns-delivery 2.6)", () => {
  const request = (headerContentType: string) => ({ requestPolicy: { headerContentType } });

  it.each([
    ["text/plain", false, true],
    ["application/json", false, true],
    ["text/csv", false, false],
    ["text/csv", true, true],
    ["application/soap+xml", true, true],
    ["image/png", true, false],
    ["text/plain; charset=UTF-8", false, true],
  ])("%s with raw delivery %s: allowed is %s", (type, raw, isAllowed) => {
    const fault = subscriptionFault(request(type), raw);
    if (isAllowed) expect(fault).toBe(null);
    else
      expect(fault).toMatch(
        `DeliveryPolicy: requestPolicy.headerContentType: Invalid value [${type}]. Must be one of ` +
          "text/plain; charset=UTF-8, ",
      );
  });

  it("headerContentType of a topic is that of enveloped messages", () => {
    expect(topicFault({ http: { defaultRequestPolicy: { headerContentType: "application/json" } } })).toBe(
      null,
    );
    expect(topicFault({ http: { defaultRequestPolicy: { headerContentType: "text/csv" } } })).toMatch(
      /^DeliveryPolicy: http\.defaultRequestPolicy\.headerContentType: Invalid value \[text\/csv\]/,
    );
  });
});

describe("the stored form (spec sns-delivery 2.7)", () => {
  it("the stored form of a subscription has every part, null where it is not set", () => {
    const policy = parseSubscriptionPolicy(JSON.stringify({ healthyRetryPolicy: MINIMAL }), false);
    expect(JSON.stringify(policy)).toBe(
      '{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":60,"numRetries":5},' +
        '"sicklyRetryPolicy":null,"throttlePolicy":null,"requestPolicy":null,"guaranteed":false}',
    );
  });

  it("the stored form of a topic has what is set, and whether it overrides", () => {
    const http = { defaultHealthyRetryPolicy: MINIMAL, defaultThrottlePolicy: null };
    expect(JSON.stringify(parseTopicPolicy(JSON.stringify({ http })))).toBe(
      '{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":60,"numRetries":5},' +
        '"disableSubscriptionOverrides":false}}',
    );
    expect(parseTopicPolicy("{}")).toEqual({ http: { disableSubscriptionOverrides: false } });
    expect(parseTopicPolicy('{"http":null}')).toEqual({ http: { disableSubscriptionOverrides: false } });
  });

  it("keeps every part of a full document", () => {
    const full = {
      healthyRetryPolicy: MINIMAL,
      sicklyRetryPolicy: { ...MINIMAL, numRetries: 6 },
      throttlePolicy: { maxReceivesPerSecond: 10 },
      requestPolicy: { headerContentType: "application/json" },
      guaranteed: true,
    };
    expect(parseSubscriptionPolicy(JSON.stringify(full), false)).toEqual(full);
    const http = {
      defaultHealthyRetryPolicy: MINIMAL,
      defaultSicklyRetryPolicy: { ...MINIMAL, numRetries: 6 },
      disableSubscriptionOverrides: true,
      defaultThrottlePolicy: { maxReceivesPerSecond: 10 },
      defaultRequestPolicy: { headerContentType: "application/json" },
    };
    expect(parseTopicPolicy(JSON.stringify({ http }))).toEqual({ http });
  });

  it("is gone when the policy is set to the empty string (A9)", () => {
    expect([parseSubscriptionPolicy("", false), parseTopicPolicy("")]).toEqual([null, null]);
  });
});
