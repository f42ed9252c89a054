import { formatDiagnostic } from "@sluice/config";

/** Subject of a finding. Scripts may go by it. */
export type FindingCode =
  /** Problem that the reader of the configuration, or Wrangler, reports itself. */
  | "configuration"
  | "missing-main"
  | "missing-compatibility-date"
  | "open-broker"
  | "expires-undelivered"
  | "expires-while-retried"
  | "no-consumer"
  | "dead-letters-unread"
  | "no-dead-letter-queue"
  | "queue-named-by-binding"
  | "pull-consumer-in-file"
  | "v8-to-pull-consumer"
  | "remote-binding"
  | "sluice-only";

/** One thing to say about a project. */
export interface Finding {
  /** An error keeps messages from being delivered, or lets in who should not be. */
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  /** Absolute path of the configuration that it is about. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  readonly queue?: string;
  /** Statement of the problem, and what to do about it. */
  readonly text: string;
}

/** A finding as compilers print it, which terminals and editors turn into a link. */
export function formatFinding({ severity, file, line, text }: Finding): string {
  if (file === undefined) return severity === "warning" ? `warning: ${text}` : text;
  return formatDiagnostic({ severity, file, text, ...(line === undefined ? {} : { line }) });
}
