/** What is done, one after the other. */
export type FloorWay =
  /** A call to an object that does nothing. */
  | "call"
  /** A call that writes so many bytes into one row, answered when they are on disk. */
  | "commit"
  /** The same, and the bytes are handed to another Worker, after which the row is deleted. */
  | "handOn";
