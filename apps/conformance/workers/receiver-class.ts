import { WorkerEntrypoint } from "cloudflare:workers";
import { receive, seenSoFar } from "./receive.ts";

/** Consumes with a handler that is a method of a class. */
export default class Receiver extends WorkerEntrypoint {
  override fetch(): Response {
    return seenSoFar();
  }

  override queue(batch: MessageBatch): Promise<void> {
    return receive(batch, this.ctx) as Promise<void>;
  }
}
