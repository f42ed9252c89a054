export interface DevOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. The first one owns the port. */
  readonly targets: readonly string[];
  /** Default: the primary Worker's `dev.port`, else 8787, else a free one, as Wrangler chooses. */
  readonly port?: number;
  readonly ip?: string;
  /** Default: `.wrangler/state` beside the primary Worker's configuration, where `wrangler dev` keeps it. */
  readonly persistTo?: string;
  readonly env?: string;
  readonly inspectorPort?: number;
  /** Whether Workers may be traced for the Local Explorer. Default: as `X_LOCAL_OBSERVABILITY` says, else as Wrangler does. */
  readonly observability?: boolean;
  /** Passed on to `wrangler dev`. */
  readonly wranglerArguments: readonly string[];
}
