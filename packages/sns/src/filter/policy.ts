import type { Network } from "./cidr.ts";

/** Scopes of a filter policy: its properties name message attributes, or members of the body, which is JSON then. */
export const FILTER_POLICY_SCOPES = ["MessageAttributes", "MessageBody"] as const;
export type FilterPolicyScope = (typeof FILTER_POLICY_SCOPES)[number];

/** Reads the scope that an attribute of a subscription names. */
export function filterScopeOf(attribute: string | undefined): FilterPolicyScope {
  return attribute === "MessageBody" ? "MessageBody" : "MessageAttributes";
}

/** A value that a message can have, as JSON has it. */
export type Scalar = string | number | boolean | null;

export type NumericOperator = "<" | "<=" | "=" | ">" | ">=";

/** Condition on one value of a message (spec sns-delivery 9.5). */
export type Condition =
  /** Matches a value that is one of these. */
  | { readonly kind: "equals"; readonly values: ReadonlySet<Scalar> }
  | { readonly kind: "prefix" | "suffix"; readonly text: string }
  /** In lower case. */
  | { readonly kind: "equals-ignore-case"; readonly text: string }
  /** Parts of the pattern, split at its asterisks. */
  | { readonly kind: "wildcard"; readonly parts: readonly string[] }
  | { readonly kind: "exists"; readonly exists: boolean }
  | { readonly kind: "numeric"; readonly comparisons: readonly NumericComparison[] }
  /** Matches an address of one of these. */
  | { readonly kind: "cidr"; readonly networks: readonly Network[] }
  /** Matches a value that none of these match. */
  | { readonly kind: "anything-but"; readonly conditions: readonly Condition[] };

export interface NumericComparison {
  readonly operator: NumericOperator;
  readonly value: number;
}

/**
 * A filter policy that was read. A message matches when it matches every property and, of every `$or`, one choice.
 * `{"a.b": …}` and `{"a": {"b": …}}` are the same property.
 */
export interface FilterPolicy {
  readonly properties: ReadonlyMap<string, FilterProperty>;
  readonly choices: readonly (readonly FilterPolicy[])[];
}

/** Conditions on one property and on its members. It can have both: `{"a": [1], "a.b": [2]}`. */
export interface FilterProperty {
  /** Every group of conditions has to be met, by a value that meets one condition of it. */
  readonly conditionGroups: readonly (readonly Condition[])[];
  /** Policy for the property's members; `null` where nothing is asked of them. */
  readonly nested: FilterPolicy | null;
}

/**
 * A filter policy that SNS refuses, with code `InvalidParameter` and status 400. The message is what follows the prefix
 * of the action: `Invalid parameter: Attributes Reason: ` of Subscribe, `Invalid parameter: ` of
 * SetSubscriptionAttributes.
 */
export class InvalidFilterPolicy extends Error {
  override readonly name = "InvalidFilterPolicy";
}
