/**
 * Values for placeholders of generated requests, which are known only when a request is sent. Placeholders also keep a
 * counterexample short: `{{x:300000}}` instead of 300,000 letters.
 */
export interface Known {
  readonly endpoint: string;
  /** Receipt handles of received messages, with the URLs of their queues; latest last. */
  readonly receipts: readonly { readonly handle: string; readonly queueUrl: string }[];
  /** Handles of move tasks that were started, latest last. */
  readonly tasks: readonly string[];
}

const PLACEHOLDER = /\{\{(endpoint|receipt|receiptUrl|task|x|quotes|deep|digits)(?::(\d+))?\}\}/g;

/** Replaces the placeholders in every text of a value. */
export function filledIn(value: unknown, known: Known): unknown {
  if (typeof value === "string") return fillText(value, known);
  if (Array.isArray(value)) return value.map((element) => filledIn(element, known));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [fillText(key, known), filledIn(each, known)]),
  );
}

export function fillText(text: string, known: Known): string {
  return text.replace(PLACEHOLDER, (_, name: string, digits = "0") => {
    const number = Number(digits);
    switch (name) {
      case "endpoint":
        return known.endpoint;
      case "receipt":
        return at(known.receipts, number)?.handle ?? "none yet";
      case "receiptUrl":
        return at(known.receipts, number)?.queueUrl ?? "none yet";
      case "task":
        return at(known.tasks, number) ?? "none yet";
      case "quotes":
        return '"'.repeat(number);
      case "digits":
        return "9".repeat(number);
      case "deep":
        return `{"Statement":[],"a":${"[".repeat(number)}${"]".repeat(number)}}`;
      default:
        return "x".repeat(number);
    }
  });
}

/** Finds a value by its distance from the latest; too large distances begin again. */
function at<Value>(values: readonly Value[], back: number): Value | undefined {
  return values.at(-1 - (back % Math.max(1, values.length)));
}
