import { isObject } from "@sluice/aws";
import { parseJson } from "../http/bounded-json.ts";

/** One statement of a policy. Only its label `Sid` is looked at. */
export interface Statement {
  readonly Sid?: unknown;
  readonly [member: string]: unknown;
}

/**
 * Access policy of a queue or a topic. It is stored and shown, and decides nothing: access keys have rights of their own.
 * `AddPermission` and `RemovePermission` change its statements.
 */
export interface Policy {
  readonly statements: readonly Statement[];
  /** Members of the policy besides its statements. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** Reads a policy; `null` for any other text. `Statement` may be one object instead of a list, as on AWS. */
export function parsePolicy(text: string): Policy | null {
  const value = jsonOrNull(text);
  if (!isObject(value)) return null;
  const { Statement: given = [], ...rest } = value;
  const statements: readonly unknown[] = Array.isArray(given) ? given : [given];
  return statements.every(isObject) ? { statements, rest } : null;
}

/** Makes the statement that `AddPermission` adds: it allows accounts actions, such as `SQS:SendMessage`, on a resource. */
export function allowStatement(
  label: string,
  accounts: readonly string[],
  actions: readonly string[],
  resource: string,
): Statement {
  return {
    Sid: label,
    Effect: "Allow",
    Principal: { AWS: singleOrList(accounts.map((account) => `arn:aws:iam::${account}:root`)) },
    Action: singleOrList(actions),
    Resource: resource,
  };
}

/** Writes a policy as text. */
export function formatPolicy({ statements, rest }: Policy): string {
  return JSON.stringify({ ...rest, Statement: statements });
}

function singleOrList(values: readonly string[]): unknown {
  return values.length === 1 ? values[0] : values;
}

function jsonOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
