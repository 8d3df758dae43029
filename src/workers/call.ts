import type { MessagePort } from 'node:worker_threads';
import { ApiError, type ErrorCode, type ErrorFacts } from '../core/errors.ts';

/**
 * Calls between threads, by method name: one message there, one back. The interface that both sides share is checked
 * by the compiler; an ApiError crosses as one, anything else as a fault with its stack.
 */
interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly code: ErrorCode; readonly facts: ErrorFacts }
  | { readonly id: number; readonly fault: string };

type Methods<T> = { readonly [K in keyof T]: (...args: never[]) => Promise<unknown> };

/** Answers the calls that arrive on the port with the methods of `target`. */
export function serveCalls<T extends Methods<T>>(target: T, port: MessagePort): void {
  port.on('message', ({ id, method, args }: Call) => {
    const called = target[method as keyof T] as unknown as (...args: readonly unknown[]) => Promise<unknown>;
    called.apply(target, [...args]).then(
      (value) => port.postMessage({ id, value } satisfies Answer),
      (error: unknown) => port.postMessage(failureOf(id, error)),
    );
  });
}

function failureOf(id: number, error: unknown): Answer {
  if (error instanceof ApiError) return { id, code: error.code, facts: error.facts };
  return { id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** The methods at the other end of the port. What waits is rejected when the port closes. */
export function connectCalls<T extends Methods<T>>(
  port: MessagePort,
  methods: readonly (keyof T & string)[],
): T {
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let nextId = 1;
  port.on('message', (answer: Answer) => {
    const call = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('code' in answer) call?.reject(new ApiError(answer.code, answer.facts));
    else if ('fault' in answer) call?.reject(new Error(answer.fault));
    else call?.resolve(answer.value);
  });
  port.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('the thread that was asked is gone'));
    waiting.clear();
  });
  const ask = (method: string, args: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      waiting.set(nextId, { resolve, reject });
      port.postMessage({ id: nextId++, method, args } satisfies Call);
    });
  const entries = methods.map((method) => [method, (...args: unknown[]) => ask(method, args)]);
  return Object.fromEntries(entries) as T;
}
