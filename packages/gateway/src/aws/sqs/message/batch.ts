import { AwsError } from "@sluice/aws";
import { missingParameter, refuse, SQS_ERRORS } from "../errors.ts";

/** Entries of a batch (spec sqs 2.1). */
export const BATCH_ENTRIES_MAX = 10;
/** Bytes of all messages of a batch together, for queues of any limit. */
export const BATCH_BYTES_MAX = 1_048_576;

export interface Entry {
  readonly Id?: string;
}

/** An entry that failed, in an answer. */
export interface FailedEntry {
  readonly Id: string;
  readonly SenderFault: boolean;
  readonly Code: string;
  readonly Message: string;
}

/** Checks the entries of a batch as a whole. Throws `AwsError`. */
export function checkEntries<E extends Entry>(
  entries: readonly E[] | undefined,
  entryName: string,
): readonly (E & { readonly Id: string })[] {
  if (entries === undefined || entries.length === 0) {
    throw refuse(SQS_ERRORS.emptyBatchRequest, `There should be at least one ${entryName} in the request.`);
  }
  if (entries.length > BATCH_ENTRIES_MAX) {
    throw refuse(
      SQS_ERRORS.tooManyEntriesInBatchRequest,
      `Maximum number of entries per request are ${BATCH_ENTRIES_MAX}. You have sent ${entries.length}.`,
    );
  }
  // Comparing ten texts takes less time than a set, which hashes each.
  const seen: string[] = [];
  const repeated: string[] = [];
  for (let i = 0; i < entries.length; i++) {
    const { Id } = entries[i] as E; // i < length
    if (Id === undefined) throw missingParameter(`${entryName}.${i + 1}.Id`);
    if (!/^[A-Za-z0-9_-]{1,80}$/.test(Id)) {
      throw refuse(
        SQS_ERRORS.invalidBatchEntryId,
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be " +
          "at most 80 letters long.",
      );
    }
    if (seen.includes(Id)) repeated.push(Id);
    seen.push(Id);
  }
  const [first] = repeated;
  if (first !== undefined) throw refuse(SQS_ERRORS.batchEntryIdsNotDistinct, `Id ${first} repeated.`);
  return entries as readonly (E & { readonly Id: string })[];
}

/** Outcomes of a batch's entries, sorted into those that succeeded and those that did not. */
export class BatchOutcome<Success extends object> {
  readonly Successful: (Success & { readonly Id: string })[] = [];
  readonly Failed: FailedEntry[] = [];

  succeed(entry: Success & { readonly Id: string }): void {
    this.Successful.push(entry);
  }

  /** Notes a refusal of this entry. Any other error concerns the whole request, and is rethrown. */
  fail(Id: string, error: unknown): void {
    if (!(error instanceof AwsError)) throw error;
    const { kind, message } = error;
    this.Failed.push({ Id, SenderFault: kind.fault === "Sender", Code: kind.code, Message: message });
  }
}
