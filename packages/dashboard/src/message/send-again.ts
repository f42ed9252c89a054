import { messagePath } from "../api/call.ts";

/** A message, and the broker that has it. */
export interface MessageAt {
  /** URL of the page, with a slash at its end. */
  readonly base: string;
  readonly queue: string;
  readonly id: string;
  /** Whether the broker asks for a token. */
  readonly needsToken: boolean;
}

/** Makes the commands of a shell that send a message again. A token is read from `SLUICE_API_TOKEN`. */
export function commandsToSendAgain({ base, queue, id, needsToken }: MessageAt) {
  const token = needsToken ? ' -H "authorization: Bearer $SLUICE_API_TOKEN"' : "";
  return {
    curl: `curl -X POST${token} '${base}api${messagePath(queue, id)}/resend'`,
    cli: `npx sluice messages resend ${queue} ${id} --url ${base}`,
  };
}
