import type { FourPhasePolicy } from "../four-phase.ts";
import { SNS_DEFAULTS } from "../presets.ts";
import { CONTENT_TYPE_DEFAULT } from "./content-type.ts";
import type { SubscriptionDocument, ThrottleMembers, TopicDocument } from "./document.ts";
import { fillRetryPolicy } from "./retry-members.ts";

/** Policy that applies to a subscription, with every part filled in. */
export interface EffectivePolicy {
  readonly healthy: FourPhasePolicy;
  /** `null` for no limit. */
  readonly maxReceivesPerSecond: number | null;
  readonly headerContentType: string;
}

/**
 * Computes the policy of a subscription: part by part its own, else the topic's, else SNS's default. A topic can make
 * its own parts win (spec sns-delivery 2.7).
 */
export function effectivePolicy(
  subscription: SubscriptionDocument | null,
  topic: TopicDocument | null,
): EffectivePolicy {
  const http = topic?.http;
  const own = http?.disableSubscriptionOverrides === true ? null : subscription;
  const throttle = own?.throttlePolicy ?? http?.defaultThrottlePolicy;
  const request = own?.requestPolicy ?? http?.defaultRequestPolicy;
  return {
    healthy: fillRetryPolicy(own?.healthyRetryPolicy ?? http?.defaultHealthyRetryPolicy ?? SNS_DEFAULTS),
    maxReceivesPerSecond: throttle?.maxReceivesPerSecond ?? null,
    headerContentType: request?.headerContentType ?? CONTENT_TYPE_DEFAULT,
  };
}

/** The attribute `EffectiveDeliveryPolicy` of an HTTP or HTTPS subscription, its members in SNS's order. */
export function effectiveSubscriptionDocument(
  subscription: SubscriptionDocument | null,
  topic: TopicDocument | null,
): string {
  const { healthy, maxReceivesPerSecond, headerContentType } = effectivePolicy(subscription, topic);
  const isOverridden = topic?.http.disableSubscriptionOverrides === true;
  const sickly =
    (isOverridden ? null : subscription?.sicklyRetryPolicy) ?? topic?.http.defaultSicklyRetryPolicy;
  return JSON.stringify({
    healthyRetryPolicy: healthy,
    sicklyRetryPolicy: sickly === undefined ? null : fillRetryPolicy(sickly),
    throttlePolicy: throttleDocument(maxReceivesPerSecond),
    requestPolicy: { headerContentType },
    guaranteed: isOverridden ? false : (subscription?.guaranteed ?? false),
  });
}

/** The attribute `EffectiveDeliveryPolicy` of a topic, its members in SNS's order. */
export function effectiveTopicDocument(topic: TopicDocument | null): string {
  const { healthy, maxReceivesPerSecond, headerContentType } = effectivePolicy(null, topic);
  const sickly = topic?.http.defaultSicklyRetryPolicy;
  const throttle = throttleDocument(maxReceivesPerSecond);
  return JSON.stringify({
    http: {
      defaultHealthyRetryPolicy: healthy,
      ...(sickly === undefined ? {} : { defaultSicklyRetryPolicy: fillRetryPolicy(sickly) }),
      disableSubscriptionOverrides: topic?.http.disableSubscriptionOverrides ?? false,
      ...(throttle === null ? {} : { defaultThrottlePolicy: throttle }),
      defaultRequestPolicy: { headerContentType },
    },
  });
}

function throttleDocument(maxReceivesPerSecond: number | null): ThrottleMembers | null {
  return maxReceivesPerSecond === null ? null : { maxReceivesPerSecond };
}
