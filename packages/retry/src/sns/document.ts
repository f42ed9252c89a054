import type { FourPhasePolicy } from "../four-phase.ts";

/** A retry policy as it was written: members that are missing have defaults (`fillRetryPolicy`). */
export type RetryMembers = Partial<FourPhasePolicy>;

/** Most notifications per second; without its member there is no limit. */
export interface ThrottleMembers {
  readonly maxReceivesPerSecond?: number;
}

/** How a notification is sent. */
export interface RequestMembers {
  readonly headerContentType?: string;
}

/**
 * The attribute `DeliveryPolicy` of a subscription in its stored form; `null` is "not set" (spec sns-delivery 2.4,
 * 2.7).
 */
export interface SubscriptionDocument {
  readonly healthyRetryPolicy: RetryMembers | null;
  /** SNS stores it; no use of it is known. */
  readonly sicklyRetryPolicy: RetryMembers | null;
  readonly throttlePolicy: ThrottleMembers | null;
  readonly requestPolicy: RequestMembers | null;
  /** Like `sicklyRetryPolicy`. */
  readonly guaranteed: boolean;
}

/** The attribute `DeliveryPolicy` of a topic in its stored form: the same under other names, absent where not set. */
export interface TopicDocument {
  readonly http: {
    readonly defaultHealthyRetryPolicy?: RetryMembers;
    readonly defaultSicklyRetryPolicy?: RetryMembers;
    /** Whether the policies of its subscriptions count for nothing. */
    readonly disableSubscriptionOverrides: boolean;
    readonly defaultThrottlePolicy?: ThrottleMembers;
    readonly defaultRequestPolicy?: RequestMembers;
  };
}
