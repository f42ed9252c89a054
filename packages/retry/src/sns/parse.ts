import { utf8Length } from "../utf8.ts";
import { contentTypesAllowed } from "./content-type.ts";
import type {
  RequestMembers,
  RetryMembers,
  SubscriptionDocument,
  ThrottleMembers,
  TopicDocument,
} from "./document.ts";
import { type RetryLeniency, retryFault } from "./retry-members.ts";
import {
  checkMembers,
  checkTypes,
  InvalidDeliveryPolicy,
  isObject,
  type Shape,
  SUBSCRIPTION_SHAPE,
  TOPIC_SHAPE,
} from "./shape.ts";

/** Longest policy, in bytes. SNS's own limit is not known. */
export const POLICY_BYTES_MAX = 30_720;

/** Names of the parts of a document, in the order in which they are checked. */
interface PartNames {
  readonly retries: readonly string[];
  readonly throttle: string;
  readonly request: string;
}

/** The parts of a document that has passed its checks, by name. */
type Parts = Readonly<Record<string, unknown>>;

/**
 * Reads the attribute `DeliveryPolicy` of a subscription.
 *
 * @param text JSON. It replaces the whole policy; the empty string removes it.
 * @param rawMessageDelivery of the subscription, as it will be: more content types are allowed with it.
 * @returns the policy in its stored form, `null` for the empty string.
 * @throws InvalidDeliveryPolicy for the first fault, in the order of spec sns-delivery 2.5.
 */
export function parseSubscriptionPolicy(
  text: string,
  rawMessageDelivery: boolean,
  leniency: RetryLeniency = {},
): SubscriptionDocument | null {
  if (text === "") return null;
  const parts = parseDocument(text, SUBSCRIPTION_SHAPE);
  const names = {
    retries: ["healthyRetryPolicy", "sicklyRetryPolicy"],
    throttle: "throttlePolicy",
    request: "requestPolicy",
  };
  checkParts(parts, "", names, rawMessageDelivery, leniency);
  return {
    healthyRetryPolicy: partOf<RetryMembers>(parts, "healthyRetryPolicy"),
    sicklyRetryPolicy: partOf<RetryMembers>(parts, "sicklyRetryPolicy"),
    throttlePolicy: partOf<ThrottleMembers>(parts, "throttlePolicy"),
    requestPolicy: partOf<RequestMembers>(parts, "requestPolicy"),
    guaranteed: parts.guaranteed === true,
  };
}

/**
 * Reads the attribute `DeliveryPolicy` of a topic, like `parseSubscriptionPolicy`. The content types are those of
 * messages in their envelope.
 */
export function parseTopicPolicy(text: string, leniency: RetryLeniency = {}): TopicDocument | null {
  if (text === "") return null;
  const document = parseDocument(text, TOPIC_SHAPE);
  const parts = isObject(document.http) ? document.http : {};
  const names = {
    retries: ["defaultHealthyRetryPolicy", "defaultSicklyRetryPolicy"],
    throttle: "defaultThrottlePolicy",
    request: "defaultRequestPolicy",
  };
  checkParts(parts, "http.", names, false, leniency);
  const healthy = partOf<RetryMembers>(parts, "defaultHealthyRetryPolicy");
  const sickly = partOf<RetryMembers>(parts, "defaultSicklyRetryPolicy");
  const throttle = partOf<ThrottleMembers>(parts, "defaultThrottlePolicy");
  const request = partOf<RequestMembers>(parts, "defaultRequestPolicy");
  return {
    http: {
      ...(healthy === null ? {} : { defaultHealthyRetryPolicy: healthy }),
      ...(sickly === null ? {} : { defaultSicklyRetryPolicy: sickly }),
      disableSubscriptionOverrides: parts.disableSubscriptionOverrides === true,
      ...(throttle === null ? {} : { defaultThrottlePolicy: throttle }),
      ...(request === null ? {} : { defaultRequestPolicy: request }),
    },
  };
}

function parseDocument(text: string, shape: Shape): Parts {
  const bytes = utf8Length(text);
  if (bytes > POLICY_BYTES_MAX) {
    throw new InvalidDeliveryPolicy(`must be at most ${POLICY_BYTES_MAX} bytes long but has ${bytes}`);
  }
  const document = parseJson(text);
  checkMembers(document, shape);
  checkTypes(document, shape);
  return document as Parts; // An object: its type was checked.
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidDeliveryPolicy(
      `failed to parse JSON. ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Checks the values in parts whose members and types are right. */
function checkParts(
  parts: Parts,
  prefix: string,
  names: PartNames,
  rawMessageDelivery: boolean,
  leniency: RetryLeniency,
): void {
  for (const name of names.retries) {
    const members = partOf<RetryMembers>(parts, name);
    const fault = members === null ? null : retryFault(members, leniency);
    if (fault !== null) throw new InvalidDeliveryPolicy(`${prefix}${name}${fault.text}`);
  }
  const perSecond = partOf<ThrottleMembers>(parts, names.throttle)?.maxReceivesPerSecond;
  if (perSecond !== undefined && perSecond < 1) {
    const field = `${prefix}${names.throttle}.maxReceivesPerSecond`;
    throw new InvalidDeliveryPolicy(`${field} must be greater than or equal to 1`);
  }
  const contentType = partOf<RequestMembers>(parts, names.request)?.headerContentType;
  const allowed = contentTypesAllowed(rawMessageDelivery);
  if (contentType !== undefined && !allowed.includes(contentType)) {
    const field = `${prefix}${names.request}.headerContentType`;
    throw new InvalidDeliveryPolicy(
      `${field}: Invalid value [${contentType}]. Must be one of ${allowed.join(", ")}.`,
    );
  }
}

/** A part of a document, `null` if it has none. Its type was checked by `checkTypes`. */
function partOf<Part>(parts: Parts, name: string): Part | null {
  return (parts[name] ?? null) as Part | null;
}
