import { SaxesParser } from "saxes";

/** Statuses of the answers of AWS's services (spec sqs 1.2, 1.3, 1.5, 2.1). */
const STATUSES = [200, 400, 403, 404, 413];
/** The only error of status 413. */
const TOO_LARGE = "RequestEntityTooLarge";

/** An answer, with the method and protocol of its request. */
export interface Answered {
  readonly method: string;
  readonly protocol: "json" | "query";
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Describes a mistake in an answer of the AWS endpoint; `null` for none. */
export function wrongWith(answer: Answered): string | null {
  const { status, headers, text, method } = answer;
  if (!STATUSES.includes(status)) return `status ${status}`;
  if (status === 413 && method !== "HEAD" && !text.includes(TOO_LARGE)) return "status 413 for another error";
  if (!headers.get("x-amzn-requestid")) return "no request id";
  if (method === "HEAD") return null;
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  if (answer.protocol === "json") {
    return type === "application/x-amz-json-1.0" ? wrongJson(answer) : `content type ${type} for AWS JSON`;
  }
  if (type === "application/json") return wrongQueryJson(status, text);
  return type === "text/xml" ? wrongXml(status, text) : `content type ${type} for the Query protocol`;
}

function wrongJson({ status, headers, text }: Answered): string | null {
  const body = objectIn(text);
  if (body === null) return "no JSON object";
  if (status === 200) return "__type" in body ? "an error as a success" : null;
  if (typeof body.__type !== "string" || !body.__type.includes("#")) return "an error without a type";
  if (body.__type.endsWith("#UnknownOperationException")) return null;
  if (typeof body.message !== "string" || body.message === "") return "an error without a message";
  return /^[A-Za-z.]+;Sender$/.test(headers.get("x-amzn-query-error") ?? "") ? null : "no query error";
}

function wrongQueryJson(status: number, text: string): string | null {
  const body = objectIn(text);
  if (body === null) return "no JSON object";
  const [name = "", ...others] = Object.keys(body);
  if (status === 200) return others.length === 0 && name.endsWith("Response") ? null : `JSON members ${name}`;
  const error = body.Error as Record<string, unknown> | undefined;
  return typeof error?.Code === "string" && typeof error.Message === "string"
    ? null
    : "an error without a code";
}

function wrongXml(status: number, text: string): string | null {
  const elements: string[] = [];
  const problems: string[] = [];
  const parser = new SaxesParser();
  parser.on("error", ({ message }) => problems.push(message));
  parser.on("opentag", ({ name }) => elements.push(name));
  parser.write(text).close();
  const [problem] = problems;
  if (problem !== undefined) return `XML that is not well-formed: ${problem}`;
  const [root = "none"] = elements;
  if (status === 200)
    return root.endsWith("Response") && root !== "ErrorResponse" ? null : `root element ${root}`;
  if (status === 404 && root === "UnknownOperationException") return null;
  const isWhole = root === "ErrorResponse" && elements.includes("Code") && elements.includes("Message");
  return isWhole ? null : `root element ${root} for an error`;
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
