import type { QueueTopology } from "@sluice/protocol";
import type { Carrier, CarrierEvents } from "../front/frame-link.ts";

/** What a broker in this process is opened on. */
export interface BrokerInput {
  /** Folder of all Durable Objects. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly worker: string;
  readonly topology: QueueTopology;
  readonly vars: Readonly<Record<string, unknown>>;
}

/** A broker in this process. Its module is typed by the platform's types, and this by Node.js's. */
export interface Broker {
  /** Brings it what AWS's clients post. */
  carrier(events: CarrierEvents): Carrier;
  /** Answers any other request. */
  fetch(request: Request): Promise<Response>;
  /** Ends it: what was committed is in its files. */
  close(): void;
}

/** What the module exports. */
export interface BrokerModule {
  open(input: BrokerInput): Broker;
}

/** What a data folder is recovered by. */
export interface RecoveryInput {
  /** Folder of all Durable Objects. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly worker: string;
  warn(line: string): void;
}

/** What the module exports. */
export interface RecoveryModule {
  /** Before anything runs on the folder: mends a damaged directory, and takes back queues that it has lost. Says what it finds. */
  recoverDirectory(input: RecoveryInput): void;
}
