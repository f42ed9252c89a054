/** The admin API's only form of an error. */
export function failure(code: string, message: string) {
  return { error: { code, message } };
}
