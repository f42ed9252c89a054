import { expect, it } from "vitest";
import { commandsToSendAgain } from "./send-again.tsx";

const message = { base: "http://localhost:8787/__sluice/", queue: "orders.fifo", id: "4f1c" };

it("a message is sent again by commands that name broker, queue and message", () => {
  expect(commandsToSendAgain({ ...message, needsToken: false })).toEqual({
    curl: "curl -X POST 'http://localhost:8787/__sluice/api/queues/orders.fifo/messages/4f1c/resend'",
    cli: "npx sluice messages resend orders.fifo 4f1c --url http://localhost:8787/__sluice/",
  });
});

it("a token is no part of a command that may be pasted anywhere", () => {
  expect(commandsToSendAgain({ ...message, needsToken: true }).curl).toBe(
    'curl -X POST -H "authorization: Bearer $SLUICE_API_TOKEN" ' +
      "'http://localhost:8787/__sluice/api/queues/orders.fifo/messages/4f1c/resend'",
  );
});
