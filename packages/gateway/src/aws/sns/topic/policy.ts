import { parseArn } from "@sluice/aws";
import type { Policy } from "../../policy.ts";

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

/** Makes the policy of a topic without one: its owner may do everything. */
export function defaultPolicy(topicArn: string): Policy {
  const statement = {
    Sid: "__default_statement_ID",
    Effect: "Allow",
    Principal: { AWS: "*" },
    Action: GRANTABLE_ACTIONS.map((action) => `SNS:${action}`),
    Resource: topicArn,
    Condition: { StringEquals: { "AWS:SourceOwner": parseArn(topicArn)?.account ?? "" } },
  };
  return { statements: [statement], rest: { Version: "2008-10-17", Id: "__default_policy_ID" } };
}
