/**
 * The options of `aws:elasticbeanstalk:sqsd`, by the names that Elastic Beanstalk gives them (spec sqsd 2). Seconds,
 * but for counts.
 */
export interface SqsdOptions {
  /** Path of the POST, with a leading slash; `null` leaves it to the URL. Default `null`. */
  readonly HttpPath: string | null;
  /** `Content-Type` of the POST. Default `application/json`. */
  readonly MimeType: string;
  /** Most connections to the application at a time. 1 to 100, default 50. */
  readonly HttpConnections: number;
  /** How long a connection may take. 1 to 60, default 5. */
  readonly ConnectTimeout: number;
  /**
   * How long an answer may take. 1 to 36,000, default 299, or one second less than `VisibilityTimeout` where that is
   * less.
   */
  readonly InactivityTimeout: number;
  /** How long a received message is invisible, in the place of the queue's setting. 0 to 43,200, default 300. */
  readonly VisibilityTimeout: number;
  /**
   * How long a message is invisible after a failure. 0 to 43,200; `null`, the default, leaves a failed message to its
   * visibility timeout.
   */
  readonly ErrorVisibilityTimeout: number | null;
  /** How long after its first receive a message is still posted. 60 to 1,209,600, default 345,600. */
  readonly RetentionPeriod: number;
  /**
   * Receives of a message before it moves to the dead-letter queue; without one it has no effect. 1 to 100, default 10.
   */
  readonly MaxRetries: number;
}

/** Ranges of the numeric options, both ends included. */
export const SQSD_RANGES = {
  HttpConnections: [1, 100],
  ConnectTimeout: [1, 60],
  InactivityTimeout: [1, 36_000],
  VisibilityTimeout: [0, 43_200],
  ErrorVisibilityTimeout: [0, 43_200],
  RetentionPeriod: [60, 1_209_600],
  MaxRetries: [1, 100],
} as const satisfies Readonly<Partial<Record<keyof SqsdOptions, readonly [min: number, max: number]>>>;

const VISIBILITY_TIMEOUT_DEFAULT = 300;
const INACTIVITY_TIMEOUT_DEFAULT = 299;

/** Fault or risk of an option; the message is the rest of a sentence that begins with the option. */
export interface SqsdIssue {
  readonly option: string;
  readonly message: string;
}

export type ParsedSqsdOptions =
  | {
      readonly kind: "options";
      readonly options: SqsdOptions;
      /** Issues of options that are allowed but hardly intended. */
      readonly warnings: readonly SqsdIssue[];
    }
  | { readonly kind: "invalid"; readonly issues: readonly SqsdIssue[] };

type RangedOption = keyof typeof SQSD_RANGES;

/**
 * Reads options as Elastic Beanstalk's configuration has them (spec sqsd 2, 10.5): numbers, or texts of numbers. An
 * absent option has its default. Reports all faults at once.
 *
 * @param hasDeadLetterQueue whether there is a queue for messages that were received too often.
 */
export function parseSqsdOptions(
  raw: Readonly<Record<string, unknown>>,
  hasDeadLetterQueue: boolean,
): ParsedSqsdOptions {
  const issues: SqsdIssue[] = [];
  const note = (option: string, message: string) => issues.push({ option, message });
  for (const name of Object.keys(raw)) {
    if (!OPTION_NAMES.has(name)) note(name, `is no option of the worker daemon: ${ALL_NAMES}`);
  }
  const number = (option: RangedOption): number | undefined => {
    const value = raw[option];
    if (value === undefined) return undefined;
    const [min, max] = SQSD_RANGES[option];
    const found = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof found === "number" && Number.isInteger(found) && found >= min && found <= max) return found;
    note(option, `should be a whole number from ${min} to ${max} but is ${JSON.stringify(value)}`);
    return undefined;
  };
  const text = (option: "HttpPath" | "MimeType"): string | undefined => {
    const value = raw[option];
    if (value === undefined) return undefined;
    if (typeof value === "string" && /^[\u0020-\u007e]+$/.test(value)) return value;
    note(option, `should be a text without control characters but is ${JSON.stringify(value)}`);
    return undefined;
  };
  const VisibilityTimeout = number("VisibilityTimeout") ?? VISIBILITY_TIMEOUT_DEFAULT;
  const path = text("HttpPath");
  const options: SqsdOptions = {
    HttpPath: path === undefined ? null : path.startsWith("/") ? path : `/${path}`,
    MimeType: text("MimeType") ?? "application/json",
    HttpConnections: number("HttpConnections") ?? 50,
    ConnectTimeout: number("ConnectTimeout") ?? 5,
    InactivityTimeout:
      number("InactivityTimeout") ??
      Math.max(SQSD_RANGES.InactivityTimeout[0], Math.min(INACTIVITY_TIMEOUT_DEFAULT, VisibilityTimeout - 1)),
    VisibilityTimeout,
    ErrorVisibilityTimeout: number("ErrorVisibilityTimeout") ?? null,
    RetentionPeriod: number("RetentionPeriod") ?? 345_600,
    MaxRetries: number("MaxRetries") ?? 10,
  };
  if (issues.length > 0) return { kind: "invalid", issues };
  return { kind: "options", options, warnings: warningsOf(options, raw, hasDeadLetterQueue) };
}

const OPTION_NAMES: ReadonlySet<string> = new Set<keyof SqsdOptions>([
  "HttpPath",
  "MimeType",
  "HttpConnections",
  "ConnectTimeout",
  "InactivityTimeout",
  "VisibilityTimeout",
  "ErrorVisibilityTimeout",
  "RetentionPeriod",
  "MaxRetries",
]);

const ALL_NAMES = `those are ${[...OPTION_NAMES].join(", ")}`;

/** Warns of settings that AWS takes as well, and users regret (spec sqsd 6, 10.5). */
function warningsOf(
  { InactivityTimeout, VisibilityTimeout }: SqsdOptions,
  raw: Readonly<Record<string, unknown>>,
  hasDeadLetterQueue: boolean,
): SqsdIssue[] {
  const warnings: SqsdIssue[] = [];
  if (VisibilityTimeout === 0) {
    const message = "is 0: a message stays visible while it is worked on, and is posted again meanwhile";
    warnings.push({ option: "VisibilityTimeout", message });
  } else if (InactivityTimeout >= VisibilityTimeout) {
    const message =
      `of ${InactivityTimeout} s is not less than VisibilityTimeout (${VisibilityTimeout} s): a message ` +
      "may be posted again while it is worked on";
    warnings.push({ option: "InactivityTimeout", message });
  }
  if (raw.MaxRetries !== undefined && !hasDeadLetterQueue) {
    warnings.push({ option: "MaxRetries", message: "has no effect without a dead-letter queue" });
  }
  return warnings;
}
