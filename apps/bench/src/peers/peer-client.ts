import type { Handled } from "../workload/handled.ts";
import { payload } from "../workload/payload.ts";
import { sendFromLoops, type Target } from "../workload/ways.ts";

/** Settings that a client is started with. */
export interface PeerSettings {
  /** Port of its server on 127.0.0.1. */
  readonly port: number;
  /** Folder with a `node_modules` that holds the peer's packages. */
  readonly packages: string;
}

/** Producer and consumer of a peer. The consumer enters handled messages in `handled`. */
interface PeerClient extends Pick<Target, "send" | "sendHundred"> {
  close(): Promise<void>;
}

/** Makes the workload's target of a peer. Loops stand for requests, which a peer does not have. */
export function targetOf({ send, sendHundred }: PeerClient, handled: Handled): Target {
  return {
    send,
    sendHundred,
    sendFromRequests: (requests, messages) =>
      sendFromLoops(requests, messages, () => send(payload(preciseNow())), preciseNow),
    async sendAndAwait(job) {
      const { count } = handled;
      await send(job);
      await handled.reached(count + 1);
    },
  };
}

export type ConnectPeer = (settings: PeerSettings, handled: Handled) => Promise<PeerClient>;

/** Clock in ms since 1970 with the resolution of `performance.now()`. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
