import { describe, expect, it } from "vitest";
import { SNS_DEFAULTS } from "../presets.ts";
import { CONTENT_TYPE_DEFAULT, contentTypeToSend } from "./content-type.ts";
import type { SubscriptionDocument } from "./document.ts";
import { effectivePolicy, effectiveSubscriptionDocument, effectiveTopicDocument } from "./effective.ts";
import { parseSubscriptionPolicy, parseTopicPolicy } from "./parse.ts";

const DEFAULTS = {
  healthy: SNS_DEFAULTS,
  maxReceivesPerSecond: null,
  headerContentType: CONTENT_TYPE_DEFAULT,
};
const RETRY = { minDelayTarget: 1, maxDelayTarget: 60, numRetries: 5 };
const FILLED = { ...SNS_DEFAULTS, ...RETRY };

function subscription(document: object): SubscriptionDocument | null {
  return parseSubscriptionPolicy(JSON.stringify(document), false);
}

function topic(http: object) {
  return parseTopicPolicy(JSON.stringify({ http }));
}

const TOPIC_PARTS = {
  defaultHealthyRetryPolicy: RETRY,
  defaultThrottlePolicy: { maxReceivesPerSecond: 7 },
  defaultRequestPolicy: { headerContentType: "text/plain" },
};

describe("which policy counts (spec sns-delivery 2.7)", () => {
  it("is SNS's default where neither has one", () => {
    expect(effectivePolicy(null, null)).toEqual(DEFAULTS);
    expect(effectivePolicy(null, topic({}))).toEqual(DEFAULTS);
  });

  it("is decided part by part: retries from the topic, content type from the subscription (A7)", () => {
    const own = subscription({ requestPolicy: { headerContentType: "application/json" } });
    expect(effectivePolicy(own, topic({ defaultHealthyRetryPolicy: RETRY }))).toEqual({
      healthy: FILLED,
      maxReceivesPerSecond: null,
      headerContentType: "application/json",
    });
  });

  it("is the subscription's over the topic's, its gaps filled from the defaults", () => {
    const own = subscription({
      healthyRetryPolicy: { minDelayTarget: 2, maxDelayTarget: 3, numRetries: 4 },
      throttlePolicy: { maxReceivesPerSecond: 8 },
    });
    const topics = topic({ ...TOPIC_PARTS, defaultHealthyRetryPolicy: { ...RETRY, numNoDelayRetries: 1 } });
    expect(effectivePolicy(own, topics)).toEqual({
      healthy: { ...SNS_DEFAULTS, minDelayTarget: 2, maxDelayTarget: 3, numRetries: 4 },
      maxReceivesPerSecond: 8,
      headerContentType: "text/plain",
    });
  });

  it("is the topic's in all parts when it disables overrides (A8)", () => {
    const own = subscription({
      healthyRetryPolicy: { minDelayTarget: 2, maxDelayTarget: 3, numRetries: 4 },
      throttlePolicy: { maxReceivesPerSecond: 8 },
      requestPolicy: { headerContentType: "application/json" },
    });
    expect(effectivePolicy(own, topic({ ...TOPIC_PARTS, disableSubscriptionOverrides: true }))).toEqual({
      healthy: FILLED,
      maxReceivesPerSecond: 7,
      headerContentType: "text/plain",
    });
    expect(effectivePolicy(own, topic({ disableSubscriptionOverrides: true }))).toEqual(DEFAULTS);
  });

  it("falls back to the default content type when raw delivery was switched off", () => {
    expect(contentTypeToSend("text/csv", true)).toBe("text/csv");
    expect(contentTypeToSend("text/csv", false)).toBe("text/plain; charset=UTF-8");
  });
});

describe("EffectiveDeliveryPolicy (spec sns-delivery 2.7)", () => {
  const retry = {
    minDelayTarget: 20,
    maxDelayTarget: 20,
    numRetries: 3,
    numMaxDelayRetries: 0,
    numNoDelayRetries: 0,
    numMinDelayRetries: 0,
    backoffFunction: "linear",
  };
  const request = { headerContentType: "text/plain; charset=UTF-8" };

  it("EffectiveDeliveryPolicy of a subscription names every part", () => {
    expect(effectiveSubscriptionDocument(null, null)).toBe(
      JSON.stringify({
        healthyRetryPolicy: retry,
        sicklyRetryPolicy: null,
        throttlePolicy: null,
        requestPolicy: request,
        guaranteed: false,
      }),
    );
  });

  it("EffectiveDeliveryPolicy of a topic has no throttle when none is set", () => {
    expect(effectiveTopicDocument(null)).toBe(
      JSON.stringify({
        http: {
          defaultHealthyRetryPolicy: retry,
          disableSubscriptionOverrides: false,
          defaultRequestPolicy: request,
        },
      }),
    );
  });

  it("shows the throttle and the second retry policy where they are set", () => {
    const own = subscription({
      sicklyRetryPolicy: RETRY,
      throttlePolicy: { maxReceivesPerSecond: 8 },
      guaranteed: true,
    });
    const topics = topic({ ...TOPIC_PARTS, defaultSicklyRetryPolicy: RETRY });
    expect(JSON.parse(effectiveSubscriptionDocument(own, null))).toMatchObject({
      sicklyRetryPolicy: FILLED,
      throttlePolicy: { maxReceivesPerSecond: 8 },
      guaranteed: true,
    });
    expect(JSON.parse(effectiveTopicDocument(topics)).http).toEqual({
      defaultHealthyRetryPolicy: FILLED,
      defaultSicklyRetryPolicy: FILLED,
      disableSubscriptionOverrides: false,
      defaultThrottlePolicy: { maxReceivesPerSecond: 7 },
      defaultRequestPolicy: { headerContentType: "text/plain" },
    });
  });

  it("EffectiveDeliveryPolicy of a subscription that is overridden shows nothing of its own", () => {
    const own = subscription({ sicklyRetryPolicy: RETRY, guaranteed: true });
    expect(
      JSON.parse(effectiveSubscriptionDocument(own, topic({ disableSubscriptionOverrides: true }))),
    ).toMatchObject({ sicklyRetryPolicy: null, guaranteed: false });
  });
});
