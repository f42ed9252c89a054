import type { TopicRecord } from "@sluice/protocol";
import { allowStatement, formatPolicy, type Policy, parsePolicy } from "../../policy.ts";
import { changeTopic, type SnsContext, topicOf } from "../context.ts";
import { invalid, required } from "../errors.ts";
import type { SnsInput } from "../model.ts";
import { defaultPolicy, GRANTABLE_ACTIONS } from "./policy.ts";

/** Adds a statement to the topic's policy. The policy is kept and shown; access keys decide about rights. */
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
    const { statements } = policy;
    if (statements.some(({ Sid }) => Sid === label)) throw invalid("Statement already exists");
    const granted = actions.map((action) => `SNS:${action}`);
    return { ...policy, statements: [...statements, allowStatement(label, accounts, granted, topic.arn)] };
  });
}

export async function removePermission(
  context: SnsContext,
  input: SnsInput<"RemovePermission">,
): Promise<void> {
  const label = required(input.Label, "label");
  await change(context, input.TopicArn, (policy) => {
    const left = policy.statements.filter(({ Sid }) => Sid !== label);
    if (left.length === policy.statements.length) throw invalid("Label");
    return { ...policy, statements: left };
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
      return { attributes: { ...topic.attributes, Policy: formatPolicy(alter(policy, topic)) } };
    },
  );
}
