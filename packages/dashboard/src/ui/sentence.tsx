import { ahead, moment } from "../text/format.ts";

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;

/** A sentence of the broker, with its moment by this machine's clock, and how far ahead that is. */
export function Sentence({ text, now }: { readonly text: string; readonly now: string }) {
  const [time] = TIME.exec(text) ?? [];
  if (time === undefined) return <>{text}</>;
  const [before = "", after = ""] = text.split(time, 2);
  const isAhead = Date.parse(time) > Date.parse(now);
  return (
    <>
      {before}
      <time dateTime={time}>
        {moment(time, now).slice(0, -4)}
        {isAhead ? `, ${ahead(time, now)}` : ""}
      </time>
      {after}
    </>
  );
}
