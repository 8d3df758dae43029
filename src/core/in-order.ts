/** Gives a way to run work one after the other: each begins when the one before has ended, however it ended. */
export function inOrder(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {}); // told to the caller
    return done;
  };
}
