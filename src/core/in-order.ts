/** Returns a function that runs each piece of work when the one before has ended, whether that succeeded or failed. */
export function inOrder(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {}); // the caller gets the failure from `done`
    return done;
  };
}
