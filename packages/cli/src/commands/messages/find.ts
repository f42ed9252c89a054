import type { SearchView } from "@sluice/gateway/views";
import { table } from "@sluice/local/report/table";
import { CliError, EXIT_NOT_FOUND, EXIT_USAGE } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import { searchAll } from "../../client/messages.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { oneLine } from "./look.ts";

/** `sluice messages find`: looks for a text in all queues, and for an id also among messages that are gone. */
export async function find(on: OnBroker, text: string): Promise<number> {
  if (text === "") throw new CliError("Say what to look for.", EXIT_USAGE);
  const found = await searchAll(on.client, text);
  const rows = rowsOf(found);
  if (on.json || rows.length > 0)
    answer(on, found, { text: table(["queue", "id", "state", "body"], rows, on.printer) });
  if (!on.json) for (const line of notesOf(found)) on.printer.warn(line);
  if (rows.length > 0) return 0;
  if (!on.json) on.printer.warn("No message fits.");
  return EXIT_NOT_FOUND;
}

/** Makes a row for each message. Messages that are gone come last, with their last event in place of a body. */
function rowsOf({ messages, gone }: SearchView): string[][] {
  return [
    ...messages.flatMap(({ queue, messages: shown }) =>
      shown.map(({ id, state, text, contentType }) => [
        queue,
        id,
        state,
        oneLine(text ?? `(${contentType})`),
      ]),
    ),
    ...gone.map(({ queue, id, last: { kind, to, at } }) => [
      queue,
      id,
      "gone",
      `${kind}${to === null ? "" : ` to ${to}`} at ${at}`,
    ]),
  ];
}

/** Says how many messages the table leaves out, and which queues were not searched to the end. */
function notesOf({ messages, unfinished }: SearchView): string[] {
  return [
    ...messages.flatMap(({ queue, filter, messages: shown, count, isWhole }) => {
      const more = count - shown.length;
      if (more === 0 && isWhole) return [];
      const number = more === 0 ? "perhaps" : `${isWhole ? "" : "at least "}${more.toLocaleString("en")}`;
      return [
        `There ${more === 1 ? "is" : "are"} ${number} more in ${queue}: sluice messages peek ${queue} --filter ${quoted(filter)}`,
      ];
    }),
    ...unfinished.map(({ queue, searched, of }) =>
      of === null
        ? `${queue} was not searched.`
        : `Of ${queue} ${searched.toLocaleString("en")} of ${plural(of, "message")} were searched.`,
    ),
  ];
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
