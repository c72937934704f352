/** Command is a Redis command, MSG.PUBLISH, WF.TRIGGER and so on, or a condition: IF key EQ value. */
export type Command = (string | number | boolean)[];

/** Rules are the updates that a run accepts, by name: a condition over `@.state` and `@.update`, or "" for any. */
export type Rules = Record<string, string>;

/**
 * Committed are the commands of a step, and the result that `commit` returns. `state` becomes the state of the run, which
 * null removes; `updates` are those that the run accepts from then on.
 */
export type Committed<T> = { commands?: Command[]; state?: unknown; updates?: Rules; result?: T };

/** Runner is the part of the SDK's context that `commit` needs. */
export type Runner = { run<R>(step: string, fn: () => Promise<R> | R): Promise<R> };

/**
 * commit runs a step whose commands take effect in the same entry of the log as its result: all of them, once, or none.
 * If one is refused the step fails, and is repeated as often as the run's retries allow. The run has to be triggered
 * with the headers of `commitAs`; otherwise the commands are ignored. A state needs no such rights.
 */
export function commit(
  context: Runner,
  step: string,
  commands: Command[] | (() => Command[] | Promise<Command[]>),
): Promise<undefined>;
export function commit<T>(
  context: Runner,
  step: string,
  commands: () => Committed<T> | Promise<Committed<T>>,
): Promise<T>;

/**
 * setState runs a step that sets the state of the run, for everybody to read at /v2/workflows/runs/ID/state, and if they
 * are given the updates that the run accepts from then on.
 */
export function setState(
  context: Runner,
  step: string,
  state: unknown | (() => unknown | Promise<unknown>),
  updates?: Rules,
): Promise<undefined>;

/**
 * commitAs are the headers of a trigger or a publish whose commands run with the rights of an ACL user. The token proves
 * that the caller may act for that user; without one, the token of the request has to.
 */
export function commitAs(user: string, token?: string): Record<string, string>;

/** keepEvents are the headers of a trigger whose run keeps events of these names, or beginnings with *, until it waits. */
export function keepEvents(...names: string[]): Record<string, string>;

/** acceptUpdates are the headers of a trigger whose run accepts these updates from its start on. */
export function acceptUpdates(rules: Rules): Record<string, string>;
