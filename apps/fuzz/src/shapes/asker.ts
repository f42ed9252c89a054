import type { Target } from "../target.ts";
import { wrongWith } from "../verdict.ts";
import type { ShapeReport } from "./shape.ts";

/**
 * Most processor time of this thread for a request, in ms. Other processes of the machine do not count. A request that
 * makes a broker stand still takes many seconds; all others take at most a tenth of this.
 */
const PROCESSOR_MS_MAX = 4_000;

/** Answer that was found to be right for its dialect. */
export interface JudgedAnswer {
  readonly status: number;
  readonly text: string;
}

const PREFIX = "/__sluice";
const FORM = "application/x-www-form-urlencoded";

/** Sends requests to a target, and judges each answer by the dialect of its path. */
export class Asker implements ShapeReport {
  readonly statuses: Record<string, number> = {};
  slowestMs = 0;
  readonly #target: Target;
  /** Address of the broker without a path. */
  readonly #origin: string;

  constructor(target: Target) {
    this.#target = target;
    this.#origin = new URL(target.endpoint).origin;
  }

  /**
   * Sends a request. Throws for a 5xx, for an answer that is not in the form of its dialect, and for more than
   * `PROCESSOR_MS_MAX`.
   *
   * @param path from the root of the broker, with its query.
   */
  async ask(path: string, init: RequestInit = {}): Promise<JudgedAnswer> {
    const request = new Request(`${this.#origin}${path}`, init);
    const before = process.threadCpuUsage();
    const answer = await this.#target.fetch(request);
    const text = await answer.text();
    const { user, system } = process.threadCpuUsage(before);
    const processorMs = (user + system) / 1_000;
    const { status, headers } = answer;
    const at = `${request.method} ${path.slice(0, 200)}`;
    if (processorMs > PROCESSOR_MS_MAX) {
      throw new Error(`${at} took ${Math.round(processorMs)} ms of processor time`);
    }
    const wrong = wrongIn(request, status, headers, text);
    if (wrong !== null) throw new Error(`${at}: ${wrong}: ${text.slice(0, 500)}`);
    this.slowestMs = Math.max(this.slowestMs, processorMs);
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    return { status, text };
  }

  /** Sends a request, and resolves to the body of its answer. Throws unless the status is 200. */
  async must(path: string, init: RequestInit = {}): Promise<string> {
    const { status, text } = await this.ask(path, init);
    if (status === 200) return text;
    const body = typeof init.body === "string" ? ` with ${init.body.slice(0, 200)}` : "";
    throw new Error(
      `${init.method ?? "GET"} ${path}${body} has to succeed and is answered with ${status}: ${text.slice(0, 300)}`,
    );
  }

  async mustJson<Json>(path: string, init: RequestInit = {}): Promise<Json> {
    return JSON.parse(await this.must(path, init)) as Json;
  }
}

/** Makes a POST of JSON. A string is sent as it is. */
export function json(body: unknown): RequestInit {
  return { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
}

/** Makes a request for an action of SQS in AWS JSON, to be sent to `AWS`. */
export function sqs(action: string, input: unknown): RequestInit {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
  return { ...json(input), headers };
}

/** Makes a request for an action of SNS, to be sent to `AWS`. */
export function sns(action: string, parameters: Readonly<Record<string, string>>): RequestInit {
  const all = { Action: action, Version: "2010-03-31", ...parameters };
  const body = new URLSearchParams(all).toString();
  return { method: "POST", headers: { "content-type": FORM }, body };
}

export const AWS = `${PREFIX}/aws/`;
export const API = `${PREFIX}/api`;
export const REST = `${PREFIX}/client/v4/accounts/any`;

/** Describes a mistake in an answer, by the dialect of the request's path; `null` for none. */
function wrongIn({ url, method, headers: sent }: Request, status: number, headers: Headers, text: string) {
  const { pathname } = new URL(url);
  // Outside of `/__sluice/` either AWS's endpoint answers, or no route.
  const isAtRoot = !pathname.startsWith(`${PREFIX}/`) && headers.has("x-amzn-requestid");
  if (isAtRoot || pathname.startsWith(`${PREFIX}/aws/`)) {
    const isJson = sent.get("content-type")?.startsWith("application/x-amz-json") === true;
    return wrongWith({ method, protocol: isJson ? "json" : "query", status, headers, text });
  }
  if (status >= 500) return `status ${status}`;
  if (status < 400) return null;
  const found = bodyOf(text);
  if (pathname.startsWith(`${PREFIX}/client/v4/`)) {
    const [error] = Array.isArray(found?.errors)
      ? (found.errors as { code?: unknown; message?: unknown }[])
      : [];
    const isError = found?.success === false && typeof error?.code === "number" && isText(error.message);
    return isError ? null : "an error that is none of the REST API";
  }
  const error = found?.error as { code?: unknown; message?: unknown } | undefined;
  return isText(error?.code) && isText(error?.message) ? null : "an error that is none of the admin API";
}

function bodyOf(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return null;
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
