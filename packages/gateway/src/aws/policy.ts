import { isObject } from "@sluice/aws";
import { parseJson } from "../http/bounded-json.ts";

/** One statement of a policy. Only its name means anything here. */
export interface Statement {
  readonly Sid?: unknown;
  readonly [member: string]: unknown;
}

/** Access policy: kept and shown, and added to by `AddPermission`. */
export interface Policy {
  readonly statements: readonly Statement[];
  /** Members of the policy besides its statements. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** Reads a policy; `null` for any other text. A single statement may stand without a list, as everywhere on AWS. */
export function parsePolicy(text: string): Policy | null {
  const value = parse(text);
  if (!isObject(value)) return null;
  const { Statement: given = [], ...rest } = value;
  const statements: readonly unknown[] = Array.isArray(given) ? given : [given];
  return statements.every(isObject) ? { statements, rest } : null;
}

/** Makes the statement of `AddPermission`: accounts may do actions, named as `SQS:SendMessage`, with a resource. */
export function allowing(
  label: string,
  accounts: readonly string[],
  actions: readonly string[],
  resource: string,
): Statement {
  return {
    Sid: label,
    Effect: "Allow",
    Principal: { AWS: oneOrAll(accounts.map((account) => `arn:aws:iam::${account}:root`)) },
    Action: oneOrAll(actions),
    Resource: resource,
  };
}

/** Writes a policy as text. */
export function formatPolicy({ statements, rest }: Policy): string {
  return JSON.stringify({ ...rest, Statement: statements });
}

function oneOrAll(values: readonly string[]): unknown {
  return values.length === 1 ? values[0] : values;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
