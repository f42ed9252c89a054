import { WorkerEntrypoint } from "cloudflare:workers";
import type { BrokerEnv } from "@sluice/broker";
import { FrameServer, type Gateway } from "@sluice/gateway";
import { decodeFrontMessages, encodeAnswers } from "@sluice/protocol";

const UNSUPPORTED_DATA = 1_003;

/**
 * The entrypoint that the front of `sluice serve` with Workers connects to: a WebSocket that brings many requests to the AWS endpoint at a
 * time. It stands in for whoever made them, so it is let in by `SLUICE_FRONT_TOKEN` alone; without that variable nobody is.
 */
export function createRequestFrames(gatewayOf: (env: BrokerEnv) => Gateway) {
  return class RequestFrames extends WorkerEntrypoint<BrokerEnv> {
    override async fetch(request: Request): Promise<Response> {
      const { SLUICE_FRONT_TOKEN: token } = this.env;
      if (!token || request.headers.get("authorization") !== `Bearer ${token}`) {
        return new Response("Only the front of sluice serve connects here.\n", { status: 403 });
      }
      if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
        return new Response("Connect with a WebSocket.\n", { status: 426 });
      }
      const gateway = gatewayOf(this.env);
      const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
      const frames = new FrameServer({
        answer: (read) => gateway.answer(read),
        // A timer rings when workerd has run everything that had come in before.
        afterWhatIsReady: () => new Promise((resolve) => setTimeout(resolve, 0)),
        // Behind a connection that is closed there are no clients any more.
        send: (answers) => {
          if (server.readyState === WebSocket.READY_STATE_OPEN) server.send(encodeAnswers(answers));
        },
      });
      server.accept();
      server.addEventListener("message", ({ data }) => {
        try {
          frames.receive(decodeFrontMessages(String(data)));
        } catch (error) {
          console.error(`a frame of requests cannot be read: ${error}`);
          server.close(UNSUPPORTED_DATA, "a frame cannot be read");
          frames.end();
        }
      });
      server.addEventListener("close", () => frames.end());
      return new Response(null, { status: 101, webSocket: client });
    }
  };
}
