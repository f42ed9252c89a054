import type { MessageView } from "@sluice/gateway/views";
import { expect } from "vitest";
import type { MessagePage } from "../src/client/messages.ts";
import type { BrokerLab } from "./broker-lab.ts";
import { callSqs } from "./serving.ts";

/** Sends, lists and receives messages of a lab. @param url of its broker, once it serves. */
export function messageCommands(lab: BrokerLab, url: () => string) {
  const send = (queue: string, ...args: string[]) => lab.run(["messages", "send", queue, ...args]);
  const peek = (queue: string, ...args: string[]) =>
    lab.json<MessagePage>(["messages", "peek", queue, ...args]);
  async function only(queue: string): Promise<MessageView> {
    const { messages } = await peek(queue);
    expect(messages).toHaveLength(1);
    return messages[0] as MessageView;
  }

  async function sqs(action: string, input: object): Promise<Record<string, unknown>> {
    const { status, answer } = await callSqs(`${url()}/__sluice/aws`, action, input);
    expect(status).toBe(200);
    return answer;
  }
  return { send, peek, only, sqs };
}
