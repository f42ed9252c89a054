import type { QueueTopology } from "@sluice/protocol";
import type { DirectoryObject } from "./directory/directory.ts";
import type { QueueBrokerObject } from "./queue-broker.ts";

/** Bindings of the broker Worker. */
export interface BrokerEnv {
  readonly SLUICE_QUEUES: DurableObjectNamespace<QueueBrokerObject>;
  readonly SLUICE_DIRECTORY: DurableObjectNamespace<DirectoryObject>;
  /**
   * `development` opens the HTTP API and allows to move the clock, `local` opens the API alone. Absent on a deployed broker.
   */
  readonly SLUICE_ENV?: string;
  /** Who brings one of these, separated by commas, may use the HTTP API. */
  readonly SLUICE_API_TOKENS?: string;
  /** Further names, separated by commas, that an open broker is reached by. */
  readonly SLUICE_ALLOWED_HOSTS?: string;
  /** Set by `sluice dev`: hosts of the primary Worker's routes, which Wrangler puts in the place of `localhost`. */
  readonly SLUICE_ROUTE_HOSTS?: string;
  /** Who signs with one of these, `KEY:SECRET` separated by commas, may use the AWS endpoint. */
  readonly SLUICE_AWS_ACCESS_KEYS?: string;
  /** Region and account in which queues have the names that Workers know them by. Default us-east-1, 000000000000. */
  readonly SLUICE_AWS_REGION?: string;
  readonly SLUICE_AWS_ACCOUNT_ID?: string;
  /** `true` lets a queue be purged, and the name of a deleted one be used again, only once in 60 s, as on AWS. */
  readonly SLUICE_AWS_STRICT_TIMING?: string;
  /** What `sluice serve` connects its front with. */
  readonly SLUICE_FRONT_TOKEN?: string;
  readonly [binding: string]: unknown;
}

/** What the broker is deployed with. */
export interface BrokerOptions {
  readonly topology: QueueTopology;
  /** Names of the service bindings to consumers' entrypoints, by Worker name. */
  readonly consumers: Readonly<Record<string, string>>;
}
