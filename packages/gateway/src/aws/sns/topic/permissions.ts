import type { TopicRecord } from "@sluice/protocol";
import { changeTopic, type SnsContext, topicOf } from "../context.ts";
import { invalid, required } from "../errors.ts";
import type { SnsInput } from "../model.ts";
import { defaultPolicy, GRANTABLE_ACTIONS, type Policy, parsePolicy } from "./policy.ts";

/** Adds a statement to the topic's policy. The policy is kept and shown; who may do what is decided by access keys. */
export async function addPermission(context: SnsContext, input: SnsInput<"AddPermission">): Promise<void> {
  const label = required(input.Label, "label");
  const { AWSAccountId: accounts = [], ActionName: actions = [] } = input;
  if (!/^[A-Za-z0-9_-]{1,80}$/.test(label)) throw invalid("Label");
  if (accounts.length === 0) throw invalid("AWSAccountId");
  if (actions.length === 0) throw invalid("ActionName");
  for (const action of actions) {
    if ((GRANTABLE_ACTIONS as readonly string[]).includes(action)) continue;
    throw invalid("Policy statement action out of service scope!");
  }
  await change(context, input.TopicArn, (policy, topic) => {
    if (policy.Statement.some(({ Sid }) => Sid === label)) throw invalid("Statement already exists");
    const principals = accounts.map((account) => `arn:aws:iam::${account}:root`);
    const statement = {
      Sid: label,
      Effect: "Allow",
      Principal: { AWS: oneOrAll(principals) },
      Action: oneOrAll(actions.map((action) => `SNS:${action}`)),
      Resource: topic.arn,
    };
    return { ...policy, Statement: [...policy.Statement, statement] };
  });
}

export async function removePermission(
  context: SnsContext,
  input: SnsInput<"RemovePermission">,
): Promise<void> {
  const label = required(input.Label, "label");
  await change(context, input.TopicArn, (policy) => {
    const left = policy.Statement.filter(({ Sid }) => Sid !== label);
    if (left.length === policy.Statement.length) throw invalid("Label");
    return { ...policy, Statement: left };
  });
}

function change(
  context: SnsContext,
  topicArn: string | undefined,
  alter: (policy: Policy, topic: TopicRecord) => Policy,
): Promise<void> {
  return changeTopic(
    context,
    async () => (await topicOf(context, topicArn)).topic,
    (topic) => {
      const text = topic.attributes.Policy;
      const policy = (text === undefined ? null : parsePolicy(text)) ?? defaultPolicy(topic.arn);
      return { attributes: { ...topic.attributes, Policy: JSON.stringify(alter(policy, topic)) } };
    },
  );
}

function oneOrAll(values: readonly string[]): string | readonly string[] {
  return values.length === 1 ? (values[0] ?? "") : values;
}
