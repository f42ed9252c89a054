import { formatDiagnostic } from "@sluice/config";

/** Subject of a finding. A contract: users' scripts compare it. */
export type FindingCode =
  /** Problem that the configuration's reader, or Wrangler, reports. */
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

/** A problem of a project, or a difference from Cloudflare. */
export interface Finding {
  /** An error prevents delivery, or lets strangers in. */
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  /** Absolute path of the configuration that the finding is about. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  readonly queue?: string;
  /** Statement of the problem, with what to do about it. */
  readonly text: string;
}

/** Formats a finding as compilers do, so that terminals and editors turn it into a link. */
export function formatFinding({ severity, file, line, text }: Finding): string {
  if (file === undefined) return severity === "warning" ? `warning: ${text}` : text;
  return formatDiagnostic({ severity, file, text, ...(line === undefined ? {} : { line }) });
}
