/** Command is a Redis command, MSG.PUBLISH, WF.TRIGGER and so on, or a condition: IF key EQ value. */
export type Command = (string | number | boolean)[];

/** Committed are the commands of a step, and the result that `commit` returns. */
export type Committed<T> = { commands: Command[]; result: T };

/** Runner is the part of the SDK's context that `commit` needs. */
export type Runner = { run<R>(step: string, fn: () => Promise<R> | R): Promise<R> };

/**
 * commit runs a step whose commands take effect in the same entry of the log as its result: all of them, once, or none.
 * If one is refused the step fails, and is repeated as often as the run's retries allow. The run has to be triggered
 * with the headers of `commitAs`; otherwise the commands are ignored.
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
 * commitAs are the headers of a trigger or a publish whose commands run with the rights of an ACL user. The token proves
 * that the caller may act for that user; without one, the token of the request has to.
 */
export function commitAs(user: string, token?: string): Record<string, string>;
