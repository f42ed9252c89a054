import { parseArn } from "@sluice/aws";

/** What a topic's policy consists of, as far as permissions are added to it. */
export interface Policy {
  readonly Version?: string;
  readonly Id?: string;
  readonly Statement: readonly Statement[];
}

export interface Statement {
  readonly Sid?: string;
}

/** Actions of a topic that others can be permitted. */
export const GRANTABLE_ACTIONS = [
  "GetTopicAttributes",
  "SetTopicAttributes",
  "AddPermission",
  "RemovePermission",
  "DeleteTopic",
  "Subscribe",
  "ListSubscriptionsByTopic",
  "Publish",
] as const;

/** The policy of a topic of which nobody says anything: its owner may do everything. */
export function defaultPolicy(topicArn: string): Policy {
  const statement = {
    Sid: "__default_statement_ID",
    Effect: "Allow",
    Principal: { AWS: "*" },
    Action: GRANTABLE_ACTIONS.map((action) => `SNS:${action}`),
    Resource: topicArn,
    Condition: { StringEquals: { "AWS:SourceOwner": parseArn(topicArn)?.account ?? "" } },
  };
  return { Version: "2008-10-17", Id: "__default_policy_ID", Statement: [statement] };
}

/** Reads a policy; `null` for what is none. */
export function parsePolicy(text: string): Policy | null {
  try {
    const policy = JSON.parse(text) as Partial<Policy> | null;
    if (typeof policy !== "object" || policy === null || Array.isArray(policy)) return null;
    return { ...policy, Statement: Array.isArray(policy.Statement) ? policy.Statement : [] };
  } catch {
    return null;
  }
}
