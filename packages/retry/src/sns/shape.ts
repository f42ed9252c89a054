/**
 * A delivery policy that SNS refuses, with code `InvalidParameter` and status 400. The message is the reason, which
 * starts with the attribute's name.
 */
export class InvalidDeliveryPolicy extends Error {
  override readonly name = "InvalidDeliveryPolicy";

  constructor(reason: string) {
    super(`DeliveryPolicy: ${reason}`);
  }
}

/** Type of a policy's member: that of a value, or an object with members of its own. `null` objects are "not set". */
export type Shape = "integer" | "string" | "boolean" | { readonly [member: string]: Shape };

type Json = Readonly<Record<string, unknown>>;

const RETRY: Shape = {
  minDelayTarget: "integer",
  maxDelayTarget: "integer",
  numRetries: "integer",
  numMaxDelayRetries: "integer",
  numNoDelayRetries: "integer",
  numMinDelayRetries: "integer",
  backoffFunction: "string",
};
const THROTTLE: Shape = { maxReceivesPerSecond: "integer" };
const REQUEST: Shape = { headerContentType: "string" };

export const SUBSCRIPTION_SHAPE = {
  healthyRetryPolicy: RETRY,
  sicklyRetryPolicy: RETRY,
  throttlePolicy: THROTTLE,
  requestPolicy: REQUEST,
  guaranteed: "boolean",
} as const satisfies Shape;

export const TOPIC_SHAPE = {
  http: {
    defaultHealthyRetryPolicy: RETRY,
    defaultSicklyRetryPolicy: RETRY,
    disableSubscriptionOverrides: "boolean",
    defaultThrottlePolicy: THROTTLE,
    defaultRequestPolicy: REQUEST,
  },
} as const satisfies Shape;

/** Refuses the first member, at any depth, that no policy has (V7). */
export function checkMembers(value: unknown, shape: Shape, path = ""): void {
  if (typeof shape === "string" || !isObject(value)) return;
  for (const [member, inner] of Object.entries(value)) {
    const memberPath = pathOf(path, member);
    if (!Object.hasOwn(shape, member)) {
      throw new InvalidDeliveryPolicy(`Unexpected JSON member: ${memberPath}`);
    }
    checkMembers(inner, shape[member] ?? "string", memberPath);
  }
}

/** Refuses the first value, at any depth, that is of another type (V6, V8). */
export function checkTypes(value: unknown, shape: Shape, path = ""): void {
  const expected = typeof shape === "string" ? shape : "object";
  if (expected === "object" && value === null && path !== "") return;
  if (!isOfType(value, expected)) {
    const subject = path === "" ? "" : `${path} `;
    throw new InvalidDeliveryPolicy(
      `${subject}type mismatch, expecting ${expected}, received ${named(value)}`,
    );
  }
  if (typeof shape === "string") return;
  for (const [member, inner] of Object.entries(value as Json)) {
    const memberShape = shape[member];
    if (memberShape !== undefined) checkTypes(inner, memberShape, pathOf(path, member));
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, expected: "integer" | "string" | "boolean" | "object"): boolean {
  if (expected === "object") return isObject(value);
  return expected === "integer" ? Number.isInteger(value) : typeof value === expected;
}

function named(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function pathOf(parent: string, member: string): string {
  return parent === "" ? member : `${parent}.${member}`;
}
