import { refuse, required, SNS_ERRORS } from "../errors.ts";

/** Entries of a batch, and the length of their ids (spec sns-delivery 9.3). */
export const BATCH_ENTRIES_MAX = 10;
export const ENTRY_ID_LENGTH_MAX = 80;

/** Checks the entries of a batch as a whole. Throws `AwsError` in SNS's words (spec sns-delivery 9.4). */
export function checkEntries<Entry extends { readonly Id?: string }>(
  entries: readonly Entry[] | undefined,
): readonly (Entry & { readonly Id: string })[] {
  if (entries === undefined || entries.length === 0) {
    throw refuse(SNS_ERRORS.emptyBatchRequest, "The batch request doesn't contain any entries.");
  }
  if (entries.length > BATCH_ENTRIES_MAX) {
    throw refuse(
      SNS_ERRORS.tooManyEntriesInBatchRequest,
      "The batch request contains more entries than permissible.",
    );
  }
  const seen = new Set<string>();
  const checked = entries.map((entry, i) => {
    const Id = required(entry.Id, `publishBatchRequestEntries.${i + 1}.member.id`);
    if (seen.has(Id)) {
      throw refuse(
        SNS_ERRORS.batchEntryIdsNotDistinct,
        "Two or more batch entries in the request have the same Id.",
      );
    }
    seen.add(Id);
    return { ...entry, Id };
  });
  for (const { Id } of checked) checkId(Id);
  return checked;
}

function checkId(id: string): void {
  const text = "The Id of a batch entry in the batch request";
  if (id.length > ENTRY_ID_LENGTH_MAX) {
    throw refuse(SNS_ERRORS.invalidBatchEntryId, `${text} is too long: ${id}`);
  }
  if (!/^[A-Za-z0-9_-]+$/.test(id)) {
    throw refuse(SNS_ERRORS.invalidBatchEntryId, `${text} contains an impermissible character: ${id}`);
  }
}
