import { openBroker } from "@sluice/broker-worker/node";
import { FrameServer } from "@sluice/gateway";
import type { BrokerInput } from "./contract.ts";

/** The broker on Node.js (`contract.ts`). */
export function open(input: BrokerInput) {
  const { gateway, close } = openBroker(input);
  return {
    carrier: (events: Events) => {
      const frames = new FrameServer({
        answer: (read) => gateway.answer(read),
        send: (answers) => events.answered(answers),
        afterWhatIsReady: () => new Promise((resolve) => setImmediate(resolve)),
      });
      return {
        isOpen: true,
        carry: (frame: Frame) => frames.receive(frame),
        close: () => frames.end(),
      };
    },
    fetch: (request: Request) => gateway.fetch(request),
    close,
  };
}

type Frame = Parameters<FrameServer["receive"]>[0];
interface Events {
  answered(answers: Parameters<ConstructorParameters<typeof FrameServer>[0]["send"]>[0]): void;
}
