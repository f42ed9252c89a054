import { messageLink } from "../api/route.ts";
import { useKeys } from "../ui/keys.ts";
import { type Listed, placeInList } from "./list-order.ts";

interface NeighboursProps {
  readonly queue: string;
  readonly id: string;
}

/** Links to the messages before and after this one in the list that it was opened from. */
export function Neighbours({ queue, id }: NeighboursProps) {
  const place = placeInList(queue, id);
  const go = (to: Listed | null | undefined) => () => {
    if (to != null) location.assign(messageLink(queue, to.id, to.ref));
  };
  useKeys({ p: go(place?.previous), n: go(place?.next) });
  if (place === null) return null;
  const link = (label: string, to: Listed | null) =>
    to === null ? (
      <span class="quiet">{label}</span>
    ) : (
      <a href={messageLink(queue, to.id, to.ref)}>{label}</a>
    );
  return (
    <nav class="row" aria-label="Messages of the list">
      {link("Previous", place.previous)}
      <span class="quiet">
        {place.position} of {place.of}
      </span>
      {link("Next", place.next)}
    </nav>
  );
}
