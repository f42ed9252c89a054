import { printable } from "@sluice/protocol/words";

/** Answer that is not of the expected API: its status, and two of its headers. */
export interface StrangeAnswer {
  readonly status: number;
  readonly contentType: string | null | undefined;
  readonly location: string | null | undefined;
}

/** Makes the sentence that an endpoint is not the system that it should be, with a description of its answer. */
export function strangeAnswer(
  endpoint: string,
  system: string,
  { status, contentType, location }: StrangeAnswer,
): string {
  const isRedirect = status >= 300 && status < 400;
  const what = isRedirect
    ? `a redirect to ${location ? printable(location) : "nowhere"}, which is not followed`
    : /html/i.test(contentType ?? "")
      ? "a page of HTML"
      : "a body of another form";
  return `${endpoint} does not answer as ${system} does: status ${status}, with ${what}.`;
}
