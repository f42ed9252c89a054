import type { QueueTopology } from "@sluice/protocol";
import type { HostClock } from "../platform/clock.ts";
import type { HostOf } from "../platform/host.ts";
import { DIRECTORY_NAME, type DirectoryObject, type QueuesDirectory } from "../rpc/directory-object.ts";
import type { QueueBrokerObject } from "../rpc/queue-object.ts";
import type { Instruments } from "./instruments.ts";

/** Bindings of the broker Worker. */
export interface BrokerEnv {
  readonly SLUICE_QUEUES: DurableObjectNamespace<QueueBrokerObject>;
  readonly SLUICE_DIRECTORY: DurableObjectNamespace<DirectoryObject>;
  /**
   * `development` opens the HTTP API and allows to move the clock, `local` opens the API alone. Absent on a deployed
   * broker.
   */
  readonly SLUICE_ENV?: string;
  /** Tokens, separated by commas: each of them gives access to the HTTP API. */
  readonly SLUICE_API_TOKENS?: string;
  /** The token of the process that runs the broker. Set by `sluice serve` where clients need a token. */
  readonly SLUICE_PROCESS_TOKEN?: string;
  /** Further names, separated by commas, that an open broker is reached by. */
  readonly SLUICE_ALLOWED_HOSTS?: string;
  /** Where clients reach the broker if a proxy stands before it. Default: at the address that it sees. */
  readonly SLUICE_PUBLIC_URL?: string;
  /**
   * `true` for a broker that only a proxy reaches, which overwrites `X-Forwarded-Proto`, `-Host` and `-Prefix`: where
   * there is no `SLUICE_PUBLIC_URL`, these say where clients reach it.
   */
  readonly SLUICE_TRUST_PROXY?: string;
  /** Set by `sluice dev`: hosts of the primary Worker's routes, which Wrangler puts in the place of `localhost`. */
  readonly SLUICE_ROUTE_HOSTS?: string;
  /** Access keys, `KEY:SECRET` separated by commas: a signature by any of them gives access to the AWS endpoint. */
  readonly SLUICE_AWS_ACCESS_KEYS?: string;
  /** Region and account in which queues have the names that Workers know them by. Default us-east-1, 000000000000. */
  readonly SLUICE_AWS_REGION?: string;
  readonly SLUICE_AWS_ACCOUNT_ID?: string;
  /** `true` lets a queue be purged, and the name of a deleted one be used again, only once in 60 s, as on AWS. */
  readonly SLUICE_AWS_STRICT_TIMING?: string;
  /** URL of a collector that spans are exported to by OTLP over HTTP. Default: none are made. */
  readonly SLUICE_OTLP_ENDPOINT?: string;
  /** Headers for the collector, `NAME=VALUE` separated by commas, values percent-encoded. */
  readonly SLUICE_OTLP_HEADERS?: string;
  /** Part of the messages without a trace context that begin a trace, 0 to 1. Default 1. */
  readonly SLUICE_TRACE_RATIO?: string;
  /** URL of a page that shows a trace, with `{traceId}` in it. */
  readonly SLUICE_TRACE_URL?: string;
  /** Set by `sluice serve`, which may then report by the admin API that the disk is full, and that it ends. */
  readonly SLUICE_SERVED?: string;
  /**
   * How the process that ran this broker before it ended (`LastEnd` of the protocol). A URL is asked for it, by GET.
   * Set by `sluice serve` and `sluice dev`.
   */
  readonly SLUICE_LAST_END?: string;
  /**
   * URL that stack traces of Workers are posted to, and that answers with the places in their sources; below it, at
   * `/docs`, the documentation is searched. Set by the process that runs the Workers; absent on a deployed broker.
   */
  readonly SLUICE_STACKS?: string;
  /**
   * URL that the names of R2 buckets are posted to, a JSON array: writes to these are reported then. Set by `sluice
   * dev`.
   */
  readonly SLUICE_R2?: string;
  /**
   * How far the broker's time is behind the system's clock at its start, in ms; less than 0 for one that is ahead. Set
   * by `sluice serve` for workerd. Default 0.
   */
  readonly SLUICE_CLOCK_BEHIND_MS?: string;
  /** Where the clock stands at first, in ms since 1970. Set by test kits; development only. */
  readonly SLUICE_CLOCK_START?: string;
  /** Which version of the broker's code this is. Absent but in a deployment. */
  readonly SLUICE_VERSION?: { readonly id: string };
  readonly [binding: string]: unknown;
}

/** The disk that a broker keeps everything on. */
export interface Disk {
  /** Whether it is full: what is there is given out and deleted, and nothing is taken in. */
  readonly isFull: boolean;
}

/** Options that the broker is deployed with. */
export interface BrokerOptions {
  readonly topology: QueueTopology;
  /** Names of the service bindings to consumers' entrypoints, by Worker name. */
  readonly consumers: Readonly<Record<string, string>>;
  /** Disk that everything is kept on. Absent where it is the platform's matter. */
  readonly disk?: Disk;
  /** The time that deadlines go by on Workers. Default: the platform's. */
  readonly clock?: HostClock;
  /** Finds the host of an object. Default: that of Workers, with `clock`. */
  readonly hostOf?: HostOf;
  /** Absent where messages are real ones. */
  readonly instruments?: Instruments;
}

/** The directory as a queue's object calls it. Where the binding is missing, calls reject. */
export function directoryOf({ SLUICE_DIRECTORY: namespace }: BrokerEnv): QueuesDirectory {
  const object = () => namespace.get(namespace.idFromName(DIRECTORY_NAME));
  return {
    opened: async (queue, copy) => object().opened(queue, copy),
    ensureQueue: async (queue, jurisdiction) => object().ensureQueue(queue, jurisdiction),
    findByName: async (queue) => object().findByName(queue),
    undeliverable: async (topicObject, queue) => object().undeliverable(topicObject, queue),
    report: async (queue, position, snapshot) => object().report(queue, position, snapshot),
  };
}
