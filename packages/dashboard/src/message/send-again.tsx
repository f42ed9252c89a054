import { hasToken, messagePath } from "../api/call.ts";
import { CopyButton } from "../ui/copy-button.tsx";

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

/** Copies the commands that send a message again. */
export function SendAgain({ queue, id }: Pick<MessageAt, "queue" | "id">) {
  const base = new URL(".", document.baseURI).href;
  const { curl, cli } = commandsToSendAgain({ base, queue, id, needsToken: hasToken() });
  return (
    <p class="row">
      <span class="quiet">To send it again from a shell:</span>
      <CopyButton label="Copy curl" text={curl} />
      <CopyButton label="Copy command" text={cli} />
    </p>
  );
}
