/** Makes a function that keeps its latest result, and returns it again for the same object. */
export function keepLatest<Of extends object, Result>(make: (of: Of) => Result): (of: Of) => Result {
  let latest: { readonly of: Of; readonly result: Result } | null = null;
  return (of) => {
    if (latest?.of !== of) latest = { of, result: make(of) };
    return latest.result;
  };
}
